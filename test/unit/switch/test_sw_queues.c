/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes, scheduler, shaper and marking of the switch. */
#include "base/numbers/array.h"
#include "unit/switch/sw_test.h"

/* All queues mark above bytes and never below. */
static void
set_step(struct sw_params *p, uint64_t bytes)
{
	p->wred.green_min_threshold_bytes = bytes;
	p->wred.green_max_threshold_bytes = bytes;
}

TEST(class_chooses_the_queue)
{
	static const struct {
		int trust;
		uint8_t dscp;
		bool tagged;
		uint8_t pcp;
		uint8_t queue;
	} cases[] = {
		{QOS_TRUST_DSCP, 26, false, 0, 3}, {QOS_TRUST_DSCP, 24, false, 0, 3},
		{QOS_TRUST_DSCP, 48, false, 0, 7}, {QOS_TRUST_DSCP, 0, false, 0, 0},
		{QOS_TRUST_DSCP, 26, true, 0, 3},  {QOS_TRUST_PCP, 26, true, 0, 0},
		{QOS_TRUST_PCP, 0, true, 3, 3},    {QOS_TRUST_PCP, 26, false, 0, 0},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(cases); i++) {
		struct bench *b = bench_with_ports(2);
		struct frame_spec s = {.src = 0,
				       .dst = 1,
				       .dscp = cases[i].dscp,
				       .tagged = cases[i].tagged,
				       .vlan_tci = (uint16_t)(cases[i].pcp << 13)};

		b->params.qos.trust = cases[i].trust;
		bench_start(b);
		give(b, 0, make_frame(b, &s), 0);
		for (uint8_t q = 0; q < TM_CLASSES; q++)
			assert_int_equal(sw_queue_bytes(b->sw, 1, q) > 0, q == cases[i].queue);
		bench_stop(b);
	}
}

TEST(shaper_spaces_frames_to_the_nanosecond_on_average)
{
	struct bench *b = bench_with_ports(2);
	const unsigned int n = 1000;
	uint64_t now_ns = 5;

	bench_start(b);
	for (unsigned int i = 0; i < n + 1; i++)
		give(b, 0, make_data(b, 0, 1, i), now_ns);
	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = take_next(b, 1, &now_ns);
		/* 1106 bytes at 40G are 221.2 ns: the remainder is carried, not rounded. */
		uint64_t exact_ps = 5000 + i * 221200ull;

		assert_int_equal(roce_of(m).psn, i);
		/* The full bucket of the start is worth 6 bytes, 1.2 ns. */
		assert_in_range(now_ns * 1000, exact_ps - 1200, exact_ps + 999);
		sent(m);
	}
	/* One frame at a time, however much is asked for. */
	assert_null(take(b, 1, now_ns));
	bench_stop(b);
}

TEST(late_poll_catches_up_by_the_burst_and_no_more)
{
	struct bench *b = bench_with_ports(2);
	struct rte_mbuf *out[64];
	uint16_t n;

	b->params.shaper_burst_ns =
		1000; /* 5000 bytes: 4 frames leave 576, the fifth goes into debt */
	b->params.ports[1].shaper_rate_bps = 40 * GBPS;
	bench_start(b);
	for (unsigned int i = 0; i < 64; i++)
		give(b, 0, make_data(b, 0, 1, i), 0);
	n = b->sw->ops->tx(b->sw, 1, out, 64, 1000000);
	assert_int_equal(n, 5);
	for (uint16_t i = 0; i < n; i++)
		sent(out[i]);
	/* 5001 - 5 x 1106: 529 bytes owed are 105.8 ns. */
	assert_int_equal(next_ns(b, 1), 1000106);
	bench_stop(b);
}

TEST(port_shaped_below_its_link_sends_at_the_shaper_rate)
{
	struct bench *b = bench_with_ports(2);
	uint64_t now_ns = 0;

	b->params.ports[1].shaper_rate_bps = 1 * GBPS;
	bench_start(b);
	for (unsigned int i = 0; i < 11; i++)
		give(b, 0, make_data(b, 0, 1, i), 0);
	assert_int_equal(drain(b, 1, &now_ns), 11);
	assert_int_equal(now_ns, 10 * 8848 - 8); /* 1106 bytes at 1G; a full bucket is one byte */
	bench_stop(b);
}

