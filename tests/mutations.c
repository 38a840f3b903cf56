/* SPDX-License-Identifier: BSD-3-Clause */
#include "mutations.h"
#include "random.h"

#include <string.h>

static const char *const words[] = {"0",
                                    "-1",
                                    "99999999999999999999",
                                    "18446744073709551615",
                                    "9223372036854775807",
                                    "2147483648",
                                    "nan",
                                    "inf",
                                    "1e999",
                                    "1,5",
                                    "%n%s",
                                    "\n",
                                    "\r\n",
                                    " ",
                                    "=",
                                    "/",
                                    ",",
                                    "grid=",
                                    "order=",
                                    "x",
                                    "\xff",
                                    "redist-wisdom 1\n"};

static size_t insert(char text[], size_t bytes, size_t room, size_t at, const char *what,
                     size_t length) {
    length = bytes + length < room ? length : room - bytes;
    memmove(text + at + length, text + at, bytes - at);
    memcpy(text + at, what, length);
    return bytes + length;
}

static size_t mutate_once(char text[], size_t bytes, size_t room) {
    char copy[300];
    size_t at = (size_t)random_between(0, (int)bytes), left = bytes - at;
    size_t length = (size_t)random_between(0, (int)(left < sizeof copy ? left : sizeof copy));
    const char *word = words[random_between(0, (int)(sizeof words / sizeof *words) - 1)];
    switch (random_between(0, 5)) {
    case 0:
        if (left > 0)
            text[at] = (char)random_between(0, 255);
        return bytes;
    case 1: /* in the place of as many bytes */
        memcpy(text + at, word, strlen(word) < left ? strlen(word) : left);
        return bytes;
    case 2:
        return insert(text, bytes, room, at, word, strlen(word));
    case 3:
        memmove(text + at, text + at + length, left - length);
        return bytes - length;
    case 4:
        memcpy(copy, text + at, length);
        return insert(text, bytes, room, (size_t)random_between(0, (int)bytes), copy, length);
    default:
        return random_chance(10) ? at : bytes;
    }
}

size_t mutate(char text[], size_t bytes, size_t room, int most) {
    for (int times = random_between(1, most); times > 0; times--)
        bytes = mutate_once(text, bytes, room);
    return bytes;
}
