/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN+: DCQCN whose timer and steps follow the size of an incast.
 *
 * Source: Gao et al., "DCQCN+: Taming Large-Scale Incast Congestion in RDMA over Ethernet
 * Networks", ICNP 2018, with the constants of the ns-3 model that the authors of Paraleon (ICNP
 * 2024) published; doc/equations.md says what is ours.
 *
 * A NIC sends one CNP in a time d at most (np_min_port_cnp_interval_ns), so the CNPs of one of n
 * marked QPs come n d apart. With many QPs that is longer than DCQCN's timer, which then raises the
 * rates of a congested queue between two CNPs. The receiver counts the marked QPs, and tells the
 * interval:
 *
 *   tau = max(N, n d)                                  in the CNP
 *   tau_R = max(N, tau, L / R_C)                       a QP sends a packet of L in L / R_C
 *   R_T = R_C, R_C = R_C (1 - alpha / 2), alpha = (1 - g) alpha + g      at a CNP, as DCQCN
 *   alpha = (1 - g) alpha, R_T = R_T + step, R_C = (R_T + R_C) / 2       each lambda tau_R
 *
 * In event s of the timer since the last CNP, on a link of C:
 *
 *   s <= F         step = 0                                              fast recovery
 *   F < s <= 4 F   step = min(R_C / 5, C / 50), or half of it with alpha <= 0.1
 *   s > 4 F        step = min(R_C, (s - 4 F) C / 100)                    exponential growth
 *
 * At the rates of a large incast, the step is a share of R_C: the sum of the steps of n QPs does
 * not grow with n.
 *
 * Invariant: dcqcn_plus_min_rate <= R_C <= R_T <= the port's speed.
 */
#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "base/threads/counter.h"
#include "cc/algorithms/cc_ops.h"

#define ALPHA_ONE (1u << 31)
#define ALPHA_LOW (ALPHA_ONE / 10)
/* 1024 ln(2^31), rounded up: (1 - g)^k 2^31 < 1 if k g >= ln(2^31). */
#define ALPHA_GONE 22004u

struct dcqcn_plus_params {
	uint64_t dcqcn_plus_interval_ns; /* N */
	uint64_t dcqcn_plus_min_rate_bps;
	uint8_t dcqcn_plus_timer;     /* lambda */
	uint8_t dcqcn_plus_threshold; /* F */
	uint16_t dcqcn_plus_g;        /* weight of the NEW sample, in 1/1024 */
};

struct dcqcn_plus_stats {
	uint64_t dcqcn_plus_cuts;
	uint64_t dcqcn_plus_fast_recoveries;
	uint64_t dcqcn_plus_additive_increases;
	uint64_t dcqcn_plus_exponential_increases;
};

struct dcqcn_plus {
	struct cc_head head; /* next_event_ns: next_ns below the port's speed, or NEVER_NS */
	uint64_t target_rate_bps;
	uint64_t next_ns;   /* of the timer; NEVER_NS at line rate before the first CNP */
	uint64_t period_ns; /* lambda tau_R of the last CNP */
	uint32_t alpha_q31; /* [0, 2^31] */
	uint32_t packet_bytes;
	uint16_t stage; /* s, saturating */
};
CC_FITS(struct dcqcn_plus, struct dcqcn_plus_params, struct dcqcn_plus_stats);

/* Of a QP at the receiver: the window in which it was counted, and the time of its last CNP. */
struct dcqcn_plus_np {
	uint64_t counted, told_ns;
};

/*
 * Of all QPs of the node: the present window, and marked QPs in it and in the one before. Nodes
 * that share a port count apart, so their tau is too short.
 */
struct dcqcn_plus_np_node {
	uint64_t window, start_ns, interval_ns;
	uint32_t qps, qps_before;
};
CC_NP_FITS(struct dcqcn_plus_np, struct dcqcn_plus_np_node);

