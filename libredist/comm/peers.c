/* SPDX-License-Identifier: BSD-3-Clause */
/* Lost peers: this process's knowledge of them, and the notices to others. */
#include "comm.h"

#include <stddef.h>

static const double seconds_per_look = 0.2;

struct redist__peers {
    int count;         /* peers found, */
    _Atomic int known; /* and watched: from then on other threads check, too */
    uint64_t given_up; /* the count of this process when it made the context */
    double looked;     /* time of the last check, and since when this rank waits */
    double waits;
    struct redist__peer of[];
};

/* The last process found gone, for messages. */
static _Atomic uint64_t last_gone;

/* ---------------------------------------------------------------- making */

struct redist__peers *redist__peers_allocate(int count) {
    return redist_calloc(1, sizeof(struct redist__peers) +
                                (size_t)count * sizeof(struct redist__peer));
}

/* Checks the peers of all contexts. */
static void look_everywhere(void) {
    struct redist__context **held = redist__contexts_hold();
    for (int i = 0; held != NULL && held[i] != NULL; i++) {
        (void)redist__peers_look_now(held[i]);
        redist__context_release(held[i]);
    }
    redist_release(held);
}

struct redist__peer redist__peers_describe(struct redist__context *context,
                                           struct redist__peer **described) {
    struct redist__peers *peers = context->peers;
    look_everywhere(); /* else it would detect a loss later, and give up the new context, too */
    const struct redist__peer self = {redist__process_self(), context->rank};
    MPI_Comm_size(context->node, &peers->count);
    peers->given_up = self.process.given_up;
    *described = peers->of;
    return self;
}

void redist__peers_watch(struct redist__context *context) {
    atomic_store(&context->peers->known, 1);
}

int redist__peers_known(const struct redist__context *context) {
    return context->peers != NULL && atomic_load(&context->peers->known);
}

const struct redist__process *redist__peers_process(const struct redist__context *context,
                                                    int rank) {
    const struct redist__peers *peers = context->peers;
    for (int i = 0; i < peers->count; i++)
        if (peers->of[i].rank == rank)
            return &peers->of[i].process;
    return NULL;
}

/* ---------------------------------------------------------------- notices */

/* A message with the number of the context, since MPI reuses communicators, and of its plan that is over; 0 = the rank
 * has given up. For a member of the plan also its number and the agreements completed before; 0 = the whole plan. */
struct notice {
    uint64_t context, plan, member, agreements;
};

enum { NOTICE_NUMBERS = sizeof(struct notice) / sizeof(uint64_t) };

static const struct redist__end whole; /* no member */

/* Sends notices, for which no rank waits; MPI delivers them at some time, and they stay in memory until then. */
static void tell(struct redist__context *context, uint64_t plan, const struct redist__end *end) {
    enum { NOTICES = 1024 };
    static struct notice notices[NOTICES];
    static _Atomic unsigned next;
    struct notice *notice = &notices[atomic_fetch_add(&next, 1) % NOTICES];
    *notice = (struct notice){context->number, plan, end->member, end->agreements};
    atomic_store(&context->has_notices, 1);
    for (int rank = 0; rank < context->size; rank++) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (rank != context->rank &&
            MPI_Isend(notice, NOTICE_NUMBERS, MPI_UINT64_T, rank, REDIST__NOTICE_TAG, context->comm,
                      &request) == MPI_SUCCESS)
            (void)MPI_Request_free(&request);
    }
}

static int is_broken(const struct redist__context *context) {
    return redist__process_given_up() > context->peers->given_up;
}

static void give_up(const struct redist__process *gone) {
    atomic_store(&last_gone, gone->number);
    struct redist__context **held = redist__contexts_hold();
    redist__process_give_up();
    for (int i = 0; held != NULL && held[i] != NULL; i++) {
        if (redist__peers_known(held[i]))
            tell(held[i], 0, &whole);
        redist__context_release(held[i]);
    }
    redist_release(held);
}

void redist__give_up(const struct redist__context *context) {
    if (redist__peers_known(context) && !is_broken(context))
        give_up(redist__peers_process(context, context->rank));
}

static void end_plan(struct redist__life *life, int rank) {
    redist__failure_note_peer(life->failure, rank, REDIST_OK);
    atomic_store(&life->is_over, 1);
}

struct redist__end *redist__life_find_end(const struct redist__life *life, uint64_t member) {
    struct redist__members *members = life->members;
    for (int i = 0; members != NULL && i < members->count; i++)
        if (members->ends[i].member == member)
            return &members->ends[i];
    return NULL;
}

