/* SPDX-License-Identifier: BSD-3-Clause */
/* VLANs, static addresses, limits on learning and on flooding. Host h sits on port h. */
#include "base/numbers/array.h"
#include "unit/switch/sw_test.h"

#define PCP5 (5 << 13)

/* Those of bench_with_vlans(), and port 3 has 10 tagged. */
static struct bench *
bench_of_vlans(void)
{
	struct bench *b = bench_with_vlans();

	strcpy(b->params.ports[3].tagged_vlans, "10");
	bench_start(b);
	return b;
}

static void
broadcast_from(struct bench *b, uint8_t port, int32_t tci, uint64_t now_ns)
{
	struct frame_spec s = {.src = port, .dst = BROADCAST_HOST, .psn = port};

	s.tagged = tci >= 0;
	s.vlan_tci = (uint16_t)tci;
	give(b, port, make_frame(b, &s), now_ns);
}

TEST(frame_leaves_by_the_ports_of_its_vlan_and_as_each_wants_it)
{
	struct bench *b = bench_of_vlans();

	broadcast_from(b, 0, -1, 0);
	assert_null(take(b, 0, 0));
	sees_tag(b, 1, -1, 0);
	sees_tag(b, 2, 10, 0);
	sees_tag(b, 3, 10, 0);
	/* From tag to tag the priority is kept; where the tag goes, it goes. */
	broadcast_from(b, 2, PCP5 | 20, 10000);
	sees_tag(b, 3, -1, 10000);
	assert_null(take(b, 0, 10000));
	assert_null(take(b, 1, 10000));
	broadcast_from(b, 2, PCP5 | 10, 20000);
	sees_tag(b, 0, -1, 20000);
	sees_tag(b, 1, -1, 20000);
	sees_tag(b, 3, PCP5 | 10, 20000);
	assert_int_equal(all_drops(b), 0);
	bench_stop(b);
}

TEST(known_address_gets_its_frame_in_its_form)
{
	struct bench *b = bench_of_vlans();
	struct frame_spec to_trunk = {.src = 0, .dst = 2}, back = {.src = 2, .dst = 0};
	uint8_t mac[6];

	host_mac(mac, 2);
	assert_int_equal(sw_learn(b->sw, 10, mac, 2, 0), 0);
	assert_int_equal(sw_learn(b->sw, 30, mac, 2, 0), -EINVAL);
	give(b, 0, make_frame(b, &to_trunk), 0);
	sees_tag(b, 2, 10, 0);
	back.tagged = true;
	back.vlan_tci = PCP5 | 10;
	give(b, 2, make_frame(b, &back), 10000);
	sees_tag(b, 0, -1, 10000);
	assert_null(take(b, 1, 10000));
	bench_stop(b);
}

TEST(frame_of_a_foreign_vlan_is_dropped_and_counted)
{
	struct bench *b = bench_of_vlans();

	broadcast_from(b, 0, 20, 0);    /* not in 20 */
	broadcast_from(b, 0, 0xFFF, 0); /* no VLAN at all */
	broadcast_from(b, 2, -1, 0);    /* no access VLAN */
	broadcast_from(b, 2, PCP5, 0);  /* nor for a priority tag */
	assert_int_equal(drops(b, 0, SW_DROP_INGRESS_VLAN_FILTER), 2);
	assert_int_equal(drops(b, 2, SW_DROP_VLAN_TAG_NOT_ALLOWED), 2);
	assert_int_equal(sw_fdb_entries(b->sw), 0);
	/* Tagged with the access VLAN is as good as untagged. */
	broadcast_from(b, 0, 10, 0);
	sees_tag(b, 1, -1, 0);
	sees_tag(b, 2, 10, 0);
	sees_tag(b, 3, 10, 0);
	assert_int_equal(all_drops(b), 4);
	bench_stop(b);
}

TEST(priority_tag_is_believed_and_becomes_the_vlans)
{
	struct bench *b = bench_of_vlans();

	broadcast_from(b, 0, PCP5, 0);
	sees_tag(b, 1, -1, 0);
	sees_tag(b, 2, PCP5 | 10, 0);
	sees_tag(b, 3, PCP5 | 10, 0);
	bench_stop(b);
}

