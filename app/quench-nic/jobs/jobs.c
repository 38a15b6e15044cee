/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/jobs/jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "nic/nic.h"
#include "runtime/notice/say.h"

/* The peers' requests for lost answers arrive within this many of their timeouts. */
#define LINGER_TIMEOUTS 2

/* ---- begin and end ---- */

/* Number of the first pair in which a rank sends. */
static uint32_t
first_pair(const struct nic_job_plan *plan, uint32_t rank)
{
	uint32_t pair = 0;

	while (pair < plan->n_pairs && plan->pairs[pair].from != rank)
		pair++;
	return pair;
}

/* The pair of two ranks, of which one sends to the other. */
static uint32_t
pair_of(const struct nic_job_plan *plan, uint32_t from, uint32_t to)
{
	uint32_t pair = first_pair(plan, from);

	while (plan->pairs[pair].to != to)
		pair++;
	return pair;
}

static int
make_posts(const struct job_here *here, struct job_rank_here *r, uint32_t first_qpn)
{
	const struct nic_job *job = &here->job;
	const struct job_rank *rank = &job->plan->graph.ranks[r->rank];
	uint32_t pair = first_pair(job->plan, r->rank), qps = job->qps_per_pair;

	r->posts = calloc(rank->n_peers + 1, sizeof(*r->posts));
	for (uint32_t i = 0; r->posts != NULL && i < rank->n_peers; i++) {
		struct job_posts *p = &r->posts[r->n_posts];
		uint32_t n = rte_align32pow2(rank->peers[i].n_sends);

		if (n == 0)
			continue;
		p->posts.qps = calloc(qps, sizeof(*p->posts.qps));
		p->ring = calloc((size_t)qps * n, sizeof(*p->ring));
		p->posts.first_qpn = first_qpn + nic_job_requesters(job, pair + r->n_posts++);
		if (p->posts.qps == NULL || p->ring == NULL)
			return -ENOMEM;
		for (uint32_t q = 0; q < qps; q++)
			p->posts.qps[q] = (struct workload_posted){.ring = &p->ring[(size_t)q * n],
								   .mask = n - 1};
	}
	return r->posts != NULL ? 0 : -ENOMEM;
}

