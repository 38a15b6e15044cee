/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/decimal.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "runtime/notice/say.h"
#include "quench-lab/recording/explain_frame.h"
#include "quench-lab/recording/explain_job.h"
#include "quench-lab/recording/explain_job_internal.h"
#include "switch/egress/sw_why.h"

bool
explain_job_named(const char *text, const struct scenario *s, bool say, uint32_t *job,
		  uint32_t *iteration)
{
	const char *name = text + strlen("job ");
	size_t n = strcspn(name, " ");
	uint64_t number = 0;

	for (uint32_t i = 0; i < s->n_jobs; i++) {
		if (strlen(s->jobs[i].name) != n || memcmp(s->jobs[i].name, name, n) != 0)
			continue;
		*job = i;
		*iteration = JOB_NONE;
		if (name[n] == '\0')
			return true;
		if (decimal_parse(name + n + 1, 1, s->jobs[i].iterations, &number)) {
			*iteration = (uint32_t)number - 1;
			return true;
		}
		if (say)
			say_error("--explain \"%s\": expected an iteration from 1 to %u", text,
				  s->jobs[i].iterations);
		return false;
	}
	if (say)
		say_error("--explain \"%s\": expected a [job NAME] of the scenario%s%s", text,
			  s->n_jobs > 0 ? ", such as job " : ", which has none",
			  s->n_jobs > 0 ? s->jobs[0].name : "");
	return false;
}

/* @return a list of n; NULL: none, or bad. */
static void *
take_list(struct rank_reader *from, uint32_t n, size_t size)
{
	const void *bytes = rank_reader_take(from, n * size);
	void *list = n == 0 || bytes == NULL ? NULL : malloc(n * size);

	if (list != NULL)
		memcpy(list, bytes, n * size);
	else
		from->bad |= n > 0;
	return list;
}

/* Of the first run, at rank 0. @return NULL after an error line. */
static struct explain_job *
find_iteration(const struct net *net, const struct job_result *result, uint32_t job,
	       uint32_t iteration)
{
	const struct job_section *section = &net_scenario(net)->jobs[job];
	struct explain_job *x;

	if (result->ended == 0 || (iteration != JOB_NONE && iteration >= result->ended)) {
		say_error("--explain \"job %s\": %u iterations have ended: expected %s",
			  section->name, result->ended,
			  result->ended == 0 ? "one, in a longer run" : "one of these");
		return NULL;
	}
	x = calloc(1, sizeof(*x));
	if (x != NULL) {
		x->number = iteration != JOB_NONE ? iteration : job_slowest(result);
		x->n_iterations = result->ended;
		x->iteration = result->iterations[x->number];
		if (job_path_find(net, job, &x->iteration, x->number, &x->path) == 0)
			return x;
	}
	say_error("--explain: no memory");
	explain_job_free(x);
	return NULL;
}

/* Rank 0 passes the path on to the others; without one, all end. @return as explain_job_create() */
static struct explain_job *
share_path(struct ranks *ranks, struct explain_job *x)
{
	struct rank_reader from;
	int rc = ranks->self != 0 || x == NULL
			 ? ranks_to_all(ranks, NULL, 0)
			 : ranks_to_all(ranks, x->path.parts, x->path.n * sizeof(*x->path.parts));

	if (ranks->self == 0 || rc < 0) {
		if (rc < 0 || x == NULL) {
			explain_job_free(x);
			return NULL;
		}
		return x;
	}
	from = rank_reader_of(&ranks->in[0]);
	x = ranks->in[0].n == 0 ? NULL : calloc(1, sizeof(*x));
	if (x == NULL)
		return NULL;
	x->path.n = (uint32_t)(ranks->in[0].n / sizeof(*x->path.parts));
	x->path.parts = take_list(&from, x->path.n, sizeof(*x->path.parts));
	if (x->path.parts != NULL)
		return x;
	explain_job_free(x);
	return NULL;
}

