/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/nic_config/nic_job.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/sets/names.h"
#include "ctl/nic_config/job_file.h"
#include "wire/bytes/be.h"

#define IS_HERE "auto"
/* Bytes and rate of the question whether a rank is alive: one a second. */
#define ALIVE_BYTES 1
#define ALIVE_BPS 8

/* clang-format off */
static const struct field nic_job_fields[] = {
	{FIELD_OF(struct nic_job, ranks), .type = FIELD_STR, .min = 1, .max = NIC_JOB_RANKS_CHARS,
	 .help = "IP addresses of the ranks, from rank 0 on: such as 10.0.0.1-10.0.0.4, 10.0.1.1"},
	{FIELD_OF(struct nic_job, ranks_here), .type = FIELD_STR, .min = 1,
	 .max = NIC_JOB_HERE_CHARS, .def = IS_HERE,
	 .help = "numbers of the ranks that this program runs, such as 0,2-3, with their addresses; "
		 "auto: those with ip or ip6 of [nic]; none"},
	{FIELD_OF(struct nic_job, next_hop), .type = FIELD_IP, .def = "none",
	 .help = "IP address of the router to the other ranks; none: they are on the link"},
	JOB_KEYS_FIELDS(struct nic_job),
};
/* clang-format on */
static const unsigned int nic_job_fields_n = ARRAY_LEN(nic_job_fields);

/* ---- lists of keys ---- */

/* The last four bytes of an address. */
static uint8_t *
tail_of(struct field_ip *ip)
{
	return &ip->addr[ip->version == 4 ? 0 : 12];
}

/* The next word of a list that commas or spaces divide. @return false: no more. */
static bool
next_word(const char **at, char *word, size_t size)
{
	size_t chars;

	*at += strspn(*at, ", ");
	chars = strcspn(*at, ", ");
	if (chars == 0 || chars >= size)
		return false;
	memcpy(word, *at, chars);
	word[chars] = '\0';
	*at += chars;
	return true;
}

static bool
read_ip(const char *text, struct field_ip *ip)
{
	*ip = (struct field_ip){.version = strchr(text, ':') != NULL ? 6 : 4};
	return inet_pton(ip->version == 4 ? AF_INET : AF_INET6, text, ip->addr) == 1;
}

/* A word of the list of addresses: the first one, and how many. */
static bool
read_range(char *word, struct field_ip *first, uint32_t *n)
{
	char *dash = strchr(word, '-');
	struct field_ip last;
	uint32_t from, to;

	if (dash != NULL)
		*dash = '\0';
	*n = 1;
	if (!read_ip(word, first))
		return false;
	if (dash == NULL)
		return true;
	if (!read_ip(dash + 1, &last) || last.version != first->version)
		return false;
	from = be32_load(tail_of(first));
	to = be32_load(tail_of(&last));
	*n = to - from + 1;
	return from <= to && to - from < JOB_MAX_RANKS &&
	       memcmp(first->addr, last.addr, first->version == 4 ? 0 : 12) == 0;
}

static int
read_ips(const char *text, struct field_ip *ips, uint32_t *n_ips)
{
	char word[2 * FIELD_IP_CHARS];

	*n_ips = 0;
	while (next_word(&text, word, sizeof(word))) {
		struct field_ip first;
		uint32_t n;

		if (!read_range(word, &first, &n) || *n_ips + n > JOB_MAX_RANKS)
			return -EINVAL;
		for (uint32_t i = 0; i < n; i++) {
			ips[*n_ips] = first;
			be32_store(tail_of(&ips[(*n_ips)++]), be32_load(tail_of(&first)) + i);
		}
	}
	return *text == '\0' && *n_ips > 0 ? 0 : -EINVAL;
}

static bool
read_numbers(const char *text, struct nic_job_plan *plan)
{
	char word[24];

	while (next_word(&text, word, sizeof(word))) {
		unsigned int from, to;
		char rest;
		int n = sscanf(word, "%u-%u%c", &from, &to, &rest);

		if (n == 1 && strchr(word, '-') == NULL)
			to = from;
		else if (n != 2)
			return false;
		if (from > to || to >= plan->graph.n_ranks)
			return false;
		for (unsigned int i = from; i <= to; i++)
			plan->here[i] = true;
	}
	return *text == '\0';
}

/* ---- the plan of a job ---- */

static bool
is_ip(const struct field_ip *a, const struct field_ip *b)
{
	return a->version == b->version && memcmp(a->addr, b->addr, a->version == 4 ? 4 : 16) == 0;
}

