/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for CUDA memory in builds without CUDA: no address lies there. */
#include "space.h"

static const char *absent(void) {
    return "this build has no CUDA";
}

static int recognises(const void *array) {
    (void)array;
    return 0;
}

static struct redist__context *no_array(const void *array) {
    (void)array;
    return NULL;
}

const struct redist__space redist__space_cuda = {
    .name = "cuda",
    .absent = absent,
    .recognises = recognises,
    .remove = no_array,
};