static int
open_job(struct jobs *jobs, const struct nic_config *config, uint32_t index)
{
	const struct nic_job *job = &config->jobs[index];
	const struct nic_job_plan *plan = job->plan;
	struct job_here *here = &jobs->of[jobs->n];

	if (plan->n_here == 0)
		return 0;
	jobs->n++;
	*here = (struct job_here){
		.job = *job, .number = index + 1, .tells = JOB_NONE, .waits = job->stopped};
	nic_job_plan_hold(job->plan);
	here->ranks = calloc(plan->n_here, sizeof(*here->ranks));
	if (here->ranks == NULL)
		return -ENOMEM;
	for (uint32_t rank = 0; rank < plan->graph.n_ranks; rank++) {
		struct job_rank_here *r = &here->ranks[here->n_ranks];

		if (!plan->here[rank])
			continue;
		here->n_ranks++;
		r->rank = rank;
		if (make_posts(here, r, config->nic.first_qpn) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The messages of the requesters of a pair, which are here. */
static struct workload_posts *
posts_of(const struct jobs *jobs, const struct nic_flow_job *of)
{
	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct job_here *here = &jobs->of[i];
		uint32_t from;

		if (here->number != of->number)
			continue;
		from = here->job.plan->pairs[of->pair].from;
		for (uint32_t k = 0; k < here->n_ranks; k++)
			if (here->ranks[k].rank == from)
				return &here->ranks[k]
						.posts[of->pair - first_pair(here->job.plan, from)]
						.posts;
	}
	return NULL;
}

/* Are both ends of a flow here? */
static bool
is_inside(const struct nic_config *config, const struct nic_flow *flow)
{
	const struct nic_job_plan *plan = config->jobs[flow->job.number - 1].plan;
	const struct nic_job_pair *pair = &plan->pairs[flow->job.pair];

	return plan->here[pair->from] && plan->here[pair->to];
}

int
jobs_open(struct jobs *jobs, struct nic_nodes *nodes, struct flow_registry *registry,
	  struct nic_config *config)
{
	int rc = 0;

	jobs->nodes = nodes;
	jobs->registry = registry;
	jobs->link_bps = config->nic.link_speed_bps;
	jobs->linger_ns = LINGER_TIMEOUTS * (4096ull << config->nic.local_ack_timeout);
	if (config->n_jobs == 0)
		return 0;
	if (nodes->plan.n_lcores > 1) {
		say_error("[job %s]: expected one polling lcore, not %u", config->jobs[0].name,
			  nodes->plan.n_lcores);
		return APP_BAD_USAGE;
	}
	jobs->of = calloc(config->n_jobs, sizeof(*jobs->of));
	jobs->questions = calloc(config->n_job_flows + 1, sizeof(*jobs->questions));
	if (jobs->of == NULL || jobs->questions == NULL)
		rc = -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < config->n_jobs; i++)
		rc = open_job(jobs, config, i);
	if (rc != 0) {
		say_error("jobs: %s", strerror(ENOMEM));
		return APP_FAILED;
	}
	for (unsigned int i = 0; i < config->n_job_flows; i++) {
		struct nic_flow *flow = &config->flows[i];

		if (flow->qp.arrival == WORKLOAD_OF_JOB)
			flow->qp.posts = posts_of(jobs, &flow->job);
		/* Nobody else answers ARP for it. */
		if (is_inside(config, flow) && flow->qp.next_hop.version == 0)
			memcpy(flow->qp.peer_mac, config->nic.mac, sizeof(flow->qp.peer_mac));
	}
	return 0;
}

/*
 * Its peers in other programs say their digest when they ask whether it is alive. The rank begins
 * when all have said ours: a peer with another job gets no data.
 */
static int
hear_peers(const struct jobs *jobs, const struct job_here *here, const struct job_rank_here *r)
{
	const struct nic_job *job = &here->job;
	const struct job_rank *rank = &job->plan->graph.ranks[r->rank];
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < rank->n_peers; i++) {
		const struct job_peer *p = &rank->peers[i];
		uint32_t at;

		if (job->plan->here[p->rank])
			continue;
		if (p->n_sends > 0)
			at = nic_job_asked_sender(job, pair_of(job->plan, r->rank, p->rank));
		else
			at = nic_job_asked_receiver(job, pair_of(job->plan, p->rank, r->rank));
		rc = nic_job_hear(jobs->nodes->node[0], r->index, i, at, job->plan->digest);
	}
	return rc;
}

static int
begin_rank(const struct jobs *jobs, const struct job_here *here, struct job_rank_here *r)
{
	const struct nic_job *job = &here->job;
	const struct job_rank *rank = &job->plan->graph.ranks[r->rank];
	struct nic_job_qps *peers = malloc((rank->n_peers + 1) * sizeof(*peers));
	const struct nic_job_params params = {
		.rank = rank,
		.number = r->rank,
		.peers = peers,
		.qps = job->qps_per_pair,
		.iterations = job->iterations,
		.start_ns = job->start_ns,
		.waits = job->stopped,
		.jitter_ppm = job->compute_jitter_ppm,
		.slowdown_ppm = job_keys_slowdown_ppm(&job->keys, r->rank),
		.seed = here->number,
	};
	int64_t index = -ENOMEM;

	for (uint32_t i = 0; peers != NULL && i < rank->n_peers; i++) {
		const struct job_peer *p = &rank->peers[i];

		/* With one lcore, the index of a QP is its number. */
		peers[i] = (struct nic_job_qps){JOB_NONE, JOB_NONE, false};
		if (p->n_sends > 0)
			peers[i].requesters =
				nic_job_requesters(job, pair_of(job->plan, r->rank, p->rank));
		if (p->n_recvs > 0)
			peers[i].responders =
				nic_job_responders(job, pair_of(job->plan, p->rank, r->rank));
	}
	if (peers != NULL)
		index = nic_job_add(jobs->nodes->node[0], &params);
	free(peers);
	r->index = (uint32_t)index;
	return index < 0 ? -ENOMEM : hear_peers(jobs, here, r);
}

