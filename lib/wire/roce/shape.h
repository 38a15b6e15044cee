/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of one shape: the fastest path, for the most frequent frames of a flow. All packets of a
 * message except the first and the last have the same opcode and length, and no extension header.
 * Only the destination QP, the AckReq bit, the PSN and the UDP source port vary, and their
 * contribution to the ICRC. With F the frame in which they are zero and D their bits,
 *   icrc(F ^ D) = icrc(F) ^ shift(reg0(D));
 * see roce_template.c. A stamp takes a third of the instructions of roce_template_stamp().
 *
 * A sender of many packets with one payload keeps, for each QP, the shifted contribution of its
 * struct roce_ends. struct roce_series has that of PSNs, and the way back.
 */
#ifndef QUENCH_WIRE_ROCE_SHAPE_H
#define QUENCH_WIRE_ROCE_SHAPE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "wire/bytes/checksum.h"
#include "wire/icrc/icrc_impl.h"
#include "wire/bytes/le.h"
#include "wire/roce/roce.h"
#include "wire/roce/roce_impl.h"

/*
 * The headers next to the payload, one cache line; and the part before it, which only headers with
 * IPv6 (or a tag) have.
 */
#define ROCE_SHAPE_NEAR_BYTES 64u
#define ROCE_SHAPE_FAR_BYTES 16u

struct roce_shape {
	/*
	 * The template's header, complete except for the variable fields; the last hdr_bytes are
	 * used.
	 */
	uint8_t hdr[ROCE_SHAPE_FAR_BYTES + ROCE_SHAPE_NEAR_BYTES];
	const struct icrc_shift *shift;
	uint32_t icrc;    /* with the variable fields zero */
	uint32_t udp_sum; /* IPv6: UDP checksum sum without the variable fields and the ICRC */
	uint16_t payload_bytes;
	uint16_t frame_bytes; /* without FCS */
	uint8_t hdr_bytes;
};

/* Contributions to the ICRC of frames with one payload. */
struct roce_series {
	uint32_t psn[3][256];   /* by byte of the PSN, lowest first */
	struct icrc_shift back; /* from the contribution of struct roce_ends to its reg */
	const struct icrc_shift *shift;
};

/** @param p  Must outlive the series. */
void roce_series_init(struct roce_series *s, const struct roce_payload *p);

/* Set in a CNP's ends.dest_qp: BECN is a bit of the same word. */
#define ROCE_SHAPE_BECN ((uint32_t)BTH_BECN << 24)

/**
 * @param p       Must outlive the shape. Its length is a multiple of 4, as that of every payload
 *                except a message's last. For a CNP: its body, CNP_BODY_BYTES zeros. For an ACK:
 *                AETH_BYTES zeros.
 * @param opcode  One without extension headers, ROCE_CNP or RC_ACK. MigReq is set except in a CNP;
 *                the solicited event bit is clear.
 */
void roce_shape_init(struct roce_shape *s, const struct roce_template *t,
		     const struct roce_payload *p, uint8_t opcode);

/** As roce_template_set_dst_mac(). */
void roce_shape_set_dst_mac(struct roce_shape *s, const uint8_t mac[6]);

/* Inline definitions */

/** Contribution of the ends of a QP, by their reg. */
static inline uint32_t
roce_series_ends(const struct roce_series *s, uint32_t reg)
{
	return icrc_shift_apply(s->shift, reg);
}

/** The reg of the ends of a QP, by their contribution. */
static inline uint32_t
roce_series_reg(const struct roce_series *s, uint32_t ends_icrc)
{
	return icrc_shift_apply(&s->back, ends_icrc);
}

/* IPv6: write flow label and UDP checksum. sum covers the variable fields and the ICRC. */
static inline void
roce_shape_finish_ipv6(const struct roce_shape *s, uint8_t *udp, uint32_t flow_label, uint64_t sum)
{
	uint16_t checksum = (uint16_t)~checksum_fold(sum + s->udp_sum);
	uint8_t *ip = udp - IPV6_HDR_BYTES;

	be16_store(ip + 2, (uint16_t)flow_label);
	ip[1] = (uint8_t)(ip[1] | (flow_label >> 16 & 0xF));
	be16_store(udp + 6, checksum == 0 ? 0xFFFF : checksum);
}

