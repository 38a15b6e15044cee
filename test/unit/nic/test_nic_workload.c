/* SPDX-License-Identifier: BSD-3-Clause */
/* Two NICs and what they are given to send: sizes that vary, messages that come at their times. */
#include "base/numbers/fixed.h"
#include "base/numbers/prng.h"
#include "nic/observe/flow_info.h"
#include "unit/nic/nic_test.h"

#define MOST 20000

static struct {
	struct prng r;
	unsigned int lose_of; /* one frame of so many; 0: none */
	unsigned int n;       /* first packets of messages, in order */
	uint64_t at_ns[MOST];
	uint32_t qpn[MOST];
	uint32_t bytes[MOST];
	uint64_t last_ack_ns;
} seen;

static enum fate
watch(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	(void)n;
	if (from == 0 && (v->opcode == RC_WRITE_FIRST || v->opcode == RC_WRITE_ONLY) &&
	    seen.n < MOST) {
		seen.at_ns[seen.n] = p->now_ns;
		seen.qpn[seen.n] = v->dest_qp;
		seen.bytes[seen.n++] = v->reth_dma_bytes;
	}
	if (seen.lose_of > 0 && prng_below(&seen.r, seen.lose_of) == 0)
		return FATE_LOSE;
	return FATE_PASS;
}

static int
setup(void **state)
{
	(void)state;
	pair_watch(&pair, watch, &seen, sizeof(seen));
	prng_seed(&seen.r, 3, 0);
	return 0;
}

static void
start(const struct nic_qp_params *qp, unsigned int qps)
{
	pair_create(&pair, 512);
	for (unsigned int i = 0; i < qps; i++)
		pair_connect(&pair, qp);
}

/* The first so many messages that have as much together, and no other. */
TEST(bytes_end_a_flow_with_the_message_that_reaches_them)
{
	for (unsigned int k = 0; k < 3 * 5; k++) {
		const uint64_t limits[] = {1, 2560, 2561, 99999, 100000};
		struct nic_qp_params qp = nic_test_qp(0);
		uint64_t bytes = 0, messages = 0;
		struct nic_qp_info info;

		setup(NULL);
		seen.lose_of = k % 3 == 2 ? 50 : 0;
		pair.params[0].local_ack_timeout = 4;
		qp.message_size = k % 3 == 0 ? WORKLOAD_FIXED : WORKLOAD_UNIFORM;
		qp.message_min_bytes = 1;
		qp.depth = 16;
		qp.mtu_bytes = 256;
		qp.messages = 0;
		qp.bytes = limits[k / 3];
		while (bytes < qp.bytes)
			bytes += workload_message_bytes(&qp.work, PAIR_QPN, messages++);
		start(&qp, 1);
		pair_run(&pair, NEVER_NS);
		assert_true(nic_done(pair.nic[0]));
		info = pair_info(&pair, 1, 0);
		assert_int_equal(info.rx_messages, messages);
		assert_int_equal(info.rx_payload_bytes, bytes);
		pair_destroy(&pair);
	}
}

TEST(messages_of_all_sizes_arrive_whole_over_a_lossy_link)
{
	struct nic_qp_params qp = nic_test_qp(0);
	uint64_t bytes = 0;

	pair.params[0].local_ack_timeout = 4;
	pair.params[0].retry_cnt = 7;
	qp.message_size = WORKLOAD_UNIFORM;
	qp.message_bytes = 9000;
	qp.messages = 300;
	qp.depth = 5;
	seen.lose_of = 40;
	start(&qp, 1);
	for (unsigned int i = 0; i < 300; i++)
		bytes += workload_message_bytes(&qp.work, PAIR_QPN, i);
	pair_run(&pair, NEVER_NS);
	assert_true(pair_info(&pair, 0, 0).done);
	assert_true(pair_info(&pair, 0, 0).retransmitted_packets > 0);
	assert_int_equal(pair_info(&pair, 0, 0).tx_messages, 300);
	assert_int_equal(pair_info(&pair, 0, 0).tx_payload_bytes, bytes);
	assert_int_equal(pair_info(&pair, 1, 0).rx_messages, 300);
	assert_int_equal(pair_info(&pair, 1, 0).rx_payload_bytes, bytes);
	pair_destroy(&pair);
}

/*
 * QPs that share the messages of open loops: each message arrives once and whole, at its time while
 * a QP is idle, whatever is lost; QPs take turns; then all have ended.
 */
