/* SPDX-License-Identifier: BSD-3-Clause */
#include "calls.h"

#include <stdio.h>
#include <string.h>

#include "harness.h"

exchange call_exchange;
test_array call_arrays[2];
static test_element call_element;

void call_begin(void) {
    static const redist_index sizes[] = {9, 10, 4};
    call_element = element_create(2);
    call_exchange = exchange_between_axes(MPI_COMM_WORLD, &call_element, 3, sizes, 0, 1);
    exchange_way way = {"auto", {MEMORY_PLAIN, MEMORY_PLAIN}, USE_EXECUTE};
    if (!call_arrays[0].allocation)
        exchange_arrays(&call_exchange, way.memory, call_arrays);
    exchange_prepare(&call_exchange, call_arrays, REDIST_FORWARD, 11);
}

struct call call_valid(void) {
    struct call call = {.comm = MPI_COMM_WORLD,
                        .datatype = call_element.type,
                        .ndims = 3,
                        .axis_a = 0,
                        .axis_b = 1,
                        .a = call_arrays[0].data,
                        .b = call_arrays[1].data,
                        .options = REDIST_OPTIONS_DEFAULT};
    call.options.tune_seconds = 1e-4;
    for (int i = 0; i < 3; i++) {
        call.sizes_a[i] = call_exchange.boxes[0][call_exchange.rank].count[i];
        call.sizes_b[i] = call_exchange.boxes[1][call_exchange.rank].count[i];
    }
    return call;
}

int call_make(enum entry entry, const struct call *call) {
    const redist_index *sizes_a = call->null_sizes_a ? NULL : call->sizes_a;
    const redist_index *sizes_b = call->null_sizes_b ? NULL : call->sizes_b;
    redist_plan *plan = NULL;
    if (entry == EXCHANGE)
        return redist_exchange(call->comm, call->datatype, call->ndims, sizes_a, call->a,
                               call->axis_a, sizes_b, call->b, call->axis_b);
    int code = redist_plan_exchange(call->comm, call->datatype, call->ndims, sizes_a, call->a,
                                    call->axis_a, sizes_b, call->b, call->axis_b, &call->options,
                                    call->null_plan ? NULL : &plan);
    if (code == REDIST_OK)
        redist_plan_free(&plan);
    return code;
}

void call_check_untouched(void) {
    char text[512] = "";
    test_place places[2] = {exchange_place(&call_exchange, 0), exchange_place(&call_exchange, 1)};
    size_t wrong =
        array_wrong(&call_arrays[0], &places[0], CONTENTS_VALUES, 11, sizeof(text), text);
    if (wrong == 0)
        wrong = array_wrong(&call_arrays[1], &places[1], CONTENTS_BLANK, 11, sizeof(text), text);
    check_all(wrong == 0, "a refused call touched an array: %s", text);
}

void call_check_message(const char *word) {
    check_all(word == NULL || strstr(redist_error_message(), word) != NULL, "no \"%s\" in: %s",
              word, redist_error_message());
}

int call_is_culprit(enum place place) {
    return place == EVERYWHERE || harness_rank == (place == FIRST ? 0 : harness_nranks - 1);
}

void call_check_rank(enum place place) {
    char word[32];
    snprintf(word, sizeof(word), "rank %d", place == LAST ? harness_nranks - 1 : 0);
    call_check_message(word);
}
