/* SPDX-License-Identifier: BSD-3-Clause */
/* The switch as a bridge: forwarding, flooding, what ends here and under which name. */
#include "base/numbers/array.h"
#include "unit/switch/sw_test.h"

static struct bench *
bench_of(uint16_t n_ports)
{
	struct bench *b = &bench;

	bench_defaults(&b->params, n_ports);
	bench_start(b);
	return b;
}

TEST(unknown_destination_floods_and_the_answer_does_not)
{
	struct bench *b = bench_of(4);

	give(b, 1, make_data(b, 1, 2, 7), 0);
	for (uint16_t port = 0; port < 4; port++) {
		struct rte_mbuf *m = take(b, port, 0);

		if (port == 1) {
			assert_null(m);
			continue;
		}
		assert_int_equal(roce_of(m).psn, 7);
		sent(m);
	}
	give(b, 2, make_data(b, 2, 1, 8), 1000);
	assert_null(take(b, 0, 1000));
	assert_null(take(b, 3, 1000));
	sent(take(b, 1, 1000));
	assert_int_equal(sw_fdb_entries(b->sw), 2);
	bench_stop(b);
}

TEST(learned_in_one_vlan_is_unknown_in_another)
{
	struct bench *b = bench_of(3);
	struct frame_spec s = {.src = 1, .dst = 2, .tagged = true, .vlan_tci = 7};
	struct frame_spec back = {.src = 2, .dst = 1, .tagged = true, .vlan_tci = 7};

	give(b, 1, make_frame(b, &s), 0);
	sent(take(b, 0, 0));
	sent(take(b, 2, 0));
	/* PCP is not part of the VLAN. */
	back.vlan_tci = 5 << 13 | 7;
	give(b, 2, make_frame(b, &back), 1000);
	assert_null(take(b, 0, 1000));
	sent(take(b, 1, 1000));
	back.vlan_tci = 8;
	give(b, 2, make_frame(b, &back), 2000);
	sent(take(b, 0, 2000));
	sent(take(b, 1, 2000));
	back.tagged = false;
	give(b, 2, make_frame(b, &back), 3000);
	sent(take(b, 0, 3000));
	sent(take(b, 1, 3000));
	bench_stop(b);
}

TEST(station_that_moves_is_followed)
{
	struct bench *b = bench_of(3);

	learn_hosts(b);
	give(b, 2, make_data(b, 1, 2, 0), 0); /* host 1 now speaks behind port 2 */
	assert_int_equal(drops(b, 2, SW_DROP_SAME_PORT), 1);
	give(b, 0, make_data(b, 0, 1, 0), 0);
	assert_null(take(b, 1, 0));
	sent(take(b, 2, 0));
	assert_int_equal(sw_fdb_stats(b->sw).moved, 1);
	bench_stop(b);
}

TEST(aged_address_floods_again_and_control_gives_its_place_back)
{
	struct bench *b = bench_of(3);
	uint64_t late_ns = 610 * NS_PER_SEC;

	assert_int_equal(sw_learn(b->sw, 0, (const uint8_t[6]){2, 0, 0, 0, 0, 1}, 1, 0), 0);
	give(b, 0, make_data(b, 0, 1, 0), 599 * NS_PER_SEC);
	sent(take(b, 1, 599 * NS_PER_SEC));
	assert_null(take(b, 2, 599 * NS_PER_SEC));
	give(b, 0, make_data(b, 0, 1, 0), late_ns);
	sent(take(b, 1, late_ns));
	sent(take(b, 2, late_ns));
	assert_int_equal(sw_fdb_entries(b->sw), 2);
	/* A step for each request, 64 for 16384 places, four rounds per ageing time. */
	assert_true(b->sw->ops->control(b->sw, late_ns) == late_ns + 600 * NS_PER_SEC / 256);
	for (unsigned int i = 0; i < 64; i++) {
		assert_null(take(b, 0, late_ns));
		b->sw->wake[0] = 0;
		late_ns = b->sw->ops->control(b->sw, late_ns + 600 * NS_PER_SEC / 256);
		/* In virtual time a port is called when it was woken. */
		assert_true(b->sw->wake[0] & 1);
		late_ns -= 600 * NS_PER_SEC / 256;
	}
	assert_int_equal(sw_fdb_entries(b->sw), 1);
	bench_stop(b);
}

