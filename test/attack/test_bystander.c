/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Honest hosts beside every attack, each at line rate of its port: nothing lossless is lost, every
 * pause reaches its host, rates stay within 5 % of those without the attacker, and a host that
 * arrives during the attack is heard.
 *
 * An attack whose frames leave by an honest port in another class shares the link by DWRR; struct
 * attack says what is left.
 */

#include <inttypes.h>
#include <stdio.h>

#include "unit/cases.h"
#include "attack/town.h"
#include "base/numbers/units.h"

#define RUN_NS (1500 * NS_PER_US)

static struct town_result calm;

static int
open_town(void **state)
{
	(void)state;
	town_open();
	calm = town_run(attack_of("nobody"), RUN_NS, 0);
	return 0;
}

/* Without an attacker nothing is lost, and what the others are held against has happened. */
TEST(calm_town_loses_nothing)
{
	assert_int_equal(calm.lossless.arrived, calm.lossless.sent);
	assert_int_equal(calm.incast.arrived, calm.incast.sent);
	assert_int_equal(calm.routed.arrived, calm.routed.sent);
	assert_true(calm.lossless.sent > 1000 && calm.incast.sent > 4000 &&
		    calm.newcomer.sent > 400);
	assert_true(calm.pauses_sent > 0);
	assert_int_equal(calm.pauses_obeyed, calm.pauses_sent);
}

static unsigned int
percent(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : (unsigned int)(part * 100 / whole);
}

static unsigned int
least(uint8_t pct)
{
	return pct == 0 ? 95 : pct;
}

static bool
holds(const char *name, const struct attack *a, const struct town_result *r)
{
	unsigned int lossless = percent(r->lossless.in_time, calm.lossless.in_time);
	unsigned int incast = percent(r->incast.in_time, calm.incast.in_time);
	unsigned int routed = percent(r->routed.in_time, calm.routed.in_time);
	unsigned int newcomer = percent(r->newcomer.in_time, calm.newcomer.in_time);
	bool good = r->honest_refused == 0 && r->lossless.arrived == r->lossless.sent &&
		    r->incast.arrived == r->incast.sent && r->routed.arrived == r->routed.sent &&
		    r->pauses_obeyed == r->pauses_sent && lossless >= least(a->lossless_pct) &&
		    incast >= least(a->incast_pct) && routed >= 95 && newcomer >= 95;

	printf("%s %-28s %7" PRIu64 " frames; lossless %3u %%, incast %3u %%, routed %3u %%, "
	       "newcomer %3u %% after %" PRIu64 " ns; lost %" PRId64 " %" PRId64 " %" PRId64
	       ", refused by devices %" PRIu64 " honest, %" PRIu64 " hostile; pauses %" PRIu64
	       " of %" PRIu64 "\n",
	       good ? "ok    " : "NOT OK", name, r->attack_frames, lossless, incast, routed,
	       newcomer, r->newcomer_answered_ns, (int64_t)(r->lossless.sent - r->lossless.arrived),
	       (int64_t)(r->incast.sent - r->incast.arrived),
	       (int64_t)(r->routed.sent - r->routed.arrived), r->honest_refused, r->attack_refused,
	       r->pauses_obeyed, r->pauses_sent);
	return good;
}

TEST(bystanders_do_not_notice_any_attack)
{
	unsigned int bad = 0;

	for (unsigned int i = 0; i < attacks_n; i++) {
		struct town_result r = town_run(&attacks[i], RUN_NS, 0);

		bad += !holds(attacks[i].name, &attacks[i], &r);
	}
	assert_int_equal(bad, 0);
}

TEST_MAIN(.begin = open_town)
