/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/jobs/job_ranks.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/numbers/prng.h"
#include "base/threads/pages.h"
#include "job/job_check.h"
#include "job/job_progress.h"
#include "nic/core/core.h"
#include "nic/core/skipped.h"
#include "nic/measure/measure.h"
#include "nic/place/place.h"
#include "nic/port/nic_pause.h"

struct rank_peer {
	struct nic_job_qps qps;
	uint64_t *acked, *arrived;       /* by QP: messages acknowledged, messages arrived */
	uint64_t *before;                /* by QP: messages of before the last restart */
	uint64_t all_acked, all_arrived; /* on all QPs */
	struct workload_posted *posted;  /* by QP, to the peer; NULL: none */
	uint32_t key;                    /* of the last message that arrived */
	uint32_t ear;                    /* responder of nic_job_hear(); JOB_NONE: there is none */
	uint64_t heard;                  /* HEARD and a digest; 0: none */
	uint64_t expected;               /* of heard, to begin; 0: nothing */
};

#define HEARD (1ull << 32)

struct rank {
	struct nic *nic;
	struct nic_job_params params;
	struct job_progress progress;
	struct rank_peer *peers;
	uint64_t *counts;  /* memory of acked and arrived */
	uint64_t *ends_ns; /* by stream: end of what it computes; NEVER_NS */
	struct nic_job_span *spans;
	struct nic_job_op *ops; /* by iteration and operation; NULL: they are not recorded */
	uint32_t n_begun;       /* operations in this iteration, if they are recorded */
	struct nic_job_info info;
	struct nic_job_counts before; /* at the begin of the iteration */
	uint64_t next_ns;             /* the earliest of ends_ns, or the start */
	uint64_t now_ns;              /* of the event being handled */
	uint64_t since_ns;            /* up to which time_ns counts */
	bool is_due;                  /* its start has come, and it waits for peers */
};

/* The rank and the peer of a QP. */
struct lane {
	struct rank *rank; /* NULL: the QP is of no job */
	uint32_t peer;
};

struct nic_jobs {
	struct rank **ranks;
	struct lane *lanes; /* by item */
	uint32_t n;
};

static struct workload_posts *
posts_of(const struct nic *nic, uint32_t item)
{
	return nic_flow_of(nic, &nic->qps[item])->params.posts;
}

static void
set_next(struct rank *r)
{
	struct nic_jobs *jobs = r->nic->jobs;

	r->next_ns = NEVER_NS;
	for (uint32_t i = 0; i < r->progress.n_streams; i++)
		r->next_ns = min_u64(r->next_ns, r->ends_ns[i]);
	r->nic->job_next_ns = NEVER_NS;
	for (uint32_t i = 0; i < jobs->n; i++)
		r->nic->job_next_ns = min_u64(r->nic->job_next_ns, jobs->ranks[i]->next_ns);
	node_wake(&r->nic->node, 0);
}

/* Bytes of a message that QP i of n carries. */
static uint32_t
part_bytes(uint64_t bytes, uint32_t i, uint32_t n)
{
	return n == 1 ? (uint32_t)bytes : (uint32_t)(bytes * (i + 1) / n - bytes * i / n);
}

static void
begin_send(void *arg, uint32_t op)
{
	struct rank *r = arg;
	const struct job_op *o = &r->params.rank->ops[op];
	const struct rank_peer *peer = &r->peers[o->peer];

	r->info.sent += !r->params.rank->rendezvous || !job_op_is_ready(r->params.rank, op);
	if (peer->qps.inside) {
		const struct nic_job_message m = {.from = r->params.number,
						  .to = r->params.rank->peers[o->peer].rank,
						  .op = op,
						  .tag = o->tag,
						  .bytes = o->amount};

		r->params.send_inside(r->params.arg, &m, r->now_ns);
		return;
	}
	for (uint32_t i = 0; i < r->params.qps; i++) {
		uint32_t item = peer->qps.requesters + i;
		struct nic_qp *qp = &r->nic->qps[item];
		const struct qp_flow *flow = nic_flow_of(r->nic, qp);
		struct workload_posted *p = &peer->posted[i];
		uint32_t bytes = part_bytes(o->amount, i, r->params.qps);

		p->ring[p->posted & p->mask] =
			(struct workload_post){.bytes = bytes, .op = op, .tag = o->tag};
		/*
		 * If nothing is in flight, acked_end is the end of this message, whose size is
		 * known now.
		 */
		if (qp->acked_msg == p->posted)
			qp->acked_end = qp->acked_seq + qp_message_packets(bytes, flow->mtu_bytes);
		p->posted++;
		if (qp->place == QP_BLOCKED)
			nic_settle(r->nic, item, r->now_ns);
	}
}