struct explain_job *
explain_job_create(const struct net *net, const struct job_result *result, uint32_t job,
		   uint32_t iteration)
{
	const struct job_section *section = &net_scenario(net)->jobs[job];
	struct explain_job *x = result == NULL ? NULL : find_iteration(net, result, job, iteration);

	if (net_ranks(net) != NULL)
		x = share_path(net_ranks(net), x);
	if (x == NULL)
		return NULL;
	snprintf(x->name, sizeof(x->name), "%s", section->name);
	x->job = job;
	x->n_ranks = section->graph.n_ranks;
	x->explained = calloc(x->path.n + 1ull, sizeof(*x->explained));
	if (x->explained != NULL)
		return x;
	say_error("--explain: no memory");
	explain_job_free(x);
	return NULL;
}

static const struct topology *
topology_of(const struct explain_job *x)
{
	return net_scenario(x->net)->topology;
}

static bool
grow(void **list, uint32_t n, uint32_t *room, size_t size)
{
	uint32_t wanted = *room == 0 ? 256 : 2 * *room;
	void *more;

	if (n < *room)
		return true;
	more = realloc(*list, wanted * size);
	if (more == NULL)
		return false;
	*list = more;
	*room = wanted;
	return true;
}

/* The part of the path at a time; parts share their ends. JOB_NONE: before or after it. */
static uint32_t
part_at(const struct explain_job *x, uint64_t at_ns)
{
	uint32_t low = 0, high = x->path.n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (x->path.parts[middle].to_ns < at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < x->path.n && x->path.parts[low].from_ns <= at_ns ? low : JOB_NONE;
}

static int
by_address(const void *a, const void *b)
{
	return memcmp(((const struct address *)a)->bytes, ((const struct address *)b)->bytes,
		      sizeof(((const struct address *)a)->bytes));
}

/* The addresses of all hosts, and which flow each of their QPs receives. */
static int
know_flows(struct explain_job *x)
{
	const struct scenario *s = net_scenario(x->net);
	uint32_t n = topology_of(x)->n_hosts;

	x->addresses = calloc(n + 1, sizeof(*x->addresses));
	x->flow_of = calloc(n + 1, sizeof(*x->flow_of));
	if (x->addresses == NULL || x->flow_of == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct field_ip ip = scenario_host_ip(s, i + 1);
		uint32_t qps = net_host_qps(x->net, i + 1);

		memcpy(x->addresses[i].bytes, ip.addr, ip.version == 4 ? 4 : 16);
		x->addresses[i].host = i;
		x->flow_of[i] = malloc((qps + 1) * sizeof(**x->flow_of));
		if (x->flow_of[i] == NULL)
			return -ENOMEM;
		for (uint32_t k = 0; k <= qps; k++)
			x->flow_of[i][k] = JOB_NONE;
		x->flow_of[i][qps] = JOB_NONE;
	}
	qsort(x->addresses, n, sizeof(*x->addresses), by_address);
	for (uint32_t i = 0; i < net_flow_count(x->net); i++) {
		struct net_end to = net_flow_receiver(net_flow(x->net, i));

		for (uint32_t k = 0; k < net_flow(x->net, i)->qps; k++)
			x->flow_of[to.host - 1][to.first_qp + k] = i;
	}
	return 0;
}

/* The flow whose data a frame is, and its QP; JOB_NONE: none. */
static uint32_t
flow_of(const struct explain_job *x, const struct rte_mbuf *m, const struct roce_view *v,
	uint16_t *qp)
{
	unsigned int bytes = v->ip_version == 4 ? 4 : 16;
	const uint8_t *dst =
		rte_pktmbuf_mtod(m, const uint8_t *) + v->ip_off + (v->ip_version == 4 ? 16 : 24);
	struct address wanted = {0};
	const struct address *at;
	uint32_t item = v->dest_qp - SCENARIO_FIRST_QPN, flow;

	memcpy(wanted.bytes, dst, bytes);
	at = bsearch(&wanted, x->addresses, topology_of(x)->n_hosts, sizeof(wanted), by_address);
	if (v->payload_bytes == 0 || at == NULL || item >= net_host_qps(x->net, at->host + 1))
		return JOB_NONE;
	flow = x->flow_of[at->host][item];
	if (flow != JOB_NONE)
		*qp = (uint16_t)(item - net_flow_receiver(net_flow(x->net, flow)).first_qp);
	return flow;
}

/* Is it a message on the wire? */
static bool
is_message(const struct job_path_part *p)
{
	return p->kind == JOB_PATH_MESSAGE || p->kind == JOB_PATH_SEND;
}

static void
see_sent(void *arg, const struct rte_mbuf *m, uint64_t at_ns)
{
	struct spot *spot = arg;
	struct explain_job *x = spot->x;
	uint32_t part = part_at(x, at_ns);
	struct frame_view f;
	struct roce_view v;
	struct sight *s;

	if (part == JOB_NONE || !is_message(&x->path.parts[part]) ||
	    ways_through(x->ways, x->explained[part].flow, spot->end) == 0)
		return;
	if (!grow((void **)&spot->sent, spot->n_sent, &spot->sent_room, sizeof(*s))) {
		spot->lost = true;
		return;
	}
	s = &spot->sent[spot->n_sent++];
	*s = (struct sight){.at_ns = at_ns,
			    .part = part,
			    .flow = JOB_NONE,
			    .wire_bytes = (uint16_t)wire_bytes(m->pkt_len),
			    .marked_queue = -1};
	if (!explain_parse(m, &f, &v))
		return;
	s->flow = flow_of(x, m, &v, &s->qp);
	s->psn = v.psn;
	if (v.ecn == ECN_CE && topology_is_switch(topology_of(x), spot->end.node))
		s->marked_queue = (int8_t)sw_marking_queue(net_switch(x->net, spot->end.node),
							   spot->end.port, m);
}

static void
hold(struct spot *spot, bool held, uint64_t at_ns)
{
	if (held == spot->held)
		return;
	spot->held = held;
	if (!held) {
		spot->holds[spot->n_holds - 1].to_ns = at_ns;
	} else if (grow((void **)&spot->holds, spot->n_holds, &spot->holds_room,
			sizeof(*spot->holds))) {
		spot->holds[spot->n_holds++] = (struct hold){at_ns, NEVER_NS};
	} else {
		spot->held = false;
		spot->lost = true;
	}
}

/* Data of a flow at its receiver, or answers to it at its sender. */
static void
see_arrival(struct explain_job *x, struct spot *spot, const struct rte_mbuf *m, uint32_t part,
	    uint64_t at_ns)
{
	const struct net_flow *flow = net_flow(x->net, x->explained[part].flow);
	struct net_end from = net_flow_sender(flow), to = net_flow_receiver(flow);
	struct arrival_sight *a;
	struct frame_view f;
	struct roce_view v;
	uint32_t item, first;
	bool data;

	if (!explain_parse(m, &f, &v))
		return;
	data = v.payload_bytes > 0;
	if (spot->end.node != topology_host_node(topology_of(x), data ? to.host : from.host))
		return;
	item = v.dest_qp - SCENARIO_FIRST_QPN;
	first = data ? to.first_qp : from.first_qp;
	if (item < first || item >= first + flow->qps ||
	    (!data && v.opcode != RC_ACK && v.opcode != ROCE_CNP))
		return;
	if (!grow((void **)&spot->arrivals, spot->n_arrivals, &spot->arrivals_room, sizeof(*a))) {
		spot->lost = true;
		return;
	}
	a = &spot->arrivals[spot->n_arrivals++];
	*a = (struct arrival_sight){.at_ns = at_ns,
				    .part = part,
				    .psn = v.psn,
				    .qp = (uint16_t)(item - first),
				    .kind = data                   ? ARRIVED_DATA
					    : v.opcode == ROCE_CNP ? ARRIVED_CNP
								   : ARRIVED_ACK};
}

static void
see_received(void *arg, const struct rte_mbuf *m, uint64_t at_ns)
{
	struct spot *spot = arg;
	struct explain_job *x = spot->x;
	int held = explain_pause(m, x->prio);
	uint32_t part;

	if (held >= 0) {
		hold(spot, held != 0, at_ns);
		return;
	}
	part = topology_is_switch(topology_of(x), spot->end.node) ? JOB_NONE : part_at(x, at_ns);
	if (part != JOB_NONE && is_message(&x->path.parts[part]))
		see_arrival(x, spot, m, part, at_ns);
}

static int
look_at(struct explain_job *x, struct recordings *recordings, struct spot *spot,
	struct topology_end end)
{
	const struct fabric_end at = net_end_at(x->net, end);
	struct cable_tap sent = {see_sent, spot}, received = {see_received, spot};

	*spot = (struct spot){.x = x, .end = end};
	if (recordings_share(recordings, at, sent, received))
		return 0;
	return fabric_tap(net_fabric(x->net), at, sent, received);
}

/* A priority group generates PFC for the priority of its number. */
static void
set_prio(struct explain_job *x)
{
	uint32_t last = x->path.n;

	while (last > 0 && !is_message(&x->path.parts[last - 1]))
		last--;
	for (uint8_t prio = 0; last > 0 && prio < TM_CLASSES; prio++)
		if (ways_obeys(x->ways, x->explained[last - 1].flow, prio)) {
			x->prio = prio;
			return;
		}
}

int
explain_job_observe(struct explain_job *x, struct net *net, struct recordings *recordings)
{
	const struct topology *t = net_scenario(net)->topology;
	const struct scenario *s = net_scenario(net);
	int rc;

	x->net = net;
	x->ways = ways_create(net);
	if (x->ways == NULL) {
		say_error("--explain: no memory for the paths of more than %u QPs", WAYS_MOST_QPS);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < x->path.n; i++) {
		const struct job_path_part *p = &x->path.parts[i];
		const struct job_rank *r = &s->jobs[x->job].graph.ranks[p->from_rank];

		if (is_message(p))
			x->explained[i].flow = net_job_flow(net, x->job, p->from_rank,
							    r->peers[r->ops[p->send].peer].rank);
	}
	set_prio(x);
	rc = know_flows(x);
	x->spots = calloc(2ull * t->n_links + 1, sizeof(*x->spots));
	if (x->spots == NULL)
		rc = -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < t->n_links; i++) {
		rc = look_at(x, recordings, &x->spots[2 * i], t->links[i].a);
		if (rc == 0)
			rc = look_at(x, recordings, &x->spots[2 * i + 1], t->links[i].b);
	}
	if (rc < 0)
		say_error("--explain: %s", strerror(-rc));
	return rc;
}