static int
refuse(const struct config *cfg, const struct nic_job *job, const char *key, const char *expected,
       struct config_error *err)
{
	char section[NIC_FLOW_NAME_CHARS + 8];

	snprintf(section, sizeof(section), "job %s", job->name);
	return config_refuse(cfg, section, key, expected, err);
}

static int
no_memory(const struct config *cfg, const struct nic_job *job, struct config_error *err)
{
	refuse(cfg, job, "ranks", "fewer ranks: out of memory", err);
	return -ENOMEM;
}

static int
by_address(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct field_ip));
}

static int
refuse_twice(const struct config *cfg, const struct nic_job *job, struct config_error *err)
{
	uint32_t n = job->plan->graph.n_ranks;
	struct field_ip *sorted = malloc(n * sizeof(*sorted));
	int rc = 0;

	if (sorted == NULL)
		return no_memory(cfg, job, err);
	memcpy(sorted, job->plan->ips, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_address);
	for (uint32_t i = 1; rc == 0 && i < n; i++)
		if (is_ip(&sorted[i - 1], &sorted[i]))
			rc = refuse(cfg, job, "ranks", "a different address for each rank", err);
	free(sorted);
	return rc;
}

static int
read_addresses(const struct config *cfg, struct nic_job *job, struct config_error *err)
{
	struct nic_job_plan *plan = job->plan;
	struct job_fault why = {0};
	char expected[160];
	uint32_t n;
	int rc;

	plan->ips = calloc(JOB_MAX_RANKS, sizeof(*plan->ips));
	if (plan->ips == NULL)
		return no_memory(cfg, job, err);
	if (read_ips(job->ranks, plan->ips, &n) != 0)
		return refuse(cfg, job, "ranks",
			      "at most 65536 IP addresses, such as 10.0.0.1-10.0.0.4, 10.0.1.1",
			      err);
	if (job_keys_has_file(&job->keys)) {
		if (n >= plan->graph.n_ranks)
			return 0;
		snprintf(expected, sizeof(expected),
			 "%u addresses or more, one for each rank of the goal file",
			 plan->graph.n_ranks);
		return refuse(cfg, job, "ranks", expected, err);
	}
	rc = job_keys_build(&job->keys, n, NULL, &plan->graph, &why);
	return rc == 0 ? 0
		       : refuse(cfg, job, job_keys_has_stages(&job->keys) ? "stages" : "collective",
				why.why, err);
}

static int
find_here(const struct config *cfg, struct nic_job *job, const struct nic_params *nic,
	  struct config_error *err)
{
	struct nic_job_plan *plan = job->plan;
	uint32_t n = plan->graph.n_ranks;

	if (!job_keys_stragglers_fit(&job->keys, n))
		return refuse(cfg, job, "stragglers",
			      "none, or ranks of the job, such as 3 or 0-3, 7", err);
	plan->here = calloc(n, sizeof(*plan->here));
	if (plan->here == NULL)
		return no_memory(cfg, job, err);
	if (strcmp(job->ranks_here, IS_HERE) == 0) {
		for (uint32_t i = 0; i < n; i++)
			plan->here[i] =
				is_ip(&plan->ips[i], &nic->ip) || is_ip(&plan->ips[i], &nic->ip6);
	} else if (strcmp(job->ranks_here, "none") != 0 && !read_numbers(job->ranks_here, plan)) {
		char expected[96];

		snprintf(expected, sizeof(expected),
			 "auto, none, or numbers from 0 to %u, such as 0,2-3", n - 1);
		return refuse(cfg, job, "ranks_here", expected, err);
	}
	for (uint32_t i = 0; i < n; i++)
		plan->n_here += plan->here[i];
	return 0;
}

static int
find_pairs(const struct config *cfg, struct nic_job *job, struct config_error *err)
{
	struct nic_job_plan *plan = job->plan;
	const struct job_graph *g = &plan->graph;
	uint32_t n = 0;

	for (uint32_t rank = 0; rank < g->n_ranks; rank++)
		for (uint32_t i = 0; i < g->ranks[rank].n_peers; i++)
			n += g->ranks[rank].peers[i].n_sends > 0;
	plan->pairs = calloc(n + 1, sizeof(*plan->pairs));
	if (plan->pairs == NULL)
		return no_memory(cfg, job, err);
	for (uint32_t rank = 0; rank < g->n_ranks; rank++)
		for (uint32_t i = 0; i < g->ranks[rank].n_peers; i++) {
			const struct job_peer *p = &g->ranks[rank].peers[i];

			if (p->n_sends > 0)
				plan->pairs[plan->n_pairs++] = (struct nic_job_pair){
					rank, p->rank,
					p->n_recvs > 0 ? JOB_NONE : plan->n_one_way++};
		}
	return 0;
}

