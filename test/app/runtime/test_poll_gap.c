/* SPDX-License-Identifier: BSD-3-Clause */
/* Gaps between polls, what late ones cost, when a loop wakes up, and when it warns. */
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "runtime/poll/poll_watch.h"

#define BURST_NS 4000

static struct poll_gap gap;
static struct poll_wake wake;
static struct poll_watch watch;

static int
setup(void **state)
{
	(void)state;
	memset(&gap, 0, sizeof(gap));
	memset(&wake, 0, sizeof(wake));
	memset(&watch, 0, sizeof(watch));
	gap.burst_ns = BURST_NS;
	return 0;
}

TEST(a_gap_is_the_time_since_the_last_poll)
{
	static const uint64_t polls_ns[] = {1000, 1100, 1200, 51200};

	for (unsigned int i = 0; i < 4; i++)
		poll_gap_add(&gap, false, 0, polls_ns[i]);
	assert_int_equal(gap.gap_ns.count, 3);
	assert_int_equal(hist_quantile(&gap.gap_ns, 50), 100);
	assert_int_equal(gap.gap_ns.max, 50000);
	/* Nothing waited. */
	assert_int_equal(gap.lost_ns, 0);
}

TEST(lateness_beyond_the_burst_is_lost_if_frames_moved)
{
	static const struct {
		const char *what;
		uint64_t gap_ns,
			due_in_ns; /* due_in_ns: after the last poll; 0: it did not sleep */
		bool moved;
		uint64_t lost_ns;
	} rows[] = {
		{"a spinning loop, within the burst", BURST_NS, 0, true, 0},
		{"beyond it", BURST_NS + 700, 0, true, 700},
		{"nothing to do", BURST_NS + 700, 0, false, 0},
		{"a loop that slept until its work was due", 120000, 119000, true, 0},
		{"and too long", 120000, 70000, true, 50000 - BURST_NS},
		{"a loop that slept without work", 120000, NEVER_NS, true, 0},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t before = gap.lost_ns;
		uint64_t last_ns = (i + 1) * NS_PER_MS;
		uint64_t due_ns = rows[i].due_in_ns == 0          ? 0
				  : rows[i].due_in_ns == NEVER_NS ? NEVER_NS
								  : last_ns + rows[i].due_in_ns;

		gap.last_ns = last_ns;
		poll_gap_add(&gap, rows[i].moved, due_ns, last_ns + rows[i].gap_ns);
		if (gap.lost_ns - before != rows[i].lost_ns)
			fail_msg("%s: lost %lu", rows[i].what,
				 (unsigned long)(gap.lost_ns - before));
	}
	assert_int_equal(gap.late_max_ns, 50000);
}

TEST(a_loop_wakes_up_earlier_by_what_sleeps_are_late)
{
	const uint64_t now_ns = NS_PER_SEC, due_ns = now_ns + 300000;

	assert_int_equal(poll_wake_sleep_ns(&wake, due_ns, NS_PER_MS, now_ns), 300000);
	poll_wake_woke(&wake, 60000);
	assert_int_equal(poll_wake_sleep_ns(&wake, due_ns, NS_PER_MS, now_ns), 240000);
	/* Not longer than it may, nor when work is due, nor less for want of work. */
	assert_int_equal(poll_wake_sleep_ns(&wake, due_ns, 50000, now_ns), 50000);
	assert_int_equal(poll_wake_sleep_ns(&wake, now_ns + 60000, 50000, now_ns), 0);
	assert_int_equal(poll_wake_sleep_ns(&wake, now_ns - 1, 50000, now_ns), 0);
	assert_int_equal(poll_wake_sleep_ns(&wake, NEVER_NS, 50000, now_ns), 50000);
}

TEST(the_estimate_rises_at_once_and_falls_slowly)
{
	poll_wake_woke(&wake, 64000);
	poll_wake_woke(&wake, 0);
	assert_int_equal(wake.early_ns, 63000);
	poll_wake_woke(&wake, 70000);
	assert_int_equal(wake.early_ns, 70000);
	for (unsigned int i = 0; i < 1000; i++)
		poll_wake_woke(&wake, 5000);
	assert_in_range(wake.early_ns, 5000, 5000 + (1 << POLL_WAKE_FALL_SHIFT));
	/* A task that ran for 10 ms is no reason to spin for as long. */
	poll_wake_woke(&wake, 10 * NS_PER_MS);
	assert_int_equal(wake.early_ns, POLL_WAKE_MOST_NS);
}

TEST(a_loss_of_a_tenth_is_said_once)
{
	gap.lost_ns = POLL_WATCH_NS / 10 - POLL_WATCH_NS / 1000;
	assert_int_equal(poll_watch_look(&watch, &gap, POLL_WATCH_NS), 0);
	gap.lost_ns += POLL_WATCH_NS / 4;
	assert_int_equal(poll_watch_look(&watch, &gap, 2ull * POLL_WATCH_NS), 25);
	gap.lost_ns += POLL_WATCH_NS / 2;
	assert_int_equal(poll_watch_look(&watch, &gap, 3ull * POLL_WATCH_NS), 0);
}

TEST_MAIN(.before_each = setup)
