/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast the lab is: the 4:1 incast of config/ at 40 Gb/s, an ACK for every frame, ICRC checked,
 * and 256 hosts behind 20 switches. Beside them, as limits, the same event loop on the same star
 * with nodes that only pass frames on, at the shares that the flows settle at, and the same NICs
 * and switch without the event loop.
 *
 * Then how evenly the work divides among more cores than this machine may have. These are counts:
 * the calls into all nodes, as a multiple of those by the busiest part of each window.
 */
#include <stdlib.h>
#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "bare_loop.h"
#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "bench.h"
#include "fabric/results/probe.h"
#include "quench-lab/scenario/event_set.h"
#include "node/pkt_fifo.h"
#include "node/pkt_pool.h"

#define SENDERS 4
#define DATA_BYTES 1082 /* MTU 1024, RC WRITE Middle, without FCS */
#define ACK_BYTES 62
#define ROUNDS 5

static struct rte_mempool *pool;
static uint64_t simulated_ns = 100 * NS_PER_MS;

/* A port that sends what lies in its FIFO, one frame each gap. */
struct pipe {
	struct pkt_fifo fifo;
	uint64_t next_ns;
};

struct relay {
	struct node node;
	struct pipe ports[SENDERS + 1];
	uint16_t make_bytes; /* host: length of frames that it makes by itself; 0: it answers */
	uint64_t gap_ns;
	bool is_switch;
};

static struct rte_mbuf *
make_frame(uint16_t bytes)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	bench_check(m != NULL, "taking an mbuf");
	m->data_len = bytes;
	m->pkt_len = bytes;
	return m;
}

static void
queue_frame(struct relay *r, uint16_t port, struct rte_mbuf *m)
{
	pkt_fifo_push(&r->ports[port].fifo, m);
	node_wake(&r->node, port);
}

static void
relay_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct relay *r = (struct relay *)node;
	static uint16_t turn;

	(void)now_ns;
	for (uint16_t i = 0; i < n; i++) {
		if (r->is_switch) {
			/* Data goes to the last port, answers go round the senders. */
			queue_frame(r, port < SENDERS ? SENDERS : turn++ % SENDERS, pkts[i]);
			continue;
		}
		rte_pktmbuf_free(pkts[i]);
		if (r->make_bytes == 0)
			queue_frame(r, 0, make_frame(ACK_BYTES));
	}
}

static uint16_t
relay_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
	 uint64_t now_ns)
{
	struct relay *r = (struct relay *)node;
	struct pipe *p = &r->ports[port];

	(void)max_pkts;
	if (now_ns < p->next_ns)
		return 0;
	if (r->make_bytes > 0)
		pkts[0] = make_frame(r->make_bytes);
	else
		pkts[0] = pkt_fifo_pop(&p->fifo);
	if (pkts[0] == NULL)
		return 0;
	p->next_ns =
		now_ns +
		(r->gap_ns ? r->gap_ns : serialization_ns(wire_bytes(pkts[0]->pkt_len), 40 * GBPS));
	return 1;
}

static uint64_t
relay_next_ns(const struct node *node, uint16_t port)
{
	const struct relay *r = (const struct relay *)node;

	return r->make_bytes > 0 || r->ports[port].fifo.head ? r->ports[port].next_ns : NEVER_NS;
}

static uint64_t
relay_control(struct node *node, uint64_t now_ns)
{
	(void)node;
	(void)now_ns;
	return NEVER_NS;
}

/* ns of each packet-hop, from start_ns to now */
static double
ns_per_hop(uint64_t hops, double start_ns)
{
	return (bench_clock_ns() - start_ns) / (double)hops;
}

static double
event_loop_alone(void)
{
	static const struct node_ops ops = {
		.rx = relay_rx,
		.tx = relay_tx,
		.next_ns = relay_next_ns,
		.control = relay_control,
	};
	static const struct fabric_cable link = {.rate_bps = 40 * GBPS, .delay_ns = NS_PER_US};
	struct relay sw = {.node.ops = &ops, .is_switch = true};
	struct relay hosts[SENDERS + 1] = {0};
	struct fabric *f = fabric_create(SENDERS + 2, SENDERS + 1, 1, 1);
	double start_ns, ns;

	fabric_add_node(f, &sw.node);
	for (uint16_t h = 0; h <= SENDERS; h++) {
		hosts[h].node.ops = &ops;
		hosts[h].make_bytes = h < SENDERS ? DATA_BYTES : 0;
		/* A quarter of the receiver's link each, not all at one instant. */
		hosts[h].gap_ns = h < SENDERS ? 886 : 0;
		hosts[h].ports[0].next_ns = 200u * h;
		fabric_add_node(f, &hosts[h].node);
		fabric_connect(f, (struct fabric_end){0, h}, (struct fabric_end){h + 1u, 0}, &link);
	}
	start_ns = bench_clock_ns();
	fabric_run(f, simulated_ns);
	ns = ns_per_hop(fabric_stats(f).packet_hops, start_ns);
	fabric_destroy(f);
	for (uint16_t p = 0; p <= SENDERS; p++)
		for (struct rte_mbuf *m; (m = pkt_fifo_pop(&sw.ports[p].fifo)) != NULL;)
			rte_pktmbuf_free(m);
	return ns;
}

