/* SPDX-License-Identifier: BSD-3-Clause */
/* DCQCN (rp.h) as a congestion control of the table: CNPs, bytes and time set the rate. */
#include "base/threads/counter.h"
#include "cc/algorithms/cc_ops.h"

static void
start(struct cc *cc, const struct cc_node *node, const struct cc_begin *begin, uint64_t now_ns)
{
	rp_init(&cc->rp, node->params, begin->rate_bps, now_ns);
	if (rp_limited(&cc->rp))
		counter_inc(&node->rp_stats->rp_engagements);
}

static uint32_t
on_params(struct cc *cc, const struct cc_node *node)
{
	return rp_on_params(&cc->rp, node->params);
}

static uint32_t
on_sent(struct cc *cc, const struct cc_node *node, uint32_t bytes, uint64_t now_ns)
{
	return rp_on_sent(&cc->rp, node->params, node->rp_stats, bytes, now_ns);
}

static uint32_t
on_timer(struct cc *cc, const struct cc_node *node, uint64_t now_ns)
{
	return rp_on_timer(&cc->rp, node->params, node->rp_stats, now_ns);
}

static uint32_t
on_cnp(struct cc *cc, const struct cc_node *node, const struct cc_cnp *cnp, uint64_t now_ns)
{
	(void)cnp;
	return rp_on_cnp(&cc->rp, node->params, node->rp_stats, now_ns);
}

static void
rest(struct cc *cc, uint64_t until_ns)
{
	rp_rest(&cc->rp, until_ns);
}

static uint32_t
pass(struct cc *cc, const struct cc_node *node, uint64_t ns, uint64_t now_ns)
{
	return rp_pass(&cc->rp, node->params, node->rp_stats, ns, now_ns);
}

static void
read(const struct cc *cc, const struct cc_node *node, struct cc_view *out, uint64_t now_ns)
{
	out->target_rate_bps = cc->rp.target_rate_bps;
	out->alpha_q32 = rp_alpha_q32(&cc->rp, node->params, now_ns);
	out->time_stage = cc->rp.time_stage;
	out->byte_stage = cc->rp.byte_stage;
	out->limited = rp_limited(&cc->rp);
}

const struct cc_ops cc_dcqcn = {
	CC_TABLES(rp),       .byte_event_key = "rp_byte_reset_bytes",
	.start = start,      .sent = on_sent,
	.timer = on_timer,   .cnp = on_cnp,
	.params = on_params, .rest = rest,
	.pass = pass,        .read = read,
};