int
jobs_begin(struct jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->n; i++)
		for (uint32_t k = 0; k < jobs->of[i].n_ranks; k++)
			if (begin_rank(jobs, &jobs->of[i], &jobs->of[i].ranks[k]) < 0) {
				say_error("jobs: %s", strerror(ENOMEM));
				return APP_FAILED;
			}
	return 0;
}

void
jobs_close(struct jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->n; i++) {
		struct job_here *here = &jobs->of[i];

		for (uint32_t k = 0; k < here->n_ranks; k++) {
			struct job_rank_here *r = &here->ranks[k];

			for (uint32_t p = 0; p < r->n_posts; p++) {
				free(r->posts[p].posts.qps);
				free(r->posts[p].ring);
			}
			free(r->posts);
		}
		free(here->ranks);
		nic_job_plan_release(here->job.plan);
	}
	free(jobs->of);
	free(jobs->questions);
	*jobs = (struct jobs){0};
}

void
jobs_say(const struct jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct job_here *here = &jobs->of[i];

		say("job %s: %u of %u ranks run here, the first is %u", here->job.name,
		    here->n_ranks, here->job.plan->graph.n_ranks, here->ranks[0].rank);
	}
}

/* ---- watch ---- */

static bool
has_ended(const struct jobs *jobs, const struct job_here *here)
{
	bool ended = true;

	for (uint32_t k = 0; ended && k < here->n_ranks; k++) {
		struct nic_job_info info;

		nic_job_info(jobs->nodes->node[0], here->ranks[k].index, 0, &info);
		ended = info.ended == here->job.iterations;
	}
	return ended;
}

static void
fail(struct job_here *here, const char *why)
{
	snprintf(here->why, sizeof(here->why), "%s", why);
	__atomic_store_n(&here->has_failed, true, __ATOMIC_RELEASE);
	say_error("job %s: %s", here->job.name, here->why);
}

/* Has a rank here not begun, because this peer has not said its digest? */
static bool
waits_for_digest(const struct jobs *jobs, const struct job_rank_here *r, const struct job_rank *ops,
		 uint32_t peer)
{
	const struct node *node = jobs->nodes->node[0];
	uint32_t at = job_peer_of(ops, peer), theirs;

	return nic_job_waits_for(node, r->index) != JOB_NONE &&
	       !nic_job_heard(node, r->index, at, &theirs);
}

static uint32_t
failed_qps(const struct jobs *jobs, const struct nic_flow *flow)
{
	return flow_registry_life_info(jobs->registry, flow->id).qps_failed;
}

/* The QPs of a flow of the job gave up while it ran: does the rank here need them? */
static void
judge(struct jobs *jobs, struct job_here *here, const struct job_rank_here *r,
      const struct nic_flow *flow)
{
	uint32_t rank = flow->job.rank, peer = flow->job.peer;
	const struct job_rank *ops = &here->job.plan->graph.ranks[rank];
	uint32_t op = nic_job_waits(jobs->nodes->node[0], r->index);
	char text[64], why[JOB_WHY_CHARS];

	if (op == JOB_NONE)
		return;
	if (!flow->job.alive)
		snprintf(why, sizeof(why), "rank %u: its QP to rank %u gave up (%s)", rank, peer,
			 job_op_text(ops, op, text));
	else if (ops->ops[op].kind == JOB_RECV && ops->peers[ops->ops[op].peer].rank == peer)
		snprintf(why, sizeof(why),
			 "rank %u waits for rank %u's message (%s), and rank %u does not answer",
			 rank, peer, job_op_text(ops, op, text), peer);
	else
		return;
	fail(here, why);
}