/* Solving */

static struct spot *
spot_of(const struct explain_job *x, struct topology_end end)
{
	const struct topology *t = topology_of(x);
	uint32_t link = topology_link_at(t, end);

	return &x->spots[2 * link +
			 !(t->links[link].a.node == end.node && t->links[link].a.port == end.port)];
}

static const struct fabric_cable *
cable_of(const struct explain_job *x, struct topology_end end)
{
	return &topology_of(x)->links[topology_link_at(topology_of(x), end)].cable;
}

static uint64_t
wire_ns(const struct explain_job *x, struct topology_end end, uint32_t bytes)
{
	return mul_div(bytes, 8 * NS_PER_SEC, cable_of(x, end)->rate_bps);
}

/* A part while its time is divided. */
struct division {
	const struct explain_job *x;
	uint32_t number; /* of the part */
	const struct job_path_part *part;
	struct explained *out;
	uint64_t now_ns; /* all before has a cause */
	uint64_t longest_queue_ns, longest_held_ns;
};

static uint64_t
take(struct division *d, enum explain_cause cause, uint64_t until_ns)
{
	uint64_t ns = sub_sat(min_u64(until_ns, d->part->to_ns), d->now_ns);

	d->out->times_ns[cause] += ns;
	d->now_ns += ns;
	return ns;
}

