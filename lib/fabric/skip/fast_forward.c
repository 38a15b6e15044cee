/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/skip/fast_forward.h"

#include <errno.h>
#include <stdlib.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "fabric/net/net_state.h"
#include "switch/control/sw_counts.h"

/* Time between two looks at a net that is not steady. */
#define LOOK_NS 500
/*
 * Lengths in which a period is looked for while the same messages are being sent, one after the
 * other, in packets between two ACKs of the reference. The first ones are for the time until ACKs
 * arrive.
 */
static const uint8_t lengths_in_acks[] = {1, 1, 1, 1, 1, 1, 2, 2, 4, 4, 8, 16};
/* A period whose time was rounded to a nanosecond has at least these ACKs, so that drift shows. */
#define ROUNDED_IN_ACKS 16u
/* Times in a period at which queues are looked at. */
#define QUEUE_LOOKS 4u
/* Nanoseconds after the reference's packet in which the states are compared. */
#define COMPARED_NS 6u
#define REPLAY_EVERY 128u
#define REPLAY_MOST_PERIODS 64u
/* A longer replay shows smaller errors: if a window is shorter, one of the next is taken. */
#define REPLAY_LEAST_PERIODS 16u

/* The sender that is followed. */
struct reference {
	uint32_t host, item;
	uint64_t packet_ns; /* least time of a packet */
};

struct fast_forward {
	struct net *net;
	struct period *period, *replay;
	struct fast_forward_result result;
	enum fast_forward_why why; /* of the time simulated last */
	uint64_t clock_ns;         /* of the fabric */
	uint64_t messages;         /* digest of those for which the next two hold */
	uint32_t tries;
	bool is_known;         /* the period is that of these messages */
	uint64_t since_replay; /* windows left out */
};

static const char *const why_texts[FAST_FORWARD_WHYS] = {
	[NIC_STEADY] = "steady",
	[NIC_UNSTEADY_MESSAGE] = "messages begin or end",
	[NIC_UNSTEADY_TIME] = "flows wait for their time",
	[NIC_UNSTEADY_COMPUTE] = "ranks compute",
	[NIC_UNSTEADY_CC] = "rates change",
	[NIC_UNSTEADY_PAUSE] = "pauses",
	[NIC_UNSTEADY_LOSS] = "packets are sent again",
	[NIC_UNSTEADY_VERB] = "other verbs than WRITE",
	[FAST_FORWARD_NO_PERIOD] = "no state comes again",
	[FAST_FORWARD_MARKS] = "queues may mark",
	[FAST_FORWARD_ENDS] = "less than a period is left",
	[FAST_FORWARD_LOOKS] = "looking for a period",
	[FAST_FORWARD_REPLAYS] = "replays",
	[FAST_FORWARD_IDLE] = "nobody sends",
	[FAST_FORWARD_NEVER] = "not possible",
};

const char *
fast_forward_why_text(enum fast_forward_why why)
{
	return why_texts[why];
}

/* What a whole scenario excludes. */
static const char *
never(const struct scenario *s)
{
	if (s->n_events > 0)
		return "[event NAME] has a time";
	if (s->n_streams > 0)
		return "[stream NAME] sends by time";
	if (s->fabric.nics_per_server > 1)
		return "nics_per_server: servers have a time of their own";
	for (uint32_t i = 0; i < s->topology->n_links; i++)
		if (cable_params_is_faulty(&s->topology->links[i].cable.errors))
			return "[link NAME] loses frames at random";
	return NULL;
}

struct fast_forward *
fast_forward_create(struct net *net)
{
	struct fast_forward *ff = calloc(1, sizeof(*ff));

	if (ff == NULL)
		return NULL;
	ff->net = net;
	ff->why = FAST_FORWARD_WHYS;
	ff->since_replay = 2 * REPLAY_EVERY;
	ff->result.never = never(net->scenario);
	if (ff->result.never == NULL && net_after_next_ns(net) != NEVER_NS)
		ff->result.never = "flows wait for others";
	ff->result.skips_any = ff->result.never == NULL;
	if (!ff->result.skips_any) {
		ff->result.simulated_ns = net->scenario->fabric.duration_ns;
		ff->result.why_ns[FAST_FORWARD_NEVER] = ff->result.simulated_ns;
		ff->result.why_times[FAST_FORWARD_NEVER] = 1;
	} else {
		ff->period = period_create(net);
		ff->replay = period_create(net);
	}
	if (ff->result.skips_any && (ff->period == NULL || ff->replay == NULL)) {
		fast_forward_destroy(ff);
		return NULL;
	}
	return ff;
}

