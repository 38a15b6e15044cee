/* SPDX-License-Identifier: BSD-3-Clause */
/* Reaction points under test: parameters, and events with the rates that sources print for them. */
#ifndef QUENCH_TEST_UNIT_RP_TEST_H
#define QUENCH_TEST_UNIT_RP_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/fixed.h"
#include "cc/rp.h"

#define US NS_PER_US
#define HOUR_NS (3600 * NS_PER_SEC)
#define LEN(a) (sizeof(a) / sizeof((a)[0]))

enum event { LOOK, CNP, SENT };

/* Rates in Mb/s, as the sources print them; target 0: not compared. */
struct row {
	uint64_t at_ns;
	enum event event;
	double rate_mbps, target_mbps;
};

static inline struct rp_params
params_of(enum rp_profile profile, uint64_t max_rate_bps)
{
	struct rp_params params;
	const char *why;

	rp_params_default(&params, profile);
	params.rp_max_rate_bps = max_rate_bps;
	assert_int_equal(rp_params_check(&params, &why), 0);
	return params;
}

static inline void
run(const struct rp_params *params, const struct row *rows, size_t n, double accept_mbps)
{
	struct rp_stats stats = {0};
	struct rp rp;

	rp_init(&rp, params, params->rp_max_rate_bps, 0);
	for (size_t i = 0; i < n; i++) {
		uint64_t rate_bps = 0;

		switch (rows[i].event) {
		case LOOK:
			rate_bps = rp_update(&rp, params, &stats, rows[i].at_ns);
			break;
		case CNP:
			rate_bps = rp_on_cnp(&rp, params, &stats, rows[i].at_ns);
			break;
		case SENT:
			rate_bps = rp_on_sent(&rp, params, &stats,
					      (uint32_t)params->rp_byte_reset_bytes, rows[i].at_ns);
			break;
		}
		if (fabs((double)rate_bps / 1e6 - rows[i].rate_mbps) > accept_mbps)
			fail_msg("row %zu: rate %.6f, not %.6f Mb/s", i, (double)rate_bps / 1e6,
				 rows[i].rate_mbps);
		if (rows[i].target_mbps > 0 &&
		    fabs((double)rp.target_rate_bps / 1e6 - rows[i].target_mbps) > accept_mbps)
			fail_msg("row %zu: target %.6f, not %.6f Mb/s", i,
				 (double)rp.target_rate_bps / 1e6, rows[i].target_mbps);
	}
}

static inline double
alpha_of(const struct rp *rp, const struct rp_params *params, uint64_t now_ns)
{
	return (double)rp_alpha_q32(rp, params, now_ns) / (double)Q32_ONE;
}

#endif