TEST(cnp_queue_goes_before_data)
{
	struct bench *b = bench_with_ports(2);
	struct frame_spec cnp = {.src = 0, .dst = 1, .dscp = 48, .psn = 99};
	struct rte_mbuf *m;
	uint64_t now_ns = 0;

	bench_start(b);
	for (unsigned int i = 0; i < 3; i++)
		give(b, 0, make_data(b, 0, 1, i), 0);
	give(b, 0, make_frame(b, &cnp), 0);
	m = take_next(b, 1, &now_ns);
	assert_int_equal(roce_of(m).psn, 99);
	sent(m);
	assert_int_equal(drain(b, 1, &now_ns), 3);
	assert_int_equal(sw_port_stats(b->sw, 1)->queue[7].tx_packets, 1);
	assert_int_equal(sw_port_stats(b->sw, 1)->queue[3].tx_packets, 3);
	bench_stop(b);
}

TEST(weights_share_wire_bytes_between_sizes)
{
	struct bench *b = bench_with_ports(2);
	struct frame_spec small = {.src = 0, .dst = 1, .dscp = 0, .payload_bytes = 128};
	uint64_t now_ns = 0, bytes[TM_CLASSES] = {0};

	b->params.sched.dwrr_weight[0] = 20;
	b->params.sched.dwrr_weight[3] = 60;
	bench_start(b);
	for (unsigned int i = 0; i < 400; i++)
		give(b, 0, make_data(b, 0, 1, i), 0);
	for (unsigned int i = 0; i < 1200; i++)
		give(b, 0, make_frame(b, &small), 0);
	assert_int_equal(all_drops(b), 0);
	for (unsigned int i = 0; i < 400; i++) {
		struct rte_mbuf *m = take_next(b, 1, &now_ns);

		bytes[view_of(m).dscp == 26 ? 3 : 0] += wire_bytes(m->pkt_len);
		sent(m);
	}
	/* 3 : 1 within a frame and a quantum of either side. */
	assert_in_range(bytes[3], 3 * bytes[0] - 3 * 4 * 1538, 3 * bytes[0] + 3 * 4 * 1538);
	bench_stop(b);
}

/*
 * Packet i of N at dequeue has N - i behind it (facts: the first out is marked, the last is not);
 * at enqueue it finds i - 1 before it.
 */
TEST(marking_counts_what_stays_behind_or_what_is_ahead)
{
	static const int rows[] = {SW_MARK_AT_DEQUEUE, SW_MARK_AT_ENQUEUE};
	const unsigned int n = 10;

	for (unsigned int row = 0; row < 2; row++) {
		struct bench *b = bench_with_ports(2);
		uint64_t now_ns = 0;

		print_message("%s\n", row == 0 ? "at dequeue" : "at enqueue");
		b->params.mark_at = rows[row];
		set_step(&b->params, 5 * DATA_BYTES);
		bench_start(b);
		give_data(b, 0, 1, n, 0);
		for (unsigned int i = 1; i <= n; i++) {
			struct rte_mbuf *m = take_next(b, 1, &now_ns);
			struct roce_view r = roce_of(m); /* the checksum and the ICRC are right */
			unsigned int others = row == 0 ? n - i : i - 1;

			assert_int_equal(r.psn, i);
			assert_int_equal(r.ecn, others > 5 ? ECN_CE : ECN_ECT0);
			sent(m);
		}
		assert_int_equal(sw_port_stats(b->sw, 1)->queue[3].ecn_marked_packets, 4);
		bench_stop(b);
	}
}

