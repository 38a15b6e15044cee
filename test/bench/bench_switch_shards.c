/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Speed of a switch on two lcores: four ports, ECN and PFC on, in memory. Half of each burst leaves
 * by the lcore's other port and half by ports of the other lcore, or nothing crosses. A frame that
 * has left comes in again where it left, with other addresses.
 *
 * Peers: one shard on one lcore with the same frames; and, as the limit of the machine, two
 * unrelated switches of two ports on the same two cores. A rate is the frames that an lcore moves
 * in the time that it ran, summed over lcores, so other load on its core is not included. The main
 * thread sleeps.
 *
 * Two things once made two speeds of one program. With equal bursts in rx() and tx() each port is
 * loaded to exactly 1: a queue that has once formed never drains, and may stand where WRED marks.
 * So tx() may return more than a burst. And frames that cross may gather at one lcore until the
 * other has too few for a burst. So the lcores share them equally before each round, and a round
 * ends for both at once. What is left is the machine's: the time that a cache line takes from one
 * core to the other depends on where a hypervisor runs them, so it is a figure of its own.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <rte_mbuf.h>
#include <rte_pause.h>

#include "base/threads/lines.h"
#include "base/numbers/units.h"
#include "bench.h"
#include "switch_set_up.h"
#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"
#include "wire/frame/frame.h"

#define PORTS 4
#define BURST 32
#define FLOWS 64
#define FRAMES 1024 /* of all lcores */
#define PAUSES 16
#define ROUNDS 11
#define ROUND_NS 25e6
#define LENGTHS 2
static const uint16_t lengths[LENGTHS] = {60, 1078}; /* without FCS */
#define TRANSFERS 20000

/* One lcore: its node, its ports, and the frames that have left by them. */
struct lcore {
	pthread_t thread;
	int core;
	struct node *node;
	uint16_t ports[PORTS], n_ports;
	uint16_t out[PORTS]; /* by whom a burst's frames leave, in turn, beside its own port */
	uint16_t n_out;
	/* A device takes frames in the order in which it got their memory. */
	struct rte_mbuf *idle[FRAMES];
	unsigned int first_idle, n_idle, next_flow;
	bool crosses;
	uint64_t now_ns;
	double rate; /* frames a second */
} __rte_aligned(LINES_APART);

struct side {
	struct node *switches[2];
	struct lcore lcores[2];
	unsigned int n_lcores;
};

static pthread_barrier_t together;
static atomic_bool over;  /* the round, for all lcores: one alone would fill its rings */
static cpu_set_t allowed; /* cores, before EAL chose one */

/* An IPv4 packet of the lossless class, ECT. */
static struct rte_mbuf *
make_frame(struct rte_mempool *pool, uint16_t length)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint16_t sum;
	uint8_t *ip;

	bench_check(m != NULL, "taking an mbuf");
	memset(rte_pktmbuf_append(m, length), 0, length);
	ip = rte_pktmbuf_mtod_offset(m, uint8_t *, ETH_HDR_BYTES);
	ip[-2] = 0x08;
	ip[0] = 0x45;
	ip[1] = 26 << 2 | ECN_ECT0;
	be16_store(ip + 2, (uint16_t)(length - ETH_HDR_BYTES));
	ip[8] = 64;
	ip[9] = 17;
	sum = ipv4_header_checksum(ip, IPV4_HDR_BYTES);
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
	return m;
}

static struct node *
create_switch(const struct sw_pools *pools, uint16_t n_ports, uint16_t shards)
{
	static struct sw_params params;
	struct node *sw;

	switch_set_up_params(&params, n_ports);
	params.shards = shards;
	sw = switch_set_up(&params, pools);
	for (unsigned int i = 0; i < FLOWS * n_ports; i++) {
		uint8_t mac[6] = {2, 0, 0, 0, (uint8_t)(i / n_ports), (uint8_t)(i % n_ports)};

		sw_learn(sw, 0, mac, (uint16_t)(i % n_ports), 0);
	}
	return sw;
}

static void
address(uint8_t *frame, unsigned int flow, uint16_t in, uint16_t out)
{
	const uint8_t macs[12] = {2, 0, 0, 0, (uint8_t)flow, (uint8_t)out,
				  2, 0, 0, 0, (uint8_t)flow, (uint8_t)in};

	memcpy(frame, macs, sizeof(macs));
}

static void
put_idle(struct lcore *l, struct rte_mbuf *m)
{
	l->idle[(l->first_idle + l->n_idle++) % FRAMES] = m;
}

static struct rte_mbuf *
take_idle(struct lcore *l)
{
	struct rte_mbuf *m = l->idle[l->first_idle];

	l->first_idle = (l->first_idle + 1) % FRAMES;
	l->n_idle--;
	return m;
}