static uint32_t
digest_of(const struct nic_job *job)
{
	const struct nic_job_plan *plan = job->plan;
	uint64_t digest = job_graph_digest(&plan->graph);

	digest = job_digest_add(digest, job->iterations);
	digest = job_digest_add(digest, (uint64_t)job->qps_per_pair << 32 | job->mtu_bytes);
	for (uint32_t i = 0; i < plan->graph.n_ranks; i++)
		for (uint32_t byte = 0; byte < sizeof(plan->ips[i].addr); byte++)
			digest = job_digest_add(digest, plan->ips[i].addr[byte]);
	return (uint32_t)(digest >> 32);
}

/* As config_kind.finish: arg is a struct nic_params. */
static int
finish(struct config *cfg, const char *section, void *item, void *arg, struct config_error *err)
{
	struct nic_job *job = item;
	int rc;

	job->plan = calloc(1, sizeof(*job->plan));
	if (job->plan == NULL)
		return no_memory(cfg, job, err);
	job->plan->users = 1;
	if (!nic_is_mtu(job->mtu_bytes))
		return refuse(cfg, job, "mtu_bytes", NIC_MTU_TEXT, err);
	rc = job_file_read(cfg, section, &job->keys, &job->plan->graph, err);
	job->plan->sizes = job->keys.sizes;
	if (rc == 0)
		rc = read_addresses(cfg, job, err);
	if (rc == 0)
		rc = refuse_twice(cfg, job, err);
	if (rc == 0)
		rc = find_here(cfg, job, arg, err);
	if (rc == 0)
		rc = find_pairs(cfg, job, err);
	if (rc == 0)
		job->plan->digest = digest_of(job);
	return rc;
}

static const char *
unused(const void *item, const struct field *field)
{
	const struct nic_job *job = item;

	return job_keys_unused(&job->keys, field);
}

/* A name goes into that of flows, and into jobs.csv. */
const struct config_kind nic_job_kind = {
	CONFIG_KIND("job", "NAME", struct nic_config, struct nic_job, nic_job_fields, jobs,
		    NIC_FLOW_NAME_CHARS),
	.not_in_name = ",\"@",
	.finish = finish,
	.unused = unused,
};

struct nic_job_plan *
nic_job_plan_hold(struct nic_job_plan *plan)
{
	__atomic_add_fetch(&plan->users, 1, __ATOMIC_RELAXED);
	return plan;
}

