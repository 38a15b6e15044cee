/* SPDX-License-Identifier: BSD-3-Clause */
/* Other parameters while QPs send: rates, flows that stop and go on, loads. */
#include "unit/nic/nic_test.h"

#include <string.h>

#include "nic/measure/trace.h"
#include "nic/observe/flow_info.h"

#define FRAME_WIRE (1106ull * 8) /* bits of a full packet at MTU 1024 */

static struct nic_flow_update flows[4];
static struct nic_reload next;

static int
setup(void **state)
{
	(void)state;
	pair_init(&pair);
	memset(flows, 0, sizeof(flows));
	return 0;
}

static struct nic_qp_params
endless(uint32_t flow)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.message_bytes = 10240;
	qp.messages = 0;
	qp.flow_id = flow;
	return qp;
}

/* Put pair.params[0] and flows[] in force at host 0. */
static void
reload(void)
{
	struct node *nic = pair.nic[0];

	next = (struct nic_reload){.params = pair.params[0], .flows = flows, .n_flows = 4};
	nic_reload(nic, &next);
	assert_false(nic_reload_is_done(nic));
	while (!nic_reload_is_done(nic))
		nic->ops->rx(nic, 0, NULL, 0, pair.now_ns);
}

/* Whoever polls an idle port hands nothing in, and all the same does what it was asked for. */
TEST(a_node_that_gets_nothing_puts_a_change_in_force)
{
	pair_create(&pair, 1024);
	pair.params[0].rp.rp_min_rate_bps = 20 * MBPS;
	next = (struct nic_reload){.params = pair.params[0], .flows = flows, .n_flows = 4};
	nic_reload(pair.nic[0], &next);
	for (unsigned int i = 0; i < 10 && !nic_reload_is_done(pair.nic[0]); i++)
		pair.nic[0]->ops->rx(pair.nic[0], 0, NULL, 0, pair.now_ns);
	assert_true(nic_reload_is_done(pair.nic[0]));
	assert_int_equal(nic_stats(pair.nic[0])->rx_packets, 0);
	pair_destroy(&pair);
}

static uint64_t
sent(uint32_t qp)
{
	return pair_info(&pair, 0, qp).tx_packets;
}

/* Packets that a QP sends in a time. */
static uint64_t
sent_in(uint32_t qp, uint64_t ns)
{
	uint64_t before = sent(qp);

	pair_run(&pair, pair.now_ns + ns);
	return sent(qp) - before;
}

TEST(a_cap_holds_from_the_next_packet_on_and_ends)
{
	struct nic_qp_params qp = endless(0);
	uint64_t free_packets;

	pair_create(&pair, 1024);
	pair_connect(&pair, &qp);
	free_packets = sent_in(0, NS_PER_MS);
	assert_in_range(free_packets, 3500, 4600);
	flows[0].rate_cap_bps = 4 * GBPS;
	reload();
	assert_int_equal(pair_info(&pair, 0, 0).rate_bps, 4 * GBPS);
	assert_in_range(sent_in(0, NS_PER_MS), 4000000 / FRAME_WIRE - 1, 4000000 / FRAME_WIRE + 2);
	flows[0].rate_cap_bps = 0;
	reload();
	assert_in_range(sent_in(0, NS_PER_MS), free_packets - 20, free_packets + 20);
	assert_int_equal(pair_info(&pair, 0, 0).retransmitted_packets, 0);
	pair_destroy(&pair);
}

/* An event loop asks next_ns() of woken ports only. */
TEST(a_wait_that_a_reload_shortens_wakes_the_port)
{
	struct nic_qp_params qp = endless(0);
	struct node *nic;

	pair_create(&pair, 1024);
	pair_connect(&pair, &qp);
	nic = pair.nic[0];
	flows[0].rate_cap_bps = 1000;
	reload();
	pair_run(&pair, NS_PER_MS);
	assert_true(nic->ops->next_ns(nic, 0) > NS_PER_SEC);
	nic->wake[0] = 0;
	flows[0].rate_cap_bps = 0;
	reload();
	assert_in_range(nic->ops->next_ns(nic, 0), pair.now_ns, pair.now_ns + NS_PER_US);
	assert_int_equal(nic->wake[0], 1);
	pair_destroy(&pair);
}

