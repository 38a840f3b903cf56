/* SPDX-License-Identifier: BSD-3-Clause */
/* What the search of the site finds, whose pages are in a folder: node tools/test/search.js out/docs/html */
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

/* Words, and the link of an entry that has to be among the first three. */
const expected = [
    ['redist_plan_boxes', /^redist_8h\.html#/],
    ['fftnd_plan_cre', /^fftnd_8h\.html#/],
    ['ghost cells', /^md_docs_parts\.html#parts-ghost-cells/],
    ['halo', /^(structredist_1_1halo|md_docs_(parts|cpp))\.html/],
    ['redist_plan_halo', /^redist__halo_8h\.html#/],
    ['which part is mine', /^md_docs_parts\.html/],
    ['slow plan', /^md_docs_slow\.html/],
    ['cuDecomp', /^md_docs_other_libraries\.html#other-libraries-cudecomp/],
    ['matplotlib', /^md_docs_plots\.html/],
    ['oversubscribe', /^md_docs_(tutorial|install)\.html/],
    ['poisson between walls', /^md_docs_tutorial\.html#tutorial-6/],
    ['dealiasing', /^(md_docs_(options|guide)|structfftnd__options)\.html/],
];

const folder = path.resolve(process.argv[2]);
const makeSearch = require(path.join(folder, 'search.js'));
const lunr = require(path.join(folder, 'lunr.min.js'));
const pages = vm.runInNewContext(fs.readFileSync(path.join(folder, 'search_pages.js'), 'utf8') + 'searchPages');
const search = makeSearch(lunr, pages);
let failed = 0;

for (const [words, link] of expected) {
    const links = search(words).slice(0, 3).map((entry) => entry.link);
    const found = links.some((place) => link.test(place));
    console.log((found ? 'ok      ' : 'FAILED  ') + words + ': ' + links.join(' '));
    failed += !found;
}
for (const entry of pages) {
    const [file, anchor] = entry.link.split('#');
    const text = fs.readFileSync(path.join(folder, file), 'utf8');
    if (anchor !== undefined && !text.includes('id="' + anchor + '"')) {
        console.log('FAILED  ' + entry.link + ' leads nowhere');
        failed++;
    }
}
if (search('no_such_name_anywhere').length > 0)
    failed++;
process.exit(failed === 0 ? 0 : 1);
