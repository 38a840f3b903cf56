/* SPDX-License-Identifier: BSD-3-Clause */
#include "copy.h"

#include <pthread.h>
#include <stdatomic.h>

/* Shorter runs are elements, copied by their type. */
enum { SHORTEST_RUN = 16 };

/* ---------------------------------------------------------------- the table */

const char *const redist__copy_cases[REDIST__CASES] = {
    "near", "middle", "far", "far-nontemporal", "load", "store", "store-nontemporal"};

static const size_t class_bytes[REDIST__CLASSES] = {16, 32, 64, 128, 256, 1024, 4096, 32768};

size_t redist__class_bytes(int class) {
    return class_bytes[class];
}

static int class_of(size_t run) {
    int class = REDIST__CLASSES - 1;
    while (class > 0 && run < class_bytes[class])
        class --;
    return class;
}

/* Guesses the threshold of nontemporal stores: a copy and the next step use two arrays each, beside other data; arrays
 * in the second-level cache stay there. */
static size_t guess_threshold(const redist_caches *caches) {
    size_t threshold = caches->last / 8;
    return threshold > caches->second ? threshold : caches->second;
}

/* Guesses the table. Two adjacent rows past the caches were good on all processors measured so far (copy-bench), more
 * rows up to three times as slow on some; hardware prefetch hardly helps with rows. */
void redist__copy_guess(struct redist__copy_table *table) {
    const struct redist__registers *widest = redist__registers_at(0);
    const redist_caches *caches = redist_find_caches();
    *table = (struct redist__copy_table){.near_bytes = caches->second,
                                         .middle_bytes = caches->last,
                                         .nontemporal_bytes = guess_threshold(caches)};
    for (int i = 0; i < REDIST__CASES; i++)
        for (int class = 0; class < REDIST__CLASSES; class ++) {
            int past = redist__stores_past((enum redist__copy_case)i) && widest->fence != NULL &&
                       class_bytes[class] >= 64;
            table->loops[i][class] =
                (struct redist__loop){widest, past, past ? 2 : 1, i == REDIST__NEAR ? 0 : 4096};
        }
}

static struct redist__copy_table tables[2];
static const struct redist__copy_table *_Atomic current;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void guess_first(void) {
    redist__copy_guess(&tables[0]);
    atomic_store(&current, &tables[0]);
}

const struct redist__copy_table *redist__copy_table(void) {
    const struct redist__copy_table *table = atomic_load_explicit(&current, memory_order_acquire);
    if (table != NULL)
        return table;
    pthread_once(&once, guess_first);
    return atomic_load(&current);
}

/* Sets the table once: other threads may read it later. */
void redist__copy_set_table(const struct redist__copy_table *table) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    redist__copy_table();
    pthread_mutex_lock(&lock);
    if (atomic_load(&current) == &tables[0]) {
        tables[1] = *table;
        atomic_store_explicit(&current, &tables[1], memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

int redist__copy_is_set(void) {
    return redist__copy_table() != &tables[0];
}

/* ---------------------------------------------------------------- choosing */

static int is_past(const struct redist__copy_table *table, size_t bytes, int class) {
    return bytes > table->nontemporal_bytes &&
           table->rates[REDIST__FAR_NONTEMPORAL][class] >= table->rates[REDIST__FAR][class];
}

static enum redist__copy_case whole_case(const struct redist__copy_table *table, size_t bytes) {
    return 2 * bytes <= table->near_bytes     ? REDIST__NEAR
           : 2 * bytes <= table->middle_bytes ? REDIST__MIDDLE
                                              : REDIST__FAR;
}

const struct redist__loop *redist__copy_choose(const struct redist__copy *copy,
                                               enum redist__copy_use use) {
    static const struct redist__loop elements = {&redist__registers_plain, 0, 1, 0};
    static const enum redist__copy_case cases[] = {
        [REDIST__COPY_NONTEMPORAL] = REDIST__FAR_NONTEMPORAL,
        [REDIST__COPY_LOAD] = REDIST__LOADS,
        [REDIST__COPY_STORE] = REDIST__STORES,
        [REDIST__COPY_STORE_NONTEMPORAL] = REDIST__STORES_NONTEMPORAL};
    const struct redist__copy_table *table = redist__copy_table();
    int class = class_of(copy->run);
    size_t bytes = redist__copy_bytes(copy);
    if (copy->run < SHORTEST_RUN)
        return &elements;
    if (use == REDIST__COPY_AUTO)
        use = is_past(table, bytes, class) ? REDIST__COPY_NONTEMPORAL : REDIST__COPY_CACHED;
    return &table->loops[use == REDIST__COPY_CACHED ? whole_case(table, bytes) : cases[use]][class];
}

/* ---------------------------------------------------------------- the loop nest */

static void run_nest(const struct redist__copy *copy, const char *from, char *to,
                     const struct redist__loop *loop) {
    redist__copy_rows *rows = loop->registers->copy;
    int inner = copy->ndims - 1; /* the loop inside `rows` */
    if (inner < 0) {
        rows(loop, to, 0, from, 0, 1, copy->run);
        return;
    }
    size_t index[REDIST_MAX_NDIMS] = {0};
    for (;;) {
        rows(loop, to, copy->destination[inner], from, copy->source[inner], copy->count[inner],
             copy->run);
        int axis = inner - 1; /* an odometer over the outer loops */
        while (axis >= 0 && ++index[axis] == copy->count[axis]) {
            ptrdiff_t back = (ptrdiff_t)(copy->count[axis] - 1);
            from -= back * copy->source[axis];
            to -= back * copy->destination[axis];
            index[axis--] = 0;
        }
        if (axis < 0)
            return;
        from += copy->source[axis];
        to += copy->destination[axis];
    }
}

void redist__copy_run_with(const struct redist__copy *copy, const void *source, void *destination,
                           const struct redist__loop *loop) {
    if (copy->run != 0)
        run_nest(copy, source, destination, loop);
}
