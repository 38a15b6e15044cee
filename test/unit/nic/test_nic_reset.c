/* SPDX-License-Identifier: BSD-3-Clause */
/* One end of a connection restarts, the other one is reset. */
#include "unit/nic/nic_test.h"

#include "base/numbers/array.h"
#include "base/numbers/prng.h"

#define MESSAGES 40
#define RTO 4 /* 66 us */

/* Of the requester's frames since the last reset. */
static struct {
	uint32_t n;
	uint32_t first_psn;
	uint8_t first_opcode;
} seen;

static enum fate
watch(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	(void)p;
	(void)n;
	if (from != 0)
		return FATE_PASS;
	if (seen.n++ == 0) {
		seen.first_psn = v->psn;
		seen.first_opcode = v->opcode;
	}
	return FATE_PASS;
}

static struct nic_qp_params
flow_of(int verb, uint32_t initial_psn)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.verb = verb;
	qp.initial_psn = initial_psn;
	qp.messages = MESSAGES;
	return qp;
}

static void
start(const struct nic_qp_params *qp)
{
	pair_watch(&pair, watch, &seen, sizeof(seen));
	for (unsigned int h = 0; h < 2; h++) {
		pair.params[h].local_ack_timeout = RTO;
		pair.params[h].measure_times = NIC_MEASURE_ON;
	}
	pair_create(&pair, 1023);
	pair_connect(&pair, qp);
}

/* Frames on the cables are lost. */
static void
cut(void)
{
	for (unsigned int h = 0; h < 2; h++) {
		struct cable *c = &pair.cable[h];

		while (c->head != c->tail)
			rte_pktmbuf_free(c->ring[c->head++ % PAIR_IN_FLIGHT].m);
	}
}

static void
restart(unsigned int host, const struct nic_qp_params *at_0)
{
	struct nic_qp_params qp = *at_0;

	cut();
	nic_destroy(pair.nic[host]);
	pair.nic[host] = nic_create(&pair.params[host], &pair.pools);
	assert_non_null(pair.nic[host]);
	qp.peer_qpn = PAIR_QPN;
	if (host == 1) {
		const struct nic_qp_params peer = nic_test_qp(1);

		qp.requester = false;
		memcpy(qp.peer_mac, peer.peer_mac, 6);
		qp.peer_ip = pair.params[0].ip;
	}
	assert_int_equal(nic_add_qp(pair.nic[host], &qp, pair.now_ns), PAIR_QPN);
}

static void
reset(unsigned int host)
{
	struct node *nic = pair.nic[host];

	assert_int_equal(nic_reset_flow(nic, 0), 0);
	assert_false(nic_reset_is_done(nic));
	nic->ops->rx(nic, 0, NULL, 0, pair.now_ns);
	assert_true(nic_reset_is_done(nic));
}

static void
run_until_messages(unsigned int host, uint64_t messages)
{
	while (pair_info(&pair, host, 0).tx_messages < messages)
		pair_run(&pair, pair.now_ns + 500);
}

static const struct {
	int verb;
	uint32_t initial_psn;
	uint8_t first_opcode;
} rows[] = {
	{NIC_WRITE, 0, RC_WRITE_FIRST},
	{NIC_WRITE, 0xFFFFF0, RC_WRITE_FIRST}, /* wraps between start and reset */
	{NIC_SEND, 77, RC_SEND_FIRST},
	{NIC_READ, 0, RC_READ_REQUEST},
	{NIC_READ, 0xFFFFF0, RC_READ_REQUEST},
};

TEST(a_requester_comes_back_to_a_peer_that_restarted)
{
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct nic_qp_params qp = flow_of(rows[i].verb, rows[i].initial_psn);
		struct nic_qp_info before, failed, after, peer;
		start(&qp);
		run_until_messages(0, 11);
		before = pair_info(&pair, 0, 0);
		restart(1, &qp);
		pair_run(&pair, NEVER_NS);
		failed = pair_info(&pair, 0, 0);
		assert_true(failed.error);
		assert_in_range(failed.tx_messages, before.tx_messages, MESSAGES - 1);
		assert_true(nic_done(pair.nic[0]));
		memset(&seen, 0, sizeof(seen));
		reset(0);
		assert_false(nic_done(pair.nic[0]));
		assert_false(pair_info(&pair, 0, 0).error);
		/* What was passed over is not counted. */
		assert_int_equal(pair_info(&pair, 0, 0).tx_packets, failed.tx_packets);
		pair_run(&pair, NEVER_NS);
		after = pair_info(&pair, 0, 0);
		peer = pair_info(&pair, 1, 0);
		assert_int_equal(seen.first_psn, rows[i].initial_psn);
		assert_int_equal(seen.first_opcode, rows[i].first_opcode);
		assert_true(after.done && !after.error);
		assert_true(nic_done(pair.nic[0]));
		assert_int_equal(after.tx_messages, MESSAGES);
		assert_int_equal(after.tx_payload_bytes, MESSAGES * 2560);
		assert_int_equal(after.tx_packets - failed.tx_packets, seen.n);
		assert_int_equal(peer.rx_messages, MESSAGES - failed.tx_messages);
		/* Three responses for each message; one that was cut off came twice. */
		if (rows[i].verb == NIC_READ)
			assert_in_range(after.rx_packets, 3 * MESSAGES, 3 * MESSAGES + 2);
		assert_int_equal(after.completions, MESSAGES);
		pair_destroy(&pair);
	}
}

