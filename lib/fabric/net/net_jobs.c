/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of jobs on hosts: room for the messages that they post, and which QP goes to which rank. */
#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>

#include "fabric/net/net_state.h"

struct net_job {
	uint32_t first_flow;          /* the pairs of a job are consecutive flows */
	struct workload_posts *posts; /* by pair; posts[i].qps[k] is that of the pair's QP k */
	struct workload_posted *qps;  /* of all pairs */
	struct workload_post *rings;  /* of all QPs */
	int64_t *index;               /* by rank: of the rank on its host */
	struct server_rank **inside;  /* by rank: on its server; NULL: there are no servers */
};

struct net_jobs {
	uint32_t n;
	struct net_job of[];
};

int
net_jobs_begin(struct net *net)
{
	uint32_t n = net->scenario->n_jobs;

	if (n == 0)
		return 0;
	net->jobs = calloc(1, sizeof(*net->jobs) + n * sizeof(net->jobs->of[0]));
	if (net->jobs == NULL)
		return -ENOMEM;
	net->jobs->n = n;
	return 0;
}

/* Number of a flow's job, and of the job's section. */
static uint32_t
job_of(const struct net *net, uint32_t flow)
{
	return (uint32_t)(net->flows[flow].params->job - net->scenario->jobs);
}

/* Places in the ring of each QP of a pair; 0: the ranks are no pair. */
static uint32_t
ring_size(const struct net *net, const struct flow_params *params, uint32_t rank, uint32_t peer)
{
	const struct job_peer *p = &params->job->graph.ranks[rank].peers[peer];

	return scenario_is_pair(net->scenario, params->job, rank, p) ? rte_align32pow2(p->n_sends)
								     : 0;
}

/* The first pair of a job: room for all of them. */
static int
begin_job(struct net *net, struct net_job *job, uint32_t flow)
{
	const struct flow_params *params = net->flows[flow].params;
	const struct job_graph *g = &params->job->graph;
	uint32_t qps = params->qp_count, qp = 0;
	size_t places = 0;

	for (uint32_t rank = 0; rank < g->n_ranks; rank++)
		for (uint32_t i = 0; i < g->ranks[rank].n_peers; i++)
			places += (size_t)qps * ring_size(net, params, rank, i);
	job->first_flow = flow;
	job->posts = calloc(params->n_pairs, sizeof(*job->posts));
	job->qps = calloc((size_t)params->n_pairs * qps, sizeof(*job->qps));
	job->rings = calloc(places, sizeof(*job->rings));
	job->index = calloc(g->n_ranks, sizeof(*job->index));
	if (job->posts == NULL || job->qps == NULL || job->rings == NULL || job->index == NULL)
		return -ENOMEM;
	places = 0;
	for (uint32_t rank = 0; rank < g->n_ranks; rank++)
		for (uint32_t i = 0; i < g->ranks[rank].n_peers; i++) {
			uint32_t n = ring_size(net, params, rank, i);

			if (n == 0)
				continue;
			job->posts[qp / qps].qps = &job->qps[qp];
			for (uint32_t k = 0; k < qps; k++, places += n)
				job->qps[qp++] = (struct workload_posted){
					.ring = &job->rings[places], .mask = n - 1};
		}
	return 0;
}

int
net_job_prepare(struct net *net, uint32_t flow)
{
	struct net_job *job = &net->jobs->of[job_of(net, flow)];

	if (job->posts == NULL && begin_job(net, job, flow) < 0)
		return -ENOMEM;
	net_job_posts(net, flow)->first_qpn = SCENARIO_FIRST_QPN + net->flows[flow].src_qp;
	return 0;
}

struct workload_posts *
net_job_posts(const struct net *net, uint32_t flow)
{
	const struct net_job *job = &net->jobs->of[job_of(net, flow)];

	return &job->posts[flow - job->first_flow];
}

/* The pairs of a job: in pair[first[rank] + i], a rank sends to its peer i. */
struct pairs {
	uint32_t *first, *pair;
};

static int
pairs_init(struct pairs *p, const struct scenario *s, const struct job_section *job)
{
	const struct job_graph *g = &job->graph;
	uint32_t n_peers = 0, n_pairs = 0;

	p->first = malloc(g->n_ranks * sizeof(*p->first));
	for (uint32_t rank = 0; p->first != NULL && rank < g->n_ranks; rank++) {
		p->first[rank] = n_peers;
		n_peers += g->ranks[rank].n_peers;
	}
	p->pair = malloc((n_peers + 1) * sizeof(*p->pair));
	if (p->first == NULL || p->pair == NULL)
		return -ENOMEM;
	for (uint32_t rank = 0; rank < g->n_ranks; rank++)
		for (uint32_t i = 0; i < g->ranks[rank].n_peers; i++) {
			p->pair[p->first[rank] + i] = n_pairs;
			n_pairs += scenario_is_pair(s, job, rank, &g->ranks[rank].peers[i]);
		}
	return 0;
}

static void
pairs_free(struct pairs *p)
{
	free(p->first);
	free(p->pair);
}

