/* SPDX-License-Identifier: BSD-3-Clause */
/* Other parameters while QPs send: rates, flows that stop and go on, loads. */
#include "nic_test.h"

#include <string.h>

#include "nic/nic_flow.h"
#include "nic/nic_trace.h"

#define FRAME_WIRE (1106ull * 8) /* bits of a full packet at MTU 1024 */

static struct pair pair;
static struct nic_flow_live flows[4];
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

static void
a_cap_holds_from_the_next_packet_on_and_ends(void **state)
{
	struct nic_qp_params qp = endless(0);
	uint64_t free_packets;

	(void)state;
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

static void
a_flow_that_stops_ends_what_it_has_begun_and_goes_on_later(void **state)
{
	struct nic_qp_params qps[] = {endless(0), endless(1)};
	struct nic_qp_info info;

	(void)state;
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

static void
a_flow_that_is_stopped_at_first_starts_when_it_goes_on(void **state)
{
	struct nic_qp_params qps[] = {endless(0), endless(1)};

	(void)state;
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

static void
a_stopped_flow_with_an_end_still_ends(void **state)
{
	struct nic_qp_params qp = endless(0);

	(void)state;
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

static void
an_open_loop_takes_another_load_and_no_arrears(void **state)
{
	struct nic_qp_params qp = endless(0);

	(void)state;
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
	struct roce_path path = {
		.ip_version = 4,
		.src_ip = {10, 0, 0, 2},
		.dst_ip = {10, 0, 0, 1},
		.src_mac = {2, 0, 0, 0, 0, 2},
		.dst_mac = {2, 0, 0, 0, 0, 1},
		.dest_qp = PAIR_QPN,
		.udp_sport = 50000,
		.dscp = 48,
		.ttl = 64,
		.pkey = PKEY_DEFAULT,
	};
	const struct roce_fields fields = {.opcode = ROCE_CNP, .becn = true};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pair.pools.control);

	rte_pktmbuf_append(m,
			   (uint16_t)roce_build(rte_pktmbuf_mtod(m, uint8_t *),
						rte_pktmbuf_tailroom(m), &path, &fields, NULL, 0));
	pair.nic[0]->ops->rx(pair.nic[0], 0, &m, 1, pair.now_ns);
}

static void
bounds_of_the_rate_hold_for_free_and_limited_qps_at_once(void **state)
{
	struct nic_qp_params qp = endless(0);

	(void)state;
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

static void
a_trace_names_the_reload(void **state)
{
	struct nic_qp_params qp = endless(0);
	const struct nic_trace *trace;

	(void)state;
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_cap_holds_from_the_next_packet_on_and_ends, setup),
		cmocka_unit_test_setup(a_flow_that_stops_ends_what_it_has_begun_and_goes_on_later,
				       setup),
		cmocka_unit_test_setup(a_flow_that_is_stopped_at_first_starts_when_it_goes_on,
				       setup),
		cmocka_unit_test_setup(a_stopped_flow_with_an_end_still_ends, setup),
		cmocka_unit_test_setup(an_open_loop_takes_another_load_and_no_arrears, setup),
		cmocka_unit_test_setup(bounds_of_the_rate_hold_for_free_and_limited_qps_at_once,
				       setup),
		cmocka_unit_test_setup(a_trace_names_the_reload, setup),
	};

	if (test_eal_init(128) < 0)
		return EXIT_FAILURE;
	return cmocka_run_group_tests_name("nic_reload", tests, NULL, NULL);
}
