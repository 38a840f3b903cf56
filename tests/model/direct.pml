/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of the flags of method direct (libredist/sync/flags.h, libredist/methods/direct*.c), for spin.
 * tests/model/check.sh runs it for the configurations that count.
 *
 * Each rank executes a plan EXECUTIONS times. All actions are sequentially consistent: the flags are written with
 * release and read with acquire, and everything else that ranks share is written before a flag that its
 * readers acquire, so no execution has more behaviours than these. Numbers do not wrap around here.
 *
 * Checked, by assertions and by spin's search for deadlocks:
 *   - a rank reads or writes a peer's array only while the peer is in that execution: the peer has announced
 *     the array and has not returned to its user;
 *   - a rank that returns without an error has all data of this execution;
 *   - sums are made in the order of ranks, by one rank at a time;
 *   - a failure on one rank is an error on every rank, in that execution or in the next one;
 *   - partitions of a destination that a rank publishes as complete are complete;
 *   - with steps, none of them begun early, a rank serves no peer that another rank still serves;
 *   - all ranks return, also if one of them has failed, its process has ended, or it has given up what it does with
 *     others (in another communicator, by another thread) and does not come any more, at any time.
 *
 * Chosen on the command line of spin:
 *   RANKS       2 to 4
 *   MODE         PUSH, PULL: whole arrays; MIXED: push, then pull; PUT: tiles with steps and partitions;
 *               HALO: ghosts in one array with what they show are filled, accumulated, filled and filled
 *   FILL        with HALO: PUSH or PULL
 *   PACED       with PUSH and PULL: 0 = all peers at once, 1 = steps, 2 = steps, the next one begun early
 *   PATTERN     ALL: every rank sends to every other; CHAIN: each to the next one only; RING: to the ranks before
 *               and behind it; WIDE: to the next two, which read the same rows
 *   FAILS, DIES 1: an action of one rank may fail, the process of one rank may end
 *   LEAVES      1: one rank may give up; so does whoever finds that out, or that a process has ended
 *   BREAK       a mistake that must be found: see the list below
 */
#define PUSH 1
#define PULL 2
#define MIXED 3
#define PUT 4
#define HALO 5
#define ALL 1
#define CHAIN 2
#define RING 3
#define WIDE 4

#define NOTHING 0
#define NO_READY_WAIT 1       /* copies without waiting for the peer's array */
#define NO_DONE_WAIT 2        /* returns without waiting until the peers have copied */
#define EARLY_DONE 3          /* publishes `done` before its last copies */
#define NO_FAILED 4           /* does not publish its failure */
#define LATE_FAILED 5         /* publishes it after `done` */
#define NO_STRANGER_WAIT 6    /* does not wait for ranks with which it shares no box */
#define NO_LAST_STEP 7        /* fails without ending its steps */
#define NO_LAST_PARTITION 8   /* fails without ending its partitions */
#define EARLY_PARTITIONS 9    /* publishes partitions as complete before their copies have ended */
#define WRONG_SERVER 10       /* begins a step without looking at the rank that served the peer before */
#define ANY_GONE 11           /* waits no longer for a peer when the process of another one has ended */
#define NO_GONE 12            /* does not notice that a process has ended */
#define NO_GIVEN_UP 13        /* does not notice that a rank has given up */
#define NO_SECOND_LOOK 14     /* does not look whether it has given up after it has announced its array */
#define GONE_IN_IT 15         /* does not wait for a rank that has given up but is in this execution */
#define ONE_READER 16         /* returns when one of the ranks that read its rows has copied */
#define ANY_TURN 17           /* adds what is ready, in any order */
#define PUSHED_SUMS 18        /* adds to the owner's rows from several ranks */

#ifndef EXECUTIONS
#define EXECUTIONS 2
#endif
#ifndef RANKS
#define RANKS 2
#endif
#ifndef MODE
#define MODE PUSH
#endif
#ifndef PACED
#define PACED 0
#endif
#ifndef FILL
#define FILL PULL
#endif
#ifndef PATTERN
#define PATTERN ALL
#endif
#ifndef FAILS
#define FAILS 0
#endif
#ifndef DIES
#define DIES 0
#endif
#ifndef LEAVES
#define LEAVES 0
#endif
#ifndef BREAK
#define BREAK NOTHING
#endif
#ifndef TILES
#define TILES 2
#endif
#ifndef PARTITIONS
#define PARTITIONS 2
#endif

#define END 15 /* more steps than any execution has */
#define WORD(number, count) ((number) * 16 + (count))

