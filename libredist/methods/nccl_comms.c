/* SPDX-License-Identifier: BSD-3-Clause */
#include "nccl_link.h"
#include "packing.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

int redist__nccl_result(ncclResult_t result, const char *what) {
    if (result == ncclSuccess)
        return REDIST_OK;
    const char *last = ncclGetLastError(NULL);
    cudaError_t error = cudaGetLastError(); /* clears it for the user's own checks */
    return redist__fail(REDIST_ERR_DEVICE, "%s: %s (%s; CUDA's last error: %s)", what,
                        ncclGetErrorString(result), last != NULL ? last : "",
                        cudaGetErrorString(error));
}

/* ---------------------------------------------------------------- ending */

/* Ends under way at a time; more communicators stay as they are (guess: NCCL may wait for the other ranks of a node,
 * each of which keeps few). */
enum { MOST_ENDS = 64 };

static struct end {
    int is_under_way, aborts;
    redist_place place;
    ncclComm_t comm;
} ends[MOST_ENDS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that is static here */
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;

static void finish(struct end *end) {
    pthread_mutex_lock(&lock);
    end->is_under_way = 0;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
}

static void *end_comm(void *data) {
    struct end *end = data;
    redist_visit visit;
    if (redist_enter(&end->place, &visit) == REDIST_OK)
        (void)(end->aborts ? ncclCommAbort : ncclCommDestroy)(end->comm);
    redist_leave(&visit);
    finish(end);
    return NULL;
}

static struct timespec after(int seconds) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    return until;
}

/* Returns a free place of the list, NULL = none. */
static struct end *begin(struct end end) {
    int i = 0;
    pthread_mutex_lock(&lock);
    while (i < MOST_ENDS && ends[i].is_under_way)
        i++;
    if (i < MOST_ENDS)
        ends[i] = end;
    pthread_mutex_unlock(&lock);
    return i < MOST_ENDS ? &ends[i] : NULL;
}

void redist__nccl_comm_end(const redist_place *place, ncclComm_t comm, int aborts, int seconds) {
    const struct timespec until = after(seconds);
    struct end *end = begin((struct end){1, aborts, *place, comm});
    pthread_t thread;
    redist_stay_loaded(__func__);
    if (end == NULL)
        return;
    if (redist_thread_begin(&thread, end_comm, end) != 0)
        finish(end);
    else if (seconds == 0 || pthread_timedjoin_np(thread, NULL, &until) != 0)
        pthread_detach(thread);
}

/* ---------------------------------------------------------------- keeping */

/* Most communicators that stay (guess): a slab grid has one, a pencil grid two, and the planner tries several grids.
 * Each holds from 100 MB to some GB of a device. */
enum { MOST_IDLE = 4 };

static struct idle {
    struct redist__nccl_comm comm;
    redist_place place;
    MPI_Group group; /* its ranks, in their order */
} idle[MOST_IDLE];   /* the oldest first */
static int nidle;

/* Takes a communicator out of those that are kept. */
static struct idle take(int which) {
    const struct idle taken = idle[which];
    memmove(&idle[which], &idle[which + 1], (size_t)(--nidle - which) * sizeof *idle);
    return taken;
}

/* Ends it without waiting: other ranks may still have it, and messages of this rank to them may be under way, which an
 * abort would lose. */
static void end_idle(struct idle *old, int aborts) {
    MPI_Group_free(&old->group);
    redist__nccl_comm_end(&old->place, old->comm.handle, aborts, 0);
}

/* Runs in MPI_Finalize. */
static void end_all(void) {
    const struct timespec until = after(REDIST__NCCL_LONGEST_END);
    const int aborts = redist__process_given_up() > 0; /* the others may be gone */
    while (nidle > 0) {
        struct idle oldest = take(0);
        end_idle(&oldest, aborts);
    }
    pthread_mutex_lock(&lock);
    for (int i = 0, code = 0; i < MOST_ENDS && code == 0;)
        if (ends[i].is_under_way)
            code = pthread_cond_timedwait(&ended, &lock, &until);
        else
            i++;
    pthread_mutex_unlock(&lock);
}

void redist__nccl_comm_keep(const struct redist__context *context, const redist_place *place,
                            const struct redist__nccl_comm *comm) {
    static struct redist__ending ending = {.end = end_all};
    struct idle kept = {*comm, *place, MPI_GROUP_NULL}, oldest = {.group = MPI_GROUP_NULL};
    redist__at_end(&ending);
    if (MPI_Comm_group(context->comm, &kept.group) != MPI_SUCCESS) {
        redist__nccl_comm_end(place, comm->handle, 0, 0);
        return;
    }
    pthread_mutex_lock(&lock);
    if (nidle == MOST_IDLE)
        oldest = take(0);
    idle[nidle++] = kept;
    pthread_mutex_unlock(&lock);
    if (oldest.group != MPI_GROUP_NULL)
        end_idle(&oldest, 0);
}

