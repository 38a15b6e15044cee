/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"
#include "wire/bytes/le.h"
#include "wire/roce/roce.h"
#include "wire/roce/roce_impl.h"

#define MIN_UDP_BYTES (UDP_HDR_BYTES + BTH_BYTES + ICRC_BYTES)
#define MIN_IPV4_BYTES (IPV4_HDR_BYTES + MIN_UDP_BYTES)

#define OP(ext_flags, bytes, payload)                                                              \
	{                                                                                          \
		.ext = (ext_flags), .ext_bytes = (bytes), payload                                  \
	}
/* First, Middle: one path MTU. Last: at least one byte. Only: any length. */
#define PAYLOAD_NONE .max_pad = 3, .payload_end_bytes = 1
#define PAYLOAD_FULL .payload_min_bytes = 1, .payload_end_bytes = UINT16_MAX
#define PAYLOAD_SOME .max_pad = 3, .payload_min_bytes = 1, .payload_end_bytes = UINT16_MAX
#define PAYLOAD_ANY .max_pad = 3, .payload_end_bytes = UINT16_MAX

/* IBTA volume 1, table 38 (opcodes) and section 9.2 (extension headers); annex A17 for the CNP. */
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
	/* An RC responder answers reserved opcodes (9.7.4.1.3), so they are read, up to the BTH. */
	[RC_RESERVED_15] = OP(0, 0, PAYLOAD_ANY),
	[RC_SEND_LAST_INV] = OP(EXT_IMM, IETH_BYTES, PAYLOAD_SOME),
	[RC_SEND_ONLY_INV] = OP(EXT_IMM, IETH_BYTES, PAYLOAD_ANY),
	[RC_RESERVED_18... RC_OPCODES_END - 1] = OP(0, 0, PAYLOAD_ANY),
	[UD_SEND_ONLY] = OP(EXT_DETH, DETH_BYTES, PAYLOAD_ANY),
	[UD_SEND_ONLY_IMM] = OP(EXT_DETH | EXT_IMM, DETH_BYTES + IMMDT_BYTES, PAYLOAD_ANY),
	[ROCE_CNP] = OP(EXT_CNP, CNP_BODY_BYTES, PAYLOAD_NONE),
};

int
roce_ext_bytes(uint8_t opcode)
{
	return roce_ops[opcode].payload_end_bytes != 0 ? roce_ops[opcode].ext_bytes : -1;
}

/* Check UDP: our port, no IP options, complete, and a length that agrees with IP. */
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
	/*
	 * The fields that the ICRC counts as ones are at fixed offsets from the start of IP, so
	 * senders add no options.
	 */
	if ((size_t)(frame->l4_off - frame->l3_off) != roce_ip_bytes(frame->ip_version))
		return ROCE_IP_OPTIONS;
	if (be16_load(udp + 4) != udp_bytes || udp_bytes < MIN_UDP_BYTES)
		return ROCE_BAD_UDP_LENGTH;
	/* Annex A17 lets a sender omit the checksum, also over IPv6. */
	checksum = be16_load(udp + 6);
	if (checksum != 0 && checksum != udp_checksum(ip, frame->ip_version, udp, udp_bytes))
		return ROCE_BAD_UDP_CHECKSUM;
	return ROCE_OK;
}

/* Read all fields between Ethernet and the extension headers. */
static inline void
read_headers(struct roce_view *out, const uint8_t *buf, size_t ip_off, unsigned int ip_version,
	     size_t ip_end, unsigned int traffic_class)
{
	size_t udp_off = ip_off + roce_ip_bytes(ip_version), bth_off = udp_off + UDP_HDR_BYTES;
	uint32_t qp_word = be32_load(buf + bth_off + BTH_DEST_QP);
	uint32_t psn_word = be32_load(buf + bth_off + BTH_PSN);
	uint8_t flags = buf[bth_off + 1];

	*out = (struct roce_view){
		.ip_off = (uint16_t)ip_off,
		.bth_off = (uint16_t)bth_off,
		.ext_off = (uint16_t)(bth_off + BTH_BYTES),
		/* From the IP length, not the end of the frame: padding may follow. */
		.icrc_off = (uint16_t)(ip_end - ICRC_BYTES),
		.udp_sport = be16_load(buf + udp_off),
		.pkey = be16_load(buf + bth_off + BTH_PKEY),
		.ip_version = (uint8_t)ip_version,
		.dscp = (uint8_t)(traffic_class >> 2),
		.ecn = traffic_class & 3,
		.opcode = buf[bth_off],
		.pad = flags >> BTH_PAD_SHIFT & 3,
		.becn = qp_word >> 24 & BTH_BECN,
		.fecn = qp_word >> 24 & BTH_FECN,
		.ack_req = psn_word & BTH_ACK_REQ,
		.solicited = flags & BTH_SOLICITED,
		.migreq = flags & BTH_MIGREQ,
		.dest_qp = qp_word & QPN_MASK,
		.psn = psn_word & PSN_MASK,
	};
}

