/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/port/rss.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <rte_byteorder.h>
#include <rte_thash.h>

#include "nic/port/share.h"
#include "wire/roce/roce.h"

/* Microsoft, "Verifying the RSS Hash Calculation". */
const uint8_t nic_rss_key[NIC_RSS_KEY_BYTES] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

/* rte_softrss() takes addresses as words in host order. */
static unsigned int
put_ip(uint32_t *words, const struct field_ip *ip)
{
	unsigned int n = ip->version == 4 ? 1 : 4;

	memcpy(words, ip->addr, n * 4);
	for (unsigned int i = 0; i < n; i++)
		words[i] = rte_be_to_cpu_32(words[i]);
	return n;
}

uint32_t
nic_rss_hash(const uint8_t key[NIC_RSS_KEY_BYTES], const struct field_ip *src,
	     const struct field_ip *dst, uint16_t sport, uint16_t dport)
{
	uint32_t aligned[NIC_RSS_KEY_BYTES / 4];
	uint32_t words[9];
	unsigned int n;

	assert(src->version == dst->version);
	memcpy(aligned, key, sizeof(aligned));
	n = put_ip(words, src);
	n += put_ip(words + n, dst);
	words[n++] = (uint32_t)sport << 16 | dport;
	return rte_softrss(words, n, (const uint8_t *)aligned);
}

uint32_t
nic_rss_hash_of_qp(const uint8_t key[NIC_RSS_KEY_BYTES], const struct nic_params *nic,
		   const struct nic_qp_params *qp, uint32_t local_qpn)
{
	/* The source port is symmetric in the two QPNs (roce_flow_label()). That of the peer's
	 * configuration is unknown here: where it differs, frames cross to the QP's lcore. */
	uint16_t sport = qp->udp_sport ? qp->udp_sport
				       : roce_udp_sport(roce_flow_label(local_qpn, qp->peer_qpn));

	return nic_rss_hash(key, &qp->peer_ip, qp->peer_ip.version == 4 ? &nic->ip : &nic->ip6,
			    sport, ROCE_UDP_PORT);
}

struct bucket {
	uint32_t index, qps;
};

/* Fullest first, then by index, so that every qsort() gives the same order. */
static int
by_qps(const void *a, const void *b)
{
	const struct bucket *x = a, *y = b;

	if (x->qps != y->qps)
		return x->qps > y->qps ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

void
nic_rss_balance(const uint32_t *qps, uint32_t n_buckets, uint32_t n_nodes, uint16_t *node)
{
	struct bucket buckets[NIC_RSS_MAX_BUCKETS];
	uint32_t load[NIC_SHARE_MAX_NODES] = {0};

	assert(n_buckets <= NIC_RSS_MAX_BUCKETS && n_nodes > 0 && n_nodes <= NIC_SHARE_MAX_NODES);
	for (uint32_t i = 0; i < n_buckets; i++)
		buckets[i] = (struct bucket){i, qps[i]};
	qsort(buckets, n_buckets, sizeof(buckets[0]), by_qps);
	for (uint32_t i = 0; i < n_buckets; i++) {
		uint32_t to = i % n_nodes;

		for (uint32_t n = 0; n < n_nodes && buckets[i].qps > 0; n++)
			if (load[n] < load[to])
				to = n;
		load[to] += buckets[i].qps;
		node[buckets[i].index] = (uint16_t)to;
	}
}
