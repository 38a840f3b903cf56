/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why messages of parts and no plan for each round: a plan agrees several times when it is made, and its method may
 * lie between both arrays for many executions, of which a round is one. A part here is a message from the array, or
 * into it, wherever it is contiguous, and is turned to the order of the file by the one copy that packs it.
 */
#include "stripes.h"
#include "../methods/messages.h"
#include "disk.h"
#include "part.h"
#include "queue.h"

/* A part of a round, and the message that brings it. */
struct parcel {
    int peer;
    struct redist__file_part part;
    char *message;
};

/* The parts that a rank sends in a round, or receives: one for each writer's piece, or for each rank. */
struct parcels {
    int count;
    struct parcel *list;
    char *staging; /* for those that are not messages as they are */
    size_t bytes;
};

struct redist__stripes {
    const struct redist__file *file;
    int rank, size, writer, nwriters; /* writer: number of this one, or -1 */
    int keeps;                        /* pieces are copied also where they are contiguous */
    int *writers;                     /* their ranks */
    struct redist_pieces *pieces;     /* of each field */
    redist_index *first; /* number of the first piece of each field among all; and all */
    redist_index rounds;
    const struct redist__space *space; /* of the buffers */
    struct parcels of_array, of_piece;
    struct redist__queue queue;
    struct redist__problem problem; /* as messages need it */
    struct redist__failure failure; /* of the messages and copies */
    struct redist__messages messages;
};

/* ---------------------------------------------------------------- writers and pieces */

/* Returns how many ranks of a node write. Four keep a disk busy, and few ranks have to share the file system. No other
 * number was better throughout: 8 ranks on two busy cores took 192, 200, 205 and 152 ms with 1, 2, 4 and 8 writers, 4
 * ranks 100, 99 and 128 (128^3 complex doubles, medians of 56; file-bench --grid 1x2x0 --flush --writers). */
static int writers_of(int node_size, int wanted) {
    enum { USUAL = 4 };
    int writers = wanted > 0 ? wanted : USUAL;
    return writers < node_size ? writers : node_size;
}

int redist__stripes_is_writer(const struct redist__file *file) {
    const struct redist__context *context = file->context;
    int node = context->node_of[context->rank], place = 0, node_size = 0;
    for (int i = 0; i < context->size; i++) {
        place += i < context->rank && context->node_of[i] == node;
        node_size += context->node_of[i] == node;
    }
    int writers = writers_of(node_size, file->options.writers_per_node);
    /* evenly among the ranks of the node */
    return (long long)place * writers % node_size < writers;
}

/* Finds the writers among all ranks. Collective. */
static int find_writers(struct redist__stripes *stripes) {
    const struct redist__file *file = stripes->file;
    int own = redist__stripes_is_writer(file);
    REDIST_TRY(redist_agree(file->context->comm, redist_all_gather(file->context->comm, &own,
                                                                   sizeof own, stripes->writers)));
    stripes->writer = own ? 0 : -1;
    for (int i = 0; i < stripes->size; i++)
        if (stripes->writers[i]) {
            stripes->writer += own && i < stripes->rank;
            stripes->writers[stripes->nwriters++] = i;
        }
    return REDIST_OK;
}

void redist__field_cut(const struct redist__file *file, int field, struct redist_pieces *pieces) {
    const struct redist__file_field *cut = &file->fields[field];
    (void)redist_pieces_cut(pieces, cut->ndims, cut->extent, cut->element.extent,
                            file->piece_bytes);
}

/* Returns how many pieces a writer has, and sets the number of its first one. */
static redist_index pieces_of(const struct redist__stripes *stripes, int writer,
                              redist_index *first) {
    redist_index count;
    (void)redist_decompose(stripes->first[stripes->file->nfields], stripes->nwriters, writer,
                           &count, first);
    return count;
}

/* Finds a writer's piece of a round; 0 = it has none. */
static int find_piece(const struct redist__stripes *stripes, int writer, redist_index round,
                      struct redist__queued *found) {
    redist_index first, count = pieces_of(stripes, writer, &first);
    if (round >= count)
        return 0;
    int field = 0;
    while (first + round >= stripes->first[field + 1])
        field++;
    found->field = field;
    found->number = first + round - stripes->first[field];
    found->piece = redist_piece_at(&stripes->pieces[field], found->number);
    found->offset = stripes->file->fields[field].offset + found->piece.offset;
    return 1;
}

