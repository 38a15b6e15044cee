/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank asks another one whether it is alive, while either end is reset or restarts. */
#include "unit/nic/nic_test.h"

#include "base/numbers/prng.h"
#include "job/goal.h"
#include "job/job_check.h"

#define RTO 4 /* 66 us */
#define DIGEST 0xfeedbeefu
#define ASK_NS 10000

enum { ASKS, HEARS };

/* Rank 0 hears; it waits for rank 1, which asks. */
static struct job_graph job;

static struct nic_qp_params
question(void)
{
	struct nic_qp_params qp = nic_test_qp(ASKS);

	qp.verb = NIC_WRITE_IMM;
	qp.has_imm = true;
	qp.imm_data = DIGEST;
	qp.message_bytes = 1;
	qp.messages = 0;
	qp.arrival = WORKLOAD_PERIODIC;
	qp.load_bps = 8 * NS_PER_SEC / ASK_NS;
	qp.initial_psn = 0xFFFFFE;
	return qp;
}

static void
hear(void)
{
	static const struct nic_job_qps peers[] = {{JOB_NONE, JOB_NONE, false}};
	const struct nic_job_params params = {
		.rank = &job.ranks[0], .peers = peers, .qps = 1, .iterations = 1};

	assert_int_equal(nic_job_add(pair.nic[HEARS], &params), 0);
	assert_int_equal(nic_job_hear(pair.nic[HEARS], 0, 0, 0, DIGEST), 0);
}

static void
start(void)
{
	static const char text[] = "num_ranks 2 rank 0 { recv 1b from 1 } rank 1 { send 1b to 0 }";
	const struct nic_qp_params qp = question();
	struct job_fault fault;

	assert_int_equal(goal_read(text, strlen(text), 0, &job, &fault), 0);
	assert_int_equal(job_check(&job, &fault), 0);
	pair_init(&pair);
	pair.params[ASKS].local_ack_timeout = RTO;
	pair_create(&pair, 1023);
	pair_connect(&pair, &qp);
	hear();
}

static void
end(void)
{
	pair_destroy(&pair);
	job_graph_free(&job);
}

static void
run(uint64_t ns)
{
	pair_run(&pair, pair.now_ns + ns);
}

static void
reset(unsigned int host)
{
	struct node *nic = pair.nic[host];

	assert_int_equal(nic_reset_flow(nic, 0), 0);
	nic->ops->rx(nic, 0, NULL, 0, pair.now_ns);
	assert_true(nic_reset_is_done(nic));
}

static void
restart(unsigned int host)
{
	struct nic_qp_params qp = question();

	nic_destroy(pair.nic[host]);
	pair.nic[host] = nic_create(&pair.params[host], &pair.pools);
	assert_non_null(pair.nic[host]);
	qp.peer_qpn = PAIR_QPN;
	if (host == HEARS) {
		const struct nic_qp_params other = nic_test_qp(HEARS);

		qp.requester = false;
		memcpy(qp.peer_mac, other.peer_mac, 6);
		qp.peer_ip = pair.params[ASKS].ip;
	}
	assert_int_equal(nic_add_qp(pair.nic[host], &qp, pair.now_ns), PAIR_QPN);
	if (host == HEARS)
		hear();
}

static struct nic_qp_info
asker(void)
{
	return pair_info(&pair, ASKS, 0);
}

/* Are questions answered? A time-out is over before. */
static bool
is_answered(void)
{
	uint64_t before = asker().tx_messages;

	run(20 * ASK_NS);
	return !asker().error && asker().tx_messages > before;
}

static void
run_until_answered(uint64_t messages)
{
	while (asker().tx_messages < messages)
		run(500);
}

TEST(a_question_says_a_digest)
{
	uint32_t digest;

	start();
	assert_false(nic_job_heard(pair.nic[HEARS], 0, 0, &digest));
	run_until_answered(1);
	assert_true(nic_job_heard(pair.nic[HEARS], 0, 0, &digest));
	assert_int_equal(digest, DIGEST);
	end();
}

/*
 * The asker begins anew before the one that hears is reset: what is answered meanwhile must not
 * part their numbers.
 */
TEST(questions_between_the_resets_of_both_ends_are_answered)
{
	for (unsigned int first = ASKS; first <= HEARS; first++)
		for (uint64_t before = 1; before < 5; before++)
			for (uint64_t between = 0; between < 8; between++) {
				start();
				run_until_answered(before);
				reset(first);
				run_until_answered(before + between);
				reset(1 - first);
				assert_true(is_answered());
				end();
			}
}

TEST(who_asks_may_restart)
{
	/* So many that the new one gives up before it has asked as often. */
	start();
	run_until_answered(200);
	restart(ASKS);
	assert_true(is_answered());
	end();
}

TEST(who_hears_and_has_restarted_is_not_the_one_before)
{
	start();
	run_until_answered(5);
	restart(HEARS);
	assert_false(is_answered());
	run(NS_PER_MS);
	assert_true(asker().error);
	reset(ASKS);
	assert_true(is_answered());
	end();
}

static void
ask(void)
{
	struct node *nic = pair.nic[ASKS];

	nic_job_ask(nic, 0);
	nic->ops->rx(nic, 0, NULL, 0, pair.now_ns);
	assert_true(nic_job_ask_is_done(nic));
}

static enum fate
lose(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	(void)p;
	(void)from;
	(void)n;
	(void)v;
	return FATE_LOSE;
}

/* A question that gave up is asked again, and heard by a peer that was late, or has restarted. */
TEST(a_question_that_gave_up_is_asked_again)
{
	for (uint64_t before = 0; before < 5; before++) {
		enum fate (*watch)(struct pair *, unsigned int, uint64_t, const struct roce_view *);
		uint32_t digest;

		start();
		reset(ASKS); /* makes room, as nic_job_hear() does where ranks also hear */
		run_until_answered(before);
		restart(HEARS);
		watch = pair.fate;
		pair.fate = lose;
		run(NS_PER_MS);
		assert_true(asker().error);
		for (unsigned int n = 0; n < 3; n++) {
			ask();
			assert_false(asker().error);
			run(NS_PER_MS);
			assert_true(asker().error);
		}
		pair.fate = watch;
		ask();
		assert_true(is_answered());
		assert_true(nic_job_heard(pair.nic[HEARS], 0, 0, &digest));
		/* One that has not given up goes on. */
		ask();
		assert_true(is_answered());
		end();
	}
}

TEST(resets_and_restarts_at_any_time)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		uint64_t rx_packets = 0;
		struct prng rng;

		start();
		prng_seed(&rng, seed, 0);
		for (unsigned int n = 0; n < 8; n++) {
			uint64_t what;

			run(prng_below(&rng, 6 * ASK_NS));
			what = prng_below(&rng, 5);
			if (what == 0)
				restart(ASKS);
			else
				reset(what % 2);
			if (pair_info(&pair, HEARS, 0).rx_packets < rx_packets)
				fail_msg("seed %u: packets counted wrongly", (unsigned int)seed);
			rx_packets = pair_info(&pair, HEARS, 0).rx_packets;
		}
		if (!is_answered())
			fail_msg("seed %u: no answer", (unsigned int)seed);
		assert_int_equal(pair_info(&pair, HEARS, 0).rx_packets,
				 pair_info(&pair, HEARS, 0).rx_messages);
		end();
	}
}

TEST_MAIN(.begin = start_eal)