static struct net *
create_net(const struct scenario *s, uint32_t threads)
{
	char why[256] = "";
	struct net *net = net_create(s, threads, NULL, why, sizeof(why));

	bench_check(net != NULL, why);
	fabric_share_by(net_fabric(net), rte_rdtsc);
	return net;
}

/* @param seconds  Out, if wanted: of building it, too. */
static double
whole_fabric(const struct scenario *s, double *seconds)
{
	double build_ns = bench_clock_ns(), start_ns, ns;
	struct net *net = create_net(s, 1);
	struct probe *probe = probe_create(net);

	bench_check(probe != NULL, "memory for the probe");
	start_ns = bench_clock_ns();
	bench_check(probe_run(probe, NULL, NULL, NULL, NULL), "the run");
	ns = ns_per_hop(fabric_stats(net_fabric(net)).packet_hops, start_ns);
	if (seconds != NULL)
		*seconds = (bench_clock_ns() - build_ns) / 1e9;
	probe_destroy(probe);
	net_destroy(net);
	return ns;
}

static double
pipelines_alone(const struct scenario *s)
{
	struct net *net = create_net(s, 1);
	double start_ns = bench_clock_ns();
	uint64_t step_ns = serialization_ns(wire_bytes(DATA_BYTES), 40 * GBPS);
	double ns = ns_per_hop(bare_loop(net, SENDERS + 1, step_ns, simulated_ns), start_ns);

	net_destroy(net);
	return ns;
}

static struct scenario
read_scenario(const char *file, uint64_t duration_ns)
{
	const struct scenario_override override = {.duration_ns = duration_ns};
	struct config_error err;
	struct config *cfg = config_open(file, &err);
	struct scenario s = {0};

	bench_check(cfg != NULL && scenario_read(cfg, &override, &s, &err) == 0, err.text);
	config_close(cfg);
	return s;
}

/* Times by which N cores that never wait for each other's caches would be faster than one. */
static void
print_shares(const char *what, const struct scenario *s)
{
	static const uint32_t parts[] = {2, 4, 8, 16};

	for (unsigned int i = 0; i < ARRAY_LEN(parts); i++) {
		struct net *net = create_net(s, parts[i]);
		struct probe *probe = probe_create(net);
		struct fabric_stats stats;
		char name[64];

		bench_check(probe != NULL, "memory for the probe");
		bench_check(probe_run(probe, NULL, NULL, NULL, NULL), "the run");
		stats = fabric_stats(net_fabric(net));
		snprintf(name, sizeof(name), "%s, work of the busiest of %u parts", what, parts[i]);
		bench_print(name, (double)stats.critical_calls / (double)stats.windows,
			    "calls/window", "all parts",
			    (double)stats.calls / (double)stats.windows);
		probe_destroy(probe);
		net_destroy(net);
	}
}

int
main(void)
{
	double lab[ROUNDS], loop[ROUNDS], bare[ROUNDS], large[ROUNDS], seconds[ROUNDS];
	unsigned int rounds = bench_rounds(ROUNDS);
	struct scenario incast, fabric, large_fabric;
	double ns;

	if (bench_is_smoke())
		simulated_ns = NS_PER_MS;
	incast = read_scenario(QUENCH_CONFIG_DIR "/incast-4to1.ini", simulated_ns);
	/* Else as long as it says. */
	fabric = read_scenario(QUENCH_CONFIG_DIR "/leaf-spine-256.ini",
			       bench_is_smoke() ? 10 * NS_PER_US : 0);
	large_fabric = read_scenario(QUENCH_CONFIG_DIR "/fat-tree-1024.ini",
				     (bench_is_smoke() ? 10 : 200) * NS_PER_US);
	/*
	 * As quench-lab: never on reserved hugepages. The packets of 320 switches may need more of
	 * them than there are.
	 */
	setenv("QUENCH_BENCH_EAL", "--no-huge", 1);
	bench_eal(256);
	pool = pkt_pool_create(&(struct pkt_pool_params){.name = "relay",
							 .n_mbufs = 1 << 15,
							 .largest_frame = 1518,
							 .socket = SOCKET_ID_ANY});
	bench_check(pool != NULL, "a pool");
	whole_fabric(&incast, NULL);
	for (unsigned int i = 0; i < rounds; i++) {
		lab[i] = whole_fabric(&incast, NULL);
		loop[i] = event_loop_alone();
		bare[i] = pipelines_alone(&incast);
		large[i] = whole_fabric(&fabric, &seconds[i]);
	}
	ns = bench_median(lab, rounds);
	bench_print("lab, 4:1 at 40G, ICRC checked", 1e3 / ns, "M hops/s", NULL, 0);
	bench_print("its event loop and cables alone", bench_median(loop, rounds), "ns/hop",
		    "whole hop", ns);
	bench_print_pairs("cost of a hop at 4:1", lab, "ns/hop", "NICs and switch alone", bare,
			  rounds);
	bench_print_pairs("cost of a hop with 256 hosts", large, "ns/hop", "at 4:1", lab, rounds);
	bench_print("256 hosts, 20 switches, 2 MB each", bench_median(seconds, rounds), "s", NULL,
		    0);
	print_shares("256 hosts", &fabric);
	print_shares("1,024 hosts", &large_fabric);
	scenario_free(&large_fabric);
	scenario_free(&fabric);
	scenario_free(&incast);
	pkt_pool_destroy(pool);
	return EXIT_SUCCESS;
}
