/* SPDX-License-Identifier: BSD-3-Clause */
#include "packing.h"
#include "../copy/copy.h"
#include "../sync/signalling.h"

#include <limits.h>
#include <string.h>

/* Bytes from which engines copy a message to the host and back: in the 19 us after which an engine begins, kernels move
 * some 700 KB over the bus (about 40 GB/s), for two or three peers. */
enum { ENGINE_BYTES = 256 << 10 };

/* ---------------------------------------------------------------- packing */

static int allocate(struct redist__packing *packing, const struct redist__transfer *transfer) {
    size_t size = (size_t)transfer->nranks;
    int side = packing->side == &transfer->side[1];
    packing->position = redist_calloc(size, sizeof *packing->position);
    packing->wire_position = redist_calloc(size + 1, sizeof *packing->wire_position);
    packing->in_array = redist_calloc(size, 1);
    packing->first = redist_calloc(size + 1, sizeof *packing->first);
    packing->bytes = redist_calloc(size, sizeof *packing->bytes);
    if (packing->position == NULL || packing->wire_position == NULL || packing->in_array == NULL ||
        packing->first == NULL || packing->bytes == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory to describe messages of %zu ranks", size);
    int boxes = redist__transfer_number(transfer, side, packing->first);
    REDIST_TRY(redist__batch_create(&packing->pack, packing->space, boxes));
    REDIST_TRY(redist__batch_create(&packing->unpack, packing->space, boxes));
    packing->pack.use = packing->unpack.use = REDIST__COPY_AUTO;
    return REDIST_OK;
}

static int has_wire(const struct redist__packing *packing) {
    return packing->staged && packing->layout != REDIST__AS_IN_ARRAY;
}

size_t redist__message_bytes(const struct redist__problem *problem, int side, int peer) {
    const struct redist__transfer *transfer = problem->transfer;
    const struct redist__format *format = redist__format_to(problem, peer);
    size_t bytes = 0;
    for (const struct redist__part *part = &transfer->side[side].parts[peer]; part != NULL;
         part = part->next)
        bytes += redist__format_bytes(format, part->elements * transfer->item);
    return redist__message_fill(problem, bytes);
}

/* Returns whether a message is packed in the pinned memory. */
static int is_on_wire(const struct redist__packing *packing, int peer) {
    return has_wire(packing) && packing->bytes[peer] < (size_t)ENGINE_BYTES;
}

static void prepare_box(struct redist__packing *packing, const struct redist__transfer *transfer,
                        const struct redist__part *part, const struct redist__format *format,
                        int box) {
    const ptrdiff_t *stride = packing->side->stride;
    ptrdiff_t packed[REDIST_MAX_NDIMS];
    redist__strides(transfer->ndims, part->count, transfer->item, packed);
    const ptrdiff_t *there = packing->layout == REDIST__AS_IN_ARRAY ? stride : packed;
    redist__copy_prepare(&packing->pack.copies[box], transfer->ndims, part->count, transfer->item,
                         stride, there);
    redist__copy_prepare(&packing->unpack.copies[box], transfer->ndims, part->count, transfer->item,
                         there, stride);
    packing->unpack.copies[box].adds =
        redist__part_added_to(transfer, packing->side == &transfer->side[1], part);
    packing->pack.copies[box].format = packing->unpack.copies[box].format = format;
    packing->unpack.copies[box].widens = 1;
}

static void prepare_peer(struct redist__packing *packing, const struct redist__problem *problem,
                         int side, int peer) {
    const struct redist__transfer *transfer = problem->transfer;
    const struct redist__part *list = &packing->side->parts[peer];
    int box = packing->first[peer];
    for (const struct redist__part *part = list; part != NULL; part = part->next)
        prepare_box(packing, transfer, part, redist__format_to(problem, peer), box++);
    packing->bytes[peer] = redist__message_bytes(problem, side, peer);
    if (packing->layout == REDIST__AS_IN_ARRAY)
        packing->in_array[peer] = !packing->staged;
    else
        packing->in_array[peer] = list->next == NULL &&
                                  packing->pack.copies[packing->first[peer]].ndims == 0 &&
                                  list->offset % transfer->item == 0 && problem->format == NULL &&
                                  !is_on_wire(packing, peer);
}

/* Chooses the messages in the array: all, those that can be, or none. */
static void choose_in_array(struct redist__packing *packing,
                            const struct redist__transfer *transfer) {
    packing->all_in_array = packing->layout != REDIST__NONE_IN_ARRAY;
    for (int peer = 0; peer < transfer->nranks; peer++)
        packing->all_in_array &= packing->in_array[peer] || peer == transfer->rank;
    if (packing->layout != REDIST__EACH_IN_ARRAY && !packing->all_in_array)
        memset(packing->in_array, 0, (size_t)transfer->nranks);
}

/* Gives each message its positions, and counts the bytes of the buffers. The own part needs none, nor do messages in
 * the array, or in pinned memory alone, need the first one. */
static void position_messages(struct redist__packing *packing,
                              const struct redist__transfer *transfer) {
    size_t bytes = 0;
    for (int peer = 0; peer < transfer->nranks; peer++) {
        int sent = peer != transfer->rank, copied = sent && !packing->in_array[peer];
        size_t message = sent ? packing->bytes[peer] : 0;
        if (packing->layout != REDIST__AS_IN_ARRAY)
            packing->position[peer] =
                packing->in_array[peer] ? packing->side->parts[peer].offset : bytes;
        if (copied && !is_on_wire(packing, peer))
            bytes += message;
        packing->wire_position[peer + 1] =
            packing->wire_position[peer] + (has_wire(packing) ? message : 0);
        for (int box = packing->first[peer]; box < packing->first[peer + 1] && !copied; box++)
            packing->pack.copies[box] = packing->unpack.copies[box] = (struct redist__copy){0};
    }
    if (packing->layout == REDIST__AS_IN_ARRAY)
        bytes = packing->all_in_array ? 0 : packing->side->bytes;
    packing->buffer_bytes = bytes;
    packing->wire_bytes = packing->wire_position[transfer->nranks];
}

/* Returns whether the buffer itself is for MPI. */
static int is_pinned(const struct redist__packing *packing) {
    return packing->staged && !has_wire(packing);
}

int redist__packing_create(struct redist__packing *packing, const struct redist__problem *problem,
                           int side, enum redist__layout layout, int staged) {
    const struct redist__transfer *transfer = problem->transfer;
    const struct redist__space *space = problem->space;
    *packing = (struct redist__packing){.side = &transfer->side[side],
                                        .space = space,
                                        .layout = layout,
                                        .staged = staged,
                                        .adds = redist__added_to(transfer, side) != NULL};
    REDIST_TRY(allocate(packing, transfer));
    for (int peer = 0; peer < transfer->nranks; peer++)
        prepare_peer(packing, problem, side, peer);
    choose_in_array(packing, transfer);
    position_messages(packing, transfer);
    packing->shift = side == 0                       ? 0
                     : layout == REDIST__AS_IN_ARRAY ? 1
                                                     : redist__message_unit(problem);
    if (has_wire(packing))
        REDIST_TRY(space->allocate_pinned(packing->wire_bytes, (void **)&packing->wire));
    return (is_pinned(packing) ? space->allocate_pinned
                               : space->allocate)(packing->buffer_bytes, (void **)&packing->buffer);
}

void redist__packing_free(struct redist__packing *packing) {
    if (packing->buffer != NULL)
        (is_pinned(packing) ? packing->space->release_pinned
                            : packing->space->release)(packing->buffer);
    if (packing->wire != NULL)
        packing->space->release_pinned(packing->wire);
    redist_release(packing->position);
    redist_release(packing->wire_position);
    redist_release(packing->in_array);
    redist_release(packing->first);
    redist_release(packing->bytes);
    redist__batch_free(&packing->pack);
    redist__batch_free(&packing->unpack);
    *packing = (struct redist__packing){0};
}

/* Returns the bytes of a peer's message in pinned memory, 0 = none. */
static size_t staged_bytes(const struct redist__packing *packing, int peer) {
    return packing->wire_position[peer + 1] - packing->wire_position[peer];
}

int redist__packing_is_staged(const struct redist__packing *packing, int peer) {
    return staged_bytes(packing, peer) >= (size_t)ENGINE_BYTES;
}

char *redist__packing_message(const struct redist__packing *packing, int peer, const void *array) {
    if (packing->side->parts[peer].elements == 0)
        return NULL;
    if (packing->wire != NULL && !redist__packing_is_staged(packing, peer))
        return packing->wire + packing->wire_position[peer];
    char *base = packing->in_array[peer] ? (char *)(size_t)array : packing->buffer;
    return base + packing->position[peer];
}

char *redist__packing_on_wire(const struct redist__packing *packing, int peer, const void *array) {
    if (packing->wire == NULL || packing->side->parts[peer].elements == 0)
        return redist__packing_message(packing, peer, array);
    return packing->wire + packing->wire_position[peer];
}

size_t redist__packing_bytes(const struct redist__packing *packing) {
    return packing->buffer_bytes + packing->wire_bytes;
}

/* ---------------------------------------------------------------- copies */

int redist__packing_stage(const struct redist__packing *packing, int peer, int back, size_t first,
                          size_t bytes, const void *array, void *stream) {
    const struct redist__copy copy = {.run = bytes};
    char *message = redist__packing_message(packing, peer, array) + first;
    char *wire = redist__packing_on_wire(packing, peer, array) + first;
    return packing->space->copy(&copy, back ? wire : message, back ? message : wire, REDIST__LINK,
                                stream);
}

/* Stages the messages of some peers as a whole. */
static int stage_messages(const struct redist__packing *packing, int first, int count, int back,
                          const void *array, void *stream) {
    for (int peer = first; peer < first + count; peer++)
        if (redist__packing_is_staged(packing, peer))
            REDIST_TRY(redist__packing_stage(packing, peer, back, 0, staged_bytes(packing, peer),
                                             array, stream));
    return REDIST_OK;
}

/* Finds both ends of the copies of a peer's boxes, which follow each other in the buffer. */
static void place_boxes(const struct redist__packing *packing, struct redist__batch *batch,
                        int peer, char *array) {
    const struct redist__part *part = &packing->side->parts[peer];
    int as_in_array = packing->layout == REDIST__AS_IN_ARRAY;
    char *base = as_in_array ? packing->buffer : redist__packing_message(packing, peer, array);
    size_t position = 0;
    for (int box = packing->first[peer]; part != NULL; part = part->next, box++) {
        if (batch->copies[box].run == 0)
            continue;
        char *in_array = array + part->offset;
        char *in_buffer = base + (as_in_array ? part->offset : position);
        batch->sources[box] = batch == &packing->unpack ? in_buffer : in_array;
        batch->destinations[box] = batch == &packing->unpack ? in_array : in_buffer;
        position += redist__copy_packed_bytes(&batch->copies[box]);
    }
}

/* Copies the boxes of some peers between the array and the buffer. */
static int copy_boxes(const struct redist__packing *packing, struct redist__batch *batch, int first,
                      int count, char *array, void *stream) {
    int begin = packing->first[first], boxes = packing->first[first + count] - begin;
    for (int peer = first; peer < first + count; peer++)
        place_boxes(packing, batch, peer, array);
    if (packing->all_in_array || (count == 1 && batch->copies[begin].run == 0))
        return REDIST_OK;
    return packing->space->batch_run(batch, begin, boxes, stream);
}

int redist__packing_pack(struct redist__packing *packing, int first, int count, const void *array,
                         void *stream) {
    REDIST_TRY(copy_boxes(packing, &packing->pack, first, count, (char *)(size_t)array, stream));
    return stage_messages(packing, first, count, 0, array, stream);
}

/* Copies the box of a peer that replaces what is in the array, if there is one, or adds the others. */
static int unpack_some(struct redist__packing *packing, int peer, int adds, void *array,
                       void *stream) {
    int middle = packing->first[peer] + packing->side->parts[peer].replaces;
    int begin = adds ? middle : packing->first[peer],
        end = adds ? packing->first[peer + 1] : middle;
    if (begin == end || packing->unpack.copies[begin].run == 0)
        return REDIST_OK;
    place_boxes(packing, &packing->unpack, peer, array);
    return packing->space->batch_run(&packing->unpack, begin, end - begin, stream);
}

int redist__packing_unpack(struct redist__packing *packing, int first, int count, void *array,
                           void *stream) {
    REDIST_TRY(stage_messages(packing, first, count, 1, array, stream));
    if (!packing->adds)
        return copy_boxes(packing, &packing->unpack, first, count, array, stream);
    for (int peer = first; peer < first + count; peer++)
        REDIST_TRY(unpack_some(packing, peer, 0, array, stream));
    return REDIST_OK;
}

/* ---------------------------------------------------------------- datatypes */

int redist__element_type(const struct redist__problem *problem, MPI_Datatype *element) {
    size_t bytes = redist__message_unit(problem);
    if (bytes > INT_MAX)
        return redist__fail(REDIST_ERR_LIMIT, "one element has %zu bytes, more than MPI's int",
                            bytes);
    int result = MPI_Type_contiguous((int)bytes, MPI_BYTE, element);
    if (result == MPI_SUCCESS)
        result = MPI_Type_commit(element);
    return redist_check_mpi(result);
}

/* Returns whether elements are described as bytes, because receiving into types derived from complex long doubles
 * yields nothing or crashes in MPICH 4.0. Elements of that size may contain some; elements with gaps are excluded. */
static int has_bytes(const struct redist__problem *problem, int size) {
    const struct redist__element *element = &problem->transfer->element;
    return (size_t)size >= 2 * sizeof(long double) && element->run == element->extent;
}

static int create_derived(const struct redist__problem *problem, const int extent[],
                          const int count[], const int start[], MPI_Datatype *derived) {
    MPI_Datatype element = problem->datatype, bytes = MPI_DATATYPE_NULL;
    int size = 0, result = MPI_Type_size(element, &size);
    if (result == MPI_SUCCESS && has_bytes(problem, size)) {
        result = MPI_Type_contiguous(size, MPI_BYTE, &bytes);
        element = bytes;
    }
    if (result == MPI_SUCCESS)
        result = MPI_Type_create_subarray(problem->transfer->array_ndims, extent, count, start,
                                          MPI_ORDER_C, element, derived);
    if (bytes != MPI_DATATYPE_NULL)
        MPI_Type_free(&bytes);
    return result;
}

/* Creates the subarray of a box. */
static int create_subarray(const struct redist__problem *problem, const struct redist__side *side,
                           const struct redist__part *part, MPI_Datatype *subarray) {
    int extent[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS], start[REDIST_MAX_NDIMS];
    for (int i = 0; i < problem->transfer->array_ndims; i++) {
        extent[i] = (int)side->extent[i]; /* checked by redist__check_extents */
        count[i] = (int)part->count[i];
        start[i] = (int)part->start[i];
    }
    return create_derived(problem, extent, count, start, subarray);
}

/* Creates a type of the subarrays of a list, which all begin where the array does. */
static int join_subarrays(int n, const MPI_Datatype subarrays[], MPI_Datatype *joined) {
    int *lengths = redist_calloc((size_t)n, sizeof *lengths);
    MPI_Aint *begins = redist_calloc((size_t)n, sizeof *begins);
    int result = lengths != NULL && begins != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (int i = 0; i < n && result == MPI_SUCCESS; i++)
        lengths[i] = 1;
    if (result == MPI_SUCCESS)
        result = MPI_Type_create_struct(n, lengths, begins, subarrays, joined);
    redist_release(lengths);
    redist_release(begins);
    return result;
}

static int create_list(const struct redist__problem *problem, const struct redist__side *side,
                       const struct redist__part *list, int n, MPI_Datatype *joined) {
    MPI_Datatype *subarrays = redist_calloc((size_t)n, sizeof *subarrays);
    int made = 0, result = subarrays != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (; list != NULL && result == MPI_SUCCESS; list = list->next, made += !result)
        result = create_subarray(problem, side, list, &subarrays[made]);
    if (result == MPI_SUCCESS)
        result = join_subarrays(n, subarrays, joined);
    while (made > 0)
        MPI_Type_free(&subarrays[--made]);
    redist_release(subarrays);
    return result;
}

/* Creates the type of a peer's boxes; an empty part has a count of 0, as MPI has no subarray of extent zero. */
static int create_type(struct redist__types *types, const struct redist__problem *problem,
                       const struct redist__side *side, const struct redist__packing *packing,
                       int peer) {
    const struct redist__part *list = &side->parts[peer];
    int n = packing->first[peer + 1] - packing->first[peer];
    int result = n == 1 ? create_subarray(problem, side, list, &types->types[peer])
                        : create_list(problem, side, list, n, &types->types[peer]);
    types->counts[peer] = result == MPI_SUCCESS;
    return redist_check_mpi(result == MPI_SUCCESS ? MPI_Type_commit(&types->types[peer]) : result);
}

/* Creates the subarrays; MPI needs a datatype for each rank, also with a count of 0. */
static int create_subarrays(struct redist__types *types, const struct redist__problem *problem,
                            const struct redist__side *side, const struct redist__packing *packing,
                            int own) {
    for (int peer = 0; peer < types->size; peer++) {
        types->types[peer] = problem->datatype;
        types->displacements[peer] = (int)packing->shift;
    }
    for (int peer = 0; peer < types->size; peer++)
        if (side->parts[peer].elements != 0 && (own || peer != problem->transfer->rank))
            REDIST_TRY(create_type(types, problem, side, packing, peer));
    return REDIST_OK;
}

static int share_element(struct redist__types *types, const struct redist__problem *problem,
                         const struct redist__packing *packing) {
    MPI_Datatype element = MPI_DATATYPE_NULL;
    size_t unit = redist__message_unit(problem);
    int code = redist__element_type(problem, &element);
    const size_t *position = packing->wire != NULL ? packing->wire_position : packing->position;
    types->shared = 1;
    for (int peer = 0; peer < types->size; peer++) {
        types->types[peer] = element;
        if (peer == problem->transfer->rank)
            continue;
        types->counts[peer] = (int)(packing->bytes[peer] / unit); /* redist__check_counts */
        types->displacements[peer] = (int)((position[peer] + packing->shift) / unit);
    }
    return code;
}

int redist__types_create(struct redist__types *types, const struct redist__problem *problem,
                         int side, const struct redist__packing *packing, int own) {
    size_t size = (size_t)problem->transfer->nranks;
    types->counts = redist_calloc(size, sizeof *types->counts);
    types->displacements = redist_calloc(size, sizeof *types->displacements);
    types->types = redist_calloc(size, sizeof *types->types);
    if (types->counts == NULL || types->displacements == NULL || types->types == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for the datatypes of %zu ranks", size);
    types->size = (int)size;
    return packing->layout == REDIST__AS_IN_ARRAY
               ? create_subarrays(types, problem, &problem->transfer->side[side], packing, own)
               : share_element(types, problem, packing);
}

void redist__types_free(struct redist__types *types) {
    for (int peer = 0; peer < types->size && !types->shared; peer++)
        if (types->counts[peer] != 0)
            MPI_Type_free(&types->types[peer]);
    if (types->shared && types->types[0] != MPI_DATATYPE_NULL)
        MPI_Type_free(&types->types[0]);
    redist_release(types->counts);
    redist_release(types->displacements);
    redist_release(types->types);
    *types = (struct redist__types){0};
}

/* ---------------------------------------------------------------- the own part */

static void prepare_own(struct redist__copy *copy, const struct redist__transfer *transfer,
                        int direction, const struct redist__part *part) {
    redist__copy_prepare(copy, transfer->ndims, part->count, transfer->item,
                         transfer->side[direction].stride, transfer->side[!direction].stride);
    copy->adds = redist__part_added_to(transfer, !direction, part);
}

void redist__own_copy_prepare(struct redist__copy *copy, const struct redist__transfer *transfer,
                              int direction) {
    prepare_own(copy, transfer, direction, &transfer->side[direction].parts[transfer->rank]);
}

/* Runs the copies of the own part, or those that add. */
static int run_own(const struct redist__copy *copy, const struct redist__problem *problem,
                   int direction, int adds, const void *source, void *destination, void *stream) {
    const struct redist__transfer *transfer = problem->transfer;
    const struct redist__part *from = &transfer->side[direction].parts[transfer->rank];
    const struct redist__part *to = &transfer->side[!direction].parts[transfer->rank];
    struct redist__copy own = *copy;
    int code = REDIST_OK;
    while (own.run != 0 && code == REDIST_OK) {
        if ((own.adds != NULL) == adds)
            code = problem->space->copy(&own, (const char *)source + from->offset,
                                        (char *)destination + to->offset, REDIST__KERNEL, stream);
        from = from->next;
        to = to->next;
        if (from == NULL)
            break;
        prepare_own(&own, transfer, direction, from);
    }
    return code;
}

int redist__own_copy_run(const struct redist__copy *copy, const struct redist__problem *problem,
                         int direction, const void *source, void *destination, void *stream) {
    return run_own(copy, problem, direction, 0, source, destination, stream);
}

int redist__packing_add(struct redist__packing *packing, const struct redist__copy *own,
                        const struct redist__problem *problem, int direction, const void *source,
                        void *destination, void *stream) {
    for (int peer = 0; peer < problem->transfer->nranks && packing->adds; peer++)
        REDIST_TRY(peer == problem->transfer->rank
                       ? run_own(own, problem, direction, 1, source, destination, stream)
                       : unpack_some(packing, peer, 1, destination, stream));
    return REDIST_OK;
}

/* ---------------------------------------------------------------- checks */

int redist__check_copyable(const struct redist__transfer *transfer, const char *method) {
    if (redist__transfer_copyable(transfer))
        return REDIST_OK;
    return redist__fail(REDIST_ERR_METHOD,
                        "method %s copies elements as boxes of bytes, but the data of datatype lie "
                        "outside of its extent, or are no runs of equal length at equal distances "
                        "on all ranks",
                        method);
}

int redist__is_single(const struct redist__transfer *transfer) {
    return transfer->longest == 1 && transfer->adds == NULL;
}

int redist__check_single(const struct redist__transfer *transfer, const char *method) {
    if (redist__is_single(transfer))
        return REDIST_OK;
    return redist__fail(REDIST_ERR_METHOD, "method %s %s", method,
                        transfer->longest == 1
                            ? "adds no elements to others: with options->overlap = "
                              "REDIST_OVERLAP_READ it only copies them"
                            : "moves one box between two ranks, but here there are several");
}

int redist__check_counts(const struct redist__problem *problem, const char *method, int total) {
    const struct redist__transfer *transfer = problem->transfer;
    size_t unit = redist__message_unit(problem);
    for (int s = 0; s < 2; s++) {
        const struct redist__side *side = &transfer->side[s];
        size_t largest = total && problem->format == NULL ? side->bytes / unit : 0, all = 0;
        for (int peer = 0; peer < transfer->nranks; peer++) {
            size_t elements = redist__message_bytes(problem, s, peer) / unit;
            largest = elements > largest ? elements : largest;
            all += elements;
        }
        if (total && all > largest) /* some are sent to several ranks */
            largest = all;
        if (largest > (size_t)(INT_MAX - total)) /* displacements of array B begin with 1 */
            return redist__fail(REDIST_ERR_LIMIT,
                                "method %s counts in MPI's int, but %zu elements are %s", method,
                                largest, total ? "exchanged in one call" : "sent in one message");
    }
    return REDIST_OK;
}

int redist__check_extents(const struct redist__transfer *transfer, const char *method) {
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < transfer->array_ndims; i++)
            if (transfer->side[s].extent[i] > INT_MAX)
                return redist__fail(
                    REDIST_ERR_LIMIT,
                    "method %s describes arrays as MPI subarrays, whose extents are "
                    "int, but axis %d of array %c has %lld elements",
                    method, i, s == 0 ? 'A' : 'B', (long long)transfer->side[s].extent[i]);
    return REDIST_OK;
}

static int compare_devices(const struct redist__context *context, const char *method,
                           const unsigned long long devices[]) {
    for (int a = 0; a < context->size; a++)
        for (int b = 0; b < a; b++)
            if (devices[a] == devices[b])
                return redist__fail(REDIST_ERR_METHOD,
                                    "method %s needs a device for each rank, but ranks %d and %d "
                                    "of the plan share one",
                                    method, b, a);
    return REDIST_OK;
}

int redist__check_devices(const struct redist__problem *problem, const char *method) {
    const struct redist__context *context = problem->context;
    unsigned long long device = 0;
    REDIST_TRY(
        redist_agree(context->comm, redist__signalling_of(problem->space)->find_device(&device)));
    unsigned long long *devices = redist_calloc((size_t)context->size, sizeof *devices);
    int code = redist__agree_memory(context->comm, devices, "for the devices of all ranks");
    if (code == REDIST_OK) {
        code = redist_all_gather(context->comm, &device, sizeof device, devices);
        code = redist_agree(context->comm,
                            code == REDIST_OK ? compare_devices(context, method, devices) : code);
    }
    redist_release(devices);
    return code;
}