/* Frames that wait, by port, taken as fast as the wires are. */
static void
drain_all(struct bench *b, unsigned int n[4], uint64_t *now_ns)
{
	for (uint16_t port = 0; port < 4; port++)
		n[port] = drain(b, port, now_ns);
}

/* A frame from host 0 to this host goes out by port 1, and by no other. */
static void
reaches_port_1_alone(struct bench *b, uint8_t host, uint64_t *now_ns)
{
	unsigned int n[4];

	drain_all(b, n, now_ns);
	give(b, 0, make_data(b, 0, host, 0), *now_ns);
	drain_all(b, n, now_ns);
	assert_int_equal(n[1], 1);
	assert_int_equal(n[0] + n[2] + n[3], 0);
}

/* Port 3 makes up sources all the while. A new host on port 1 is learned, and its frames go to
 * nobody else, as do those of a host that was there before. */
TEST(host_beside_a_flood_of_sources_is_learned)
{
	struct bench *b = &bench;
	uint64_t now_ns = 1000;
	uint32_t made = 0;
	unsigned int n[4];

	bench_defaults(&b->params, 4);
	b->params.fdb_entries = 1024;
	bench_start(b);
	give(b, 1, make_data(b, 1, 0, 0), now_ns);
	for (unsigned int step = 0; step < 8; step++) {
		for (unsigned int i = 0; i < 1024; i++) {
			struct rte_mbuf *m = make_data(b, 3, 3, 0);
			uint8_t *mac = rte_pktmbuf_mtod_offset(m, uint8_t *, 6);

			made++;
			mac[0] = 0x06;
			memcpy(mac + 1, &made, sizeof(made));
			give(b, 3, m, now_ns);
			drain_all(b, n, &now_ns);
		}
		reaches_port_1_alone(b, 1, &now_ns);
		if (step == 4)
			give(b, 1, make_data(b, 7, 1, 0), now_ns);
		if (step >= 4)
			reaches_port_1_alone(b, 7, &now_ns);
	}
	assert_int_equal(sw_fdb_entries(b->sw), 1024);
	assert_int_equal(sw_fdb_port_entries(b->sw, 1), 2);
	bench_stop(b);
}

TEST(learn_refuses_what_cannot_be)
{
	struct bench *b = &bench;
	uint8_t mac[6] = {2, 0, 0, 0, 0, 0};

	bench_defaults(&b->params, 2);
	b->params.fdb_entries = FDB_MIN_ENTRIES;
	bench_start(b);
	assert_int_equal(sw_learn(b->sw, 0, mac, 2, 0), -EINVAL);
	assert_int_equal(sw_learn(b->sw, 0, (const uint8_t[6]){1}, 1, 0), -EINVAL);
	for (mac[5] = 0; mac[5] < FDB_MIN_ENTRIES; mac[5]++)
		assert_int_equal(sw_learn(b->sw, 0, mac, 1, 0), 0);
	assert_int_equal(sw_learn(b->sw, 0, mac, 1, 0), -ENOSPC);
	bench_stop(b);
}

TEST(reserved_addresses_are_never_forwarded)
{
	struct bench *b = bench_of(3);
	uint8_t frame[60] = {0x01, 0x80, 0xC2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0x88, 0xCC};

	for (unsigned int last = 0; last <= 0x0F; last++) {
		frame[5] = (uint8_t)last;
		give_bytes(b, 1, frame, sizeof(frame), 0);
	}
	assert_int_equal(drops(b, 1, SW_DROP_RESERVED_ADDRESS), 16);
	assert_true(next_ns(b, 0) == NEVER_NS && next_ns(b, 2) == NEVER_NS);
	assert_int_equal(sw_fdb_entries(b->sw), 0);
	/* The next one is an ordinary group address. */
	frame[5] = 0x10;
	give_bytes(b, 1, frame, sizeof(frame), 0);
	sent(take(b, 0, 0));
	sent(take(b, 2, 0));
	bench_stop(b);
}