/* Returns where a piece of this writer is in its array, all of it and contiguous; else NULL. */
static char *find_direct(const struct redist__stripes *stripes,
                         const struct redist__queued *queued) {
    const struct redist__file_field *field = &stripes->file->fields[queued->field];
    struct redist__part_box box;
    if (stripes->keeps ||
        redist__part_find(field, stripes->rank, &queued->piece, &box) * field->element.extent !=
            queued->piece.bytes)
        return NULL;
    const struct redist__file_part part = redist__part_in_array(field, &box);
    return part.bytes == queued->piece.bytes ? redist__part_direct(&part) : NULL;
}

static struct redist__queued find_own(const void *data, redist_index index) {
    const struct redist__stripes *stripes = data;
    struct redist__queued found = {.field = 0};
    (void)find_piece(stripes, stripes->writer, index, &found);
    found.direct = find_direct(stripes, &found);
    return found;
}

/* ---------------------------------------------------------------- the parts of a round */

static void add_parcel(struct parcels *parcels, int peer, const struct redist__file_part *part) {
    parcels->list[parcels->count++] = (struct parcel){.peer = peer, .part = *part};
}

/* Lists what this rank's arrays have of all writers' pieces. */
static void list_of_array(struct redist__stripes *stripes, redist_index round) {
    struct redist__queued queued;
    struct redist__part_box box;
    stripes->of_array.count = 0;
    for (int writer = 0; writer < stripes->nwriters; writer++) {
        if (!find_piece(stripes, writer, round, &queued))
            continue;
        const struct redist__file_field *field = &stripes->file->fields[queued.field];
        if (redist__part_find(field, stripes->rank, &queued.piece, &box) == 0)
            continue;
        const struct redist__file_part part = redist__part_in_array(field, &box);
        add_parcel(&stripes->of_array, stripes->writers[writer], &part);
    }
}

/* Lists what all ranks have of this writer's piece, which is at `slot`. */
static void list_of_piece(struct redist__stripes *stripes, redist_index round, char *slot) {
    struct redist__queued queued;
    struct redist__part_box box;
    stripes->of_piece.count = 0;
    if (stripes->writer < 0 || !find_piece(stripes, stripes->writer, round, &queued))
        return;
    const struct redist__file_field *field = &stripes->file->fields[queued.field];
    for (int rank = 0; rank < stripes->size; rank++)
        if (redist__part_find(field, rank, &queued.piece, &box) != 0) {
            const struct redist__file_part part =
                redist__part_in_piece(field, &queued.piece, slot, &box);
            add_parcel(&stripes->of_piece, rank, &part);
        }
}

/* Gives each part its message: where it is, or in staging memory, of which the bytes are returned. */
static size_t place_messages(const struct redist__stripes *stripes, struct parcels *parcels) {
    enum { LINE = 64 };
    size_t used = 0;
    for (int i = 0; i < parcels->count; i++) {
        struct parcel *parcel = &parcels->list[i];
        parcel->message = redist__part_direct(&parcel->part);
        if (parcel->message != NULL || parcel->peer == stripes->rank)
            continue;
        parcel->message = parcels->staging != NULL ? parcels->staging + used : NULL;
        used += (parcel->part.bytes + LINE - 1) / LINE * LINE;
    }
    return used;
}

/* ---------------------------------------------------------------- a round */

static int find_parcel(const struct parcels *parcels, int peer) {
    for (int i = 0; i < parcels->count; i++)
        if (parcels->list[i].peer == peer)
            return i;
    return -1;
}

/* Copies what this rank has of its own piece, unless the piece is direct. */
static void copy_own(struct redist__stripes *stripes, const struct parcels *out,
                     const struct parcels *in) {
    int from = find_parcel(out, stripes->rank), to = find_parcel(in, stripes->rank);
    if (from >= 0 && to >= 0 && out->list[from].part.first != in->list[to].part.first)
        redist__attempt(
            &stripes->problem,
            redist__part_copy_to(stripes->file, &out->list[from].part, &in->list[to].part));
}

static void receive_all(struct redist__stripes *stripes, const struct parcels *in) {
    for (int i = 0; i < in->count; i++) {
        const struct parcel *parcel = &in->list[i];
        if (parcel->peer != stripes->rank)
            redist__messages_receive(&stripes->messages, i, parcel->message,
                                     (int)parcel->part.bytes, MPI_BYTE, parcel->peer,
                                     stripes->file->tag);
    }
}

