/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of a QP in words, and as a story of few lines. */
#include <stdlib.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/units.h"
#include "ctl/results/explain.h"

static char text[1 << 16];

static const char *
line(const struct explain_event *e)
{
	FILE *out = fmemopen(text, sizeof(text), "w");

	explain_line(out, e);
	fclose(out);
	return text;
}

/* @return how many lines. */
static unsigned int
story(const struct explain_event *events, uint32_t n, uint32_t most)
{
	FILE *out = fmemopen(text, sizeof(text), "w");
	unsigned int lines = 0;

	text[0] = '\0';
	assert_int_equal(explain_story(out, events, n, most), 0);
	fclose(out);
	for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
		lines++;
	return lines;
}

static struct explain_event
rate(uint64_t at_ns, uint32_t did, uint64_t bps, uint64_t target_bps, uint16_t time_stage,
     uint16_t byte_stage)
{
	return (struct explain_event){.at_ns = at_ns,
				      .did = did,
				      .after = {.rate_bps = bps,
						.target_rate_bps = target_bps,
						.time_stage = time_stage,
						.byte_stage = byte_stage}};
}

TEST(each_event_says_what_moved_the_rate_and_why)
{
	struct explain_event e[] = {
		rate(0, CC_DID_START, 40 * GBPS, 40 * GBPS, 0, 0),
		rate(18750, CC_DID_CNP | CC_DID_CUT | CC_DID_ENGAGE, 30 * GBPS, 40 * GBPS, 0, 0),
		rate(73750, CC_DID_FAST, 35 * GBPS, 40 * GBPS, 1, 0),
		rate(100000, CC_DID_HYPER, 36 * GBPS, 40 * GBPS, 6, 6),
		rate(110000, CC_DID_CNP, 36 * GBPS, 40 * GBPS, 6, 6),
		rate(120000, CC_DID_RAISE | CC_DID_FREE, 40 * GBPS, 40 * GBPS, 6, 7),
		rate(130000, CC_DID_LOSS | CC_DID_CUT, GBPS / 2, GBPS / 2, 0, 0),
	};

	e[1].mark = (struct explain_mark){.where = "s1 port 4 queue 3",
					  .at_ns = 15750,
					  .queue_bytes = 212900,
					  .psn = 16,
					  .packets = 3};
	e[1].after.alpha_q32 = 1ull << 31;
	e[4].mark = (struct explain_mark){.psn = 17, .packets = 1};
	explain_set_before(e, 7);
	assert_string_equal(line(&e[0]), "      0.0000 ms  starts at 40.000 Gb/s\n");
	assert_string_equal(
		line(&e[1]),
		"      0.0187 ms  CNP: cut from 40.000 Gb/s to 30.000 Gb/s (alpha 0.500, target "
		"40.000 Gb/s); limited from here on; s1 port 4 queue 3 marked PSN 16 3.0 us "
		"before, with 212.9 KB queued, and 2 more\n");
	assert_string_equal(line(&e[2]),
			    "      0.0737 ms  fast recovery from 30.000 Gb/s to 35.000 Gb/s, "
			    "target 40.000 Gb/s (T 1, BC 0, by the timer)\n");
	assert_string_equal(line(&e[3]),
			    "      0.1000 ms  hyper increase from 35.000 Gb/s to 36.000 Gb/s, "
			    "target 40.000 Gb/s (T 6, BC 6, by timer and byte counter)\n");
	assert_string_equal(line(&e[4]), "      0.1100 ms  CNP: no cut now; PSN 17 came with CE\n");
	assert_string_equal(line(&e[5]),
			    "      0.1200 ms  additive increase from 36.000 Gb/s to 40.000 Gb/s, "
			    "target 40.000 Gb/s (T 6, BC 7, by the byte counter); at the maximum "
			    "rate, no longer limited\n");
	assert_string_equal(line(&e[6]),
			    "      0.1300 ms  loss: cut from 40.000 Gb/s to 500.0 Mb/s\n");
}

TEST(an_algorithm_with_a_window_and_without_alpha_says_what_moved)
{
	struct explain_event e[] = {
		rate(0, CC_DID_START, 100 * GBPS, 100 * GBPS, 0, 0),
		rate(10000, CC_DID_RTT | CC_DID_CUT, 100 * GBPS, 100 * GBPS, 0, 0),
		rate(20000, CC_DID_RTT | CC_DID_CUT, 100 * GBPS, 100 * GBPS, 0, 0),
		rate(30000, CC_DID_CNP | CC_DID_CUT, 50 * GBPS, 100 * GBPS, 0, 0),
	};

	for (unsigned int i = 0; i < 4; i++)
		e[i].after.window_bytes = 100000 - 20000 * i;
	e[1].after.rtt_ns = e[2].after.rtt_ns = 25000;
	explain_set_before(e, 4);
	assert_string_equal(
		line(&e[1]),
		"      0.0100 ms  round trip of 25.0 us: cut from 100.000 Gb/s to 100.000 Gb/s, "
		"window from 100.0 to 80.0 KB\n");
	assert_string_equal(line(&e[3]),
			    "      0.0300 ms  CNP: cut from 100.000 Gb/s to 50.000 "
			    "Gb/s, window from 60.0 to 40.0 KB (target 100.000 Gb/s)\n");
	assert_int_equal(story(e, 4, 2), 2);
	assert_non_null(strstr(
		text, "100.000 Gb/s to 50.000 Gb/s, window 100.0 to 40.0 KB: 1 CNP, 3 cuts\n"));
}

