/* SPDX-License-Identifier: BSD-3-Clause */
/** Elements whose numbers have formats on their way. */
#ifndef TESTS_WIRE_KINDS_H
#define TESTS_WIRE_KINDS_H

#include "exchanges.h"

/** Elements of `components` numbers, `distance` bytes from each other. */
struct wire_kind {
    const char *name;
    size_t bytes, distance, extent; /**< of a number, between two, of an element */
    int components;
};

enum { DOUBLE, COMPLEX_DOUBLE, FLOAT, COMPLEX_FLOAT, WITH_GAPS, WIRE_KINDS };

extern const struct wire_kind wire_kinds[WIRE_KINDS];

/** Makes and frees the types of all kinds. */
void wire_types_create(void);
void wire_types_free(void);

/** Describes the elements of a kind, whose types there are. */
test_element wire_element(const struct wire_kind *kind);

#endif
