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
 * Offer a name. It becomes the best if it is nearer than the best so far. It must be at most two
 * single-letter edits away, and by less than half of the length of a short name, or differ only by
 * a unit that is missing at the end.
 */
void nearest_try(struct nearest *best, const char *name);

#endif
