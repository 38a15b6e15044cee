/* SPDX-License-Identifier: BSD-3-Clause */
/* FAIR, the second example of doc/extending.md: the receiver counts the QPs that send to it, CNPs
 * tell the number, and a sender takes its share of the link. Between CNPs the rate rises. */
#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "base/threads/counter.h"
#include "cc/algorithms/cc_ops.h"

struct fair_params {
	uint64_t fair_window_ns, fair_timer_ns, fair_ai_rate_bps, fair_min_rate_bps;
	uint32_t fair_use_ppm;
};

struct fair_stats {
	uint64_t fair_increases, fair_cuts;
};

struct fair {
	struct cc_head head;
};
CC_FITS(struct fair, struct fair_params, struct fair_stats);

/* Of a QP at the receiver: the windows in which it was counted and told last. */
struct fair_np {
	uint64_t counted, told;
};

/* Of all its QPs: the present window, from 1 on, and QPs with data in it and in the one before. */
struct fair_np_node {
	uint64_t window, start_ns;
	uint32_t qps, qps_before;
};
CC_NP_FITS(struct fair_np, struct fair_np_node);

const struct field fair_fields[] = {
	{FIELD_OF(struct fair_params, fair_window_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = 1000, .max = NS_PER_SEC, .def = "50us",
	 .help = "receiver: window in which it counts the QPs that send data, and sends a marked QP "
		 "one CNP"},
	{FIELD_OF(struct fair_params, fair_use_ppm), .type = FIELD_U32, .unit = UNIT_PPM, .min = 1,
	 .max = 1000000, .def = "95%", .live = true,
	 .help = "use of the link that the senders share after a CNP"},
	{FIELD_OF(struct fair_params, fair_timer_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = 1000, .max = NS_PER_SEC, .def = "50us",
	 .help = "time without a CNP after which the rate rises"},
	{FIELD_OF(struct fair_params, fair_ai_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = 1600 * GBPS, .def = "100M", .live = true, .help = "rise of the rate"},
	{FIELD_OF(struct fair_params, fair_min_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .min = 1, .max = 1600 * GBPS, .def = "10M", .live = true, .help = "lowest rate"},
};
const unsigned int fair_fields_n = ARRAY_LEN(fair_fields);

const struct counter_field fair_counters[] = {
	COUNTER_FIELD(struct fair_stats, fair_increases, "rate increases"),
	COUNTER_FIELD(struct fair_stats, fair_cuts, "rate cuts"),
};
const unsigned int fair_counters_n = ARRAY_LEN(fair_counters);

static bool
notify(struct cc_np *of_qp, struct cc_np_node *of_node, const struct cc_node *node,
       const struct cc_arrival *arrival, uint32_t *value, uint64_t now_ns)
{
	struct fair_np *qp = (struct fair_np *)of_qp;
	struct fair_np_node *all = (struct fair_np_node *)of_node;
	const struct fair_params *p = node->params;
	uint64_t passed = (now_ns - all->start_ns) / p->fair_window_ns;

	if (all->window == 0) {
		all->window = 1;
		all->start_ns = now_ns;
	} else if (passed > 0) {
		all->qps_before = passed == 1 ? all->qps : 0;
		all->qps = 0;
		all->window += passed;
		all->start_ns += passed * p->fair_window_ns;
	}
	all->qps += qp->counted != all->window;
	qp->counted = all->window;
	if (!arrival->ce || qp->told == all->window)
		return false;
	qp->told = all->window;
	*value = (uint32_t)max_u64(all->qps, all->qps_before);
	return true;
}

static uint32_t
on_cnp(struct cc *cc, const struct cc_node *node, const struct cc_cnp *cnp, uint64_t now_ns)
{
	const struct fair_params *p = node->params;
	struct fair_stats *stats = node->stats;
	uint64_t use_bps = mul_div(node->max_rate_bps, p->fair_use_ppm, 1000000);
	/* A receiver without the hook tells no number. */
	uint64_t share_bps = cnp->value > 0 ? use_bps / cnp->value : cc->head.rate_bps / 2;

	counter_inc(&node->rp_stats->rp_cnp_handled);
	cc->head.next_event_ns = now_ns + p->fair_timer_ns;
	if (share_bps >= cc->head.rate_bps)
		return CC_DID_CNP;
	cc->head.rate_bps = max_u64(share_bps, node->min_rate_bps);
	counter_inc(&stats->fair_cuts);
	return CC_DID_CNP | CC_DID_CUT;
}

static uint32_t
on_timer(struct cc *cc, const struct cc_node *node, uint64_t now_ns)
{
	const struct fair_params *p = node->params;
	struct fair_stats *stats = node->stats;
	uint64_t room_bps = node->max_rate_bps - cc->head.rate_bps, ai_bps = p->fair_ai_rate_bps, n;

	if (now_ns < cc->head.next_event_ns)
		return 0;
	n = (now_ns - cc->head.next_event_ns) / p->fair_timer_ns + 1;
	/* After a long silence n ai_bps may not fit 64 bits. */
	cc->head.rate_bps += ai_bps > 0 && n > room_bps / ai_bps ? room_bps : n * ai_bps;
	cc->head.next_event_ns += n * p->fair_timer_ns;
	if (cc->head.rate_bps == node->max_rate_bps)
		cc->head.next_event_ns = NEVER_NS;
	counter_add(&stats->fair_increases, n);
	return CC_DID_RAISE;
}

/* With a timer, called for a packet that is sent when it is due. */
static uint32_t
on_sent(struct cc *cc, const struct cc_node *node, uint32_t bytes, uint64_t now_ns)
{
	(void)bytes;
	return on_timer(cc, node, now_ns);
}

const struct cc_ops cc_fair = {CC_TABLES(fair), .min_rate_key = "fair_min_rate_bps",
			       .sent = on_sent, .timer = on_timer,
			       .cnp = on_cnp,   .hears_arrivals = true,
			       .notify = notify};
