/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for method nccl in builds without NCCL: it applies to nothing. */
#include "../comm/comm.h"
#include "method.h"

static int applies(const struct redist__problem *problem, int variant) {
    (void)problem, (void)variant;
    return redist__fail(REDIST_ERR_METHOD, "method nccl: this build has no NCCL");
}

const struct redist__method redist__method_nccl = {
    .name = "nccl",
    .summary = "packed messages by NCCL, between CUDA devices; not in this build",
    .applies = applies,
};