/* Time up to until_ns: what of it the port was held is due to pauses, the rest to a cause. */
static uint64_t
take_held(struct division *d, struct topology_end end, enum explain_cause cause, uint64_t until_ns)
{
	const struct spot *spot = spot_of(d->x, end);
	uint64_t held_ns = 0, rest_ns = 0;

	for (uint32_t i = 0; i < spot->n_holds && d->now_ns < until_ns; i++) {
		if (spot->holds[i].to_ns <= d->now_ns)
			continue;
		rest_ns += take(d, cause, min_u64(spot->holds[i].from_ns, until_ns));
		held_ns += take(d, CAUSE_HELD, min_u64(spot->holds[i].to_ns, until_ns));
	}
	rest_ns += take(d, cause, until_ns);
	if (held_ns > d->longest_held_ns) {
		d->longest_held_ns = held_ns;
		d->out->held = end;
	}
	return rest_ns;
}

/* The sights of the part: [first, *end). They are in order of time, and so are the parts. */
static uint32_t
sights_of(const struct division *d, const struct spot *spot, uint32_t *end)
{
	uint32_t low[2];

	for (uint32_t i = 0; i < 2; i++) {
		uint32_t high = spot->n_sent;

		low[i] = 0;
		while (low[i] < high) {
			uint32_t middle = low[i] + (high - low[i]) / 2;

			if (spot->sent[middle].part < d->number + i)
				low[i] = middle + 1;
			else
				high = middle;
		}
	}
	*end = low[1];
	return low[0];
}