static int is_staged(const struct parcel *parcel) {
    return redist__part_direct(&parcel->part) == NULL;
}

static void send_all(struct redist__stripes *stripes, const struct parcels *out) {
    for (int i = 0; i < out->count; i++) {
        const struct parcel *parcel = &out->list[i];
        if (parcel->peer == stripes->rank)
            continue;
        if (is_staged(parcel))
            redist__attempt(&stripes->problem,
                            redist__part_pack(stripes->file, &parcel->part, parcel->message));
        redist__messages_send(&stripes->messages, i, NULL, parcel->message, (int)parcel->part.bytes,
                              MPI_BYTE, parcel->peer, stripes->file->tag);
    }
}

/* Unpacks messages as they arrive, and waits for all. */
static void complete_all(struct redist__stripes *stripes, const struct parcels *in) {
    for (int i; (i = redist__messages_next(&stripes->messages)) >= 0;) {
        const struct parcel *parcel = &in->list[i];
        if (is_staged(parcel))
            redist__attempt(&stripes->problem,
                            redist__part_unpack(stripes->file, &parcel->part, parcel->message));
    }
    redist__messages_end(&stripes->messages);
}

/* Waits for the memory of this writer's piece of a round, filled with what a file that is written has in the gaps of
 * elements. */
static char *take_piece(struct redist__stripes *stripes, redist_index round) {
    struct redist__queue *queue = &stripes->queue;
    const struct redist__queued own = find_own(stripes, round);
    const struct redist__file_field *field = &stripes->file->fields[own.field];
    char *slot = redist__queue_take(queue, round, own.offset);
    if (own.direct != NULL)
        return own.direct;
    if (stripes->file->writes && (size_t)field->item_size != field->element.extent)
        redist__failure_note(&queue->failure,
                             redist__disk_read(stripes->file, queue->descriptor, slot,
                                               own.piece.bytes, own.offset, 1));
    return slot;
}

/* Lists the parts of one side, those of this writer's piece once it has the piece's memory. */
static void list(struct redist__stripes *stripes, struct parcels *parcels, redist_index round) {
    int has_piece = round < stripes->queue.count;
    if (parcels == &stripes->of_array)
        list_of_array(stripes, round);
    else
        list_of_piece(stripes, round, has_piece ? take_piece(stripes, round) : NULL);
    (void)place_messages(stripes, parcels);
}

/* Moves the pieces of a round between the arrays and the writers' memory. */
static void run_round(struct redist__stripes *stripes, redist_index round) {
    struct parcels *const sides[2] = {&stripes->of_piece, &stripes->of_array};
    struct parcels *in = sides[!stripes->file->writes], *out = sides[stripes->file->writes];
    list(stripes, in, round);
    receive_all(stripes, in);
    list(stripes, out, round);
    send_all(stripes, out);
    copy_own(stripes, out, in);
    complete_all(stripes, in);
    if (round < stripes->queue.count)
        redist__queue_give(&stripes->queue);
}

/* ---------------------------------------------------------------- making and freeing */

static void *allocate(const struct redist__stripes *stripes, size_t bytes) {
    void *memory = NULL;
    if (bytes != 0)
        (void)stripes->space->allocate_pinned(bytes, &memory);
    return memory;
}

static void release(const struct redist__stripes *stripes, void *memory) {
    if (memory != NULL)
        stripes->space->release_pinned(memory);
}

/* Cuts all fields, and numbers their pieces. */
static void cut_fields(struct redist__stripes *stripes) {
    const struct redist__file *file = stripes->file;
    for (int i = 0; i < file->nfields; i++) {
        redist__field_cut(file, i, &stripes->pieces[i]);
        stripes->first[i + 1] = stripes->first[i] + stripes->pieces[i].count;
        if (file->fields[i].space->asynchronous)
            stripes->space = file->fields[i].space;
    }
    stripes->rounds =
        stripes->nwriters > 0 ? (stripes->first[file->nfields] - 1) / stripes->nwriters + 1 : 0;
    if (stripes->first[file->nfields] == 0)
        stripes->rounds = 0;
}

/* Finds the bytes of a writer's buffers: of its whole stripe, as pieces of small fields need no room for a large one;
 * or of slots that are used again. SIZE_MAX = too many. */