/* What a computation of ns takes: slowed down, and up to jitter_ppm longer or shorter. */
static uint64_t
calc_ns(const struct rank *r, uint32_t op, uint64_t ns)
{
	struct prng rnd;
	uint64_t most;

	if (r->params.slowdown_ppm > 0)
		ns = mul_div(ns, r->params.slowdown_ppm, 1000000);
	most = mul_div(ns, r->params.jitter_ppm, 1000000);

	if (most == 0)
		return ns;
	prng_seed(&rnd, r->params.seed ^ (uint64_t)r->params.number << 32,
		  (uint64_t)r->info.begun << 32 | op);
	return max_u64(ns - most + prng_below(&rnd, 2 * most + 1), 1);
}

/* The time to record. */
static uint64_t
recorded_ns(const struct rank *r)
{
	return r->now_ns + r->nic->skipped_ns;
}

/* The record of an operation in the present iteration. */
static struct nic_job_op *
record_of(const struct rank *r, uint32_t op)
{
	return &r->ops[(size_t)(r->info.begun - 1) * r->params.rank->n_ops + op];
}

static void
record_began(void *arg, uint32_t op)
{
	struct rank *r = arg;

	*record_of(r, op) = (struct nic_job_op){
		.begin_ns = recorded_ns(r), .run_ns = recorded_ns(r), .order = r->n_begun++};
}

static void
record_ended(void *arg, uint32_t op)
{
	const struct rank *r = arg;

	record_of(r, op)->end_ns = recorded_ns(r);
}

static void
begin_calc(void *arg, uint32_t op, uint64_t ns)
{
	struct rank *r = arg;

	if (r->ops != NULL)
		record_of(r, op)->run_ns = recorded_ns(r);
	r->ends_ns[r->params.rank->ops[op].stream] = r->now_ns + calc_ns(r, op, ns);
	set_next(r);
}

static const struct job_actions actions = {.send = begin_send, .calc = begin_calc};
static const struct job_actions recorded_actions = {
	.send = begin_send, .calc = begin_calc, .began = record_began, .ended = record_ended};

/* What the rank has done since the last event. */
static enum nic_job_time
doing(const struct rank *r)
{
	const struct job_progress *p = &r->progress;

	return p->computing > 0 ? NIC_JOB_COMPUTES : p->sending > 0 ? NIC_JOB_SENDS : NIC_JOB_WAITS;
}

/* How long the rank has done it in an iteration. */
static uint64_t
done_ns(const struct rank *r, uint64_t now_ns)
{
	return r->info.begun > r->info.ended ? sub_sat(now_ns, r->since_ns) : 0;
}

static void
account(struct rank *r, uint64_t now_ns)
{
	uint64_t ns = done_ns(r, now_ns);

	if (ns > 0) {
		enum nic_job_time did = doing(r);

		r->info.time_ns[did] += ns;
		r->spans[r->info.ended].time_ns[did] += ns;
	}
	r->since_ns = max_u64(r->since_ns, now_ns);
	r->now_ns = now_ns;
}

static void
add_counts(const struct rank *r, uint32_t first, struct nic_job_counts *sum)
{
	for (uint32_t i = 0; first != JOB_NONE && i < r->params.qps; i++) {
		const struct nic *nic = r->nic;

		sum->cnps += nic->tallies[first + i].cnps_handled;
		sum->retransmitted_packets += nic->qps[first + i].retransmitted_packets;
		if (nic->measure->times == NULL)
			continue;
		sum->ce_packets += nic->measure->answers[first + i].ce_packets;
		sum->out_of_sequence += nic->measure->answers[first + i].out_of_sequence;
	}
}

