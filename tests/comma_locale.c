/* SPDX-License-Identifier: BSD-3-Clause */
#include "comma_locale.h"
#include "harness.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char original[] = "/usr/lib/locale/C.utf8/LC_NUMERIC";

/* glibc's file: two numbers, the places of six items, then these. The decimal point is there as a character and as a
 * wide one, and nothing else is a point. */
static int copy_with_comma(const char *file) {
    enum { ITEMS = 8 + 6 * 4, MOST = 4096 };
    unsigned char bytes[MOST];
    FILE *from = fopen(original, "r");
    if (from == NULL)
        return 0;
    size_t n = fread(bytes, 1, sizeof bytes, from);
    fclose(from);
    for (size_t i = ITEMS; i < n; i++)
        bytes[i] = bytes[i] == '.' ? ',' : bytes[i];
    FILE *to = fopen(file, "w");
    if (to == NULL)
        return 0;
    int copied = fwrite(bytes, 1, n, to) == n;
    return fclose(to) == 0 && copied;
}

/* Each rank reads a file of its own, which nobody needs afterwards. */
static int set_here(void) {
    char folder[] = "/tmp/comma-locale-XXXXXX", locale[100], file[200];
    if (mkdtemp(folder) == NULL)
        return 0;
    snprintf(locale, sizeof locale, "%s/comma", folder);
    snprintf(file, sizeof file, "%s/LC_NUMERIC", locale);
    mkdir(locale, 0777);
    int made = copy_with_comma(file);
    setenv("LOCPATH", folder, 1);
    int is_set = made && setlocale(LC_NUMERIC, "comma") != NULL &&
                 strcmp(localeconv()->decimal_point, ",") == 0;
    unsetenv("LOCPATH");
    unlink(file);
    rmdir(locale);
    rmdir(folder);
    return is_set;
}

int comma_locale_set(int here) {
    int is_set = !here || set_here();
    MPI_Allreduce(MPI_IN_PLACE, &is_set, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!is_set)
        comma_locale_reset();
    return is_set;
}

void comma_locale_reset(void) {
    setlocale(LC_NUMERIC, "C");
}