static size_t size_buffers(const struct redist__stripes *stripes, struct redist__queue *queue) {
    const redist_index both = 2;
    size_t bytes = 0;
    queue->depth = stripes->keeps || queue->count < both ? queue->count : both;
    queue->is_stripe = stripes->keeps;
    if (queue->is_stripe && queue->count > 0) {
        const struct redist__queued last = find_own(stripes, queue->count - 1);
        queue->begin = find_own(stripes, 0).offset;
        return (size_t)(last.offset - queue->begin) + last.piece.bytes;
    }
    for (int i = 0; i < stripes->file->nfields; i++) {
        size_t largest = redist_pieces_largest(&stripes->pieces[i]);
        queue->slot_bytes = largest > queue->slot_bytes ? largest : queue->slot_bytes;
    }
    return __builtin_mul_overflow((size_t)queue->depth, queue->slot_bytes, &bytes) ? SIZE_MAX
                                                                                   : bytes;
}

/* Prepares the buffers of a writer. */
static int prepare_queue(struct redist__stripes *stripes, int descriptor,
                         const struct redist__piece_hook *hook) {
    struct redist__queue *queue = &stripes->queue;
    redist_index first;
    *queue = (struct redist__queue){
        .file = stripes->file, .descriptor = descriptor, .find = find_own, .data = stripes};
    if (hook != NULL)
        queue->hook = *hook;
    if (stripes->writer < 0)
        return REDIST_OK;
    queue->count = pieces_of(stripes, stripes->writer, &first);
    size_t bytes = size_buffers(stripes, queue);
    if (bytes != SIZE_MAX)
        queue->slots = allocate(stripes, bytes);
    if (queue->slots != NULL || queue->count == 0)
        return REDIST_OK;
    return redist_fail_in(stripes->file->function, REDIST_ERR_MEMORY,
                          "no memory for %lld pieces, %zu bytes (options->buffer_bytes)",
                          (long long)queue->depth, bytes);
}

/* Allocates the staging memory that the largest round needs. */
static int prepare_staging(struct redist__stripes *stripes) {
    struct parcels *const both[2] = {&stripes->of_array, &stripes->of_piece};
    for (redist_index round = 0; round < stripes->rounds; round++) {
        list_of_array(stripes, round);
        list_of_piece(stripes, round, stripes->queue.slots);
        for (int i = 0; i < 2; i++) {
            size_t bytes = place_messages(stripes, both[i]);
            both[i]->bytes = bytes > both[i]->bytes ? bytes : both[i]->bytes;
        }
    }
    for (int i = 0; i < 2; i++) {
        both[i]->staging = allocate(stripes, both[i]->bytes);
        if (both[i]->staging == NULL && both[i]->bytes != 0)
            return redist_fail_in(stripes->file->function, REDIST_ERR_MEMORY,
                                  "no memory for messages of %zu bytes", both[i]->bytes);
    }
    return REDIST_OK;
}

/* Allocates what depends on the numbers of ranks and fields. */
static int allocate_lists(struct redist__stripes *stripes) {
    const struct redist__file *file = stripes->file;
    size_t n = (size_t)stripes->size, nfields = (size_t)file->nfields;
    stripes->writers = redist_calloc(n, sizeof *stripes->writers);
    stripes->pieces = redist_calloc(nfields, sizeof *stripes->pieces);
    stripes->first = redist_calloc(nfields + 1, sizeof *stripes->first);
    stripes->of_array.list = redist_calloc(n, sizeof *stripes->of_array.list);
    stripes->of_piece.list = redist_calloc(n, sizeof *stripes->of_piece.list);
    if (stripes->writers == NULL || stripes->pieces == NULL || stripes->first == NULL ||
        stripes->of_array.list == NULL || stripes->of_piece.list == NULL)
        return redist_fail_in(file->function, REDIST_ERR_MEMORY, "no memory for %zu ranks", n);
    return redist__messages_create(&stripes->messages, &stripes->problem, stripes->size);
}

static void free_all(struct redist__stripes *stripes) {
    int in_use = redist__messages_free(&stripes->messages); /* then MPI keeps the buffers */
    if (!in_use) {
        release(stripes, stripes->queue.slots);
        release(stripes, stripes->of_array.staging);
        release(stripes, stripes->of_piece.staging);
    }
    redist_release(stripes->writers);
    redist_release(stripes->pieces);
    redist_release(stripes->first);
    redist_release(stripes->of_array.list);
    redist_release(stripes->of_piece.list);
    redist__failure_forget(&stripes->failure);
    redist_release(stripes);
}

