/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often a queue had which length: count, sum, maximum and quantiles, as a histogram gives them
 * (base/sets/hist.h). Most queues of a large fabric have few different lengths in a run. They are
 * kept in a list: the pages of a histogram would be a sixth of the memory of 1,024 hosts.
 */
#ifndef QUENCH_FABRIC_RESULTS_LENGTHS_H
#define QUENCH_FABRIC_RESULTS_LENGTHS_H

#include <stdbool.h>
#include <stdint.h>

struct hist;

/* Zero-initialised state is empty. */
struct lengths {
	uint64_t count, sum, max;
	struct hist *hist; /* NULL: few */
	struct few_length {
		uint64_t weight;
		uint32_t bucket; /* of a histogram */
	} * few;                 /* by bucket, ascending */
	uint32_t n_few, room;
};

void lengths_free(struct lengths *l);

/** Count a length weight times. @return false: out of memory. */
bool lengths_add(struct lengths *l, uint64_t bytes, uint64_t weight);

/**
 * Count lengths of a bucket of a histogram; the caller sets count, sum and max.
 * @return false: out of memory.
 */
bool lengths_add_bucket(struct lengths *l, uint32_t bucket, uint64_t weight);

/**
 * As hist_quantile(), after the queue was also seen empty n_empty times, which were not added.
 */
uint64_t lengths_quantile(const struct lengths *l, uint64_t n_empty, double pct);

#endif
