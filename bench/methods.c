/* SPDX-License-Identifier: BSD-3-Clause */
#include "methods.h"
#include "redist.h"
#include <stdio.h>
#include <string.h>

static int add_method(bench_methods *methods, const char *name, size_t length) {
    if (methods->count == BENCH_MAX_METHODS || length == 0 || length >= sizeof methods->names[0])
        return 0;
    snprintf(methods->names[methods->count++], sizeof methods->names[0], "%.*s", (int)length, name);
    return 1;
}

static int add_all(bench_methods *methods) {
    methods->all = 1;
    for (int i = 0; i < redist_method_count(); i++) {
        const char *name = redist_method_name(i);
        if (strcmp(name, "auto") != 0 && !add_method(methods, name, strlen(name)))
            return 0;
    }
    return add_method(methods, "auto", 4);
}

int bench_read_methods(const char *text, bench_methods *methods) {
    methods->all = 0;
    methods->count = 0;
    if (strcmp(text, "all") == 0)
        return add_all(methods);
    for (;;) {
        size_t length = strcspn(text, ",");
        if (!add_method(methods, text, length))
            return 0;
        if (text[length] == '\0')
            return 1;
        text += length + 1;
    }
}