/* Prepares a transfer, up to the threads. Collective. */
static int prepare(struct redist__stripes *stripes, int descriptor,
                   const struct redist__piece_hook *hook) {
    MPI_Comm comm = stripes->file->context->comm;
    REDIST_TRY(redist_agree(comm, allocate_lists(stripes)));
    REDIST_TRY(find_writers(stripes));
    cut_fields(stripes);
    int code = prepare_queue(stripes, descriptor, hook);
    if (code == REDIST_OK)
        code = prepare_staging(stripes);
    if (code == REDIST_OK && stripes->writer >= 0)
        code = redist__queue_start(&stripes->queue);
    return redist_agree(comm, code);
}

/* Runs all rounds. After some of them the ranks agree whether it is of use to go on. Collective. */
static int run_rounds(struct redist__stripes *stripes) {
    enum { ROUNDS_BETWEEN = 16 };
    for (redist_index round = 0; round < stripes->rounds && !stripes->messages.lost; round++) {
        if (round % ROUNDS_BETWEEN == ROUNDS_BETWEEN - 1) {
            int lowest = 0, own = redist__failed(&stripes->queue.failure) ? 0 : 1;
            REDIST_TRY(redist_all_lowest(stripes->file->context->comm, own, &lowest));
            if (lowest == 0)
                return REDIST_OK;
        }
        run_round(stripes, round);
    }
    return REDIST_OK;
}

/* Makes the first failure of the thread, of the messages, or `code`, that of all ranks. Collective. */
static int agree_on_end(struct redist__stripes *stripes, int code, int stops) {
    int joined = redist__queue_join(&stripes->queue, stops);
    if (joined == REDIST_OK && redist__failed(&stripes->failure))
        joined = redist__failure_report(&stripes->failure);
    return redist__file_agree(stripes->file, joined != REDIST_OK ? joined : code);
}

/* Starts a transfer in the place of its arrays. Collective. */
static int start(struct redist__stripes *stripes, int descriptor,
                 const struct redist__piece_hook *hook) {
    int code = prepare(stripes, descriptor, hook);
    if (code != REDIST_OK) {
        (void)redist__queue_join(&stripes->queue, 1);
        return code;
    }
    code = run_rounds(stripes);
    int failed = code != REDIST_OK || redist__failed(&stripes->failure) ||
                 redist__failed(&stripes->queue.failure);
    int lowest = 0;
    if (code == REDIST_OK)
        code = redist_all_lowest(stripes->file->context->comm, failed ? 0 : 1, &lowest);
    return code == REDIST_OK && lowest == 1 ? REDIST_OK : agree_on_end(stripes, code, 1);
}

int redist__stripes_start(const struct redist__file *file, int descriptor, int keeps,
                          const struct redist__piece_hook *hook, struct redist__stripes **result) {
    struct redist__stripes *stripes = redist_calloc(1, sizeof *stripes);
    MPI_Comm comm = file->context->comm;
    redist_visit visit;
    *result = NULL;
    int code = redist__agree_memory(comm, stripes, "for a transfer");
    if (code != REDIST_OK) {
        redist_release(stripes);
        return code;
    }
    stripes->file = file;
    stripes->keeps = keeps;
    stripes->rank = file->context->rank;
    stripes->size = file->context->size;
    stripes->space = &redist__space_host;
    stripes->problem = (struct redist__problem){
        .context = file->context, .space = &redist__space_host, .failure = &stripes->failure};
    (void)redist_enter(&file->place, &visit);
    code = start(stripes, descriptor, hook);
    if (code != REDIST_OK)
        free_all(stripes);
    redist_leave(&visit);
    *result = code == REDIST_OK ? stripes : NULL;
    return code;
}

int redist__stripes_finish(struct redist__stripes *stripes) {
    redist_visit visit;
    const redist_place place = stripes->file->place;
    int code = agree_on_end(stripes, REDIST_OK, 0);
    (void)redist_enter(&place, &visit);
    free_all(stripes);
    redist_leave(&visit);
    return code;
}

int redist__stripes_run(const struct redist__file *file, int descriptor,
                        const struct redist__piece_hook *hook) {
    struct redist__stripes *stripes;
    REDIST_TRY(redist__stripes_start(file, descriptor, 0, hook, &stripes));
    return redist__stripes_finish(stripes);
}
