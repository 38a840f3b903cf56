/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of the steps of a program, and the layouts between them. */
#include "program.h"

#include <string.h>

/* ---------------------------------------------------------------- arrays of steps */

/* Lays out an array, all fields as one batch. */
static void lay_out(const struct fftnd__transform *transform, struct fftnd__step *step,
                    const struct fftnd__padding *padding) {
    struct fftnd__batch batch = transform->batch;
    batch.count *= step->fields;
    fftnd__set_local(&step->layout->local, &step->layout->alignment, transform->chain.ndims,
                     step->layout->memory, &batch, padding);
}

static void set_array(const struct fftnd__transform *transform, struct fftnd__step *step,
                      const struct fftnd__alignment *alignment, int real) {
    fftnd__copy_alignment(&step->layout->alignment, alignment, transform->chain.ndims);
    step->real = real;
    lay_out(transform, step, NULL);
}

/* Returns nonzero if backward fills the ghosts of the side in a stream. */
static int fills_enqueued(const struct fftnd__transform *transform, enum fftnd_side side) {
    const struct fftnd__room *room = transform->room;
    return room != NULL && room->fills && side == FFTND_PHYSICAL &&
           transform->settings.asynchronous;
}

/* Returns nonzero if forward adds ghosts in a stream, in a copy of the input, which has to stay as it is. */
static int adds_in_copy(const struct fftnd__transform *transform, enum fftnd_side side) {
    const struct fftnd__settings *settings = &transform->settings;
    const struct fftnd__room *room = transform->room;
    return room != NULL && room->accumulates && side == FFTND_PHYSICAL && settings->asynchronous &&
           !settings->in_place && !settings->overwrite_input;
}

static int has_halved(const struct fftnd__chain *chain, const struct fftnd__link *link) {
    return chain->halved >= 0 && link->naxes > 0 && link->axes[link->naxes - 1] == chain->halved;
}

/* Returns the padding of the array of a side. In place, a real side where the halved axis is transformed gets the bytes
 * of the complex side, too. */
static struct fftnd__padding padding_of(const struct fftnd__transform *transform,
                                        enum fftnd_side side) {
    const struct fftnd__chain *chain = &transform->chain;
    const redist_index *count = chain->ends[side].count;
    struct fftnd__padding padding = {{0}, {0}};
    if (transform->room != NULL)
        padding = transform->room->padding[side];
    for (int axis = 0; axis < chain->ndims; axis++)
        if (count[axis] == 0)
            memset(padding.offset, 0, sizeof padding.offset);
    if (side == FFTND_PHYSICAL && transform->settings.in_place && !chain->moves[side] &&
        has_halved(chain, &chain->links[0])) {
        redist_index least = 2 - count[chain->halved] % 2, *own = &padding.added[chain->halved];
        *own = *own < least ? least : *own;
    }
    return padding;
}

static void pad_array(const struct fftnd__transform *transform, struct fftnd__step *step,
                      enum fftnd_side side) {
    const struct fftnd__padding padding = padding_of(transform, side);
    lay_out(transform, step, &padding);
}

/* ---------------------------------------------------------------- listing steps */

static struct fftnd__step *add_step(struct fftnd__program *program, enum fftnd__step_type type) {
    struct fftnd__step *step = &program->steps[++program->nsteps];
    step->type = type;
    step->direction = program->direction;
    step->fields = fftnd__previous(step)->fields;
    memcpy(step->layout->memory, fftnd__previous(step)->layout->memory,
           sizeof step->layout->memory);
    return step;
}

static struct fftnd__step *add_transform(struct fftnd__program *program, enum fftnd__step_type type,
                                         const struct fftnd__link *link, int first, int last) {
    struct fftnd__step *step = add_step(program, type);
    step->naxes = last - first;
    for (int i = 0; i < step->naxes; i++)
        step->axes[i] = (unsigned char)link->axes[first + i];
    return step;
}

/* Gives the array after a step another memory order, if it differs; NULL = none. Returns nonzero then. */
static int turn_array(struct fftnd__step *step, const int memory[]) {
    if (memory == NULL || memcmp(memory, step->layout->memory, sizeof step->layout->memory) == 0)
        return 0;
    memcpy(step->layout->memory, memory, sizeof step->layout->memory);
    step->type = FFTND__CHANGES_LAYOUT;
    return 1;
}