/* Of each code point, version and tag: what a queue above its threshold makes of a frame. */
TEST(only_ect_becomes_ce_and_only_that_is_counted)
{
	static const uint8_t out[4] = {ECN_NOT_ECT, ECN_CE, ECN_CE, ECN_CE};

	for (unsigned int i = 0; i < 16; i++) {
		struct bench *b = bench_with_ports(2);
		uint64_t now_ns = 0;
		struct frame_spec s = {.src = 0,
				       .dst = 1,
				       .dscp = 26,
				       .ecn = i & 3,
				       .ip_version = i & 4 ? 6 : 4,
				       .tagged = i & 8,
				       .vlan_tci = 3 << 13 | 5,
				       .payload_bytes = 256};
		struct rte_mbuf *m;

		set_step(&b->params, 0);
		bench_start(b);
		give(b, 0, make_frame(b, &s), 0);
		give(b, 0, make_frame(b, &s), 0);
		m = take_next(b, 1, &now_ns);
		assert_int_equal(view_of(m).dscp, 26);
		assert_int_equal(roce_of(m).ecn, out[s.ecn]);
		sent(m);
		m = take_next(b, 1, &now_ns); /* nothing behind it */
		assert_int_equal(roce_of(m).ecn, s.ecn);
		sent(m);
		assert_int_equal(sw_port_stats(b->sw, 1)->queue[3].ecn_marked_packets,
				 s.ecn == ECN_ECT0 || s.ecn == ECN_ECT1);
		assert_int_equal(sw_port_stats(b->sw, 1)->queue[3].ecn_not_ect_packets,
				 s.ecn == ECN_NOT_ECT);
		assert_int_equal(all_drops(b), 0);
		bench_stop(b);
	}
}

/* Frames of three ports to one queue: the senders of Not-ECT are known by their ports. */
TEST(not_ect_frames_are_counted_at_the_port_that_received_them)
{
	for (uint16_t shards = 1; shards <= 2; shards++) {
		struct bench *b = bench_with_ports(4);
		uint64_t now_ns = 0, sum = 0;

		b->params.shards = shards;
		set_step(&b->params, 0);
		bench_start(b);
		for (unsigned int i = 0; i < 30; i++)
			give(b, (uint16_t)(i % 3 + 1),
			     make_frame(b, &(struct frame_spec){.src = (uint8_t)(i % 3 + 1),
								.dst = 0,
								.dscp = 26,
								.ecn = i % 3 == 0 ? ECN_ECT0
										  : ECN_NOT_ECT,
								.payload_bytes = 256}),
			     0);
		assert_int_equal(drain(b, 0, &now_ns), 30);
		for (uint16_t port = 0; port < 4; port++)
			sum += sw_not_ect_packets(b->sw, port);
		assert_int_equal(sw_not_ect_packets(b->sw, 1), 0);
		assert_true(sw_not_ect_packets(b->sw, 2) > 5 && sw_not_ect_packets(b->sw, 3) > 5);
		assert_int_equal(sum, sw_port_stats(b->sw, 0)->queue[3].ecn_not_ect_packets);
		bench_stop(b);
	}
}

/* What a capture is told. */
struct told {
	struct node_drops drops; /* first */
	char text[NODE_WHY_CHARS];
	unsigned int n_lost;
};

static void
on_dropped(struct node_drops *drops, uint16_t port, const struct rte_mbuf *m, const char *reason)
{
	struct told *told = (struct told *)drops;

	snprintf(told->text, sizeof(told->text), "%s by port %u, %u bytes", reason, port,
		 m->pkt_len);
}

static void
on_lost(struct node_drops *drops, const struct node_lost_frame *frame)
{
	struct told *told = (struct told *)drops;

	told->n_lost++;
	node_say_lost(frame, told->text);
	assert_int_equal(frame->port, 1);
	assert_int_equal(frame->m->pkt_len, DATA_PAYLOAD + 58);
}

static const char *
why(struct bench *b, uint16_t port, const struct rte_mbuf *m)
{
	static char text[NODE_WHY_CHARS];

	b->sw->ops->why(b->sw, port, m, text, sizeof(text));
	return text;
}

