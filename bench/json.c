/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"
#include "redist_support.h"
#include <math.h>
#include <stdio.h>

static int nkeys; /* of the object that is being printed */

void bench_json_begin(void) {
    nkeys = 0;
    putchar('{');
}

static void print_key(const char *key) {
    printf("%s\"%s\":", nkeys++ > 0 ? "," : "", key);
}

void bench_json_text(const char *key, const char *value) {
    print_key(key);
    printf("\"%s\"", value);
}

void bench_json_integer(const char *key, long long value) {
    print_key(key);
    printf("%lld", value);
}

void bench_json_number(const char *key, double value) {
    print_key(key);
    if (isfinite(value))
        printf("%.6g", value);
    else
        printf("null"); /* JSON has no other word for it */
}

void bench_json_machine(void) {
    const redist_caches *caches = redist_find_caches();
    bench_json_text("processor", caches->processor);
    bench_json_integer("second_cache_bytes", (long long)caches->second);
    bench_json_integer("last_cache_bytes", (long long)caches->last_whole);
}

void bench_json_integers(const char *key, const int values[], int count) {
    print_key(key);
    for (int i = 0; i < count; i++)
        printf("%s%d", i == 0 ? "[" : ",", values[i]);
    printf("%s]", count == 0 ? "[" : "");
}

void bench_json_samples(const char *key, const bench_candidate *candidate,
                        enum bench_series series) {
    print_key(key);
    const double *seconds = &candidate->seconds[(int)series * candidate->nrounds];
    for (int i = 0; i < candidate->nrounds; i++)
        printf("%c%.6g", i == 0 ? '[' : ',', 1e3 * seconds[i]);
    putchar(']');
}

void bench_json_end(void) {
    printf("}\n");
    fflush(stdout);
}
