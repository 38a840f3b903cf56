/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of the flags of method direct (libredist/sync/flags.h, libredist/methods/direct*.c), for spin.
 * tests/model/check.sh runs it for the configurations that count.
 *
 * Each rank executes a plan EXECUTIONS times. All steps are sequentially consistent: the flags are written with
 * release and read with acquire, and everything else that ranks share is written before a flag that its
 * readers acquire, so no execution has more behaviours than these. Numbers do not wrap around here.
 *
 * Checked, by assertions and by spin's search for deadlocks:
 *   - a rank reads or writes a peer's array only while the peer is in that execution: the peer has announced
 *     the array and has not returned to its user;
 *   - who returns without an error has all data of this execution;
 *   - a failure on one rank is an error on every rank, in that execution or in the next one;
 *   - pieces of a destination that a rank says are complete are complete;
 *   - with turns, none of them begun early, a rank serves no peer that another rank still serves;
 *   - all ranks return, also if one of them has failed, or its process has ended, at any step.
 *
 * Chosen on the command line of spin:
 *   RANKS       2 to 4
 *   WAY         PUSH, PULL: whole arrays; MIXED: push, then pull; PUT: tiles with turns and pieces
 *   PACED       with PUSH and PULL: 0 = all peers at once, 1 = turns, 2 = turns, the next one begun early
 *   PATTERN     ALL: every rank sends to every other; CHAIN: each to the next one only
 *   FAILS, DIES 1: a step of one rank may fail, the process of one rank may end
 *   BREAK       a mistake that must be found: see the list below
 */
#define PUSH 1
#define PULL 2
#define MIXED 3
#define PUT 4
#define ALL 1
#define CHAIN 2

#define NOTHING 0
#define NO_READY_WAIT 1    /* copies without waiting for the peer's array */
#define NO_DONE_WAIT 2     /* returns without waiting until the peers have copied */
#define EARLY_DONE 3       /* says that it is done before its last copies */
#define NO_FAILED 4        /* does not publish its failure */
#define LATE_FAILED 5      /* publishes it after `done` */
#define NO_STRANGER_WAIT 6 /* does not wait for ranks with which it shares no box */
#define NO_LAST_TURN 7     /* fails without ending its turns */
#define NO_LAST_PIECE 8    /* fails without ending its pieces */
#define EARLY_PIECES 9     /* says that pieces are complete before their copies have ended */
#define WRONG_SERVER 10    /* begins a turn without looking at the rank that served the peer before */
#define ANY_GONE 11        /* waits no longer for a peer when the process of another one has ended */
#define NO_GONE 12         /* does not notice that a process has ended */

#ifndef EXECUTIONS
#define EXECUTIONS 2
#endif
#ifndef RANKS
#define RANKS 2
#endif
#ifndef WAY
#define WAY PUSH
#endif
#ifndef PACED
#define PACED 0
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
#ifndef BREAK
#define BREAK NOTHING
#endif
#ifndef TILES
#define TILES 2
#endif
#ifndef PIECES
#define PIECES 2
#endif

#define END 15 /* more turns than any execution has */
#define WORD(number, count) ((number) * 16 + (count))

/* The flags of each rank */
byte flag_ready[RANKS], flag_done[RANKS], flag_failed[RANKS], flag_turns[RANKS], flag_pieces[RANKS];

/* What is checked, or chosen */
byte inside[RANKS];   /* the execution that a rank is in; 0 = its user has the arrays */
byte senders[RANKS];  /* copies into a rank's array that are under way */
byte broken;          /* the execution in which a step failed */
bool injected, gone[RANKS], has_died;
#if WAY == PUT
byte got[RANKS * RANKS * PIECES]; /* by receiver, sender, piece: the last execution, and how many tiles */
#define HAS_ALL(to, from) (PATTERN == CHAIN && (to) != (from) + 1 || HAS_PIECES(to, from, PIECES))
#define HAS_PIECE(to, from, piece) (got[((to) * RANKS + (from)) * PIECES + (piece)] == WORD(n, TILES))
#if PIECES == 1
#define HAS_PIECES(to, from, count) ((count) == 0 || HAS_PIECE(to, from, 0))
#else
#define HAS_PIECES(to, from, count)                                                                \
    (((count) < 1 || HAS_PIECE(to, from, 0)) && ((count) < 2 || HAS_PIECE(to, from, 1)))
#endif
#else
byte got[RANKS * RANKS]; /* by receiver and sender: the execution that its data is of */
#define HAS_ALL(to, from) (!SENDS(from, to) || got[(to) * RANKS + (from)] == n)
#endif

