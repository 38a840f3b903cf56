/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as text for other processes, the same in every locale. */
#include "redist_support.h"

#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t plain; /* 0 = no memory; glibc and musl need none for it */

static void make_plain(void) {
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Enters the plain locale, and returns the previous one for uselocale. */
static locale_t enter_plain(void) {
    pthread_once(&once, make_plain);
    return uselocale(plain); /* 0 changes nothing */
}

int redist_text_print(char text[], size_t bytes, const char *format, ...) {
    va_list arguments;
    locale_t before = enter_plain();
    va_start(arguments, format);
    int length = vsnprintf(text, bytes, format, arguments);
    va_end(arguments);
    uselocale(before);
    return length;
}

int redist_text_scan(const char *text, const char *format, ...) {
    va_list arguments;
    locale_t before = enter_plain();
    va_start(arguments, format);
    int found = vsscanf(text, format, arguments);
    va_end(arguments);
    uselocale(before);
    return found;
}
