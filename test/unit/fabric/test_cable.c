/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/array.h"
#include "unit/cases.h"
#include "fabric/links/cable.h"

#define FRAMES 200000u

static enum cable_drop
send(struct cable *c, uint32_t frame_bytes)
{
	struct rte_mbuf *none = NULL;

	return cable_send(c, &none, frame_bytes, 0);
}

static uint64_t
count_lost(const struct cable_params *params, uint32_t frame_bytes, enum cable_drop why)
{
	struct cable c;

	cable_init(&c, params, 3);
	for (unsigned int i = 0; i < FRAMES; i++)
		send(&c, frame_bytes);
	return c.drops[why];
}

static void
is_about(uint64_t n, double share)
{
	double want = FRAMES * share, sigma = sqrt(want * (1 - share));

	if (fabs((double)n - want) > 4 * sigma)
		fail_msg("%lu of %u, not %.0f", n, FRAMES, want);
}

TEST(frames_are_lost_at_their_rate)
{
	static const uint32_t ppb[] = {0, 100000, 10000000, 500000000, 1000000000};

	for (unsigned int i = 0; i < ARRAY_LEN(ppb); i++) {
		const struct cable_params params = {.loss_ppb = {ppb[i]}, .seed = 1};

		is_about(count_lost(&params, 64, CABLE_DROP_LOSS), ppb[i] / 1e9);
		assert_int_equal(count_lost(&params, 64, CABLE_DROP_BIT_ERROR), 0);
	}
}

TEST(longer_frames_are_damaged_more_often)
{
	static const uint64_t errors[] = {0, 1000000, 10000000, 1000000000};
	static const uint32_t bytes[] = {64, 1086, 9216};

	for (unsigned int i = 0; i < ARRAY_LEN(errors); i++) {
		const struct cable_params params = {.bit_errors_per_tbit = errors[i], .seed = 1};

		for (unsigned int k = 0; k < ARRAY_LEN(bytes); k++)
			is_about(count_lost(&params, bytes[k], CABLE_DROP_BIT_ERROR),
				 1 - pow(1 - (double)errors[i] / 1e12, 8.0 * bytes[k]));
	}
}

TEST(directions_draw_numbers_of_their_own_and_repeat)
{
	const struct cable_params params = {.loss_ppb = {500000000}, .seed = 1};
	struct cable a, again, other;
	unsigned int alike = 0;

	cable_init(&a, &params, 1);
	cable_init(&again, &params, 1);
	cable_init(&other, &params, 2);
	for (unsigned int i = 0; i < 1000; i++) {
		enum cable_drop why = send(&a, 64);

		assert_int_equal(send(&again, 64), why);
		alike += send(&other, 64) == why;
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

TEST(a_tap_at_the_receiver_sees_what_arrives)
{
	const struct cable_params params = {.loss_ppb = {500000000}, .seed = 1};
	struct seen sent = {0}, received = {0};
	struct rte_mbuf *none = NULL;
	struct cable c;

	cable_init(&c, &params, 1);
	c.tx = (struct cable_tap){see, &sent};
	c.rx = (struct cable_tap){see, &received};
	for (unsigned int i = 0; i < 1000; i++)
		cable_send(&c, &none, 64, 10 * i);
	assert_int_equal(sent.n, 1000);
	assert_int_equal(sent.last_ns, 9990);
	/* It is on the cable, and may be cut yet. */
	assert_int_equal(received.n, 0);
	cable_arrive(&c, (struct rte_mbuf *)&received, 15);
	assert_int_equal(received.n, 1);
	assert_int_equal(received.last_ns, 15);
	c.down = true;
	assert_int_equal(send(&c, 64), CABLE_DROP_LINK_DOWN);
	assert_int_equal(sent.n, 1001);
}

#define ON_CABLE 8

/* Frames 1 to ON_CABLE, due at 10, 20, ...; of each that arrives its number and its time. */
static void
arrive_as(const struct cable_params *params, const unsigned int numbers[ON_CABLE],
	  const unsigned int times_ns[ON_CABLE])
{
	struct rte_mbuf frames[ON_CABLE];
	struct flights on_cable;
	struct cable c;

	memset(frames, 0, sizeof(frames));
	flights_init(&on_cable);
	cable_init(&c, params, 1);
	for (unsigned int i = 0; i < ON_CABLE; i++) {
		struct flight frame;

		frames[i].pkt_len = i + 1;
		frame = flight_of(&frames[i], 10 * (i + 1));
		assert_true(cable_queue(&c, &on_cable, &frame));
		assert_int_equal(flights_count(&on_cable), i + 1);
	}
	for (unsigned int i = 0; i < ON_CABLE; i++) {
		const struct flight *frame = flights_pop(&on_cable);

		assert_int_equal(flight_pkt_len(frame), numbers[i]);
		assert_int_equal(frame->due_ns, times_ns[i]);
		cable_arrive(&c, flight_mbuf(frame), times_ns[i]);
	}
	assert_int_equal(flights_count(&on_cable), 0);
	flights_free(&on_cable);
}

TEST(a_late_frame_comes_behind_those_that_may_overtake_it)
{
	arrive_as(&(struct cable_params){.reorder_ppb = CABLE_MAX_PPB,
					 .reorder_frames = 2,
					 .reorder_delay_ns = 1000},
		  (unsigned int[]){2, 3, 1, 5, 6, 4, 8, 7},
		  (unsigned int[]){20, 30, 30, 50, 60, 60, 80, 1070});
}

TEST(a_late_frame_waits_no_longer_than_its_time)
{
	arrive_as(&(struct cable_params){.reorder_ppb = CABLE_MAX_PPB, .reorder_delay_ns = 15},
		  (unsigned int[]){2, 1, 4, 3, 6, 5, 8, 7},
		  (unsigned int[]){20, 25, 40, 45, 60, 65, 80, 85});
	/* Another one may be late at the very time at which the last one comes. */
	arrive_as(&(struct cable_params){.reorder_ppb = CABLE_MAX_PPB,
					 .reorder_frames = 100,
					 .reorder_delay_ns = 20},
		  (unsigned int[]){2, 1, 4, 3, 6, 5, 8, 7},
		  (unsigned int[]){20, 30, 40, 50, 60, 70, 80, 90});
}

TEST(a_shorter_cable_keeps_the_order)
{
	static const uint64_t due_ns[] = {100, 50, 110}, arrive_ns[] = {100, 100, 110};
	struct flights on_cable;
	struct cable c;

	flights_init(&on_cable);
	cable_init(&c, &(struct cable_params){0}, 1);
	for (unsigned int i = 0; i < 3; i++) {
		struct flight frame = flight_of(&(struct rte_mbuf){.pkt_len = i}, due_ns[i]);

		assert_true(cable_queue(&c, &on_cable, &frame));
	}
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(on_cable.head->due_ns, arrive_ns[i]);
		assert_int_equal(flight_pkt_len(flights_pop(&on_cable)), i);
	}
	flights_free(&on_cable);
}

TEST_MAIN()
