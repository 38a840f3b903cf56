/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators as the user's options describe them: checks of the options, and what follows from them and the plan. */
#ifndef FFTND__DESCRIBE_H
#define FFTND__DESCRIBE_H

#include "../engine/engine.h"
#include "../operators/operator.h"

/* Reads the user's options, NULL = defaults. Not collective. */
int fftnd__read_operator_options(const char *function, const fftnd_operator_options *options,
                                 fftnd_operator_options *own);

/* Checks that a plan can have operators. Not collective. */
int fftnd__check_operable(const char *function, const struct fftnd__transform *transform);

/* Checks the other arguments and describes an operator, to be freed with fftnd__symbols_free, after a failure, too. Not
 * collective. */
int fftnd__describe_operator(struct fftnd__operator *op, const struct fftnd__engine *plan,
                             enum fftnd_operator_kind kind, const fftnd_operator_options *options);

/* Compares the arguments of all ranks; on this one the description returned `code`. Collective. */
int fftnd__agree_on_operator(const char *function, const struct fftnd__engine *plan,
                             const struct fftnd__operator *op,
                             const fftnd_operator_options *options, int code);

#endif