struct bytes_of {
	uint32_t flow;
	uint64_t bytes;
};

static int
by_bytes(const void *a, const void *b)
{
	const struct bytes_of *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->flow < y->flow ? -1 : x->flow > y->flow;
}

/* Who sent most through a port from from_ns to to_ns, in this part? */
static struct fill
fill_of(const struct division *d, struct topology_end end, uint64_t from_ns, uint64_t to_ns,
	bool others_alone)
{
	const struct spot *spot = spot_of(d->x, end);
	uint32_t n_flows = net_flow_count(d->x->net), n = 0;
	struct bytes_of *sums = calloc(n_flows + 1, sizeof(*sums));
	struct fill f = {0};
	uint64_t sum = 0;
	uint32_t last, first = sights_of(d, spot, &last);

	for (uint32_t i = first; sums != NULL && i < last; i++) {
		const struct sight *s = &spot->sent[i];

		if (s->flow == JOB_NONE || s->at_ns < from_ns || s->at_ns > to_ns ||
		    (others_alone && s->flow == d->out->flow))
			continue;
		sums[s->flow] = (struct bytes_of){s->flow, sums[s->flow].bytes + s->wire_bytes};
		sum += s->wire_bytes;
	}
	if (sum > 0) {
		qsort(sums, n_flows, sizeof(*sums), by_bytes);
		for (; n < EXPLAIN_MOST_FLOWS && sums[n].bytes > 0; n++) {
			f.flow[n] = sums[n].flow;
			f.percent[n] = (uint32_t)(100 * sums[n].bytes / sum);
		}
	}
	f.n = n;
	free(sums);
	return f;
}