/* The flags of each rank */
byte flag_ready[RANKS], flag_done[RANKS], flag_failed[RANKS], flag_steps[RANKS], flag_partitions[RANKS];

/* What is checked, or chosen */
byte inside[RANKS];   /* the execution that a rank is in; 0 = its user has the arrays */
byte senders[RANKS];  /* copies into a rank's array that are under way */
byte broken;          /* the execution in which a step failed */
bool injected, gone[RANKS], has_died;
bool gave_up[RANKS], has_left;
#if MODE == HALO
byte written[RANKS]; /* the execution before which the user has last written its rows and ghosts */
byte added[RANKS];   /* the rank behind the last one whose ghosts were added */
#endif
#if MODE == PUT
byte got[RANKS * RANKS * PARTITIONS]; /* by receiver, sender, partition: the last execution, and how many tiles */
#define HAS_ALL(to, from) (PATTERN == CHAIN && (to) != (from) + 1 || HAS_PARTITIONS(to, from, PARTITIONS))
#define HAS_PARTITION(to, from, partition) (got[((to) * RANKS + (from)) * PARTITIONS + (partition)] == WORD(n, TILES))
#if PARTITIONS == 1
#define HAS_PARTITIONS(to, from, count) ((count) == 0 || HAS_PARTITION(to, from, 0))
#else
#define HAS_PARTITIONS(to, from, count)                                                                \
    (((count) < 1 || HAS_PARTITION(to, from, 0)) && ((count) < 2 || HAS_PARTITION(to, from, 1)))
#endif
#else
byte got[RANKS * RANKS]; /* by receiver and sender: the execution that its data is of */
#define HAS_ALL(to, from) (!GOES(from, to) || got[(to) * RANKS + (from)] == n)
#endif

#if PATTERN == ALL
#define SENDS(from, to) (1)
#elif PATTERN == RING
#define SENDS(from, to) (((to) + RANKS - (from)) % RANKS == 1 || ((from) + RANKS - (to)) % RANKS == 1)
#elif PATTERN == WIDE
#define SENDS(from, to) (((to) + RANKS - (from)) % RANKS == 1 || ((to) + RANKS - (from)) % RANKS == 2)
#else
#define SENDS(from, to) ((to) == (from) + 1)
#endif
#define SHARES(a, b) (SENDS(a, b) || SENDS(b, a))
#define ADDS (MODE == HALO && n == 2)
#define GOES(from, to) (!ADDS && SENDS(from, to) || ADDS && SENDS(to, from))
#define FILL_PUSHES (MODE == HALO && FILL == PUSH && !ADDS)
#define SUMS_PUSH (BREAK == PUSHED_SUMS && ADDS)
#define PUSHES (MODE == PUSH || MODE == PUT || (MODE == MIXED && n % 2 == 1) || FILL_PUSHES || SUMS_PUSH)

#define OF_PEERS(what, both)                                                                       \
    ((me == 0 || what(0)) both (me == 1 || what(1)) both (RANKS < 3 || me == 2 || what(2 % RANKS)) \
         both(RANKS < 4 || me == 3 || what(3 % RANKS)))
#define FROM_PEER(peer) HAS_ALL(me, peer)
#define DELIVERED(peer) HAS_PARTITIONS(peer, me, finished)
#define ARRIVED(peer) (flag_partitions[peer] >= WORD(n, PARTITIONS))

#if DIES && BREAK == ANY_GONE
#define HAS_ENDED(peer) (has_died)
#elif DIES && BREAK != NO_GONE
#define HAS_ENDED(peer) (gone[peer])
#else
#define HAS_ENDED(peer) (false)
#endif
#if LEAVES && BREAK == GONE_IN_IT
#define WILL_NOT_COME(peer, number) (gave_up[peer])
#elif LEAVES && BREAK != NO_GIVEN_UP
#define WILL_NOT_COME(peer, number) (gave_up[peer] && flag_ready[peer] < (number))
#else
#define WILL_NOT_COME(peer, number) (false)
#endif
#define IS_GONE(peer, number) (HAS_ENDED(peer) || WILL_NOT_COME(peer, number))
#define SOMEBODY_GONE (DIES && BREAK != NO_GONE && has_died || LEAVES && BREAK != NO_GIVEN_UP && has_left)

/* How many steps may be begun before this one may */
#if MODE == PUT
#define AHEAD (RANKS == 2)
#else
#define AHEAD (PACED - 1)
#endif

/* A step that may fail, on one rank and once */
inline may_fail() {
    if
    :: FAILS && !injected ->
        injected = true;
        bad = true;
        broken = n;
        skipped = true;
    :: skipped = false;
    fi;
}

