/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each QP's rate in virtual time: over 100 ms within 0.1 % of its setting, or one frame if that is
 * more, and never more at once than its bucket holds.
 */
#include "unit/nic/nic_test.h"

#include <string.h>

#include "nic/change/nic_reload.h"
#include "nic/core/core.h"
#include "nic/observe/wait.h"

#define QPS 11
#define SPAN_NS (100 * NS_PER_MS)
#define BURST_BYTES 2048

static const uint64_t rates_bps[QPS] = {
	MBPS,      10 * MBPS, 123456789, GBPS,       3 * GBPS,   7 * GBPS,
	10 * GBPS, 25 * GBPS, 40 * GBPS, 100 * GBPS, 400 * GBPS,
};

/* What a QP may send, kept apart from the NIC's own arithmetic. */
struct meter {
	double credit_bytes;
	uint64_t at_ns;
	uint64_t bytes;
};

static void
meter_charge(struct meter *m, uint64_t rate_bps, uint32_t bytes, uint64_t now_ns)
{
	m->credit_bytes += (double)(now_ns - m->at_ns) * (double)rate_bps / 8e9;
	if (m->credit_bytes > BURST_BYTES)
		m->credit_bytes = BURST_BYTES;
	/* A frame may leave on the last byte of credit, but for what doubles round. */
	if (m->credit_bytes < -0.01)
		fail_msg("%.3f bytes ahead of %llu bit/s", -m->credit_bytes,
			 (unsigned long long)rate_bps);
	m->credit_bytes -= bytes;
	m->at_ns = now_ns;
	m->bytes += bytes;
}

static void
create(uint64_t link_bps, uint32_t shaper_burst_ns, const uint64_t *rates, unsigned int n)
{
	struct nic_qp_params qp = nic_test_qp(0);

	solo_init(&solo);
	solo.params.link_speed_bps = link_bps;
	solo.params.shaper_burst_ns = shaper_burst_ns;
	solo.params.qp_burst_bytes = BURST_BYTES;
	solo.params.window_packets = (1u << 23) - 1;
	solo.params.local_ack_timeout = 0;
	if (n > solo.params.max_qps)
		solo.params.max_qps = n;
	solo_create(&solo, 64);
	qp.message_bytes = 1 << 20;
	qp.messages = 0;
	qp.depth = 1u << 16;
	for (unsigned int i = 0; i < n; i++) {
		qp.peer_qpn = PAIR_QPN + i;
		qp.rate_cap_bps = rates[i];
		assert_true(nic_add_qp(solo.nic, &qp, 0) > 0);
	}
}

/* Send for the span. */
static void
run(const uint64_t *rates, struct meter *meters, unsigned int n)
{
	uint64_t before[QPS] = {0}, now_ns = 0;
	struct rte_mbuf *m;

	while ((now_ns = solo.nic->ops->next_ns(solo.nic, 0)) <= SPAN_NS) {
		if (solo.nic->ops->tx(solo.nic, 0, &m, 1, now_ns) == 0)
			continue;
		for (unsigned int i = 0; i < n; i++) {
			uint32_t bytes = wire_bytes(m->pkt_len);
			struct nic_qp_info info;

			nic_qp_info(solo.nic, i, &info);
			if (info.tx_wire_bytes == before[i])
				continue;
			assert_int_equal(info.tx_wire_bytes - before[i], bytes);
			before[i] = info.tx_wire_bytes;
			meter_charge(&meters[i], rates[i], bytes, now_ns);
		}
		rte_pktmbuf_free(m);
	}
}

static void
expect_rate(const struct meter *m, uint64_t rate_bps)
{
	double want = (double)rate_bps / 8e9 * (double)SPAN_NS;
	double max_pkts = want / 1000 > 1122 ? want / 1000 : 1122;

	/* Nobody is late at the start: nothing comes on top. */
	assert_true((double)m->bytes >= want - max_pkts);
	assert_true((double)m->bytes <= want + max_pkts);
}

TEST(one_qp_keeps_its_rate_from_1_mbps_to_400_gbps)
{
	for (unsigned int i = 0; i < QPS; i++) {
		/* At the link's rate the wire paces, in bursts of a nanosecond. */
		struct meter m = {.credit_bytes = i == QPS - 1 ? BURST_BYTES : 0};

		create(400 * GBPS, 1, &rates_bps[i], 1);
		run(&rates_bps[i], &m, 1);
		expect_rate(&m, rates_bps[i]);
		solo_destroy(&solo);
	}
}