void
fast_forward_destroy(struct fast_forward *ff)
{
	if (ff == NULL)
		return;
	period_destroy(ff->period);
	period_destroy(ff->replay);
	free(ff);
}

const struct fast_forward_result *
fast_forward_result(const struct fast_forward *ff)
{
	return &ff->result;
}

/* Run the fabric up to a time of its clock. */
static int
simulate(struct fast_forward *ff, uint64_t clock_ns, enum fast_forward_why why)
{
	uint64_t ns = clock_ns - ff->clock_ns;

	ff->result.simulated_ns += ns;
	ff->result.why_ns[why] += ns;
	ff->result.why_times[why] += why != ff->why;
	ff->why = why;
	ff->clock_ns = clock_ns;
	return fabric_run(ff->net->fabric, clock_ns);
}

static struct nic_look
look(const struct net *net)
{
	const struct topology *t = net->scenario->topology;
	struct nic_look sum = {0};

	for (uint32_t h = 0; h < t->n_hosts; h++)
		nic_look(net->hosts[h], &sum);
	if (sum.why == NIC_STEADY && sum.senders != sum.receivers)
		sum.why = NIC_UNSTEADY_MESSAGE;
	return sum;
}

/* Is a port of a switch paused? Then its queue grows, or waits. */
static bool
is_paused(const struct fast_forward *ff)
{
	const struct topology *t = ff->net->scenario->topology;

	for (uint32_t i = 0; i < t->n_switches; i++)
		for (uint16_t port = 0; port < t->switches[i].n_ports; port++) {
			const struct pfc_rx *rx = sw_pfc_rx(ff->net->switches[i], port);

			for (uint8_t prio = 0; prio < TM_CLASSES; prio++)
				if (rx->until_ns[prio] > ff->clock_ns)
					return true;
		}
	return false;
}

/* Marks are random, or depend on what no state shows. */
static bool
may_mark(const struct fast_forward *ff)
{
	for (uint32_t i = 0; i < ff->net->scenario->topology->n_switches; i++)
		if (sw_may_mark(ff->net->switches[i]))
			return true;
	return false;
}

static struct reference
find_reference(const struct net *net)
{
	const struct topology *t = net->scenario->topology;
	struct reference ref = {.item = UINT32_MAX};

	for (uint32_t h = 0; ref.item == UINT32_MAX && h < t->n_hosts; h++)
		ref = (struct reference){.host = h, .item = nic_sender(net->hosts[h])};
	ref.packet_ns = nic_packet_ns(net->hosts[ref.host], ref.item);
	return ref;
}

static uint32_t
position(const struct fast_forward *ff, const struct reference *ref)
{
	return nic_sent(ff->net->hosts[ref->host], ref->item);
}

/*
 * Simulate until the reference has sent the packets before `target`, and no nanosecond longer.
 * @return 1: it has; 0: the end has come before, or the reference stands still; or -errno.
 */
static int
follow(struct fast_forward *ff, const struct reference *ref, uint32_t target, uint64_t end_ns)
{
	uint64_t give_up_ns = ff->clock_ns + NS_PER_MS;
	int32_t left;
	int rc = 0;

	while (rc == 0 && (left = (int32_t)(target - position(ff, ref))) > 0) {
		uint64_t to_ns = ff->clock_ns + 1;

		if (left > 1)
			to_ns = ff->clock_ns + (uint64_t)(left - 1) * ref->packet_ns - 1;
		if (to_ns > end_ns || to_ns > give_up_ns)
			return 0;
		rc = simulate(ff, to_ns, FAST_FORWARD_LOOKS);
	}
	return rc < 0 ? rc : left == 0;
}