/* The process of one rank may end, once, instead of what it does next. */
#define MAY_DIE (DIES && !has_died)
inline die() {
    gone[me] = true;
    has_died = true;
    goto dead;
}

inline may_die() {
    if
    :: MAY_DIE -> die();
    :: skip;
    fi;
}

/* One rank may give up at any time, once. */
#define MAY_LEAVE (LEAVES && !has_left)
inline leave() {
    gave_up[me] = true;
    has_left = true;
}

inline may_leave() {
    if
    :: MAY_LEAVE -> leave();
    :: skip;
    fi;
}

/* Whoever finds out that somebody is gone gives up, too. */
inline note_gone() {
    bad = true;
    gave_up[me] = LEAVES;
}

/* ---------------------------------------------------------------- the flags */

/* The failures of a peer are known once it is done. */
inline wait_done(other, number) {
    if
    :: flag_done[other] >= number ->
        if
        :: flag_failed[other] != 0 -> bad = true;
        :: else -> skip;
        fi;
    :: IS_GONE(other, number) -> note_gone();
    :: MAY_DIE -> die();
    fi;
}

/* The user writes before each execution what others read in it. */
inline write_array() {
#if MODE == HALO
    written[me] = n;
    added[me] = 0;
#else
    skip;
#endif
}

inline announce() {
#if PATTERN != ALL && BREAK != NO_STRANGER_WAIT
    atomic {
        do
        :: peer < RANKS ->
            if
            :: peer != me && !SHARES(me, peer) -> wait_done(peer, n - 1);
            :: else -> skip;
            fi;
            peer++;
        :: else -> break;
        od;
        peer = 0;
    }
#endif
    atomic {
        may_die();
        may_leave();
        if
        :: gave_up[me] -> goto dead; /* its user does not come again; or does, */
        :: gave_up[me] -> bad = true;
        :: !gave_up[me] -> may_fail();
        fi;
        skipped = false;
        write_array();
    }
    may_leave();
    atomic {
        inside[me] = n;
        flag_ready[me] = n;
    }
#if LEAVES && BREAK != NO_SECOND_LOOK
    atomic {
        if
        :: gave_up[me] -> bad = true;
        :: else -> skip;
        fi;
    }
#endif
}

#if BREAK == ONE_READER
#define IS_AWAITED(peer) ((peer) == (me + 1) % RANKS)
#else
#define IS_AWAITED(peer) (true)
#endif

inline publish_failure() {
    if
    :: bad -> flag_failed[me] = n;
    :: else -> skip;
    fi;
}

inline finish() {
#if BREAK != NO_FAILED && BREAK != LATE_FAILED
    publish_failure();
#endif
    atomic {
        may_die();
        flag_done[me] = n;
    }
#if BREAK == LATE_FAILED
    publish_failure();
#endif
    atomic {
#if BREAK != NO_DONE_WAIT
        do
        :: peer < RANKS ->
            if
            :: peer != me && SHARES(me, peer) && IS_AWAITED(peer) -> wait_done(peer, n);
            :: else -> skip;
            fi;
            peer++;
        :: else -> break;
        od;
        peer = 0;
#endif
        inside[me] = 0;
        assert(bad || OF_PEERS(FROM_PEER, &&));
        assert(bad || broken == 0 || broken >= n);
        n++;
    }
}

/* ---------------------------------------------------------------- copies */

#if BREAK == NO_READY_WAIT
#define IS_READY(peer) (true)
#else
#define IS_READY(peer) (flag_ready[peer] >= n)
#endif

inline begin_copy(other) {
    assert(inside[other] == n);
    senders[other]++;
    assert(DIES || injected || !PUSHES || (AHEAD != 0 && !ADDS) || senders[other] == 1);
    may_fail();
}

/* After a failure a copy counts as done. */
inline end_copy(other) {
    assert(inside[other] == n);
    senders[other]--;
}

inline note_arrival(from, to) {
#if MODE == HALO
    if
    :: ADDS ->
        assert(from >= added[to]);
        added[to] = from + 1;
    :: else -> skip;
    fi;
    got[to * RANKS + from] = written[from];
#else
    got[to * RANKS + from] = n;
#endif
}

inline note_whole(other) {
    if
    :: PUSHES -> note_arrival(me, other);
    :: else -> note_arrival(other, me);
    fi;
}