/* Since the start of the NIC. */
static struct nic_job_counts
counts_of(const struct rank *r)
{
	const struct pfc_rx *pfc = &r->nic->pause->pfc_rx;
	struct nic_job_counts sum = {0};

	for (uint32_t i = 0; i < r->params.rank->n_peers; i++) {
		add_counts(r, r->peers[i].qps.requesters, &sum);
		add_counts(r, r->peers[i].qps.responders, &sum);
	}
	for (uint8_t prio = 0; prio < TM_CLASSES; prio++)
		sum.paused_ns = max_u64(sum.paused_ns, pfc_rx_duration_ns(pfc, prio, r->now_ns));
	return sum;
}

static void
end_iteration(struct rank *r)
{
	struct nic_job_span *span = &r->spans[r->info.ended];
	const struct nic_job_counts *from = &r->before, to = counts_of(r);

	span->end_ns = recorded_ns(r);
	span->counts = (struct nic_job_counts){
		.cnps = to.cnps - from->cnps,
		.ce_packets = to.ce_packets - from->ce_packets,
		.retransmitted_packets = to.retransmitted_packets - from->retransmitted_packets,
		.out_of_sequence = to.out_of_sequence - from->out_of_sequence,
		.paused_ns = to.paused_ns - from->paused_ns,
	};
	r->before = to;
	/* Other threads read the spans of as many iterations as have ended. */
	__atomic_store_n(&r->info.ended, r->info.ended + 1, __ATOMIC_RELEASE);
}

/* After an event: end the iteration and begin the next one, as often as one ends at once. */
static void
go_on(struct rank *r)
{
	while (job_progress_done(&r->progress)) {
		if (r->info.begun > r->info.ended)
			end_iteration(r);
		if (r->info.begun == r->params.iterations)
			return;
		r->spans[r->info.begun] =
			(struct nic_job_span){.begin_ns = recorded_ns(r), .end_ns = NEVER_NS};
		r->n_begun = 0;
		__atomic_store_n(&r->info.begun, r->info.begun + 1, __ATOMIC_RELEASE);
		job_progress_begin(&r->progress);
	}
}

static inline uint64_t
least(const uint64_t *counts, uint32_t n)
{
	uint64_t least = counts[0];

	for (uint32_t i = 1; unlikely(i < n); i++)
		least = min_u64(least, counts[i]);
	return least;
}

void
nic_job_acked(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	const struct lane *lane = &nic->jobs->lanes[item];
	struct rank *r = lane->rank;
	struct rank_peer *peer;
	const struct workload_posted *posted;
	uint32_t qp;

	if (r == NULL)
		return;
	peer = &r->peers[lane->peer];
	qp = item - peer->qps.requesters;
	peer->acked[qp] = nic->qps[item].acked_msg - peer->before[qp];
	if (peer->acked[qp] == peer->all_acked)
		return;
	account(r, now_ns);
	posted = peer->posted;
	for (uint64_t all = least(peer->acked, r->params.qps); peer->all_acked < all;)
		job_progress_ended(
			&r->progress,
			posted->ring[(peer->before[0] + peer->all_acked++) & posted->mask].op);
	go_on(r);
}

static void
take(struct rank *r, uint32_t peer, uint32_t tag, uint64_t now_ns)
{
	uint32_t key = r->peers[peer].key;

	if (!job_key_is(r->params.rank, key, peer, tag))
		key = job_key_of(r->params.rank, peer, tag);
	if (key == JOB_NONE) {
		r->info.unknown++;
		return;
	}
	r->peers[peer].key = key;
	account(r, now_ns);
	r->info.received += !(r->params.rank->rendezvous && tag & JOB_READY_TAG);
	job_progress_arrived(&r->progress, key);
	/* Before the start, messages of ranks that have started wait. */
	if (r->info.begun > 0)
		go_on(r);
}

/* The first peer that has not said the digest of the job. */
static uint32_t
unheard(const struct rank *r)
{
	for (uint32_t i = 0; i < r->params.rank->n_peers; i++)
		if (r->peers[i].expected != 0 &&
		    __atomic_load_n(&r->peers[i].heard, __ATOMIC_RELAXED) != r->peers[i].expected)
			return i;
	return JOB_NONE;
}

