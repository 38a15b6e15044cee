/* SPDX-License-Identifier: BSD-3-Clause */
/* Find the known name nearest to an unknown one. Private to lib/ctl. */
#ifndef QUENCH_CTL_INI_NEAREST_H
#define QUENCH_CTL_INI_NEAREST_H

struct nearest {
	const char *wanted;
	const char *name; /* best so far, or NULL */
	unsigned int distance;
};

/**
 * Offer a name. It is taken if it is nearer than the best so far: two single-letter edits at most,
 * and less than half of a short name; or the unit at the end is missing.
 */
void nearest_try(struct nearest *best, const char *name);

#endif