TEST(a_trace_that_begins_in_the_middle_says_what_it_knows)
{
	struct explain_event e[] = {
		rate(5000000, 0, 20 * GBPS, 40 * GBPS, 3, 1),
		rate(5010000, CC_DID_CNP | CC_DID_CUT, 15 * GBPS, 20 * GBPS, 0, 0),
		rate(5020000, CC_DID_RELOAD, 10 * GBPS, 10 * GBPS, 0, 0),
		rate(5030000, CC_DID_RELOAD, 10 * GBPS, 10 * GBPS, 0, 0),
		rate(5040000, CC_DID_CNP | CC_DID_CUT | CC_DID_RAISE, 9 * GBPS, 12 * GBPS, 0, 0),
	};

	e[0].after.alpha_q32 = 1ull << 31;
	e[1].after.alpha_q32 = 1ull << 31;
	explain_set_before(e, 5);
	assert_string_equal(line(&e[0]), "      5.0000 ms  the trace begins at 20.000 Gb/s, target "
					 "40.000 Gb/s, alpha 0.500\n");
	assert_string_equal(line(&e[1]),
			    "      5.0100 ms  CNP: cut from 20.000 Gb/s to 15.000 Gb/s "
			    "(alpha 0.500, target 20.000 Gb/s)\n");
	assert_string_equal(line(&e[2]),
			    "      5.0200 ms  reload: other parameters, from 15.000 Gb/s to "
			    "10.000 Gb/s\n");
	assert_string_equal(line(&e[3]), "      5.0300 ms  reload: other parameters, or another "
					 "cap: stays at 10.000 Gb/s\n");
	assert_string_equal(line(&e[4]),
			    "      5.0400 ms  CNP: an increase, then a cut: from 10.000 Gb/s "
			    "to 9.000 Gb/s (target 12.000 Gb/s)\n");
	assert_int_equal(story(e, 5, 2), 2);
	assert_non_null(strstr(text, "2 CNPs, 2 cuts, 1 additive increase"));
	assert_non_null(strstr(text, ", 2 changes of parameters"));
}

/* Algorithms that hear ACKs. */
TEST(telemetry_round_trips_and_echoes_have_words)
{
	struct explain_event e[] = {
		rate(0, CC_DID_START, 100 * GBPS, 100 * GBPS, 0, 0),
		rate(5000, CC_DID_INT, 90 * GBPS, 90 * GBPS, 0, 0),
		rate(6000, CC_DID_INT | CC_DID_CUT, 80 * GBPS, 80 * GBPS, 0, 0),
		rate(7000, CC_DID_RTT, 80 * GBPS, 80 * GBPS, 0, 0),
		rate(8000, CC_DID_ECN | CC_DID_CUT, 40 * GBPS, 40 * GBPS, 0, 0),
	};

	e[3].after.rtt_ns = 12300;
	explain_set_before(e, 5);
	assert_string_equal(line(&e[1]), "      0.0050 ms  telemetry: rate from 100.000 Gb/s to "
					 "90.000 Gb/s\n");
	assert_string_equal(line(&e[2]),
			    "      0.0060 ms  telemetry, lower reference window: rate from "
			    "90.000 Gb/s to 80.000 Gb/s\n");
	assert_string_equal(line(&e[3]), "      0.0070 ms  round trip of 12.3 us: no change\n");
	assert_string_equal(line(&e[4]),
			    "      0.0080 ms  mark echoed: cut from 80.000 Gb/s to 40.000 Gb/s\n");
}

/* The rows before have been written over: from what rate it came, nobody knows. */
TEST(what_came_before_the_first_row_is_not_made_up)
{
	struct explain_event e[] = {
		rate(1000, CC_DID_CNP | CC_DID_CUT, 15 * GBPS, 20 * GBPS, 0, 0),
		rate(2000, CC_DID_FAST, 17 * GBPS, 20 * GBPS, 1, 0),
	};

	explain_set_before(e, 1);
	assert_string_equal(line(&e[0]), "      0.0010 ms  CNP: cut to 15.000 Gb/s\n");
	explain_set_before(&e[1], 1);
	assert_string_equal(line(&e[1]), "      0.0020 ms  fast recovery to 17.000 Gb/s, target "
					 "20.000 Gb/s (T 1, BC 0)\n");
	explain_set_before(e, 2);
	assert_int_equal(story(e, 2, 1), 1);
	assert_non_null(strstr(text, "15.000 Gb/s to 17.000 Gb/s: 1 CNP, 1 cut, 1 fast recovery"));
}

