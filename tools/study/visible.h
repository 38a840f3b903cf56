/* SPDX-License-Identifier: BSD-3-Clause */
/* The GPUs that programs see, which may be some of the machine's only, and in another order. */
#ifndef STUDY_VISIBLE_H
#define STUDY_VISIBLE_H

enum { STUDY_ADDRESS_BYTES = 32 };

/* Their PCI addresses in the order in which ranks take them; returns how many, 0 if unknown. */
int study_visible_gpus(int most, char addresses[][STUDY_ADDRESS_BYTES]);

#endif