TEST(mac_control_ends_here_whatever_its_address)
{
	static const struct {
		uint8_t dst0;
		uint16_t opcode;
		uint16_t len;
		bool tagged;
		bool consumed;
		enum sw_drop drop;
	} cases[] = {
		{0x01, 0x0101, 60, false, true, 0},
		{0x02, 0x0101, 60, false, false, SW_DROP_MAC_CONTROL_ADDRESS},
		{0x01, 0x0001, 60, false, true, 0},
		{0x01, 0x0101, 33, false, false, SW_DROP_MAC_CONTROL_MALFORMED},
		{0x01, 0x0001, 17, false, false, SW_DROP_MAC_CONTROL_MALFORMED},
		{0x01, 0x0002, 60, false, false, SW_DROP_MAC_CONTROL_UNKNOWN},
		{0x02, 0x0101, 60, true, false, SW_DROP_MAC_CONTROL_UNKNOWN},
	};
	struct bench *b = bench_of(3);
	uint64_t expected[SW_DROPS] = {0};

	for (unsigned int i = 0; i < ARRAY_LEN(cases); i++) {
		uint8_t frame[64] = {cases[i].dst0, 0x80, 0xC2, 0, 0, 1, 2, 0, 0, 0, 0, 9,
				     0x88,          0x08};
		unsigned int at = 12;
		uint64_t consumed = sw_ledger(b->sw).consumed;

		if (cases[i].tagged) {
			frame[at++] = 0x81;
			frame[at++] = 0x00;
			at += 2;
			frame[at] = 0x88;
			frame[at + 1] = 0x08;
		}
		frame[at + 2] = (uint8_t)(cases[i].opcode >> 8);
		frame[at + 3] = (uint8_t)cases[i].opcode;
		give_bytes(b, 0, frame, cases[i].len, 0);
		if (!cases[i].consumed)
			expected[cases[i].drop]++;
		assert_int_equal(sw_ledger(b->sw).consumed - consumed, cases[i].consumed ? 64 : 0);
		for (unsigned int d = 0; d < SW_DROPS; d++)
			assert_int_equal(drops(b, 0, (enum sw_drop)d), expected[d]);
	}
	assert_int_equal(sw_port_stats(b->sw, 0)->rx_pause_frames, 1);
	assert_int_equal(sw_port_stats(b->sw, 0)->rx_global_pause_frames, 1);
	assert_int_equal(sw_port_stats(b->sw, 0)->rx_packets, 1); /* the tagged one is none */
	assert_int_equal(sw_fdb_entries(b->sw), 0);
	assert_true(next_ns(b, 1) == NEVER_NS && next_ns(b, 2) == NEVER_NS);
	bench_stop(b);
}

TEST(malformed_frames_are_counted_by_verdict)
{
	struct bench *b = bench_of(3);
	static const struct {
		uint16_t len;
		uint8_t offset, value;
		enum frame_verdict verdict;
	} cases[] = {
		{13, 0, 0x02, FRAME_TRUNCATED_ETH},   {20, 0, 0x02, FRAME_TRUNCATED_IP},
		{60, 14, 0x65, FRAME_BAD_IP_VERSION}, {60, 14, 0x44, FRAME_BAD_IP_HEADER_LENGTH},
		{60, 17, 0xFF, FRAME_BAD_IP_LENGTH},  {80, 22, 0x01, FRAME_BAD_IP_CHECKSUM},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(cases); i++) {
		struct rte_mbuf *m = make_data(b, 1, 2, 0);

		rte_pktmbuf_mtod(m, uint8_t *)[cases[i].offset] = cases[i].value;
		if (cases[i].verdict == FRAME_BAD_IP_CHECKSUM)
			m->pkt_len = m->data_len; /* whole, only the sum is wrong */
		else
			m->pkt_len = m->data_len = cases[i].len;
		give(b, 1, m, 0);
		assert_int_equal(sw_port_stats(b->sw, 1)->malformed[cases[i].verdict], 1);
		assert_int_equal(drops(b, 1, SW_DROP_MALFORMED), i + 1);
	}
	assert_int_equal(sw_fdb_entries(b->sw), 0);
	assert_true(next_ns(b, 0) == NEVER_NS && next_ns(b, 2) == NEVER_NS);
	bench_stop(b);
}

