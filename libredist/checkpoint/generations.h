/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a checkpoint: the one that is written, the current one, earlier ones. Not collective. */
#ifndef REDIST__CHECKPOINT_GENERATIONS_H
#define REDIST__CHECKPOINT_GENERATIONS_H

/* Returns the name of the file that is written before it becomes `path`; NULL without memory, else freed with
 * redist_release. */
char *redist__generation_part(const char *path);

/* Makes `part`, which is complete on disk, the file `path`, and the one before it `path`.1, that one `path`.2, up to
 * `keep`. `path` always exists, if it did before. Errors: ERR_FILE, ERR_MEMORY; `part` remains. */
int redist__generation_advance(const char *function, const char *path, const char *part, int keep);

#endif
