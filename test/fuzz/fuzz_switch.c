/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as a frame that a router's ports get: first byte the port, second what of the frame is
 * made to fit (destination, addresses, ICMPv6 checksum), the rest the frame. No input may lose a
 * byte of the ledger or an mbuf, and no routed frame leaves with a wrong checksum or with no hops.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/router.h"
#include "tm/buffer/mmu.h"
#include "wire/neighbour/icmp.h"

#define FRAMES 256
#define LONGEST 512

enum { TO_ROUTER = 1, TO_BROADCAST = 2, TO_OWN_IP = 4, TO_ROUTE = 8, MEND_ICMP6 = 16 };

static struct rte_mempool *frames, *clones;
static struct node *sw;
static uint64_t now_ns;

static void
set_params(struct sw_params *p)
{
	set_router(p);
	p->tables = (struct sw_tables){.interfaces = interfaces,
				       .routes = routes,
				       .neighbors = neighbors,
				       .n_interfaces = 2,
				       .n_routes = 2,
				       .n_neighbors = 2};
	p->int_telemetry = true;
	sw_params_resolve(p);
}

/* Its memory is in pages that LeakSanitizer does not look through. */
static void
stop(void)
{
	sw_destroy(sw);
}

static void
start(void)
{
	static struct sw_params params;
	struct sw_pools pools;
	char why[256] = "";

	fuzz_start_eal();
	frames = create_pool("frames", FRAMES, 1024);
	clones = create_pool("clones", FRAMES, 0);
	pools = (struct sw_pools){.frames = frames, .clones = clones};
	set_params(&params);
	if (sw_params_check(&params, why, sizeof(why)) != 0)
		fprintf(stderr, "%s\n", why);
	sw = sw_create(&params, &pools);
	FUZZ_CHECK(sw != NULL);
	atexit(stop);
}

/* Random bytes hardly ever hit an address of ours. */
static void
make_fit(uint8_t *frame, size_t len, uint8_t what)
{
	size_t l3 = fuzz_l3_off(frame, len);
	struct frame_view v;

	if (len < 14)
		return;
	if (what & TO_ROUTER)
		memcpy(frame, router_mac, 6);
	if (what & TO_BROADCAST)
		memset(frame, 0xFF, 6);
	frame[6] &= 0xFE;
	/* By its source a routed frame is known below. */
	if (memcmp(frame + 6, router_mac, 6) == 0)
		frame[6] ^= 0x10;
	if (what & TO_OWN_IP && len >= l3 + 20)
		memcpy(frame + l3 + 16, ((const uint8_t[4]){10, 0, 10, 1}), 4);
	if (what & TO_ROUTE && len >= l3 + 20)
		memcpy(frame + l3 + 16, ((const uint8_t[4]){11, 0, 10, 1}), 4);
	fuzz_mend_ipv4_checksum(frame, len);
	if (what & MEND_ICMP6 && frame_parse(frame, len, &v) == FRAME_OK && v.ip_version == 6 &&
	    v.ip_proto == IP_PROTO_ICMPV6 && v.ip_end >= v.l4_off + 4) {
		be16_store(frame + v.l4_off + 2, 0);
		be16_store(frame + v.l4_off + 2, icmp6_checksum(frame + v.l3_off, frame + v.l4_off,
								(size_t)(v.ip_end - v.l4_off)));
	}
}

static void
check_sent(const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	struct frame_view v = check_frame(m);

	if (memcmp(frame + 6, router_mac, 6) == 0 && v.ip_version != 0)
		FUZZ_CHECK(v.ttl > 0);
}

static void
drain(void)
{
	for (bool some = true; some;) {
		some = false;
		now_ns += 10 * NS_PER_US;
		for (uint16_t port = 0; port < PORTS; port++) {
			struct rte_mbuf *m;

			while (sw->ops->tx(sw, port, &m, 1, now_ns) == 1) {
				check_sent(m);
				rte_pktmbuf_free(m);
				some = true;
			}
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct sw_ledger l;
	struct rte_mbuf *m;
	uint8_t *frame;

	if (sw == NULL)
		start();
	if (len < 2 + 14 || len > LONGEST)
		return 0;
	m = rte_pktmbuf_alloc(frames);
	FUZZ_CHECK(m != NULL);
	frame = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(len - 2));
	memcpy(frame, data + 2, len - 2);
	make_fit(frame, len - 2, data[1]);
	now_ns += NS_PER_MS;
	/* A pause would hold back what is to be looked at. */
	if (be16_load(frame + 12) == ETHERTYPE_MAC_CONTROL)
		frame[12] ^= 0xFF;
	sw->ops->rx(sw, data[0] % PORTS, &m, 1, now_ns);
	drain();
	l = sw_ledger(sw);
	FUZZ_CHECK(l.queued == 0);
	FUZZ_CHECK(l.in + l.copies + l.generated == l.sent + l.dropped + l.consumed);
	FUZZ_CHECK(mmu_balanced(sw_mmu(sw)) && mmu_used_bytes(sw_mmu(sw)) == 0);
	FUZZ_CHECK(rte_mempool_avail_count(frames) == FRAMES);
	FUZZ_CHECK(rte_mempool_avail_count(clones) == FRAMES);
	return 0;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max_pkts, unsigned int seed)
{
	(void)seed;
	return LLVMFuzzerMutate(data, len, max_pkts);
}