/* Sets the array after a step that has the alignment and elements of the one before. */
static void keep_array(const struct fftnd__transform *transform, struct fftnd__step *step) {
    const struct fftnd__step *before = fftnd__previous(step);
    set_array(transform, step, &before->layout->alignment, before->real);
}

static int is_truncated(const struct fftnd__chain *chain, int naxes, const int axes[]) {
    for (int i = 0; i < naxes; i++)
        if (fftnd__is_truncated(chain, axes[i], FFTND_PHYSICAL) ||
            fftnd__is_truncated(chain, axes[i], FFTND_SPECTRAL))
            return 1;
    return 0;
}

/* Sets the array after a transform over the step's axes. */
static void set_transformed(const struct fftnd__transform *transform, struct fftnd__step *step,
                            int backward, int real) {
    const struct fftnd__chain *chain = &transform->chain;
    set_array(transform, step, &fftnd__previous(step)->layout->alignment, real);
    for (int i = 0; i < step->naxes; i++) {
        int axis = step->axes[i];
        fftnd__set_whole(&step->layout->alignment, axis,
                         fftnd__side_extent(chain, axis, (enum fftnd_side) !backward),
                         chain->is_outside);
    }
    lay_out(transform, step, NULL);
}

/* Moves axes to the front or end of a list; the others stay in order. */
static void move_axes(int ndims, int list[], int naxes, const int axes[], int to_end) {
    int moved[REDIST_MAX_NDIMS], n[2] = {to_end ? 0 : naxes, to_end ? ndims - naxes : 0};
    for (int i = 0; i < ndims; i++) {
        int is_moved = 0;
        for (int j = 0; j < naxes; j++)
            is_moved |= axes[j] == list[i];
        moved[n[is_moved]++] = list[i];
    }
    memcpy(list, moved, (size_t)ndims * sizeof *list);
}

/* Sets the memory order after the last transform of a link: between the sides C order. */
static void turn_memory(const struct fftnd__program *program,
                        const struct fftnd__transform *transform, const struct fftnd__link *link,
                        int is_first, int is_last, int memory[]) {
    int ndims = transform->chain.ndims, backward = program->direction == REDIST_BACKWARD;
    if (is_first || is_last)
        memcpy(memory, transform->memory[is_last ? !backward : FFTND_PHYSICAL],
               sizeof transform->memory[0]);
    if (!is_last && program->transposed == FFTND__TRANSPOSED_LINES)
        move_axes(ndims, memory, link->naxes, link->axes, backward);
    else if (!is_last && program->transposed == FFTND__TRANSPOSED_ARRIVALS)
        move_axes(ndims, memory, 1, backward ? &link->axis_before : &link[1].axis_after, 0);
}

/* Returns nonzero if tiles may overwrite lines of a padded real side with those of the complex side: both have the same
 * bytes and begin together, and each tile is read before it is written. */
static int lines_lie_alike(const struct fftnd__transform *transform,
                           const struct fftnd__step *step) {
    const struct fftnd__local *before = &fftnd__previous(step)->layout->local,
                              *after = &step->layout->local;
    int halved = transform->chain.halved + transform->batch.shift;
    size_t items[2] = {fftnd__element_bytes(transform, fftnd__previous(step)->real),
                       fftnd__element_bytes(transform, step->real)};
    if ((size_t)before->offset * items[0] != (size_t)after->offset * items[1])
        return 0;
    for (int i = 0; i < after->ndims; i++)
        if (i != halved &&
            (size_t)before->stride[i] * items[0] != (size_t)after->stride[i] * items[1])
            return 0;
    return transform->workplace->copies_tiles && transform->settings.in_place;
}

/* Adds a transform over axes `first`..`last` - 1 of a link. */
static void add_serial(struct fftnd__program *program, const struct fftnd__transform *transform,
                       const struct fftnd__link *link, int first, int last, const int memory[]) {
    int backward = program->direction == REDIST_BACKWARD;
    int changes = has_halved(&transform->chain, link) && last == link->naxes;
    struct fftnd__step *step = add_transform(program, FFTND__KEEPS_LAYOUT, link, first, last);
    step->truncates = fftnd__truncates(transform, step);
    if (changes || step->truncates)
        step->type = FFTND__CHANGES_LAYOUT;
    step->twiddles = transform->chain.twiddles && step->axes[0] == 0;
    turn_array(step, memory);
    step->ruins_source = changes && backward && step->naxes > 1 && !step->truncates &&
                         !transform->workplace->copies_tiles;
    set_transformed(transform, step, backward, changes ? backward : fftnd__previous(step)->real);
}