#if PATTERN == ALL
#define SENDS(from, to) (1)
#else
#define SENDS(from, to) ((to) == (from) + 1)
#endif
#define SHARES(a, b) (SENDS(a, b) || SENDS(b, a))
#define PUSHES (WAY == PUSH || WAY == PUT || (WAY == MIXED && n % 2 == 1))

#define OF_PEERS(what, both)                                                                       \
    ((me == 0 || what(0)) both (me == 1 || what(1)) both (RANKS < 3 || me == 2 || what(2 % RANKS)) \
         both(RANKS < 4 || me == 3 || what(3 % RANKS)))
#define FROM_PEER(peer) HAS_ALL(me, peer)
#define DELIVERED(peer) HAS_PIECES(peer, me, finished)
#define ARRIVED(peer) (flag_pieces[peer] >= WORD(n, PIECES))

#if DIES && BREAK != NO_GONE
#define SOMEBODY_GONE (has_died)
#if BREAK == ANY_GONE
#define IS_GONE(peer) (has_died)
#else
#define IS_GONE(peer) (gone[peer])
#endif
#else
#define SOMEBODY_GONE (false)
#define IS_GONE(peer) (false)
#endif

/* How many turns may be begun before this one may */
#if WAY == PUT
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

/* ---------------------------------------------------------------- the flags */

/* The failures of a peer are known once it is done. */
inline wait_done(other, number) {
    if
    :: flag_done[other] >= number ->
        if
        :: flag_failed[other] != 0 -> bad = true;
        :: else -> skip;
        fi;
    :: IS_GONE(other) -> bad = true;
    :: MAY_DIE -> die();
    fi;
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
        may_fail();
        skipped = false;
        inside[me] = n;
        flag_ready[me] = n;
    }
}

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
            :: peer != me && SHARES(me, peer) -> wait_done(peer, n);
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
    assert(DIES || injected || !PUSHES || AHEAD != 0 || senders[other] == 1);
    may_fail();
}

/* After a failure a copy counts as done. */
inline end_copy(other) {
    assert(inside[other] == n);
    senders[other]--;
}

inline note_whole(other) {
    if
    :: PUSHES -> got[other * RANKS + me] = n;
    :: else -> got[me * RANKS + other] = n;
    fi;
}

#define IS_NEEDED(peer) ((peer) != me && (PUSHES && SENDS(me, peer) || !PUSHES && SENDS(peer, me)))

#if WAY != PUT && PACED == 0
/* To all peers, each as soon as it is ready */
#define COPY_WITH(other)                                                                           \
    (todo & (1 << other)) && IS_READY(other) -> begin_copy(other);                                 \
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
            todo != 0 && SOMEBODY_GONE -> bad = true;
            todo = 0;
        }
        break;
    od;
}

#else
/* ---------------------------------------------------------------- turns */

#define ROUND (RANKS - 1) /* turns of it */
#define DISTANCE(turn) ((turn) % ROUND + 1)
#define PEER(turn) ((me + DISTANCE(turn)) % RANKS)
/* who served that peer one turn before */
#define SERVER(turn) ((PEER(turn) + RANKS - DISTANCE((turn) + ROUND - 1)) % RANKS)
#if BREAK == WRONG_SERVER
#define SERVER_HAS_ENDED (true)
#else
#define SERVER_HAS_ENDED (flag_turns[SERVER(turn)] >= WORD(n, turn - AHEAD))
#endif
#define HAS_TURN (turn <= AHEAD || (ended >= turn - AHEAD && SERVER_HAS_ENDED))
#define NOT_COPIED(turn) (failures & (1 << ((turn) % 2))) /* at most two are under way */

#if WAY != PUT
inline note_copied(other) {
    note_whole(other);
}
#else
inline note_copied(other) {
    atomic {
        peer = (other * RANKS + me) * PIECES + piece_of[(ended / ROUND) % 2];
        if
        :: got[peer] < WORD(n, 0) -> got[peer] = WORD(n, 1);
        :: else -> got[peer]++;
        fi;
        peer = 0;
    }
}
#endif

inline begin_turn() {
    begin_copy(PEER(turn));
    failures = (failures & ~(1 << (turn % 2))) | (skipped << (turn % 2));
    skipped = false;
    turn++;
}

inline end_turn() {
    end_copy(PEER(ended));
    if
    :: !NOT_COPIED(ended) -> note_copied(PEER(ended));
    :: else -> skip;
    fi;
    ended++;
}

inline end_turns() {
    skip;
#if BREAK != NO_LAST_TURN
    flag_turns[me] = WORD(n, END);
#endif
}
#endif

/* ---------------------------------------------------------------- turns over whole arrays */

