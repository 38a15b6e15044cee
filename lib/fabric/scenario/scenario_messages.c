/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that have QPs of their own: those of a large trace, and those of an open loop with
 * qp_per_message. The latter come from the same numbers as a QP draws its messages, so that they do
 * not depend on the run. READs are drawn before it, and each has a QP, because the congestion
 * control of a READ is at the responder. Other messages are drawn during the run, and share QPs
 * that are idle.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "fabric/scenario/scenario_parts.h"
#include "nic/qp/qp_shared.h"

struct messages {
	struct flow_message *rows;
	uint32_t n, size;
};

static int
by_pair(const void *a, const void *b)
{
	const struct flow_message *x = a, *y = b;
	const uint64_t of_x[] = {x->src, x->dst, x->parts, x->at_ns, x->bytes, x->row};
	const uint64_t of_y[] = {y->src, y->dst, y->parts, y->at_ns, y->bytes, y->row};

	for (unsigned int i = 0; i < ARRAY_LEN(of_x); i++)
		if (of_x[i] != of_y[i])
			return of_x[i] < of_y[i] ? -1 : 1;
	return 0;
}

void
scenario_group_messages(struct flow_params *flow, struct flow_message *messages, uint32_t n)
{
	struct flow_pair *pair = NULL;

	qsort(messages, n, sizeof(*messages), by_pair);
	flow->n_pairs = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct flow_message *m = &messages[i];

		if (i == 0 || m->src != m[-1].src || m->dst != m[-1].dst ||
		    m->parts != m[-1].parts) {
			pair = &flow->pairs[flow->n_pairs++];
			*pair = (struct flow_pair){.src = m->src,
						   .dst = m->dst,
						   .at_ns = m->at_ns,
						   .first_message = i};
		}
		pair->bytes = max_u64(pair->bytes, m->bytes);
		pair->n_messages++;
	}
	flow->messages_of_pairs = messages;
	flow->n_messages = n;
}

uint64_t
scenario_flow_seed(const struct scenario *s, const struct flow_params *flow, uint32_t host)
{
	return flow->seed + (s->fabric.seed << 32) + ((uint64_t)host << 16);
}

/* Does an event change a key of the flow? Messages that are drawn before the run do not follow. */
static bool
is_changed(const struct scenario *s, const struct flow_params *flow)
{
	char section[FLOW_NAME_CHARS + 8];
	int n = snprintf(section, sizeof(section), "flow %s.", flow->name);

	for (uint32_t i = 0; i < s->n_events; i++)
		if (s->events[i].action == EVENT_SET &&
		    strncmp(s->events[i].set, section, (size_t)n) == 0)
			return true;
	return false;
}

/* @return 0, -ENOSPC or -ENOMEM. */
static int
add_message(struct messages *all, struct flow_message message)
{
	if (all->n == FLOW_MOST_MESSAGES)
		return -ENOSPC;
	if (all->n == all->size) {
		uint32_t size = all->size == 0 ? 1024 : 2 * all->size;
		struct flow_message *rows = realloc(all->rows, size * sizeof(*rows));

		if (rows == NULL)
			return -ENOMEM;
		all->rows = rows;
		all->size = size;
	}
	all->rows[all->n++] = message;
	return 0;
}

void
scenario_open_loops(const struct scenario *s, const struct flow_params *flow,
		    const struct flow_pair *pair, struct open_loop *loops)
{
	for (uint32_t i = 0; i < flow->qp_count; i++)
		open_loop_init(&loops[i], &flow->work, scenario_flow_seed(s, flow, pair->src),
			       s->fabric.duration_ns, pair->first_qpn + i);
}

/* The READs of one QP of an open loop until the end of the run. */
static int
add_messages(const struct flow_pair *pair, struct open_loop *loop, struct messages *all)
{
	int rc = 0;

	while (rc == 0 && loop->next_ns != NEVER_NS) {
		struct flow_message m = {
			.src = pair->src, .dst = pair->dst, .parts = 1, .at_ns = loop->next_ns};

		m.bytes = open_loop_take(loop);
		rc = add_message(all, m);
	}
	return rc;
}

/* As many QPs as the pair has messages, and not more than `most`. */
static void
share_qps(struct flow_pair *pair, struct open_loop *loops, uint32_t n_loops, uint32_t most)
{
	for (pair->n_qps = 0; pair->n_qps < most; pair->n_qps++) {
		struct open_loop *next = shared_earliest(loops, n_loops);

		if (next->next_ns == NEVER_NS)
			break;
		if (pair->n_qps == 0)
			pair->at_ns = next->next_ns;
		open_loop_take(next);
	}
	pair->all_drawn = shared_earliest(loops, n_loops)->next_ns == NEVER_NS;
}