/* Adds a copy to another array, or into another memory order. */
static void add_copy(struct fftnd__program *program, const struct fftnd__transform *transform,
                     const int memory[]) {
    struct fftnd__step *step = add_step(program, FFTND__KEEPS_LAYOUT);
    turn_array(step, memory);
    keep_array(transform, step);
}

enum { CACHE_LINE = 64 };

/* Returns the least bytes of a tile along the fastest axis, if that is not transformed. */
static size_t least_row(const struct fftnd__transform *transform, int in_caches) {
    size_t row = fftnd__element_bytes(transform, 0), wanted = transform->configuration.row_bytes;
    row = in_caches && row < CACHE_LINE ? CACHE_LINE : row;
    return row < wanted ? wanted : row;
}

/* Returns nonzero if a link transforms the axis that is contiguous in memory. */
static int has_fastest(const struct fftnd__chain *chain, const struct fftnd__link *link) {
    for (int i = 0; i < link->naxes; i++)
        if (link->axes[i] == chain->ndims - 1)
            return 1;
    return 0;
}

/* Cuts a link's axes in groups that are transformed at once, the last first: bounds[0] = naxes > bounds[1] > ... >
 * bounds[n] = 0. In the caches, groups without the fastest axis fit a tile. Returns n. */
static int find_groups(const struct fftnd__transform *transform, const struct fftnd__link *link,
                       int halved_apart, int fields, int bounds[]) {
    const struct fftnd__chain *chain = &transform->chain;
    const struct fftnd__configuration *configuration = &transform->configuration;
    int in_caches = transform->workplace->in_caches, n = 0;
    size_t row = least_row(transform, in_caches);
    size_t group = configuration->group_bytes / (size_t)fields;
    size_t tile =
        in_caches && configuration->tile_bytes < group ? configuration->tile_bytes : group;
    size_t bytes =
        link->axes[link->naxes - 1] == chain->ndims - 1 ? fftnd__element_bytes(transform, 0) : row;
    size_t most = has_fastest(chain, link) ? group : tile;
    bounds[0] = link->naxes;
    for (int i = link->naxes - 1; i >= 0; i--) {
        int axis = link->axes[i];
        size_t size = (size_t)fftnd__spectral_extent(chain, axis, chain->points[axis]);
        int alone = halved_apart && i == link->naxes - 2;
        if (i + 1 < bounds[n] && (alone || bytes * size > most)) {
            bounds[++n] = i + 1;
            bytes = row;
            most = tile;
        }
        bytes *= size;
    }
    bounds[++n] = 0;
    return n;
}

/* Returns nonzero if the array of a side has another layout than those between the sides; the same on all ranks, since
 * boxes, which may be padded on some, have an exchange of their own. */
static int lies_otherwise(const struct fftnd__transform *transform, enum fftnd_side side) {
    const struct fftnd__chain *chain = &transform->chain;
    for (int axis = 0; axis < chain->ndims; axis++)
        if (transform->memory[side][axis] != axis ||
            (transform->room != NULL && transform->room->padding[side].added[axis] != 0 &&
             !chain->moves[side]))
            return 1;
    return 0;
}

/* Adds a transform, the operator and the transform back, which keep the alignment. */
static void add_applied(struct fftnd__program *program, const struct fftnd__transform *transform,
                        const struct fftnd__link *link, int first, int last) {
    int keeps = transform->fields[0] == transform->fields[1];
    struct fftnd__step *step = add_transform(
        program, keeps ? FFTND__KEEPS_LAYOUT : FFTND__CHANGES_LAYOUT, link, first, last);
    step->applies = 1;
    step->fields = transform->fields[1];
    keep_array(transform, step);
}

/* Completes the operator's step, the last one there, as the first one back. */
static void end_applied(struct fftnd__program *program, const struct fftnd__transform *transform,
                        const int memory[], enum fftnd__split split) {
    struct fftnd__step *step = &program->steps[program->nsteps];
    if (turn_array(step, memory))
        keep_array(transform, step);
    if (split == FFTND__WITH_COPY)
        add_copy(program, transform, step->layout->memory);
}