/* Half of a burst to the lcore's next port, the others to those of out[]. */
static void
receive(struct lcore *l, unsigned int i)
{
	uint16_t in = l->ports[i], own = l->ports[(i + 1) % l->n_ports];
	struct rte_mbuf *burst[BURST];

	if (l->n_idle < BURST)
		return;
	for (unsigned int k = 0; k < BURST; k++) {
		uint16_t out = k % 2 == 0 || !l->crosses ? own : l->out[k / 2 % l->n_out];

		if (out == in)
			out = own;
		burst[k] = take_idle(l);
		address(rte_pktmbuf_mtod(burst[k], uint8_t *), l->next_flow++ % FLOWS, in, out);
	}
	l->node->ops->rx(l->node, in, burst, BURST, l->now_ns);
}

static void *
poll(void *arg)
{
	struct rte_mbuf *sent[2 * BURST];
	struct lcore *l = arg;
	double begin, spent;
	uint64_t frames = 0;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(l->core, &cpus);
	bench_check(pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus) == 0, "pinning");
	pthread_barrier_wait(&together);
	begin = bench_clock_ns();
	do {
		for (unsigned int k = 0; k < 64 * l->n_ports; k++) {
			unsigned int i = k % l->n_ports;
			uint16_t n;

			/* 32 frames of 64 bytes at 400G take 54 ns; what a burst takes is more. */
			l->now_ns += NS_PER_US;
			receive(l, i);
			n = l->node->ops->tx(l->node, l->ports[i], sent, 2 * BURST, l->now_ns);
			frames += n;
			for (unsigned int f = 0; f < n; f++) {
				put_idle(l, sent[f]);
				/* A device writes the next frame into these: not the lcore. */
				prefetch_to_write(rte_pktmbuf_mtod(sent[f], char *));
			}
			/* Frames go round: who has none waits for the other. */
			for (unsigned int f = 0; n == 0 && f < PAUSES; f++)
				rte_pause();
		}
		spent = bench_clock_ns() - begin;
	} while (spent < ROUND_NS && !atomic_load_explicit(&over, memory_order_relaxed));
	atomic_store_explicit(&over, true, memory_order_relaxed);
	l->rate = (double)frames * 1e9 / spent;
	return NULL;
}

/* In the last round one lcore may have sent more frames to the other than it got back. */
static void
share_idle(struct side *s)
{
	struct lcore *a = &s->lcores[0], *b = &s->lcores[1];

	if (s->n_lcores < 2)
		return;
	while (a->n_idle > b->n_idle + 1)
		put_idle(b, take_idle(a));
	while (b->n_idle > a->n_idle + 1)
		put_idle(a, take_idle(b));
}

/* @return M frames a second, of all lcores together. */
static double
round_of(void *arg)
{
	struct side *s = arg;
	double rate = 0;

	share_idle(s);
	atomic_store_explicit(&over, false, memory_order_relaxed);
	pthread_barrier_init(&together, NULL, s->n_lcores);
	for (unsigned int i = 0; i < s->n_lcores; i++)
		bench_check(pthread_create(&s->lcores[i].thread, NULL, poll, &s->lcores[i]) == 0,
			    "a thread");
	for (unsigned int i = 0; i < s->n_lcores; i++) {
		pthread_join(s->lcores[i].thread, NULL);
		rate += s->lcores[i].rate;
	}
	pthread_barrier_destroy(&together);
	return rate / 1e6;
}

static void
fill(struct side *s, struct rte_mempool *pool, uint16_t length)
{
	int core = 0;

	for (unsigned int i = 0; i < s->n_lcores; i++) {
		struct lcore *l = &s->lcores[i];

		while (core < CPU_SETSIZE - 1 && !CPU_ISSET(core, &allowed))
			core++;
		l->core = core++;
		while (l->n_idle < FRAMES / s->n_lcores)
			put_idle(l, make_frame(pool, length));
	}
}

/* What is in queues ends with the switch. */
static void
empty(struct side *s)
{
	for (unsigned int i = 0; i < s->n_lcores; i++) {
		while (s->lcores[i].n_idle > 0)
			rte_pktmbuf_free(take_idle(&s->lcores[i]));
	}
	for (unsigned int i = 0; i < 2; i++) {
		struct sw_ledger l;

		if (s->switches[i] == NULL)
			continue;
		l = sw_ledger(s->switches[i]);
		bench_check(l.dropped == 0 && l.copies == 0 && l.in == l.sent + l.queued,
			    "no frame lost or copied");
		sw_destroy(s->switches[i]);
	}
}

static void
give_ports(struct lcore *l, struct node *node, uint64_t ports, uint64_t out)
{
	l->node = node;
	for (; ports != 0; ports &= ports - 1)
		l->ports[l->n_ports++] = (uint16_t)__builtin_ctzll(ports);
	for (; out != 0; out &= out - 1)
		l->out[l->n_out++] = (uint16_t)__builtin_ctzll(out);
}

