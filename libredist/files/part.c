/* SPDX-License-Identifier: BSD-3-Clause */
#include "part.h"

/* ---------------------------------------------------------------- where it is */

size_t redist__part_find(const struct redist__file_field *field, int rank,
                         const struct redist_piece *piece, struct redist__part_box *box) {
    const struct redist__part_box *own = &field->all[rank];
    return redist_intersect(field->ndims, own->start, own->count, piece->start, piece->count,
                            box->start, box->count);
}

/* Describes a box of an array that begins at the index `origin`. */
static struct redist__file_part describe(const struct redist__file_field *field, char *array,
                                         const redist_index origin[], const ptrdiff_t stride[],
                                         const struct redist__part_box *box) {
    const struct redist__element *element = &field->element;
    struct redist__file_part part = {.field = field, .first = array, .bytes = 1};
    int n = field->ndims;
    for (int i = 0; i < n; i++) {
        part.first += (box->start[i] - origin[i]) * stride[i];
        part.count[i] = box->count[i];
        part.stride[i] = stride[i];
        part.bytes *= (size_t)box->count[i];
    }
    for (int i = 0; i < element->naxes; i++) {
        part.count[n + i] = element->count[i];
        part.stride[n + i] = element->stride[i];
    }
    part.bytes *= (size_t)field->item_size;
    return part;
}

struct redist__file_part redist__part_in_array(const struct redist__file_field *field,
                                               const struct redist__part_box *box) {
    struct redist__file_part part =
        describe(field, field->first, field->own.start, field->stride, box);
    part.space = field->space;
    return part;
}

struct redist__file_part redist__part_in_piece(const struct redist__file_field *field,
                                               const struct redist_piece *piece, char *data,
                                               const struct redist__part_box *box) {
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    redist__strides(field->ndims, piece->count, field->element.extent, stride);
    struct redist__file_part part = describe(field, data, piece->start, stride, box);
    part.space = &redist__space_host;
    return part;
}

/* ---------------------------------------------------------------- copies */

static int ndims_of(const struct redist__file_part *part) {
    return part->field->ndims + part->field->element.naxes;
}

/* Describes a message, in which the runs of all elements follow each other. */
static struct redist__file_part as_message(const struct redist__file_part *part, char *message) {
    struct redist__file_part packed = *part;
    packed.first = message - part->field->element.first;
    packed.space = &redist__space_host;
    redist__strides(ndims_of(part), part->count, part->field->element.run, packed.stride);
    return packed;
}

static struct redist__copy prepare(const struct redist__file_part *source,
                                   const struct redist__file_part *destination) {
    struct redist__copy copy;
    redist__copy_prepare(&copy, ndims_of(source), source->count, source->field->element.run,
                         source->stride, destination->stride);
    return copy;
}

char *redist__part_direct(const struct redist__file_part *part) {
    const struct redist__element *element = &part->field->element;
    if (element->run == 0 || part->space->asynchronous)
        return NULL;
    struct redist__file_part packed = as_message(part, part->first);
    return prepare(part, &packed).run == part->bytes ? part->first + element->first : NULL;
}

/* Copies between two places, one of which may be on a device. */
static int copy_part(const struct redist__file_part *source,
                     const struct redist__file_part *destination) {
    const size_t before = source->field->element.first;
    const struct redist__copy copy = prepare(source, destination);
    const struct redist__space *space =
        source->space->asynchronous ? source->space : destination->space;
    REDIST_TRY(space->copy(&copy, source->first + before, destination->first + before,
                           space->asynchronous ? REDIST__LINK : REDIST__CACHED, NULL));
    return space->stream_wait(NULL);
}

int redist__part_type(const struct redist__file *file, const struct redist__file_field *field,
                      const redist_index count[], const ptrdiff_t stride[], MPI_Datatype *type) {
    MPI_Datatype inner = field->datatype;
    int result = MPI_SUCCESS;
    for (int i = field->ndims - 1; i >= 0 && result == MPI_SUCCESS; i--) {
        result = MPI_Type_create_hvector((int)count[i], 1, stride[i], inner, type);
        if (inner != field->datatype)
            MPI_Type_free(&inner);
        inner = *type;
    }
    if (result == MPI_SUCCESS)
        result = MPI_Type_commit(type);
    return redist_check_mpi_in(file->function, result);
}

/* Leaves the copy of elements that are no boxes of bytes to MPI. */
static int pack_by_mpi(const struct redist__file *file, const struct redist__file_part *part,
                       char *message, int packs) {
    MPI_Datatype type;
    MPI_Comm comm = file->context->comm;
    int used = 0, bytes = (int)part->bytes;
    REDIST_TRY(redist__part_type(file, part->field, part->count, part->stride, &type));
    int result = packs ? MPI_Pack(part->first, 1, type, message, bytes, &used, comm)
                       : MPI_Unpack(message, bytes, &used, part->first, 1, type, comm);
    MPI_Type_free(&type);
    return redist_check_mpi_in(file->function, result);
}

int redist__part_pack(const struct redist__file *file, const struct redist__file_part *part,
                      char *message) {
    if (part->field->element.run == 0)
        return pack_by_mpi(file, part, message, 1);
    const struct redist__file_part packed = as_message(part, message);
    return copy_part(part, &packed);
}

int redist__part_unpack(const struct redist__file *file, const struct redist__file_part *part,
                        char *message) {
    if (part->field->element.run == 0)
        return pack_by_mpi(file, part, message, 0);
    const struct redist__file_part packed = as_message(part, message);
    return copy_part(&packed, part);
}

int redist__part_copy_to(const struct redist__file *file, const struct redist__file_part *source,
                         const struct redist__file_part *destination) {
    if (source->field->element.run != 0)
        return copy_part(source, destination);
    char *message = redist_calloc(source->bytes, 1);
    int code = message != NULL
                   ? redist__part_pack(file, source, message)
                   : redist_fail_in(file->function, REDIST_ERR_MEMORY,
                                    "no memory for a message of %zu bytes", source->bytes);
    if (code == REDIST_OK)
        code = redist__part_unpack(file, destination, message);
    redist_release(message);
    return code;
}