TEST(a_flow_that_stops_ends_what_it_has_begun_and_goes_on_later)
{
	struct nic_qp_params qps[] = {endless(0), endless(1)};
	struct nic_qp_info info;

	pair_create(&pair, 1024);
	pair_connect(&pair, &qps[0]);
	pair_connect(&pair, &qps[1]);
	pair_run(&pair, NS_PER_MS);
	flows[0].stopped = true;
	reload();
	pair_run(&pair, 2 * NS_PER_MS);
	info = pair_info(&pair, 0, 0);
	assert_int_equal(info.tx_packets, 10 * info.tx_messages);
	assert_int_equal(info.rx_messages, 0);
	assert_false(info.done || info.error);
	assert_int_equal(pair_info(&pair, 1, 0).rx_messages, info.tx_messages);
	assert_int_equal(sent_in(0, 50 * NS_PER_MS), 0);
	assert_true(sent(1) > 1000);
	flows[0].stopped = false;
	reload();
	assert_true(sent_in(0, NS_PER_MS) > 1000);
	assert_int_equal(nic_stats(pair.nic[0])->retransmitted_packets, 0);
	assert_int_equal(nic_stats(pair.nic[0])->local_ack_timeout_err, 0);
	pair_destroy(&pair);
}

TEST(a_flow_that_is_stopped_at_first_starts_when_it_goes_on)
{
	struct nic_qp_params qps[] = {endless(0), endless(1)};

	pair.params[0].initial_rate = NIC_INITIAL_VALUE;
	pair.params[0].initial_rate_bps = 2 * GBPS;
	qps[0].stopped = true;
	flows[0].stopped = true;
	pair_create(&pair, 1024);
	pair_connect(&pair, &qps[0]);
	pair_connect(&pair, &qps[1]);
	assert_int_equal(sent_in(0, 5 * NS_PER_MS), 0);
	/* The other one was alone. */
	assert_int_equal(pair_info(&pair, 0, 1).rate_bps, 40 * GBPS);
	flows[0].stopped = false;
	reload();
	while (sent(0) == 0)
		pair_run(&pair, pair.now_ns + 100);
	assert_in_range(pair.now_ns, 5 * NS_PER_MS, 6 * NS_PER_MS + 1000);
	/* And now it is not. */
	assert_int_equal(pair_info(&pair, 0, 0).min_rate_bps, 2 * GBPS);
	pair_destroy(&pair);
}

TEST(a_stopped_flow_with_an_end_still_ends)
{
	struct nic_qp_params qp = endless(0);

	qp.stop_ns = 10 * NS_PER_MS;
	pair_create(&pair, 1024);
	pair_connect(&pair, &qp);
	pair_run(&pair, NS_PER_MS);
	flows[0].stopped = true;
	reload();
	pair_run(&pair, 9 * NS_PER_MS);
	assert_false(nic_done(pair.nic[0]));
	pair_run(&pair, 11 * NS_PER_MS);
	assert_true(nic_done(pair.nic[0]));
	pair_destroy(&pair);
}

TEST(an_open_loop_takes_another_load_and_no_arrears)
{
	struct nic_qp_params qp = endless(0);

	qp.arrival = WORKLOAD_PERIODIC;
	qp.load_bps = flows[0].load_bps = 1024 * MBPS; /* a message in 80 us */
	pair_create(&pair, 1024);
	pair_connect(&pair, &qp);
	assert_in_range(sent_in(0, 8 * NS_PER_MS), 990, 1010);
	flows[0].load_bps = 4096 * MBPS;
	reload();
	assert_in_range(sent_in(0, 8 * NS_PER_MS), 3950, 4010);
	flows[0].stopped = true;
	reload();
	assert_in_range(sent_in(0, 8 * NS_PER_MS), 0, 10);
	flows[0].stopped = false;
	reload();
	assert_in_range(sent_in(0, 8 * NS_PER_MS), 3950, 4010);
	pair_destroy(&pair);
}

static void
feed_cnp(void)
{
	struct roce_path path = host_path(2, 1, PAIR_QPN);
	const struct roce_fields fields = {.opcode = ROCE_CNP, .becn = true};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pair.pools.control);

	path.dscp = 48;
	path.ecn = ECN_NOT_ECT;
	rte_pktmbuf_append(m,
			   (uint16_t)roce_build(rte_pktmbuf_mtod(m, uint8_t *),
						rte_pktmbuf_tailroom(m), &path, &fields, NULL, 0));
	pair.nic[0]->ops->rx(pair.nic[0], 0, &m, 1, pair.now_ns);
}

