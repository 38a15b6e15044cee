/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "fabric/cable.h"

#define FRAMES 200000u

static uint64_t
count_lost(const struct cable_params *params, uint32_t frame_bytes, enum cable_drop why)
{
	struct cable c;

	cable_init(&c, params, 3);
	for (unsigned int i = 0; i < FRAMES; i++)
		cable_send(&c, NULL, frame_bytes, 0, 0);
	return c.drops[why];
}

static void
is_about(uint64_t n, double share)
{
	double want = FRAMES * share, sigma = sqrt(want * (1 - share));

	if (fabs((double)n - want) > 4 * sigma)
		fail_msg("%lu of %u, not %.0f", n, FRAMES, want);
}

static void
frames_are_lost_at_their_rate(void **state)
{
	static const uint32_t ppb[] = {0, 100000, 10000000, 500000000, 1000000000};

	(void)state;
	for (unsigned int i = 0; i < sizeof(ppb) / sizeof(ppb[0]); i++) {
		const struct cable_params params = {.frame_loss_ppb = ppb[i], .seed = 1};

		is_about(count_lost(&params, 64, CABLE_DROP_LOSS), ppb[i] / 1e9);
		assert_int_equal(count_lost(&params, 64, CABLE_DROP_BIT_ERROR), 0);
	}
}

static void
longer_frames_are_damaged_more_often(void **state)
{
	static const uint64_t errors[] = {0, 1000000, 10000000, 1000000000};
	static const uint32_t bytes[] = {64, 1086, 9216};

	(void)state;
	for (unsigned int i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		const struct cable_params params = {.bit_errors_per_tbit = errors[i], .seed = 1};

		for (unsigned int k = 0; k < sizeof(bytes) / sizeof(bytes[0]); k++)
			is_about(count_lost(&params, bytes[k], CABLE_DROP_BIT_ERROR),
				 1 - pow(1 - (double)errors[i] / 1e12, 8.0 * bytes[k]));
	}
}

static void
directions_draw_numbers_of_their_own_and_repeat(void **state)
{
	const struct cable_params params = {.frame_loss_ppb = 500000000, .seed = 1};
	struct cable a, again, other;
	unsigned int alike = 0;

	(void)state;
	cable_init(&a, &params, 1);
	cable_init(&again, &params, 1);
	cable_init(&other, &params, 2);
	for (unsigned int i = 0; i < 1000; i++) {
		enum cable_drop why = cable_send(&a, NULL, 64, 0, 0);

		assert_int_equal(cable_send(&again, NULL, 64, 0, 0), why);
		alike += cable_send(&other, NULL, 64, 0, 0) == why;
	}
	assert_in_range(alike, 400, 600);
}

struct seen {
	unsigned int n;
	uint64_t last_ns;
};

static void
see(void *arg, const struct rte_mbuf *m, uint64_t at_ns)
{
	struct seen *s = arg;

	(void)m;
	s->n++;
	s->last_ns = at_ns;
}

static void
a_tap_at_the_receiver_sees_what_arrives(void **state)
{
	const struct cable_params params = {.frame_loss_ppb = 500000000, .seed = 1};
	struct seen sent = {0}, received = {0};
	struct cable c;

	(void)state;
	cable_init(&c, &params, 1);
	c.tx = (struct cable_tap){see, &sent};
	c.rx = (struct cable_tap){see, &received};
	for (unsigned int i = 0; i < 1000; i++)
		cable_send(&c, NULL, 64, 10 * i, 10 * i + 5);
	assert_int_equal(sent.n, 1000);
	assert_int_equal(sent.last_ns, 9990);
	assert_int_equal(received.n, 1000 - c.drops[CABLE_DROP_LOSS]);
	c.down = true;
	received.n = 0;
	assert_int_equal(cable_send(&c, NULL, 64, 0, 0), CABLE_DROP_LINK_DOWN);
	assert_int_equal(received.n, 0);
	assert_int_equal(sent.n, 1001);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_lost_at_their_rate),
		cmocka_unit_test(longer_frames_are_damaged_more_often),
		cmocka_unit_test(directions_draw_numbers_of_their_own_and_repeat),
		cmocka_unit_test(a_tap_at_the_receiver_sees_what_arrives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