/* A started rank has not begun, because this peer does not answer. */
static void
wait_for_start(struct job_here *here, const struct nic_flow *flow, bool is_lost)
{
	char why[JOB_WHY_CHARS];

	snprintf(why, sizeof(why),
		 "rank %u waits for rank %u's digest of the job, and rank %u does not answer",
		 flow->job.rank, flow->job.peer, flow->job.peer);
	if (is_lost)
		fail(here, why);
	else if (!here->said_late)
		say("job %s: the start waits: %s yet", here->job.name, why);
	here->said_late = true;
}

/* Ranks here are in their order, and this one is among them. */
static const struct job_rank_here *
rank_of(const struct job_here *here, uint32_t rank)
{
	uint32_t first = 0, n = here->n_ranks;

	while (n > 1) {
		bool is_in_rest = here->ranks[first + n / 2].rank <= rank;

		first += is_in_rest ? n / 2 : 0;
		n = is_in_rest ? n - n / 2 : n / 2;
	}
	return &here->ranks[first];
}

static bool
has_begun(const struct jobs *jobs, const struct job_rank_here *r)
{
	struct nic_job_info info;

	nic_job_info(jobs->nodes->node[0], r->index, 0, &info);
	return info.begun > 0;
}

/* One look at all that ranks here need. */
struct look {
	struct jobs *jobs;
	const struct nic_config *config;
	bool any_failed; /* QP of the NIC */
	/* flow that is to be asked again, and what was seen of it; JOB_NONE: none */
	uint32_t due;
	struct job_question_seen due_seen;
};

/* The first of those that are due, from jobs->next_asked on. */
static bool
is_next(const struct look *look, uint32_t f)
{
	return look->due == JOB_NONE || job_question_is_before(f, look->due, look->jobs->next_asked,
							       look->config->n_job_flows);
}

static void
look_at_question(struct look *look, struct job_here *here, const struct job_rank_here *r,
		 uint32_t f)
{
	struct jobs *jobs = look->jobs;
	const struct nic_flow *flow = &look->config->flows[f];
	const struct job_rank *ops = &here->job.plan->graph.ranks[r->rank];
	const struct nic_flow_info info = flow_registry_life_info(jobs->registry, flow->id);
	struct job_question *q = &jobs->questions[f];
	bool begun = has_begun(jobs, r);
	const struct job_question_seen seen = {
		.answers = info.sum.tx_messages,
		.gave_up = info.qps_failed > 0,
		.begun = begun,
		.waits = !look->config->jobs[here->number - 1].stopped &&
			 (begun || waits_for_digest(jobs, r, ops, flow->job.peer)),
	};
	bool is_lost = job_question_is_lost(q, &seen, jobs->now_ns);

	here->runs = here->runs && q->in_run;
	if (is_lost && begun)
		judge(jobs, here, r, flow);
	else if (seen.gave_up && seen.waits && !begun)
		wait_for_start(here, flow, is_lost);
	if (job_question_is_due(q, &seen, jobs->now_ns) && is_next(look, f)) {
		look->due = f;
		look->due_seen = seen;
	}
}

static void
look_at_flow(struct look *look, struct job_here *here, uint32_t f)
{
	struct jobs *jobs = look->jobs;
	const struct nic_flow *flow = &look->config->flows[f];
	const struct job_rank_here *r;

	if (flow->job.number != here->number || !flow->qp.requester)
		return;
	r = rank_of(here, flow->job.rank);
	if (flow->job.alive)
		look_at_question(look, here, r, f);
	else if (look->any_failed && !look->config->jobs[here->number - 1].stopped &&
		 failed_qps(jobs, flow) > 0)
		judge(jobs, here, r, flow);
}