TEST(bounds_of_the_rate_hold_for_free_and_limited_qps_at_once)
{
	struct nic_qp_params qp = endless(0);

	pair_create(&pair, 1024);
	pair_connect(&pair, &qp);
	pair_run(&pair, NS_PER_MS);
	/* Free: it follows the maximum down, and up. */
	pair.params[0].rp.rp_max_rate_bps = 10 * GBPS;
	reload();
	assert_int_equal(pair_info(&pair, 0, 0).rate_bps, 10 * GBPS);
	assert_in_range(sent_in(0, NS_PER_MS), 10000000 / FRAME_WIRE - 2,
			10000000 / FRAME_WIRE + 3);
	pair.params[0].rp.rp_max_rate_bps = 0;
	reload();
	assert_int_equal(pair_info(&pair, 0, 0).rate_bps, 40 * GBPS);
	/* Limited: it is lifted to the minimum. */
	for (unsigned int i = 0; i < 20; i++)
		feed_cnp();
	assert_true(pair_info(&pair, 0, 0).rate_bps < 1 * GBPS);
	pair.params[0].rp.rp_min_rate_bps = 3 * GBPS;
	reload();
	assert_int_equal(pair_info(&pair, 0, 0).rate_bps, 3 * GBPS);
	feed_cnp();
	assert_int_equal(pair_info(&pair, 0, 0).rate_bps, 3 * GBPS);
	assert_int_equal(nic_stats(pair.nic[0])->rp.rp_cnp_handled, 21);
	pair_destroy(&pair);
}

TEST(a_trace_names_the_reload)
{
	struct nic_qp_params qp = endless(0);
	const struct nic_trace *trace;

	pair_create(&pair, 1024);
	pair_connect(&pair, &qp);
	assert_int_equal(nic_trace_qp(pair.nic[0], 0, 16), 0);
	pair_run(&pair, NS_PER_MS);
	reload();
	trace = nic_traces(pair.nic[0])->trace[0];
	assert_int_equal(nic_trace_rows(trace), 1); /* the start: nothing has changed */
	flows[0].rate_cap_bps = 1 * GBPS;
	reload();
	assert_int_equal(nic_trace_rows(trace), 2);
	assert_int_equal(nic_trace_row(trace, 1)->did, CC_DID_RELOAD);
	assert_int_equal(nic_trace_row(trace, 1)->at_ns, NS_PER_MS);
	pair_destroy(&pair);
}

/* ---- one version at a time ---- */

/* An open loop of 10,000-byte messages, with its times measured, at 1 Gb/s: one each 80 us. */
static struct nic_qp_params
open_loop(int arrival)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.messages = 0;
	qp.arrival = arrival;
	qp.message_bytes = 10000;
	qp.load_bps = flows[0].load_bps = 1 * GBPS;
	pair.params[0].measure_times = NIC_MEASURE_ON;
	return qp;
}

static uint64_t
messages_in(uint64_t ns)
{
	uint64_t before = pair_info(&pair, 0, 0).tx_messages;

	pair_run(&pair, pair.now_ns + ns);
	return pair_info(&pair, 0, 0).tx_messages - before;
}

/* On a path that is nearly idle each message takes some microseconds from its arrival on. */
static void
each_completion_is_short(void)
{
	struct nic_qp_info i = pair_info(&pair, 0, 0);

	assert_true(i.completions > 0);
	assert_in_range(i.completion_max_ns, 1000, 40 * NS_PER_US);
}

TEST(a_load_counts_from_the_change_on)
{
	static const int arrivals[] = {WORKLOAD_PERIODIC, WORKLOAD_POISSON};
	static const uint64_t loads_bps[] = {100 * MBPS, 2 * GBPS, 1 * KBPS, 4 * GBPS};

	for (unsigned int a = 0; a < 2; a++) {
		struct nic_qp_params qp = open_loop(arrivals[a]);

		qp.seed = 7;
		pair_create(&pair, 512);
		pair_connect(&pair, &qp);
		assert_in_range(messages_in(20 * NS_PER_MS), 210, 290);
		for (unsigned int i = 0; i < 4; i++) {
			uint64_t due = loads_bps[i] * 100 / 80000000;

			/* In the middle of a message, if they come often. */
			for (unsigned int n = 0;
			     n < 10000 && pair_info(&pair, 0, 0).tx_packets % 10 != 5; n++)
				pair_run(&pair, pair.now_ns + 100);
			flows[0].load_bps = loads_bps[i];
			reload();
			assert_in_range(messages_in(100 * NS_PER_MS), due * 9 / 10,
					due * 11 / 10 + 2);
		}
		if (arrivals[a] == WORKLOAD_PERIODIC)
			each_completion_is_short();
		assert_true(pair_info(&pair, 0, 0).completion_max_ns < 100 * NS_PER_US);
		pair_destroy(&pair);
		setup(state);
	}
}

