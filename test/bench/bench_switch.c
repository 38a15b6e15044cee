/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a packet costs the switch node, from rx() to tx(): parse, learn, forward, both admissions,
 * enqueue, scheduler, shaper, WRED, release. Four ports, 64 flows all to all, ECN and PFC on;
 * frames come back in after they went out, so nothing of a device is in the figure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rte_eal.h>
#include <rte_mbuf.h>

#include "base/units.h"
#include "node/pkt_pool.h"
#include "switch/sw.h"
#include "wire/roce.h"

#define PORTS 4
#define FLOWS 64
#define FRAMES 512 /* in flight over and over: more than the first-level cache holds */
#define ROUNDS 9
#define MAX_BURST 32
#define ROUND_NS 20e6
#define SMALLEST 60      /* without FCS */
#define DATA_OVERHEAD 58 /* Ethernet, IPv4, UDP, BTH, ICRC */

struct bench {
	struct node *sw;
	struct rte_mbuf *pkts[FRAMES];
	uint16_t in_port[FRAMES], out_port[FRAMES];
	uint64_t now_ns;
};

static double
clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
fail(const char *what)
{
	fprintf(stderr, "bench_switch: %s\n", what);
	exit(EXIT_FAILURE);
}

static void
set_defaults(struct sw_params *p)
{
	memset(p, 0, sizeof(*p));
	field_defaults(sw_fields, sw_fields_n, p);
	field_defaults(qos_map_fields, qos_map_fields_n, &p->qos);
	field_defaults(wred_fields, wred_fields_n, &p->wred);
	field_defaults(sched_fields, sched_fields_n, &p->sched);
	field_defaults(pfc_fields, pfc_fields_n, &p->pfc);
	field_defaults(mmu_fields, mmu_fields_n, &p->mmu);
	field_defaults(buffer_profile_fields, buffer_profile_fields_n, &p->mmu.lossless);
	field_defaults(buffer_profile_lossy_fields, buffer_profile_lossy_fields_n, &p->mmu.lossy);
	field_defaults(buffer_profile_egress_lossless_fields,
		       buffer_profile_egress_lossless_fields_n, &p->mmu.egress_lossless);
	field_defaults(buffer_profile_egress_lossy_fields, buffer_profile_egress_lossy_fields_n,
		       &p->mmu.egress_lossy);
	p->n_ports = PORTS;
	for (uint16_t i = 0; i < PORTS; i++)
		p->ports[i] = (struct sw_port_params){.mac = {2, 0, 0, 1, 0, (uint8_t)i},
						      .link_speed_bps = 400 * GBPS};
	sw_params_resolve(p);
}