TEST(bad_source_own_port_and_oversize_are_dropped_by_name)
{
	struct bench *b = &bench;
	struct rte_mbuf *m;

	bench_defaults(&b->params, 3);
	b->params.max_frame_bytes = DATA_BYTES;
	bench_start_learnt(b);
	m = make_data(b, 0, 2, 0);
	rte_pktmbuf_mtod(m, uint8_t *)[6] |= 1;
	give(b, 0, m, 0);
	assert_int_equal(drops(b, 0, SW_DROP_BAD_SOURCE), 1);
	give(b, 0, make_data(b, 1, 0, 0), 0);
	assert_int_equal(drops(b, 0, SW_DROP_SAME_PORT), 1);
	give(b, 0, make_data(b, 0, 2, 0), 0); /* just fits */
	assert_int_equal(all_drops(b), 2);
	give(b, 0, make_frame(b, &(struct frame_spec){.dst = 2, .payload_bytes = DATA_PAYLOAD + 4}),
	     0);
	assert_int_equal(drops(b, 0, SW_DROP_OVERSIZE), 1);
	assert_int_equal(sw_port_stats(b->sw, 0)->rx_packets, 4);
	bench_stop(b);
}

TEST(flooded_frame_is_charged_once_until_its_last_copy_left)
{
	struct bench *b = bench_of(4);
	uint64_t now_ns = 0;

	give(b, 0, make_data(b, 0, 2, 0), now_ns);
	assert_int_equal(mmu_used_bytes(sw_mmu(b->sw)), DATA_BYTES);
	assert_int_equal(sw_ledger(b->sw).queued, 3 * DATA_BYTES);
	assert_int_equal(sw_ledger(b->sw).copies, 2 * DATA_BYTES);
	assert_int_equal(drain(b, 1, &now_ns), 1);
	assert_int_equal(drain(b, 2, &now_ns), 1);
	assert_int_equal(mmu_used_bytes(sw_mmu(b->sw)), DATA_BYTES);
	assert_int_equal(drain(b, 3, &now_ns), 1);
	assert_int_equal(mmu_used_bytes(sw_mmu(b->sw)), 0);
	bench_stop(b);
}

TEST(flood_between_two_ports_copies_nothing)
{
	struct bench *b = bench_of(2);

	give(b, 0, make_data(b, 0, 1, 0), 0);
	assert_int_equal(rte_mempool_avail_count(b->clones), BENCH_CLONES);
	assert_int_equal(sw_ledger(b->sw).copies, 0);
	sent(take(b, 1, 0));
	bench_stop(b);
}

TEST(copies_without_an_mbuf_are_dropped_by_name)
{
	static struct rte_mbuf *taken[BENCH_CLONES];
	struct bench *b = bench_of(4);
	uint64_t dropped = 0;

	assert_int_equal(rte_pktmbuf_alloc_bulk(b->clones, taken, BENCH_CLONES - 1), 0);
	give(b, 0, make_data(b, 0, 1, 0), 0);
	bench_sees_balance(b);
	for (uint16_t port = 1; port < 4; port++) {
		uint64_t none = drops(b, port, SW_DROP_NO_MBUF), now_ns = 0;

		assert_int_equal(drain(b, port, &now_ns), 1 - none);
		dropped += none;
	}
	assert_int_equal(dropped, 2);
	rte_pktmbuf_free_bulk(taken, BENCH_CLONES - 1);
	/* None at all: the frame is gone and charged to nobody. */
	assert_int_equal(rte_pktmbuf_alloc_bulk(b->clones, taken, BENCH_CLONES), 0);
	give(b, 0, make_data(b, 0, 1, 0), 1000);
	assert_int_equal(mmu_used_bytes(sw_mmu(b->sw)), 0);
	rte_pktmbuf_free_bulk(taken, BENCH_CLONES);
	bench_stop(b);
}

