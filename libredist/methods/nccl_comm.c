/* SPDX-License-Identifier: BSD-3-Clause */
#include "nccl_comm.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <string.h>

struct redist__nccl {
    struct redist__kept kept;
    ncclComm_t comm;
    unsigned long long number;
};

int redist__nccl_check(ncclResult_t result, const char *what) {
    if (result == ncclSuccess)
        return REDIST_OK;
    return redist__fail(REDIST_ERR_DEVICE, "%s: %s", what, ncclGetErrorString(result));
}

/* NCCL refuses two ranks on one device only after a while, and on some ranks with a crash. */
static int check_devices(const struct redist__context *context) {
    cudaUUID_t *devices = redist_calloc((size_t)context->size, sizeof *devices);
    struct cudaDeviceProp properties;
    int device = 0, code = REDIST_OK;
    if (devices == NULL)
        code =
            redist__fail(REDIST_ERR_MEMORY, "no memory for the devices of %d ranks", context->size);
    else if (cudaGetDevice(&device) != cudaSuccess ||
             cudaGetDeviceProperties(&properties, device) != cudaSuccess)
        code = redist__fail(REDIST_ERR_DEVICE, "the current device does not say what it is");
    code = redist_agree(context->comm, code);
    if (code == REDIST_OK)
        code = redist_check_mpi(
            redist_insist(MPI_Allgather(&properties.uuid, sizeof properties.uuid, MPI_BYTE, devices,
                                        sizeof *devices, MPI_BYTE, context->comm)));
    for (int rank = 0; rank < context->size && code == REDIST_OK; rank++)
        if (rank != context->rank && memcmp(&devices[rank], &properties.uuid, sizeof *devices) == 0)
            code = redist__fail(REDIST_ERR_METHOD,
                                "method nccl needs a device for each rank, but ranks %d and %d of "
                                "the communicator share one",
                                context->rank, rank);
    redist_release(devices);
    return redist_agree(context->comm, code);
}

static void free_link(struct redist__context *context, struct redist__kept *kept) {
    struct redist__nccl *link = (struct redist__nccl *)kept;
    (void)context;
    ncclCommDestroy(link->comm);
    redist_release(link);
}

static struct redist__nccl *find_link(const struct redist__context *context) {
    return (struct redist__nccl *)redist__kept(context, REDIST__KEPT_BESIDES, free_link);
}

static struct redist__nccl *create_link(void) {
    static atomic_ullong counter;
    struct redist__nccl *link = redist_calloc(1, sizeof *link);
    if (link != NULL)
        link->number = atomic_fetch_add(&counter, 1) + 1;
    return link;
}

static int create(struct redist__context *context) {
    ncclUniqueId id = {{0}};
    int code = check_devices(context);
    if (code != REDIST_OK)
        return code;
    struct redist__nccl *link = create_link();
    if (link == NULL)
        code = redist__fail(REDIST_ERR_MEMORY, "no memory for a communicator of NCCL");
    else if (context->rank == 0)
        code = redist__nccl_check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    code = redist_agree(context->comm, code);
    if (code == REDIST_OK)
        code =
            redist_check_mpi(redist_insist(MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, context->comm)));
    if (code == REDIST_OK)
        code = redist__nccl_check(ncclCommInitRank(&link->comm, context->size, id, context->rank),
                                  "ncclCommInitRank");
    code = redist_agree(context->comm, code);
    if (code != REDIST_OK) {
        if (link != NULL && link->comm != NULL)
            ncclCommAbort(link->comm);
        redist_release(link);
        return code;
    }
    link->kept.free = free_link;
    redist__keep(context, REDIST__KEPT_BESIDES, &link->kept);
    return REDIST_OK;
}

int redist__nccl_connect(struct redist__context *context) {
    return find_link(context) == NULL ? create(context) : REDIST_OK;
}

unsigned long long redist__nccl_comm(const struct redist__context *context, ncclComm_t *comm) {
    const struct redist__nccl *link = find_link(context);
    *comm = link != NULL ? link->comm : NULL;
    return link != NULL ? link->number : 0;
}

void redist__nccl_abort(struct redist__context *context) {
    struct redist__nccl *link = find_link(context);
    redist__keep_no_more(context, REDIST__KEPT_BESIDES, &link->kept);
    ncclCommAbort(link->comm);
    redist_release(link);
}