/* Both forms of a flooded frame share data among ports; a mark on one must not show on another. */
TEST(marked_copy_of_a_tagged_form_leaves_the_others_alone)
{
	struct bench *b = &bench;
	struct frame_spec s = {.src = 0, .dst = BROADCAST_HOST, .dscp = 26, .ecn = ECN_ECT0};
	struct frame_spec ahead = {.src = 1, .dst = 2, .dscp = 26, .ecn = ECN_ECT0};
	struct rte_mbuf *m;
	uint8_t mac[6];

	bench_defaults(&b->params, 4);
	b->params.vlan_filtering = true;
	b->params.ports[0].access_vlan = b->params.ports[1].access_vlan = 10;
	strcpy(b->params.ports[2].tagged_vlans, "10");
	strcpy(b->params.ports[3].tagged_vlans, "10");
	b->params.wred.wred_green_enable = true;
	b->params.wred.ecn = WRED_ECN_ALL;
	b->params.wred.green_min_threshold_bytes = 0;
	b->params.wred.green_max_threshold_bytes = 0;
	b->params.wred.green_drop_probability_ppm = 1000000;
	bench_start(b);
	host_mac(mac, 2);
	assert_int_equal(sw_learn(b->sw, 10, mac, 2, 0), 0);
	give(b, 0, make_frame(b, &s), 0);
	give(b, 1, make_frame(b, &ahead),
	     0); /* stands behind the copy at port 2: a queue to mark by */
	m = take(b, 2, 0);
	assert_non_null(m);
	assert_int_equal(view_of(m).ecn, ECN_CE);
	assert_int_equal(view_of(m).vlan_tci, 10);
	sent(m);
	m = take(b, 3, 0);
	assert_int_equal(view_of(m).ecn, ECN_ECT0);
	assert_int_equal(view_of(m).vlan_tci, 10);
	sent(m);
	m = take(b, 1, 0);
	assert_int_equal(view_of(m).ecn, ECN_ECT0);
	assert_false(view_of(m).tagged);
	sent(m);
	sent(take(b, 2, 1000));
	bench_stop(b);
}

TEST(tag_without_an_mbuf_is_a_counted_drop)
{
	struct bench *b = bench_of_vlans();
	struct rte_mbuf *held[BENCH_FRAMES];

	assert_int_equal(rte_pktmbuf_alloc_bulk(b->frames, held, BENCH_FRAMES), 0);
	broadcast_from(b, 0, -1, 0);
	sees_tag(b, 1, -1, 0);
	assert_null(take(b, 2, 0));
	assert_int_equal(drops(b, 2, SW_DROP_NO_MBUF), 1);
	assert_int_equal(drops(b, 3, SW_DROP_NO_MBUF), 1);
	rte_pktmbuf_free_bulk(held, BENCH_FRAMES);
	bench_stop(b);
}

/* 802.3 4A.4.2: what loses its tag may be too short. */
TEST(short_frame_is_padded_when_its_tag_goes)
{
	struct bench *b = bench_of_vlans();
	uint8_t frame[60] = {2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0x81, 0, 0, 10, 0x12, 0x34, 0xAA};
	struct rte_mbuf *m;

	assert_int_equal(sw_learn(b->sw, 10, frame, 0, 0), 0);
	memset(frame + 18, 0xAA, sizeof(frame) - 18);
	give_bytes(b, 2, frame, sizeof(frame), 0);
	m = take(b, 0, 0);
	assert_non_null(m);
	assert_int_equal(m->data_len, 60);
	assert_memory_equal(rte_pktmbuf_mtod_offset(m, uint8_t *, 12), frame + 16, 44);
	assert_int_equal(rte_pktmbuf_mtod_offset(m, uint8_t *, 56)[0], 0);
	sent(m);
	bench_stop(b);
}

TEST(static_address_stays_where_it_was_put)
{
	struct bench *b = &bench;
	struct sw_static_mac mac = {.name = "two", .mac = {2, 0, 0, 0, 0, 2}, .port = "2"};

	bench_defaults(&b->params, 4);
	b->params.tables.static_macs = &mac;
	b->params.tables.n_static_macs = 1;
	bench_start(b);
	give(b, 1, make_data(b, 2, 3, 0), 0); /* somebody on port 1 says to be host 2 */
	for (uint16_t port = 0; port < 4; port++)
		if (port != 1)
			sent(take(b, port, 0));
	give(b, 3, make_data(b, 3, 2, 0), 1000);
	sent(take(b, 2, 1000));
	assert_null(take(b, 1, 1000));
	assert_int_equal(sw_fdb_stats(b->sw).static_kept, 1);
	bench_stop(b);
}

TEST(port_at_its_limit_learns_no_more_and_its_frames_go_on)
{
	struct bench *b = &bench;

	bench_defaults(&b->params, 3);
	b->params.ports[1].max_learned_addresses = 2;
	bench_start(b);
	give(b, 0, make_data(b, 10, 11, 0), 0);
	sent(take(b, 1, 0));
	sent(take(b, 2, 0));
	for (uint8_t host = 20; host < 30; host++) {
		uint64_t now_ns = host * 1000u;

		give(b, 1, make_data(b, host, 10, 0), now_ns);
		sent(take(b, 0, now_ns));
		assert_null(take(b, 2, now_ns));
	}
	assert_int_equal(sw_fdb_port_entries(b->sw, 1), 2);
	assert_int_equal(sw_fdb_stats(b->sw).learn_limited, 8);
	bench_stop(b);
}

