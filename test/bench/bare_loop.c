/* SPDX-License-Identifier: BSD-3-Clause */
#include "bare_loop.h"

#include "bench.h"
#include "fabric/net/net.h"
#include "node/node.h"

#define STEPS 8 /* of a window: 2 us, in which a node has its code and data to itself */
#define MAX_HOSTS 8
#define BURST 8

/* Frames of one port of the switch and one direction, by the step at which they were given. */
struct outbox {
	struct rte_mbuf *pkts[STEPS][BURST];
	uint16_t n[STEPS];
};

struct star {
	struct node *sw, *hosts[MAX_HOSTS];
	unsigned int n;
	/* [window modulo 2][port] */
	struct outbox to_switch[2][MAX_HOSTS], to_host[2][MAX_HOSTS];
	uint64_t hops;
};

static void
give(struct star *s, struct node *node, uint16_t port, const struct outbox *in, unsigned int step,
     uint64_t now_ns)
{
	struct rte_mbuf *pkts[BURST];

	if (in->n[step] == 0)
		return;
	s->hops += in->n[step];
	memcpy(pkts, in->pkts[step], sizeof(pkts));
	node->ops->rx(node, port, pkts, in->n[step], now_ns);
}

static void
take(struct node *node, uint16_t port, struct outbox *out, unsigned int step, uint64_t now_ns)
{
	out->n[step] = node->ops->tx(node, port, out->pkts[step], BURST, now_ns);
}

static void
run_switch(struct star *s, unsigned int turn, uint64_t from_ns, uint64_t step_ns)
{
	const uint16_t last = (uint16_t)(s->n - 1);

	for (unsigned int step = 0; step < STEPS; step++) {
		uint64_t now_ns = from_ns + step * step_ns;

		for (uint16_t port = 0; port < s->n; port++)
			give(s, s->sw, port, &s->to_switch[turn][port], step, now_ns);
		/* The congested port always, the others when something came for them. */
		for (uint16_t port = 0; port < s->n; port++) {
			struct outbox *out = &s->to_host[1 - turn][port];

			out->n[step] = 0;
			if (port == last || s->sw->wake[0] >> port & 1)
				take(s->sw, port, out, step, now_ns);
		}
		s->sw->wake[0] = 0;
	}
}

static void
run_host(struct star *s, unsigned int h, unsigned int turn, uint64_t from_ns, uint64_t step_ns)
{
	struct node *host = s->hosts[h];
	struct outbox *out = &s->to_switch[1 - turn][h];

	for (unsigned int step = 0; step < STEPS; step++) {
		uint64_t now_ns = from_ns + step * step_ns;

		give(s, host, 0, &s->to_host[turn][h], step, now_ns);
		out->n[step] = 0;
		if (h == s->n - 1 || step % (s->n - 1) == h % (s->n - 1))
			take(host, 0, out, step, now_ns);
		host->wake[0] = 0;
	}
}

uint64_t
bare_loop(struct net *net, unsigned int hosts, uint64_t step_ns, uint64_t until_ns)
{
	static struct star s;
	unsigned int turn = 0;

	bench_check(hosts <= MAX_HOSTS, "a star of so many hosts");
	memset(&s, 0, sizeof(s));
	s.n = hosts;
	s.sw = (struct node *)(uintptr_t)net_switch(net, 0);
	for (unsigned int h = 0; h < hosts; h++)
		s.hosts[h] = (struct node *)(uintptr_t)net_host(net, (uint16_t)(h + 1));
	for (uint64_t now_ns = 0; now_ns < until_ns; now_ns += STEPS * step_ns, turn = 1 - turn) {
		run_switch(&s, turn, now_ns, step_ns);
		for (unsigned int h = 0; h < hosts; h++)
			run_host(&s, h, turn, now_ns, step_ns);
	}
	/* What is on the way goes where it would: all mbufs are the pools' at the end. */
	for (unsigned int step = 0; step < STEPS; step++)
		for (uint16_t port = 0; port < hosts; port++) {
			give(&s, s.sw, port, &s.to_switch[turn][port], step, until_ns);
			give(&s, s.hosts[port], 0, &s.to_host[turn][port], step, until_ns);
		}
	return s.hops;
}
