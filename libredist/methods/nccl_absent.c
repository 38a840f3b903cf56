/* SPDX-License-Identifier: BSD-3-Clause */
/* Replacement of the methods by NCCL in builds without NCCL. */
#include "method.h"

static int applies(const struct redist__problem *problem,
                   const struct redist__candidate *candidate) {
    (void)problem, (void)candidate;
    return redist__fail(REDIST_ERR_METHOD, "method nccl: this build has no NCCL");
}

const struct redist__method redist__method_nccl = {
    .name = "nccl",
    .summary = "packed messages by NCCL, between CUDA devices; not in this build",
    .applies = applies,
};

const struct redist__method redist__method_nccl_plain = {
    .name = "nccl:plain",
    .summary = "packs all parts, one group of messages by NCCL, unpacks all; not in this build",
    .applies = applies,
};