/* Does the state of the begin come again within COMPARED_NS? */
static int
compare(struct fast_forward *ff, struct period *p, uint64_t end_ns, enum fast_forward_why why)
{
	int rc = period_is_over(p, ff->clock_ns);

	for (unsigned int i = 0; rc == 0 && i < COMPARED_NS && ff->clock_ns < end_ns; i++) {
		rc = simulate(ff, ff->clock_ns + 1, why);
		if (rc == 0)
			rc = period_is_over(p, ff->clock_ns);
	}
	return rc;
}

/*
 * The reference stood still, or a stop of the run is near. @return as simulate().
 */
static int
look_later(struct fast_forward *ff, uint64_t end_ns)
{
	return simulate(ff, min_u64(end_ns, ff->clock_ns + 100 * LOOK_NS), FAST_FORWARD_LOOKS);
}

static uint32_t
acks_every(const struct fast_forward *ff)
{
	return ff->net->scenario->nic.ack_every;
}

/* follow() until the packets after `first`, and look at the queues on the way. */
static int
follow_and_look(struct fast_forward *ff, const struct reference *ref, uint32_t first,
		uint32_t packets, uint64_t end_ns, bool *marks)
{
	int rc = 1;

	for (uint32_t i = 1; rc == 1 && i <= QUEUE_LOOKS; i++) {
		*marks = *marks || may_mark(ff);
		rc = follow(ff, ref, first + packets * i / QUEUE_LOOKS, end_ns);
	}
	return rc;
}

/* Simulate this number of packets of the reference, and find out if they are a period. */
static int
observe(struct fast_forward *ff, uint32_t packets, uint64_t end_ns)
{
	struct reference ref = find_reference(ff->net);
	uint32_t first = position(ff, &ref) + 1;
	uint64_t begin_ps, end_ps;
	bool marks = false;
	int rc = follow(ff, &ref, first, end_ns);

	if (rc != 1)
		return rc < 0 ? rc : look_later(ff, end_ns);
	begin_ps = nic_free_ps(ff->net->hosts[ref.host]);
	/* A later state may be a little earlier in its period. */
	rc = simulate(ff, min_u64(ff->clock_ns + COMPARED_NS / 2, end_ns), FAST_FORWARD_LOOKS);
	if (rc == 0)
		rc = period_begin(ff->period, ff->clock_ns);
	if (rc == 0)
		rc = follow_and_look(ff, &ref, first, packets, end_ns, &marks);
	if (rc != 1)
		return rc < 0 ? rc : look_later(ff, end_ns);
	end_ps = nic_free_ps(ff->net->hosts[ref.host]);
	rc = compare(ff, ff->period, end_ns, FAST_FORWARD_LOOKS);
	if (rc < 0)
		return rc;
	ff->is_known = rc == 1 && !marks && period_end(ff->period, end_ps - begin_ps) &&
		       (ff->period->is_exact || packets >= ROUNDED_IN_ACKS * acks_every(ff));
	ff->tries++;
	return 0;
}

static void
add_error(struct fast_forward_result *r, const struct period_error *e)
{
	r->error.predicted_bytes += e->predicted_bytes;
	r->error.simulated_bytes += e->simulated_bytes;
	r->error.predicted_cnps += e->predicted_cnps;
	r->error.simulated_cnps += e->simulated_cnps;
}

/* Simulate n periods, and compare. */
static int
replay(struct fast_forward *ff, uint64_t n, uint64_t end_ns)
{
	uint64_t ns = ff->period->ps * n / 1000;
	struct period_error e;
	int rc = period_begin(ff->replay, ff->clock_ns), again;

	if (rc == 0)
		rc = simulate(ff, ff->clock_ns + ns - COMPARED_NS / 2, FAST_FORWARD_REPLAYS);
	if (rc < 0)
		return rc;
	again = compare(ff, ff->replay, end_ns, FAST_FORWARD_REPLAYS);
	if (again < 0)
		return again;
	period_end(ff->replay, 1000 * ns);
	e = period_compare(ff->period, n, ff->replay);
	add_error(&ff->result, &e);
	ff->result.replays++;
	ff->result.replayed_ns += ns;
	/* If the state is another one, packets are counted, which is exact to one. */
	ff->result.off_ns += again == 1 ? COMPARED_NS : ns * (e.off_packets + 1) / e.packets;
	if ((e.off_packets > 1 && 100 * e.off_packets > e.packets) ||
	    e.simulated_cnps != e.predicted_cnps)
		ff->result.never = "a replay differed from its prediction";
	return 0;
}