/* A peer with another job must not get data, so a rank that is due waits for its peers' digests. */
static void
begin_if_heard(struct rank *r)
{
	if (!r->is_due || unheard(r) != JOB_NONE)
		return;
	__atomic_store_n(&r->is_due, false, __ATOMIC_RELAXED);
	r->before = counts_of(r);
	go_on(r);
}

static void
hear(struct rank *r, struct rank_peer *peer, uint32_t imm, uint64_t now_ns)
{
	__atomic_store_n(&peer->heard, HEARD | imm, __ATOMIC_RELAXED);
	if (!r->is_due)
		return;
	account(r, now_ns);
	begin_if_heard(r);
}

void
nic_job_arrived(struct nic *nic, uint32_t item, uint32_t imm, uint64_t now_ns)
{
	const struct lane *lane = &nic->jobs->lanes[item];
	struct rank *r = lane->rank;
	struct rank_peer *peer;

	if (r == NULL)
		return;
	peer = &r->peers[lane->peer];
	if (unlikely(item == peer->ear)) {
		hear(r, peer, imm, now_ns);
		return;
	}
	peer->arrived[item - peer->qps.responders]++;
	if (peer->all_arrived == least(peer->arrived, r->params.qps))
		return;
	peer->all_arrived++;
	take(r, lane->peer, imm, now_ns);
}

void
nic_job_arrived_inside(struct node *node, uint32_t index, uint32_t from, uint32_t tag,
		       uint64_t now_ns)
{
	struct nic *nic = nic_of(node);
	struct rank *r = nic->jobs->ranks[index];

	take(r, job_peer_of(r->params.rank, from), tag, now_ns);
	nic_flush(nic);
}

void
nic_job_sent_inside(struct node *node, uint32_t index, uint32_t op, uint64_t now_ns)
{
	struct nic *nic = nic_of(node);
	struct rank *r = nic->jobs->ranks[index];

	account(r, now_ns);
	job_progress_ended(&r->progress, op);
	go_on(r);
	nic_flush(nic);
}

/* What is due at r->next_ns: the start, or ends of computations. */
static void
run(struct rank *r)
{
	uint64_t due_ns = r->next_ns;

	account(r, due_ns);
	if (r->info.begun == 0) {
		r->next_ns = NEVER_NS;
		__atomic_store_n(&r->is_due, true, __ATOMIC_RELAXED);
		begin_if_heard(r);
	}
	for (uint32_t i = 0; i < r->progress.n_streams; i++) {
		if (r->ends_ns[i] > due_ns)
			continue;
		r->ends_ns[i] = NEVER_NS;
		job_progress_ended(&r->progress, r->progress.streams[i].running);
	}
	if (r->info.begun > 0)
		go_on(r);
	set_next(r);
}

void
nic_job_skip(struct nic *nic, uint64_t ns, uint64_t now_ns)
{
	for (uint32_t i = 0; i < nic->jobs->n; i++) {
		struct rank *r = nic->jobs->ranks[i];

		account(r, now_ns);
		if (r->info.begun > r->info.ended) {
			r->info.time_ns[doing(r)] += ns;
			r->spans[r->info.ended].time_ns[doing(r)] += ns;
		}
	}
}

void
nic_job_run(struct nic *nic, uint64_t now_ns)
{
	for (uint32_t i = 0; i < nic->jobs->n; i++)
		while (nic->jobs->ranks[i]->next_ns <= now_ns)
			run(nic->jobs->ranks[i]);
	nic_flush(nic);
}

void
nic_jobs_run(struct node *node, uint64_t now_ns)
{
	if (nic_of(node)->job_next_ns <= now_ns)
		nic_job_run(nic_of(node), now_ns);
}

uint64_t
nic_jobs_next_ns(const struct node *node)
{
	return nic_of_const(node)->job_next_ns;
}

static void
rank_free(struct rank *r)
{
	if (r == NULL)
		return;
	job_progress_free(&r->progress);
	free(r->peers);
	free(r->counts);
	free(r->ends_ns);
	free(r->spans);
	free(r->ops);
	free(r);
}

