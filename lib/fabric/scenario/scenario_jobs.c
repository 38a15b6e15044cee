/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs: their graphs, the hosts of their ranks, and the flows that carry their messages. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "fabric/scenario/scenario_parts.h"
#include "fabric/topology/host_list.h"
#include "job/job_check.h"

/* clang-format off */
const struct field job_section_fields[] = {
	{FIELD_OF(struct job_section, ranks), .type = FIELD_STR, .min = 1, .max = FLOW_HOSTS_CHARS,
	 .def = "all",
	 .help = "hosts of the ranks, a rank on each, in ascending order: such as 1-8, T1/1-4 or all"},
	JOB_KEYS_FIELDS(struct job_section),
};
/* clang-format on */
const unsigned int job_section_fields_n = ARRAY_LEN(job_section_fields);

const struct job_section *
scenario_job_before(const struct scenario *s, const struct job_section *job)
{
	for (uint32_t i = 0; s->before != NULL && i < s->before->n_jobs; i++)
		if (strcmp(s->before->jobs[i].name, job->name) == 0)
			return &s->before->jobs[i];
	return NULL;
}

/* The hosts of the ranks. */
static int
place_ranks(const struct scenario *s, struct job_section *job, struct scenario_fault *fault)
{
	uint16_t hosts[TOPOLOGY_MAX_HOSTS];
	int32_t n = host_list_parse(s->topology, job->ranks, hosts);
	char expected[128];

	if (!nic_is_mtu(job->mtu_bytes))
		return scenario_refuse(fault, "job", job->name, "mtu_bytes", NIC_MTU_TEXT);
	if (n < 0)
		return scenario_refuse(fault, "job", job->name, "ranks",
				       "hosts of the fabric, such as 1-4 or 1,3, T1/1-4");
	if (job_keys_has_file(&job->keys) && (uint32_t)n < job->graph.n_ranks) {
		snprintf(expected, sizeof(expected),
			 "%u hosts or more, one for each rank of the goal file",
			 job->graph.n_ranks);
		return scenario_refuse(fault, "job", job->name, "ranks", expected);
	}
	if (!job_keys_stragglers_fit(&job->keys, job_keys_has_file(&job->keys) ? job->graph.n_ranks
									       : (uint32_t)n))
		return scenario_refuse(fault, "job", job->name, "stragglers",
				       "none, or ranks of the job, such as 3 or 0-3, 7");
	job->hosts = malloc((uint32_t)n * sizeof(*hosts));
	if (job->hosts == NULL)
		return scenario_refuse(fault, "job", job->name, "ranks",
				       "fewer hosts: out of memory");
	memcpy(job->hosts, hosts, (uint32_t)n * sizeof(*hosts));
	if (!job_keys_has_file(&job->keys))
		job->graph.n_ranks = (uint32_t)n;
	return 0;
}

static int
build_graph(const struct scenario *s, struct job_section *job, struct scenario_fault *fault)
{
	const struct job_section *before = scenario_job_before(s, job);
	struct job_fault why = {0};
	int rc;

	if (job_keys_has_file(&job->keys))
		return 0;
	/* With other keys, the change will be refused. */
	if (before != NULL && before->graph.n_ranks == job->graph.n_ranks) {
		job->graph = job_graph_share(&before->graph);
		return 0;
	}
	rc = job_keys_build(&job->keys, job->graph.n_ranks, &job->graph, &why);
	return rc == 0 ? 0
		       : scenario_refuse(fault, "job", job->name,
					 job_keys_has_stages(&job->keys) ? "stages" : "collective",
					 why.why);
}

/* A pair for each rank and each peer that it sends to, in the order of ranks. */
static int
add_pairs(const struct job_section *job, struct flow_params *flow)
{
	const struct job_graph *g = &job->graph;
	uint32_t n = 0;

	for (uint32_t rank = 0; rank < g->n_ranks; rank++)
		for (uint32_t i = 0; i < g->ranks[rank].n_peers; i++)
			n += g->ranks[rank].peers[i].n_sends > 0;
	flow->pairs = calloc(n + 1, sizeof(*flow->pairs));
	if (flow->pairs == NULL)
		return -ENOMEM;
	for (uint32_t rank = 0; rank < g->n_ranks; rank++)
		for (uint32_t i = 0; i < g->ranks[rank].n_peers; i++)
			if (g->ranks[rank].peers[i].n_sends > 0)
				flow->pairs[flow->n_pairs++] = (struct flow_pair){
					.src = job->hosts[rank],
					.dst = job->hosts[g->ranks[rank].peers[i].rank]};
	return 0;
}

static int
add_flow(struct scenario *s, struct job_section *job, struct scenario_fault *fault)
{
	struct flow_params *flow = &s->flows[s->n_flows];
	const struct job_sizes sizes = job_sizes_of(&job->graph);

	for (uint32_t i = 0; i < s->n_flows; i++)
		if (strcmp(s->flows[i].name, job->name) == 0)
			return scenario_refuse(fault, "job", job->name, NULL,
					       "a name that no flow and no other job has");
	*flow = (struct flow_params){
		.pattern = FLOW_JOB,
		.qp_count = job->qps_per_pair,
		.qp_per_message = FLOW_QP_PER_MESSAGE_OFF,
		.mtu_bytes = job->mtu_bytes,
		.verb = NIC_WRITE_IMM,
		.dscp = job->dscp,
		.message_size = WORKLOAD_POSTED,
		.arrival = WORKLOAD_OF_JOB,
		.message_bytes = sizes.bytes,
		.stopped = job->stopped,
		.start_ns = job->start_ns,
		.stop_ns = NEVER_NS,
		.depth = (uint32_t)min_u64(max_u64(sizes.sends, 1), 1u << 16),
		.job = job,
	};
	strcpy(flow->name, job->name);
	strcpy(flow->src, job->ranks);
	strcpy(flow->dst, "none");
	strcpy(flow->trace, "none");
	s->n_flows++;
	if (add_pairs(job, flow) < 0)
		return scenario_refuse(fault, "job", job->name, "ranks",
				       "fewer hosts: out of memory");
	return 0;
}

int
scenario_add_jobs(struct scenario *s, struct scenario_fault *fault)
{
	struct flow_params *flows;

	if (s->n_jobs == 0)
		return 0;
	flows = realloc(s->flows, (s->n_flows + s->n_jobs) * sizeof(*flows));
	if (flows == NULL)
		return scenario_refuse(fault, "job", s->jobs[0].name, NULL,
				       "fewer jobs: out of memory");
	s->flows = flows;
	for (uint32_t i = 0; i < s->n_jobs; i++)
		if (place_ranks(s, &s->jobs[i], fault) < 0 ||
		    build_graph(s, &s->jobs[i], fault) < 0 || add_flow(s, &s->jobs[i], fault) < 0)
			return -EINVAL;
	return 0;
}
