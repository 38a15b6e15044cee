/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces: the events of chosen QPs, in order, in a ring that forgets the oldest, and that others
 * read while it is written. */
#include "unit/nic/nic_test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "nic/measure/trace.h"

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
	const struct nic_traces *traces = nic_traces(solo.nic);

	assert_true(i < traces->n);
	return traces->trace[i];
}

TEST(rows_say_when_what_and_why)
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

	solo_create_senders(&solo, 3);
	assert_int_equal(nic_trace_qp(solo.nic, 1, 16), 0);
	solo_run(&solo, 10000);
	feed_cnp(0);
	feed_cnp(1);
	solo_run(&solo, 70000);
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

TEST(full_ring_keeps_the_newest)
{
	solo_create_senders(&solo, 1);
	assert_int_equal(nic_trace_qp(solo.nic, 0, 4), 0);
	solo_run(&solo, 1000);
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

TEST(more_than_fit_are_refused)
{
	solo.params.max_qps = NIC_MAX_TRACES + 1;
	solo_create_senders(&solo, NIC_MAX_TRACES + 1);
	for (uint32_t i = 0; i < NIC_MAX_TRACES; i++)
		assert_int_equal(nic_trace_qp(solo.nic, i, 2), 0);
	assert_int_equal(nic_trace_qp(solo.nic, NIC_MAX_TRACES, 2), -ENOSPC);
	solo_run(&solo, 100000);
	for (unsigned int i = 0; i < NIC_MAX_TRACES; i++)
		assert_int_equal(nic_trace_row(trace(i), 0)->did, CC_DID_START);
	solo_destroy(&solo);
}

TEST(traces_come_and_go_while_the_node_runs)
{
	struct nic_trace *extra;
	struct nic_traces list = {0};
	struct nic_trace_row row;

	solo_create_senders(&solo, 2);
	assert_int_equal(nic_trace_qp(solo.nic, 0, 16), 0);
	solo_run(&solo, 10000);
	feed_cnp(1);
	extra = nic_trace_create(1, 16);
	assert_non_null(extra);
	nic_traces_add(&list, (struct nic_trace *)trace(0));
	nic_traces_add(&list, extra);
	nic_set_traces(solo.nic, &list);
	/* The owner comes to it in its own time. */
	assert_false(nic_traces_are_set(solo.nic));
	assert_int_equal(nic_trace_written(extra), 0);
	solo_run(&solo, 20000);
	assert_true(nic_traces_are_set(solo.nic));
	/* It begins with the state, from which the first cut comes. */
	assert_int_equal(nic_trace_written(extra), 1);
	assert_true(nic_trace_read(extra, 0, &row));
	assert_int_equal(row.did, 0);
	assert_in_range(row.at_ns, 10000, 20000);
	assert_int_equal(row.view.rate_bps, 20 * GBPS);
	assert_int_equal(row.view.target_rate_bps, 40 * GBPS);
	feed_cnp(1);
	assert_int_equal(nic_trace_written(extra), 2);
	assert_true(nic_trace_read(extra, 1, &row));
	assert_int_equal(row.did, CC_DID_CNP | CC_DID_CUT);
	assert_int_equal(row.view.target_rate_bps, 20 * GBPS);
	assert_int_equal(nic_trace_written(trace(0)), 1);

	list.n = 1;
	nic_set_traces(solo.nic, &list);
	solo_run(&solo, 21000);
	assert_true(nic_traces_are_set(solo.nic));
	feed_cnp(1);
	feed_cnp(0);
	assert_int_equal(nic_trace_written(extra), 2);
	assert_int_equal(nic_trace_written(trace(0)), 2);
	nic_trace_destroy(extra);
	solo_destroy(&solo);
}

#define ROWS 1000000u

/* What row number n is made of, so that half of another one shows. */
static uint64_t
time_of(uint64_t n)
{
	return n * 3 + 1000;
}

static uint32_t
did_of(uint64_t n)
{
	return (uint32_t)(n * 2654435761u);
}

struct reader {
	const struct nic_trace *trace;
	uint64_t good, lost, torn;
	atomic_bool ready;
};

/* Mostly the oldest row, which is the next to go. */
static void *
read_rows(void *arg)
{
	struct reader *r = arg;
	uint64_t written = 0;

	atomic_store(&r->ready, true);
	while (written < ROWS) {
		struct nic_trace_row row;
		uint64_t first;

		written = nic_trace_written(r->trace);
		first = written > r->trace->capacity ? written - r->trace->capacity : 0;
		for (uint64_t n = first; n < written; n++) {
			if (!nic_trace_read(r->trace, n, &row))
				r->lost++;
			else if (row.at_ns == time_of(n) && row.did == did_of(n))
				r->good++;
			else
				r->torn++;
		}
	}
	return NULL;
}

TEST(another_thread_never_reads_half_a_row)
{
	struct reader r = {0};
	pthread_t thread;

	solo_create_senders(&solo, 1);
	assert_int_equal(nic_trace_qp(solo.nic, 0, 4), 0);
	r.trace = trace(0);
	assert_int_equal(pthread_create(&thread, NULL, read_rows, &r), 0);
	while (!atomic_load(&r.ready))
		;
	for (uint64_t n = 0; n < ROWS; n++) {
		nic_trace_add((struct nic *)solo.nic, 0, did_of(n), time_of(n));
		/* On a machine with one CPU it needs its turn. */
		if (n % 1000 == 0)
			sched_yield();
	}
	pthread_join(thread, NULL);
	assert_int_equal(r.torn, 0);
	/* The last rows stay. */
	assert_true(r.good >= 4);
	print_message("%" PRIu64 " rows read, %" PRIu64 " found lost\n", r.good, r.lost);
	solo_destroy(&solo);
}

/* Without a race: a row that was begun over another one is lost, whether or not it is whole. */
TEST(a_row_that_is_written_over_is_lost)
{
	struct nic_trace *t;
	struct nic_trace_row row;

	solo_create_senders(&solo, 1);
	assert_int_equal(nic_trace_qp(solo.nic, 0, 4), 0);
	t = (struct nic_trace *)trace(0);
	for (uint64_t n = 0; n < 6; n++)
		nic_trace_add((struct nic *)solo.nic, 0, did_of(n), time_of(n));
	for (uint64_t n = 0; n < 6; n++)
		assert_int_equal(nic_trace_read(t, n, &row), n >= 2);
	assert_int_equal(row.at_ns, time_of(5));
	t->begun++;
	assert_false(nic_trace_read(t, 2, &row));
	assert_true(nic_trace_read(t, 3, &row));
	solo_destroy(&solo);
}

TEST_MAIN(.begin = start_eal, .before_each = solo_setup)