TEST(shared_messages_are_those_of_their_loops)
{
	for (unsigned int k = 0; k < 2 * 3; k++) {
		const uint32_t qps[] = {1, 3, 16};
		uint32_t bytes[16] = {0}, n = qps[k % 3], messages = 0;
		const struct workload_by_qp sizes = {.first_qpn = PAIR_QPN, .bytes = bytes};
		const struct workload drawn = {.message_size = WORKLOAD_UNIFORM,
					       .arrival = WORKLOAD_POISSON,
					       .message_bytes = 9000,
					       .messages = 150,
					       .stop_ns = NEVER_NS,
					       .load_bps = 10000000000,
					       .start_ns = 1000};
		struct nic_qp_params qp = nic_test_qp(0);
		uint64_t sum = 0, got = 0, of_qps = 0, most = 0;
		struct open_loop loops[2], copy[2];

		setup(NULL);
		seen.lose_of = k < 3 ? 0 : 40;
		pair.params[0].local_ack_timeout = 4;
		pair.params[0].retry_cnt = 7;
		pair.params[0].measure_times = NIC_MEASURE_ON;
		qp.message_size = WORKLOAD_BY_QP;
		qp.by_qp = &sizes;
		qp.message_bytes = 9000;
		qp.messages = 1;
		qp.depth = 1;
		qp.held = true;
		start(&qp, n);
		for (uint32_t i = 0; i < 2; i++)
			open_loop_init(&loops[i], &drawn, 7, 10 * NS_PER_MS, 100 + i);
		memcpy(copy, loops, sizeof(copy));
		assert_int_equal(nic_share_messages(pair.nic[0], 0, n, loops, 2), 0);
		for (uint32_t i = 0; i < n; i++)
			for (unsigned int h = 0; h < 2; h++)
				nic_unhold_qp(pair.nic[h], i, 0);
		pair_run(&pair, NEVER_NS);
		assert_true(nic_done(pair.nic[0]));
		for (;; messages++) {
			struct open_loop *next =
				copy[1].next_ns < copy[0].next_ns ? &copy[1] : &copy[0];
			uint64_t at_ns = next->next_ns;
			uint32_t size;

			if (at_ns == NEVER_NS)
				break;
			size = open_loop_take(next);
			sum += size;
			/* Without losses and with QPs to spare, the first packets leave in turn. */
			if (k == 2) {
				assert_int_equal(seen.bytes[messages], size);
				assert_true(seen.at_ns[messages] >= at_ns);
			}
		}
		assert_int_equal(messages, 300);
		for (uint32_t i = 0; i < n; i++) {
			struct nic_qp_info info = pair_info(&pair, 0, i);

			assert_true(info.done && !info.error);
			assert_int_equal(pair_info(&pair, 1, i).rx_messages, info.tx_messages);
			got += pair_info(&pair, 1, i).rx_payload_bytes;
			of_qps += info.tx_messages;
			most = max_u64(most, info.tx_messages);
		}
		assert_int_equal(of_qps, messages);
		assert_int_equal(got, sum);
		assert_true(most <= messages / n + messages / 4 || n == 1);
		/* A QP alone has a queue, sixteen of them have none. */
		assert_true(n != 1 || nic_flow_times(pair.nic[0], 0)->waited > 50);
		assert_true(k != 2 || nic_flow_times(pair.nic[0], 0)->waited == 0);
		pair_destroy(&pair);
	}
}

/* 2560 B at 1 Gb/s: one each 20480 ns, whatever is still in flight. */
TEST(periodic_messages_leave_at_their_times)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.arrival = WORKLOAD_PERIODIC;
	qp.load_bps = GBPS;
	qp.start_ns = 7000;
	qp.messages = 100;
	start(&qp, 1);
	pair_run(&pair, NEVER_NS);
	assert_int_equal(seen.n, 100);
	for (unsigned int i = 0; i < 100; i++)
		assert_in_range(seen.at_ns[i], 7000 + i * 20480, 7000 + i * 20480 + 100);
	assert_true(pair_info(&pair, 0, 0).done);
	pair_destroy(&pair);
}