/* payload_sum: what a payload other than the shape's adds to the checksum. */
static inline unsigned int
roce_shape_write(const struct roce_shape *s, const struct roce_ends *ends, uint32_t psn_word,
		 uint32_t icrc, uint32_t payload_sum, uint8_t *payload_at)
{
	uint8_t *bth = payload_at - BTH_BYTES, *udp = bth - UDP_HDR_BYTES;

	/*
	 * A copy of constant length compiles to vector moves, in one cache line if payloads are
	 * aligned.
	 */
	memcpy(payload_at - ROCE_SHAPE_NEAR_BYTES, s->hdr + ROCE_SHAPE_FAR_BYTES,
	       ROCE_SHAPE_NEAR_BYTES);
	be64_store(bth + BTH_DEST_QP, (uint64_t)ends->dest_qp << 32 | psn_word);
	be16_store(udp, ends->udp_sport);
	le32_store(payload_at + s->payload_bytes, icrc);
	/* IPv4 headers fit into the near part. */
	if (s->hdr_bytes > ROCE_SHAPE_NEAR_BYTES) {
		memcpy(payload_at - ROCE_SHAPE_NEAR_BYTES - ROCE_SHAPE_FAR_BYTES, s->hdr,
		       ROCE_SHAPE_FAR_BYTES);
		roce_shape_finish_ipv6(s, udp, ends->flow_label,
				       (uint64_t)psn_word + ends->dest_qp + ends->udp_sport +
					       payload_sum + __builtin_bswap32(icrc));
	}
	return s->hdr_bytes;
}

/* payload_reg: what a payload other than the shape's adds to the ICRC. */
static inline uint32_t
roce_shape_icrc(const struct roce_shape *s, const struct roce_ends *ends, uint32_t psn_word,
		uint32_t payload_reg)
{
	uint32_t reg = ends->reg ^ icrc_table[3][psn_word >> 24] ^
		       icrc_table[2][psn_word >> 16 & 0xFF] ^ icrc_table[1][psn_word >> 8 & 0xFF] ^
		       icrc_table[0][psn_word & 0xFF];

	return s->icrc ^ icrc_shift_apply(s->shift, reg) ^ payload_reg;
}

/** As roce_template_stamp(), for a frame of the shape. */
static inline unsigned int
roce_shape_stamp(const struct roce_shape *s, const struct roce_ends *ends, uint32_t psn,
		 bool ack_req, uint8_t *payload_at)
{
	uint32_t psn_word = (ack_req ? BTH_ACK_REQ : 0) | (psn & PSN_MASK);

	return roce_shape_write(s, ends, psn_word, roce_shape_icrc(s, ends, psn_word, 0), 0,
				payload_at);
}

/** Set BECN, which the ICRC does not cover, in a stamped frame. Its UDP checksum becomes 0. */
static inline void
roce_shape_set_becn(uint8_t *payload_at)
{
	uint8_t *bth = payload_at - BTH_BYTES;

	bth[BTH_ECN] |= BTH_BECN;
	be16_store(bth - 2, 0);
}

/**
 * As roce_shape_stamp() without AckReq, by the series of the shape's payload. ends->reg is not
 * used.
 */
static inline unsigned int
roce_shape_stamp_next(const struct roce_shape *s, const struct roce_series *series,
		      const struct roce_ends *ends, uint32_t ends_icrc, uint32_t psn,
		      uint8_t *payload_at)
{
	uint32_t icrc = s->icrc ^ ends_icrc ^ series->psn[0][psn & 0xFF] ^
			series->psn[1][psn >> 8 & 0xFF] ^ series->psn[2][psn >> 16 & 0xFF];

	return roce_shape_write(s, ends, psn & PSN_MASK, icrc, 0, payload_at);
}

/**
 * As roce_shape_stamp() for a CNP, whose body begins with a number between two quench-nics; the
 * standard's is 0.
 */
static inline unsigned int
roce_shape_stamp_cnp(const struct roce_shape *s, const struct roce_ends *ends, uint32_t value,
		     uint8_t *body)
{
	const unsigned int after = CNP_BODY_BYTES - 4;
	uint32_t reg = icrc_table[after + 3][value >> 24] ^
		       icrc_table[after + 2][value >> 16 & 0xFF] ^
		       icrc_table[after + 1][value >> 8 & 0xFF] ^ icrc_table[after][value & 0xFF];

	memset(body, 0, CNP_BODY_BYTES);
	be32_store(body, value);
	return roce_shape_write(s, ends, 0, roce_shape_icrc(s, ends, 0, reg), value, body);
}

/**
 * As roce_shape_stamp() for an ACK or NAK, with its AETH. @return length of the headers before it.
 */
static inline unsigned int
roce_shape_stamp_ack(const struct roce_shape *s, const struct roce_ends *ends, uint32_t psn,
		     uint32_t aeth, uint8_t *aeth_at)
{
	uint32_t reg = icrc_table[3][aeth >> 24] ^ icrc_table[2][aeth >> 16 & 0xFF] ^
		       icrc_table[1][aeth >> 8 & 0xFF] ^ icrc_table[0][aeth & 0xFF];

	psn &= PSN_MASK;
	be32_store(aeth_at, aeth);
	return roce_shape_write(s, ends, psn, roce_shape_icrc(s, ends, psn, reg), aeth, aeth_at);
}

#endif