TEST(captures_are_told_what_was_done_to_a_frame)
{
	struct frame_spec s = {
		.src = 0, .dst = 1, .dscp = 26, .ecn = ECN_ECT0, .payload_bytes = DATA_PAYLOAD};

	for (uint16_t shards = 1; shards <= 2; shards++) {
		struct told told = {.drops = {.wanted = true, .dropped = on_dropped}};
		struct bench *b = bench_with_ports(2);
		uint64_t now_ns = 0;
		struct rte_mbuf *m;

		b->params.shards = shards;
		set_step(&b->params, 0);
		bench_start_learnt(b);
		b->sw->ops->watch_drops(b->sw, &told.drops);
		s.ecn = ECN_ECT0;
		give(b, 0, make_frame(b, &s), 0);
		give(b, 0, make_frame(b, &s), 0);
		m = take_next(b, 1, &now_ns);
		assert_string_equal(why(b, 1, m), "marked in queue 3 at 1.1 KB");
		sent(m);
		m = take_next(b, 1, &now_ns);
		assert_string_equal(why(b, 1, m), ""); /* nothing was behind it */
		sent(m);
		/* It came with CE, in a buffer whose last frame this queue has marked. */
		s.ecn = ECN_CE;
		m = make_frame(b, &s);
		pkt_meta(m)->marked_by = &sw_port_stats(b->sw, 1)->queue[3];
		give(b, 0, m, now_ns);
		m = take_next(b, 1, &now_ns);
		assert_int_equal(roce_of(m).ecn, ECN_CE);
		assert_string_equal(why(b, 1, m), "");
		sent(m);
		assert_string_equal(told.text, "");
		s.dst = 0; /* the host behind the port itself */
		give(b, 0, make_frame(b, &s), now_ns);
		assert_string_equal(told.text, "same_port by port 0, 1082 bytes");
		b->sw->ops->watch_drops(b->sw, NULL);
		s.dst = 1;
		bench_stop(b);
	}
}

/* Also at another shard than that of the port that received it, and when it has waited. */
TEST(captures_are_told_of_frames_that_were_to_leave)
{
	for (uint16_t shards = 1; shards <= 2; shards++) {
		struct told told = {.drops = {.egress_wanted = 1, .lost = on_lost}};
		struct bench *b = bench_with_ports(2);
		uint64_t now_ns = 0;

		b->params.shards = shards;
		bench_start_learnt(b);
		b->sw->ops->watch_drops(b->sw, &told.drops);
		for (unsigned int i = 0; i < 4; i++)
			give(b, 0, make_data(b, 0, 1, i), now_ns);
		sent(take_next(b, 1, &now_ns));
		assert_int_equal(told.n_lost, 0);
		sw_set_link(b->sw, 1, false, now_ns);
		assert_null(take(b, 1, now_ns));
		assert_int_equal(told.n_lost, 3);
		assert_string_equal(told.text, "dropped: link_down, received by port 0");
		give(b, 0, make_data(b, 0, 1, 4), now_ns);
		assert_int_equal(told.n_lost, 4);
		assert_int_equal(drops(b, 1, SW_DROP_LINK_DOWN), 4);
		told.drops.egress_wanted = 0;
		give(b, 0, make_data(b, 0, 1, 5), now_ns);
		assert_int_equal(told.n_lost, 4);
		b->sw->ops->watch_drops(b->sw, NULL);
		bench_stop(b);
	}
}

/* Facts 6.2, and the choice for a lossless queue. */
TEST(wred_drops_what_it_may_not_mark_in_a_lossy_queue_only)
{
	static const struct {
		bool lossless, knob;
		int profile; /* enum wred_ecn */
		uint8_t ecn;
		bool dropped;
	} cases[] = {
		{false, false, WRED_ECN_ALL, ECN_NOT_ECT, true},
		{false, false, WRED_ECN_ALL, ECN_ECT0, false},
		{false, false, WRED_ECN_ALL, ECN_CE, false},
		{false, false, WRED_ECN_NONE, ECN_NOT_ECT, true},
		{false, false, WRED_ECN_NONE, ECN_ECT0, true},
		{false, false, WRED_ECN_NONE, ECN_CE, true},
		{true, false, WRED_ECN_ALL, ECN_NOT_ECT, false},
		{true, false, WRED_ECN_NONE, ECN_ECT0, false},
		{true, true, WRED_ECN_ALL, ECN_NOT_ECT, true},
		{true, true, WRED_ECN_ALL, ECN_ECT1, false},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(cases); i++) {
		struct bench *b = bench_with_ports(2);
		struct frame_spec s = {.src = 0,
				       .dst = 1,
				       .dscp = cases[i].lossless ? 26 : 0,
				       .ecn = cases[i].ecn,
				       .payload_bytes = 512};
		uint8_t queue = cases[i].lossless ? 3 : 0;
		const struct sw_port_stats *out;

		set_step(&b->params, 0);
		b->params.wred_queues = 0xFF;
		b->params.wred.ecn = cases[i].profile;
		b->params.wred.nonect_drop_in_lossless = cases[i].knob;
		bench_start(b);
		out = sw_port_stats(b->sw, 1);
		give(b, 0, make_frame(b, &s), 0); /* finds an empty queue: never dropped */
		assert_int_equal(all_drops(b), 0);
		give(b, 0, make_frame(b, &s), 0);
		assert_int_equal(out->drops[SW_DROP_WRED], cases[i].dropped);
		assert_int_equal(out->queue[queue].drop_packets, cases[i].dropped);
		assert_int_equal(all_drops(b), cases[i].dropped);
		bench_stop(b);
	}
}

