/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of HDF5: silence, its reasons as a message, and agreement. */
#include "calls.h"

#include <stdio.h>

enum { REASON_BYTES = 300 };

/* The first reason of HDF5's stack, and the last one, which the system or MPI gave. */
struct reasons {
    char first[REASON_BYTES], last[REASON_BYTES];
};

static herr_t collect(unsigned number, const H5E_error2_t *error, void *data) {
    struct reasons *reasons = data;
    char *text = number == 0 ? reasons->first : reasons->last;
    if (error->desc != NULL && error->desc[0] != 0)
        snprintf(text, REASON_BYTES, "%s", error->desc);
    for (; *text != 0; text++) /* reasons of MPI have several lines */
        *text = *text == '\n' ? ' ' : *text;
    return 0;
}

/* Called by HDF5 when a call of it fails, as later calls empty the stack. */
static herr_t keep_reasons(hid_t stack, void *data) {
    struct reasons *reasons = data;
    *reasons = (struct reasons){{0}, {0}};
    return H5Ewalk2(stack, H5E_WALK_DOWNWARD, collect, reasons);
}

int redist__hdf5_act_alone(const char *function, struct redist_hdf5 *file, const char *what,
                           redist__hdf5_work *work, void *data) {
    struct reasons reasons = {"unknown reason", ""};
    H5E_auto2_t report = NULL;
    void *report_data = NULL;
    if (!file->acts)
        return REDIST_OK;
    H5Eget_auto2(H5E_DEFAULT, &report, &report_data);
    H5Eset_auto2(H5E_DEFAULT, keep_reasons, &reasons);
    int code = work(file, data);
    H5Eset_auto2(H5E_DEFAULT, report, report_data);
    if (code >= 0)
        return code;
    return redist_fail_in(function, REDIST_ERR_FILE, "HDF5 cannot %s in '%s': %s%s%s", what,
                          file->path, reasons.first, reasons.last[0] != 0 ? ": " : "",
                          reasons.last);
}

int redist__hdf5_act(const char *function, struct redist_hdf5 *file, const char *what,
                     redist__hdf5_work *work, void *data) {
    return redist_agree(file->comm, redist__hdf5_act_alone(function, file, what, work, data));
}

int redist__hdf5_check(const char *function, const struct redist_hdf5 *file) {
    int initialised = 0, finalised = 0;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    if (!initialised || finalised || !redist_handle_is(file, REDIST_HANDLE_HDF5))
        return redist_fail_in(function, REDIST_ERR_STATE,
                              "file = %p is not open, or MPI is not running", (const void *)file);
    return REDIST_OK;
}

/* Closing one of the kinds by the wrong function would print: the kind decides. */
void redist__hdf5_drop(hid_t id) {
    if (id > 0 && H5Iis_valid(id) > 0)
        H5Idec_ref(id);
}
