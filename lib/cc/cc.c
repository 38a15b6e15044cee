/* SPDX-License-Identifier: BSD-3-Clause */
#include "cc/cc.h"

#include "base/threads/counter.h"
#include "base/numbers/fixed.h"

const char *const cc_words[] = {
	[CC_NONE] = "none",     [CC_DCQCN] = "dcqcn",   [CC_DCTCP] = "dctcp",
	[CC_TIMELY] = "timely", [CC_ALGORITHMS] = NULL,
};

/*
 * Check that every algorithm's state begins like struct cc_head, because the inline functions rely
 * on it.
 */
#define HEAD_MATCHES(type, rate)                                                                   \
	static_assert(offsetof(struct type, rate) == offsetof(struct cc_head, rate_bps) &&         \
			      offsetof(struct type, next_event_ns) ==                              \
				      offsetof(struct cc_head, next_event_ns) &&                   \
			      offsetof(struct type, byte_count) ==                                 \
				      offsetof(struct cc_head, byte_count),                        \
		      "the state begins like struct cc_head")

HEAD_MATCHES(rp, current_rate_bps);
HEAD_MATCHES(dctcp, rate_bps);
HEAD_MATCHES(timely, rate_bps);

const char *
cc_reason_word(unsigned int i)
{
	static const char *const words[CC_REASONS] = {
		"start",  "cnp",     "cut",  "fast", "additive", "hyper",
		"engage", "release", "loss", "rtt",  "reload",
	};

	return words[i];
}

static void
none_start(struct cc *cc, const struct cc_node *node, uint64_t start_rate_bps, uint64_t now_ns)
{
	(void)node;
	(void)now_ns;
	cc->head = (struct cc_head){.rate_bps = start_rate_bps, .next_event_ns = NEVER_NS};
}

static void
dcqcn_start(struct cc *cc, const struct cc_node *node, uint64_t start_rate_bps, uint64_t now_ns)
{
	rp_init(&cc->rp, node->rp, start_rate_bps, now_ns);
	if (rp_limited(&cc->rp))
		counter_inc(&node->rp_stats->rp_engagements);
}

static uint32_t
dcqcn_params(struct cc *cc, const struct cc_node *node)
{
	return rp_on_params(&cc->rp, node->rp);
}

static uint32_t
dcqcn_sent(struct cc *cc, const struct cc_node *node, uint32_t bytes, uint64_t now_ns)
{
	return rp_on_sent(&cc->rp, node->rp, node->rp_stats, bytes, now_ns);
}

static uint32_t
dcqcn_timer(struct cc *cc, const struct cc_node *node, uint64_t now_ns)
{
	return rp_on_timer(&cc->rp, node->rp, node->rp_stats, now_ns);
}

static uint32_t
dcqcn_cnp(struct cc *cc, const struct cc_node *node, uint64_t now_ns)
{
	return rp_on_cnp(&cc->rp, node->rp, node->rp_stats, now_ns);
}

static void
dcqcn_read(const struct cc *cc, const struct cc_node *node, struct cc_view *out, uint64_t now_ns)
{
	out->target_rate_bps = cc->rp.target_rate_bps;
	out->alpha_q32 = rp_alpha_q32(&cc->rp, node->rp, now_ns);
	out->time_stage = cc->rp.time_stage;
	out->byte_stage = cc->rp.byte_stage;
	out->limited = rp_limited(&cc->rp);
}

/* Raise the rate to a minimum that has become higher. */
static uint32_t
raise_to(struct cc *cc, uint64_t rate_bps)
{
	if (cc->head.rate_bps >= rate_bps)
		return 0;
	cc->head.rate_bps = rate_bps;
	return CC_DID_RELOAD;
}

static void
dctcp_start(struct cc *cc, const struct cc_node *node, uint64_t start_rate_bps, uint64_t now_ns)
{
	(void)now_ns;
	dctcp_init(&cc->dctcp, node->dctcp, start_rate_bps, node->max_rate_bps);
}

static uint32_t
dctcp_params(struct cc *cc, const struct cc_node *node)
{
	return raise_to(cc, min_u64(node->dctcp->dctcp_min_rate_bps, node->max_rate_bps));
}

static uint32_t
dctcp_cnp(struct cc *cc, const struct cc_node *node, uint64_t now_ns)
{
	(void)now_ns;
	counter_inc(&node->rp_stats->rp_cnp_handled);
	return dctcp_on_cnp(&cc->dctcp, node->dctcp, node->dctcp_stats);
}

static uint32_t
dctcp_ack(struct cc *cc, const struct cc_node *node, const struct cc_ack *ack, uint64_t now_ns)
{
	const struct dctcp_ack acked = {ack->acked_seq, ack->next_seq, ack->packets};

	(void)now_ns;
	return dctcp_on_ack(&cc->dctcp, node->dctcp, node->dctcp_stats, &acked, node->max_rate_bps);
}

static uint32_t
dctcp_loss(struct cc *cc, const struct cc_node *node, uint64_t now_ns)
{
	(void)now_ns;
	return dctcp_on_loss(&cc->dctcp, node->dctcp, node->dctcp_stats);
}

