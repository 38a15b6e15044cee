/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The notification point's units: QP, pair of addresses, port; its delay and its capacity.
 *
 * Six QPs of three peers. Facts 3, for each unit: no CE, no CNP; the first CE of an idle unit is
 * answered at once; two CNPs of a unit are at least N apart; in t of continuous CE there are at
 * most 1 + floor(t / N).
 */
#include "unit/nic/nic_test.h"

#include "base/numbers/array.h"
#include "base/numbers/prng.h"

#define QPS 6u
#define N_NS (50 * NS_PER_US)

static uint32_t psn[QPS];
static const enum np_moderation moderations[] = {NP_PER_QP, NP_PER_IP_PAIR, NP_PER_PORT};

static int
setup(void **state)
{
	(void)state;
	solo_init(&solo);
	memset(psn, 0, sizeof(psn));
	return 0;
}

static uint8_t
host_of(uint32_t qp)
{
	return (uint8_t)(2 + qp / 2);
}

static uint32_t
unit_of(enum np_moderation moderation, uint32_t qp)
{
	return moderation == NP_PER_QP ? qp : moderation == NP_PER_IP_PAIR ? qp / 2 : 0;
}

static void
start(enum np_moderation moderation)
{
	solo.params.np.np_cnp_moderation = moderation;
	solo_create(&solo, 64);
	for (uint32_t i = 0; i < QPS; i++) {
		struct nic_qp_params qp = nic_test_qp(0);

		qp.requester = false;
		qp.peer_ip.addr[3] = host_of(i);
		qp.peer_qpn = 100 + i;
		assert_int_equal(nic_add_qp(solo.nic, &qp, 0), PAIR_QPN + i);
	}
}

static void
feed(uint64_t at_ns, uint32_t qp, uint8_t ecn)
{
	struct roce_path path = solo_path(&solo);
	struct roce_fields data = {.opcode = RC_WRITE_ONLY, .psn = psn[qp]++, .reth_dma_bytes = 8};

	solo.now_ns = at_ns;
	path.ecn = ecn;
	path.dest_qp = PAIR_QPN + qp;
	path.src_ip[3] = host_of(qp);
	solo_feed_on(&solo, &path, &data, 8);
}

/* The next CNP until a time. @return its QP, or -1. */
static int
take_cnp(uint64_t until_ns)
{
	struct roce_view v;

	if (!solo_take(&solo, until_ns, &v))
		return -1;
	assert_int_equal(v.opcode, ROCE_CNP);
	return (int)v.dest_qp - 100;
}

TEST(each_unit_has_a_window_of_its_own)
{
	/* Marks at 1 to 6 us, one for each QP: how many are first marks, and who has the last. */
	static const unsigned int at_once[] = {6, 3, 1};
	static const int at_end[] = {-1, 1, 5};

	for (unsigned int m = 0; m < 3; m++) {
		unsigned int cnps = 0;

		setup(NULL);
		start(moderations[m]);
		for (uint32_t i = 0; i < QPS; i++) {
			feed((i + 1) * NS_PER_US, i, ECN_CE);
			if (take_cnp(solo.now_ns) >= 0)
				cnps++;
		}
		assert_int_equal(cnps, at_once[m]);
		/* The first unit's window ends at 51 us, for the QP that was marked last in it. */
		assert_int_equal(take_cnp(51 * NS_PER_US), at_end[m]);
		solo_destroy(&solo);
	}
}

/* The number in the body of the next CNP, and its QP. */
static uint32_t
take_value(int qp)
{
	struct frame_view eth;
	struct roce_view v;
	struct rte_mbuf *m;
	const uint8_t *body;
	uint32_t value;

	assert_int_equal(solo.nic->ops->tx(solo.nic, 0, &m, 1, solo.now_ns), 1);
	nic_test_view(m, &eth, &v);
	assert_int_equal(v.opcode, ROCE_CNP);
	assert_int_equal((int)v.dest_qp - 100, qp);
	body = rte_pktmbuf_mtod(m, const uint8_t *) + v.ext_off;
	for (unsigned int i = 4; i < CNP_BODY_BYTES; i++)
		assert_int_equal(body[i], 0);
	value = be32_load(body);
	rte_pktmbuf_free(m);
	return value;
}