/* All of a program, or one side of its operator. */
enum leg { ALONE, THERE, BACK };

static void add_link(struct fftnd__program *program, const struct fftnd__transform *transform,
                     const struct fftnd__link *link, int is_first, int is_last,
                     enum fftnd__split split, enum leg leg) {
    int bounds[REDIST_MAX_NDIMS + 1], memory[REDIST_MAX_NDIMS];
    int halved = has_halved(&transform->chain, link);
    int backward = program->direction == REDIST_BACKWARD;
    int begins = leg == BACK && is_first, ends = leg == THERE && is_last;
    int truncated = is_truncated(&transform->chain, link->naxes, link->axes);
    int otherwise =
        lies_otherwise(transform, FFTND_PHYSICAL) || lies_otherwise(transform, FFTND_SPECTRAL);
    int copies = (halved || truncated || otherwise) && split == FFTND__WITH_COPY;
    int apart = halved && split > FFTND__COPY_FIRST;
    int fields = begins || ends ? transform->fields[0] + transform->fields[1] : 1;
    int n = find_groups(transform, link, apart, fields, bounds);
    const int *before = program->steps[program->nsteps].layout->memory;
    memcpy(memory, before, sizeof memory);
    turn_memory(program, transform, link, is_first, is_last, memory);
    if (backward && !begins && (copies || (halved && split == FFTND__COPY_FIRST)))
        add_copy(program, transform, before);
    for (int i = 0; i < n; i++) {
        int group = backward ? n - 1 - i : i;
        const int *after = i == n - 1 ? memory : NULL;
        if (begins && i == 0)
            end_applied(program, transform, after, split);
        else if (ends && i == n - 1)
            add_applied(program, transform, link, bounds[group + 1], bounds[group]);
        else
            add_serial(program, transform, link, bounds[group + 1], bounds[group], after);
    }
    if (copies && !backward && !ends)
        add_copy(program, transform, memory);
}

static void add_exchange(struct fftnd__program *program, const struct fftnd__transform *transform,
                         const struct fftnd__link *before, const struct fftnd__link *after) {
    int backward = program->direction == REDIST_BACKWARD, shift = transform->batch.shift;
    struct fftnd__step *step = add_step(program, FFTND__EXCHANGE);
    step->grid_dim = after->grid_dim;
    step->axis_source = shift + (backward ? after->axis_after : after->axis_before);
    step->axis_destination = shift + (backward ? after->axis_before : after->axis_after);
    set_array(transform, step, backward ? &before->spectral : &after->physical,
              fftnd__previous(step)->real);
}

/* Adds a copy of the input with its ghosts. */
static void add_copy_of_input(struct fftnd__program *program,
                              const struct fftnd__transform *transform) {
    struct fftnd__step *step = add_step(program, FFTND__COPIES_INPUT);
    step->grid_dim = -1; /* of all ranks, which may exchange ghosts in it */
    keep_array(transform, step);
    pad_array(transform, step, (enum fftnd_side)program->direction);
}

/* Adds an exchange of all ranks between a side and its end of the chain, if these differ. One that fills ghosts in a
 * stream reads the array before, as peers do not know that of the user. */
static void add_move(struct fftnd__program *program, const struct fftnd__transform *transform,
                     enum fftnd_side side) {
    const struct fftnd__chain *chain = &transform->chain;
    const struct fftnd__link *last = &chain->links[chain->nlinks - 1];
    int begins = (int)side == program->direction;
    if (!chain->moves[side])
        return;
    struct fftnd__step *step = add_step(program, FFTND__EXCHANGE);
    step->grid_dim = -1;
    step->fills_ghosts = !begins && fills_enqueued(transform, side);
    set_array(transform, step,
              !begins                  ? &chain->ends[side]
              : side == FFTND_PHYSICAL ? &chain->links[0].physical
                                       : &last->spectral,
              fftnd__previous(step)->real);
}

/* Links of a direction that transform axes: number, first and last. */
struct used {
    int n, begin, end; /* by number in the chain */
};

static struct used find_used(const struct fftnd__chain *chain, int backward) {
    struct used used = {0, -1, -1};
    for (int i = 0; i < chain->nlinks; i++) {
        int link = backward ? chain->nlinks - 1 - i : i;
        if (chain->links[link].naxes == 0)
            continue;
        used.begin = used.n++ == 0 ? link : used.begin;
        used.end = link;
    }
    return used;
}

