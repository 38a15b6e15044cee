/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive side scaling: at which queue of a device the frames of a QP arrive.
 *
 * The device hashes addresses and UDP ports of a frame (Toeplitz), and the low bits of the hash
 * choose an entry of its redirection table, a bucket, which names a receive queue. All frames of a
 * peer's QP have one source port (roce_udp_sport()), so the bucket of a QP is known beforehand.
 * Buckets are dealt out to the nodes so that each has about as many QPs, and a QP is placed at the
 * node of its bucket. Then only CNPs of peers that use another source port cross.
 */
#ifndef QUENCH_NIC_PORT_RSS_H
#define QUENCH_NIC_PORT_RSS_H

#include <stdint.h>

#include "nic/params/params.h"

/* As many as IPv6 with ports needs: 36 bytes hashed, and 4. */
#define NIC_RSS_KEY_BYTES 40
#define NIC_RSS_MAX_BUCKETS 2048

/** The key with which the method was published, so that its vectors hold (rss.c). */
extern const uint8_t nic_rss_key[NIC_RSS_KEY_BYTES];

/** Toeplitz hash over source and destination address, source and destination port. */
uint32_t nic_rss_hash(const uint8_t key[NIC_RSS_KEY_BYTES], const struct field_ip *src,
		      const struct field_ip *dst, uint16_t sport, uint16_t dport);

/** Hash of what the peer of one of our QPs sends to it. */
uint32_t nic_rss_hash_of_qp(const uint8_t key[NIC_RSS_KEY_BYTES], const struct nic_params *nic,
			    const struct nic_qp_params *qp, uint32_t local_qpn);

/**
 * Deal buckets out to nodes: the fullest first, each to the node that has the fewest QPs then;
 * empty ones in turn.
 *
 * @param qps   Of each bucket.
 * @param node  Result, for each bucket.
 */
void nic_rss_balance(const uint32_t *qps, uint32_t n_buckets, uint32_t n_nodes, uint16_t *node);

#endif
