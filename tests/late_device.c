/* SPDX-License-Identifier: BSD-3-Clause */
/* A device whose work is done as late as can be, and in any order that is allowed: see late_device.h. */
#include "late_device.h"

#include "../liblines/lines.h"
#include "r2r_rows.h"
#include "redist_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct lines__library lines__library_fftw;

enum { STREAMS = 64, FREE_BYTES = 1 << 17 };

static void must(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "the late device: %s\n", what);
        abort();
    }
}

/* ---------------------------------------------------------------- work that waits in streams */

/* An event is reached when the last work that set it is done. */
struct event {
    long set, reached;
};

struct copy {
    int ndims;
    redist_index count[REDIST_MAX_NDIMS];
    size_t item;
    const char *source;
    char *destination;
    ptrdiff_t source_stride[REDIST_MAX_NDIMS], destination_stride[REDIST_MAX_NDIMS];
};

struct factor {
    void *array;
    size_t bytes;
    enum fftnd_precision precision;
    long double factor;
};

struct plan {
    void *inner; /* of FFTW */
    size_t area_bytes;
    char *area;
    void *stream;
};

struct work {
    enum { COPY, TRANSFORM, SCALE, CHANGE, R2R, SET, FOLLOW } kind;
    struct copy copy;
    struct plan *plan;
    void *in, *out;
    struct factor scale;
    struct lines__modes modes;
    struct lines__r2r_lines lines;
    int after; /* the transform of the rows */
    struct event *event;
    long version; /* of the event */
    struct work *next;
};

struct stream {
    struct work *first, **end;
};

static struct stream *streams[STREAMS];
static unsigned state = 1;

static unsigned choose(unsigned n) {
    state = state * 1664525U + 1013904223U;
    return (state >> 8) % n;
}

static void give(void *stream, struct work work) {
    struct stream *to = stream;
    *to->end = malloc(sizeof(work));
    **to->end = work;
    to->end = &(*to->end)->next;
}

static void do_work(const struct work *work) {
    const struct copy *copy = &work->copy;
    const struct factor *scale = &work->scale;
    switch (work->kind) {
    case COPY:
        redist_copy_box(copy->ndims, copy->count, copy->item, copy->source, copy->source_stride,
                        copy->destination, copy->destination_stride, 0);
        break;
    case TRANSFORM:
        memset(work->plan->area, 0xff, work->plan->area_bytes);
        lines__library_fftw.execute(work->plan->inner, work->in, work->out);
        break;
    case SCALE:
        lines__library_fftw.scale(scale->array, scale->bytes, scale->precision, scale->factor,
                                  NULL);
        break;
    case CHANGE:
        lines__change_modes(&work->modes);
        break;
    case R2R:
        r2r_move_lines(&work->lines, work->after);
        break;
    case SET:
        work->event->reached = work->version;
        break;
    case FOLLOW:
        break;
    }
}

static int is_ready(const struct stream *stream) {
    const struct work *work = stream != NULL ? stream->first : NULL;
    return work != NULL && (work->kind != FOLLOW || work->event->reached >= work->version);
}

/* Does the next work of any stream; 0 if none can go on. */
static int do_any(void) {
    const unsigned first = choose(STREAMS);
    for (unsigned i = 0; i < STREAMS; i++) {
        struct stream *stream = streams[(first + i) % STREAMS];
        if (is_ready(stream)) {
            struct work *work = stream->first;
            stream->first = work->next;
            stream->end = stream->first != NULL ? stream->end : &stream->first;
            do_work(work);
            free(work);
            return 1;
        }
    }
    return 0;
}

/* Nobody knows how far a device has come. */
static void go_on(void) {
    while (choose(3) == 0 && do_any()) {
    }
}

/* ---------------------------------------------------------------- the device */

size_t late_device_free_bytes = FREE_BYTES;
unsigned long long late_device_identity = 7;

static int find_free(size_t *bytes, unsigned long long *identity) {
    *bytes = late_device_free_bytes;
    *identity = late_device_identity;
    return REDIST_OK;
}

static int allocate(size_t bytes, void **memory) {
    *memory = malloc(bytes);
    memset(*memory, 0xff, bytes);
    return REDIST_OK;
}

static int pin(void *array, size_t bytes) {
    (void)array, (void)bytes;
    return choose(4) != 0;
}

static void unpin(void *array) {
    (void)array;
}

static int is_pinned(const void *array, size_t bytes) {
    (void)array, (void)bytes;
    return 0;
}

static int stream_create(void **stream) {
    int free_place = 0;
    while (free_place < STREAMS && streams[free_place] != NULL) {
        free_place++;
    }
    must(free_place < STREAMS, "streams are lost");
    struct stream *made = malloc(sizeof(*made));
    *made = (struct stream){.end = &made->first};
    *stream = streams[free_place] = made;
    return REDIST_OK;
}

static int stream_wait(void *stream) {
    while (((struct stream *)stream)->first != NULL) {
        must(do_any(), "streams wait for each other");
    }
    return REDIST_OK;
}