/* The shortest RoCE frame has 62 bytes: to have one of 60, its IP packet ends earlier. */
static void
cut_packet(uint8_t *frame, uint16_t len)
{
	uint8_t *ip = frame + ETH_HDR_BYTES;
	uint16_t sum;

	ip[3] = (uint8_t)(len - ETH_HDR_BYTES);
	ip[10] = ip[11] = 0;
	sum = ipv4_header_checksum(ip, IPV4_HDR_BYTES);
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

/* Frame i belongs to flow i % FLOWS; a burst of neighbours enters by one port and leaves by one
 * port. */
static struct rte_mbuf *
make_frame(struct rte_mempool *pool, unsigned int flow, uint16_t len, uint16_t in, uint16_t out)
{
	static const uint8_t payload[2048];
	struct roce_path path = {
		.src_mac = {2, 0, 0, 0, (uint8_t)flow, (uint8_t)in},
		.dst_mac = {2, 0, 0, 0, (uint8_t)flow, (uint8_t)out},
		.src_ip = {10, 0, (uint8_t)flow, (uint8_t)in},
		.dst_ip = {10, 0, (uint8_t)flow, (uint8_t)out},
		.ip_version = 4,
		.dscp = 26,
		.ecn = ECN_ECT0,
		.ttl = 64,
		.udp_sport = 50000,
		.dest_qp = 2,
		.pkey = PKEY_DEFAULT,
	};
	struct roce_fields fields = {.opcode = RC_WRITE_MIDDLE};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *frame;
	size_t room;

	if (m == NULL)
		fail("no mbuf");
	if (len == SMALLEST)
		fields.opcode = RC_ACK;
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	room = rte_pktmbuf_tailroom(m);
	if (roce_build(frame, room, &path, &fields, payload,
		       len == SMALLEST ? 0 : (uint16_t)(len - DATA_OVERHEAD)) == 0)
		fail("no frame");
	if (len == SMALLEST)
		cut_packet(frame, SMALLEST);
	rte_pktmbuf_append(m, len);
	return m;
}

static void
start(struct bench *b, const struct sw_pools *pools, uint16_t len)
{
	static struct sw_params params;
	char why[256];

	set_defaults(&params);
	if (sw_params_check(&params, why, sizeof(why)) < 0)
		fail(why);
	b->sw = sw_create(&params, pools);
	if (b->sw == NULL)
		fail("no switch");
	b->now_ns = 0;
	for (unsigned int i = 0; i < FRAMES; i++) {
		unsigned int group = i / MAX_BURST;
		uint8_t mac[6] = {2, 0, 0, 0, (uint8_t)(i % FLOWS)};

		b->in_port[i] = (uint16_t)(group % PORTS);
		b->out_port[i] = (uint16_t)((group + 1 + group / PORTS % (PORTS - 1)) % PORTS);
		b->pkts[i] =
			make_frame(pools->frames, i % FLOWS, len, b->in_port[i], b->out_port[i]);
		mac[5] = (uint8_t)b->out_port[i];
		sw_learn(b->sw, 0, mac, b->out_port[i], 0);
	}
}

static void
stop(struct bench *b)
{
	struct sw_ledger l = sw_ledger(b->sw);

	if (l.dropped != 0 || l.in != l.sent || l.queued != 0)
		fail("frames were lost or copied");
	sw_destroy(b->sw);
	rte_pktmbuf_free_bulk(b->pkts, FRAMES);
}

/* All frames once through the switch. */
static void
pass(struct bench *b, uint16_t burst)
{
	for (unsigned int i = 0; i < FRAMES; i += burst) {
		uint16_t n;

		/* 32 frames of 1082 bytes at 400G take 0.7 us; a burst of catch-up is 4 us. */
		b->now_ns += NS_PER_US;
		b->sw->ops->rx(b->sw, b->in_port[i], &b->pkts[i], burst, b->now_ns);
		n = b->sw->ops->tx(b->sw, b->out_port[i], &b->pkts[i], burst, b->now_ns);
		if (n != burst)
			fail("a burst did not leave");
	}
}

static double
measure(struct bench *b, uint16_t burst)
{
	double ns[ROUNDS];

	for (unsigned int r = 0; r < ROUNDS; r++) {
		double begin = clock_ns(), spent;
		unsigned int passes = 0;

		do {
			pass(b, burst);
			passes++;
			spent = clock_ns() - begin;
		} while (spent < ROUND_NS);
		ns[r] = spent / passes / FRAMES;
	}
	qsort(ns, ROUNDS, sizeof(*ns), compare);
	return ns[ROUNDS / 2];
}

static int
eal_start(void)
{
	const char *memory = getenv("QUENCH_BENCH_EAL");
	static char words[][20] = {
		"bench_switch", "--no-shconf", "--no-pci",          "--no-telemetry", "-l", "0",
		"-m",           "64",          "--log-level=error", "--no-huge"};
	char *argv[sizeof(words) / sizeof(words[0]) + 1] = {0};
	int argc = sizeof(words) / sizeof(words[0]);

	for (int i = 0; i < argc; i++)
		argv[i] = words[i];
	if (memory != NULL && memory[0] == '\0') /* scripts/bench has hugepages */
		argc--;
	return rte_eal_init(argc, argv);
}

int
main(void)
{
	static const uint16_t bursts[] = {1, MAX_BURST};
	static const uint16_t lengths[] = {SMALLEST, 1024 + DATA_OVERHEAD};
	struct sw_pools pools;
	static struct bench b;

	if (eal_start() < 0)
		return EXIT_FAILURE;
	pools.frames = pkt_pool_create(&(struct pkt_pool_params){
		.name = "frames", .n_mbufs = 2048, .largest_frame = 2048, .socket = SOCKET_ID_ANY});
	pools.clones = pkt_pool_create(&(struct pkt_pool_params){
		.name = "clones", .n_mbufs = 256, .socket = SOCKET_ID_ANY});
	if (pools.frames == NULL || pools.clones == NULL)
		fail("no pool");
	for (unsigned int l = 0; l < 2; l++) {
		for (unsigned int i = 0; i < 2; i++) {
			start(&b, &pools, lengths[l]);
			printf("{\"name\": \"switch rx to tx, %u B frames, bursts of %u\", "
			       "\"value\": "
			       "%.1f, \"unit\": \"ns/packet\", \"peer\": null, \"peer_value\": "
			       "null, "
			       "\"ratio\": null}\n",
			       b.pkts[0]->pkt_len + FCS_BYTES, bursts[i], measure(&b, bursts[i]));
			fflush(stdout);
			stop(&b);
		}
	}
	return EXIT_SUCCESS;
}
