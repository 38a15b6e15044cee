/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "wire/be.h"
#include "wire/roce.h"
#include "wire/roce_impl.h"

#define OP(ext_flags, bytes, rule)                                                                 \
	{                                                                                          \
		.known = true, .ext = (ext_flags), .ext_bytes = (bytes), .payload = (rule)         \
	}

/* IBTA volume 1, table 38 (opcodes) and section 9.2 (what may follow); annex A17 for the CNP. */
const struct roce_op roce_ops[256] = {
	[RC_SEND_FIRST] = OP(0, 0, PAYLOAD_FULL),
	[RC_SEND_MIDDLE] = OP(0, 0, PAYLOAD_FULL),
	[RC_SEND_LAST] = OP(0, 0, PAYLOAD_SOME),
	[RC_SEND_LAST_IMM] = OP(EXT_IMM, IMMDT_BYTES, PAYLOAD_SOME),
	[RC_SEND_ONLY] = OP(0, 0, PAYLOAD_ANY),
	[RC_SEND_ONLY_IMM] = OP(EXT_IMM, IMMDT_BYTES, PAYLOAD_ANY),
	[RC_WRITE_FIRST] = OP(EXT_RETH, RETH_BYTES, PAYLOAD_FULL),
	[RC_WRITE_MIDDLE] = OP(0, 0, PAYLOAD_FULL),
	[RC_WRITE_LAST] = OP(0, 0, PAYLOAD_SOME),
	[RC_WRITE_LAST_IMM] = OP(EXT_IMM, IMMDT_BYTES, PAYLOAD_SOME),
	[RC_WRITE_ONLY] = OP(EXT_RETH, RETH_BYTES, PAYLOAD_ANY),
	[RC_WRITE_ONLY_IMM] = OP(EXT_RETH | EXT_IMM, RETH_BYTES + IMMDT_BYTES, PAYLOAD_ANY),
	[RC_READ_REQUEST] = OP(EXT_RETH, RETH_BYTES, PAYLOAD_NONE),
	[RC_READ_RESP_FIRST] = OP(EXT_AETH, AETH_BYTES, PAYLOAD_FULL),
	[RC_READ_RESP_MIDDLE] = OP(0, 0, PAYLOAD_FULL),
	[RC_READ_RESP_LAST] = OP(EXT_AETH, AETH_BYTES, PAYLOAD_SOME),
	[RC_READ_RESP_ONLY] = OP(EXT_AETH, AETH_BYTES, PAYLOAD_ANY),
	[RC_ACK] = OP(EXT_AETH, AETH_BYTES, PAYLOAD_NONE),
	[RC_ATOMIC_ACK] =
		OP(EXT_AETH | EXT_ATOMIC_ACK, AETH_BYTES + ATOMIC_ACK_BYTES, PAYLOAD_NONE),
	[RC_COMPARE_SWAP] = OP(EXT_ATOMIC, ATOMIC_ETH_BYTES, PAYLOAD_NONE),
	[RC_FETCH_ADD] = OP(EXT_ATOMIC, ATOMIC_ETH_BYTES, PAYLOAD_NONE),
	[UD_SEND_ONLY] = OP(EXT_DETH, DETH_BYTES, PAYLOAD_ANY),
	[UD_SEND_ONLY_IMM] = OP(EXT_DETH | EXT_IMM, DETH_BYTES + IMMDT_BYTES, PAYLOAD_ANY),
	[ROCE_CNP] = OP(EXT_CNP, CNP_BODY_BYTES, PAYLOAD_NONE),
};

static const char *const verdict_names[ROCE_VERDICTS] = {
	[ROCE_OK] = "ok",
	[ROCE_NOT_ROCE] = "not_roce",
	[ROCE_FRAGMENT] = "fragment",
	[ROCE_IP_OPTIONS] = "ip_options",
	[ROCE_BAD_UDP_LENGTH] = "bad_udp_length",
	[ROCE_BAD_UDP_CHECKSUM] = "bad_udp_checksum",
	[ROCE_BAD_BTH_VERSION] = "bad_bth_version",
	[ROCE_UNKNOWN_OPCODE] = "unknown_opcode",
	[ROCE_TRUNCATED_EXT] = "truncated_ext",
	[ROCE_BAD_PAD] = "bad_pad",
	[ROCE_BAD_PAYLOAD_LENGTH] = "bad_payload_length",
	[ROCE_BAD_ICRC] = "bad_icrc",
};

const char *
roce_verdict_name(enum roce_verdict v)
{
	return (unsigned int)v < ROCE_VERDICTS ? verdict_names[v] : "unknown";
}

int
roce_ext_bytes(uint8_t opcode)
{
	return roce_ops[opcode].known ? roce_ops[opcode].ext_bytes : -1;
}