/* Ports that send nothing hold the copies of a flood. */
TEST(a_lossy_flood_takes_no_copy_of_a_lossless_frame)
{
	struct bench *b = bench_with_ports(4);
	struct rte_mempool *few = bench_pool("few", 8, 0);
	const struct sw_pools pools = {.frames = b->frames,
				       .clones = few,
				       .lossless_clones = b->clones,
				       .mbufs = 2 * BENCH_FRAMES};
	uint64_t none[4];

	sw_params_resolve(&b->params);
	b->sw = sw_create(&b->params, &pools);
	assert_non_null(b->sw);
	flood_until_empty(b, few);
	for (uint16_t port = 1; port < 4; port++) {
		none[port] = drops(b, port, SW_DROP_NO_MBUF);
		assert_true(none[port] > 0);
	}
	/* Nobody knows host 1 yet. */
	give(b, 0, make_data(b, 0, 1, 0), 0);
	for (uint16_t port = 1; port < 4; port++) {
		assert_int_equal(drops(b, port, SW_DROP_NO_MBUF), none[port]);
		assert_int_equal(sw_queue_bytes(b->sw, port, 3), DATA_BYTES);
	}
	bench_stop(b);
	assert_int_equal(rte_mempool_avail_count(few), 8);
	pkt_pool_destroy(few);
}

TEST(rx_wakes_the_ports_that_got_work)
{
	struct bench *b = bench_of(4);

	learn_hosts(b);
	b->sw->wake[0] = 0;
	give(b, 0, make_data(b, 0, 2, 0), 0);
	assert_true(b->sw->wake[0] == 1u << 2);
	b->sw->wake[0] = 0;
	give(b, 1, make_frame(b, &(struct frame_spec){.src = 1, .dst = BROADCAST_HOST}), 0);
	assert_true((b->sw->wake[0] & 0xF) == (1u << 0 | 1u << 3)); /* 2 was awake already */
	bench_stop(b);
}

TEST(wrong_parameters_are_refused_with_the_key)
{
	static const struct {
		const char *word;
		int which;
	} cases[] = {{"mac", 0},
		     {"link_speed_bps", 1},
		     {"shaper_rate_bps", 2},
		     {"1 to 512 ports", 3},
		     {"fdb_entries", 4},
		     {"max_frame_bytes", 5},
		     {"mark_at", 6},
		     {"dwrr_weight", 7},
		     {"buffer_bytes", 8},
		     {"pfc_xoff_quanta", 9}};
	struct sw_params p;
	struct sw_pools pools = {0};
	char why[256];

	for (unsigned int i = 0; i < ARRAY_LEN(cases); i++) {
		bench_defaults(&p, 4);
		switch (cases[i].which) {
		case 0:
			memset(p.ports[3].mac, 0, 6);
			break;
		case 1:
			p.ports[1].link_speed_bps = 0;
			break;
		case 2:
			p.ports[1].shaper_rate_bps = 41 * GBPS;
			break;
		case 3:
			p.n_ports = SW_MAX_PORTS + 1;
			break;
		case 4:
			p.fdb_entries = 0;
			break;
		case 5:
			p.max_frame_bytes = 0;
			break;
		case 6:
			p.mark_at = 2;
			break;
		case 7:
			p.sched.dwrr_weight[0] = 0;
			break;
		case 9:
			/* 2 x 84 bytes take 34 ns, half of 5 quanta 32 ns, half of 6 38 ns. */
			p.pfc.pfc_xoff_quanta = 6;
			sw_params_resolve(&p);
			assert_int_equal(sw_params_check(&p, why, sizeof(why)), 0);
			p.pfc.pfc_xoff_quanta = 5;
			break;
		default:
			p.mmu.buffer_bytes = 0;
			break;
		}
		sw_params_resolve(&p);
		why[0] = '\0';
		assert_int_equal(sw_params_check(&p, why, sizeof(why)), -EINVAL);
		if (strstr(why, cases[i].word) == NULL)
			fail_msg("expected a word on %s, got: %s", cases[i].word, why);
		errno = 0;
		assert_null(sw_create(&p, &pools));
		assert_int_equal(errno, EINVAL);
	}
}

TEST(names_of_drops_are_distinct)
{
	for (unsigned int i = 0; i < SW_DROPS; i++) {
		for (unsigned int j = 0; j < i; j++)
			assert_string_not_equal(sw_drop_name((enum sw_drop)i),
						sw_drop_name((enum sw_drop)j));
	}
	assert_string_equal(sw_drop_name(SW_DROP_NO_HEADROOM), "no_headroom");
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