/* Adds the links of a leg. The operator's link ends the way there, and begins that back. */
static void add_links(struct fftnd__program *program, const struct fftnd__transform *transform,
                      enum fftnd__split split, enum leg leg) {
    const struct fftnd__chain *chain = &transform->chain;
    int backward = program->direction == REDIST_BACKWARD, step = backward ? -1 : 1;
    const struct used used = find_used(chain, backward);
    int first = leg == BACK ? used.begin : backward ? chain->nlinks - 1 : 0;
    int last = leg == THERE ? used.end : backward ? 0 : chain->nlinks - 1;
    for (int link = first; link != last + step; link += step) {
        int late = backward ? link + 1 : link;
        if (link != first)
            add_exchange(program, transform, &chain->links[late - 1], &chain->links[late]);
        if (chain->links[link].naxes > 0)
            add_link(program, transform, &chain->links[link], link == used.begin, link == used.end,
                     split, leg);
    }
    if (used.n == 0 && split == FFTND__WITH_COPY)
        add_copy(program, transform, program->steps[program->nsteps].layout->memory);
    if (used.n == 0)
        add_copy(program, transform, transform->memory[!backward]);
}

static int are_alike(const struct fftnd__layout *a, const struct fftnd__layout *b, int ndims) {
    size_t numbers = (size_t)ndims * sizeof(redist_index);
    return memcmp(a->alignment.size, b->alignment.size, 3 * numbers) == 0 &&
           memcmp(a->memory, b->memory, sizeof a->memory) == 0 &&
           a->local.offset == b->local.offset &&
           memcmp(a->local.extent, b->local.extent, numbers + sizeof(redist_index)) == 0;
}

/* Sets which steps may run in place: not between arrays of different padding or order, except in tiles whose lines have
 * the same bytes. */
static void find_types(struct fftnd__program *program, const struct fftnd__transform *transform,
                       enum fftnd_side from, enum fftnd_side to) {
    const struct fftnd__step *input = fftnd__accumulated(program);
    for (int i = 1; i <= program->nsteps; i++) {
        struct fftnd__step *step = &program->steps[i];
        int outside = (fftnd__previous(step) == input && lies_otherwise(transform, from)) ||
                      (i == program->nsteps && lies_otherwise(transform, to));
        int alike = are_alike(fftnd__previous(step)->layout, step->layout, transform->chain.ndims);
        if (step->type == FFTND__KEEPS_LAYOUT && outside && !alike)
            step->type = FFTND__CHANGES_LAYOUT;
        if (step->type == FFTND__CHANGES_LAYOUT && step->real != fftnd__previous(step)->real &&
            lines_lie_alike(transform, step))
            step->type = FFTND__KEEPS_LAYOUT;
    }
}

/* Lists all steps. Asynchronous exchanges do not end in arrays of the user, as peers have to know these when the plan
 * is made, unless they read their sources. */
static void list_steps(struct fftnd__program *program, const struct fftnd__transform *transform,
                       enum fftnd__split split) {
    const struct fftnd__chain *chain = &transform->chain;
    enum fftnd_side from = (enum fftnd_side)program->direction;
    enum fftnd_side to = (enum fftnd_side)program->ends;
    program->steps[0].fields = transform->fields[0];
    memcpy(program->steps[0].layout->memory, transform->memory[from], sizeof transform->memory[0]);
    set_array(transform, &program->steps[0], &chain->ends[from], chain->real[from]);
    pad_array(transform, &program->steps[0], from);
    if (adds_in_copy(transform, from))
        add_copy_of_input(program, transform);
    add_move(program, transform, from);
    add_links(program, transform, split, transform->applied != NULL ? THERE : ALONE);
    if (transform->applied != NULL) {
        program->direction = !program->direction;
        add_links(program, transform, split, BACK);
    }
    add_move(program, transform, to);
    const struct fftnd__step *last = &program->steps[program->nsteps];
    if (last->type == FFTND__EXCHANGE && transform->settings.asynchronous && !last->fills_ghosts)
        add_copy(program, transform, program->steps[program->nsteps].layout->memory);
    program->direction = (int)from;
    pad_array(transform, &program->steps[program->nsteps], to);
    find_types(program, transform, from, to);
}

