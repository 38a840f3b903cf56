/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps this library loaded for as long as MPI may call it. */
#include "comm.h"

#include <dlfcn.h>

/* Opens this library once more, unless it is linked into the program. */
void redist_stay_loaded(const void *inside) {
    Dl_info object;
    if (dladdr(inside, &object) != 0 && object.dli_fname != NULL)
        (void)dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}
