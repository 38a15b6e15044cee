/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces: the events of chosen QPs, in order, in a ring that forgets the oldest. */
#include "nic_test.h"

#include <errno.h>

#include "nic/nic_trace.h"

static struct solo solo;

static int
setup(void **state)
{
	(void)state;
	solo_init(&solo);
	return 0;
}

static void
start_senders(uint32_t n_qps)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.message_bytes = 1 << 20;
	qp.messages = 0;
	qp.depth = 1000;
	solo.params.window_packets = 1 << 20;
	solo.params.local_ack_timeout = 0;
	solo_create(&solo, 64);
	for (uint32_t i = 0; i < n_qps; i++)
		nic_add_qp(solo.nic, &qp, 0);
}

static void
run(uint64_t until_ns)
{
	struct roce_view v;

	while (solo_take(&solo, until_ns, &v))
		;
	solo.now_ns = until_ns;
}

static void
feed_cnp(uint32_t qp)
{
	struct roce_path path = solo_path(&solo);

	path.dest_qp = PAIR_QPN + qp;
	solo_feed_on(&solo, &path, &(struct roce_fields){.opcode = ROCE_CNP, .becn = true}, 0);
}

static const struct nic_trace *
trace(unsigned int i)
{
	unsigned int n;
	const struct nic_trace *traces = nic_traces(solo.nic, &n);

	assert_true(i < n);
	return &traces[i];
}

static void
rows_say_when_what_and_why(void **state)
{
	static const struct {
		uint64_t at_ns, rate_bps, target_bps;
		uint32_t did;
	} want[] = {
		{0, 40 * GBPS, 40 * GBPS, CC_DID_START},
		{10000, 20 * GBPS, 40 * GBPS, CC_DID_CNP | CC_DID_CUT | CC_DID_ENGAGE},
		{65000, 30 * GBPS, 40 * GBPS, CC_DID_FAST},
		{70000, 15058593750, 30 * GBPS, CC_DID_CNP | CC_DID_CUT},
	};

	(void)state;
	start_senders(3);
	assert_int_equal(nic_trace_qp(solo.nic, 1, 16), 0);
	run(10000);
	feed_cnp(0);
	feed_cnp(1);
	run(70000);
	feed_cnp(2);
	feed_cnp(1);
	assert_int_equal(trace(0)->index, 1);
	assert_int_equal(nic_trace_rows(trace(0)), 4);
	for (uint32_t i = 0; i < 4; i++) {
		const struct nic_trace_row *row = nic_trace_row(trace(0), i);

		/* A timer's row is written when the QP has its turn. */
		assert_in_range(row->at_ns, want[i].at_ns, want[i].at_ns + 2000);
		assert_int_equal(row->did, want[i].did);
		assert_in_range(row->view.rate_bps, want[i].rate_bps - 200 * MBPS,
				want[i].rate_bps);
		assert_int_equal(row->view.target_rate_bps, want[i].target_bps);
	}
	solo_destroy(&solo);
}

static void
full_ring_keeps_the_newest(void **state)
{
	(void)state;
	start_senders(1);
	assert_int_equal(nic_trace_qp(solo.nic, 0, 4), 0);
	run(1000);
	for (unsigned int i = 0; i < 9; i++) {
		solo.now_ns += 1;
		feed_cnp(0);
	}
	/* The start and nine CNPs: the last four are there. */
	assert_int_equal(trace(0)->written, 10);
	assert_int_equal(nic_trace_rows(trace(0)), 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(nic_trace_row(trace(0), i)->at_ns, 1000 + 6 + i);
	solo_destroy(&solo);
}

static void
more_than_fit_are_refused(void **state)
{
	(void)state;
	solo.params.max_qps = NIC_MAX_TRACES + 1;
	start_senders(NIC_MAX_TRACES + 1);
	for (uint32_t i = 0; i < NIC_MAX_TRACES; i++)
		assert_int_equal(nic_trace_qp(solo.nic, i, 2), 0);
	assert_int_equal(nic_trace_qp(solo.nic, NIC_MAX_TRACES, 2), -ENOSPC);
	run(100000);
	for (unsigned int i = 0; i < NIC_MAX_TRACES; i++)
		assert_int_equal(nic_trace_row(trace(i), 0)->did, CC_DID_START);
	solo_destroy(&solo);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(rows_say_when_what_and_why, setup),
		cmocka_unit_test_setup(full_ring_keeps_the_newest, setup),
		cmocka_unit_test_setup(more_than_fit_are_refused, setup),
	};

	if (test_eal_init(64) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
