/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports with their own maps, lossless priorities and scheduler. */
#include "base/numbers/array.h"
#include "unit/switch/sw_test.h"

/* Set a key of a port as a file would. */
static void
own(struct bench *b, uint16_t port, const char *key, const char *value)
{
	const struct field_alias *alias;
	const struct field *f = field_find(sw_port_fields, sw_port_fields_n, key, &alias);

	assert_non_null(f);
	assert_int_equal(field_parse(f, NULL, value, &b->params.ports[port], NULL, 0), 0);
}

/* One frame of DSCP 26 from port 0. */
static void
give_roce(struct bench *b, uint8_t src, uint8_t dst)
{
	struct frame_spec s = {.src = src, .dst = dst, .dscp = 26, .ecn = ECN_ECT0};

	give(b, src, make_frame(b, &s), 0);
}

/* The only queue of a port that holds frames, or -1. */
static int
queue_in_use(const struct bench *b, uint16_t port)
{
	int in_use = -1;

	for (uint8_t q = 0; q < TM_CLASSES; q++) {
		if (sw_queue_bytes(b->sw, port, q) == 0)
			continue;
		assert_int_equal(in_use, -1);
		in_use = q;
	}
	return in_use;
}

TEST(the_ingress_port_chooses_class_and_group_and_the_egress_port_the_queue)
{
	for (uint16_t shards = 1; shards <= 2; shards++) {
		struct bench *b = bench_with_ports(4);

		b->params.shards = shards;
		own(b, 0, "dscp_to_tc_map", "26:4, *:0");
		own(b, 0, "tc_to_priority_group_map", "4:5, *:0");
		own(b, 0, "pfc_enable", "none");
		own(b, 2, "tc_to_queue_map", "3:3, 4:6, *:0");
		bench_start_learnt(b);
		give_roce(b, 0, 1);
		give_roce(b, 0, 2);
		give_roce(b, 3, 2);
		assert_int_equal(queue_in_use(b, 1), 4);
		assert_int_equal(sw_queue_bytes(b->sw, 2, 6), sw_queue_bytes(b->sw, 2, 3));
		assert_true(sw_queue_bytes(b->sw, 2, 6) > 0);
		assert_int_equal(sw_port_stats(b->sw, 0)->pg[5].rx_packets, 2);
		assert_int_equal(sw_port_stats(b->sw, 3)->pg[3].rx_packets, 1);
		bench_stop(b);
	}
}

TEST(a_burst_to_one_class_and_two_ports_takes_the_queue_of_each)
{
	struct bench *b = bench_with_ports(3);
	struct rte_mbuf *m[8];

	own(b, 2, "tc_to_queue_map", "3:3, 0:5, *:1");
	bench_start_learnt(b);
	for (unsigned int i = 0; i < ARRAY_LEN(m); i++) {
		struct frame_spec s = {.src = 0, .dst = i % 4 < 2 ? 1 : 2};

		m[i] = make_frame(b, &s);
	}
	b->sw->ops->rx(b->sw, 0, m, ARRAY_LEN(m), 0);
	assert_int_equal(queue_in_use(b, 1), 0);
	assert_int_equal(queue_in_use(b, 2), 5);
	assert_int_equal(sw_queue_bytes(b->sw, 1, 0), sw_queue_bytes(b->sw, 2, 5));
	bench_stop(b);
}

TEST(each_copy_of_a_flooded_frame_takes_the_queue_of_its_port)
{
	for (uint16_t shards = 1; shards <= 3; shards++) {
		struct bench *b = bench_with_ports(4);

		b->params.shards = shards;
		own(b, 1, "tc_to_queue_map", "3:3, 0:1, *:0");
		own(b, 2, "tc_to_queue_map", "3:3, 0:2, *:0");
		bench_start(b);
		give(b, 0, make_frame(b, &(struct frame_spec){.dst = BROADCAST_HOST}), 0);
		assert_int_equal(queue_in_use(b, 1), 1);
		assert_int_equal(queue_in_use(b, 2), 2);
		assert_int_equal(queue_in_use(b, 3), 0);
		bench_stop(b);
	}
}

/* Does a port ask for a pause of this priority? */
static bool
pauses(struct bench *b, uint16_t port, uint8_t prio)
{
	struct rte_mbuf *m = take(b, port, 0);
	struct mac_control mc;
	bool yes;

	if (m == NULL)
		return false;
	assert_true(is_pfc(m, &mc));
	yes = mc.enable >> prio & 1;
	sent(m);
	return yes;
}