/* Two threads write one word in turns. */
static volatile uint32_t turn __rte_aligned(LINES_APART);

struct player {
	pthread_t thread;
	int core;
	uint32_t first; /* 0 or 1: its turns are first, first + 2 and so on */
	double ns;      /* of a turn */
};

static double
wall_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void *
take_turns(void *arg)
{
	struct player *l = arg;
	cpu_set_t cpus;
	double begin_ns;

	CPU_ZERO(&cpus);
	CPU_SET(l->core, &cpus);
	bench_check(pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus) == 0, "pinning");
	pthread_barrier_wait(&together);
	begin_ns = wall_clock_ns();
	for (uint32_t i = 0; i < TRANSFERS; i++) {
		while (turn != 2 * i + l->first)
			;
		turn = 2 * i + l->first + 1;
	}
	l->ns = (wall_clock_ns() - begin_ns) / (2.0 * TRANSFERS);
	return NULL;
}

/* Print how long a cache line takes from one core to the other. */
static void
measure_line(const struct side *two)
{
	double ns[ROUNDS];
	unsigned int n = bench_rounds(ROUNDS);

	for (unsigned int k = 0; k < n; k++) {
		struct player l[2] = {{.core = two->lcores[0].core},
				      {.core = two->lcores[1].core, .first = 1}};

		turn = 0;
		pthread_barrier_init(&together, NULL, 2);
		for (unsigned int i = 0; i < 2; i++)
			bench_check(pthread_create(&l[i].thread, NULL, take_turns, &l[i]) == 0,
				    "a thread");
		for (unsigned int i = 0; i < 2; i++)
			pthread_join(l[i].thread, NULL);
		pthread_barrier_destroy(&together);
		/* The one that waits for the first turn has measured them all. */
		ns[k] = l[1].ns;
	}
	bench_print("a cache line from one core to the other", bench_median(ns, n), "ns", NULL, 0);
}

static void
set_crosses(struct side *s, bool crosses)
{
	for (unsigned int i = 0; i < s->n_lcores; i++)
		s->lcores[i].crosses = crosses;
}

struct sides {
	struct side two, one, apart;
};

static void
create(struct sides *s, const struct sw_pools *pools, uint16_t length)
{
	s->two.n_lcores = s->apart.n_lcores = 2;
	s->one.n_lcores = 1;
	s->two.switches[0] = create_switch(pools, PORTS, 2);
	s->one.switches[0] = create_switch(pools, PORTS, 1);
	give_ports(&s->one.lcores[0], s->one.switches[0], 0xF, 0xF);
	for (uint16_t i = 0; i < 2; i++) {
		s->apart.switches[i] = create_switch(pools, 2, 1);
		give_ports(&s->apart.lcores[i], s->apart.switches[i], 0x3, 0x3);
		give_ports(&s->two.lcores[i], sw_shard(s->two.switches[0], i),
			   sw_shard_ports(s->two.switches[0], i),
			   sw_shard_ports(s->two.switches[0], 1 - i));
	}
	fill(&s->one, pools->frames, length);
	fill(&s->two, pools->frames, length);
	fill(&s->apart, pools->frames, length);
}

static void
compare(struct sides *s, unsigned int bytes, bool crosses)
{
	const char *what = crosses ? "half crossing" : "nothing crossing";
	char name[96];

	snprintf(name, sizeof(name), "switch of two shards on two cores, %u B, %s", bytes, what);
	set_crosses(&s->two, crosses);
	set_crosses(&s->one, crosses);
	bench_compare((struct bench_side){name, round_of, &s->two},
		      (struct bench_side){"one shard on one core", round_of, &s->one}, "Mpps",
		      ROUNDS);
	bench_compare((struct bench_side){name, round_of, &s->two},
		      (struct bench_side){"two switches on two cores (limit)", round_of, &s->apart},
		      "Mpps", ROUNDS);
}

int
main(void)
{
	static struct sides sides[LENGTHS];
	struct sw_pools pools;

	bench_check(sched_getaffinity(0, sizeof(allowed), &allowed) == 0, "asking for cores");
	if (CPU_COUNT(&allowed) < 2) {
		fprintf(stderr, "two shards: not measured, there is one core\n");
		return EXIT_SUCCESS;
	}
	bench_eal(160);
	pools = switch_set_up_pools(16383, RTE_PKTMBUF_HEADROOM + 1152, true);
	for (unsigned int i = 0; i < LENGTHS; i++) {
		create(&sides[i], &pools, lengths[i]);
		if (i == 0)
			measure_line(&sides[i].two);
		/* First, while the frames of an lcore lie together, as for unrelated switches. */
		compare(&sides[i], lengths[i] + 4, false);
		compare(&sides[i], lengths[i] + 4, true);
		empty(&sides[i].two);
		empty(&sides[i].one);
		empty(&sides[i].apart);
	}
	return EXIT_SUCCESS;
}