/* Algorithm fair counts the QPs with data, marked or not, and tells a marked one once a window. */
TEST(an_algorithm_notifies_in_place_of_the_windows)
{
	setup(NULL);
	solo.params.cc = CC_FAIR;
	start(NP_PER_QP);
	feed(1 * NS_PER_US, 0, ECN_ECT0);
	feed(2 * NS_PER_US, 1, ECN_ECT0);
	assert_int_equal(take_cnp(solo.now_ns), -1);
	feed(3 * NS_PER_US, 2, ECN_CE);
	assert_int_equal(take_value(2), 3);
	feed(4 * NS_PER_US, 2, ECN_CE);
	assert_int_equal(take_cnp(solo.now_ns), -1);
	/* In the next window, those of the one before count as long as there are more of them. */
	feed(1 * NS_PER_US + N_NS, 2, ECN_CE);
	assert_int_equal(take_value(2), 3);
	/* After a window without data, nobody is left of the one before. */
	feed(1 * NS_PER_US + 3 * N_NS, 5, ECN_CE);
	assert_int_equal(take_value(5), 1);
	solo_destroy(&solo);
}

/* Other QPs of the same NIC have standard CNPs, whose body is zero. */
TEST(a_cnp_of_another_algorithm_is_a_standard_one)
{
	struct nic_qp_params qp = nic_test_qp(0);

	setup(NULL);
	solo.params.cc_of_flows = 1u << CC_FAIR;
	solo_create(&solo, 64);
	qp.requester = false;
	for (uint32_t i = 0; i < 2; i++) {
		qp.peer_ip.addr[3] = host_of(i);
		qp.peer_qpn = 100 + i;
		qp.cc = i == 1 ? CC_CHOICE(CC_FAIR) : 0;
		qp.flow_id = i;
		assert_int_equal(nic_add_qp(solo.nic, &qp, 0), PAIR_QPN + i);
	}
	feed(1 * NS_PER_US, 1, ECN_CE);
	assert_int_equal(take_value(1), 1);
	feed(2 * NS_PER_US, 0, ECN_CE);
	assert_int_equal(take_value(0), 0);
	solo_destroy(&solo);
}

TEST(nothing_without_marks)
{
	for (unsigned int m = 0; m < 3; m++) {
		setup(NULL);
		start(moderations[m]);
		for (uint32_t i = 0; i < 1000; i++)
			feed(i * 100, i % QPS, ECN_ECT0);
		assert_int_equal(take_cnp(NEVER_NS), -1);
		solo_destroy(&solo);
	}
}

TEST(random_marks_keep_the_interval_of_each_unit)
{
	static const uint64_t seed = 3;

	for (unsigned int m = 0; m < 3; m++) {
		uint64_t last_ns[QPS] = {0}, last_mark_ns[QPS] = {0}, now_ns = NS_PER_MS;
		uint64_t cnps = 0, marks = 0;
		struct prng rnd;

		setup(NULL);
		start(moderations[m]);
		prng_seed(&rnd, seed, m);
		for (unsigned int i = 0; i < 20000; i++) {
			uint32_t qp = (uint32_t)prng_below(&rnd, QPS);
			int to;

			now_ns += prng_below(&rnd, i % 1000 < 500 ? 4000 : 40000);
			while ((to = take_cnp(now_ns)) >= 0) {
				uint32_t u = unit_of(moderations[m], (uint32_t)to);

				/* A few CNPs of one instant follow one another on the wire. */
				assert_true(solo.now_ns - last_ns[u] + 200 >= N_NS);
				assert_true(solo.now_ns - last_mark_ns[u] <= N_NS + 200);
				last_ns[u] = solo.now_ns;
				cnps++;
			}
			if (prng_below(&rnd, 3) != 0)
				continue;
			feed(now_ns, qp, ECN_CE);
			last_mark_ns[unit_of(moderations[m], qp)] = now_ns;
			marks++;
		}
		assert_true(cnps > 100 && cnps < marks);
		solo_destroy(&solo);
	}
}