/* Read extension headers and payload length by the opcode's rules. */
static inline enum roce_verdict
read_rest(struct roce_view *out, const uint8_t *buf)
{
	const struct roce_op *op = &roce_ops[out->opcode];
	const uint8_t *at = buf + out->ext_off;
	int rest_bytes = out->icrc_off - out->ext_off - op->ext_bytes,
	    payload_bytes = rest_bytes - out->pad;

	if (op->payload_end_bytes == 0)
		return ROCE_UNKNOWN_OPCODE;
	if (rest_bytes < 0)
		return ROCE_TRUNCATED_EXT;
	if (payload_bytes < 0 || rest_bytes % 4 != 0 || out->pad > op->max_pad)
		return ROCE_BAD_PAD;
	if (payload_bytes < op->payload_min_bytes || payload_bytes >= op->payload_end_bytes)
		return ROCE_BAD_PAYLOAD_LENGTH;
	out->payload_off = (uint16_t)(out->ext_off + op->ext_bytes);
	out->payload_bytes = (uint16_t)payload_bytes;
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
	return ROCE_OK;
}

bool
roce_icrc_is_valid(const uint8_t *buf, const struct roce_view *v)
{
	return icrc_compute(buf + v->ip_off, v->ip_version, (size_t)(v->icrc_off - v->ip_off)) ==
	       le32_load(buf + v->icrc_off);
}

enum roce_verdict
roce_parse(const uint8_t *buf, size_t len, const struct frame_view *frame, bool check_icrc,
	   struct roce_view *out)
{
	enum roce_verdict v;

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
	read_headers(out, buf, frame->l3_off, frame->ip_version, frame->ip_end,
		     (unsigned int)frame->dscp << 2 | frame->ecn);
	/* TVer: 0 is the only transport header version. */
	if ((buf[out->bth_off + 1] & 0xF) != 0)
		return ROCE_BAD_BTH_VERSION;
	v = read_rest(out, buf);
	if (v == ROCE_OK && check_icrc && !roce_icrc_is_valid(buf, out))
		return ROCE_BAD_ICRC;
	return v;
}

struct roce_station
roce_station(const uint8_t mac[6], const uint8_t *ipv4)
{
	/*
	 * From the EtherType on: IPv4 header of 20 bytes, not a fragment, UDP to the station's port
	 * 4791, no UDP checksum, transport header version 0.
	 */
	static const uint8_t
		mask[ROCE_STATION_BYTES] = {[0] = 0xFF,  0xFF,        [2] = 0xFF,  [8] = 0x3F,
					    0xFF,        [11] = 0xFF, [18] = 0xFF, 0xFF,
					    0xFF,        0xFF,        [24] = 0xFF, 0xFF,
					    [28] = 0xFF, 0xFF,        [31] = 0x0F};
	uint8_t want[ROCE_STATION_BYTES] = {0};
	struct roce_station s = {.has_no_ipv4 = ipv4 == NULL};

	be16_store(want, ETHERTYPE_IPV4);
	want[2] = 0x45;
	want[11] = IP_PROTO_UDP;
	if (ipv4 != NULL)
		memcpy(want + 18, ipv4, 4);
	be16_store(want + 24, ROCE_UDP_PORT);
	memcpy(s.want, want, sizeof(want));
	memcpy(s.mask, mask, sizeof(mask));
	memcpy(&s.want_mac, mac, 6);
	memset(&s.mask_mac, 0xFF, 6);
	return s;
}

static inline uint64_t
word(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Inlined for each of the two possible IP offsets. */
static inline bool
parse_plain(const uint8_t *buf, size_t len, const struct roce_station *to, struct roce_view *out,
	    size_t ip_off)
{
	const uint8_t *ip = buf + ip_off;
	size_t ip_bytes = be16_load(ip + 2);
	uint64_t differ = to->has_no_ipv4;

	differ |= (word(buf) ^ to->want_mac) & to->mask_mac;
	for (unsigned int i = 0; i < 4; i++)
		differ |= (word(ip - 2 + 8 * i) ^ to->want[i]) & to->mask[i];
	/* The sum of a valid header is a multiple of 65535, and never 0 here. */
	if (differ != 0 || checksum_words(ip, IPV4_HDR_BYTES) % 0xFFFF != 0)
		return false;
	if (ip_off + ip_bytes > len || ip_bytes < MIN_IPV4_BYTES ||
	    be16_load(ip + IPV4_HDR_BYTES + 4) != ip_bytes - IPV4_HDR_BYTES)
		return false;
	read_headers(out, buf, ip_off, 4, ip_off + ip_bytes, ip[1]);
	return read_rest(out, buf) == ROCE_OK;
}

bool
roce_parse_plain(const uint8_t *buf, size_t len, const struct roce_station *to,
		 struct roce_view *out)
{
	if (len < ETH_HDR_BYTES + MIN_IPV4_BYTES)
		return false;
	if (be16_load(buf + 12) == ETHERTYPE_VLAN)
		return parse_plain(buf, len, to, out, ETH_HDR_BYTES + VLAN_TAG_BYTES);
	return parse_plain(buf, len, to, out, ETH_HDR_BYTES);
}
