/* SPDX-License-Identifier: BSD-3-Clause */
/* The site's search: a field in the title bar, and a list of sections below it. The index is made by lunr when the
 * field is first used. PAGE?search=WORDS opens a page with the results of these words. */

/* Letters and digits; names with underscores stay whole. */
const separator = /[^\p{L}\p{N}_]+/u;

/* Makes a function from words to the entries that contain them, the best first. */
function makeSearch(lunr, entries) {
    lunr.tokenizer.separator = separator;
    const index = lunr(function () {
        this.ref('number');
        this.field('title', {boost: 8});
        this.field('page', {boost: 3});
        this.field('text');
        entries.forEach((entry, number) => this.add(Object.assign({number: number}, entry)));
    });
    return function (words) {
        const terms = words.toLowerCase().split(separator).filter((term) => term);
        if (terms.length === 0)
            return [];
        const found = index.query(function (query) {
            for (const term of terms) {
                query.term(term, {boost: 10});
                /* beginnings of words, while they are typed */
                query.term(term, {usePipeline: false, wildcard: lunr.Query.wildcard.TRAILING});
            }
        });
        return found.map((result) => entries[Number(result.ref)]);
    };
}

/* The text around the first word that was searched for. */
function excerpt(text, words) {
    const terms = words.toLowerCase().split(separator).filter((term) => term.length > 2);
    const places = terms.map((term) => text.toLowerCase().indexOf(term)).filter((place) => place >= 0);
    const near = places.length > 0 ? Math.min(...places) - 60 : 0;
    const begin = near > 0 ? text.indexOf(' ', near) + 1 : 0;
    const end = text.length > begin + 200 ? text.lastIndexOf(' ', begin + 200) : text.length;
    return (begin > 0 ? '\u2026 ' : '') + text.slice(begin, end) + (end < text.length ? ' \u2026' : '');
}

function element(kind, properties, children) {
    const made = Object.assign(document.createElement(kind), properties);
    made.append(...(children || []));
    return made;
}

function loadScript(file) {
    return new Promise((resolve, reject) =>
        document.head.append(element('script', {src: file, onload: resolve, onerror: reject})));
}

function showResults(list, results, words) {
    const items = results.slice(0, 15).map((entry) => element('a', {href: entry.link}, [
        element('b', {textContent: entry.title}),
        element('i', {textContent: entry.title === entry.page ? '' : entry.page}),
        element('span', {textContent: excerpt(entry.text, words)}),
    ]));
    list.replaceChildren(...(items.length > 0 || words.trim() === '' ?
        items : [element('p', {textContent: 'Nothing found for \u201c' + words + '\u201d.'})]));
    list.hidden = words.trim() === '';
}

function addSearchField() {
    const field = element('input', {type: 'search', id: 'search-field', placeholder: 'Search'});
    field.setAttribute('aria-label', 'Search all pages');
    const list = element('div', {id: 'search-results', hidden: true});
    let loading = null;
    const update = async function () {
        loading = loading || loadScript('lunr.min.js').then(() => loadScript('search_pages.js')).then(
            () => makeSearch(window.lunr, window.searchPages));
        const search = await loading;
        showResults(list, search(field.value), field.value);
    };
    field.addEventListener('input', update);
    field.addEventListener('keydown', (event) => {
        if (event.key === 'Enter' && list.querySelector('a'))
            list.querySelector('a').click();
    });
    document.addEventListener('keydown', (event) => { if (event.key === 'Escape') list.hidden = true; });
    document.addEventListener('click', (event) => {
        if (!list.contains(event.target) && event.target !== field)
            list.hidden = true;
    });
    document.getElementById('top').append(field);
    document.body.append(list);
    field.value = new URLSearchParams(window.location.search).get('search') || '';
    if (field.value)
        update();
}

if (typeof document !== 'undefined')
    document.addEventListener('DOMContentLoaded', addSearchField);
else
    module.exports = makeSearch;