static void stream_destroy(void *stream) {
    for (int i = 0; i < STREAMS && stream != NULL; i++) {
        if (streams[i] == stream) {
            must(streams[i]->first == NULL, "a stream with work was destroyed");
            streams[i] = NULL;
        }
    }
    free(stream);
}

static int stream_follow(void *stream, void *event) {
    give(stream,
         (struct work){.kind = FOLLOW, .event = event, .version = ((struct event *)event)->set});
    go_on();
    return REDIST_OK;
}

static const char *absent(void) {
    return NULL;
}

static int event_create(void **event) {
    *event = calloc(1, sizeof(struct event));
    return REDIST_OK;
}

static int event_record(void *data, void *stream) {
    struct event *event = data;
    give(stream, (struct work){.kind = SET, .event = event, .version = ++event->set});
    go_on();
    return REDIST_OK;
}

static int event_is_reached(void *data, int *reached) {
    const struct event *event = data;
    *reached = event->reached >= event->set;
    if (!*reached)
        must(do_any(), "an event is never reached");
    return REDIST_OK;
}

static int event_wait(void *data) {
    const struct event *event = data;
    while (event->reached < event->set) {
        must(do_any(), "an event is never reached");
    }
    return REDIST_OK;
}

static const redist__space device = {
    .name = "late",
    .id = REDIST_SPACE_CUDA,
    .absent = absent,
    .find_free = find_free,
    .allocate = allocate,
    .release = free,
    .allocate_pinned = allocate,
    .release_pinned = free,
    .pin = pin,
    .unpin = unpin,
    .is_pinned = is_pinned,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_wait = stream_wait,
    .stream_follow = stream_follow,
    .event_create = event_create,
    .event_destroy = free,
    .event_record = event_record,
    .event_is_reached = event_is_reached,
    .event_wait = event_wait,
};

/* With --wrap the linker has that copy call these instead of redist_space_at and redist_copy_box_in. */
const redist__space *__real_redist_space_at(enum redist_space space);
const redist__space *__wrap_redist_space_at(enum redist_space space);
int __wrap_redist_copy_box_in(enum redist_space space, void *stream, int ndims,
                              const redist_index count[], size_t item, const void *source,
                              const ptrdiff_t source_stride[], void *destination,
                              const ptrdiff_t destination_stride[]);

const redist__space *__wrap_redist_space_at(enum redist_space space) {
    return space == REDIST_SPACE_CUDA ? &device : __real_redist_space_at(space);
}

int __wrap_redist_copy_box_in(enum redist_space space, void *stream, int ndims,
                              const redist_index count[], size_t item, const void *source,
                              const ptrdiff_t source_stride[], void *destination,
                              const ptrdiff_t destination_stride[]) {
    struct work work = {.kind = COPY, .copy = {ndims, {0}, item, source, destination, {0}, {0}}};
    must(space == REDIST_SPACE_CUDA, "a copy for another one");
    for (int i = 0; i < ndims; i++) {
        work.copy.count[i] = count[i];
        work.copy.source_stride[i] = source_stride[i];
        work.copy.destination_stride[i] = destination_stride[i];
    }
    give(stream, work);
    go_on();
    return REDIST_OK;
}

/* ---------------------------------------------------------------- its serial library */

static int create(const struct lines__problem *problem, void *in, void *out, void **result) {
    struct plan *plan = malloc(sizeof(*plan));
    *plan = (struct plan){.area_bytes = choose(2) * (1 + choose(1000)), .stream = problem->stream};
    *result = plan;
    return lines__library_fftw.create(problem, in, out, &plan->inner);
}

static size_t area_bytes(const void *plan) {
    return ((const struct plan *)plan)->area_bytes;
}

static int set_area(void *plan, void *area) {
    ((struct plan *)plan)->area = area;
    return REDIST_OK;
}

static int execute(void *plan, void *in, void *out) {
    give(((struct plan *)plan)->stream,
         (struct work){.kind = TRANSFORM, .plan = plan, .in = in, .out = out});
    go_on();
    return REDIST_OK;
}

static int scale(void *array, size_t bytes, enum fftnd_precision precision, long double factor,
                 void *stream) {
    give(stream, (struct work){.kind = SCALE, .scale = {array, bytes, precision, factor}});
    go_on();
    return REDIST_OK;
}

static int change(const struct lines__modes *modes, void *stream) {
    give(stream, (struct work){.kind = CHANGE, .modes = *modes});
    go_on();
    return REDIST_OK;
}

static int r2r(const struct lines__r2r_lines *lines, int after, void *stream) {
    give(stream, (struct work){.kind = R2R, .lines = *lines, .after = after});
    go_on();
    return REDIST_OK;
}

static void destroy(void *data) {
    struct plan *plan = data;
    lines__library_fftw.destroy(plan->inner);
    free(plan);
}

const struct lines__library lines__library_late = {
    .name = "late",
    .space = REDIST_SPACE_CUDA,
    .create = create,
    .area_bytes = area_bytes,
    .set_area = set_area,
    .execute = execute,
    .scale = scale,
    .change = change,
    .destroy = destroy,
    .r2r = r2r,
};
