/* SPDX-License-Identifier: BSD-3-Clause */
/* In-band telemetry of a switch: hops are true, and a switch that adds none changes no byte. */
#include "unit/switch/sw_test.h"
#include "wire/roce/int_hdr.h"

/* WRITE Middle from host 0 to a host, with an INT header of one slot. */
static struct rte_mbuf *
make_int(struct bench *b, uint8_t dst, uint32_t psn)
{
	const struct frame_spec s = {.src = 0, .dst = dst, .dscp = 26, .ecn = ECN_ECT0, .psn = psn};
	struct rte_mbuf *m = make_frame(b, &s);
	unsigned int bytes = int_insert(rte_pktmbuf_mtod(m, uint8_t *), 1, 0, 0, NULL, 0);

	rte_pktmbuf_prepend(m, (uint16_t)bytes);
	return m;
}

/* The hop of a frame that came out. @return the number of its hops. */
static unsigned int
hop_of(const struct rte_mbuf *m, struct int_hop *hop)
{
	const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *), *hdr;
	struct frame_view f = view_of(m);
	uint8_t out[512];

	assert_int_equal(int_strip(buf, m->data_len, &f, out, &hdr), INT_OK);
	*hop = int_read_hop(hdr, 0);
	return int_hdr_hops(hdr);
}

TEST(each_frame_learns_queue_bytes_time_and_rate)
{
	struct bench *b = bench_with_ports(4);
	struct rte_mbuf *m[3];
	uint64_t now_ns = 5000;
	struct int_hop hop;
	uint32_t wire;

	b->params.int_telemetry = true;
	bench_start_learnt(b);
	for (unsigned int i = 0; i < 3; i++)
		give(b, 0, make_int(b, 1, i), now_ns);
	for (unsigned int i = 0; i < 3; i++) {
		m[i] = take_next(b, 1, &now_ns);
		assert_non_null(m[i]);
		wire = m[i]->pkt_len + 24;
		assert_int_equal(hop_of(m[i], &hop), 1);
		assert_int_equal(hop.queue_bytes, (2 - i) * (m[i]->pkt_len + 4));
		assert_int_equal(hop.tx_bytes % wire, 0);
		assert_int_equal(hop.time_ns, now_ns);
		assert_int_equal(hop.rate_mbps, 40000);
		if (i > 0) {
			struct int_hop before;

			hop_of(m[i - 1], &before);
			assert_int_equal(hop.tx_bytes - before.tx_bytes, wire);
		}
	}
	assert_int_equal(sw_port_stats(b->sw, 1)->int_hops_added, 3);
	for (unsigned int i = 0; i < 3; i++)
		sent(m[i]);
	bench_stop(b);
}

/* Hosts 2 and 3 are on ports of other rates: a flooded frame tells each its own. */
TEST(copies_of_a_frame_have_hops_of_their_own)
{
	struct bench *b = bench_with_ports(4);
	static const uint32_t mbps[] = {0, 40000, 25000, 10000};
	uint64_t now_ns = 0;
	struct int_hop hop;

	b->params.int_telemetry = true;
	b->params.ports[2].link_speed_bps = b->params.ports[2].shaper_rate_bps = 25 * GBPS;
	b->params.ports[3].link_speed_bps = b->params.ports[3].shaper_rate_bps = 10 * GBPS;
	bench_start(b);
	give(b, 0, make_int(b, 9, 0), 0);
	for (uint16_t port = 1; port < 4; port++) {
		struct rte_mbuf *m = take_next(b, port, &now_ns);

		assert_non_null(m);
		assert_int_equal(hop_of(m, &hop), 1);
		assert_int_equal(hop.rate_mbps, mbps[port]);
		sent(m);
	}
	bench_stop(b);
}

TEST(full_and_malformed_headers_pass_and_are_counted)
{
	struct bench *b = bench_with_ports(4);
	struct rte_mbuf *m;
	uint64_t now_ns = 0;
	struct int_hop hop, mine = {1, 2, 3, 4};
	uint8_t *bytes, before[512];

	b->params.int_telemetry = true;
	bench_start_learnt(b);
	m = make_int(b, 1, 0);
	assert_int_equal(int_append(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, 0, &mine), INT_OK);
	give(b, 0, m, 0);
	m = take_next(b, 1, &now_ns);
	assert_int_equal(hop_of(m, &hop), 1);
	assert_memory_equal(&hop, &mine, sizeof(hop));
	sent(m);
	m = make_int(b, 1, 0);
	bytes = rte_pktmbuf_mtod(m, uint8_t *);
	bytes[14 + 20 + 8 + 1] = 0x70; /* slots */
	memcpy(before, bytes, m->data_len);
	give(b, 0, m, 0);
	m = take_next(b, 1, &now_ns);
	assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), before, m->data_len);
	sent(m);
	assert_int_equal(sw_port_stats(b->sw, 1)->int_hops_added, 0);
	assert_int_equal(sw_port_stats(b->sw, 1)->int_no_room, 1);
	assert_int_equal(sw_port_stats(b->sw, 1)->int_malformed, 1);
	bench_stop(b);
}

/* Off: an INT frame passes as it is; on: a plain frame does. */
TEST(other_frames_keep_every_byte)
{
	for (unsigned int on = 0; on < 2; on++) {
		struct bench *b = bench_with_ports(4);
		struct rte_mbuf *m;
		uint64_t now_ns = 0;
		uint8_t before[2048];
		uint16_t len;

		b->params.int_telemetry = on == 1;
		bench_start_learnt(b);
		m = on ? make_data(b, 0, 1, 0) : make_int(b, 1, 0);
		len = m->data_len;
		memcpy(before, rte_pktmbuf_mtod(m, uint8_t *), len);
		give(b, 0, m, 0);
		m = take_next(b, 1, &now_ns);
		assert_int_equal(m->data_len, len);
		assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), before, len);
		sent(m);
		bench_stop(b);
	}
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
