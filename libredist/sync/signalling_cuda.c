/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals between CUDA devices. */
#include "../comm/comm.h"
#include "../runtime/space.h"
#include "cuda_signals.h"
#include "signalling.h"

#define CHECK(call) REDIST__CHECK_CUDA(call)

/* Units of 16 bytes down to one, by the alignment of an execution's source. */
enum { WIDTHS = 5 };

/* Boxes on the device, for each width. */
struct boxes {
    struct redist__cuda_part *parts;
    int count;
    unsigned blocks;
};

/* Identifies a device by its bus address; parts of a device have the device's. */
static int find_device(unsigned long long *identity) {
    static const enum cudaDeviceAttr parts[] = {cudaDevAttrPciDomainId, cudaDevAttrPciBusId,
                                                cudaDevAttrPciDeviceId};
    int device = 0, code = CHECK(cudaGetDevice(&device));
    *identity = 0;
    for (int i = 0; i < 3 && code == REDIST_OK; i++) {
        int part = 0;
        code = CHECK(cudaDeviceGetAttribute(&part, parts[i], device));
        *identity = *identity << 16 | (unsigned)part;
    }
    return code;
}

/* Copies the boxes in a stream of the library, as a capture may forbid the default stream. */
static int upload(struct boxes *boxes, const struct redist__cuda_part parts[], size_t bytes) {
    const struct redist__space *space = &redist__space_cuda;
    const struct redist__copy copy = {.run = bytes};
    REDIST_TRY(space->allocate(bytes, (void **)&boxes->parts));
    REDIST_TRY(space->copy(&copy, parts, boxes->parts, REDIST__LINK, space->stream(0)));
    return space->stream_wait(space->stream(0));
}

/* Chooses the blocks of each part by the rank that gets most. */
static unsigned choose_blocks(int ranks, int count, const struct redist__cuda_part parts[]) {
    uint64_t most = 0, largest = 0;
    for (int rank = 0; rank < ranks; rank++) {
        uint64_t units = 0;
        for (int i = rank; i < count; i += ranks) {
            units += parts[i].units;
            largest = parts[i].units > largest ? parts[i].units : largest;
        }
        most = units > most ? units : most;
    }
    return redist__cuda_exchange_blocks(ranks, most, largest);
}

static int boxes_create(int ranks, int count, const struct redist__copy copies[],
                        const size_t sources[], char *const destinations[], void **made) {
    struct boxes *boxes = *made = redist_calloc(1, sizeof *boxes);
    size_t bytes = (size_t)count * WIDTHS * sizeof(struct redist__cuda_part);
    struct redist__cuda_part *parts = redist_calloc(1, bytes);
    int code = boxes != NULL && parts != NULL
                   ? REDIST_OK
                   : redist__fail(REDIST_ERR_MEMORY, "no memory for the boxes of %d ranks", count);
    for (int i = 0; i < WIDTHS * count && code == REDIST_OK; i++) {
        const char *offset = (const char *)(uintptr_t)sources[i % count];
        redist__cuda_describe(&copies[i % count], offset, destinations[i % count], 16 >> i / count,
                              &parts[i]);
    }
    if (code == REDIST_OK) {
        boxes->count = count;
        boxes->blocks = choose_blocks(ranks, count, parts);
        code = upload(boxes, parts, bytes);
    }
    redist_release(parts);
    return code;
}

static void boxes_free(void *made) {
    struct boxes *boxes = made;
    if (boxes != NULL)
        redist__space_cuda.release(boxes->parts);
    redist_release(boxes);
}

static int exchange(const struct redist__signals *signals, int direction, const void *made,
                    const char *source, void *stream) {
    const struct boxes *boxes = made;
    int narrow = 0;
    while (narrow < WIDTHS - 1 && (uintptr_t)source % (16U >> narrow) != 0)
        narrow++;
    return CHECK(redist__cuda_exchange(signals, direction, boxes->parts + narrow * boxes->count,
                                       boxes->count, boxes->blocks, source, stream));
}

static int gate(const struct redist__signals *signals, const struct redist__gate *at,
                void *stream) {
    return CHECK(redist__cuda_gate(signals, at, stream));
}

static const struct redist__signalling signalling = {
    .find_device = find_device,
    .boxes_create = boxes_create,
    .boxes_free = boxes_free,
    .exchange = exchange,
    .gate = gate,
};

const struct redist__signalling *redist__signalling_of(const struct redist__space *space) {
    return space->id == REDIST_SPACE_CUDA ? &signalling : NULL;
}