/* Periods that may be left out before the end. */
static uint64_t
most(const struct fast_forward *ff, uint64_t end_ns)
{
	/* A replay compares a little later than its end. */
	uint64_t left_ns = sub_sat(end_ns, ff->clock_ns + COMPARED_NS);

	return min_u64(period_most(ff->period), 1000 * left_ns / ff->period->ps);
}

/* Leave out, or replay, what may be. */
static int
go_ahead(struct fast_forward *ff, uint64_t n, uint64_t end_ns)
{
	if (ff->since_replay >= 2 * REPLAY_EVERY ||
	    (ff->since_replay >= REPLAY_EVERY && n >= REPLAY_LEAST_PERIODS)) {
		/* After a short one, the next long window is replayed too. */
		ff->since_replay = n < REPLAY_LEAST_PERIODS ? REPLAY_EVERY : 0;
		return replay(ff, min_u64(n, REPLAY_MOST_PERIODS), end_ns);
	}
	ff->since_replay++;
	ff->result.skipped_ns += period_skip(ff->period, n, ff->clock_ns);
	ff->result.skips++;
	ff->result.periods += n;
	ff->why = FAST_FORWARD_WHYS;
	return 0;
}

/* @param end_ns  By the fabric's clock. */
static int
step(struct fast_forward *ff, uint64_t end_ns)
{
	struct nic_look now = look(ff->net);
	enum fast_forward_why why = (enum fast_forward_why)now.why;
	uint64_t next_ns = ff->clock_ns + LOOK_NS, n;

	if (now.senders == 0) {
		next_ns = max_u64(next_ns, fabric_next_ns(ff->net->fabric));
		if (now.why == NIC_STEADY)
			why = FAST_FORWARD_IDLE;
		return simulate(ff, min_u64(next_ns, end_ns), why);
	}
	if (now.why == NIC_STEADY && is_paused(ff))
		why = (enum fast_forward_why)NIC_UNSTEADY_PAUSE;
	if (why == (enum fast_forward_why)NIC_STEADY && may_mark(ff))
		why = FAST_FORWARD_MARKS;
	/* What is the state after other messages, or after an unsteady time, nobody knows. */
	if (now.messages != ff->messages || why != (enum fast_forward_why)NIC_STEADY) {
		ff->messages = now.messages;
		ff->is_known = false;
		ff->tries = 0;
	}
	if (why != (enum fast_forward_why)NIC_STEADY)
		return simulate(ff, min_u64(next_ns, end_ns), why);
	if (!ff->is_known && ff->tries == ARRAY_LEN(lengths_in_acks))
		return simulate(ff, min_u64(next_ns, end_ns), FAST_FORWARD_NO_PERIOD);
	if (!ff->is_known)
		return observe(ff, lengths_in_acks[ff->tries] * acks_every(ff), end_ns);
	n = most(ff, end_ns);
	if (n > 0)
		return go_ahead(ff, n, end_ns);
	return simulate(ff, min_u64(next_ns, end_ns), FAST_FORWARD_ENDS);
}

int
fast_forward_run(struct fast_forward *ff, uint64_t until_ns)
{
	int rc = 0;

	while (rc == 0 && ff->clock_ns < net_clock_ns(ff->net, until_ns)) {
		uint64_t end_ns = net_clock_ns(ff->net, until_ns);

		if (ff->result.never != NULL)
			rc = simulate(ff, end_ns, FAST_FORWARD_NEVER);
		else
			rc = step(ff, end_ns);
		assert(rc <= 0);
	}
	return rc;
}