const struct field dcqcn_plus_fields[] = {
	{FIELD_OF(struct dcqcn_plus_params, dcqcn_plus_interval_ns), .type = FIELD_U64,
	 .unit = UNIT_NS, .min = 1000, .max = NS_PER_SEC, .def = "50us", .live = true,
	 .aliases = {{.name = "N"}},
	 .help = "N: least time between two CNPs of a QP; with n marked QPs, their CNPs come n "
		 "np_min_port_cnp_interval_ns apart if that is longer"},
	{FIELD_OF(struct dcqcn_plus_params, dcqcn_plus_timer), .type = FIELD_U8, .min = 1,
	 .max = 16, .def = "2", .live = true, .aliases = {{.name = "lambda"}},
	 .help = "lambda: time between two rate increases, in intervals of CNPs"},
	{FIELD_OF(struct dcqcn_plus_params, dcqcn_plus_threshold), .type = FIELD_U8, .max = 31,
	 .def = "5", .live = true, .aliases = {{.name = "F"}},
	 .help = "F: steps of fast recovery; after 4 F steps, the growth is exponential"},
	{FIELD_OF(struct dcqcn_plus_params, dcqcn_plus_g), .type = FIELD_U16, .unit = UNIT_1024,
	 .min = 1, .max = 1024, .def = "4", .live = true, .aliases = {{.name = "g"}},
	 .help = "g: weight of the new sample in alpha, in 1/1024"},
	{FIELD_OF(struct dcqcn_plus_params, dcqcn_plus_min_rate_bps), .type = FIELD_U64,
	 .unit = UNIT_BPS, .min = 1, .max = 1600 * GBPS, .def = "10M", .live = true,
	 .help = "lowest rate that a cut can reach"},
};
const unsigned int dcqcn_plus_fields_n = ARRAY_LEN(dcqcn_plus_fields);

const struct counter_field dcqcn_plus_counters[] = {
	COUNTER_FIELD(struct dcqcn_plus_stats, dcqcn_plus_cuts, "rate cuts"),
	COUNTER_FIELD(struct dcqcn_plus_stats, dcqcn_plus_fast_recoveries,
		      "steps of fast recovery"),
	COUNTER_FIELD(struct dcqcn_plus_stats, dcqcn_plus_additive_increases,
		      "steps of additive increase"),
	COUNTER_FIELD(struct dcqcn_plus_stats, dcqcn_plus_exponential_increases,
		      "steps of exponential growth"),
};
const unsigned int dcqcn_plus_counters_n = ARRAY_LEN(dcqcn_plus_counters);

/* A window lasts tau, in which each of n QPs with CNPs has a packet at least. */
static void
count_marked(struct dcqcn_plus_np *qp, struct dcqcn_plus_np_node *all, uint64_t least_ns,
	     uint64_t gap_ns, uint64_t now_ns)
{
	uint64_t age_ns = now_ns - all->start_ns;

	if (all->window == 0 || age_ns >= all->interval_ns) {
		all->qps_before = age_ns < 2 * all->interval_ns ? all->qps : 0;
		all->qps = 0;
		all->window++;
		all->start_ns = now_ns;
	}
	all->qps += qp->counted != all->window;
	qp->counted = all->window;
	all->interval_ns = max_u64(least_ns, max_u64(all->qps, all->qps_before) * gap_ns);
}

static bool
notify(struct cc_np *of_qp, struct cc_np_node *of_node, const struct cc_node *node,
       const struct cc_arrival *arrival, uint32_t *value, uint64_t now_ns)
{
	struct dcqcn_plus_np *qp = (struct dcqcn_plus_np *)of_qp;
	struct dcqcn_plus_np_node *all = (struct dcqcn_plus_np_node *)of_node;
	const struct dcqcn_plus_params *p = node->params;

	count_marked(qp, all, p->dcqcn_plus_interval_ns, arrival->cnp_gap_ns, now_ns);
	if (qp->told_ns != 0 && now_ns < qp->told_ns + p->dcqcn_plus_interval_ns)
		return false;
	qp->told_ns = now_ns;
	*value = (uint32_t)min_u64(all->interval_ns, UINT32_MAX);
	return true;
}