/* The bound, and that it is reached: nobody is forgotten. */
TEST(continuous_marks_give_one_cnp_an_interval)
{
	static const unsigned int units[] = {6, 3, 1};

	for (unsigned int m = 0; m < 3; m++) {
		unsigned int cnps = 0;

		setup(NULL);
		start(moderations[m]);
		for (uint32_t i = 0; i < 6000; i++) {
			feed(i * 200, i % QPS, ECN_CE);
			while (take_cnp(i * 200 + 199) >= 0)
				cnps++;
		}
		/* 1.2 ms: 1 + 24 for each unit, of which the last may still be due. */
		assert_in_range(cnps, 23 * units[m], 25 * units[m]);
		solo_destroy(&solo);
	}
}

TEST(delay_shifts_every_cnp)
{
	solo.params.np.np_cnp_delay_ns = 30 * NS_PER_US;
	start(NP_PER_QP);
	feed(NS_PER_US, 0, ECN_CE);
	feed(2 * NS_PER_US, 1, ECN_CE);
	feed(10 * NS_PER_US, 0, ECN_CE);
	assert_int_equal(take_cnp(31 * NS_PER_US - 1), -1);
	assert_int_equal(take_cnp(NEVER_NS), 0);
	assert_int_equal(solo.now_ns, 31 * NS_PER_US);
	assert_int_equal(take_cnp(NEVER_NS), 1);
	assert_int_equal(solo.now_ns, 32 * NS_PER_US);
	/* The window's end at 51 us, and the delay. */
	assert_int_equal(take_cnp(NEVER_NS), 0);
	assert_int_equal(solo.now_ns, 81 * NS_PER_US);
	assert_int_equal(take_cnp(NEVER_NS), -1);
	solo_destroy(&solo);
}

/* Adapters take as long to send a CNP as N is, or longer: there are none the fewer for it. */
TEST(delay_beyond_the_interval_loses_no_cnp)
{
	static const uint32_t delays_us[] = {50, 120};

	for (unsigned int d = 0; d < 2; d++) {
		uint64_t next_ns = (1 + delays_us[d]) * NS_PER_US;
		unsigned int cnps = 0;

		setup(NULL);
		solo.params.np.np_cnp_delay_ns = delays_us[d] * (uint32_t)NS_PER_US;
		solo.params.max_qps = QPS;
		start(NP_PER_QP);
		for (uint64_t at_us = 1; at_us <= 1000; at_us++) {
			feed(at_us * NS_PER_US, 0, ECN_CE);
			while (take_cnp(at_us * NS_PER_US + 999) == 0) {
				assert_in_range(solo.now_ns, next_ns, next_ns + 999);
				next_ns += 50 * NS_PER_US;
				cnps++;
			}
		}
		assert_int_equal(cnps, 1 + (999 - delays_us[d]) / 50);
		solo_destroy(&solo);
	}
}

/* N = 0 and a mark each 100 ns: a QP owes one CNP at most, so what waits is bounded. */
TEST(marks_meanwhile_are_answered_by_the_cnp_on_its_way)
{
	unsigned int cnps = 0;

	solo.params.np.np_min_time_between_cnps_us = 0;
	solo.params.np.np_cnp_delay_ns = 10 * NS_PER_US;
	solo.params.max_qps = QPS;
	start(NP_PER_QP);
	for (uint32_t i = 0; i < 1000; i++) {
		feed(i * 100, i % QPS, ECN_CE);
		while (take_cnp(i * 100 + 99) >= 0)
			cnps++;
	}
	while (take_cnp(NEVER_NS) >= 0)
		cnps++;
	/* 100 us at one each 10 us and 600 ns, the time to the next mark of that QP. */
	assert_in_range(cnps, QPS * 9, QPS * 10);
	solo_destroy(&solo);
}