static int
by_hosts(const void *a, const void *b)
{
	const struct flow_pair *x = a, *y = b;

	return x->src != y->src ? (x->src < y->src ? -1 : 1)
				: (x->dst > y->dst) - (x->dst < y->dst);
}

/* Only pairs with messages remain. */
static void
share_all(const struct scenario *s, struct flow_params *flow, struct open_loop *loops)
{
	uint32_t n = 0,
		 most = min_u64(FLOW_MOST_SHARED, max_u64(1, FLOW_MOST_MESSAGES / flow->n_pairs));

	for (uint32_t k = 0; k < flow->n_pairs; k++) {
		struct flow_pair *pair = &flow->pairs[k];

		scenario_open_loops(s, flow, pair, loops);
		share_qps(pair, loops, flow->qp_count, most);
		pair->bytes = workload_largest_bytes(&flow->work);
		if (pair->n_qps > 0)
			flow->pairs[n++] = *pair;
	}
	/* A flow without a message has its QPs, which are silent. */
	if (n == 0)
		return;
	flow->shares_qps = true;
	flow->n_pairs = n;
	qsort(flow->pairs, n, sizeof(*flow->pairs), by_hosts);
}

/* @return 0, -ENOSPC or -ENOMEM. */
static int
draw_all(const struct scenario *s, struct flow_params *flow, struct open_loop *loops)
{
	struct messages all = {0};
	int rc = 0;

	for (uint32_t k = 0; rc == 0 && k < flow->n_pairs; k++) {
		scenario_open_loops(s, flow, &flow->pairs[k], loops);
		for (uint32_t i = 0; rc == 0 && i < flow->qp_count; i++)
			rc = add_messages(&flow->pairs[k], &loops[i], &all);
	}
	if (rc == 0 && all.n > 0)
		scenario_group_messages(flow, all.rows, all.n);
	else
		free(all.rows);
	return rc;
}

/*
 * Random arrivals stand for many independent senders; periodic ones for one that repeats, and so
 * does a cap of a QP's rate.
 */
static bool
has_qp_per_message(const struct scenario *s, const struct flow_params *flow)
{
	if (flow->qp_per_message != FLOW_QP_PER_MESSAGE_AUTO)
		return flow->qp_per_message == FLOW_QP_PER_MESSAGE_ON;
	return (flow->arrival == WORKLOAD_POISSON || flow->arrival == WORKLOAD_LOGNORMAL) &&
	       flow->verb != NIC_UD_SEND && flow->rate_cap_bps == 0 && !flow->stopped &&
	       !scenario_has_after(flow) && !is_changed(s, flow);
}

static int
check_asked(const struct scenario *s, const struct flow_params *flow, struct scenario_fault *fault)
{
	const char *expected = NULL;

	if (!workload_is_open(&flow->work))
		expected = "auto or off, unless arrival is poisson, lognormal or periodic";
	else if (flow->verb == NIC_UD_SEND)
		expected = "auto or off with verb = ud_send";
	else if (scenario_has_after(flow))
		expected = "auto or off with after: the arrivals are not known before the run";
	else if (flow->stopped || is_changed(s, flow))
		expected = "auto or off with stopped = on or an event that changes the flow";
	return expected == NULL
		       ? 0
		       : scenario_refuse(fault, "flow", flow->name, "qp_per_message", expected);
}

int
scenario_qp_per_message(const struct scenario *s, struct flow_params *flow,
			struct scenario_fault *fault)
{
	bool asked = flow->qp_per_message == FLOW_QP_PER_MESSAGE_ON;
	struct open_loop *loops;
	int rc = 0;

	if (asked && check_asked(s, flow, fault) < 0)
		return -EINVAL;
	if (!has_qp_per_message(s, flow))
		return 0;
	loops = malloc(flow->qp_count * sizeof(*loops));
	for (uint32_t k = 0; k < flow->n_pairs; k++)
		flow->pairs[k].first_qpn = SCENARIO_FIRST_QPN + k * flow->qp_count;
	if (loops == NULL)
		rc = -ENOMEM;
	else if (flow->verb == NIC_READ)
		rc = draw_all(s, flow, loops);
	else
		share_all(s, flow, loops);
	free(loops);
	if (rc == 0 || !asked)
		return 0;
	return scenario_refuse(fault, "flow", flow->name, "qp_per_message",
			       rc == -ENOMEM ? "off: no memory for the messages of the run"
					     : "off, or at most a million READs in the run");
}