static int
add_rank(struct net *net, uint32_t number, uint32_t rank, const struct pairs *pairs)
{
	const struct job_section *section = &net->scenario->jobs[number];
	struct net_job *job = &net->jobs->of[number];
	const struct job_graph *g = &section->graph;
	const struct job_rank *r = &g->ranks[rank];
	const struct net_flow *flows = &net->flows[job->first_flow];
	struct nic_job_qps *peers;
	struct nic_job_params params = {
		.rank = r,
		.number = rank,
		.qps = section->qps_per_pair,
		.iterations = section->iterations,
		.start_ns = section->start_ns,
		.jitter_ppm = section->compute_jitter_ppm,
		.slowdown_ppm = job_keys_slowdown_ppm(&section->keys, rank),
		.seed = net->scenario->fabric.seed + number,
	};

	if (!net_has_host(net, section->hosts[rank]))
		return 0;
	params.peers = peers = malloc((r->n_peers + 1) * sizeof(*peers));
	if (peers == NULL)
		return -ENOMEM;
	if (net->servers != NULL) {
		uint32_t host = section->hosts[rank];

		job->inside[rank] =
			server_add_rank(net->servers[scenario_server_of(net->scenario, host)],
					number, rank, scenario_nic_of(net->scenario, host));
		server_stop(job->inside[rank], section->stopped, 0);
		params.send_inside = server_send_inside;
		params.arg = job->inside[rank];
	}
	for (uint32_t i = 0; i < r->n_peers; i++) {
		uint32_t other = r->peers[i].rank;

		peers[i] = (struct nic_job_qps){JOB_NONE, JOB_NONE, false};
		if (scenario_is_inside(net->scenario, section, rank, other)) {
			peers[i].inside = true;
			continue;
		}
		if (r->peers[i].n_sends > 0)
			peers[i].requesters = flows[pairs->pair[pairs->first[rank] + i]].src_qp;
		if (r->peers[i].n_recvs > 0)
			peers[i].responders =
				flows[pairs->pair[pairs->first[other] +
						  job_peer_of(&g->ranks[other], rank)]]
					.dst_qp;
	}
	job->index[rank] = nic_job_add(net->hosts[section->hosts[rank] - 1], &params);
	free(peers);
	if (job->inside != NULL)
		server_set_index(job->inside[rank], (uint32_t)job->index[rank]);
	return job->index[rank] < 0 ? -ENOMEM : 0;
}

int
net_add_ranks(struct net *net)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < net->scenario->n_jobs; i++) {
		const struct job_graph *g = &net->scenario->jobs[i].graph;
		struct pairs pairs = {0};

		if (net->jobs->of[i].index == NULL)
			net->jobs->of[i].index =
				calloc(g->n_ranks, sizeof(*net->jobs->of[i].index));
		if (net->servers != NULL)
			net->jobs->of[i].inside = calloc(g->n_ranks, sizeof(struct server_rank *));
		if (pairs_init(&pairs, net->scenario, &net->scenario->jobs[i]) < 0 ||
		    net->jobs->of[i].index == NULL ||
		    (net->servers != NULL && net->jobs->of[i].inside == NULL))
			rc = -ENOMEM;
		for (uint32_t rank = 0; rc == 0 && rank < g->n_ranks; rank++)
			rc = add_rank(net, i, rank, &pairs);
		pairs_free(&pairs);
	}
	return rc;
}

int
net_job_record(struct net *net, uint32_t job)
{
	const struct job_section *section = &net->scenario->jobs[job];
	int rc = 0;

	for (uint32_t rank = 0; rc == 0 && rank < section->graph.n_ranks; rank++)
		if (net_has_host(net, section->hosts[rank]))
			rc = nic_job_record(net->hosts[section->hosts[rank] - 1],
					    (uint32_t)net->jobs->of[job].index[rank]);
	return rc;
}

const struct nic_job_op *
net_job_ops(const struct net *net, uint32_t job, uint32_t rank, uint32_t iteration)
{
	uint32_t host = net->scenario->jobs[job].hosts[rank];

	return nic_job_ops(net->hosts[host - 1], (uint32_t)net->jobs->of[job].index[rank],
			   iteration);
}

uint32_t
net_job_flow(const struct net *net, uint32_t job, uint32_t from, uint32_t to)
{
	const struct job_section *section = &net->scenario->jobs[job];
	const struct job_graph *g = &section->graph;
	uint32_t flow = net->jobs->of[job].first_flow;

	for (uint32_t rank = 0; rank <= from; rank++)
		for (uint32_t i = 0; i < g->ranks[rank].n_peers; i++) {
			if (rank == from && g->ranks[rank].peers[i].rank == to)
				return flow;
			flow += scenario_is_pair(net->scenario, section, rank,
						 &g->ranks[rank].peers[i]);
		}
	return flow;
}

struct job_member
net_job_member(const struct net *net, uint32_t job, uint32_t rank)
{
	uint32_t host = net->scenario->jobs[job].hosts[rank];

	return (struct job_member){rank, net->hosts[host - 1],
				   (uint32_t)net->jobs->of[job].index[rank]};
}

void
net_job_info(const struct net *net, uint32_t job, uint32_t rank, struct nic_job_info *out)
{
	const struct job_member m = net_job_member(net, job, rank);

	nic_job_info(m.node, m.index, net_clock_ns(net, net->scenario->fabric.duration_ns), out);
}

void
net_change_jobs(struct net *net, const struct scenario *next, uint64_t now_ns)
{
	for (uint32_t i = 0; net->servers != NULL && i < next->n_jobs; i++)
		for (uint32_t rank = 0; rank < next->jobs[i].graph.n_ranks; rank++) {
			if (!net_owns_host(net, next->jobs[i].hosts[rank]))
				continue;
			server_stop(net->jobs->of[i].inside[rank], next->jobs[i].stopped, now_ns);
			net_poke_host(net, next->jobs[i].hosts[rank], now_ns);
		}
}

void
net_free_jobs(struct net *net)
{
	for (uint32_t i = 0; net->jobs != NULL && i < net->jobs->n; i++) {
		struct net_job *job = &net->jobs->of[i];

		free(job->posts);
		free(job->qps);
		free(job->rings);
		free(job->index);
		free(job->inside);
	}
	free(net->jobs);
}
