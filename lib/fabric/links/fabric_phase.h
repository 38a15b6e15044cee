/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is on the cables, relative to the present time: two equal phases show the same frames at the
 * same places. A fabric of one part, without ranks.
 */
#ifndef QUENCH_FABRIC_LINKS_FABRIC_PHASE_H
#define QUENCH_FABRIC_LINKS_FABRIC_PHASE_H

#include "fabric/links/fabric.h"

/* Zero-initialised state is empty. */
struct fabric_phase {
	uint64_t frames;    /* digest of their lengths, by cable */
	uint64_t *times_ns; /* owned: until they arrive, and until each port is free */
	uint32_t n, room;
};

/** @return 0 or -ENOMEM. */
int fabric_phase_take(struct fabric *f, uint64_t now_ns, struct fabric_phase *out);
/** Do the times differ by at most near_ns, and nothing else? */
bool fabric_phase_is(const struct fabric_phase *a, const struct fabric_phase *b, uint64_t near_ns);
void fabric_phase_free(struct fabric_phase *p);

#endif
