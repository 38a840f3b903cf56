/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw files by method stripes: the writers open the file, and flush it at the end. */
#include "disk.h"
#include "stripes.h"

struct state {
    const struct redist__file *file;
    int descriptor; /* of a writer, else -1 */
    struct redist__stripes *stripes;
};

static int has_gaps(const struct redist__file_field *field) {
    return (size_t)field->item_size != field->element.extent;
}

static int applies(const struct redist__file *file, const char *argument,
                   const struct redist__file_field *field) {
    if (!field->space->asynchronous || field->element.run != 0)
        return REDIST_OK;
    return redist_fail_in(file->function, REDIST_ERR_DATATYPE,
                          "%s.datatype: on a device the data of an element are equal runs at equal "
                          "distances",
                          argument);
}

/* Creates the file on rank 0 and opens it on the writers. Collective. */
static int open_everywhere(struct state *state) {
    const struct redist__file *file = state->file;
    MPI_Comm comm = file->context->comm;
    int both = 0, code = REDIST_OK;
    for (int i = 0; i < file->nfields; i++)
        both |= file->writes && has_gaps(&file->fields[i]);
    if (file->writes) {
        code = file->context->rank == 0 ? redist__disk_create(file) : REDIST_OK;
        REDIST_TRY(redist_agree(comm, code));
    }
    if (redist__stripes_is_writer(file))
        code = redist__disk_open(file, both, &state->descriptor);
    return redist_agree(comm, code);
}

static int flush(void *context) {
    const struct state *state = context;
    return redist__disk_flush(state->file, state->descriptor);
}

static int start(const struct redist__file *file, int keeps, void **data) {
    struct state *state = redist_calloc(1, sizeof *state);
    if (state != NULL)
        *state = (struct state){.file = file, .descriptor = -1};
    int code = redist__agree_memory(file->context->comm, state, "for a file");
    if (code == REDIST_OK)
        code = open_everywhere(state);
    if (code == REDIST_OK) {
        const struct redist__piece_hook hook = {
            .end = file->writes && file->options.flush ? flush : NULL, .context = state};
        code = redist__stripes_start(file, state->descriptor, keeps, &hook, &state->stripes);
    }
    *data = state;
    if (code == REDIST_OK)
        return REDIST_OK;
    if (state != NULL)
        (void)redist__disk_close(file, &state->descriptor);
    redist_release(state);
    return code;
}

static int finish(const struct redist__file *file, void *data) {
    struct state *state = data;
    int code = redist__stripes_finish(state->stripes), closed;
    closed = redist__disk_close(file, &state->descriptor);
    if (closed == REDIST_OK && file->writes && file->options.flush && file->context->rank == 0)
        closed = redist__disk_flush_folder(file);
    redist_release(state);
    return code != REDIST_OK ? code : redist_agree(file->context->comm, closed);
}

const struct redist__file_method redist__file_stripes = {"stripes", applies, start, finish};