TEST(port_sends_no_two_cnps_closer_than_it_can)
{
	struct roce_path path = host_path(2, 1, PAIR_QPN + 1);

	solo.params.np.np_min_time_between_cnps_us = 0;
	solo.params.np.np_min_port_cnp_interval_ns = 5 * NS_PER_US;
	start(NP_PER_QP);
	for (uint32_t i = 0; i < QPS; i++)
		feed(NS_PER_US, i, ECN_CE);
	for (uint32_t i = 0; i < QPS; i++) {
		assert_int_equal(take_cnp(NEVER_NS), i);
		assert_int_equal(solo.now_ns, (1 + 5 * i) * NS_PER_US);
	}
	assert_int_equal(take_cnp(NEVER_NS), -1);
	/* Other control frames do not wait for it. */
	solo.now_ns += NS_PER_US;
	feed(solo.now_ns, 0, ECN_CE);
	solo_feed_on(&solo, &path,
		     &(struct roce_fields){.opcode = RC_WRITE_ONLY,
					   .psn = psn[1]++,
					   .ack_req = true,
					   .reth_dma_bytes = 8},
		     8);
	{
		struct roce_view v;

		assert_true(solo_take(&solo, solo.now_ns, &v));
		assert_int_equal(v.opcode, RC_ACK);
	}
	assert_int_equal(take_cnp(NEVER_NS), 0);
	assert_int_equal(solo.now_ns, 31 * NS_PER_US);
	solo_destroy(&solo);
}

static void
reload_np(uint32_t interval_us, uint32_t port_interval_ns)
{
	struct nic_reload reload = {.params = solo.params};

	reload.params.np.np_min_time_between_cnps_us = interval_us;
	reload.params.np.np_min_port_cnp_interval_ns = port_interval_ns;
	nic_reload(solo.nic, &reload);
	while (!nic_reload_is_done(solo.nic))
		solo.nic->ops->rx(solo.nic, 0, NULL, 0, solo.now_ns);
}

/* Windows that run last as long as N says now, for every unit and for the port. */
TEST(another_interval_holds_for_windows_that_run)
{
	static const struct {
		uint32_t before_us, after_us;
		uint64_t want_ns;
	} rows[] = {
		{1000000, 13, 14 * NS_PER_US},
		{1000000, 0, 5 * NS_PER_US},
		{10, 40, 41 * NS_PER_US},
	};

	for (unsigned int r = 0; r < ARRAY_LEN(rows); r++)
		for (unsigned int m = 0; m <= ARRAY_LEN(moderations); m++) {
			bool port = m == ARRAY_LEN(moderations);

			setup(NULL);
			solo.params.np.np_min_time_between_cnps_us = port ? 0 : rows[r].before_us;
			if (port)
				solo.params.np.np_min_port_cnp_interval_ns =
					RTE_MIN(rows[r].before_us, 1000000u) * 1000;
			start(port ? NP_PER_QP : moderations[m]);
			feed(NS_PER_US, 0, ECN_CE);
			assert_int_equal(take_cnp(NS_PER_US), 0);
			feed(2 * NS_PER_US, 0, ECN_CE);
			assert_int_equal(take_cnp(5 * NS_PER_US), -1);
			solo.now_ns = 5 * NS_PER_US;
			reload_np(port ? 0 : rows[r].after_us, port ? rows[r].after_us * 1000 : 0);
			assert_in_range(solo.nic->ops->next_ns(solo.nic, 0), 0, rows[r].want_ns);
			assert_int_equal(take_cnp(NEVER_NS), 0);
			assert_int_equal(solo.now_ns, rows[r].want_ns);
			solo_destroy(&solo);
		}
}

/* The node names no time that is later than what it does. */
TEST(a_shorter_interval_lets_a_waiting_cnp_go)
{
	solo.params.np.np_min_time_between_cnps_us = 0;
	solo.params.np.np_min_port_cnp_interval_ns = 100 * NS_PER_US;
	start(NP_PER_QP);
	feed(NS_PER_US, 0, ECN_CE);
	feed(NS_PER_US, 1, ECN_CE);
	assert_int_equal(take_cnp(NS_PER_US), 0);
	assert_int_equal(take_cnp(2 * NS_PER_US), -1);
	assert_int_equal(solo.nic->ops->next_ns(solo.nic, 0), 101 * NS_PER_US);
	reload_np(0, 0);
	assert_true(solo.nic->ops->next_ns(solo.nic, 0) <= 2 * NS_PER_US);
	assert_int_equal(take_cnp(2 * NS_PER_US), 1);
	solo_destroy(&solo);
}