static int
by_time(const void *a, const void *b)
{
	const struct sight *x = a, *y = b;

	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* The last sight of a packet of the flow at this end, up to a time; NULL: none. */
static const struct sight *
find_sight(const struct division *d, struct topology_end end, uint32_t psn, uint64_t until_ns)
{
	const struct spot *spot = spot_of(d->x, end);
	const struct sight *best = NULL;
	uint32_t last, first = sights_of(d, spot, &last);

	for (uint32_t i = first; i < last; i++) {
		const struct sight *s = &spot->sent[i];

		if (s->flow == d->out->flow && s->qp == d->out->qp && s->psn == psn &&
		    s->at_ns <= until_ns)
			best = s;
	}
	return best;
}

/* The acknowledgement that ended a send; NULL: it was not seen. */
static const struct arrival_sight *
find_ack(const struct division *d)
{
	const struct arrival_sight *ack = NULL;

	for (uint32_t i = 0; i < d->x->n_arrivals; i++) {
		const struct arrival_sight *a = &d->x->arrivals[i];

		if (a->part == d->number && a->kind == ARRIVED_ACK && a->at_ns == d->part->to_ns)
			ack = a;
	}
	return ack;
}

/* The packet whose arrival ended the message. @return NULL: it was not seen. */
static const struct arrival_sight *
find_end(const struct division *d, const struct arrival_sight *ack)
{
	const struct arrival_sight *end = NULL;

	for (uint32_t i = 0; i < d->x->n_arrivals; i++) {
		const struct arrival_sight *a = &d->x->arrivals[i];

		if (a->part != d->number || a->kind != ARRIVED_DATA)
			continue;
		if (d->part->kind == JOB_PATH_MESSAGE
			    ? a->at_ns == d->part->to_ns
			    : ack != NULL && a->qp == ack->qp && a->psn == ack->psn)
			end = a;
	}
	return end;
}

/* Packets of the QP's part of the message. */
static uint32_t
packets_of(const struct division *d)
{
	const struct job_section *job = &net_scenario(d->x->net)->jobs[d->x->job];
	const struct job_op *op = &job->graph.ranks[d->part->from_rank].ops[d->part->send];
	uint64_t qps = net_flow(d->x->net, d->out->flow)->qps;
	uint64_t bytes = (uint64_t)op->amount * (d->out->qp + 1u) / qps -
			 (uint64_t)op->amount * d->out->qp / qps;

	return (uint32_t)max_u64((bytes + job->mtu_bytes - 1) / job->mtu_bytes, 1);
}

/* Until the last packet leaves its host: what did the host's link do? */
static void
divide_host(struct division *d, struct topology_end host, uint32_t last_psn, uint64_t until_ns)
{
	const struct spot *spot = spot_of(d->x, host);
	uint32_t first_psn = (last_psn - packets_of(d) + 1) & PSN_MASK, next = first_psn;
	uint32_t last, first = sights_of(d, spot, &last);

	for (uint32_t i = first; i < last; i++) {
		const struct sight *s = &spot->sent[i];
		enum explain_cause cause = CAUSE_OTHERS;
		bool own = s->flow == d->out->flow, again;

		if (s->at_ns > until_ns || s->at_ns <= d->now_ns)
			continue;
		again = own && s->qp == d->out->qp && psn_diff(s->psn, next) < 0 &&
			psn_diff(s->psn, first_psn) >= 0;
		if (own && s->qp == d->out->qp && psn_diff(s->psn, first_psn) < 0)
			cause = CAUSE_EARLIER;
		else if (own)
			cause = again ? CAUSE_AGAIN : CAUSE_WIRE;
		if (own && s->qp == d->out->qp && psn_diff(s->psn, next) >= 0)
			next = (s->psn + 1) & PSN_MASK;
		d->out->sent_again += again;
		take_held(d, host, again ? CAUSE_AGAIN : CAUSE_RATE,
			  sub_sat(s->at_ns, wire_ns(d->x, host, s->wire_bytes)));
		take(d, cause, s->at_ns);
	}
	take(d, CAUSE_RATE, until_ns);
	if (d->out->times_ns[CAUSE_OTHERS] > 0)
		d->out->others = fill_of(d, host, d->part->from_ns, until_ns, true);
}

/* From the end `from` on: where was the last packet? known: it was seen at the end before. */
static void
divide_path(struct division *d, const struct topology_end *ends, uint32_t from, uint32_t n,
	    const struct sight *const *seen, bool known)
{
	for (uint32_t i = from; i < n; i++) {
		uint64_t came_ns = i > from || known ? seen[i - 1]->at_ns +
							       cable_of(d->x, ends[i - 1])->delay_ns
						     : d->now_ns;
		uint64_t went_ns =
			sub_sat(seen[i]->at_ns, wire_ns(d->x, ends[i], seen[i]->wire_bytes));
		uint64_t waited_ns;

		take(d, CAUSE_WIRE, came_ns);
		waited_ns = take_held(d, ends[i], CAUSE_QUEUE, went_ns);
		if (waited_ns > d->longest_queue_ns) {
			d->longest_queue_ns = waited_ns;
			d->out->queued = ends[i];
			d->out->queued_by = fill_of(d, ends[i], came_ns, went_ns, false);
		}
		take(d, CAUSE_WIRE, seen[i]->at_ns);
	}
}

static void
count_marks(struct division *d, const struct topology_end *ends, uint32_t n)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i < n; i++) {
		const struct spot *spot = spot_of(d->x, ends[i]);
		uint32_t marks = 0, last, first = sights_of(d, spot, &last);
		int queue = -1;

		for (uint32_t k = first; k < last; k++)
			if (spot->sent[k].flow == d->out->flow && spot->sent[k].marked_queue >= 0) {
				marks++;
				queue = spot->sent[k].marked_queue;
			}
		d->out->marks += marks;
		if (marks <= most)
			continue;
		most = marks;
		d->out->marked = ends[i];
		d->out->marked_queue = queue;
		d->out->marked_by = fill_of(d, ends[i], d->part->from_ns, d->part->to_ns, false);
	}
	for (uint32_t i = 0; i < d->x->n_arrivals; i++)
		d->out->cnps += d->x->arrivals[i].part == d->number &&
				d->x->arrivals[i].kind == ARRIVED_CNP;
}

