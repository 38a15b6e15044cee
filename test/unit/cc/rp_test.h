/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reaction point as a node drives it, through cc.h: parameters, and events with the rates that
 * sources print for them.
 */
#ifndef QUENCH_TEST_UNIT_CC_RP_TEST_H
#define QUENCH_TEST_UNIT_CC_RP_TEST_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "cc/cc.h"

#define US NS_PER_US
#define HOUR_NS (3600 * NS_PER_SEC)

enum event { LOOK, CNP };

/* Rates in Mb/s, as the sources print them. */
struct row {
	uint64_t at_ns;
	enum event event;
	double rate_mbps, target_mbps;
};

static inline struct rp_params
params_of(enum rp_profile profile, uint64_t max_rate_bps)
{
	struct rp_params params;
	char why[256];

	rp_params_default(&params, profile);
	params.rp_max_rate_bps = max_rate_bps;
	assert_int_equal(rp_params_check(&params, why, sizeof(why)), 0);
	return params;
}

/* Stays where it is once started: its node points into it. */
struct point {
	union {
		struct rp_params params;
		struct cc_params keys;
	};
	union {
		struct rp_stats stats;
		struct cc_stats counts;
	};
	struct cc_node node;
	struct cc cc;
	bool honest; /* each event said that it did what it counted */
};

/* The bits of what was counted since. */
static inline uint32_t
counted(const struct rp_stats *was, const struct rp_stats *is)
{
	return (is->rp_cnp_handled > was->rp_cnp_handled ? CC_DID_CNP : 0) |
	       (is->rp_cuts > was->rp_cuts ? CC_DID_CUT : 0) |
	       (is->rp_fast_recoveries > was->rp_fast_recoveries ? CC_DID_FAST : 0) |
	       (is->rp_additive_increases > was->rp_additive_increases ? CC_DID_RAISE : 0) |
	       (is->rp_hyper_increases > was->rp_hyper_increases ? CC_DID_HYPER : 0) |
	       (is->rp_engagements > was->rp_engagements ? CC_DID_ENGAGE : 0) |
	       (is->rp_releases > was->rp_releases ? CC_DID_FREE : 0);
}

static inline void
point_start(struct point *p, const struct rp_params *params, uint64_t start_bps, uint64_t now_ns)
{
	struct cc_setup setup = {
		.algorithm = CC_DCQCN,
		.max_rate_bps = params->rp_max_rate_bps,
		.params = &p->keys,
		.stats = &p->counts,
	};

	p->params = *params;
	p->stats = (struct rp_stats){0};
	p->honest = true;
	cc_init(&p->node, &setup);
	assert_int_equal(
		cc_on_start(&p->cc, &p->node, &(struct cc_begin){.rate_bps = start_bps}, now_ns),
		CC_DID_START);
}

/* Was what an event did what it counted? @return the rate in force. */
static inline uint64_t
after(struct point *p, const struct rp_stats *was, uint32_t did)
{
	p->honest &= did == counted(was, &p->stats);
	return p->cc.head.rate_bps;
}

/* The events. @return the rate in force. */

static inline uint64_t
point_cnp(struct point *p, uint64_t now_ns)
{
	struct rp_stats was = p->stats;

	return after(p, &was, cc_on_cnp(&p->cc, &p->node, &(struct cc_cnp){.next_seq = 0}, now_ns));
}

static inline uint64_t
point_sent(struct point *p, uint32_t bytes, uint64_t now_ns)
{
	struct rp_stats was = p->stats;

	return after(p, &was, cc_on_sent(&p->cc, &p->node, bytes, now_ns));
}

static inline uint64_t
point_look(struct point *p, uint64_t now_ns)
{
	struct rp_stats was = p->stats;

	return after(p, &was, cc_on_timer(&p->cc, &p->node, now_ns));
}

static inline void
run(const struct rp_params *params, const struct row *rows, size_t n, double accept_mbps)
{
	struct point p;

	point_start(&p, params, params->rp_max_rate_bps, 0);
	for (size_t i = 0; i < n; i++) {
		double rate_bps = (double)(rows[i].event == CNP ? point_cnp(&p, rows[i].at_ns)
								: point_look(&p, rows[i].at_ns));
		double target_bps = (double)p.cc.rp.target_rate_bps;

		if (!p.honest)
			fail_msg("row %zu: it counted something else than it says", i);
		if (fabs(rate_bps / 1e6 - rows[i].rate_mbps) > accept_mbps)
			fail_msg("row %zu: rate %.6f, not %.6f Mb/s", i, rate_bps / 1e6,
				 rows[i].rate_mbps);
		if (fabs(target_bps / 1e6 - rows[i].target_mbps) > accept_mbps)
			fail_msg("row %zu: target %.6f, not %.6f Mb/s", i, target_bps / 1e6,
				 rows[i].target_mbps);
	}
}

static inline double
alpha_of(const struct point *p, uint64_t now_ns)
{
	return (double)rp_alpha_q32(&p->cc.rp, &p->params, now_ns) / (double)Q32_ONE;
}

#endif
