/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of all values of the public enumerations of redist.h and redist_halo.h, for messages. */
#include "comm.h"

REDIST_NAMES(redist_space_name, REDIST_NAME(REDIST_SPACE_AUTO), REDIST_NAME(REDIST_SPACE_HOST),
             REDIST_NAME(REDIST_SPACE_CUDA))
REDIST_NAMES(redist_direction_name, REDIST_NAME(REDIST_FORWARD), REDIST_NAME(REDIST_BACKWARD))
REDIST_NAMES(redist__halo_direction_name, REDIST_NAME(REDIST_FILL), REDIST_NAME(REDIST_ACCUMULATE))
REDIST_NAMES(redist_staging_name, REDIST_NAME(REDIST_STAGING_AUTO),
             REDIST_NAME(REDIST_STAGING_ALWAYS), REDIST_NAME(REDIST_STAGING_NEVER))
REDIST_NAMES(redist__effort_name, REDIST_NAME(REDIST_MEASURE), REDIST_NAME(REDIST_ESTIMATE))
REDIST_NAMES(redist__tiles_name, REDIST_NAME(REDIST_WHOLE), REDIST_NAME(REDIST_PUT),
             REDIST_NAME(REDIST_GET))
REDIST_NAMES(redist__overlap_name, REDIST_NAME(REDIST_OVERLAP_REFUSED),
             REDIST_NAME(REDIST_OVERLAP_READ), REDIST_NAME(REDIST_OVERLAP_ADD))
REDIST_NAMES(redist_wire_name, REDIST_NAME(REDIST_WIRE_SAME), REDIST_NAME(REDIST_WIRE_FLOAT),
             REDIST_NAME(REDIST_WIRE_16_BITS))
REDIST_NAMES(redist_wire_scope_name, REDIST_NAME(REDIST_WIRE_BETWEEN_NODES),
             REDIST_NAME(REDIST_WIRE_EVERYWHERE))
REDIST_NAMES(redist__binding_name, REDIST_NAME(REDIST_BIND_AT_PLAN),
             REDIST_NAME(REDIST_BIND_AT_EXECUTION), REDIST_NAME(REDIST_BIND_AT_EXECUTION_MAPPED))

int redist_check_enum_in(const char *function, const char *argument, redist_name_of *name,
                         long long value) {
    int count = 0;
    while (name(count) != NULL)
        count++;
    if (value >= 0 && value < count)
        return REDIST_OK;
    return redist_fail_in(function, REDIST_ERR_ARGUMENT, "%s = %lld is not in %s..%s (0..%d)",
                          argument, value, name(0), name(count - 1), count - 1);
}