/* From IP to the end of UDP: is it for us, whole, and of one length in both headers? */
static enum roce_verdict
check_udp(const uint8_t *buf, const struct frame_view *frame)
{
	const uint8_t *ip = buf + frame->l3_off, *udp = buf + frame->l4_off;
	size_t udp_bytes = frame->ip_end - frame->l4_off;
	uint16_t checksum;

	if (udp_bytes < UDP_HDR_BYTES)
		return ROCE_BAD_UDP_LENGTH;
	if (be16_load(udp + 2) != ROCE_UDP_PORT)
		return ROCE_NOT_ROCE;
	/* The ICRC's masks are at fixed places from the start of IP: no sender puts options here.
	 */
	if ((size_t)(frame->l4_off - frame->l3_off) != roce_ip_bytes(frame->ip_version))
		return ROCE_IP_OPTIONS;
	if (be16_load(udp + 4) != udp_bytes || udp_bytes < UDP_HDR_BYTES + BTH_BYTES + ICRC_BYTES)
		return ROCE_BAD_UDP_LENGTH;
	/* Annex A17 lets a sender leave it out, over IPv6 too. */
	checksum = be16_load(udp + 6);
	if (checksum != 0 && checksum != udp_checksum(ip, frame->ip_version, udp, udp_bytes))
		return ROCE_BAD_UDP_CHECKSUM;
	return ROCE_OK;
}

static void
read_bth(const uint8_t *bth, struct roce_view *out)
{
	out->opcode = bth[0];
	out->solicited = bth[1] & BTH_SOLICITED;
	out->migreq = bth[1] & BTH_MIGREQ;
	out->pad = bth[1] >> BTH_PAD_SHIFT & 3;
	out->pkey = be16_load(bth + BTH_PKEY);
	out->fecn = bth[BTH_ECN] & BTH_FECN;
	out->becn = bth[BTH_ECN] & BTH_BECN;
	out->dest_qp = be32_load(bth + BTH_DEST_QP) & QPN_MASK;
	out->ack_req = bth[BTH_PSN] & 0x80;
	out->psn = be32_load(bth + BTH_PSN) & PSN_MASK;
}

static void
read_ext(const uint8_t *at, const struct roce_op *op, struct roce_view *out)
{
	if (op->ext & EXT_DETH) {
		out->deth_qkey = be32_load(at);
		out->deth_src_qp = be32_load(at + 4) & QPN_MASK;
		at += DETH_BYTES;
	}
	if (op->ext & EXT_RETH) {
		out->reth_va = be64_load(at);
		out->reth_rkey = be32_load(at + 8);
		out->reth_dma_bytes = be32_load(at + 12);
		at += RETH_BYTES;
	}
	if (op->ext & EXT_AETH) {
		out->aeth_syndrome = at[0];
		out->aeth_msn = be32_load(at) & 0xFFFFFFu;
	}
	if (op->ext & EXT_IMM)
		out->imm = be32_load(at);
}

/* room: bytes between the extension headers and the ICRC. */
static enum roce_verdict
check_payload(const struct roce_op *op, size_t room, unsigned int pad)
{
	if (pad > room || room % 4 != 0 || (op->payload == PAYLOAD_FULL && pad != 0))
		return ROCE_BAD_PAD;
	if (op->payload == PAYLOAD_NONE && room != 0)
		return ROCE_BAD_PAYLOAD_LENGTH;
	if ((op->payload == PAYLOAD_FULL || op->payload == PAYLOAD_SOME) && room == pad)
		return ROCE_BAD_PAYLOAD_LENGTH;
	return ROCE_OK;
}

enum roce_verdict
roce_parse(const uint8_t *buf, size_t len, const struct frame_view *frame, bool check_icrc,
	   struct roce_view *out)
{
	const struct roce_op *op;
	enum roce_verdict v;
	size_t room;

	memset(out, 0, sizeof(*out));
	if (frame->ip_version == 0 || frame->ip_proto != IP_PROTO_UDP)
		return ROCE_NOT_ROCE;
	if (frame->fragment)
		return ROCE_FRAGMENT;
	if (frame->ip_end > len)
		return ROCE_BAD_UDP_LENGTH;
	v = check_udp(buf, frame);
	if (v != ROCE_OK)
		return v;

	out->ip_off = frame->l3_off;
	out->ip_version = frame->ip_version;
	out->dscp = frame->dscp;
	out->ecn = frame->ecn;
	out->udp_sport = be16_load(buf + frame->l4_off);
	out->bth_off = (uint16_t)(frame->l4_off + UDP_HDR_BYTES);
	out->ext_off = (uint16_t)(out->bth_off + BTH_BYTES);
	/* By the length in UDP and IP, not by the frame's end: padding may stand behind. */
	out->icrc_off = (uint16_t)(frame->ip_end - ICRC_BYTES);
	read_bth(buf + out->bth_off, out);

	/* TVer: only transport header version 0 exists. */
	if ((buf[out->bth_off + 1] & 0xF) != 0)
		return ROCE_BAD_BTH_VERSION;
	op = &roce_ops[out->opcode];
	if (!op->known)
		return ROCE_UNKNOWN_OPCODE;
	room = out->icrc_off - out->ext_off;
	if (room < op->ext_bytes)
		return ROCE_TRUNCATED_EXT;
	room -= op->ext_bytes;
	v = check_payload(op, room, out->pad);
	if (v != ROCE_OK)
		return v;
	read_ext(buf + out->ext_off, op, out);
	out->payload_off = (uint16_t)(out->ext_off + op->ext_bytes);
	out->payload_bytes = (uint16_t)(room - out->pad);

	if (check_icrc &&
	    icrc_compute(buf + out->ip_off, out->ip_version,
			 (size_t)(out->icrc_off - out->ip_off)) != icrc_load(buf + out->icrc_off))
		return ROCE_BAD_ICRC;
	return ROCE_OK;
}