/* What its peers answered before the reset says nothing. */
static void
reset_questions(const struct look *look, const struct job_here *here)
{
	for (uint32_t f = 0; f < look->config->n_job_flows; f++) {
		const struct nic_flow *flow = &look->config->flows[f];

		if (flow->job.number == here->number && flow->job.alive && flow->qp.requester)
			job_question_reset(&look->jobs->questions[f],
					   flow_registry_life_info(look->jobs->registry, flow->id)
						   .sum.tx_messages);
	}
}

static void
ask_again(struct look *look)
{
	struct jobs *jobs = look->jobs;
	struct node *node = jobs->nodes->node[0];

	if (look->due == JOB_NONE || !nic_job_ask_is_done(node))
		return;
	/* With one lcore, the index of a QP is its number. */
	nic_job_ask(node, look->config->flows[look->due].first_number);
	job_question_asked(&jobs->questions[look->due], &look->due_seen, jobs->now_ns);
	jobs->next_asked = (look->due + 1) % look->config->n_job_flows;
}

static void
look_for_failures(struct jobs *jobs, const struct nic_config *config)
{
	struct look look = {
		.jobs = jobs,
		.config = config,
		.any_failed = jobs->n > 0 && nic_failed(jobs->nodes->node[0]) > 0,
		.due = JOB_NONE,
	};

	for (uint32_t i = 0; i < jobs->n; i++) {
		struct job_here *here = &jobs->of[i];

		if (__atomic_load_n(&here->waits, __ATOMIC_ACQUIRE))
			here->runs = here->said_late = false;
		if (__atomic_exchange_n(&here->was_reset, false, __ATOMIC_ACQUIRE))
			reset_questions(&look, here);
		if (here->runs && !look.any_failed)
			continue;
		here->runs = true;
		for (uint32_t f = 0; f < config->n_job_flows && !job_has_failed(here); f++)
			look_at_flow(&look, here, f);
	}
	ask_again(&look);
}

/* The flow by which a rank here asks a peer of another program. */
static uint32_t
asks(const struct job_here *here, uint32_t rank, uint32_t peer, const struct nic_config *config)
{
	unsigned int f = 0;

	while (f < config->n_job_flows) {
		const struct nic_flow *flow = &config->flows[f];

		if (flow->job.number == here->number && flow->job.alive && flow->qp.requester &&
		    flow->job.rank == rank && flow->job.peer == peer)
			return flow->id;
		f++;
	}
	return JOB_NONE;
}

/* Does a peer of rank k here say another digest than that of the job here? */
static void
compare_peers(struct jobs *jobs, struct job_here *here, uint32_t k, const struct nic_config *config)
{
	const struct nic_job_plan *plan = here->job.plan;
	const struct job_rank *rank = &plan->graph.ranks[here->ranks[k].rank];
	char address[FIELD_IP_CHARS], why[JOB_WHY_CHARS];
	uint32_t theirs;

	for (uint32_t i = 0; i < rank->n_peers; i++) {
		uint32_t peer = rank->peers[i].rank;

		if (!nic_job_heard(jobs->nodes->node[0], here->ranks[k].index, i, &theirs) ||
		    theirs == plan->digest)
			continue;
		here->tells = asks(here, here->ranks[k].rank, peer, config);
		field_ip_text(&plan->ips[peer], address);
		snprintf(why, sizeof(why),
			 "rank %u (%s) has another job: its digest is %08x, and that of rank %u is "
			 "%08x; expected equal keys in the section [job %s] of all programs",
			 peer, address, theirs, here->ranks[k].rank, plan->digest, here->job.name);
		fail(here, why);
		return;
	}
}

static void
compare(struct jobs *jobs, const struct nic_config *config)
{
	for (uint32_t i = 0; i < jobs->n; i++)
		for (uint32_t k = 0; k < jobs->of[i].n_ranks && !job_has_failed(&jobs->of[i]); k++)
			compare_peers(jobs, &jobs->of[i], k, config);
}