/* lambda tau_R */
static uint64_t
period_ns(const struct dcqcn_plus *d, const struct dcqcn_plus_params *p, uint64_t told_ns)
{
	uint64_t packet_ns = mul_div(d->packet_bytes * 8ull, NS_PER_SEC, d->head.rate_bps);

	return p->dcqcn_plus_timer *
	       max_u64(p->dcqcn_plus_interval_ns, max_u64(told_ns, packet_ns));
}

static uint32_t
alpha_decay(const struct dcqcn_plus_params *p, uint32_t alpha_q31)
{
	return (uint32_t)((uint64_t)alpha_q31 * (1024u - p->dcqcn_plus_g) >> 10);
}

/* Alpha after n events of the timer; rounding down makes it fall by a unit at least. */
static uint32_t
alpha_after(const struct dcqcn_plus_params *p, uint32_t alpha_q31, uint64_t n)
{
	if (n >= ALPHA_GONE || n * p->dcqcn_plus_g >= ALPHA_GONE)
		return 0;
	for (; n > 0 && alpha_q31 > 0; n--)
		alpha_q31 = alpha_decay(p, alpha_q31);
	return alpha_q31;
}

/* An event of the timer, below the port's speed. */
static uint32_t
increase(struct dcqcn_plus *d, const struct cc_node *node)
{
	const struct dcqcn_plus_params *p = node->params;
	struct dcqcn_plus_stats *stats = node->stats;
	const uint64_t line_bps = node->max_rate_bps, rate_bps = d->head.rate_bps;
	const unsigned int f = p->dcqcn_plus_threshold;
	uint64_t step_bps = 0;
	uint32_t did;

	d->alpha_q31 = alpha_decay(p, d->alpha_q31);
	d->stage = (uint16_t)min_u64(UINT16_MAX, d->stage + 1u);
	if (d->stage <= f) {
		counter_inc(&stats->dcqcn_plus_fast_recoveries);
		did = CC_DID_FAST;
	} else if (d->stage <= 4 * f) {
		uint64_t part = d->alpha_q31 > ALPHA_LOW ? 1 : 2;

		step_bps = min_u64(rate_bps / (5 * part), line_bps / (50 * part));
		counter_inc(&stats->dcqcn_plus_additive_increases);
		did = CC_DID_RAISE;
	} else {
		step_bps = min_u64(rate_bps, mul_div(line_bps, d->stage - 4 * f, 100));
		counter_inc(&stats->dcqcn_plus_exponential_increases);
		did = CC_DID_HYPER;
	}
	d->target_rate_bps = min_u64(d->target_rate_bps + step_bps, line_bps);
	/* Rounded up, because R_C would never reach R_T if it were rounded down. */
	d->head.rate_bps = (d->target_rate_bps + rate_bps + 1) / 2;
	return did;
}

/*
 * The events of the timer up to now. Bounded: after 4 F events the rate doubles until the step is a
 * share of the line, and at line rate only alpha falls.
 */
static uint32_t
on_timer(struct cc *cc, const struct cc_node *node, uint64_t now_ns)
{
	struct dcqcn_plus *d = (struct dcqcn_plus *)cc;
	uint32_t did = 0;

	while (d->next_ns <= now_ns && d->head.rate_bps < node->max_rate_bps) {
		did |= increase(d, node);
		d->next_ns += d->period_ns;
	}
	if (d->next_ns <= now_ns) {
		uint64_t n = (now_ns - d->next_ns) / d->period_ns + 1;

		d->alpha_q31 = alpha_after(node->params, d->alpha_q31, n);
		d->next_ns += n * d->period_ns;
	}
	d->head.next_event_ns = d->head.rate_bps < node->max_rate_bps ? d->next_ns : NEVER_NS;
	assert(d->head.rate_bps <= d->target_rate_bps && d->target_rate_bps <= node->max_rate_bps);
	return did;
}

