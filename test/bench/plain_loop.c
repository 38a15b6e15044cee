/* SPDX-License-Identifier: BSD-3-Clause */
/* For net_crc.h. */
#ifndef ALLOW_EXPERIMENTAL_API
#define ALLOW_EXPERIMENTAL_API
#endif
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "bench.h"
#include "net_crc.h"
#include "plain_loop.h"

struct headers {
	struct rte_ether_hdr eth;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
} __attribute__((packed, aligned(2)));

#define ROCE_UDP_PORT 4791

static void
write_headers(struct headers *h, uint32_t turn, uint16_t frame_bytes)
{
	static const struct rte_ether_addr dst = {{2, 0, 0, 0, 0, 2}}, src = {{2, 0, 0, 0, 0, 1}};
	uint16_t ip_bytes = (uint16_t)(frame_bytes - sizeof(h->eth));

	h->eth = (struct rte_ether_hdr){dst, src, RTE_BE16(RTE_ETHER_TYPE_IPV4)};
	h->ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(ip_bytes),
		.time_to_live = 64,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = RTE_BE32(RTE_IPV4(10, 0, 0, 1)),
		.dst_addr = rte_cpu_to_be_32(RTE_IPV4(10, 0, 0, 0) + turn % 1024),
	};
	h->ip.hdr_checksum = rte_ipv4_cksum(&h->ip);
	h->udp = (struct rte_udp_hdr){
		.src_port = RTE_BE16(49730),
		.dst_port = RTE_BE16(ROCE_UDP_PORT),
		.dgram_len = rte_cpu_to_be_16((uint16_t)(ip_bytes - sizeof(h->ip))),
	};
}

void
plain_generate(struct rte_mempool *pool, struct rte_mbuf **pkts, unsigned int n,
	       uint16_t frame_bytes)
{
	static uint32_t turn;

	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		bench_check(m != NULL, "taking an mbuf");
		m->data_len = frame_bytes;
		m->pkt_len = frame_bytes;
		m->l2_len = sizeof(struct rte_ether_hdr);
		m->l3_len = sizeof(struct rte_ipv4_hdr);
		write_headers(rte_pktmbuf_mtod(m, struct headers *), turn++, frame_bytes);
		pkts[i] = m;
	}
}

uint32_t
plain_receive(struct rte_mbuf **pkts, unsigned int n, bool crc)
{
	uint32_t seen = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct headers *h = rte_pktmbuf_mtod(pkts[i], const struct headers *);

		seen += h->eth.ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4) &&
			h->ip.next_proto_id == IPPROTO_UDP &&
			h->udp.dst_port == RTE_BE16(ROCE_UDP_PORT);
		if (crc)
			seen += net_crc(h, pkts[i]->data_len);
		rte_pktmbuf_free(pkts[i]);
	}
	return seen;
}

void
plain_macswap(struct rte_mempool *pool, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t frame_bytes = pkts[0]->data_len;

	for (uint16_t i = 0; i < n; i++) {
		struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkts[i], struct rte_ether_hdr *);
		struct rte_ether_addr dst = eth->dst_addr;

		eth->dst_addr = eth->src_addr;
		eth->src_addr = dst;
	}
	rte_pktmbuf_free_bulk(pkts, n);
	bench_check(rte_pktmbuf_alloc_bulk(pool, pkts, n) == 0, "taking mbufs");
	for (uint16_t i = 0; i < n; i++) {
		pkts[i]->data_len = frame_bytes;
		pkts[i]->pkt_len = frame_bytes;
	}
}