/* A full bucket is two of the largest frames or 10 ms of the rate; from then on the rate rules. */
TEST(storms_are_held_to_their_rate_each_to_its_own)
{
	struct bench *b = &bench;
	struct frame_spec bc = {.src = 0, .dst = BROADCAST_HOST}, uu = {.src = 0, .dst = 77};
	uint32_t wire;
	uint64_t burst_bytes = 2 * 9238, ns_per_frame;
	unsigned int passed = 0, given = 0;
	struct rte_mbuf *m;

	bench_defaults(&b->params, 2);
	b->params.ports[0].storm_bps[SW_STORM_BROADCAST] = 1 * MBPS;
	b->params.ports[0].storm_bps[SW_STORM_UNKNOWN_UNICAST] = 2 * MBPS;
	bench_start(b);
	m = make_frame(b, &bc);
	wire = wire_bytes(m->pkt_len);
	rte_pktmbuf_free(m);
	/* While the credit is not negative a frame goes: the last one may leave a debt. */
	for (; given < 1000; given++)
		give(b, 0, make_frame(b, &bc), 0);
	passed = (unsigned int)(burst_bytes / wire) + 1;
	assert_int_equal(drops(b, 0, SW_DROP_STORM_BROADCAST), given - passed);
	ns_per_frame = wire * 8 * 1000ull;
	give(b, 0, make_frame(b, &bc), 1);
	assert_int_equal(drops(b, 0, SW_DROP_STORM_BROADCAST), given - passed + 1);
	give(b, 0, make_frame(b, &bc), ns_per_frame);
	assert_int_equal(drops(b, 0, SW_DROP_STORM_BROADCAST), given - passed + 1);
	/* Others are not held: unknown addresses have their own rate, multicast has none, the other
	 * port has none, and what is known is no storm. */
	for (unsigned int i = 0; i < 1000; i++)
		give(b, 0, make_frame(b, &uu), ns_per_frame);
	passed = (unsigned int)(burst_bytes / wire) + 1;
	assert_int_equal(drops(b, 0, SW_DROP_STORM_UNKNOWN_UNICAST), 1000 - passed);
	bc.src = 1;
	give(b, 1, make_frame(b, &bc), ns_per_frame);
	uu.dst = 1;
	give(b, 0, make_frame(b, &uu), ns_per_frame);
	assert_int_equal(drops(b, 0, SW_DROP_STORM_UNKNOWN_UNICAST), 1000 - passed);
	assert_int_equal(drops(b, 1, SW_DROP_STORM_BROADCAST), 0);
	assert_int_equal(drops(b, 0, SW_DROP_STORM_MULTICAST), 0);
	bench_stop(b);
}

/* Groups in turn and in runs; what the buffer refuses counts as received by its group, and
 * dropped. */
TEST(frames_and_refusals_are_counted_by_group)
{
	static const uint8_t dscps[] = {26, 26, 0, 26, 0, 0, 0, 0};
	struct bench *b = &bench;
	struct rte_mbuf *burst[ARRAY_LEN(dscps)];
	const struct sw_pg_stats *pg;
	uint64_t bytes[2] = {0}, now_ns = 0;

	bench_defaults(&b->params, 2);
	b->params.mmu.lossy.dynamic = false;
	b->params.mmu.lossy.static_th_bytes = 400;
	b->params.mmu.lossy.size_bytes = 0;
	bench_start(b);
	for (unsigned int i = 0; i < ARRAY_LEN(dscps); i++) {
		struct frame_spec s = {.src = 0, .dst = 1, .dscp = dscps[i], .ecn = ECN_ECT0};

		burst[i] = make_frame(b, &s);
		bytes[dscps[i] == 0] += frame_bytes(burst[i]->pkt_len);
	}
	b->sw->ops->rx(b->sw, 0, burst, ARRAY_LEN(dscps), 0);
	pg = sw_port_stats(b->sw, 0)->pg;
	assert_int_equal(pg[3].rx_packets, 3);
	assert_int_equal(pg[3].rx_bytes, bytes[0]);
	assert_int_equal(pg[3].drop_packets, 0);
	assert_int_equal(pg[0].rx_packets, 5);
	assert_int_equal(pg[0].rx_bytes, bytes[1]);
	assert_int_equal(pg[0].drop_packets, drops(b, 0, SW_DROP_PG_LIMIT));
	assert_in_range(pg[0].drop_packets, 1, 4);
	drain(b, 1, &now_ns);
	bench_stop(b);
}

TEST(lists_of_vlans_are_read_whole_or_refused)
{
	static const char *const wrong[] = {"0", "4095", "1,", ",1", "5-3",
					    "x", "1 2",  "-4", "1-", "1-5000"};
	struct vlan_set set;

	for (unsigned int i = 0; i < ARRAY_LEN(wrong); i++)
		if (vlan_set_parse(wrong[i], &set) != -EINVAL)
			fail_msg("taken: %s", wrong[i]);
	assert_int_equal(vlan_set_parse("none", &set), 0);
	assert_true(vlan_set_is_empty(&set));
	assert_int_equal(vlan_set_parse("1, 62-65 ,4094", &set), 0);
	for (uint16_t vid = 0; vid < 4096; vid++)
		assert_int_equal(vlan_set_has(&set, vid),
				 vid == 1 || (vid >= 62 && vid <= 65) || vid == 4094);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