/* ---------------------------------------------------------------- providing */

/* A message of the first rank: a communicator that it has kept, or the identifier of a new one. */
struct offer {
    ncclUniqueId id;
    int is_kept;
};

static int has_group(const struct idle *candidate, MPI_Group group) {
    int order;
    return MPI_Group_compare(candidate->group, group, &order) == MPI_SUCCESS && order == MPI_IDENT;
}

/* Takes the newest communicator of this place that was offered, or, on the rank that offers one, of these ranks;
 * returns whether there is one. */
static int find(const struct redist__problem *problem, const struct offer *offer, MPI_Group group,
                struct idle *found) {
    int which;
    pthread_mutex_lock(&lock);
    for (which = nidle - 1; which >= 0; which--)
        if (idle[which].place.context == problem->place.context &&
            (group != MPI_GROUP_NULL
                 ? has_group(&idle[which], group)
                 : memcmp(&idle[which].comm.id, &offer->id, sizeof offer->id) == 0))
            break;
    if (which >= 0)
        *found = take(which);
    pthread_mutex_unlock(&lock);
    return which >= 0;
}

/* On the first rank: of a kept communicator, which it takes, else of a new one. */
static int make_offer(const struct redist__problem *problem, struct offer *offer,
                      struct idle *found) {
    MPI_Group group;
    REDIST_TRY(redist_check_mpi(MPI_Comm_group(problem->context->comm, &group)));
    offer->is_kept = find(problem, offer, group, found);
    MPI_Group_free(&group);
    if (!offer->is_kept)
        return redist__nccl_result(ncclGetUniqueId(&offer->id), "ncclGetUniqueId");
    offer->id = found->comm.id;
    return REDIST_OK;
}

/* Checks first that no device has two ranks, which NCCL refuses late, and on some ranks with a crash. */
static int make(const struct redist__problem *problem, const redist_place *place,
                struct redist__nccl_comm *comm) {
    const struct redist__context *context = problem->context;
    REDIST_TRY(redist__check_devices(problem, "nccl"));
    int code =
        redist__nccl_result(ncclCommInitRank(&comm->handle, context->size, comm->id, context->rank),
                            "ncclCommInitRank");
    code = redist_agree(context->comm, code);
    if (code != REDIST_OK && comm->handle != NULL)
        redist__nccl_comm_end(place, comm->handle, 1, REDIST__NCCL_LONGEST_END);
    return code;
}

/* Takes what the first rank has kept and offers, unless another one has ended it after a failure, or for having too
 * many; then all end it. */
static int take_offer(const struct redist__problem *problem, const struct offer *offer,
                      struct idle *found, int *is_taken) {
    const int has = problem->context->rank == 0 || find(problem, offer, MPI_GROUP_NULL, found);
    int code = redist__find_common(problem->context, has, is_taken);
    if (code == REDIST_OK && *is_taken)
        MPI_Group_free(&found->group);
    else if (has)
        end_idle(found, code != REDIST_OK);
    return code;
}

/* Takes the next offer of the first rank, or makes what it says. */
static int follow_offer(const struct redist__problem *problem, const redist_place *place,
                        struct redist__nccl_comm *comm, int *is_done) {
    const struct redist__context *context = problem->context;
    struct offer offer = {.is_kept = 0};
    struct idle found = {.group = MPI_GROUP_NULL};
    int code = context->rank == 0 ? make_offer(problem, &offer, &found) : REDIST_OK;
    redist__keep_first(&code, redist_broadcast(context->comm, &offer, sizeof offer, 0));
    code = redist_agree(context->comm, code);
    if (code != REDIST_OK && found.group != MPI_GROUP_NULL)
        end_idle(&found, 1);
    REDIST_TRY(code);
    *is_done = 1;
    *comm = (struct redist__nccl_comm){NULL, offer.id};
    if (!offer.is_kept)
        return make(problem, place, comm);
    REDIST_TRY(take_offer(problem, &offer, &found, is_done));
    comm->handle = found.comm.handle;
    return REDIST_OK;
}

int redist__nccl_comm_provide(const struct redist__problem *problem, const redist_place *place,
                              struct redist__nccl_comm *comm) {
    for (int is_done = 0; !is_done;)
        REDIST_TRY(follow_offer(problem, place, comm, &is_done));
    return REDIST_OK;
}
