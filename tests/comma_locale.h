/* SPDX-License-Identifier: BSD-3-Clause */
/** A locale whose numbers have a decimal comma, made from the system's C.UTF-8: no package has to bring one. */
#ifndef TESTS_COMMA_LOCALE_H
#define TESTS_COMMA_LOCALE_H

/**
 * Makes numbers of this rank have a decimal comma if `here`, on ranks of any number. Returns nonzero if they do, on
 * these ranks; 0 on all ranks where the C library has no locale to make it from. Collective on MPI_COMM_WORLD.
 */
int comma_locale_set(int here);

/** Back to the point. */
void comma_locale_reset(void);

#endif
