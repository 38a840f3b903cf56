/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as text: of the user, and for other processes, the same in every locale. */
#include "redist_support.h"

#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int redist_read_number(const char *text, long long least, long long most, long long *number) {
    char *end;
    errno = 0;
    long long read = strtoll(text, &end, 10);
    if (text[0] == '\0' || strchr("+-0123456789", text[0]) == NULL || *end != '\0' || errno != 0 ||
        read < least || read > most)
        return 0;
    *number = read;
    return 1;
}

int redist_is_verbose(int asked) {
    const char *text = getenv("REDIST_VERBOSE");
    return asked || (text != NULL && strcmp(text, "0") != 0);
}
