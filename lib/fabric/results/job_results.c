/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/results/job_results.h"

#include <errno.h>
#include <stdlib.h>

#include "base/numbers/fixed.h"

/* The slowest of the links of the ranks' hosts. */
static uint64_t
rate_bps(const struct net *net, const struct job_section *job)
{
	const struct topology *t = net_scenario(net)->topology;
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < job->graph.n_ranks; i++)
		least = min_u64(least, t->links[t->hosts[job->hosts[i] - 1].link].cable.rate_bps);
	return least;
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
iteration(const struct net *net, uint32_t job, const struct job_graph *g, uint32_t number,
	  struct job_iteration *it, uint64_t *times)
{
	uint32_t n = 0;

	*it = (struct job_iteration){.begin_ns = NEVER_NS};
	for (uint32_t rank = 0; rank < g->n_ranks; rank++) {
		const struct nic_job_span *span;
		struct nic_job_info info;

		if (g->ranks[rank].n_ops == 0)
			continue;
		net_job_info(net, job, rank, &info);
		span = &info.spans[number];
		times[n++] = span->end_ns - span->begin_ns;
		add_counts(&it->counts, &span->counts);
		it->begin_ns = min_u64(it->begin_ns, span->begin_ns);
		if (span->end_ns > it->end_ns) {
			it->end_ns = span->end_ns;
			it->last_rank = rank;
		}
	}
	if (n == 0) /* no rank has operations */
		it->begin_ns = it->end_ns;
	it->ranks = job_spread_of(times, n);
	return n;
}

/* @return 0 or -ENOMEM. */
static int
find_iterations(const struct net *net, uint32_t job, struct job_result *out)
{
	const struct job_graph *g = &out->job->graph;
	uint64_t *times = malloc(((size_t)out->ended * g->n_ranks + 1) * sizeof(*times));
	size_t n = 0;

	if (times == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < out->ended; i++) {
		n += iteration(net, job, g, i, &out->iterations[i], &times[n]);
		add_counts(&out->counts, &out->iterations[i].counts);
	}
	out->ranks = job_spread_of(times, (uint32_t)n);
	free(times);
	return 0;
}

/* Iterations that all ranks have ended, and the rank that is behind. */
static void
find_ended(const struct net *net, uint32_t job, struct job_result *out)
{
	out->ended = out->job->iterations;
	out->stalled_rank = JOB_NONE;
	for (uint32_t rank = 0; rank < out->job->graph.n_ranks; rank++) {
		struct nic_job_info info;

		net_job_info(net, job, rank, &info);
		out->unknown += info.unknown;
		if (info.ended >= out->ended && out->stalled_rank != JOB_NONE)
			continue;
		out->ended = (uint32_t)min_u64(out->ended, info.ended);
		if (info.begun > info.ended)
			out->stalled_rank = rank;
	}
	if (out->stalled_rank != JOB_NONE)
		net_job_stalled(net, job, out->stalled_rank, out->stalled, sizeof(out->stalled));
}

static int
summarise(const struct net *net, struct job_result *out)
{
	uint64_t *times = malloc((out->ended + 1) * sizeof(*times)), sum = 0;
	const struct job_section *job = out->job;

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
	if (job_keys_has_file(&job->keys))
		return 0;
	out->bound_ns = job_keys_bound_ns(&job->keys, job->graph.n_ranks, rate_bps(net, job),
					  net_scenario(net)->fabric.ip_version == FABRIC_IPV6);
	if (out->mean_ns > 0) {
		double alg = 8e9 * (double)job_keys_bytes(&job->keys) / (double)out->mean_ns;

		out->alg_bps = (uint64_t)alg;
		out->bus_bps = (uint64_t)(alg * collective_bus_factor(job->collective,
								      job->graph.n_ranks));
	}
	return 0;
}

int
job_result(const struct net *net, uint32_t job, struct job_result *out)
{
	*out = (struct job_result){.job = &net_scenario(net)->jobs[job]};
	find_ended(net, job, out);
	out->iterations = malloc((out->ended + 1) * sizeof(*out->iterations));
	if (out->iterations == NULL || find_iterations(net, job, out) < 0)
		return -ENOMEM;
	return summarise(net, out);
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