static struct rank *
rank_create(struct nic *nic, const struct nic_job_params *params)
{
	uint32_t n = params->rank->n_peers;
	struct rank *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->nic = nic;
	r->params = *params;
	r->next_ns = params->waits ? NEVER_NS : params->start_ns;
	r->since_ns = params->start_ns;
	r->peers = calloc(n + 1, sizeof(*r->peers));
	r->counts = calloc(3 * (size_t)n * params->qps + 1, sizeof(*r->counts));
	r->spans = malloc(params->iterations * sizeof(*r->spans));
	if (job_progress_init(&r->progress, params->rank, &actions, r) == 0)
		r->ends_ns = malloc(r->progress.n_streams * sizeof(*r->ends_ns));
	if (r->peers == NULL || r->counts == NULL || r->spans == NULL || r->ends_ns == NULL) {
		rank_free(r);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		r->peers[i] = (struct rank_peer){
			.qps = params->peers[i],
			.acked = &r->counts[3 * (size_t)i * params->qps],
			.arrived = &r->counts[(3 * (size_t)i + 1) * params->qps],
			.before = &r->counts[(3 * (size_t)i + 2) * params->qps],
			.ear = JOB_NONE,
		};
	for (uint32_t i = 0; i < r->progress.n_streams; i++)
		r->ends_ns[i] = NEVER_NS;
	r->params.peers = NULL;
	return r;
}

/* Room for one more rank. @return 0 or -ENOMEM. */
static int
grow(struct nic *nic)
{
	struct rank **moved;

	if (nic->jobs == NULL) {
		nic->jobs = calloc(1, sizeof(*nic->jobs));
		if (nic->jobs == NULL)
			return -ENOMEM;
	}
	if (nic->jobs->lanes == NULL)
		nic->jobs->lanes = pages_alloc(nic->params.max_qps * sizeof(*nic->jobs->lanes));
	moved = realloc(nic->jobs->ranks, (nic->jobs->n + 1) * sizeof(struct rank *));
	if (moved != NULL)
		nic->jobs->ranks = moved;
	return moved != NULL && nic->jobs->lanes != NULL ? 0 : -ENOMEM;
}

static void
claim(struct nic *nic, struct rank *r, uint32_t peer, uint32_t first)
{
	for (uint32_t i = 0; first != JOB_NONE && i < r->params.qps; i++) {
		assert(nic->jobs->lanes[first + i].rank == NULL);
		nic->jobs->lanes[first + i] = (struct lane){r, peer};
	}
}

int64_t
nic_job_add(struct node *node, const struct nic_job_params *params)
{
	struct nic *nic = nic_of(node);
	struct rank *r;

	assert(params->iterations > 0 && params->qps > 0);
	r = grow(nic) < 0 ? NULL : rank_create(nic, params);
	if (r == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < params->rank->n_peers; i++) {
		claim(nic, r, i, params->peers[i].requesters);
		claim(nic, r, i, params->peers[i].responders);
	}
	for (uint32_t i = 0; i < params->rank->n_peers; i++)
		if (params->peers[i].requesters != JOB_NONE)
			r->peers[i].posted = posts_of(nic, params->peers[i].requesters)->qps;
	nic->jobs->ranks[nic->jobs->n++] = r;
	nic->job_next_ns = min_u64(nic->job_next_ns, r->next_ns);
	node_wake(&nic->node, 0);
	return nic->jobs->n - 1;
}

int
nic_job_hear(struct node *node, uint32_t index, uint32_t peer, uint32_t item, uint32_t digest)
{
	const struct nic_jobs *jobs = nic_of(node)->jobs;

	assert(jobs->lanes[item].rank == NULL);
	jobs->lanes[item] = (struct lane){jobs->ranks[index], peer};
	jobs->ranks[index]->peers[peer].ear = item;
	jobs->ranks[index]->peers[peer].expected = HEARD | digest;
	return nic_skipped_reserve(nic_of(node));
}

bool
nic_job_hears(const struct nic *nic, uint32_t item)
{
	const struct lane *lane = &nic->jobs->lanes[item];

	return lane->rank != NULL && lane->rank->peers[lane->peer].ear == item;
}

bool
nic_job_heard(const struct node *node, uint32_t index, uint32_t peer, uint32_t *digest)
{
	const struct rank_peer *p = &nic_of_const(node)->jobs->ranks[index]->peers[peer];
	uint64_t heard = __atomic_load_n(&p->heard, __ATOMIC_RELAXED);

	*digest = (uint32_t)heard;
	return heard != 0;
}

uint32_t
nic_job_waits_for(const struct node *node, uint32_t index)
{
	const struct rank *r = nic_of_const(node)->jobs->ranks[index];

	return __atomic_load_n(&r->is_due, __ATOMIC_RELAXED) ? unheard(r) : JOB_NONE;
}

int
nic_job_record(struct node *node, uint32_t index)
{
	struct rank *r = nic_of(node)->jobs->ranks[index];

	r->ops = calloc((size_t)r->params.iterations * r->params.rank->n_ops + 1, sizeof(*r->ops));
	if (r->ops == NULL)
		return -ENOMEM;
	r->progress.actions = &recorded_actions;
	return 0;
}

const struct nic_job_op *
nic_job_ops(const struct node *node, uint32_t index, uint32_t iteration)
{
	const struct rank *r = nic_of_const(node)->jobs->ranks[index];

	return r->ops == NULL ? NULL : &r->ops[(size_t)iteration * r->params.rank->n_ops];
}

void
nic_job_info(const struct node *node, uint32_t index, uint64_t now_ns, struct nic_job_info *out)
{
	const struct rank *r = nic_of_const(node)->jobs->ranks[index];

	*out = r->info;
	/* Before the spans, which the caller reads. */
	out->ended = __atomic_load_n(&r->info.ended, __ATOMIC_ACQUIRE);
	out->time_ns[doing(r)] += done_ns(r, now_ns);
	out->spans = r->spans;
}

uint32_t
nic_job_waits(const struct node *node, uint32_t index)
{
	const struct job_progress *p = &nic_of_const(node)->jobs->ranks[index]->progress;
	uint32_t op = 0;

	while (op < p->rank->n_ops && __atomic_load_n(&p->left[op], __ATOMIC_RELAXED) != JOB_BEGUN)
		op++;
	return op < p->rank->n_ops ? op : JOB_NONE;
}

void
nic_job_restart(struct node *node, uint32_t index)
{
	struct nic *nic = nic_of(node);

	assert(nic_job_restart_is_done(node));
	__atomic_store_n(&nic->requests.job, index + 1, __ATOMIC_RELEASE);
	nic_request(nic, NIC_REQUEST_JOB);
}

void
nic_job_begin(struct node *node, uint32_t first, uint32_t n)
{
	struct nic *nic = nic_of(node);

	assert(nic_job_begin_is_done(node));
	nic->requests.job_first = first;
	__atomic_store_n(&nic->requests.job_begins, n, __ATOMIC_RELEASE);
	nic_request(nic, NIC_REQUEST_JOB);
}

bool
nic_job_begin_is_done(const struct node *node)
{
	return __atomic_load_n(&nic_of_const(node)->requests.job_begins, __ATOMIC_ACQUIRE) == 0;
}

bool
nic_job_restart_is_done(const struct node *node)
{
	return __atomic_load_n(&nic_of_const(node)->requests.job, __ATOMIC_ACQUIRE) == 0;
}

void
nic_job_ask(struct node *node, uint32_t item)
{
	struct nic *nic = nic_of(node);

	assert(nic_job_ask_is_done(node));
	__atomic_store_n(&nic->requests.job_asks, item + 1, __ATOMIC_RELEASE);
	nic_request(nic, NIC_REQUEST_JOB);
}

bool
nic_job_ask_is_done(const struct node *node)
{
	return __atomic_load_n(&nic_of_const(node)->requests.job_asks, __ATOMIC_ACQUIRE) == 0;
}

void
nic_job_drop(struct nic *nic, uint32_t item)
{
	const struct workload_posts *posts = posts_of(nic, item);

	posts->qps[nic_qpn(nic, &nic->qps[item]) - posts->first_qpn].posted =
		nic->qps[item].acked_msg;
}

/*
 * Messages that the rank has posted since the reset of its QPs are dropped, too, and those of QPs
 * that had not started then.
 */
static void
restart_peer(const struct rank *r, struct rank_peer *peer, uint64_t now_ns)
{
	for (uint32_t i = 0; i < r->params.qps; i++) {
		peer->acked[i] = peer->arrived[i] = 0;
		if (peer->qps.requesters == JOB_NONE)
			continue;
		nic_job_drop(r->nic, peer->qps.requesters + i);
		nic_settle(r->nic, peer->qps.requesters + i, now_ns);
		peer->before[i] = r->nic->qps[peer->qps.requesters + i].acked_msg;
	}
	peer->all_acked = peer->all_arrived = 0;
	__atomic_store_n(&peer->heard, 0, __ATOMIC_RELAXED);
}

static void
restart(struct rank *r, uint64_t now_ns)
{
	job_progress_forget(&r->progress);
	for (uint32_t i = 0; i < r->params.rank->n_peers; i++)
		restart_peer(r, &r->peers[i], now_ns);
	for (uint32_t i = 0; i < r->progress.n_streams; i++)
		r->ends_ns[i] = NEVER_NS;
	__atomic_store_n(&r->is_due, false, __ATOMIC_RELAXED);
	__atomic_store_n(&r->info.ended, 0, __ATOMIC_RELEASE);
	r->info = (struct nic_job_info){0};
	r->since_ns = r->now_ns = now_ns;
	set_next(r);
}

void
nic_job_request_step(struct nic *nic, uint64_t now_ns)
{
	uint32_t restarts, begins;

	/* A request after this sets the bit again. */
	nic_request_served(nic, NIC_REQUEST_JOB);
	restarts = __atomic_load_n(&nic->requests.job, __ATOMIC_ACQUIRE);
	begins = __atomic_load_n(&nic->requests.job_begins, __ATOMIC_ACQUIRE);
	if (restarts > 0) {
		restart(nic->jobs->ranks[restarts - 1], now_ns);
		__atomic_store_n(&nic->requests.job, 0, __ATOMIC_RELEASE);
	}
	for (uint32_t i = 0; i < begins; i++) {
		struct rank *r = nic->jobs->ranks[nic->requests.job_first + i];

		r->next_ns = max_u64(r->params.start_ns, now_ns);
		nic->job_next_ns = min_u64(nic->job_next_ns, r->next_ns);
	}
	if (begins > 0) {
		__atomic_store_n(&nic->requests.job_begins, 0, __ATOMIC_RELEASE);
	}
}

void
nic_job_pieces(struct nic *nic, struct node_pieces *to)
{
	for (uint32_t i = 0; i < nic->jobs->n; i++) {
		struct rank *r = nic->jobs->ranks[i];
		const struct job_rank *graph = r->params.rank;
		size_t ops = (size_t)r->params.iterations * graph->n_ops;

		NODE_PIECE_FROM(to, &r->info, begun, spans);
		NODE_PIECE_REST(to, &r->info, time_ns);
		node_piece(to, r->spans, r->params.iterations * sizeof(*r->spans));
		node_piece(to, r->ops, ops * sizeof(*r->ops));
		node_piece(to, &r->since_ns, sizeof(r->since_ns));
		node_piece(to, &r->is_due, sizeof(r->is_due));
		node_piece(to, r->progress.left, graph->n_ops * sizeof(*r->progress.left));
		NODE_PIECE_REST(to, &r->progress, n_left);
		for (uint32_t k = 0; k < graph->n_peers; k++)
			node_piece(to, &r->peers[k].heard, sizeof(r->peers[k].heard));
	}
}

void
nic_job_free(struct nic *nic)
{
	if (nic->jobs == NULL)
		return;
	for (uint32_t i = 0; i < nic->jobs->n; i++)
		rank_free(nic->jobs->ranks[i]);
	free(nic->jobs->ranks);
	pages_free(nic->jobs->lanes, nic->params.max_qps * sizeof(*nic->jobs->lanes));
	free(nic->jobs);
	nic->jobs = NULL;
}