/* Ends a member, perhaps after another rank has. Without a free tag, or without memory, the plan ends. */
static void end_member(struct redist__life *life, const struct redist__end *end) {
    struct redist__end *known = redist__life_find_end(life, end->member);
    struct redist__members *members = life->members;
    if (known != NULL) {
        *known = end->agreements < known->agreements ? *end : *known;
        return;
    }
    if (members->ends == NULL)
        members->ends = redist_calloc(REDIST__MESSAGE_TAGS, sizeof *members->ends);
    if (members->ends != NULL && members->count < REDIST__MESSAGE_TAGS) {
        members->ends[members->count++] = *end;
    } else if (!redist__life_is_over(life)) {
        end_plan(life, end->peer);
        tell(life->context, life->number, &whole);
    }
}

/* Ends a plan or a member by a notice; a plan that was freed here needs none. */
static void take_notice(const struct redist__context *context, const struct notice *notice,
                        int rank) {
    const struct redist__end end = {notice->member, notice->agreements, rank};
    struct redist__life *life = context->living;
    while (life != NULL && life->number != notice->plan)
        life = life->next;
    if (life != NULL && end.member != 0)
        end_member(life, &end);
    else if (life != NULL)
        end_plan(life, rank);
}

int redist__peers_hear(struct redist__context *context) {
    for (int flag = 1; flag;) {
        struct notice notice = {0};
        MPI_Status status;
        int result = redist_insist(
            MPI_Iprobe(MPI_ANY_SOURCE, REDIST__NOTICE_TAG, context->comm, &flag, &status));
        if (result == MPI_SUCCESS && flag)
            result =
                redist_insist(MPI_Recv(&notice, NOTICE_NUMBERS, MPI_UINT64_T, status.MPI_SOURCE,
                                       REDIST__NOTICE_TAG, context->comm, MPI_STATUS_IGNORE));
        if (result != MPI_SUCCESS)
            return result;
        if (flag)
            atomic_store(&context->has_notices, 1);
        if (notice.context == context->number && notice.plan != 0)
            take_notice(context, &notice, status.MPI_SOURCE);
        else if (notice.context == context->number)
            redist__give_up(context);
    }
    return MPI_SUCCESS;
}

/* ---------------------------------------------------------------- lives of plans */

void redist__life_begin(struct redist__life *life, struct redist__context *context, int tag,
                        struct redist__failure *failure) {
    *life = (struct redist__life){.context = context,
                                  .tag = tag,
                                  .number = context->lives,
                                  .failure = failure,
                                  .next = context->living,
                                  .link = &context->living};
    *life->link = life;
    if (life->next != NULL)
        life->next->link = &life->next;
}

void redist__life_end(struct redist__life *life) {
    *life->link = life->next;
    if (life->next != NULL)
        life->next->link = life->link;
    int others_wait = redist__failed(life->failure) && !redist__life_is_over(life);
    if (others_wait &&
        redist__peers_check(life->context) == REDIST_OK) /* else they learn it anyway */
        tell(life->context, life->number, &whole);
}

int redist__life_is_over(const struct redist__life *life) {
    return life != NULL && atomic_load_explicit(&life->is_over, memory_order_relaxed);
}

int redist__life_changes(const struct redist__members *members) {
    int changes = 0;
    for (int i = 0; i < members->count; i++)
        changes += members->ends[i].agreements <= members->agreements;
    return changes;
}

int redist__life_tag(const struct redist__life *life) {
    return life->tag + REDIST__AGREEMENT_TAG - (life->members != NULL ? life->members->changes : 0);
}

int redist__life_check(const struct redist__life *life) {
    if (redist__life_is_over(life))
        return redist__failure_report(life->failure);
    if (life == NULL || life->members == NULL ||
        life->members->changes == redist__life_changes(life->members))
        return REDIST_OK;
    return redist__fail(REDIST_ERR_PEER, "a rank of the plan's communicator has freed an operator "
                                         "that failed");
}

void redist__life_end_member(struct redist__life *life, const struct redist__end *end) {
    if (redist__peers_check(life->context) != REDIST_OK ||
        redist__life_find_end(life, end->member) != NULL)
        return;
    end_member(life, end);
    tell(life->context, life->number, end);
}

/* ---------------------------------------------------------------- communicators that are not watched yet */

static int fail_gone(const struct redist__process *gone) {
    return redist__fail(
        REDIST_ERR_PEER,
        "a rank that works with this one has ended, or MPI or its device refuses its "
        "calls (seen by or in process %llu): free the plan",
        (unsigned long long)gone->number);
}