/*
 * The last packet at each end, from the receiver backwards. @return the first end at which it was
 * seen; n: at none.
 */
static uint32_t
follow(const struct division *d, const struct topology_end *ends, uint32_t n,
       const struct arrival_sight *end, const struct sight **seen)
{
	uint64_t until_ns = end->at_ns;
	uint32_t first = n;

	while (first > 0) {
		seen[first - 1] = find_sight(d, ends[first - 1], end->psn, until_ns);
		if (seen[first - 1] == NULL)
			break;
		until_ns = seen[first - 1]->at_ns;
		first--;
	}
	return first;
}

static void
divide(struct division *d)
{
	/* Of a path that begins within this part, what came before is not observed. */
	bool clipped = d->part->begin_ns < d->part->from_ns;
	const struct arrival_sight *end, *ack;
	const struct sight *seen[WAYS_MOST_ENDS];
	const struct topology_end *ends;
	uint32_t n, first;

	if (d->part->kind == JOB_PATH_COMPUTE) {
		take(d, CAUSE_COMPUTE, d->part->to_ns);
		return;
	}
	if (d->part->kind == JOB_PATH_INSIDE) {
		take(d, CAUSE_INSIDE, d->part->to_ns);
		return;
	}
	ack = find_ack(d);
	end = find_end(d, ack);
	d->out->qp = end != NULL ? end->qp : 0;
	n = ways_ends(d->x->ways, d->out->flow, d->out->qp, &ends);
	count_marks(d, ends, n);
	first = end != NULL ? follow(d, ends, n, end, seen) : n;
	if (end != NULL && (first == 0 || clipped)) {
		if (first == 0)
			divide_host(d, ends[0], end->psn, seen[0]->at_ns);
		divide_path(d, ends, first == 0 ? 1 : first, n, seen, first == 0);
		take(d, CAUSE_WIRE, end->at_ns);
	}
	take(d,
	     d->part->kind == JOB_PATH_SEND && (end != NULL || (clipped && ack != NULL))
		     ? CAUSE_ACK
		     : CAUSE_UNKNOWN,
	     d->part->to_ns);
}

/* ---- what the spots of all ranks have seen ---- */

static uint32_t
spots_of(const struct explain_job *x)
{
	return 2 * topology_of(x)->n_links;
}

/* Begins what another rank has seen at a spot; the lists follow. */
struct far_spot {
	uint32_t spot, n_sent, n_holds, n_arrivals;
};

static void
pack_spots(const struct explain_job *x, struct rank_bytes *to)
{
	for (uint32_t i = 0; i < spots_of(x); i++) {
		const struct spot *s = &x->spots[i];
		const struct far_spot far = {i, s->n_sent, s->n_holds, s->n_arrivals};

		if (s->n_sent + s->n_holds + s->n_arrivals == 0)
			continue;
		rank_bytes_add(to, &far, sizeof(far));
		rank_bytes_add(to, s->sent, s->n_sent * sizeof(*s->sent));
		rank_bytes_add(to, s->holds, s->n_holds * sizeof(*s->holds));
		rank_bytes_add(to, s->arrivals, s->n_arrivals * sizeof(*s->arrivals));
	}
}

