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
	{FIELD_OF(struct job_section, goal), .type = FIELD_STR, .min = 1, .max = EVENT_PATH_CHARS,
	 .def = "none",
	 .help = "GOAL file of the operations of each rank, relative to the scenario's file; none: "
		 "collective applies"},
	{FIELD_OF(struct job_section, collective), .type = FIELD_ENUM, .choices = collective_words,
	 .def = "all_reduce",
	 .help = "all_reduce, reduce_scatter, all_gather, broadcast, all_to_all, or pipeline: each "
		 "rank receives from the one before, computes and sends to the next"},
	{FIELD_OF(struct job_section, algorithm), .type = FIELD_ENUM,
	 .choices = collective_algorithm_words, .def = "auto",
	 .help = "ring, halving_doubling or double_binary_tree; of all_to_all: pairwise, linear or "
		 "staggered; auto: ring, of all_to_all staggered"},
	{FIELD_OF(struct job_section, bytes), .type = FIELD_U64, .unit = UNIT_BYTES, .min = 1,
	 .max = 1ull << 45, .def = "1MB",
	 .help = "size of the collective as nccl-tests print it: of the largest array of a rank"},
	{FIELD_OF(struct job_section, chunk_bytes), .type = FIELD_U64, .unit = UNIT_BYTES,
	 .max = JOB_MAX_BYTES, .def = "0",
	 .help = "largest message: a larger one is sent in several, each of which goes on as soon as "
		 "it has arrived; pipeline: of a microbatch; 0: messages are not divided"},
	{FIELD_OF(struct job_section, channels), .type = FIELD_U32, .min = 1, .max = 64, .def = "1",
	 .help = "the array is divided among as many collectives beside each other"},
	{FIELD_OF(struct job_section, compute_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = 3600 * NS_PER_SEC, .def = "0",
	 .help = "computation of each rank before it sends in an iteration; of pipeline: before each "
		 "send"},
	{FIELD_OF(struct job_section, compute_jitter_ppm), .least_bare = 1000, .type = FIELD_U32,
	 .unit = UNIT_PPM, .max = 1000000, .def = "0", .aliases = {{.name = "compute_jitter"}},
	 .help = "each computation lasts up to this share longer or shorter, drawn by the seed"},
	{FIELD_OF(struct job_section, reduce_ps_per_byte), .type = FIELD_U64, .max = 1000000,
	 .def = "0",
	 .help = "time in ps that a rank takes to add a byte that it has received to its own"},
	{FIELD_OF(struct job_section, iterations), .type = FIELD_U32, .min = 1, .max = 1000000,
	 .def = "1", .help = "number of iterations; a rank begins one when it has ended the one before"},
	{FIELD_OF(struct job_section, start_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = 24 * 3600 * NS_PER_SEC, .def = "0", .help = "time at which all ranks begin"},
	{FIELD_OF(struct job_section, qps_per_pair), .type = FIELD_U16, .min = 1, .max = 64,
	 .def = "1",
	 .help = "QPs from a rank to another one; each message is divided among them"},
	{FIELD_OF(struct job_section, mtu_bytes), .type = FIELD_U16, .min = NIC_MIN_MTU,
	 .max = NIC_MAX_MTU, .def = "1024", .help = "path MTU: " NIC_MTU_TEXT},
	{FIELD_OF(struct job_section, dscp), .type = FIELD_I8, .min = -1, .max = 63, .def = "-1",
	 .help = "DSCP of the job's data, and of ACK and NAK without ack_dscp; -1: data_dscp of [nic]"},
	{FIELD_OF(struct job_section, stopped), .type = FIELD_BOOL, .def = "off", .live = true,
	 .help = "on: ranks begin no message until an event with action = set changes this key to off"},
};
/* clang-format on */
const unsigned int job_section_fields_n = ARRAY_LEN(job_section_fields);

bool
scenario_job_has_file(const struct job_section *job)
{
	return strcmp(job->goal, "none") != 0;
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
	if (scenario_job_has_file(job) && (uint32_t)n < job->graph.n_ranks) {
		snprintf(expected, sizeof(expected),
			 "%u hosts or more, one for each rank of the goal file",
			 job->graph.n_ranks);
		return scenario_refuse(fault, "job", job->name, "ranks", expected);
	}
	job->hosts = malloc((uint32_t)n * sizeof(*hosts));
	if (job->hosts == NULL)
		return scenario_refuse(fault, "job", job->name, "ranks",
				       "fewer hosts: out of memory");
	memcpy(job->hosts, hosts, (uint32_t)n * sizeof(*hosts));
	if (!scenario_job_has_file(job))
		job->graph.n_ranks = (uint32_t)n;
	return 0;
}

static int
build_graph(struct job_section *job, struct scenario_fault *fault)
{
	const struct collective c = {
		.kind = job->collective,
		.algorithm = job->algorithm,
		.n_ranks = job->graph.n_ranks,
		.bytes = job->bytes,
		.chunk_bytes = job->chunk_bytes,
		.channels = job->channels,
		.compute_ns = job->compute_ns,
		.reduce_ps_per_byte = job->reduce_ps_per_byte,
	};
	struct job_fault why = {0};
	int rc;

	if (scenario_job_has_file(job))
		return 0;
	rc = collective_build(&c, &job->graph, &why);
	if (rc == -ENOMEM)
		snprintf(why.why, sizeof(why.why), "fewer ranks, or larger chunks: out of memory");
	return rc == 0 ? 0 : scenario_refuse(fault, "job", job->name, "collective", why.why);
}

/* Largest message, and most messages that one rank sends another in an iteration. */
struct job_sizes {
	uint64_t bytes;
	uint32_t sends;
};

static struct job_sizes
sizes_of(const struct job_graph *g)
{
	struct job_sizes sizes = {0};

	for (uint32_t rank = 0; rank < g->n_ranks; rank++) {
		const struct job_rank *r = &g->ranks[rank];

		for (uint32_t i = 0; i < r->n_ops; i++)
			if (r->ops[i].kind == JOB_SEND)
				sizes.bytes = max_u64(sizes.bytes, r->ops[i].amount);
		for (uint32_t i = 0; i < r->n_peers; i++)
			sizes.sends = (uint32_t)max_u64(sizes.sends, r->peers[i].n_sends);
	}
	return sizes;
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
	const struct job_sizes sizes = sizes_of(&job->graph);

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
		.start_ns = 0,
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
		if (place_ranks(s, &s->jobs[i], fault) < 0 || build_graph(&s->jobs[i], fault) < 0 ||
		    add_flow(s, &s->jobs[i], fault) < 0)
			return -EINVAL;
	return 0;
}