/* Returns whether a peer of a context is a rank of the communicator. */
static int is_in(MPI_Comm comm, const struct redist__context *context,
                 const struct redist__peer *peer) {
    MPI_Group group, other;
    int rank = (int)peer->rank, found = MPI_UNDEFINED;
    MPI_Comm_group(context->comm, &other);
    MPI_Comm_group(comm, &group);
    MPI_Group_translate_ranks(other, 1, &rank, group, &found);
    MPI_Group_free(&other);
    MPI_Group_free(&group);
    return found != MPI_UNDEFINED;
}

/* Finds a rank of the communicator that has ended. One that has given up may still use this communicator. */
static const struct redist__peer *find_ended(MPI_Comm comm, const struct redist__context *context) {
    const struct redist__peers *peers = context->peers;
    for (int i = 0; redist__peers_known(context) && i < peers->count; i++)
        if (redist__process_has_ended(&peers->of[i].process) && is_in(comm, context, &peers->of[i]))
            return &peers->of[i];
    return NULL;
}

/* Checks the peers known from other communicators. */
static int look_for_ended(MPI_Comm comm) {
    struct redist__context **held = redist__contexts_hold();
    struct redist__process gone = {0};
    int found = 0;
    for (int i = 0; held != NULL && held[i] != NULL; i++) {
        const struct redist__peer *peer = found ? NULL : find_ended(comm, held[i]);
        if (peer != NULL) {
            gone = peer->process;
            found = 1;
        }
        redist__context_release(held[i]);
    }
    redist_release(held);
    if (!found)
        return REDIST_OK;
    give_up(&gone);
    return fail_gone(&gone);
}

int redist__peers_complete(MPI_Comm comm, MPI_Request *request, int may_give_up) {
    double looked = MPI_Wtime();
    int done = 0, code = REDIST_OK;
    for (unsigned poll = 0; !done && code == REDIST_OK; poll++) {
        code = redist_check_mpi(redist_insist(MPI_Test(request, &done, MPI_STATUS_IGNORE)));
        if (done || code != REDIST_OK)
            break;
        redist__give_way(poll);
        if (may_give_up && MPI_Wtime() - looked > seconds_per_look) {
            code = look_for_ended(comm);
            looked = MPI_Wtime();
        }
    }
    return code;
}

/* ---------------------------------------------------------------- checking */

static const struct redist__process *find_gone(const struct redist__context *context) {
    const struct redist__peers *peers = context->peers;
    for (int i = 0; i < peers->count; i++)
        if (peers->of[i].rank != context->rank && redist__process_is_gone(&peers->of[i].process))
            return &peers->of[i].process;
    return NULL;
}

int redist__peers_find_left(const struct redist__context *context, uint64_t key) {
    const struct redist__peers *peers = context->peers;
    for (int i = 0; i < peers->count; i++)
        if (peers->of[i].rank != context->rank &&
            redist__process_has_left(&peers->of[i].process, key))
            return (int)peers->of[i].rank;
    return -1;
}

int redist__peers_check(const struct redist__context *context) {
    const struct redist__process known = {.number = atomic_load(&last_gone)};
    return is_broken(context) ? fail_gone(&known) : REDIST_OK;
}

int redist__peers_see(const struct redist__context *context) {
    REDIST_TRY(redist__peers_check(context));
    const struct redist__process *gone = find_gone(context);
    return gone == NULL ? REDIST_OK : fail_gone(gone);
}

int redist__peers_look_now(const struct redist__context *context) {
    const struct redist__process *gone = NULL;
    if (!redist__peers_known(context))
        return REDIST_OK;
    if (!is_broken(context))
        gone = find_gone(context);
    if (gone != NULL)
        give_up(gone);
    return redist__peers_check(context);
}

static int is_due(const struct redist__context *context, double now) {
    return !is_broken(context) && now - context->peers->looked > seconds_per_look;
}

int redist__peers_look(const struct redist__context *context) {
    double now = MPI_Wtime();
    if (!is_due(context, now))
        return redist__peers_check(context);
    context->peers->looked = now;
    return redist__peers_look_now(context);
}

int redist__peers_look_around(const struct redist__context *context, int begins) {
    double now = MPI_Wtime();
    if (begins)
        context->peers->waits = now;
    else if (is_due(context, now) && now - context->peers->waits > seconds_per_look)
        look_everywhere();
    return redist__peers_look(context);
}