/* Does the rank that has another job know our digest, or is it gone? */
static bool
has_told(const struct jobs *jobs, const struct job_here *here)
{
	struct nic_flow_info info;

	if (!job_has_failed(here) || here->tells == JOB_NONE)
		return true;
	info = flow_registry_life_info(jobs->registry, here->tells);
	return info.sum.tx_messages > 0 || info.qps_failed > 0;
}

/*
 * The clock of the first iteration begins with the start of the job, not with that of the program,
 * or a reset.
 */
static void
begin_if_started(const struct jobs *jobs, struct job_here *here, const struct nic_config *config)
{
	struct node *node = jobs->nodes->node[0];

	if (!__atomic_load_n(&here->waits, __ATOMIC_ACQUIRE) ||
	    config->jobs[here->number - 1].stopped || !nic_job_begin_is_done(node))
		return;
	/* Its ranks were put on the node one after another. */
	nic_job_begin(node, here->ranks[0].index, here->n_ranks);
	__atomic_store_n(&here->waits, false, __ATOMIC_RELEASE);
}

void
jobs_watch(struct jobs *jobs, const struct nic_config *config, uint64_t now_ns)
{
	bool all = jobs->n > 0, told = true;

	__atomic_store_n(&jobs->now_ns, now_ns, __ATOMIC_RELAXED);
	look_for_failures(jobs, config);
	compare(jobs, config);
	for (uint32_t i = 0; i < jobs->n; i++) {
		struct job_here *here = &jobs->of[i];
		bool ended = has_ended(jobs, here);

		begin_if_started(jobs, here, config);
		told = told && has_told(jobs, here);
		all = all && ended;
		if (ended && here->said != here->job.iterations && !job_has_failed(here))
			say("job %s: all iterations have ended", here->job.name);
		here->said = ended ? here->job.iterations : 0;
	}
	if (!all)
		jobs->ended_ns = 0;
	else if (jobs->ended_ns == 0)
		jobs->ended_ns = max_u64(now_ns, 1);
	jobs->told = told;
	jobs->done = all && now_ns >= jobs->ended_ns + jobs->linger_ns;
}

bool
jobs_have_failed(const struct jobs *jobs)
{
	bool failed = false;

	for (uint32_t i = 0; i < jobs->n; i++)
		failed = failed || job_has_failed(&jobs->of[i]);
	return failed;
}

bool
jobs_are_done(const struct jobs *jobs)
{
	return jobs->n == 0 || (jobs_have_failed(jobs) && jobs->told) || jobs->done;
}

uint32_t
jobs_unneeded_qps(const struct jobs *jobs, const struct nic_config *config)
{
	uint32_t n = 0;

	for (unsigned int f = 0; f < config->n_job_flows; f++)
		if (config->flows[f].job.alive && config->flows[f].qp.requester)
			n += failed_qps(jobs, &config->flows[f]);
	return n;
}

/* ---- reset ---- */

static struct job_here *
find(const struct jobs *jobs, uint32_t number)
{
	for (uint32_t i = 0; i < jobs->n; i++)
		if (jobs->of[i].number == number)
			return &jobs->of[i];
	return NULL;
}

uint32_t
jobs_ranks(const struct jobs *jobs, uint32_t number)
{
	const struct job_here *here = find(jobs, number);

	return here == NULL ? 0 : here->n_ranks;
}

void
jobs_restart_rank(struct jobs *jobs, uint32_t number, uint32_t k)
{
	nic_job_restart(jobs->nodes->node[0], find(jobs, number)->ranks[k].index);
}

void
jobs_restarted(struct jobs *jobs, uint32_t number)
{
	struct job_here *here = find(jobs, number);

	if (here == NULL)
		return;
	__atomic_store_n(&here->has_failed, false, __ATOMIC_RELEASE);
	__atomic_store_n(&here->was_reset, true, __ATOMIC_RELEASE);
	__atomic_store_n(&here->waits, true, __ATOMIC_RELEASE);
}