TEST(queue_without_wred_is_left_alone)
{
	struct bench *b = bench_with_ports(2);
	struct frame_spec s = {.src = 0, .dst = 1, .dscp = 48, .ecn = ECN_ECT0};
	uint64_t now_ns = 0;

	set_step(&b->params, 0);
	bench_start(b);
	for (unsigned int i = 0; i < 10; i++)
		give(b, 0, make_frame(b, &s), 0);
	s.ecn = ECN_NOT_ECT;
	give(b, 0, make_frame(b, &s), 0);
	assert_int_equal(drain(b, 1, &now_ns), 11);
	assert_int_equal(sw_port_stats(b->sw, 1)->queue[7].ecn_marked_packets, 0);
	assert_int_equal(sw_port_stats(b->sw, 1)->queue[7].ecn_not_ect_packets, 0);
	bench_stop(b);
}

TEST(average_follows_ce_and_non_ect_packets_too)
{
	struct bench *b = bench_with_ports(2);
	struct frame_spec s = {
		.src = 0, .dst = 1, .dscp = 26, .ecn = ECN_CE, .payload_bytes = DATA_PAYLOAD};
	uint64_t now_ns = 0;
	struct rte_mbuf *m;

	set_step(&b->params, 100 * DATA_BYTES);
	b->params.wred.wred_weight = 2;
	bench_start(b);
	for (unsigned int i = 0; i < 200; i++)
		give(b, 0, make_frame(b, &s), 0);
	give(b, 0, make_data(b, 0, 1, 0), 0);
	for (unsigned int i = 0; i < 200; i++)
		sent(take_next(b, 1, &now_ns));
	/* Behind it nothing, but the average of the 200 before it is still low of 100: not
	 * marked. */
	m = take_next(b, 1, &now_ns);
	assert_int_equal(roce_of(m).ecn, ECN_ECT0);
	sent(m);
	/* Now the average is above when an ECT packet comes early among CE packets. */
	for (unsigned int i = 0; i < 40; i++)
		give(b, 0, make_frame(b, &s), now_ns);
	give(b, 0, make_data(b, 0, 1, 0), now_ns);
	for (unsigned int i = 0; i < 200; i++)
		give(b, 0, make_frame(b, &s), now_ns);
	for (unsigned int i = 0; i < 40; i++)
		sent(take_next(b, 1, &now_ns));
	m = take_next(b, 1, &now_ns);
	assert_int_equal(roce_of(m).ecn, ECN_CE);
	sent(m);
	bench_stop(b);
}

/* After a burst that has drained, a frame a second: nothing of the burst is left to mark or
 * drop. */
TEST(average_of_an_idle_queue_ages)
{
	for (uint8_t weight = 1; weight <= 15; weight += 7) {
		for (unsigned int mark = 0; mark < 2; mark++) {
			struct bench *b = bench_with_ports(2);
			struct frame_spec s = {.src = 0, .dst = 1, .payload_bytes = DATA_PAYLOAD};
			uint64_t now_ns = 0;

			b->params.wred_queues = 1u << 0;
			set_step(&b->params, 10 * DATA_BYTES);
			b->params.wred.wred_weight = weight;
			bench_start(b);
			learn_hosts(b);
			s.ecn = ECN_ECT0;
			for (unsigned int i = 0; i < 2000; i++)
				give(b, 0, make_frame(b, &s), 0);
			assert_int_equal(drain(b, 1, &now_ns), 2000);
			assert_true(sw_port_stats(b->sw, 1)->queue[0].ecn_marked_packets > 0);
			s.ecn = mark ? ECN_ECT0 : ECN_NOT_ECT;
			for (unsigned int i = 0; i < 20; i++) {
				struct rte_mbuf *m;

				now_ns += NS_PER_SEC;
				give(b, 0, make_frame(b, &s), now_ns);
				m = take(b, 1, now_ns);
				assert_non_null(m);
				assert_int_equal(roce_of(m).ecn, s.ecn);
				sent(m);
			}
			bench_stop(b);
		}
	}
}

