/* SPDX-License-Identifier: BSD-3-Clause */
/* roce_parse_plain() held against frame_parse() and roce_parse(), for any bytes. */
#ifndef QUENCH_TEST_UNIT_WIRE_ROCE_PLAIN_H
#define QUENCH_TEST_UNIT_WIRE_ROCE_PLAIN_H

#include "wire/bytes/be.h"
#include "wire/roce/roce.h"

static inline bool
same_view(const struct roce_view *a, const struct roce_view *b)
{
	return a->ip_off == b->ip_off && a->bth_off == b->bth_off && a->ext_off == b->ext_off &&
	       a->payload_off == b->payload_off && a->payload_bytes == b->payload_bytes &&
	       a->icrc_off == b->icrc_off && a->udp_sport == b->udp_sport && a->pkey == b->pkey &&
	       a->ip_version == b->ip_version && a->dscp == b->dscp && a->ecn == b->ecn &&
	       a->opcode == b->opcode && a->pad == b->pad && a->becn == b->becn &&
	       a->fecn == b->fecn && a->ack_req == b->ack_req && a->solicited == b->solicited &&
	       a->migreq == b->migreq && a->dest_qp == b->dest_qp && a->psn == b->psn &&
	       a->reth_va == b->reth_va && a->reth_rkey == b->reth_rkey &&
	       a->reth_dma_bytes == b->reth_dma_bytes && a->aeth_syndrome == b->aeth_syndrome &&
	       a->aeth_msn == b->aeth_msn && a->deth_qkey == b->deth_qkey &&
	       a->deth_src_qp == b->deth_src_qp && a->imm == b->imm;
}

/** Does it take just the frames that it should, and read them alike? @return a complaint or
 * NULL. */
static inline const char *
plain_complaint(const uint8_t *buf, size_t len)
{
	struct frame_view frame = {0};
	struct roce_view want, got;
	bool ok = frame_parse(buf, len, &frame) == FRAME_OK &&
		  roce_parse(buf, len, &frame, false, &want) == ROCE_OK;
	bool plain = ok && frame.ip_version == 4 && be16_load(buf + frame.l4_off + 6) == 0;
	bool has_ip = frame.ip_version == 4;
	uint8_t mac[6] = {0}, ip[4] = {0};
	struct roce_station to;

	memcpy(mac, buf, len < 6 ? len : 6);
	if (has_ip)
		memcpy(ip, buf + frame.l3_off + 16, 4);
	to = roce_station(mac, has_ip ? ip : NULL);

	if (roce_parse_plain(buf, len, &to, &got) != plain)
		return plain ? "a plain frame is not taken" : "taken, but not plain";
	if (plain && !same_view(&want, &got))
		return "read in two ways";
	mac[5] ^= 1;
	to = roce_station(mac, ip);
	if (roce_parse_plain(buf, len, &to, &got))
		return "of another station (MAC)";
	mac[5] ^= 1;
	ip[0] ^= 0x80;
	to = roce_station(mac, ip);
	if (roce_parse_plain(buf, len, &to, &got))
		return "of another station (IP)";
	to = roce_station(mac, NULL);
	if (roce_parse_plain(buf, len, &to, &got))
		return "of a station without IPv4";
	return NULL;
}

#endif
