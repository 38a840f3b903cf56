/* SPDX-License-Identifier: BSD-3-Clause */
/** The memory of the stand-in. See stream_device.h. */
#ifndef TESTS_STAND_IN_SPACE_H
#define TESTS_STAND_IN_SPACE_H

/** Ends the streams and forgets the memory of a context that is reset. */
void stand_in_forget(unsigned long long context);

#endif
