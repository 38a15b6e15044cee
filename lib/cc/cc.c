/* SPDX-License-Identifier: BSD-3-Clause */
#include "cc/cc.h"

#include <string.h>

#include "base/field/field_table.h"
#include "base/numbers/fixed.h"
#include "base/threads/counter.h"

#define CC(id, word, section) #word,
const char *const cc_words[] = {
	"none",
#include "cc/cc_table.h"
	NULL,
};

const char *const cc_choice_words[] = {
	"default",
	"none",
#include "cc/cc_table.h"
	NULL,
};
#undef CC

#define CC(id, word, section) extern const struct cc_ops cc_##word;
#include "cc/cc_table.h"
#undef CC

static const struct cc_ops cc_none;

const struct cc_ops *const cc_algorithms[] = {
	[CC_NONE] = &cc_none,
#define CC(id, word, section) [CC_##id] = &cc_##word,
#include "cc/cc_table.h"
#undef CC
};

/* struct rp is not a struct with a head, but begins like one: the inline functions rely on it. */
static_assert(offsetof(struct rp, current_rate_bps) == offsetof(struct cc_head, rate_bps) &&
		      offsetof(struct rp, next_event_ns) ==
			      offsetof(struct cc_head, next_event_ns) &&
		      offsetof(struct rp, byte_count) == offsetof(struct cc_head, byte_count),
	      "DCQCN's state begins like struct cc_head");

const char *
cc_reason_word(unsigned int i)
{
	static const char *const words[CC_REASONS] = {
		"start",   "cnp",  "cut", "fast",   "additive", "hyper", "engage",
		"release", "loss", "rtt", "reload", "int",      "ecn",
	};

	return words[i];
}

/* Value of a key; 0: the algorithm has none. */
static uint64_t
key_value(const struct cc_ops *ops, const char *key, const void *params)
{
	const struct field_alias *alias;

	return key == NULL
		       ? 0
		       : field_number(field_find(ops->fields, *ops->n_fields, key, &alias), params);
}

static uint64_t
min_rate_bps(const struct cc_ops *ops, const void *params)
{
	return key_value(ops, ops->min_rate_key, params);
}

struct cc_needs
cc_needs_of(uint32_t mask)
{
	struct cc_needs needs = {0};

	for (int i = 0; i < CC_ALGORITHMS; i++) {
		const struct cc_ops *ops = cc_algorithms[i];

		if (!(mask >> i & 1))
			continue;
		needs.hears_rtts |= ops->hears_rtts;
		needs.hears_hops |= ops->hears_hops;
		needs.hears_echoes |= ops->hears_echoes;
		needs.has_window |= ops->has_window;
		needs.notifies |= ops->notify != NULL;
		needs.more_bytes = (uint32_t)max_u64(needs.more_bytes, (ops->more_bytes + 7) & ~7u);
	}
	return needs;
}

uint64_t
cc_min_rate_bps(enum cc_algorithm algorithm, const struct cc_params *params)
{
	return algorithm == CC_NONE
		       ? 0
		       : min_rate_bps(cc_algorithms[algorithm], &params->of[CC_SLOT(algorithm)]);
}

int
cc_params_check(enum cc_algorithm algorithm, const struct cc_params *all, uint64_t link_speed_bps,
		char *why, unsigned int why_size)
{
	const struct cc_ops *ops = cc_algorithms[algorithm];
	const void *params = &all->of[CC_SLOT(algorithm)];
	int rc = fields_check(ops->fields, *ops->n_fields, params, why, why_size);

	if (rc == 0 && min_rate_bps(ops, params) > link_speed_bps)
		rc = params_refuse(why, why_size, "%s must not exceed link_speed_bps",
				   ops->min_rate_key);
	return rc == 0 && ops->check != NULL ? ops->check(params, why, why_size) : rc;
}