#define IS_NEEDED(peer) ((peer) != me && (PUSHES && GOES(me, peer) || !PUSHES && GOES(peer, me)))
/* Sums are made in the order of ranks. */
#if BREAK == ANY_TURN
#define HAS_TURN(peer) (true)
#else
#define HAS_TURN(peer) (!ADDS || (todo & ((1 << (peer)) - 1)) == 0)
#endif

#if MODE != PUT && PACED == 0
/* To all peers, each as soon as it is ready */
#define COPY_WITH(other)                                                                           \
    (todo & (1 << other)) && HAS_TURN(other) && IS_READY(other) -> begin_copy(other);              \
    todo = todo & ~(1 << other)
#define COPY_END(other)                                                                            \
    may_die();                                                                                     \
    end_copy(other);                                                                               \
    if                                                                                             \
    :: !skipped -> note_whole(other);                                                              \
    :: else -> skip;                                                                               \
    fi;                                                                                            \
    skipped = false

inline copy_all() {
    if
    :: bad -> todo = 0;
    :: else ->
        todo = IS_NEEDED(0) + 2 * IS_NEEDED(1) + 4 * (RANKS > 2 && IS_NEEDED(2)) +
               8 * (RANKS > 3 && IS_NEEDED(3));
    fi;
#if BREAK == EARLY_DONE
    flag_done[me] = n;
#endif
    do
    :: todo == 0 -> break;
    :: atomic { MAY_DIE -> die(); }
    :: atomic { MAY_LEAVE -> leave(); }
    :: atomic { COPY_WITH(0); }
        atomic { COPY_END(0); }
    :: atomic { COPY_WITH(1); }
        atomic { COPY_END(1); }
#if RANKS > 2
    :: atomic { COPY_WITH(2); }
        atomic { COPY_END(2); }
#endif
#if RANKS > 3
    :: atomic { COPY_WITH(3); }
        atomic { COPY_END(3); }
#endif
    :: atomic {
            todo != 0 && SOMEBODY_GONE -> note_gone();
            todo = 0;
        }
        break;
    od;
}

#else
/* ---------------------------------------------------------------- steps */

#define SWEEP (RANKS - 1) /* steps of it */
#define DISTANCE(step) ((step) % SWEEP + 1)
#define PEER(step) ((me + DISTANCE(step)) % RANKS)
/* who served that peer one step before */
#define SERVER(step) ((PEER(step) + RANKS - DISTANCE((step) + SWEEP - 1)) % RANKS)
#if BREAK == WRONG_SERVER
#define SERVER_HAS_ENDED (true)
#else
#define SERVER_HAS_ENDED (flag_steps[SERVER(step)] >= WORD(n, step - AHEAD))
#endif
#define HAS_STEP (step <= AHEAD || (ended >= step - AHEAD && SERVER_HAS_ENDED))
#define NOT_COPIED(step) (failures & (1 << ((step) % 2))) /* at most two are under way */

#if MODE != PUT
inline note_copied(other) {
    note_whole(other);
}
#else
inline note_copied(other) {
    atomic {
        peer = (other * RANKS + me) * PARTITIONS + partition_of[(ended / SWEEP) % 2];
        if
        :: got[peer] < WORD(n, 0) -> got[peer] = WORD(n, 1);
        :: else -> got[peer]++;
        fi;
        peer = 0;
    }
}
#endif

inline begin_step() {
    begin_copy(PEER(step));
    failures = (failures & ~(1 << (step % 2))) | (skipped << (step % 2));
    skipped = false;
    step++;
}

inline end_step() {
    end_copy(PEER(ended));
    if
    :: !NOT_COPIED(ended) -> note_copied(PEER(ended));
    :: else -> skip;
    fi;
    ended++;
}

inline end_steps() {
    skip;
#if BREAK != NO_LAST_STEP
    flag_steps[me] = WORD(n, END);
#endif
}
#endif

/* ---------------------------------------------------------------- steps over whole arrays */

#if MODE != PUT && PACED != 0
inline copy_all() {
    if
    :: bad -> skip;
    :: else ->
#if BREAK == EARLY_DONE
        flag_done[me] = n;
#endif
        do
        :: ended == SWEEP -> break;
        :: atomic { MAY_DIE -> die(); }
        :: atomic { MAY_LEAVE -> leave(); }
        :: atomic { step < SWEEP && HAS_STEP && IS_READY(PEER(step)) -> begin_step(); }
        :: atomic {
                ended < step -> end_step();
            }
            flag_steps[me] = WORD(n, ended);
        :: atomic { ended < SWEEP && SOMEBODY_GONE -> note_gone(); }
            do
            :: atomic { ended < step -> end_step(); }
            :: else -> break;
            od;
            break;
        od;
    fi;
    if
    :: bad -> end_steps();
    :: else -> skip;
    fi;
    step = 0;
    ended = 0;
    failures = 0;
}
#endif

