/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing data frames around the constant payload: headers, pad and ICRC.
 *
 * Invariant: elsewhere in the payload's area an mbuf holds the pattern, except for zeros after the
 * ICRC of a short frame.
 */
#ifndef QUENCH_NIC_TRANSPORT_STAMP_H
#define QUENCH_NIC_TRANSPORT_STAMP_H

#include <stdbool.h>
#include <string.h>
#include <rte_mbuf.h>

#include "nic/core/core.h"
#include "node/pkt_meta.h"

/** Write headers, pad and ICRC of a data frame of the QP around a payload. */
void nic_stamp(struct nic *nic, uint32_t item, struct rte_mbuf *m,
	       const struct roce_payload *payload, const struct roce_fields *fields);

/* Inline definitions */

/* Restore the pattern where the last frame in this mbuf had its pad and ICRC. */
static inline void
nic_restore_pattern(const struct nic *nic, struct rte_mbuf *m, uint32_t end_off)
{
	struct pkt_meta *meta = pkt_meta(m);

	/* Frames of the same length overwrite the same bytes, so nothing must be restored. */
	if (likely(meta->dirty_off == end_off))
		return;
	if (meta->dirty_off != 0)
		memcpy((uint8_t *)m->buf_addr + meta->dirty_off,
		       nic->mbufs.payloads->pattern + (meta->dirty_off - NIC_PAYLOAD_OFFSET), 8);
	meta->dirty_off = end_off;
}

/*
 * Set the fields of an mbuf that a driver without offloads reads. The other fields are valid: an
 * mbuf from its pool has one segment and one owner (rte_mbuf_raw_alloc()).
 */
static inline void
nic_set_frame(struct rte_mbuf *m, uint16_t from, uint16_t frame_bytes_, uint64_t mark)
{
	m->data_off = from;
	m->ol_flags = mark;
	m->data_len = frame_bytes_;
	m->pkt_len = frame_bytes_;
}

/** Write a packet that is neither the first nor the last of its message. @return frame length. */
static inline uint32_t
nic_stamp_middle(const struct nic *nic, uint32_t item, const struct nic_qp *qp,
		 const struct qp_flow *flow, struct rte_mbuf *m, bool ack_req)
{
	const struct roce_shape *shape = &flow->middle;
	struct roce_ends ends = nic_ends(nic, item, qp);
	unsigned int hdr;

	nic_restore_pattern(nic, m, NIC_PAYLOAD_OFFSET + shape->payload_bytes);
	hdr = roce_shape_stamp(shape, &ends, qp->next_seq, ack_req,
			       (uint8_t *)m->buf_addr + NIC_PAYLOAD_OFFSET);
	nic_set_frame(m, (uint16_t)(NIC_PAYLOAD_OFFSET - hdr), shape->frame_bytes,
		      nic->mbufs.payloads->mark);
	return shape->frame_bytes;
}

/** As nic_stamp_middle() without AckReq, in less time. @param mark  Of the node's payloads. */
static inline void
nic_stamp_plain(const struct nic *nic, uint32_t item, const struct nic_qp *qp,
		const struct qp_flow *flow, struct rte_mbuf *m, uint64_t mark)
{
	const struct roce_shape *shape = &flow->middle;
	struct roce_ends ends = nic_ends_without_reg(nic, item, qp);
	unsigned int hdr;

	nic_restore_pattern(nic, m, NIC_PAYLOAD_OFFSET + shape->payload_bytes);
	hdr = roce_shape_stamp_next(shape, flow->series, &ends, qp->ends_icrc, qp->next_seq,
				    (uint8_t *)m->buf_addr + NIC_PAYLOAD_OFFSET);
	nic_set_frame(m, (uint16_t)(NIC_PAYLOAD_OFFSET - hdr), shape->frame_bytes, mark);
}

#endif
