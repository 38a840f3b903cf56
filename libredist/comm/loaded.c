/* SPDX-License-Identifier: BSD-3-Clause */
/* This code, where it is, for as long as somebody may call it. */
#include "comm.h"

#include <dlfcn.h>

/* Of the program itself there is nothing to open. */
void redist_stay_loaded(const void *inside) {
    Dl_info object;
    if (dladdr(inside, &object) != 0 && object.dli_fname != NULL)
        (void)dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}