static void
dctcp_read(const struct cc *cc, const struct cc_node *node, struct cc_view *out, uint64_t now_ns)
{
	(void)now_ns;
	out->alpha_q32 = (uint64_t)cc->dctcp.alpha_q31 << 1;
	out->limited = cc->dctcp.rate_bps < node->max_rate_bps;
}

static void
timely_start(struct cc *cc, const struct cc_node *node, uint64_t start_rate_bps, uint64_t now_ns)
{
	(void)now_ns;
	timely_init(&cc->timely, node->timely, start_rate_bps, node->max_rate_bps);
}

static uint32_t
timely_params(struct cc *cc, const struct cc_node *node)
{
	return raise_to(cc, min_u64(node->timely->timely_min_rate_bps, node->max_rate_bps));
}

static uint32_t
timely_ack(struct cc *cc, const struct cc_node *node, const struct cc_ack *ack, uint64_t now_ns)
{
	(void)now_ns;
	if (ack->rtt_ns == 0)
		return 0;
	return timely_on_rtt(&cc->timely, node->timely, node->timely_stats, ack->rtt_ns,
			     node->max_rate_bps);
}

static void
timely_read(const struct cc *cc, const struct cc_node *node, struct cc_view *out, uint64_t now_ns)
{
	(void)now_ns;
	out->rtt_ns = cc->timely.rtt_ns;
	out->limited = cc->timely.rate_bps < node->max_rate_bps;
}

static const struct cc_ops algorithms[CC_ALGORITHMS] = {
	[CC_NONE] = {.start = none_start},
	[CC_DCQCN] = {.start = dcqcn_start,
		      .sent = dcqcn_sent,
		      .timer = dcqcn_timer,
		      .cnp = dcqcn_cnp,
		      .params = dcqcn_params,
		      .read = dcqcn_read},
	[CC_DCTCP] = {.start = dctcp_start,
		      .cnp = dctcp_cnp,
		      .ack = dctcp_ack,
		      .loss = dctcp_loss,
		      .params = dctcp_params,
		      .read = dctcp_read},
	[CC_TIMELY] = {.start = timely_start,
		       .ack = timely_ack,
		       .hears_rtts = true,
		       .params = timely_params,
		       .read = timely_read},
};

void
cc_init(struct cc_node *node, const struct cc_setup *setup)
{
	*node = (struct cc_node){
		.ops = &algorithms[setup->algorithm],
		.max_rate_bps = setup->max_rate_bps,
		.rp_stats = setup->rp_stats,
	};
	node->hears_acks = node->ops->ack != NULL;
	node->hears_rtts = node->ops->hears_rtts;
	switch (setup->algorithm) {
	case CC_DCQCN:
		node->rp = setup->rp;
		break;
	case CC_DCTCP:
		node->dctcp = setup->dctcp;
		node->dctcp_stats = setup->dctcp_stats;
		break;
	case CC_TIMELY:
		node->timely = setup->timely;
		node->timely_stats = setup->timely_stats;
		break;
	default:
		break;
	}
	cc_take_params(node);
}

void
cc_take_params(struct cc_node *node)
{
	if (node->ops == &algorithms[CC_DCQCN])
		node->byte_event_bytes = node->rp->rp_byte_reset_bytes;
}

uint32_t
cc_on_start(struct cc *cc, const struct cc_node *node, uint64_t start_rate_bps, uint64_t now_ns)
{
	node->ops->start(cc, node, start_rate_bps, now_ns);
	return CC_DID_START;
}

uint32_t
cc_on_cnp(struct cc *cc, const struct cc_node *node, uint64_t now_ns)
{
	if (node->ops->cnp != NULL)
		return node->ops->cnp(cc, node, now_ns);
	counter_inc(&node->rp_stats->rp_cnp_ignored);
	return 0;
}

uint32_t
cc_on_timer(struct cc *cc, const struct cc_node *node, uint64_t now_ns)
{
	if (now_ns < cc->head.next_event_ns)
		return 0;
	assert(node->ops->timer != NULL);
	return node->ops->timer(cc, node, now_ns);
}

uint32_t
cc_on_ack(struct cc *cc, const struct cc_node *node, const struct cc_ack *ack, uint64_t now_ns)
{
	return node->ops->ack != NULL ? node->ops->ack(cc, node, ack, now_ns) : 0;
}

uint32_t
cc_on_loss(struct cc *cc, const struct cc_node *node, uint64_t now_ns)
{
	return node->ops->loss != NULL ? node->ops->loss(cc, node, now_ns) : 0;
}

uint32_t
cc_on_params(struct cc *cc, const struct cc_node *node)
{
	return node->ops->params == NULL ? 0 : node->ops->params(cc, node);
}

void
cc_read(const struct cc *cc, const struct cc_node *node, struct cc_view *out, uint64_t now_ns)
{
	*out = (struct cc_view){
		.rate_bps = cc->head.rate_bps,
		.target_rate_bps = cc->head.rate_bps,
	};
	if (node->ops->read != NULL)
		node->ops->read(cc, node, out, now_ns);
}

uint32_t
cc_on_sent_slow(struct cc *cc, const struct cc_node *node, uint32_t bytes, uint64_t now_ns)
{
	assert(node->ops->sent != NULL);
	return node->ops->sent(cc, node, bytes, now_ns);
}