TEST(pauses_losses_and_the_end_have_lines)
{
	assert_string_equal(line(&(struct explain_event){
				    .at_ns = 5000000, .kind = EXPLAIN_HELD, .by = "s1 holds h3"}),
			    "      5.0000 ms  paused: s1 holds h3\n");
	assert_string_equal(line(&(struct explain_event){.at_ns = 5012345,
							 .kind = EXPLAIN_RELEASED,
							 .held_ns = 12345,
							 .by = "s1 holds h3"}),
			    "      5.0123 ms  pause over after 12.3 us: s1 holds h3\n");
	assert_string_equal(
		line(&(struct explain_event){
			.at_ns = 6000000, .kind = EXPLAIN_SENT_AGAIN, .psn = 7, .packets = 12}),
		"      6.0000 ms  goes back to PSN 7: 12 packets are sent again\n");
	assert_string_equal(line(&(struct explain_event){.at_ns = 7000000, .kind = EXPLAIN_DONE}),
			    "      7.0000 ms  done\n");
	assert_string_equal(line(&(struct explain_event){
				    .at_ns = 7000000, .kind = EXPLAIN_DONE, .failed = true}),
			    "      7.0000 ms  gave up: out of retries\n");
}

TEST(what_fits_is_told_event_by_event)
{
	struct explain_event e[] = {
		rate(0, CC_DID_START, 40 * GBPS, 40 * GBPS, 0, 0),
		rate(1000, CC_DID_CNP | CC_DID_CUT, 20 * GBPS, 40 * GBPS, 0, 0),
	};

	explain_set_before(e, 2);
	assert_int_equal(story(e, 2, 2), 2);
	assert_int_equal(story(e, 0, 2), 0);
}

/* A fall by a factor of 32, then 1000 small steps about 10 Gb/s. */
TEST(a_steady_state_is_a_few_lines_and_a_fall_is_told_whole)
{
	enum { FALL = 6, STEPS = 1000, N = FALL + STEPS };
	struct explain_event *e = calloc(N, sizeof(*e));

	e[0] = rate(0, CC_DID_START, 32 * GBPS, 32 * GBPS, 0, 0);
	for (unsigned int i = 1; i < FALL; i++)
		e[i] = rate(i * 50000ull, CC_DID_CNP | CC_DID_CUT, 32 * GBPS >> i, 32 * GBPS, 0, 0);
	for (unsigned int i = 0; i < STEPS; i++)
		e[FALL + i] = rate(
			(FALL + i) * 50000ull, i % 4 == 3 ? CC_DID_CNP | CC_DID_CUT : CC_DID_RAISE,
			10 * GBPS + (i % 4) * GBPS / 10, 10 * GBPS, (uint16_t)(1 + i % 4), 0);
	explain_set_before(e, N);
	assert_in_range(story(e, N, 20), 10, 20);
	for (unsigned int i = 1; i < FALL; i++) {
		char cut[64], from[24], to[24];

		snprintf(cut, sizeof(cut), "cut from %s to %s", explain_rate(from, 64 * GBPS >> i),
			 explain_rate(to, 32 * GBPS >> i));
		assert_non_null(strstr(text, cut));
	}
	free(e);
}

/* Nothing is left out: counts of all lines add up. */
TEST(pauses_that_are_alike_become_equal_parts_and_add_up)
{
	enum { PAUSES = 300 };
	struct explain_event *e = calloc(2 * PAUSES, sizeof(*e));
	unsigned int total = 0, most = 0;
	double held_us = 0;

	for (unsigned int i = 0; i < PAUSES; i++) {
		e[2 * i] = (struct explain_event){
			.at_ns = 10000ull * i, .kind = EXPLAIN_HELD, .by = "s1 holds h1"};
		e[2 * i + 1] = (struct explain_event){.at_ns = 10000ull * i + 4000,
						      .kind = EXPLAIN_RELEASED,
						      .held_ns = 4000,
						      .by = "s1 holds h1"};
		if (i == 7)
			e[2 * i + 1].by[1] = '2';
	}
	assert_in_range(story(e, 2 * PAUSES, 20), 10, 20);
	for (const char *at = text; (at = strstr(at, " ms; ")) != NULL; at++) {
		unsigned int n;
		double us;

		assert_int_equal(sscanf(at, " ms; %u pauses, %lf us", &n, &us), 2);
		total += n;
		held_us += us;
		most = n > most ? n : most;
	}
	assert_int_equal(total, PAUSES);
	assert_int_equal((int)(held_us + 0.5), PAUSES * 4);
	assert_true(most <= PAUSES / 5);
	assert_non_null(strstr(text, "s1 holds h1 and others"));
	free(e);
}

TEST_MAIN()