TEST(poisson_messages_come_at_their_load_and_stop_at_their_time)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.arrival = WORKLOAD_POISSON;
	qp.load_bps = GBPS;
	qp.messages = 0;
	qp.stop_ns = 20 * NS_PER_MS;
	start(&qp, 4);
	pair_run(&pair, NEVER_NS);
	/* 4 x 20 ms / 20480 ns = 3906, with a deviation of 62. */
	assert_in_range(seen.n, 3906 - 4 * 62, 3906 + 4 * 62);
	assert_true(nic_done(pair.nic[0]));
	for (unsigned int i = 0; i < seen.n; i++)
		assert_true(seen.at_ns[i] < 20 * NS_PER_MS);
	pair_destroy(&pair);
}

/* Packets lost behind the last message do not wait for the next one, a second later. */
TEST(lost_tail_is_sent_again_before_the_next_message_comes)
{
	struct nic_qp_params qp = nic_test_qp(0);

	pair.params[0].local_ack_timeout = 3;
	qp.arrival = WORKLOAD_PERIODIC;
	qp.load_bps = 20480; /* a message of 2560 B each second */
	qp.messages = 2;
	seen.lose_of = 1;
	start(&qp, 1);
	pair_run(&pair, 2000);
	seen.lose_of = 0;
	pair_run(&pair, NS_PER_MS);
	assert_int_equal(pair_info(&pair, 0, 0).tx_messages, 1);
	pair_run(&pair, NEVER_NS);
	assert_true(pair_info(&pair, 0, 0).done);
	pair_destroy(&pair);
}

TEST(bursts_begin_no_message_while_off)
{
	struct nic_qp_params qp = nic_test_qp(0);
	unsigned int bursts = 1;

	qp.arrival = WORKLOAD_ON_OFF;
	qp.on_ns = 10000;
	qp.off_ns = 30000;
	qp.messages = 0;
	qp.stop_ns = 400000;
	start(&qp, 2);
	pair_run(&pair, NEVER_NS);
	for (unsigned int i = 0; i < seen.n; i++) {
		/* One that was begun may have waited for the wire. */
		assert_in_range(seen.at_ns[i] % 40000, 0, 10000 + 1000);
		bursts += i > 0 && seen.at_ns[i] / 40000 != seen.at_ns[i - 1] / 40000;
	}
	assert_int_equal(bursts, 10);
	assert_true(nic_done(pair.nic[0]));
	pair_destroy(&pair);
}

TEST(incast_rounds_wait_for_the_slowest)
{
	struct nic_qp_params qp = nic_test_qp(0);

	pair.params[0].local_ack_timeout = 4;
	qp.arrival = WORKLOAD_INCAST;
	qp.message_size = WORKLOAD_UNIFORM;
	qp.message_bytes = 20000;
	qp.messages = 20;
	start(&qp, 5);
	pair_run(&pair, NEVER_NS);
	assert_int_equal(seen.n, 100);
	for (unsigned int i = 0; i < 100; i++) {
		uint32_t mask = 0;

		/* Each round has a message of each QP, and its last comes before the next's
		 * first. */
		for (unsigned int k = i / 5 * 5; k < i / 5 * 5 + 5; k++)
			mask |= 1u << (seen.qpn[k] - PAIR_QPN);
		assert_int_equal(mask, 0x1f);
		/* The next round begins after the way there and back of the last ACK. */
		if (i % 5 == 0 && i > 0)
			assert_true(seen.at_ns[i] - seen.at_ns[i - 1] > 2 * PAIR_DELAY_NS);
	}
	for (unsigned int i = 0; i < 5; i++)
		assert_true(pair_info(&pair, 0, i).done);
	pair_destroy(&pair);
}

TEST(incast_goes_on_over_losses_and_without_those_that_gave_up)
{
	struct nic_qp_params qp = nic_test_qp(0), broken;

	pair.params[0].local_ack_timeout = 3;
	pair.params[0].retry_cnt = 2;
	qp.arrival = WORKLOAD_INCAST;
	qp.messages = 30;
	start(&qp, 3);
	broken = qp;
	broken.peer_qpn = 999; /* nobody answers there */
	assert_true(nic_add_qp(pair.nic[0], &broken, 0) > 0);
	seen.lose_of = 50;
	pair_run(&pair, NEVER_NS);
	assert_true(pair_info(&pair, 0, 3).error);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(pair_info(&pair, 0, i).tx_messages, 30);
	assert_true(nic_done(pair.nic[0]));
	pair_destroy(&pair);
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
