/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of a device that processes map into each other, of every kind that CUDA has, with a driver that stands in for
 * CUDA's: allocations are files in memory, of which ranks hand each other descriptors, or names in /proc in place of
 * the handles of IPC and of fabrics.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../libredist/runtime/shares.h"
#include "harness.h"
#include "random.h"

enum { MOST = 64, PAGE = 1 << 16, ALL_KINDS = (1 << REDIST__SHARE_KINDS) - 1 };

/* ---------------------------------------------------------------- the driver */

struct allocation {
    char *base;
    size_t bytes;
    uint64_t buffer;
    int file;
};

static struct allocation allocations[MOST];
static unsigned allowed,
    works = ALL_KINDS; /* kinds of new allocations, and those that the driver does */
static int open_fails, nopen, nclosed, ndrained, drained_before_close;
static uint64_t buffers;

static struct allocation *find_allocation(const void *address) {
    for (int i = 0; i < MOST; i++)
        if (allocations[i].base != NULL &&
            (size_t)((const char *)address - allocations[i].base) < allocations[i].bytes)
            return &allocations[i];
    return NULL;
}

static int find(const void *address, struct redist__shared_memory *memory) {
    const struct allocation *found = find_allocation(address);
    if (found == NULL)
        return 0;
    *memory = (struct redist__shared_memory){(uint64_t)(uintptr_t)found->base, found->bytes,
                                             found->buffer, 0, allowed};
    return 1;
}

static int is_buffer(const void *address, uint64_t buffer) {
    const struct allocation *found = find_allocation(address);
    return found != NULL && found->buffer == buffer;
}

static int find_place(redist_place *place) {
    *place = (redist_place){.space = NULL};
    return REDIST_OK;
}

static void drain(void) {
    ndrained++;
}