TEST(qps_of_all_rates_keep_theirs_side_by_side)
{
	struct meter m[8] = {0};

	/* 1 Mb/s to 25 Gb/s, 46 in all. */
	create(100 * GBPS, 1, rates_bps, 8);
	run(rates_bps, m, 8);
	for (unsigned int i = 0; i < 8; i++)
		expect_rate(&m[i], rates_bps[i]);
	solo_destroy(&solo);
}

/* QPs that a call without room has made ready. */
TEST(one_call_sends_more_packets_than_a_burst)
{
	enum { N = NIC_BURST + 8 };
	struct rte_mbuf *m[2 * N];
	uint64_t rates[N];

	for (unsigned int i = 0; i < N; i++)
		rates[i] = GBPS;
	create(400 * GBPS, 2000, rates, N);
	for (uint64_t now_ns = 0; now_ns <= 45 * NS_PER_US; now_ns += 9 * NS_PER_US) {
		uint16_t n;

		assert_int_equal(solo.nic->ops->tx(solo.nic, 0, m, 0, now_ns), 0);
		n = solo.nic->ops->tx(solo.nic, 0, m, 2 * N, now_ns);
		assert_int_equal(n, N);
		rte_pktmbuf_free_bulk(m, n);
	}
	solo_destroy(&solo);
}

/* A late ACK ends what was to be sent again; the QP's debt is still there, and so is its wait. */
TEST(a_qp_in_debt_waits_for_its_rate)
{
	struct roce_fields ack = {.opcode = RC_ACK, .aeth_syndrome = AETH_ACK};
	struct nic_qp_params qp = nic_test_qp(0);
	struct nic_qp_wait wait;
	struct roce_view v;

	solo.params.qp_burst_bytes = 0;
	solo.params.local_ack_timeout = 1; /* 8 us */
	qp.messages = 0;
	qp.message_bytes = 1000;
	qp.rate_cap_bps = 10 * MBPS;
	solo_start(&solo, &qp);
	assert_true(solo_take(&solo, 0, &v));
	ack.psn = v.psn;
	/* 1,000 bytes and headers at 10 Mb/s: some 870 us. */
	assert_false(solo_take(&solo, 100 * NS_PER_US, &v));
	assert_true(nic_stats(solo.nic)->local_ack_timeout_err > 0);
	solo_feed(&solo, ack, 0);
	nic_qp_wait(solo.nic, 0, &wait);
	assert_int_equal(wait.unacked_packets, 0);
	assert_int_equal(wait.reason, NIC_WAIT_RATE);
	solo_destroy(&solo);
}

/* Its bucket is full: between two messages nothing but the next on time matters. */
TEST(a_qp_in_its_off_time_waits_for_a_message)
{
	struct roce_fields ack = {.opcode = RC_ACK, .aeth_syndrome = AETH_ACK};
	struct nic_qp_params qp = nic_test_qp(0);
	struct nic_qp_wait wait;
	struct roce_view v;

	qp.messages = 0;
	qp.message_bytes = 1000;
	qp.arrival = WORKLOAD_ON_OFF;
	qp.depth = 1;
	qp.start_ns = NS_PER_US;
	qp.on_ns = 2 * NS_PER_US;
	qp.off_ns = NS_PER_MS;
	solo_start(&solo, &qp);
	assert_true(solo_take(&solo, 2 * NS_PER_US, &v));
	ack.psn = v.psn;
	assert_false(solo_take(&solo, 10 * NS_PER_US, &v));
	solo.now_ns = 10 * NS_PER_US;
	solo_feed(&solo, ack, 0);
	nic_qp_wait(solo.nic, 0, &wait);
	assert_int_equal(wait.unacked_packets, 0);
	assert_int_equal(wait.reason, NIC_WAIT_MESSAGE);
	solo_destroy(&solo);
}

/* Its tokens are there; answers go first and take the wire. */
TEST(a_qp_behind_answers_waits_for_the_wire)
{
	struct roce_fields write = {.opcode = RC_WRITE_ONLY, .reth_dma_bytes = 8, .ack_req = true};
	struct nic_qp_params qp = nic_test_qp(0);
	struct nic_qp_wait wait;
	struct roce_view v;

	qp.message_bytes = 1000;
	qp.depth = 8;
	qp.rate_cap_bps = 100 * MBPS;
	solo_start(&solo, &qp);
	assert_true(solo_take(&solo, 0, &v));
	nic_qp_wait(solo.nic, 0, &wait);
	assert_int_equal(wait.reason, NIC_WAIT_RATE);
	/* 1,082 bytes on the wire at 100 Mb/s: some 87 us. */
	solo.now_ns = 90 * NS_PER_US;
	solo_feed(&solo, write, 8);
	assert_true(solo_take(&solo, 90 * NS_PER_US, &v));
	assert_int_equal(v.opcode, RC_ACK);
	nic_qp_wait(solo.nic, 0, &wait);
	assert_int_equal(wait.reason, NIC_WAIT_WIRE);
	assert_true(solo_take(&solo, 91 * NS_PER_US, &v));
	assert_int_equal(v.opcode, RC_WRITE_ONLY);
	nic_qp_wait(solo.nic, 0, &wait);
	assert_int_equal(wait.reason, NIC_WAIT_RATE);
	solo_destroy(&solo);
}

