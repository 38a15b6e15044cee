/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/results/job_results.h"

#include <errno.h>
#include <stdlib.h>

#include "base/numbers/fixed.h"

/* Bytes of a frame of a message, beside its payload: Ethernet, IP, UDP, BTH, ICRC and FCS, preamble
 * and gap. Left out: RETH and immediate data, which only its first and last frame have. */
#define IPV4_BYTES 82u
#define IPV6_BYTES 102u

static int
by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* By the nearest-rank method: the least value that `percent` of all values do not exceed. */
static uint64_t
percentile(const uint64_t *sorted, uint32_t n, uint32_t percent)
{
	return sorted[((uint64_t)n * percent + 99) / 100 - 1];
}

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

static uint64_t
bound_ns(const struct net *net, const struct job_section *job)
{
	bool v6 = net_scenario(net)->fabric.ip_version == FABRIC_IPV6;
	double wire = (double)(job->mtu_bytes + (v6 ? IPV6_BYTES : IPV4_BYTES)) / job->mtu_bytes;
	double bytes =
		(double)job->bytes * collective_bus_factor(job->collective, job->graph.n_ranks);
	uint64_t shorter_ns = mul_div(job->compute_ns, job->compute_jitter_ppm, 1000000);

	return job->compute_ns - shorter_ns +
	       (uint64_t)(8e9 * bytes * wire / (double)rate_bps(net, job));
}

/* One iteration that all ranks have ended. A rank without operations is ahead of all others. */
static struct job_iteration
iteration(const struct net *net, uint32_t job, const struct job_graph *g, uint32_t number)
{
	struct job_iteration it = {.begin_ns = NEVER_NS};

	for (uint32_t rank = 0; rank < g->n_ranks; rank++) {
		struct nic_job_info info;

		if (g->ranks[rank].n_ops == 0)
			continue;
		net_job_info(net, job, rank, &info);
		it.begin_ns = min_u64(it.begin_ns, info.spans[number].begin_ns);
		if (info.spans[number].end_ns > it.end_ns) {
			it.end_ns = info.spans[number].end_ns;
			it.last_rank = rank;
		}
	}
	if (it.begin_ns == NEVER_NS) /* no rank has operations */
		it.begin_ns = it.end_ns;
	return it;
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
	if (out->ended > 0) {
		qsort(times, out->ended, sizeof(*times), by_value);
		out->min_ns = times[0];
		out->p50_ns = percentile(times, out->ended, 50);
		out->p99_ns = percentile(times, out->ended, 99);
		out->max_ns = times[out->ended - 1];
		out->mean_ns = sum / out->ended;
	}
	free(times);
	if (job_keys_has_file(&job->keys))
		return 0;
	out->bound_ns = bound_ns(net, job);
	if (out->mean_ns > 0) {
		double alg = 8e9 * (double)job->bytes / (double)out->mean_ns;

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
	if (out->iterations == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < out->ended; i++)
		out->iterations[i] = iteration(net, job, &out->job->graph, i);
	return summarise(net, out);
}

void
job_result_free(struct job_result *r)
{
	free(r->iterations);
}
