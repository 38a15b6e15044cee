/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A NIC on two lcores beside the same NIC on one: the same QPs and link (nic_load.h), but each node
 * has half of the QPs and of the load, and its own transmit queue. A rate is the frames that an
 * lcore sends in the CPU time of its polls, summed over lcores, so other load on its core is not
 * included.
 *
 * The nodes' clocks are virtual. A node waits, unmeasured, while it is more than AHEAD_NS ahead of
 * the other. The link's burst is longer, so the wire never keeps the late one back.
 */
#include <pthread.h>
#include <sched.h>

#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_pause.h>

#include "base/threads/lines.h"
#include "bench.h"
#include "nic/port/share.h"
#include "nic_load.h"

#define LCORES 2
#define ROUNDS 11
#define ROUND_NS (100 * NS_PER_MS)
#define AHEAD_NS (50 * NS_PER_US)
#define LINK_BURST_NS (200 * NS_PER_US)
#define FIRST_QPN 17
/* net_null counts the frames of a queue in 40 bytes: queues this far apart share no cache lines. */
#define QUEUES_APART 4

struct sender {
	pthread_t thread;
	int core;
	struct node *node;
	const struct sender *other; /* NULL: it is alone */
	uint16_t queue;
	uint64_t now_ns; /* read by the other */
	double rate;     /* frames a second */
} __rte_aligned(LINES_APART);

struct side {
	struct sender senders[LCORES];
	struct nic_share *share;
	uint32_t n;
};

static pthread_barrier_t together;
static bool over; /* one sender has ended its round: so do the others */
static int cores[LCORES];

static void
wait_for_other(const struct sender *s)
{
	while (s->other != NULL && !__atomic_load_n(&over, __ATOMIC_RELAXED) &&
	       s->now_ns > __atomic_load_n(&s->other->now_ns, __ATOMIC_RELAXED) + AHEAD_NS)
		rte_pause();
}

static void *
poll(void *arg)
{
	struct sender *s = arg;
	double spent_ns = 0;
	uint64_t sent = 0, now_ns = s->now_ns;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(s->core, &cpus);
	bench_check(pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus) == 0, "pinning");
	/* Only an lcore has a cache of a pool. */
	bench_check(rte_thread_register() == 0, "rte_thread_register");
	pthread_barrier_wait(&together);
	do {
		double begin_ns = bench_clock_ns();

		sent += nic_load_polls(s->node, s->queue, s->other != NULL ? LCORES : 1, &now_ns);
		spent_ns += bench_clock_ns() - begin_ns;
		__atomic_store_n(&s->now_ns, now_ns, __ATOMIC_RELAXED);
		wait_for_other(s);
	} while (spent_ns < ROUND_NS && !__atomic_load_n(&over, __ATOMIC_RELAXED));
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	s->rate = (double)sent * 1e9 / spent_ns;
	rte_thread_unregister();
	return NULL;
}

/* @return M frames a second, of all lcores together. */
static double
round_of(void *arg)
{
	struct side *side = arg;
	double rate = 0;

	over = false;
	pthread_barrier_init(&together, NULL, side->n);
	for (uint32_t i = 0; i < side->n; i++)
		bench_check(pthread_create(&side->senders[i].thread, NULL, poll,
					   &side->senders[i]) == 0,
			    "a thread");
	for (uint32_t i = 0; i < side->n; i++) {
		pthread_join(side->senders[i].thread, NULL);
		rate += side->senders[i].rate;
	}
	pthread_barrier_destroy(&together);
	return rate / 1e6;
}

static void
create(struct side *side, const struct nic_pools *pools, uint32_t qps, uint32_t n)
{
	struct nic_params params;

	*side = (struct side){.n = n};
	nic_load_params(&params, qps);
	params.shaper_burst_ns = LINK_BURST_NS;
	if (n > 1) {
		side->share = nic_share_create(&(struct nic_share_params){
			.n_nodes = n,
			.first_qpn = FIRST_QPN,
			.link_speed_bps = NIC_LOAD_LINK_BPS,
			.shaper_burst_ns = LINK_BURST_NS,
			.rx_mbufs = 64,
			.socket = SOCKET_ID_ANY,
		});
		bench_check(side->share != NULL, "nic_share_create");
	}
	for (uint32_t i = 0; i < n; i++) {
		struct sender *s = &side->senders[i];

		params.max_qps = nic_share_qps(side->share, qps, i);
		s->node = nic_create(&params, pools);
		bench_check(s->node != NULL, "nic_create");
		if (side->share != NULL)
			nic_join(s->node, side->share, i);
		nic_load_add_qps(s->node, qps, i, n, nic_load_rate_bps(qps));
		s->core = cores[i];
		s->queue = (uint16_t)(i * QUEUES_APART);
		s->other = n > 1 ? &side->senders[1 - i] : NULL;
	}
}

static void
destroy(struct side *side)
{
	for (uint32_t i = 0; i < side->n; i++)
		nic_destroy(side->senders[i].node);
	nic_share_destroy(side->share);
}

static void
compare(const struct nic_pools *pools, uint32_t qps)
{
	static struct side two, one;
	char name[64];

	create(&two, pools, qps, LCORES);
	create(&one, pools, qps, 1);
	snprintf(name, sizeof(name), "nic to net_null, two polling lcores, %u QPs", qps);
	bench_compare((struct bench_side){name, round_of, &two},
		      (struct bench_side){"one polling lcore", round_of, &one}, "Mpps", ROUNDS);
	destroy(&two);
	destroy(&one);
}

/* The first cores that we may use. @return false: there are fewer. */
static bool
choose_cores(void)
{
	cpu_set_t allowed;
	int found = 0;

	bench_check(sched_getaffinity(0, sizeof(allowed), &allowed) == 0, "asking for cores");
	for (int core = 0; core < CPU_SETSIZE && found < LCORES; core++)
		if (CPU_ISSET(core, &allowed))
			cores[found++] = core;
	return found == LCORES;
}

int
main(void)
{
	struct nic_pools pools = {0};

	if (!choose_cores()) {
		fprintf(stderr, "two lcores: not measured, there is one core\n");
		return EXIT_SUCCESS;
	}
	bench_eal_with(256, NIC_LOAD_DEVICE);
	nic_load_start_port(LCORES * QUEUES_APART);
	nic_set_up_pools(&pools, 8192, NIC_LOAD_MTU, 512);
	compare(&pools, 1000);
	compare(&pools, 64 * 1024);
	nic_set_up_pools_free(&pools);
	return EXIT_SUCCESS;
}
