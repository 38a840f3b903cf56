/* SPDX-License-Identifier: BSD-3-Clause */
/* Through which arrays a transform travels. */
#ifndef FFTND__ROUTE_H
#define FFTND__ROUTE_H

enum fftnd__buffer {
    FFTND__INPUT,
    FFTND__OUTPUT, /* in place: the same memory as the input */
    FFTND__WORK0,
    FFTND__WORK1,
    FFTND__BUFFERS
};

/* What a step needs of the arrays before and after it. */
enum fftnd__step_type {
    FFTND__KEEPS_LAYOUT,   /* a serial transform that may run in place */
    FFTND__CHANGES_LAYOUT, /* one between real and complex: never in place */
    FFTND__EXCHANGE        /* never in place; best when peers map one side */
};

struct fftnd__hop {
    enum fftnd__step_type type;
    int ruins_source;                  /* the source cannot be kept as it is */
    int reaches_output;                /* the array after this step has room in the output */
    int maps_source, maps_destination; /* peers have to map them */
    int apart;               /* the destination must not be the array before the source either */
    int source, destination; /* the result */
};

struct fftnd__rules {
    int in_place;
    int overwrite_input;
    int mapped_arrays; /* peers map the input and the output too, not only work space */
};

enum { FFTND__MOST_HOPS = 64 };

/* Chooses the arrays between `n` steps so that as little work space and as few extra passes as
 * possible are needed. 0 if there is no way. */
int fftnd__route(int n, struct fftnd__hop hops[], const struct fftnd__rules *rules);

#endif
