/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "tm/pfc/pfc_rx.h"

#define SPEED (40 * GBPS) /* a quantum is 12.8 ns */
#define FULL_NS 838848    /* 65535 quanta */

static struct pfc_vector
frame(uint8_t enable, uint16_t quanta)
{
	struct pfc_vector v = {.enable = enable};

	for (int i = 0; i < TM_CLASSES; i++)
		v.quanta[i] = quanta;
	return v;
}

/* One row: a frame (enable != 0) or a look (enable == 0) at at_ns, and what must be seen then. */
struct row {
	uint64_t at_ns;
	uint8_t enable;
	uint16_t quanta;
	uint8_t paused;
	uint64_t transitions, duration_ns; /* of priority 3 */
};

static void
play(const struct row *rows, size_t n, uint8_t enabled)
{
	struct pfc_rx p;

	pfc_rx_init(&p, enabled, SPEED);
	for (size_t i = 0; i < n; i++) {
		struct pfc_vector v = frame(rows[i].enable, rows[i].quanta);
		uint8_t paused = rows[i].enable != 0 ? pfc_rx_on_frame(&p, &v, rows[i].at_ns)
						     : pfc_rx_paused(&p, rows[i].at_ns);

		assert_int_equal(paused, rows[i].paused);
		assert_int_equal(p.stats.rx_pause_transition[3], rows[i].transitions);
		assert_int_equal(pfc_rx_duration_ns(&p, 3, rows[i].at_ns), rows[i].duration_ns);
	}
}
#define PLAY(rows, enabled) play(rows, ARRAY_LEN(rows), enabled)

TEST(the_latest_pauses_are_kept_with_their_start)
{
	struct pfc_vector full = frame(8, 65535), resume = frame(8, 0);
	struct pause_view v[PAUSE_LOG_MOST];
	struct pfc_rx p;

	pfc_rx_init(&p, 8, SPEED);
	pfc_rx_on_frame(&p, &full, 1000);
	assert_int_equal(pfc_rx_pauses(&p, v, 1400), 1);
	assert_true(v[0].lasts && v[0].start_ns == 1000 && v[0].duration_ns == 400);
	pfc_rx_on_frame(&p, &resume, 1500);
	pfc_rx_on_frame(&p, &full, 5000);
	/* Nobody has looked since it expired. */
	assert_int_equal(pfc_rx_pauses(&p, v, 2000000), 2);
	assert_true(!v[0].lasts && v[0].prio == 3 && v[0].duration_ns == 500);
	assert_true(!v[1].lasts && v[1].start_ns == 5000 && v[1].duration_ns == FULL_NS);
}