void
nic_job_plan_release(struct nic_job_plan *plan)
{
	if (plan == NULL || __atomic_sub_fetch(&plan->users, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	job_graph_free(&plan->graph);
	matrix_free(&plan->sizes);
	free(plan->ips);
	free(plan->here);
	free(plan->pairs);
	free(plan);
}

int
nic_jobs_copy(const struct nic_config *from, struct nic_config *out)
{
	out->jobs = malloc((from->n_jobs + 1) * sizeof(*out->jobs));
	if (out->jobs == NULL)
		return -ENOMEM;
	for (out->n_jobs = 0; out->n_jobs < from->n_jobs; out->n_jobs++) {
		out->jobs[out->n_jobs] = from->jobs[out->n_jobs];
		nic_job_plan_hold(from->jobs[out->n_jobs].plan);
	}
	return 0;
}

void
nic_jobs_free(struct nic_config *config)
{
	for (uint32_t i = 0; i < config->n_jobs; i++)
		nic_job_plan_release(config->jobs[i].plan);
	free(config->jobs);
	config->jobs = NULL;
	config->n_jobs = 0;
}

/* ---- numbers and flows ---- */

/* QP numbers that a job takes. */
static uint64_t
numbers_of(const struct nic_job *job)
{
	return (uint64_t)job->plan->n_pairs * (2 * job->qps_per_pair + 2) +
	       2 * (uint64_t)job->plan->n_one_way;
}

uint32_t
nic_job_requesters(const struct nic_job *job, uint32_t pair)
{
	return job->plan->first_number + 2 * pair * job->qps_per_pair;
}

uint32_t
nic_job_responders(const struct nic_job *job, uint32_t pair)
{
	return nic_job_requesters(job, pair) + job->qps_per_pair;
}

uint32_t
nic_job_asked_sender(const struct nic_job *job, uint32_t pair)
{
	return nic_job_requesters(job, job->plan->n_pairs) + 2 * pair + 1;
}

uint32_t
nic_job_asked_receiver(const struct nic_job *job, uint32_t pair)
{
	return nic_job_asked_sender(job, job->plan->n_pairs + job->plan->pairs[pair].one_way);
}

/* An end of a flow of a job. */
struct end {
	uint32_t rank, peer; /* this end, and the other one */
	uint32_t local, remote;
	bool requester, alive;
};

static int
add_flow(const struct config *cfg, struct nic_config *config, uint32_t index, uint32_t pair,
	 const struct end *e, struct config_error *err)
{
	const struct nic_job *job = &config->jobs[index];
	const struct nic_job_plan *plan = job->plan;
	const struct job_sizes sizes = job_sizes_of(&plan->graph);
	const struct field_ip *ip = &plan->ips[e->rank];
	struct nic_flow *f = &config->flows[config->n_job_flows];
	char expected[96];

	memset(f, 0, sizeof(*f));
	field_defaults(nic_flow_fields, nic_flow_fields_n, f);
	if ((unsigned int)snprintf(f->name, sizeof(f->name), "%s %u-%u%s%s", job->name,
				   e->requester ? e->rank : e->peer,
				   e->requester ? e->peer : e->rank, e->alive ? " alive" : "",
				   e->requester ? "" : " in") >= sizeof(f->name)) {
		snprintf(expected, sizeof(expected),
			 "a shorter name: that of a flow, such as 'NAME %u-%u alive in', has at "
			 "most %u characters",
			 e->rank, e->peer, NIC_FLOW_NAME_CHARS);
		return refuse(cfg, job, NULL, expected, err);
	}
	f->job = (struct nic_flow_job){.number = index + 1,
				       .pair = pair,
				       .rank = e->rank,
				       .peer = e->peer,
				       .alive = e->alive};
	f->qp.peer_ip = plan->ips[e->peer];
	f->qp.next_hop = job->next_hop;
	if (!is_ip(ip, &config->nic.ip) && !is_ip(ip, &config->nic.ip6))
		f->qp.local_ip = *ip;
	f->qp.peer_qpn = config->nic.first_qpn + e->remote;
	f->qp.requester = e->requester;
	f->qp_count = e->alive ? 1 : job->qps_per_pair;
	f->local_qpn = config->nic.first_qpn + e->local;
	f->qp.mtu_bytes = job->mtu_bytes;
	f->dscp = job->dscp;
	f->qp.cc = job->cc;
	f->qp.has_dscp = job->dscp >= 0;
	f->qp.dscp = job->dscp >= 0 ? (uint8_t)job->dscp : 0;
	f->qp.messages = 0;
	f->qp.verb = NIC_WRITE_IMM;
	if (e->alive) {
		f->imm_data = plan->digest;
		f->qp.has_imm = true;
		f->qp.imm_data = plan->digest;
		f->qp.message_bytes = ALIVE_BYTES;
		f->qp.arrival = e->requester ? WORKLOAD_PERIODIC : WORKLOAD_CLOSED;
		f->qp.load_bps = e->requester ? ALIVE_BPS : 0;
	} else {
		f->qp.stopped = job->stopped && e->requester;
		f->qp.message_bytes = sizes.bytes;
		f->qp.message_size = WORKLOAD_POSTED;
		f->qp.arrival = e->requester ? WORKLOAD_OF_JOB : WORKLOAD_CLOSED;
		f->qp.depth = (uint32_t)min_u64(max_u64(sizes.sends, 1), 1u << 16);
	}
	config->n_job_flows++;
	return 0;
}

static int
add_pair(const struct config *cfg, struct nic_config *config, uint32_t index, uint32_t pair,
	 struct config_error *err)
{
	const struct nic_job *job = &config->jobs[index];
	const struct nic_job_plan *plan = job->plan;
	const struct nic_job_pair *p = &plan->pairs[pair];
	uint32_t req = nic_job_requesters(job, pair), rsp = nic_job_responders(job, pair);
	uint32_t of_sender = nic_job_asked_sender(job, pair);
	uint32_t of_receiver = nic_job_asked_receiver(job, pair);
	bool one_way = p->one_way != JOB_NONE;
	const struct end ends[] = {
		{.rank = p->from, .peer = p->to, .local = req, .remote = rsp, .requester = true},
		{.rank = p->to, .peer = p->from, .local = rsp, .remote = req},
		{.rank = p->to,
		 .peer = p->from,
		 .local = of_sender - 1,
		 .remote = of_sender,
		 .requester = true,
		 .alive = true},
		{.rank = p->from,
		 .peer = p->to,
		 .local = of_sender,
		 .remote = of_sender - 1,
		 .alive = true},
		{.rank = p->from,
		 .peer = p->to,
		 .local = of_receiver - 1,
		 .remote = of_receiver,
		 .requester = true,
		 .alive = true},
		{.rank = p->to,
		 .peer = p->from,
		 .local = of_receiver,
		 .remote = of_receiver - 1,
		 .alive = true},
	};
	bool both = plan->here[p->from] && plan->here[p->to];
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < ARRAY_LEN(ends) - (one_way ? 0 : 2); i++)
		if (plan->here[ends[i].rank] && !(both && ends[i].alive))
			rc = add_flow(cfg, config, index, pair, &ends[i], err);
	return rc;
}

/* Give each job its numbers. @return 0 or -EINVAL. */
static int
number(const struct config *cfg, struct nic_config *config, struct config_error *err)
{
	uint64_t n = 0, here = 0;
	char expected[96];

	for (uint32_t i = 0; i < config->n_jobs; i++) {
		config->jobs[i].plan->first_number = (uint32_t)n;
		n += numbers_of(&config->jobs[i]);
		here += config->jobs[i].plan->n_here;
		if (n <= config->nic.max_qps)
			continue;
		snprintf(expected, sizeof(expected),
			 "max_qps of [nic] of %llu or more, for the QPs of all ranks",
			 (unsigned long long)n);
		return refuse(cfg, &config->jobs[i], "ranks", expected, err);
	}
	if (config->n_jobs > 0 && here == 0)
		return refuse(cfg, &config->jobs[0], "ranks",
			      "the address of [nic] among them, or ranks_here: no rank of any job "
			      "would run here",
			      err);
	return 0;
}

/* At most six ends of a pair are here. */
static uint32_t
most_flows(const struct nic_config *config)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < config->n_jobs; i++)
		for (uint32_t k = 0; k < config->jobs[i].plan->n_pairs; k++) {
			const struct nic_job_plan *plan = config->jobs[i].plan;

			if (plan->here[plan->pairs[k].from] || plan->here[plan->pairs[k].to])
				n += 6;
		}
	return n;
}