TEST(only_ports_with_a_lossless_priority_pause_and_obey)
{
	struct bench *b = bench_with_ports(4);

	set_small_group(&b->params);
	own(b, 1, "pfc_enable", "none");
	bench_start_learnt(b);
	for (unsigned int i = 0; i < 15; i++) {
		give(b, 0, make_data(b, 0, 2, i), 0);
		give(b, 1, make_data(b, 1, 3, i), 0);
	}
	assert_true(pauses(b, 0, 3));
	assert_false(pauses(b, 1, 3));
	give_pfc(b, 2, 1u << 3, 65535, 0);
	assert_null(take(b, 2, 0));
	give_roce(b, 2, 1);
	give_pfc(b, 1, 1u << 3, 65535, 0);
	sent(take(b, 1, 0));
	assert_true(sw_pfcwd_watches(b->sw, 0, 3));
	assert_true(sw_pfcwd_watches(b->sw, 2, 3));
	assert_false(sw_pfcwd_watches(b->sw, 1, 3));
	bench_stop(b);
}

/* A pause of priority 4 stops the queue that the port's own map names. */
TEST(a_pause_stops_the_queue_of_the_ports_own_map)
{
	struct bench *b = bench_with_ports(3);

	own(b, 1, "dscp_to_tc_map", "26:3, *:0");
	own(b, 1, "tc_to_priority_group_map", "3:4, *:0");
	own(b, 1, "pfc_enable", "4");
	own(b, 1, "pfc_priority_to_queue_map", "4:3, *:0");
	bench_start_learnt(b);
	give_roce(b, 0, 1);
	give_pfc(b, 1, 1u << 4, 65535, 0);
	assert_null(take(b, 1, 0));
	assert_int_equal(next_ns(b, 1), 65535ull * 512 / 40);
	give_pfc(b, 1, 1u << 4, 0, 0);
	sent(take(b, 1, 0));
	bench_stop(b);
}

/* Frames of queue 3 among the first n of a port where queues 0 and 3 wait. */
static unsigned int
share_of_queue_3(struct bench *b, uint16_t port, unsigned int n, uint64_t now_ns)
{
	uint64_t before = sw_port_stats(b->sw, port)->queue[3].tx_packets;

	for (unsigned int i = 0; i < n; i++)
		sent(take_next(b, port, &now_ns));
	return (unsigned int)(sw_port_stats(b->sw, port)->queue[3].tx_packets - before);
}

TEST(ports_have_weights_and_strict_queues_of_their_own_also_after_a_reload)
{
	struct bench *b = bench_with_ports(4);
	struct frame_spec plain = {.src = 0, .payload_bytes = DATA_PAYLOAD};

	own(b, 2, "dwrr_weight", "*:10");
	own(b, 3, "strict_queues", "3");
	bench_start_learnt(b);
	for (uint8_t port = 1; port < 4; port++) {
		plain.dst = port;
		for (unsigned int i = 0; i < 200; i++) {
			give(b, 0, make_data(b, 0, port, i), 0);
			give(b, 0, make_frame(b, &plain), 0);
		}
	}
	assert_in_range(share_of_queue_3(b, 1, 100, 0), 80, 90); /* 60 : 10 */
	assert_in_range(share_of_queue_3(b, 2, 100, 0), 48, 52);
	assert_int_equal(share_of_queue_3(b, 3, 100, 0), 100);
	own(b, 2, "strict_queues", "0");
	own(b, 3, "strict_queues", FIELD_DEFAULT);
	sw_reload(b->sw, &b->params, bench_prepare_reload(b), 100000);
	give_roce(b, 1, 0); /* a shard takes new parameters before a frame */
	assert_int_equal(share_of_queue_3(b, 2, 50, 100000), 0);
	assert_in_range(share_of_queue_3(b, 3, 50, 100000), 35, 48);
	assert_int_equal(all_drops(b), 0);
	bench_stop(b);
}

TEST(a_reload_gives_a_port_another_map_and_takes_it_away)
{
	struct bench *b = bench_with_ports(3);
	uint64_t now_ns = 0;

	bench_start_learnt(b);
	give_roce(b, 0, 1);
	assert_int_equal(queue_in_use(b, 1), 3);
	drain(b, 1, &now_ns);
	own(b, 1, "dscp_to_tc_map", "26:5, *:0");
	own(b, 1, "tc_to_queue_map", "3:3, *:1");
	for (int i = 0; i < 2; i++) {
		sw_reload(b->sw, &b->params, bench_prepare_reload(b), now_ns);
		give_roce(b, 0, 1);
		give_roce(b, 1, 2);
		assert_int_equal(queue_in_use(b, 1), 3);
		assert_int_equal(queue_in_use(b, 2), i == 0 ? 5 : 3);
		drain(b, 1, &now_ns);
		drain(b, 2, &now_ns);
		own(b, 1, "dscp_to_tc_map", FIELD_DEFAULT);
		own(b, 1, "tc_to_queue_map", FIELD_DEFAULT);
	}
	bench_stop(b);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