/* ---------------------------------------------------------------- tiles, in sweeps of steps, and partitions */

#if MODE == PUT
#define ALL_PUT (tiles == TILES)
#define SENT(tile) (sent[tile] == PARTITIONS || tiles <= (tile))
#if TILES == 1
#define SOME_LEFT (!SENT(0))
#define LOWEST (tiles > 0 -> sent[0] : PARTITIONS)
#define CHOSEN (0)
#else
#define SOME_LEFT (!SENT(0) || !SENT(1))
#define LOWEST                                                                                     \
    (tiles == 0 -> PARTITIONS : (tiles == 1 || sent[0] <= sent[1] -> sent[0] : sent[1]))
#define CHOSEN (tiles == 1 || sent[0] <= sent[1] -> 0 : 1)
#endif
#define NOTHING_LEFT (step == ended && step % SWEEP == 0 && !SOME_LEFT)

/* The lowest partition of the oldest tile; with it done, all partitions below those left are complete. */
inline begin_sweep() {
    if
    :: step % SWEEP == 0 ->
        peer = CHOSEN;
        partition_of[(step / SWEEP) % 2] = sent[peer];
        sent[peer]++;
        complete[(step / SWEEP) % 2] = (ALL_PUT -> LOWEST : 0);
        peer = 0;
#if BREAK == EARLY_PARTITIONS
        finished = complete[(step / SWEEP) % 2];
        publish_partitions();
#endif
    :: else -> skip;
    fi;
}

inline publish_partitions() {
    atomic {
        assert(bad || injected || OF_PEERS(DELIVERED, &&));
        if
        :: flag_partitions[me] < WORD(n, finished) -> flag_partitions[me] = WORD(n, finished);
        :: else -> skip;
        fi;
        finished = 0;
    }
}

/* After the last tile the user waits for all partitions, and goes on putting its own meanwhile. */
inline copy_all() {
    do
    :: atomic { MAY_DIE -> die(); }
    :: atomic { MAY_LEAVE -> leave(); }
    :: atomic { !bad && !ALL_PUT -> may_fail(); tiles = tiles + !skipped; skipped = false; }
    :: atomic {
            (step % SWEEP != 0 || SOME_LEFT) && step - ended < 2 && HAS_STEP && IS_READY(PEER(step)) ->
            begin_sweep();
            begin_step();
        }
    :: atomic { ended < step -> end_step(); }
        flag_steps[me] = WORD(n, ended);
        if
        :: ended % SWEEP == 0 -> finished = complete[(ended / SWEEP + 1) % 2]; publish_partitions();
        :: else -> skip;
        fi;
    :: !bad && NOTHING_LEFT && ALL_PUT && flag_steps[me] < WORD(n, END) ->
        end_steps();
        finished = PARTITIONS;
        publish_partitions();
    :: !bad && NOTHING_LEFT && ALL_PUT && flag_partitions[me] >= WORD(n, PARTITIONS) && OF_PEERS(ARRIVED, &&) -> break;
    :: atomic { !bad && SOMEBODY_GONE -> note_gone(); }
    :: bad ->
        do
        :: atomic { ended < step -> end_step(); }
        :: else -> break;
        od;
        end_steps();
#if BREAK != NO_LAST_PARTITION
        finished = PARTITIONS;
        publish_partitions();
#endif
        break;
    od;
    atomic {
        step = 0;
        ended = 0;
        failures = 0;
        tiles = 0;
        sent[0] = 0;
        sent[1] = 0;
        complete[0] = 0;
        complete[1] = 0;
        partition_of[0] = 0;
        partition_of[1] = 0;
    }
}
#endif

/* ---------------------------------------------------------------- processes */

proctype rank(byte me) {
    byte n = 1, peer;
    bool bad, skipped; /* the plan is broken here; the step failed */
#if MODE != PUT && PACED == 0
    byte todo;
#else
    byte step, ended, failures;
#endif
#if MODE == PUT
    byte tiles, sent[2], complete[2], partition_of[2], finished;
#endif
    do
    :: n <= EXECUTIONS ->
        announce();
        copy_all();
        finish();
    :: else -> break;
    od;
dead:
    skip;
}

init {
    atomic {
        byte i = 0;
        do
        :: i < RANKS -> run rank(i); i++;
        :: else -> break;
        od;
    }
}