/* At this address, or where there is room. */
static char *allocate_at(char *address, size_t bytes) {
    struct allocation *room = allocations;
    while (room->base != NULL)
        room++;
    const int file = memfd_create("allocation", MFD_CLOEXEC);
    void *base = MAP_FAILED;
    if (file >= 0 && ftruncate(file, (off_t)bytes) == 0)
        base = mmap(address, bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | (address != NULL ? MAP_FIXED : 0), file, 0);
    if (base == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    *room = (struct allocation){base, bytes, ++buffers, file};
    return base;
}

static int allocate(size_t bytes, void **array) {
    *array = allocate_at(NULL, bytes);
    return REDIST_OK;
}

static void release(void *array) {
    struct allocation *found = find_allocation(array);
    munmap(found->base, found->bytes);
    close(found->file);
    *found = (struct allocation){0};
}

static int export_memory(const struct redist__shared_memory *memory,
                         struct redist__memory_handle *handle, int *descriptor) {
    const struct allocation *found = find_allocation((void *)(uintptr_t)memory->base);
    const int by_name = handle->kind == REDIST__BY_IPC || handle->kind == REDIST__BY_FABRIC;
    if ((works >> handle->kind & 1U) == 0)
        return 0;
    if (by_name)
        snprintf((char *)handle->ipc, sizeof(handle->ipc), "/proc/%d/fd/%d", (int)getpid(),
                 found->file);
    else
        *descriptor = dup(found->file);
    return 1;
}

static char *open_memory(const struct redist__memory_handle *handle, int descriptor, void **kept) {
    const int by_name = handle->kind == REDIST__BY_IPC || handle->kind == REDIST__BY_FABRIC;
    const int file = by_name ? open((const char *)handle->ipc, O_RDWR | O_CLOEXEC) : descriptor;
    void *address = open_fails || file < 0
                        ? MAP_FAILED
                        : mmap(NULL, handle->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (by_name && file >= 0)
        close(file);
    if (address == MAP_FAILED)
        return NULL;
    *kept = address;
    nopen++;
    return address;
}

static void close_memory(const struct redist__memory_handle *handle, char *address, void *kept) {
    drained_before_close += ndrained > 0;
    ndrained = 0;
    munmap(address, handle->bytes);
    nopen--;
    nclosed +=
        kept == address ? 1 : MOST; /* ranks close at different times: no place for a check */
}

const struct redist__share_driver redist__share_driver = {
    .find = find,
    .is_buffer = is_buffer,
    .find_place = find_place,
    .drain = drain,
    .allocate = allocate,
    .release = release,
    .export_memory = export_memory,
    .open = open_memory,
    .close = close_memory,
};

/* ---------------------------------------------------------------- what tests use */

static void begin(unsigned kinds) {
    allowed = kinds;
    works = ALL_KINDS;
    open_fails = nopen = nclosed = ndrained = drained_before_close = 0;
}

static int count_files(void) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

/* Those of all ranks. */
static void gather(const void *array, size_t bytes, struct redist__memory_handle handles[]) {
    const struct redist__memory_handle mine = redist__shares_export(array, bytes);
    MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, handles, sizeof(mine), MPI_BYTE, MPI_COMM_WORLD);
}

static int next_rank(void) {
    return (harness_rank + 1) % harness_nranks;
}

/* Some systems give a process no descriptors of others. */
static int descriptors_travel(void) {
    struct redist__memory_handle handles[MOST];
    struct redist__mappings mappings = {0};
    begin(1U << REDIST__BY_DESCRIPTOR);
    char *array = allocate_at(NULL, PAGE);
    gather(array, PAGE, handles);
    int all = redist__shares_map(&handles[next_rank()], &mappings) != NULL;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    redist__shares_unmap(&mappings);
    MPI_Barrier(MPI_COMM_WORLD);
    release(array);
    return all;
}

static int is_usable(int kind) {
    static int travel = -1;
    if (travel < 0)
        travel = descriptors_travel();
    if (!travel && harness_rank == 0)
        fprintf(stderr, "# this system gives processes no descriptors of each other\n");
    return travel || kind == REDIST__BY_IPC || kind == REDIST__BY_FABRIC;
}

/* ---------------------------------------------------------------- tests */

/* Peers see what is written, two plans share an import, and the last of them closes it behind all work. */
START_TEST(every_kind) {
    for (int kind = 0; kind < REDIST__SHARE_KINDS; kind++) {
        struct redist__memory_handle handles[MOST];
        struct redist__mappings plans[2] = {{0}, {0}};
        if (!is_usable(kind))
            continue;
        begin(1U << kind);
        const int files = count_files();
        const size_t offset = (size_t)random_between(0, PAGE);
        char *array = allocate_at(NULL, (size_t)2 * PAGE);
        gather(array + offset, PAGE / 2, handles);
        check_all(handles[harness_rank].kind == kind && handles[harness_rank].key != 0,
                  "kind %d of %d", handles[harness_rank].kind, kind);
        char *seen[2];
        for (int plan = 0; plan < 2; plan++)
            seen[plan] = redist__shares_map(&handles[next_rank()], &plans[plan]);
        check_all(seen[0] != NULL && seen[0] == seen[1], "%p and %p", (void *)seen[0],
                  (void *)seen[1]);
        check_all(nopen == (harness_nranks > 1), "%d imports are open", nopen);
        seen[0][7] = (char)(100 + harness_rank);
        MPI_Barrier(MPI_COMM_WORLD);
        check_all(array[offset + 7] == 100 + (harness_rank + harness_nranks - 1) % harness_nranks,
                  "found %d", array[offset + 7]);
        redist__shares_unmap(&plans[0]);
        check_all(nclosed == 0, "closed while a plan used it");
        redist__shares_unmap(&plans[1]);
        check_all(nopen == 0 && nclosed == (harness_nranks > 1) && drained_before_close == nclosed,
                  "%d open, %d closed, %d of them behind all work", nopen, nclosed,
                  drained_before_close);
        MPI_Barrier(MPI_COMM_WORLD);
        release(array);
        check_all(count_files() == files, "%d files are open, not %d", count_files(), files);
    }
}
END_TEST

/* Of what the memory allows, the first that the driver does; nothing is left of the others. */
START_TEST(choices) {
    for (unsigned kinds = 0; kinds <= ALL_KINDS; kinds++) {
        begin(kinds);
        works = (unsigned)random_between(0, ALL_KINDS);
        const int files = count_files();
        char *array = allocate_at(NULL, PAGE);
        const struct redist__memory_handle handle = redist__shares_export(array, PAGE);
        int expected = 0;
        while (expected < REDIST__SHARE_KINDS && (kinds & works & 1U << expected) == 0)
            expected++;
        check_all(expected == REDIST__SHARE_KINDS ? handle.key == 0
                                                  : handle.key != 0 && handle.kind == expected,
                  "allowed %x, works %x: kind %d", kinds, works, handle.kind);
        const int has_file =
            handle.key != 0 && (expected == REDIST__BY_DESCRIPTOR || expected == REDIST__BY_POOL);
        check_all((handle.key != 0 && handle.descriptor >= 0) == has_file, "descriptor %d",
                  handle.descriptor);
        /* another allocation in its place */
        release(array);
        char *other = allocate_at(array, PAGE);
        allowed = 1U << REDIST__BY_IPC, works = ALL_KINDS;
        const struct redist__memory_handle next = redist__shares_export(other, PAGE);
        check_all(next.key != 0 && next.key != handle.key, "the handle of what is gone");
        release(other);
        check_all(count_files() == files, "%d files are open, not %d", count_files(), files);
        check_all(redist__shares_export(&files, 1).key == 0, "a handle of the host's memory");
    }
}
END_TEST

/* An array at the address of one that is gone shows its importers that it is: they close that one at once. */
START_TEST(replaced) {
    struct redist__memory_handle old[MOST], now[MOST];
    struct redist__mappings plans[2] = {{0}, {0}};
    begin(1U << REDIST__BY_IPC);
    char *array = allocate_at(NULL, (size_t)2 * PAGE);
    gather(array, PAGE, old);
    check_all(redist__shares_map(&old[next_rank()], &plans[0]) != NULL, "not mapped");
    MPI_Barrier(MPI_COMM_WORLD);
    release(array);
    array = allocate_at(array, PAGE);
    gather(array, PAGE, now);
    check_all(now[harness_rank].key != old[harness_rank].key, "the same key");
    check_all(redist__shares_map(&now[next_rank()], &plans[1]) != NULL, "not mapped");
    if (harness_nranks > 1)
        check_all(nopen == 1 && nclosed == 1, "%d open, %d closed", nopen, nclosed);
    redist__shares_unmap(&plans[0]);
    check_all(nopen == (harness_nranks > 1), "the first plan closed what the second one uses");
    redist__shares_unmap(&plans[1]);
    check_all(nopen == 0, "%d imports are open", nopen);
    MPI_Barrier(MPI_COMM_WORLD);
    release(array);
}
END_TEST

/* What one rank cannot open it can open later, and nothing is left of the attempt. */
START_TEST(one_rank_fails) {
    for (int kind = 0; kind < REDIST__SHARE_KINDS && harness_nranks > 1; kind++) {
        struct redist__memory_handle handles[MOST];
        struct redist__mappings mappings = {0};
        if (!is_usable(kind))
            continue;
        begin(1U << kind);
        char *array = allocate_at(NULL, PAGE);
        gather(array, PAGE, handles);
        const int files = count_files(), fails = harness_rank == 1;
        open_fails = fails;
        for (int rank = 0; rank < harness_nranks; rank++) {
            const char *seen = redist__shares_map(&handles[rank], &mappings);
            check_all((seen == NULL) == (fails && rank != harness_rank), "rank %d", rank);
        }
        open_fails = 0;
        check_all(redist__shares_map(&handles[next_rank()], &mappings) != NULL, "not mapped");
        check_all(count_files() == files, "%d files are open, not %d", count_files(), files);
        MPI_Barrier(MPI_COMM_WORLD); /* descriptors are there until then */
        redist__shares_unmap(&mappings);
        check_all(nopen == 0, "%d imports are open", nopen);
        MPI_Barrier(MPI_COMM_WORLD);
        release(array);
    }
}
END_TEST

/* redist_free closes what peers have of an array before it goes, whichever plans still refer to it. */
START_TEST(freed) {
    for (int kind = 0; kind < REDIST__SHARE_KINDS; kind++) {
        struct redist__memory_handle handles[MOST];
        struct redist__mappings mappings = {0};
        struct redist__context *context;
        void *array;
        if (!is_usable(kind))
            continue;
        begin(1U << kind);
        const int files = count_files();
        check_ok(redist__context_get(MPI_COMM_WORLD, &context));
        check_ok(redist__shares_create(context, 1000, &array));
        gather(array, 1000, handles);
        for (int rank = 0; rank < harness_nranks; rank++)
            check_all(redist__shares_map(&handles[rank], &mappings) != NULL, "rank %d", rank);
        check_all(nopen == harness_nranks - 1, "%d imports are open", nopen);
        MPI_Barrier(MPI_COMM_WORLD);
        check_all(redist__shares_remove(&files) == NULL, "removed what is none");
        check_all(redist__shares_remove(array) == context, "not removed");
        check_all(nopen == 0, "%d imports are open", nopen);
        redist__shares_unmap(&mappings);
        check_all(nclosed == harness_nranks - 1, "%d imports were closed", nclosed);
        check_all(count_files() == files, "%d files are open, not %d", count_files(), files);
        redist__context_release(context);
    }
}
END_TEST

/* A plan that is freed leaves the descriptors to another one, whose peers may not have got them yet. */
START_TEST(on_their_way) {
    const int kinds[] = {REDIST__BY_DESCRIPTOR, REDIST__BY_POOL};
    for (int i = 0; i < 2; i++) {
        struct redist__memory_handle handles[MOST];
        struct redist__mappings plan = {0}, other = {0};
        if (!is_usable(kinds[i]))
            continue;
        begin(1U << kinds[i]);
        const int files = count_files();
        char *array = allocate_at(NULL, PAGE);
        redist__shares_expect(&plan);
        redist__shares_expect(&other);
        gather(array, PAGE, handles);
        redist__shares_unmap(&other);
        MPI_Barrier(MPI_COMM_WORLD);
        check_all(redist__shares_map(&handles[next_rank()], &plan) != NULL, "not mapped");
        MPI_Barrier(MPI_COMM_WORLD);
        redist__shares_unmap(&plan);
        MPI_Barrier(MPI_COMM_WORLD);
        release(array);
        check_all(count_files() == files, "%d files are open, not %d", count_files(), files);
    }
}
END_TEST

/* A rank that takes no more part keeps nobody waiting, and nobody frees what a peer may have mapped. The last test:
 * what belongs to that communicator stays. */
START_TEST(freed_without_a_peer) {
    struct redist__context *context;
    void *array;
    MPI_Comm comm;
    if (harness_nranks == 1)
        skip_test("a peer");
    begin(1U << REDIST__BY_IPC);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    check_ok(redist__context_get(comm, &context));
    check_ok(redist__shares_create(context, 1000, &array));
    const int remains = harness_rank < harness_nranks - 1;
    if (!remains)
        redist__give_up(context);
    else if (redist__shares_remove(array) != context || find_allocation(array) == NULL)
        context = NULL;
    check_all(context != NULL, "not removed, or freed");
    redist__context_release(context);
    MPI_Comm_free(&comm);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {every_kind,           choices, replaced,
                                  one_rank_fails,       freed,   on_their_way,
                                  freed_without_a_peer, NULL};
    return harness_run(argc, argv, "test_redist_shares", tests);
}
