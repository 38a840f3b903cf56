/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as text of the user, and the environment variable for reports. */
#include "comm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
