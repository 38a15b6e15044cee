/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The constant payload. It is written into every mbuf of the data pool once, and described (struct
 * roce_payload) once per length.
 *
 * The payload has the same offset in all mbufs, after room for the longest headers. Byte i depends
 * on i alone, so a shorter payload is a prefix of a longer one.
 *
 * Invariant: an mbuf in the pool holds the pattern, except for the eight bytes at its dirty_off.
 *
 * If all NICs are in one process, a frame whose payload is the pattern carries a mark in ol_flags.
 * A receiver then checks the ICRC without reading the payload. Code that changes payload bytes of a
 * frame clears its ol_flags.
 */
#ifndef QUENCH_NIC_QP_PAYLOAD_H
#define QUENCH_NIC_QP_PAYLOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_common.h>
#include <rte_mbuf.h>

#include "nic/params/nic_params.h"
#include "wire/roce/roce.h"
#include "wire/roce/shape.h"

struct pkt_pool_params;
struct rte_mempool;

/* Offset of the payload from buf_addr, in every mbuf of the data pool. */
#define NIC_PAYLOAD_OFFSET RTE_ALIGN_CEIL(RTE_PKTMBUF_HEADROOM + ROCE_MAX_HDR_BYTES, 64u)

/*
 * May be shared by several NICs (struct nic_pools). The owner of a NIC and a thread that prepares a
 * flow may call nic_payload() at the same time.
 */
struct nic_payloads {
	uint64_t mark; /* in ol_flags of a frame: its payload is the pattern; 0: frames have none */
	struct roce_payload aeth, cnp_body;
	/* NULL: not used yet */
	struct roce_payload *by_length[NIC_MAX_MTU + 1];
	uint32_t n_made; /* nic_payloads_make() has made all below this length */
	struct roce_series *series[NIC_MAX_MTU / NIC_MIN_MTU + 1]; /* by MTU / NIC_MIN_MTU */
	uint8_t pattern[NIC_MAX_MTU + 8];
};

/** Create an empty set of payload descriptions. @return owned by the caller, or NULL. */
struct nic_payloads *nic_payloads_create(void);
void nic_payloads_destroy(struct nic_payloads *p);

/**
 * Let frames carry the mark. Only if no frame between these NICs leaves this process. Call it
 * before the NICs are created, with EAL running. If DPDK has no free mbuf flag, frames carry no
 * mark.
 */
void nic_payloads_mark_frames(struct nic_payloads *p);

/** Description of the first payload_bytes of the pattern, made on first use. NULL: no memory. */
const struct roce_payload *nic_payload(struct nic_payloads *p, uint16_t payload_bytes);

/** Make the descriptions of all payloads up to this length. @return 0 or -ENOMEM. */
int nic_payloads_make(struct nic_payloads *p, uint16_t most_bytes);

/** The series of frames with a payload of mtu_bytes, made on first use. NULL: no memory. */
const struct roce_series *nic_series(struct nic_payloads *p, uint16_t mtu_bytes);

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

/* Inline definitions */

/** Description of the payload of a received frame, or NULL: the payload must be read. */
static inline const struct roce_payload *
nic_payload_in(const struct nic_payloads *p, const struct rte_mbuf *m, const struct roce_view *v)
{
	const struct roce_payload *known;

	if (!(m->ol_flags & p->mark) || v->payload_bytes > NIC_MAX_MTU)
		return NULL;
	known = p->by_length[v->payload_bytes];
	return known != NULL && known->pad == v->pad ? known : NULL;
}

/** As roce_icrc_is_valid(), for a received frame, whose payload is read only if needed. */
static inline bool
nic_icrc_is_valid(const struct nic_payloads *p, const struct rte_mbuf *m, const struct roce_view *v)
{
	const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct roce_payload *known = nic_payload_in(p, m, v);

	return known != NULL ? roce_icrc_is_valid_around(buf, v, known)
			     : roce_icrc_is_valid(buf, v);
}

#endif