#if WAY != PUT && PACED != 0
inline copy_all() {
    if
    :: bad -> skip;
    :: else ->
#if BREAK == EARLY_DONE
        flag_done[me] = n;
#endif
        do
        :: ended == ROUND -> break;
        :: atomic { MAY_DIE -> die(); }
        :: atomic { turn < ROUND && HAS_TURN && IS_READY(PEER(turn)) -> begin_turn(); }
        :: atomic {
                ended < turn -> end_turn();
            }
            flag_turns[me] = WORD(n, ended);
        :: atomic { ended < ROUND && SOMEBODY_GONE -> bad = true; }
            do
            :: atomic { ended < turn -> end_turn(); }
            :: else -> break;
            od;
            break;
        od;
    fi;
    if
    :: bad -> end_turns();
    :: else -> skip;
    fi;
    turn = 0;
    ended = 0;
    failures = 0;
}
#endif

/* ---------------------------------------------------------------- tiles, in rounds of turns, and pieces */

#if WAY == PUT
#define ALL_PUT (tiles == TILES)
#define SENT(tile) (sent[tile] == PIECES || tiles <= (tile))
#if TILES == 1
#define SOME_LEFT (!SENT(0))
#define LOWEST (tiles > 0 -> sent[0] : PIECES)
#define CHOSEN (0)
#else
#define SOME_LEFT (!SENT(0) || !SENT(1))
#define LOWEST                                                                                     \
    (tiles == 0 -> PIECES : (tiles == 1 || sent[0] <= sent[1] -> sent[0] : sent[1]))
#define CHOSEN (tiles == 1 || sent[0] <= sent[1] -> 0 : 1)
#endif
#define NOTHING_LEFT (turn == ended && turn % ROUND == 0 && !SOME_LEFT)

/* The lowest piece of the oldest tile; with it done, all pieces below those left are complete. */
inline begin_round() {
    if
    :: turn % ROUND == 0 ->
        peer = CHOSEN;
        piece_of[(turn / ROUND) % 2] = sent[peer];
        sent[peer]++;
        complete[(turn / ROUND) % 2] = (ALL_PUT -> LOWEST : 0);
        peer = 0;
#if BREAK == EARLY_PIECES
        finished = complete[(turn / ROUND) % 2];
        tell_pieces();
#endif
    :: else -> skip;
    fi;
}

inline tell_pieces() {
    atomic {
        assert(bad || injected || OF_PEERS(DELIVERED, &&));
        if
        :: flag_pieces[me] < WORD(n, finished) -> flag_pieces[me] = WORD(n, finished);
        :: else -> skip;
        fi;
        finished = 0;
    }
}

/* After the last tile the user waits for all pieces, and goes on putting its own meanwhile. */
inline copy_all() {
    do
    :: atomic { MAY_DIE -> die(); }
    :: atomic { !bad && !ALL_PUT -> may_fail(); tiles = tiles + !skipped; skipped = false; }
    :: atomic {
            (turn % ROUND != 0 || SOME_LEFT) && turn - ended < 2 && HAS_TURN && IS_READY(PEER(turn)) ->
            begin_round();
            begin_turn();
        }
    :: atomic { ended < turn -> end_turn(); }
        flag_turns[me] = WORD(n, ended);
        if
        :: ended % ROUND == 0 -> finished = complete[(ended / ROUND + 1) % 2]; tell_pieces();
        :: else -> skip;
        fi;
    :: !bad && NOTHING_LEFT && ALL_PUT && flag_turns[me] < WORD(n, END) ->
        end_turns();
        finished = PIECES;
        tell_pieces();
    :: !bad && NOTHING_LEFT && ALL_PUT && flag_pieces[me] >= WORD(n, PIECES) && OF_PEERS(ARRIVED, &&) -> break;
    :: atomic { !bad && SOMEBODY_GONE -> bad = true; }
    :: bad ->
        do
        :: atomic { ended < turn -> end_turn(); }
        :: else -> break;
        od;
        end_turns();
#if BREAK != NO_LAST_PIECE
        finished = PIECES;
        tell_pieces();
#endif
        break;
    od;
    atomic {
        turn = 0;
        ended = 0;
        failures = 0;
        tiles = 0;
        sent[0] = 0;
        sent[1] = 0;
        complete[0] = 0;
        complete[1] = 0;
        piece_of[0] = 0;
        piece_of[1] = 0;
    }
}
#endif

/* ---------------------------------------------------------------- processes */

proctype rank(byte me) {
    byte n = 1, peer;
    bool bad, skipped; /* the plan is broken here; the step failed */
#if WAY != PUT && PACED == 0
    byte todo;
#else
    byte turn, ended, failures;
#endif
#if WAY == PUT
    byte tiles, sent[2], complete[2], piece_of[2], finished;
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