static void
pause(uint16_t quanta)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pair.pools.control);
	uint16_t all[8];

	for (unsigned int i = 0; i < 8; i++)
		all[i] = quanta;
	pfc_frame_build((uint8_t *)rte_pktmbuf_append(m, PFC_FRAME_BYTES), pair.params[1].mac, 8,
			all);
	pair.nic[0]->ops->rx(pair.nic[0], 0, &m, 1, pair.now_ns);
}

/* Messages that came while the port was paused are sent, whatever is changed meanwhile. */
TEST(a_backlog_stays_and_its_times_count_from_the_arrivals)
{
	for (unsigned int change = 0; change < 3; change++) {
		struct nic_qp_params qp = open_loop(WORKLOAD_PERIODIC);
		struct nic_qp_info i;

		pair_create(&pair, 512);
		pair_connect(&pair, &qp);
		pair_run(&pair, 10 * NS_PER_MS);
		for (unsigned int n = 0; n < 100; n++) {
			pause(UINT16_MAX);
			pair_run(&pair, pair.now_ns + NS_PER_MS / 2);
		}
		/* 625 messages wait. Another key, and a load that counts from now on. */
		if (change == 1)
			pair.params[0].retry_cnt = 6;
		if (change == 2)
			flows[0].load_bps = 2 * GBPS;
		reload();
		pause(0);
		pair_run(&pair, 200 * NS_PER_MS);
		i = pair_info(&pair, 0, 0);
		assert_in_range(i.tx_messages, change == 2 ? 4249 : 2499,
				change == 2 ? 4251 : 2501);
		assert_in_range(i.completion_max_ns, 49 * NS_PER_MS, 51 * NS_PER_MS);
		/* Once it is sent, times are as short as they were. */
		assert_true(hist_quantile(&nic_flow_times(pair.nic[0], 0)->completion_ns, 50) <
			    20 * NS_PER_US);
		pair_destroy(&pair);
		setup(state);
	}
}

/* Nothing comes while a flow is stopped, from the start or later; so it begins at its load. */
TEST(a_start_brings_no_burst)
{
	for (unsigned int at_first = 0; at_first < 2; at_first++) {
		struct nic_qp_params qp = open_loop(WORKLOAD_PERIODIC);

		qp.stopped = at_first;
		pair_create(&pair, 512);
		pair_connect(&pair, &qp);
		if (!at_first)
			pair_run(&pair, NS_PER_MS);
		flows[0].stopped = true;
		reload();
		assert_in_range(messages_in(200 * NS_PER_MS), 0, 1);
		flows[0].stopped = false;
		reload();
		/* One that started stopped is looked at within a millisecond. */
		assert_in_range(messages_in(2 * NS_PER_MS), 24, 26);
		assert_in_range(messages_in(2 * NS_PER_MS), 24, 26);
		if (!at_first)
			each_completion_is_short();
		pair_destroy(&pair);
		setup(state);
	}
}

static uint64_t lose_at;

static enum fate
lose_one(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	(void)p;
	(void)v;
	return from == 0 && n == lose_at ? FATE_LOSE : FATE_PASS;
}

/* A message that had begun and of which nothing was sent had come, and keeps its arrival. */
TEST(a_go_back_after_a_lower_load_keeps_the_arrivals)
{
	struct nic_qp_params qp = open_loop(WORKLOAD_PERIODIC);

	lose_at = UINT64_MAX;
	pair.fate = lose_one;
	pair.params[0].qp_burst_bytes = 0;
	qp.message_bytes = 1000;
	/* Overloaded: a message always waits for tokens. */
	qp.rate_cap_bps = flows[0].rate_cap_bps = 900 * MBPS;
	pair_create(&pair, 512);
	pair_connect(&pair, &qp);
	pair_run(&pair, 20 * NS_PER_MS);
	lose_at = pair.cable[0].frames + 1;
	while (pair.cable[0].frames <= lose_at + 1)
		pair_run(&pair, pair.now_ns + 50);
	flows[0].load_bps = 200 * KBPS; /* one each 40 ms */
	reload();
	lose_at = UINT64_MAX;
	/* The backlog of 2 ms and more first, then 25 in a second. */
	assert_true(messages_in(20 * NS_PER_MS) > 100);
	assert_in_range(messages_in(10 * NS_PER_SEC), 249, 251);
	assert_true(pair_next_ns(&pair) < pair.now_ns + 50 * NS_PER_MS);
	pair_destroy(&pair);
}

