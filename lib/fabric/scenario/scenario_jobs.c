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
#include "job/job_relay.h"

/* clang-format off */
const struct field job_section_fields[] = {
	{FIELD_OF(struct job_section, ranks), .type = FIELD_STR, .min = 1, .max = FLOW_HOSTS_CHARS,
	 .def = "all",
	 .help = "hosts of the ranks, a rank on each, in ascending order: such as 1-8, T1/1-4 or all"},
	{FIELD_OF(struct job_section, ranks_per_server), .type = FIELD_U16, .max = 1024, .def = "0",
	 .help = "ranks on each server that has a host in `ranks`; rank r of a server is on host r "
		 "modulo n of its n hosts in the list; 0: one rank on each host"},
	{FIELD_OF(struct job_section, rank_nics), .type = FIELD_STR, .min = 1,
	 .max = JOB_RANKS_CHARS, .def = "none",
	 .help = "for each of ranks_per_server: its NIC in the server, from 0 on, such as 0, 0, 1, 1; "
		 "none: modulo"},
	{FIELD_OF(struct job_section, pxn), .type = FIELD_BOOL, .def = "on",
	 .help = "on: with topology = rail_optimized or rail_only, a message to a rank of another "
		 "server and rail goes through a rank of the sender's server on that rail, if the job "
		 "has one"},
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

/* rank_nics: a NIC for each rank of a server. @return 0 or -EINVAL. */
static int
read_nics(const struct scenario *s, const struct job_section *job, uint16_t *nics)
{
	static const struct field number = {
		.name = "rank_nics", .type = FIELD_U16, .max = SCENARIO_MAX_NICS};
	char list[JOB_RANKS_CHARS + 1], *rest = list, *word;
	uint32_t n = 0;

	strcpy(list, job->rank_nics);
	while ((word = strsep(&rest, ",")) != NULL) {
		word += strspn(word, " ");
		word[strcspn(word, " ")] = '\0';
		if (n == job->ranks_per_server ||
		    field_parse(&number, NULL, word, &nics[n], NULL, 0) != 0 ||
		    nics[n] >= s->fabric.nics_per_server)
			return -EINVAL;
		n++;
	}
	return n == job->ranks_per_server ? 0 : -EINVAL;
}

/*
 * With ranks_per_server: replace the hosts of the list by the host of each rank.
 * @param hosts  n of the list; gets those of the ranks. @return their number, or -EINVAL.
 */
static int32_t
place_on_servers(const struct scenario *s, const struct job_section *job, const uint32_t *list,
		 int32_t n, uint32_t *hosts, uint32_t room)
{
	bool by_table = strcmp(job->rank_nics, "none") != 0;
	uint16_t nics[1024];
	uint32_t n_ranks = 0;

	if (by_table && read_nics(s, job, nics) < 0)
		return -EINVAL;
	for (int32_t i = 0, next; i < n; i = next) {
		uint32_t server = scenario_server_of(s, list[i]);

		for (next = i; next < n && scenario_server_of(s, list[next]) == server; next++)
			;
		for (uint32_t r = 0; r < job->ranks_per_server; r++) {
			if (n_ranks == room)
				return -E2BIG;
			hosts[n_ranks++] =
				by_table ? (server * s->fabric.nics_per_server + nics[r] + 1)
					 : list[i + (int32_t)(r % (uint32_t)(next - i))];
		}
	}
	return (int32_t)n_ranks;
}

static bool
shares_nics(const uint32_t *hosts, uint32_t n)
{
	bool used[TOPOLOGY_MAX_HOSTS + 1] = {0};

	for (uint32_t i = 0; i < n; i++) {
		if (used[hosts[i]])
			return true;
		used[hosts[i]] = true;
	}
	return false;
}

/* The first rank of each server of the job. @return 0 or -ENOMEM. */
static int
count_servers(const struct scenario *s, struct job_section *job, const uint32_t *hosts, uint32_t n)
{
	uint32_t *first = malloc((n + 1) * sizeof(*first)), n_servers = 0;
	uint32_t n_ranks = job_keys_has_file(&job->keys) ? job->graph.n_ranks : n;

	if (first == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_ranks; i++)
		if (i == 0 ||
		    scenario_server_of(s, hosts[i]) != scenario_server_of(s, hosts[i - 1]))
			first[n_servers++] = i;
	first[n_servers] = n_ranks;
	job->servers = (struct collective_servers){n_servers, first};
	return 0;
}

bool
scenario_has_servers(const struct scenario *s)
{
	bool has = s->fabric.nics_per_server > 1;

	for (uint32_t i = 0; i < s->n_jobs; i++)
		has |= s->jobs[i].shares_nics;
	return has;
}

/* The hosts of the ranks. */
static int
place_ranks(const struct scenario *s, struct job_section *job, struct scenario_fault *fault)
{
	uint32_t list[TOPOLOGY_MAX_HOSTS], hosts[JOB_MAX_RANKS];
	int32_t n = host_list_parse(s->topology, job->ranks, list);
	char expected[128];

	if (!nic_is_mtu(job->mtu_bytes))
		return scenario_refuse(fault, "job", job->name, "mtu_bytes", NIC_MTU_TEXT);
	if (n < 0)
		return scenario_refuse(fault, "job", job->name, "ranks",
				       "hosts of the fabric, such as 1-4 or 1,3, T1/1-4");
	memcpy(hosts, list, (uint32_t)n * sizeof(*hosts));
	if (job->ranks_per_server == 0 && strcmp(job->rank_nics, "none") != 0)
		return scenario_refuse(fault, "job", job->name, "rank_nics",
				       "none without ranks_per_server");
	if (job->ranks_per_server > 0)
		n = place_on_servers(s, job, list, n, hosts, JOB_MAX_RANKS);
	if (n == -E2BIG)
		return scenario_refuse(fault, "job", job->name, "ranks_per_server",
				       "65536 ranks at most on all servers");
	if (n < 0) {
		snprintf(expected, sizeof(expected),
			 "none, or %u NICs of a server, each from 0 to %u", job->ranks_per_server,
			 s->fabric.nics_per_server - 1);
		return scenario_refuse(fault, "job", job->name, "rank_nics", expected);
	}
	if (job_keys_has_file(&job->keys) && (uint32_t)n < job->graph.n_ranks) {
		snprintf(expected, sizeof(expected),
			 "%u ranks or more, as many as the goal file has", job->graph.n_ranks);
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
	job->shares_nics = shares_nics(hosts, (uint32_t)n);
	if ((s->fabric.nics_per_server > 1 || job->shares_nics) &&
	    count_servers(s, job, hosts, (uint32_t)n) < 0)
		return scenario_refuse(fault, "job", job->name, "ranks",
				       "fewer hosts: out of memory");
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
	rc = job_keys_build(&job->keys, job->graph.n_ranks,
			    job->servers.n > 0 ? &job->servers : NULL, &job->graph, &why);
	return rc == 0 ? 0
		       : scenario_refuse(fault, "job", job->name,
					 job_keys_has_stages(&job->keys) ? "stages" : "collective",
					 why.why);
}

/* The ranks of a job by host. */
struct rail_ranks {
	const struct scenario *s;
	const struct job_section *job;
	uint32_t on_host[TOPOLOGY_MAX_HOSTS + 1]; /* the first one; JOB_NONE: none */
};

/* As job_relay_fn. */
static uint32_t
relay_of(const void *arg, uint32_t from, uint32_t to)
{
	const struct rail_ranks *r = arg;
	uint32_t host = r->job->hosts[from];
	uint32_t server = scenario_server_of(r->s, host);
	uint16_t rail = scenario_nic_of(r->s, r->job->hosts[to]);

	if (scenario_is_inside(r->s, r->job, from, to) || rail == scenario_nic_of(r->s, host))
		return JOB_NONE;
	return r->on_host[server * r->s->fabric.nics_per_server + rail + 1];
}

/* PXN: messages between rails go through other ranks. */
static int
relay(const struct scenario *s, struct job_section *job, struct scenario_fault *fault)
{
	const struct job_section *before = scenario_job_before(s, job);
	int shape = s->fabric.topology;
	struct rail_ranks r = {.s = s, .job = job};
	struct job_fault why = {0};
	int rc;

	if (!job->pxn || (shape != TOPOLOGY_RAIL_OPTIMIZED && shape != TOPOLOGY_RAIL_ONLY))
		return 0;
	/* A graph that is shared has its relays. */
	if (before != NULL && before->graph.ranks == job->graph.ranks)
		return 0;
	memset(r.on_host, 0xff, sizeof(r.on_host));
	for (uint32_t rank = job->graph.n_ranks; rank > 0; rank--)
		r.on_host[job->hosts[rank - 1]] = rank - 1;
	rc = job_relay(&job->graph, relay_of, &r, &why);
	if (rc == -E2BIG)
		return scenario_refuse(fault, "job", job->name, "pxn",
				       "off, or fewer messages: " JOB_SIZE_TEXT);
	if (rc == -ENOMEM)
		return scenario_refuse(fault, "job", job->name, "pxn",
				       "off, or fewer messages: out of memory");
	return rc < 0 ? scenario_refuse(fault, "job", job->name, "pxn", why.why) : 0;
}

/* A pair for each rank and each peer on another server that it sends to, in the order of ranks. */
static int
add_pairs(const struct scenario *s, const struct job_section *job, struct flow_params *flow)
{
	const struct job_graph *g = &job->graph;
	uint32_t n = 0;

	for (uint32_t rank = 0; rank < g->n_ranks; rank++)
		for (uint32_t i = 0; i < g->ranks[rank].n_peers; i++)
			n += scenario_is_pair(s, job, rank, &g->ranks[rank].peers[i]);
	flow->pairs = calloc(n + 1, sizeof(*flow->pairs));
	if (flow->pairs == NULL)
		return -ENOMEM;
	for (uint32_t rank = 0; rank < g->n_ranks; rank++)
		for (uint32_t i = 0; i < g->ranks[rank].n_peers; i++)
			if (scenario_is_pair(s, job, rank, &g->ranks[rank].peers[i]))
				flow->pairs[flow->n_pairs++] = (struct flow_pair){
					.src = job->hosts[rank],
					.dst = job->hosts[g->ranks[rank].peers[i].rank],
					.from = rank,
					.to = g->ranks[rank].peers[i].rank};
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
		.cc = job->cc,
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
	if (add_pairs(s, job, flow) < 0)
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
		    build_graph(s, &s->jobs[i], fault) < 0 || relay(s, &s->jobs[i], fault) < 0 ||
		    add_flow(s, &s->jobs[i], fault) < 0)
			return -EINVAL;
	return 0;
}

int
scenario_alone(const struct scenario *s, uint32_t job, struct scenario *out)
{
	const uint64_t after_ns = s->fabric.duration_ns + NS_PER_SEC;

	*out = *s;
	out->flows = malloc((s->n_flows + 1) * sizeof(*out->flows));
	out->jobs = malloc((s->n_jobs + 1) * sizeof(*out->jobs));
	if (out->flows == NULL || out->jobs == NULL)
		return -ENOMEM;
	memcpy(out->flows, s->flows, s->n_flows * sizeof(*out->flows));
	memcpy(out->jobs, s->jobs, s->n_jobs * sizeof(*out->jobs));
	out->n_streams = out->n_events = out->n_records = 0;
	for (uint32_t i = 0; i < s->n_jobs; i++)
		if (i != job)
			out->jobs[i].start_ns = after_ns;
	for (uint32_t i = 0; i < s->n_flows; i++) {
		struct flow_params *flow = &out->flows[i];

		if (flow->job != NULL)
			flow->job = &out->jobs[flow->job - s->jobs];
		flow->stopped |= flow->job != &out->jobs[job];
		/* The arrivals of QPs that share messages do not stop. */
		if (flow->shares_qps)
			flow->start_ns = after_ns;
	}
	return 0;
}

void
scenario_alone_free(struct scenario *alone)
{
	free(alone->flows);
	free(alone->jobs);
}
