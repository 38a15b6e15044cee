/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/transport/stamp.h"

/* An empty SEND over untagged IPv4 has 58 bytes: pad it with zeros, which nic_restore_pattern()
 * overwrites later. */
static uint16_t
padded(struct rte_mbuf *m, uint16_t from, uint16_t len)
{
	const uint16_t least = MIN_FRAME_BYTES - FCS_BYTES;

	if (likely(len >= least))
		return len;
	memset((uint8_t *)m->buf_addr + from + len, 0, (size_t)(least - len));
	return least;
}

void
nic_stamp(struct nic *nic, uint32_t item, struct rte_mbuf *m, const struct roce_payload *payload,
	  const struct roce_fields *fields)
{
	const struct nic_qp *qp = &nic->qps[item];
	struct roce_ends ends = nic_ends(nic, item, qp);
	uint16_t at = NIC_PAYLOAD_OFFSET;
	unsigned int hdr;

	nic_restore_pattern(nic, m, at + payload->payload_bytes);
	hdr = roce_template_stamp(&nic_flow_of(nic, qp)->template, &ends, payload, fields,
				  (uint8_t *)m->buf_addr + at);
	at -= (uint16_t)hdr;
	nic_set_frame(
		m, at,
		padded(m, at, (uint16_t)(hdr + payload->payload_bytes + payload->pad + ICRC_BYTES)),
		nic->mbufs.payloads->mark);
}