/* Credit above a cap that shrank is lost; it neither lets all pass nor stops the QP. */
TEST(a_smaller_burst_takes_credit_away)
{
	struct nic_qp_params qp = open_loop(WORKLOAD_PERIODIC);
	uint64_t wire;

	pair.params[0].qp_burst_bytes = 16384;
	qp.load_bps = flows[0].load_bps = 500 * MBPS;
	qp.rate_cap_bps = flows[0].rate_cap_bps = 1 * GBPS;
	pair_create(&pair, 512);
	pair_connect(&pair, &qp);
	pair_run(&pair, 5 * NS_PER_MS);
	pair.params[0].qp_burst_bytes = 2048;
	reload();
	pair_run(&pair, 100 * NS_PER_MS);
	flows[0].load_bps = 20 * GBPS;
	reload();
	for (unsigned int ms = 0; ms < 20; ms++) {
		wire = pair_info(&pair, 0, 0).tx_wire_bytes;
		pair_run(&pair, pair.now_ns + NS_PER_MS);
		wire = pair_info(&pair, 0, 0).tx_wire_bytes - wire;
		assert_in_range(wire, 125000 - 3 * 1106, 125000 + 2048 + 1106);
	}
	pair_destroy(&pair);
}

/* Between two steps of a change a QP may be cut that no step has come to. */
TEST(a_cnp_between_the_steps_finds_old_state_under_old_bounds)
{
	static struct solo s;
	struct roce_view v;
	struct nic_qp_info info;
	struct roce_path path;
	uint64_t last_ns = 0;

	solo_init(&s);
	s.params.max_qps = 256;
	rp_params_default(&s.params.rp, RP_PROFILE_MLX);
	solo_create(&s, 64);
	for (uint32_t i = 0; i < 200; i++) {
		struct nic_qp_params qp = nic_test_qp(0);

		qp.peer_qpn = PAIR_QPN + i;
		qp.messages = 0;
		qp.message_bytes = 1 << 20;
		assert_true(nic_add_qp(s.nic, &qp, 0) > 0);
	}
	path = solo_path(&s);
	path.dest_qp = PAIR_QPN + 150;
	while (s.now_ns < 5 * NS_PER_MS) {
		if (!solo_take(&s, s.now_ns + 2000, &v))
			s.now_ns += 2000;
		if (s.now_ns - last_ns > 350 * NS_PER_US) {
			solo_feed_on(&s, &path, &(struct roce_fields){.opcode = ROCE_CNP}, 0);
			last_ns = s.now_ns;
		}
	}
	nic_qp_info(s.nic, 150, &info);
	assert_true(info.rate_bps < 30 * GBPS);
	s.now_ns += 400 * NS_PER_US;
	solo_feed_on(&s, &path, &(struct roce_fields){.opcode = ROCE_CNP}, 0);
	/* Its cut comes at the end of this slot, below a minimum that is in force by then. */
	s.params.rp.rp_min_rate_bps = info.target_rate_bps + 2 * GBPS;
	next = (struct nic_reload){.params = s.params, .flows = flows, .n_flows = 4};
	nic_reload(s.nic, &next);
	for (unsigned int calls = 0; !nic_reload_is_done(s.nic); calls++) {
		struct rte_mbuf *m[4];

		s.now_ns += 2000;
		rte_pktmbuf_free_bulk(m, s.nic->ops->tx(s.nic, 0, m, 4, s.now_ns));
		if (calls != 1)
			continue;
		assert_false(nic_reload_is_done(s.nic));
		solo_feed_on(&s, &path, &(struct roce_fields){.opcode = ROCE_CNP}, 0);
		/* Touched, it is of the new version. */
		nic_qp_info(s.nic, 150, &info);
		assert_true(info.rate_bps >= s.params.rp.rp_min_rate_bps);
	}
	for (uint32_t i = 0; i < 200; i++) {
		nic_qp_info(s.nic, i, &info);
		assert_true(info.rate_bps >= s.params.rp.rp_min_rate_bps);
		assert_true(info.target_rate_bps >= info.rate_bps);
	}
	solo_destroy(&s);
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