/* Frames in each eighth of a period, over two periods. */
static void
count_eighths(uint64_t begin_ns, uint64_t period_ns, unsigned int counts[16])
{
	uint64_t end_ns = begin_ns + 2 * period_ns, now_ns;
	struct rte_mbuf *m;

	memset(counts, 0, 16 * sizeof(counts[0]));
	while ((now_ns = solo.nic->ops->next_ns(solo.nic, 0)) < end_ns) {
		solo.now_ns = now_ns > solo.now_ns ? now_ns : solo.now_ns;
		if (solo.nic->ops->tx(solo.nic, 0, &m, 1, solo.now_ns) == 0)
			continue;
		counts[(solo.now_ns - begin_ns) * 8 / period_ns]++;
		rte_pktmbuf_free(m);
	}
}

/* Is it an eighth of n, give or take a few? */
static void
expect_eighth(unsigned int count, unsigned int n)
{
	assert_in_range(count, n / 8 - 4, n / 8 + 4);
}

TEST(qps_that_start_with_equal_caps_spread_over_a_period)
{
	enum { N = 200 };
	static const uint64_t span_ns = 1106ull * 8 * 100; /* of a packet at 10 Mb/s */
	struct nic_qp_params qp = nic_test_qp(0);
	struct nic_flow_update update = {.rate_cap_bps = 10 * MBPS};
	struct nic_reload next = {.flows = &update, .n_flows = 1};
	unsigned int counts[16];

	for (unsigned int spread = 0; spread < 2; spread++) {
		solo_init(&solo);
		solo.params.spread_starts = spread;
		solo.params.max_qps = N;
		solo.params.local_ack_timeout = 0;
		solo_create(&solo, 2 * N);
		qp.messages = 0;
		qp.message_bytes = 1 << 20;
		qp.rate_cap_bps = 10 * MBPS;
		qp.stopped = true;
		for (unsigned int i = 0; i < N; i++, qp.peer_qpn++)
			assert_true(nic_add_qp(solo.nic, &qp, 0) > 0);
		count_eighths(0, span_ns, counts);
		assert_int_equal(counts[0], 0);
		/* Long after the buckets are full, all of them go on. */
		solo.now_ns = NS_PER_SEC;
		next.params = solo.params;
		nic_reload(solo.nic, &next);
		while (!nic_reload_is_done(solo.nic))
			solo.nic->ops->rx(solo.nic, 0, NULL, 0, solo.now_ns);
		count_eighths(NS_PER_SEC, span_ns, counts);
		for (unsigned int i = 0; i < 16; i++) {
			if (spread)
				expect_eighth(counts[i], N);
			else
				assert_int_equal(counts[i], i % 8 == 0 ? N : 0);
		}
		solo_destroy(&solo);
	}
}

/* Hosts whose QPs have the same numbers, as those of a lab. */
TEST(qps_of_one_number_at_many_hosts_spread_over_a_period)
{
	enum { N = 200 };
	static const uint64_t span_ns = 1106ull * 8 * 100;
	struct nic_qp_params qp = nic_test_qp(0);
	unsigned int counts[16], sum[8] = {0};

	qp.messages = 0;
	qp.message_bytes = 1 << 20;
	qp.rate_cap_bps = 10 * MBPS;
	for (unsigned int host = 0; host < N; host++) {
		solo_init(&solo);
		solo.params.spread_starts = true;
		solo.params.mac[5] = (uint8_t)(1 + host);
		solo_create(&solo, 64);
		assert_true(nic_add_qp(solo.nic, &qp, 0) > 0);
		count_eighths(0, span_ns, counts);
		for (unsigned int i = 0; i < 16; i++)
			sum[i % 8] += counts[i];
		solo_destroy(&solo);
	}
	for (unsigned int i = 0; i < 8; i++)
		expect_eighth(sum[i] / 2, N);
}

TEST_MAIN(.begin = start_eal, .before_each = solo_setup)