TEST(a_responder_takes_what_a_requester_that_restarted_sends)
{
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct nic_qp_params qp = flow_of(rows[i].verb, rows[i].initial_psn);
		struct nic_qp_info before, after;

		start(&qp);
		run_until_messages(0, 11);
		restart(0, &qp);
		before = pair_info(&pair, 1, 0);
		reset(1);
		assert_int_equal(pair_info(&pair, 1, 0).rx_packets, before.rx_packets);
		pair_run(&pair, NEVER_NS);
		after = pair_info(&pair, 1, 0);
		assert_true(pair_info(&pair, 0, 0).done);
		assert_int_equal(pair_info(&pair, 0, 0).tx_messages, MESSAGES);
		assert_int_equal(after.rx_messages - before.rx_messages, MESSAGES);
		assert_int_equal(after.rx_packets - before.rx_packets,
				 rows[i].verb == NIC_READ ? MESSAGES : 3 * MESSAGES);
		assert_int_equal(nic_stats(pair.nic[1])->naks_sent, 0);
		pair_destroy(&pair);
	}
}

TEST(an_invalid_request_is_forgiven)
{
	struct nic_qp_params qp = flow_of(NIC_READ, 0);

	start(&qp);
	/* Host 1 takes WRITEs only: it refuses the READ, and from then on everything. */
	qp.verb = NIC_WRITE;
	restart(1, &qp);
	pair_run(&pair, NEVER_NS);
	assert_true(pair_info(&pair, 0, 0).error);
	restart(0, &qp);
	reset(1);
	pair_run(&pair, NEVER_NS);
	assert_int_equal(pair_info(&pair, 0, 0).tx_messages, MESSAGES);
	pair_destroy(&pair);
}

TEST(a_flow_that_is_not_there_is_no_work)
{
	struct nic_qp_params qp = flow_of(NIC_WRITE, 0);

	start(&qp);
	assert_int_equal(nic_reset_flow(pair.nic[0], 5), 0);
	pair.nic[0]->ops->rx(pair.nic[0], 0, NULL, 0, 0);
	assert_true(nic_reset_is_done(pair.nic[0]));
	pair_run(&pair, NEVER_NS);
	assert_true(pair_info(&pair, 0, 0).done);
	pair_destroy(&pair);
}

/* Frames to the second QP are lost. */
static bool lossy;

static enum fate
lose_some(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	(void)p;
	(void)n;
	return lossy && from == 0 && v->dest_qp == PAIR_QPN + 1 ? FATE_LOSE : FATE_PASS;
}

TEST(the_rounds_of_an_incast_take_back_a_qp_that_is_behind)
{
	struct nic_qp_params qp = flow_of(NIC_WRITE, 0);

	pair_watch(&pair, lose_some, &lossy, sizeof(lossy));
	lossy = true;
	pair.params[0].local_ack_timeout = RTO;
	pair.params[0].retry_cnt = 1;
	pair_create(&pair, 1023);
	qp.arrival = WORKLOAD_INCAST;
	pair_connect(&pair, &qp);
	pair_connect(&pair, &qp);
	run_until_messages(0, 20);
	assert_true(pair_info(&pair, 0, 1).error);
	lossy = false;
	cut();
	reset(0);
	reset(1);
	pair_run(&pair, NEVER_NS);
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(pair_info(&pair, 0, i).done);
		assert_int_equal(pair_info(&pair, 0, i).tx_messages, MESSAGES);
	}
	pair_destroy(&pair);
}

/* Both ends at any time, several times, whatever each QP does at that moment. */
TEST(both_ends_reset_at_any_time_end_all_messages)
{
	static const int verbs[] = {NIC_WRITE, NIC_WRITE_IMM, NIC_SEND, NIC_READ};

	for (uint64_t seed = 1; seed <= 100; seed++) {
		uint64_t tx_packets = 0, rx_packets = 0;
		struct nic_qp_params qp;
		struct prng rng;
		int verb;

		prng_seed(&rng, seed, 0);
		verb = verbs[prng_below(&rng, 4)];
		qp = flow_of(verb, (uint32_t)prng_below(&rng, 1 << 24));
		qp.depth = 1 + (uint32_t)prng_below(&rng, 8);
		qp.message_size = prng_below(&rng, 2) ? WORKLOAD_UNIFORM : WORKLOAD_FIXED;
		qp.message_bytes = prng_below(&rng, 9000);
		qp.rate_cap_bps = prng_below(&rng, 2) ? GBPS : 0;
		qp.arrival = prng_below(&rng, 4) == 0 ? WORKLOAD_INCAST : WORKLOAD_CLOSED;
		start(&qp);
		for (unsigned int n = 0; n < 6; n++) {
			struct nic_qp_info a, b;

			pair_run(&pair, pair.now_ns + prng_below(&rng, 40000));
			cut();
			reset(n % 2);
			reset(1 - n % 2);
			a = pair_info(&pair, 0, 0);
			b = pair_info(&pair, 1, 0);
			if (a.tx_packets < tx_packets || b.rx_packets < rx_packets ||
			    a.tx_packets > 100000 || b.rx_packets > 100000)
				fail_msg("seed %u: packets counted wrongly", (unsigned int)seed);
			tx_packets = a.tx_packets;
			rx_packets = b.rx_packets;
		}
		pair_run(&pair, NEVER_NS);
		if (!pair_info(&pair, 0, 0).done ||
		    pair_info(&pair, 0, 0).tx_messages != MESSAGES ||
		    pair_info(&pair, 1, 0).rx_messages < MESSAGES)
			fail_msg("seed %u: messages are missing", (unsigned int)seed);
		pair_destroy(&pair);
	}
}

TEST_MAIN(.begin = start_eal)