/* A spot is seen by one rank. @return false: no memory. */
static bool
take_spots(struct explain_job *x, struct rank_reader *from)
{
	while (!from->bad && from->at < from->end) {
		struct far_spot far;
		struct spot *s;

		rank_reader_copy(from, &far, sizeof(far));
		if (from->bad || far.spot >= spots_of(x))
			return false;
		s = &x->spots[far.spot];
		s->sent = take_list(from, far.n_sent, sizeof(*s->sent));
		s->holds = take_list(from, far.n_holds, sizeof(*s->holds));
		s->arrivals = take_list(from, far.n_arrivals, sizeof(*s->arrivals));
		if (from->bad)
			return false;
		s->n_sent = far.n_sent;
		s->n_holds = far.n_holds;
		s->n_arrivals = far.n_arrivals;
	}
	return !from->bad;
}

/* At rank 0, what all have seen. */
static bool
gather(struct explain_job *x)
{
	struct ranks *ranks = net_ranks(x->net);
	bool ok = true;

	for (uint32_t i = 0; i < spots_of(x); i++)
		ok &= !x->spots[i].lost;
	if (ranks == NULL)
		return ok;
	ok = ranks_min(ranks, ok) > 0;
	ranks_begin(ranks);
	if (ranks->self != 0)
		pack_spots(x, &ranks->out[0]);
	ok &= ranks_to_first(ranks) == 0;
	for (uint32_t q = 1; ranks->self == 0 && q < ranks->n; q++) {
		struct rank_reader from = rank_reader_of(&ranks->in[q]);

		ok &= take_spots(x, &from);
	}
	return ok;
}

static int
by_arrival(const void *a, const void *b)
{
	const struct arrival_sight *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* @return false: no memory. */
static bool
list_arrivals(struct explain_job *x)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < spots_of(x); i++)
		n += x->spots[i].n_arrivals;
	x->arrivals = calloc(n + 1, sizeof(*x->arrivals));
	for (uint32_t i = 0; x->arrivals != NULL && i < spots_of(x); i++)
		for (uint32_t k = 0; k < x->spots[i].n_arrivals; k++) {
			x->arrivals[x->n_arrivals] = x->spots[i].arrivals[k];
			x->arrivals[x->n_arrivals].number = x->n_arrivals;
			x->n_arrivals++;
		}
	if (n > 0 && x->arrivals != NULL)
		qsort(x->arrivals, x->n_arrivals, sizeof(*x->arrivals), by_arrival);
	return x->arrivals != NULL;
}

int
explain_job_solve(struct explain_job *x)
{
	struct ranks *ranks = net_ranks(x->net);

	x->lost |= !gather(x);
	if (ranks != NULL && ranks->self != 0)
		return x->lost ? -ENOMEM : 0;
	x->lost |= !list_arrivals(x);
	for (uint32_t i = 0; !x->lost && i < spots_of(x); i++)
		if (x->spots[i].n_sent > 0)
			qsort(x->spots[i].sent, x->spots[i].n_sent, sizeof(struct sight), by_time);
	for (uint32_t i = 0; !x->lost && i < x->path.n; i++) {
		struct division d = {.x = x,
				     .number = i,
				     .part = &x->path.parts[i],
				     .out = &x->explained[i],
				     .now_ns = x->path.parts[i].from_ns};

		d.out->marked.node = d.out->queued.node = d.out->held.node = NEVER_NODE;
		divide(&d);
	}
	if (!x->lost)
		return 0;
	say_error("--explain: no memory");
	return -ENOMEM;
}

void
explain_job_free(struct explain_job *x)
{
	if (x == NULL)
		return;
	for (uint32_t i = 0; x->spots != NULL && i < spots_of(x); i++) {
		free(x->spots[i].sent);
		free(x->spots[i].holds);
		free(x->spots[i].arrivals);
	}
	for (uint32_t i = 0; x->flow_of != NULL && i < topology_of(x)->n_hosts; i++)
		free(x->flow_of[i]);
	free(x->spots);
	free(x->flow_of);
	free(x->addresses);
	free(x->arrivals);
	free(x->explained);
	ways_destroy(x->ways);
	job_path_free(&x->path);
	free(x);
}