TEST(cnps_carry_the_code_point_they_are_told)
{
	for (int ecn = 0; ecn < 3; ecn++) {
		struct roce_view v;

		setup(NULL);
		solo.params.np.np_cnp_ecn = ecn;
		solo.params.np.np_cnp_dscp = 40;
		start(NP_PER_PORT);
		feed(0, 0, ECN_CE);
		assert_true(solo_take(&solo, 0, &v));
		assert_int_equal(v.ecn, ecn);
		assert_int_equal(v.dscp, 40);
		solo_destroy(&solo);
	}
}

/* Our addresses x the peer's: 2 x 2 pairs, with two QPs each. */
TEST(a_pair_is_both_addresses)
{
	enum { PAIRS = 4 };

	solo.params.np.np_cnp_moderation = NP_PER_IP_PAIR;
	solo_create(&solo, 64);
	for (uint32_t i = 0; i < 2 * PAIRS; i++) {
		struct nic_qp_params qp = nic_test_qp(0);

		qp.requester = false;
		qp.peer_qpn = 100 + i;
		qp.peer_ip.addr[3] = (uint8_t)(2 + i % 2);
		if (i / 2 % 2 == 1) {
			qp.local_ip = solo.params.ip;
			qp.local_ip.addr[3] = 77;
		}
		assert_int_equal(nic_add_qp(solo.nic, &qp, 0), PAIR_QPN + i);
	}
	for (uint32_t i = 0; i < 2 * PAIRS; i++) {
		struct roce_path path = solo_path(&solo);

		solo.now_ns = NS_PER_US * (i + 1);
		path.ecn = ECN_CE;
		path.dest_qp = PAIR_QPN + i;
		path.src_ip[3] = (uint8_t)(2 + i % 2);
		if (i / 2 % 2 == 1)
			path.dst_ip[3] = 77;
		solo_feed_on(&solo, &path,
			     &(struct roce_fields){.opcode = RC_WRITE_ONLY, .reth_dma_bytes = 8},
			     8);
		assert_int_equal(take_cnp(solo.now_ns), i < PAIRS ? (int)i : -1);
	}
	solo_destroy(&solo);
}

/*
 * As many of our addresses as of the peer's: where a search passes other pairs, some have one
 * address in common with the pair that is sought.
 */
TEST(more_pairs_than_the_table_is_wide_are_found_again)
{
	enum { ADDRESSES = 30, PAIRS = ADDRESSES * ADDRESSES };

	solo.params.np.np_cnp_moderation = NP_PER_IP_PAIR;
	solo.params.max_qps = 2 * PAIRS;
	solo_create(&solo, 64);
	for (uint32_t i = 0; i < 2 * PAIRS; i++) {
		struct nic_qp_params qp = nic_test_qp(0);

		qp.requester = false;
		qp.local_ip = solo.params.ip;
		qp.local_ip.addr[3] = (uint8_t)(50 + i % PAIRS / ADDRESSES);
		qp.peer_ip.addr[2] = (uint8_t)(i % ADDRESSES * (i % ADDRESSES));
		qp.peer_ip.addr[3] = (uint8_t)(2 + i % ADDRESSES);
		qp.peer_qpn = 100 + i;
		nic_add_qp(solo.nic, &qp, 0);
	}
	/* QP i and QP i + PAIRS have one pair: the second mark is not answered at once. */
	for (uint32_t i = 0; i < 2 * PAIRS; i++) {
		struct roce_path path = solo_path(&solo);

		solo.now_ns = i * 20;
		path.ecn = ECN_CE;
		path.dest_qp = PAIR_QPN + i;
		path.src_ip[2] = (uint8_t)(i % ADDRESSES * (i % ADDRESSES));
		path.src_ip[3] = (uint8_t)(2 + i % ADDRESSES);
		path.dst_ip[3] = (uint8_t)(50 + i % PAIRS / ADDRESSES);
		solo_feed_on(&solo, &path,
			     &(struct roce_fields){.opcode = RC_WRITE_ONLY, .reth_dma_bytes = 8},
			     8);
		assert_int_equal(take_cnp(solo.now_ns), i < PAIRS ? (int)i : -1);
	}
	solo_destroy(&solo);
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