int
nic_job_refuse_name(const struct config *cfg, const char *flow, struct config_error *err)
{
	char section[NIC_FLOW_NAME_CHARS + 8];

	snprintf(section, sizeof(section), "flow %s", flow);
	return config_refuse(
		cfg, section, NULL,
		"another name: a flow of a job has this one, and its keys are those of [job NAME]",
		err);
}

/* Names of sections may be those of a job's flows. */
static int
refuse_same(const struct config *cfg, const struct nic_config *config, struct config_error *err)
{
	struct names names = {0};
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < config->n_job_flows; i++)
		if (names_add(&names, config->flows[i].name) == NAMES_NONE)
			rc = -ENOMEM;
	for (unsigned int i = config->n_job_flows; rc == 0 && i < config->n_flows; i++)
		if (names_find(&names, config->flows[i].name) != NAMES_NONE)
			rc = nic_job_refuse_name(cfg, config->flows[i].name, err);
	names_free(&names);
	if (rc == -ENOMEM)
		no_memory(cfg, &config->jobs[0], err);
	return rc;
}

int
nic_jobs_add_flows(const struct config *cfg, struct nic_config *config, struct config_error *err)
{
	unsigned int others = config->n_flows - config->n_job_flows;
	unsigned int kept = others + config->n_patterns;
	struct nic_flow *before = config->flows, *old = before + config->n_job_flows, *all;
	int rc = number(cfg, config, err);

	if (rc != 0 || config->n_jobs == 0)
		return rc;
	all = malloc((most_flows(config) + kept + 1) * sizeof(*all));
	if (all == NULL)
		return no_memory(cfg, &config->jobs[0], err);
	config->flows = all;
	config->n_job_flows = 0;
	for (uint32_t i = 0; rc == 0 && i < config->n_jobs; i++)
		for (uint32_t k = 0; rc == 0 && k < config->jobs[i].plan->n_pairs; k++)
			rc = add_pair(cfg, config, i, k, err);
	memcpy(&all[config->n_job_flows], old, kept * sizeof(*all));
	free(before);
	config->n_flows = config->n_job_flows + others;
	if (rc == 0 && config->n_job_flows > CONFIG_MAX_SECTIONS)
		rc = refuse(cfg, &config->jobs[0], "ranks",
			    "fewer ranks here: the jobs have more than 4096 flows", err);
	return rc == 0 ? refuse_same(cfg, config, err) : rc;
}
