/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/jobs/job_results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/numbers/fixed.h"
#include "job/job_check.h"

static struct nic_job_info
info_of(const struct job_members *of, uint32_t i)
{
	struct nic_job_info info;

	nic_job_info(of->of[i].node, of->of[i].index, of->now_ns, &info);
	return info;
}

static void
add_counts(struct nic_job_counts *sum, const struct nic_job_counts *of)
{
	sum->cnps += of->cnps;
	sum->ce_packets += of->ce_packets;
	sum->retransmitted_packets += of->retransmitted_packets;
	sum->out_of_sequence += of->out_of_sequence;
	sum->paused_ns += of->paused_ns;
}

/*
 * One iteration that all ranks have ended. A rank without operations is ahead of all others.
 * @param times  Gets the times of the ranks. @return their number.
 */
static uint32_t
iteration(const struct job_members *of, uint32_t number, struct job_iteration *it, uint64_t *times)
{
	uint32_t n = 0;

	*it = (struct job_iteration){.begin_ns = NEVER_NS};
	for (uint32_t i = 0; i < of->n; i++) {
		const struct nic_job_span *span = &info_of(of, i).spans[number];

		if (of->graph->ranks[of->of[i].rank].n_ops == 0)
			continue;
		times[n++] = span->end_ns - span->begin_ns;
		add_counts(&it->counts, &span->counts);
		it->begin_ns = min_u64(it->begin_ns, span->begin_ns);
		if (span->end_ns > it->end_ns) {
			it->end_ns = span->end_ns;
			it->last_rank = of->of[i].rank;
		}
	}
	if (n == 0) /* no rank has operations */
		it->begin_ns = it->end_ns;
	it->ranks = job_spread_of(times, n);
	return n;
}

/* @return 0 or -ENOMEM. */
static int
find_iterations(const struct job_members *of, struct job_result *out)
{
	uint64_t *times = malloc(((size_t)out->ended * of->n + 1) * sizeof(*times));
	size_t n = 0;

	out->iterations = malloc(((size_t)out->ended + 1) * sizeof(*out->iterations));
	if (times == NULL || out->iterations == NULL) {
		free(times);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < out->ended; i++) {
		n += iteration(of, i, &out->iterations[i], &times[n]);
		add_counts(&out->counts, &out->iterations[i].counts);
	}
	out->ranks = job_spread_of(times, (uint32_t)n);
	free(times);
	return 0;
}

/* Iterations that all ranks have ended, and the rank that is behind. */
static void
find_ended(const struct job_members *of, struct job_result *out)
{
	out->ended = of->keys->iterations;
	out->waits_rank = JOB_NONE;
	for (uint32_t i = 0; i < of->n; i++) {
		const struct job_member *m = &of->of[i];
		const struct nic_job_info info = info_of(of, i);
		const struct job_rank *rank = &of->graph->ranks[m->rank];
		uint32_t op = JOB_NONE, peer = nic_job_waits_for(m->node, m->index);

		out->begun = out->begun || info.begun > 0;
		out->unknown += info.unknown;
		if (info.ended < out->ended || out->waits_rank == JOB_NONE)
			op = nic_job_waits(m->node, m->index);
		out->ended = (uint32_t)min_u64(out->ended, info.ended);
		if (op == JOB_NONE && peer == JOB_NONE)
			continue;
		out->waits_rank = m->rank;
		if (op != JOB_NONE)
			job_op_why(rank, op, out->waits_for, sizeof(out->waits_for));
		else
			snprintf(out->waits_for, sizeof(out->waits_for),
				 "the start waits for rank %u's digest", rank->peers[peer].rank);
	}
}

static int
summarise(const struct job_members *of, struct job_result *out)
{
	uint64_t *times = malloc(((size_t)out->ended + 1) * sizeof(*times)), sum = 0;
	const struct job_keys *keys = of->keys;

	if (times == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < out->ended; i++) {
		times[i] = out->iterations[i].end_ns - out->iterations[i].begin_ns;
		sum += times[i];
	}
	out->spread = job_spread_of(times, out->ended);
	if (out->ended > 0)
		out->mean_ns = sum / out->ended;
	free(times);
	if (job_keys_has_file(keys))
		return 0;
	out->bound_ns = of->places != NULL ? job_keys_servers_bound_ns(keys, of->places, of->ipv6)
					   : job_keys_bound_ns(keys, of->graph->n_ranks,
							       of->link_bps, of->ipv6);
	if (out->mean_ns > 0) {
		double alg = 8e9 * (double)job_keys_bytes(keys) / (double)out->mean_ns;

		out->alg_bps = (uint64_t)alg;
		out->bus_bps = (uint64_t)(alg * collective_bus_factor(keys->collective,
								      of->graph->n_ranks));
	}
	return 0;
}

int
job_result(const struct job_members *of, struct job_result *out)
{
	*out = (struct job_result){0};
	find_ended(of, out);
	return find_iterations(of, out) < 0 ? -ENOMEM : summarise(of, out);
}

uint32_t
job_slowest(const struct job_result *r)
{
	uint32_t slowest = 0;

	for (uint32_t i = 1; i < r->ended; i++)
		if (r->iterations[i].end_ns - r->iterations[i].begin_ns >
		    r->iterations[slowest].end_ns - r->iterations[slowest].begin_ns)
			slowest = i;
	return slowest;
}

void
job_result_free(struct job_result *r)
{
	free(r->iterations);
}

uint64_t
job_mean_ns(const struct job_result *r, uint32_t n)
{
	uint64_t sum_ns = 0;

	if (n == 0 || r->ended < n)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		sum_ns += r->iterations[i].end_ns - r->iterations[i].begin_ns;
	return sum_ns / n;
}