TEST(quanta_are_512_bit_times_of_the_port)
{
	static const struct {
		uint64_t gbps, ns;
	} rows[] = {{1, 33553920}, {10, 3355392}, {25, 1342156}, {40, FULL_NS},
		    {50, 671078},  {100, 335539}, {400, 83884}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(pfc_quanta_ns(65535, rows[i].gbps * GBPS), rows[i].ns);
	assert_int_equal(pfc_quanta_ns(65535, MBPS), 33553920000); /* 33.6 s */
	assert_int_equal(pfc_quanta_ns(0, SPEED), 0);
}

TEST(a_pause_ends_on_its_own)
{
	static const struct row rows[] = {
		{1000, 8, 65535, 8, 0, 0},
		{1000 + FULL_NS - 1, 0, 0, 8, 0, FULL_NS - 1},
		{1000 + FULL_NS, 0, 0, 0, 1, FULL_NS},
		{1000 + 9 * FULL_NS, 0, 0, 0, 1, FULL_NS},
	};

	PLAY(rows, 8);
}

TEST(the_timer_is_replaced_not_added_to)
{
	static const struct row rows[] = {
		{1000, 8, 1000, 8, 0, 0},    /* to 13800 */
		{2000, 8, 1000, 8, 0, 1000}, /* to 14800 */
		{3000, 8, 100, 8, 0, 2000},  /* the last word wins: to 4280 */
		{4279, 0, 0, 8, 0, 3279},    {4280, 0, 0, 0, 1, 3280},
	};

	PLAY(rows, 8);
}

TEST(time_zero_resumes_at_once)
{
	static const struct row rows[] = {
		{0, 8, 0, 0, 0, 0}, /* XON of a running priority changes nothing */
		{1000, 8, 65535, 8, 0, 0}, {1500, 8, 0, 0, 1, 500}, {1600, 8, 0, 0, 1, 500},
		{2000, 8, 10, 8, 1, 500},  {2050, 8, 0, 0, 2, 550},
	};

	PLAY(rows, 8);
}

TEST(a_clear_bit_changes_nothing)
{
	static const struct row rows[] = {
		{1000, 8, 1000, 8, 0, 0},          {1100, 16, 0, 8, 0, 100},
		{1200, 16, 65535, 8 | 16, 0, 200}, {1300, 16, 0, 8, 0, 300},
		{13800, 0, 0, 0, 1, 12800},
	};

	PLAY(rows, 0xff);
}

TEST(an_expiry_that_nobody_saw_ends_when_it_ended)
{
	static const struct row rows[] = {
		{1000, 8, 100, 8, 0, 0},    /* to 2280 */
		{9000, 8, 100, 8, 1, 1280}, /* a second pause, 9000 to 10280 */
		{9500, 0, 0, 8, 1, 1280 + 500},
		{20000, 8, 0, 0, 2, 2560}, /* the XON came after the expiry */
		{30000, 8, 1, 8, 2, 2560},
		{99000, 0, 0, 0, 3, 2572},
	};
	struct pfc_vector v = frame(8, 100);
	struct pfc_rx p;

	PLAY(rows, 8);
	pfc_rx_init(&p, 8, SPEED);
	pfc_rx_on_frame(&p, &v, 1000);
	assert_int_equal(pfc_rx_duration_ns(&p, 3, 50000), 1280); /* a reader does not expire */
}

TEST(a_priority_not_enabled_is_counted_and_not_obeyed)
{
	struct pfc_vector v = frame(0xff, 65535);
	struct pfc_rx p;

	pfc_rx_init(&p, 8, SPEED);
	assert_int_equal(pfc_rx_on_frame(&p, &v, 100), 8);
	v = frame(0xff, 0);
	assert_int_equal(pfc_rx_on_frame(&p, &v, 200), 0);
	v = frame(0, 65535); /* a vector of zeros counts nowhere */
	assert_int_equal(pfc_rx_on_frame(&p, &v, 300), 0);
	for (int i = 0; i < TM_CLASSES; i++) {
		assert_int_equal(p.stats.rx_pause[i], 2);
		assert_int_equal(p.stats.rx_pause_transition[i], i == 3);
		assert_int_equal(pfc_rx_duration_ns(&p, (uint8_t)i, 400), i == 3 ? 100 : 0);
	}
}

TEST(next_is_the_earliest_expiry)
{
	struct pfc_vector v = {.enable = 0x18, .quanta = {0, 0, 0, 1000, 100}};
	struct pfc_rx p;

	pfc_rx_init(&p, 0xff, SPEED);
	assert_int_equal(pfc_rx_next_ns(&p), NEVER_NS);
	pfc_rx_on_frame(&p, &v, 1000);
	assert_int_equal(pfc_rx_next_ns(&p), 2280);
	assert_int_equal(pfc_rx_paused(&p, 2280), 8);
	assert_int_equal(pfc_rx_next_ns(&p), 13800);
	v = frame(8, 0);
	pfc_rx_on_frame(&p, &v, 3000);
	assert_int_equal(pfc_rx_next_ns(&p), NEVER_NS);
}

/* Random frames, looked at seldom, against the same frames with a state that is looked at each
 * ns. */
TEST(seldom_looks_agree_with_a_clock)
{
	const uint64_t seed = 7;
	struct prng r;
	struct pfc_rx p;
	uint64_t left[TM_CLASSES] = {0}, paused_ns[TM_CLASSES] = {0}, ended[TM_CLASSES] = {0};

	prng_seed(&r, seed, 0);
	pfc_rx_init(&p, 0xdb, SPEED);
	for (uint64_t now = 0; now < 200000; now++) {
		for (int i = 0; i < TM_CLASSES; i++) {
			if (left[i] > 0 && --left[i] == 0)
				ended[i]++;
		}
		if (prng_below(&r, 50) == 0) {
			struct pfc_vector v = {.enable = (uint8_t)prng_u32(&r)};

			for (int i = 0; i < TM_CLASSES; i++)
				v.quanta[i] = (uint16_t)prng_below(&r, 8);
			pfc_rx_on_frame(&p, &v, now);
			for (int i = 0; i < TM_CLASSES; i++) {
				if (!(v.enable >> i & 1) || !(0xdb >> i & 1))
					continue;
				if (v.quanta[i] == 0 && left[i] > 0)
					ended[i]++;
				left[i] = v.quanta[i] * 128u / 10;
			}
		}
		if (prng_below(&r, 40) == 0) {
			for (int i = 0; i < TM_CLASSES; i++)
				assert_int_equal(pfc_rx_duration_ns(&p, (uint8_t)i, now),
						 paused_ns[i]);
		}
		if (prng_below(&r, 200) == 0) {
			uint8_t paused = pfc_rx_paused(&p, now);

			for (int i = 0; i < TM_CLASSES; i++) {
				assert_int_equal(paused >> i & 1, left[i] > 0);
				assert_int_equal(p.stats.rx_pause_transition[i], ended[i]);
			}
		}
		for (int i = 0; i < TM_CLASSES; i++)
			paused_ns[i] += left[i] > 0;
	}
}

TEST_MAIN()