static int check_bytes(const struct fftnd__program *program) {
    for (int i = 0; i <= program->nsteps; i++)
        if (program->steps[i].layout->local.elements > FFTND__MOST_ELEMENTS)
            return redist_fail_in("fftnd_plan_create", REDIST_ERR_LIMIT,
                                  "this rank's array, with options->batch, padding and the extent "
                                  "of boxes, has more than %zu elements",
                                  FFTND__MOST_ELEMENTS);
    return REDIST_OK;
}

/* Allocates steps, layouts behind them, and behind these the numbers of all layouts. REDIST_ERR_MEMORY. */
static int allocate(struct fftnd__program *program, int ndims, size_t nsteps, size_t nlayouts) {
    size_t all = (size_t)ndims + 1, numbers = 4 * (size_t)ndims + 1;
    program->steps =
        redist_calloc(1, nsteps * sizeof(struct fftnd__step) +
                             nlayouts * (sizeof(struct fftnd__layout) +
                                         numbers * sizeof(redist_index) + all * sizeof(ptrdiff_t)));
    if (program->steps == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for the steps of a plan");
    program->layouts = (struct fftnd__layout *)(program->steps + nsteps);
    redist_index *next = (redist_index *)(program->layouts + nlayouts);
    ptrdiff_t *strides = (ptrdiff_t *)(next + nlayouts * numbers);
    for (size_t i = 0; i < nlayouts; i++)
        fftnd__place_layout(&program->layouts[i], ndims, next + i * numbers, strides + i * all);
    return REDIST_OK;
}

/* Keeps one of equal layouts, in the first places. Returns their number. */
static size_t join_layouts(const struct fftnd__program *program, int ndims) {
    size_t n = 0;
    for (int i = 0; i <= program->nsteps; i++) {
        struct fftnd__step *step = &program->steps[i];
        size_t same = 0;
        while (same < n && !are_alike(&program->layouts[same], step->layout, ndims))
            same++;
        if (same == n && n++ != (size_t)i)
            fftnd__copy_layout(&program->layouts[same], step->layout, ndims);
        step->layout = &program->layouts[same];
    }
    return n;
}

/* Moves steps and layouts to memory of just their size. */
static int shrink(struct fftnd__program *program, int ndims) {
    const struct fftnd__program listed = *program;
    size_t nsteps = (size_t)program->nsteps + 2, nlayouts = join_layouts(program, ndims);
    int code = allocate(program, ndims, nsteps, nlayouts);
    if (code != REDIST_OK) {
        program->nsteps = 0;
    } else {
        memcpy(program->steps, listed.steps, nsteps * sizeof *listed.steps);
        for (size_t i = 0; i < nlayouts; i++)
            fftnd__copy_layout(&program->layouts[i], &listed.layouts[i], ndims);
        for (int i = 0; i <= program->nsteps; i++)
            program->steps[i].layout = program->layouts + (listed.steps[i].layout - listed.layouts);
        code = check_bytes(program);
    }
    redist_release(listed.steps);
    return code;
}

/* Steps, and layouts, while they are listed. */
enum { MOST_ROOM = FFTND__MOST_STEPS + 2 };

int fftnd__list_steps(struct fftnd__program *program, const struct fftnd__transform *transform,
                      int direction, int transposed, enum fftnd__split split) {
    const struct fftnd__chain *chain = &transform->chain;
    int truncated = memcmp(chain->modes, chain->points, sizeof chain->modes) != 0 ||
                    memcmp(chain->filled, chain->points, sizeof chain->filled) != 0;
    fftnd__free_steps(program);
    *program =
        (struct fftnd__program){.direction = direction,
                                .ends = transform->applied != NULL ? direction : !direction,
                                .transposed = truncated ? FFTND__NOT_TRANSPOSED : transposed};
    REDIST_TRY(allocate(program, chain->ndims, MOST_ROOM, MOST_ROOM));
    for (size_t i = 0; i < MOST_ROOM; i++)
        program->steps[i].layout = &program->layouts[i];
    list_steps(program, transform, split);
    return shrink(program, chain->ndims);
}

void fftnd__free_steps(struct fftnd__program *program) {
    redist_release(program->steps);
    program->steps = NULL;
    program->nsteps = 0;
}