/* Whatever stands where an IP header would have ECT, in its place for IPv4 and for IPv6. */
TEST(frame_without_ip_is_never_marked)
{
	struct bench *b = bench_with_ports(2);
	uint8_t frame[64] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0x81, 0, 3 << 5, 0, 0x88, 0xB5};
	struct rte_mbuf *m;

	memset(frame + 18, 0x22, sizeof(frame) - 18);
	set_step(&b->params, 0);
	bench_start(b);
	give_bytes(b, 0, frame, sizeof(frame), 0);
	give_bytes(b, 0, frame, sizeof(frame), 0);
	assert_int_equal(sw_queue_bytes(b->sw, 1, 3), 2 * 68);
	m = take(b, 1, 0);
	assert_non_null(m);
	assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), frame, sizeof(frame));
	sent(m);
	assert_int_equal(sw_port_stats(b->sw, 1)->queue[3].ecn_marked_packets, 0);
	bench_stop(b);
}

/* Port 1 is backlogged, the others are not: only the copy that leaves through it is marked. */
TEST(marked_copy_has_data_of_its_own)
{
	struct bench *b = bench_with_ports(4);
	struct rte_mbuf *copies[4];
	uint64_t now_ns = 0;

	set_step(&b->params, 0);
	bench_start(b);
	assert_int_equal(sw_learn(b->sw, 0, (const uint8_t[6]){2, 0, 0, 0, 0, 1}, 1, 0), 0);
	give(b, 0, make_data(b, 0, 9, 5), 0);
	give(b, 0, make_data(b, 0, 1, 6), 0);
	copies[1] = take_next(b, 1, &now_ns);
	copies[2] = take(b, 2, now_ns);
	copies[3] = take(b, 3, now_ns);
	assert_int_equal(roce_of(copies[1]).ecn, ECN_CE);
	assert_int_equal(roce_of(copies[2]).ecn, ECN_ECT0);
	assert_int_equal(roce_of(copies[3]).ecn, ECN_ECT0);
	for (unsigned int i = 1; i < 4; i++) {
		assert_int_equal(roce_of(copies[i]).psn, 5);
		assert_int_equal(copies[i]->nb_segs, 1);
		sent(copies[i]);
	}
	bench_stop(b);
}

/* Ports 1 to 3 have copies of two frames, and the first one to leave is marked. */
static struct bench *
bench_with_flood_to_be_marked(void)
{
	struct bench *b = bench_with_ports(4);

	set_step(&b->params, 0);
	bench_start(b);
	give(b, 0, make_data(b, 0, 9, 5), 0);
	give(b, 0, make_data(b, 0, 9, 6), 0);
	return b;
}

TEST(mark_without_an_mbuf_is_skipped_and_counted)
{
	static struct rte_mbuf *taken[BENCH_FRAMES];
	struct bench *b = bench_with_flood_to_be_marked();
	struct rte_mbuf *m;

	assert_int_equal(rte_pktmbuf_alloc_bulk(b->frames, taken, BENCH_FRAMES), 0);
	m = take(b, 1, 0);
	rte_pktmbuf_free_bulk(taken, BENCH_FRAMES);
	assert_int_equal(roce_of(m).ecn, ECN_ECT0);
	sent(m);
	assert_int_equal(sw_port_stats(b->sw, 1)->queue[3].ecn_mark_no_mbuf_packets, 1);
	assert_int_equal(sw_port_stats(b->sw, 1)->queue[3].ecn_marked_packets, 0);
	bench_stop(b);
}

TEST(last_copy_is_marked_in_place)
{
	struct bench *b = bench_with_flood_to_be_marked();
	struct rte_mbuf *m;

	sent(take(b, 1, 0));
	sent(take(b, 2, 0));
	assert_int_equal(rte_mempool_avail_count(b->frames), BENCH_FRAMES);
	m = take(b, 3, 0);
	assert_int_equal(roce_of(m).ecn, ECN_CE);
	assert_int_equal(rte_mempool_avail_count(b->frames), BENCH_FRAMES);
	sent(m);
	bench_stop(b);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
