/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The constant payload: written into every mbuf of the data pool once, described once per length.
 *
 * The payload has the same offset in all mbufs, after room for the longest headers. Byte i depends
 * on i alone, so a shorter payload is a prefix of a longer one.
 *
 * Invariant: an mbuf in the pool holds the pattern, except for the eight bytes at its dirty_off.
 */
#ifndef QUENCH_NIC_QP_PAYLOAD_H
#define QUENCH_NIC_QP_PAYLOAD_H

#include <stdint.h>
#include <rte_common.h>
#include <rte_mbuf.h>

#include "nic/params/params.h"
#include "wire/roce.h"

struct pkt_pool_params;
struct rte_mempool;

/* Offset of the payload from buf_addr, in every mbuf of the data pool. */
#define NIC_PAYLOAD_OFFSET RTE_ALIGN_CEIL(RTE_PKTMBUF_HEADROOM + ROCE_MAX_HDR_BYTES, 64u)

/* Shared by the NICs that nic_pools gives it to; the owner of a NIC and a thread that prepares a
 * flow may call nic_payload() at the same time. */
struct nic_payloads {
	struct roce_payload aeth, cnp_body;
	struct roce_payload *by_length[NIC_MAX_MTU + 1]; /* NULL: not used yet */
	uint8_t pattern[NIC_MAX_MTU + 8];
};

/** Create an empty set of payload descriptions. @return owned by the caller, or NULL. */
struct nic_payloads *nic_payloads_create(void);
void nic_payloads_destroy(struct nic_payloads *p);

/** Description of the first payload_bytes of the pattern, made on first use. NULL: no memory. */
const struct roce_payload *nic_payload(struct nic_payloads *p, uint16_t payload_bytes);

/** Largest frame that a NIC sends at an MTU, without FCS. */
uint16_t nic_largest_frame(uint16_t mtu_bytes);

/**
 * A pool whose mbufs hold the constant payload pattern at NIC_PAYLOAD_OFFSET. Only NICs allocate
 * from it. Code that changes payload bytes restores them before it frees the mbuf, because the
 * pattern is written only once. Free the pool with pkt_pool_destroy().
 *
 * @param params     largest_frame and init are set by this function.
 * @param mtu_bytes  Largest MTU of the QPs that use the pool.
 * @return           The pool, or NULL with rte_errno set.
 */
struct rte_mempool *nic_data_pool_create(const struct pkt_pool_params *params, uint16_t mtu_bytes);
/** Longest payload that the pool's mbufs have room for. */
uint16_t nic_pool_payload_bytes(struct rte_mempool *pool);

#endif