void
cc_init(struct cc_node *node, const struct cc_setup *setup)
{
	const struct cc_ops *ops = cc_algorithms[setup->algorithm];

	*node = (struct cc_node){
		.ops = ops,
		.hears_acks = ops->ack != NULL,
		.hears_rtts = ops->hears_rtts,
		.hears_hops = ops->hears_hops,
		.has_window = ops->has_window,
		.counts_packets = ops->counts_packets,
		.max_rate_bps = setup->max_rate_bps,
		.rp_stats = &setup->stats->of[CC_SLOT(CC_DCQCN)].rp,
	};
	if (setup->algorithm != CC_NONE) {
		node->params = &setup->params->of[CC_SLOT(setup->algorithm)];
		node->stats = &setup->stats->of[CC_SLOT(setup->algorithm)];
	}
	cc_take_params(node);
}

void
cc_take_params(struct cc_node *node)
{
	node->min_rate_bps = min_u64(min_rate_bps(node->ops, node->params), node->max_rate_bps);
	node->byte_event_bytes = key_value(node->ops, node->ops->byte_event_key, node->params);
}

uint32_t
cc_on_start(struct cc *cc, const struct cc_node *node, const struct cc_begin *begin,
	    uint64_t now_ns)
{
	struct cc_begin b = *begin;

	if (node->min_rate_bps > 0)
		b.rate_bps = min_u64(max_u64(b.rate_bps, node->min_rate_bps), node->max_rate_bps);
	memset(cc, 0, sizeof(*cc));
	if (node->ops->more_bytes > 0)
		memset(b.more, 0, node->ops->more_bytes);
	cc->head = (struct cc_head){.rate_bps = b.rate_bps, .next_event_ns = NEVER_NS};
	if (node->ops->start != NULL)
		node->ops->start(cc, node, &b, now_ns);
	return CC_DID_START;
}

uint32_t
cc_on_cnp(struct cc *cc, const struct cc_node *node, const struct cc_cnp *cnp, uint64_t now_ns)
{
	if (node->ops->cnp != NULL)
		return node->ops->cnp(cc, node, cnp, now_ns);
	counter_inc(&node->rp_stats->rp_cnp_ignored);
	return 0;
}

uint32_t
cc_catch_up(struct cc *cc, const struct cc_node *node, uint64_t now_ns)
{
	return node->ops->timer != NULL ? node->ops->timer(cc, node, now_ns) : 0;
}

void
cc_rest(struct cc *cc, const struct cc_node *node, uint64_t until_ns)
{
	if (node->ops->rest != NULL)
		node->ops->rest(cc, until_ns);
}

bool
cc_may_pass(const struct cc *cc, const struct cc_node *node)
{
	/* CC_NONE has no tables, and nothing to do. */
	return (node->ops->fields == NULL || node->ops->pass != NULL) &&
	       cc->head.next_event_ns == NEVER_NS;
}

uint32_t
cc_pass(struct cc *cc, const struct cc_node *node, uint64_t ns, uint64_t now_ns)
{
	return node->ops->pass != NULL ? node->ops->pass(cc, node, ns, now_ns) : 0;
}

uint32_t
cc_on_ack(struct cc *cc, const struct cc_node *node, const struct cc_ack *ack, uint64_t now_ns)
{
	return node->ops->ack != NULL ? node->ops->ack(cc, node, ack, now_ns) : 0;
}

uint32_t
cc_on_loss(struct cc *cc, const struct cc_node *node, uint32_t next_seq, enum cc_loss by,
	   uint64_t now_ns)
{
	return node->ops->loss != NULL ? node->ops->loss(cc, node, next_seq, by, now_ns) : 0;
}

uint32_t
cc_on_params(struct cc *cc, const struct cc_node *node)
{
	if (node->ops->params != NULL)
		return node->ops->params(cc, node);
	if (cc->head.rate_bps >= node->min_rate_bps)
		return 0;
	cc->head.rate_bps = node->min_rate_bps;
	return CC_DID_RELOAD;
}

void
cc_read(const struct cc *cc, const struct cc_node *node, struct cc_view *out, uint64_t now_ns)
{
	*out = (struct cc_view){
		.rate_bps = cc->head.rate_bps,
		.target_rate_bps = cc->head.rate_bps,
		.window_bytes = node->has_window ? cc->head.window_bytes : 0,
		.limited =
			node->ops->min_rate_key != NULL && cc->head.rate_bps < node->max_rate_bps,
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