/* With a timer, called for a packet that is sent when it is due. */
static uint32_t
on_sent(struct cc *cc, const struct cc_node *node, uint32_t bytes, uint64_t now_ns)
{
	(void)bytes;
	return on_timer(cc, node, now_ns);
}

/* A receiver without the hook tells no interval: its CNPs come N apart at least. */
static uint32_t
on_cnp(struct cc *cc, const struct cc_node *node, const struct cc_cnp *cnp, uint64_t now_ns)
{
	struct dcqcn_plus *d = (struct dcqcn_plus *)cc;
	const struct dcqcn_plus_params *p = node->params;
	struct dcqcn_plus_stats *stats = node->stats;
	uint32_t did = CC_DID_CNP | on_timer(cc, node, now_ns);
	uint64_t rate_bps = d->head.rate_bps;
	uint64_t cut_bps = (uint64_t)((unsigned __int128)rate_bps * d->alpha_q31 >> 32);

	counter_inc(&node->rp_stats->rp_cnp_handled);
	d->period_ns = period_ns(d, p, cnp->value);
	d->target_rate_bps = rate_bps;
	d->head.rate_bps = max_u64(rate_bps - cut_bps, node->min_rate_bps);
	d->alpha_q31 = ALPHA_ONE - alpha_decay(p, ALPHA_ONE - d->alpha_q31);
	d->stage = 0;
	d->next_ns = now_ns + d->period_ns;
	d->head.next_event_ns = d->head.rate_bps < node->max_rate_bps ? d->next_ns : NEVER_NS;
	if (d->head.rate_bps == rate_bps)
		return did;
	counter_inc(&stats->dcqcn_plus_cuts);
	return did | CC_DID_CUT;
}

static void
start(struct cc *cc, const struct cc_node *node, const struct cc_begin *begin, uint64_t now_ns)
{
	struct dcqcn_plus *d = (struct dcqcn_plus *)cc;

	d->target_rate_bps = begin->rate_bps;
	d->alpha_q31 = ALPHA_ONE;
	d->packet_bytes = begin->packet_bytes;
	d->period_ns = period_ns(d, node->params, 0);
	d->next_ns = NEVER_NS;
	if (begin->rate_bps < node->max_rate_bps)
		d->next_ns = d->head.next_event_ns = now_ns + d->period_ns;
}

static uint32_t
on_params(struct cc *cc, const struct cc_node *node)
{
	struct dcqcn_plus *d = (struct dcqcn_plus *)cc;

	if (d->head.rate_bps >= node->min_rate_bps)
		return 0;
	d->head.rate_bps = node->min_rate_bps;
	d->target_rate_bps = max_u64(d->target_rate_bps, d->head.rate_bps);
	return CC_DID_RELOAD;
}

static void
read(const struct cc *cc, const struct cc_node *node, struct cc_view *out, uint64_t now_ns)
{
	const struct dcqcn_plus *d = (const struct dcqcn_plus *)cc;
	uint64_t n = d->next_ns <= now_ns ? (now_ns - d->next_ns) / d->period_ns + 1 : 0;

	out->target_rate_bps = d->target_rate_bps;
	out->alpha_q32 = (uint64_t)alpha_after(node->params, d->alpha_q31, n) << 1;
	out->time_stage = d->stage;
}

const struct cc_ops cc_dcqcn_plus = {
	CC_TABLES(dcqcn_plus), .min_rate_key = "dcqcn_plus_min_rate_bps",
	.start = start,        .sent = on_sent,
	.timer = on_timer,     .cnp = on_cnp,
	.notify = notify,      .params = on_params,
	.read = read,
};
