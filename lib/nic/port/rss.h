/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive side scaling: which receive queue of a device gets the frames of a QP.
 *
 * The device hashes the addresses and UDP ports of a frame (Toeplitz); the low bits of the hash
 * select an entry of its redirection table, a bucket, which names a receive queue. All frames of a
 * QP have one source port (roce_udp_sport()), so its bucket is known in advance. The buckets are
 * divided among the nodes so that each gets about the same number of QPs, and a QP is placed at the
 * node of its bucket. Then frames need not cross between nodes, except CNPs of peers that use
 * another source port for them.
 *
 * Invariant (tested): frames of a QP, except CNPs, arrive at the node that has the QP.
 */
#ifndef QUENCH_NIC_PORT_RSS_H
#define QUENCH_NIC_PORT_RSS_H

#include <stdint.h>

#include "nic/params/nic_params.h"

/* The hash input of IPv6 with ports, 36 bytes, plus 4. */
#define NIC_RSS_KEY_BYTES 40
#define NIC_RSS_MAX_BUCKETS 2048

/** The published key, for which test vectors exist (rss.c). */
extern const uint8_t nic_rss_key[NIC_RSS_KEY_BYTES];

/** Toeplitz hash over source and destination address, source and destination port. */
uint32_t nic_rss_hash(const uint8_t key[NIC_RSS_KEY_BYTES], const struct field_ip *src,
		      const struct field_ip *dst, uint16_t sport, uint16_t dport);

/** Hash of the frames that the peer of a local QP sends to it. */
uint32_t nic_rss_hash_of_qp(const uint8_t key[NIC_RSS_KEY_BYTES], const struct nic_params *nic,
			    const struct nic_qp_params *qp, uint32_t local_qpn);

/**
 * Assign buckets to nodes: the fullest first, each to the node with the fewest QPs so far; empty
 * buckets round robin.
 *
 * @param qps   QPs per bucket.
 * @param node  Result: node per bucket.
 */
void nic_rss_balance(const uint32_t *qps, uint32_t n_buckets, uint32_t n_nodes, uint16_t *node);

#endif
