/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RoCEv2 frames: UDP 4791, BTH and its extension headers, CNP. Parsers check a received frame and
 * return a view of its fields; builders write whole frames. IBTA volume 1 chapter 9, annexes A16
 * and A17.
 *
 * Invariant (tested): golden frames from other implementations parse, verify, and are rebuilt byte
 * for byte (test/golden).
 */
#ifndef QUENCH_WIRE_ROCE_ROCE_H
#define QUENCH_WIRE_ROCE_ROCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/frame/frame.h"
#include "wire/icrc/icrc.h"

#define ROCE_UDP_PORT 4791u
#define BTH_BYTES 12u
#define RETH_BYTES 16u
#define AETH_BYTES 4u
#define DETH_BYTES 8u
#define IMMDT_BYTES 4u
#define IETH_BYTES 4u
#define CNP_BODY_BYTES 16u
#define PSN_MASK 0xFFFFFFu
#define QPN_MASK 0xFFFFFFu
#define PKEY_DEFAULT 0xFFFFu
/* Eth + tag + IPv6 + UDP + BTH + RETH + ImmDt: the longest header that we build. */
#define ROCE_MAX_HDR_BYTES (14u + 4u + 40u + 8u + 12u + 16u + 4u)

enum roce_opcode {
	RC_SEND_FIRST = 0x00,
	RC_SEND_MIDDLE = 0x01,
	RC_SEND_LAST = 0x02,
	RC_SEND_LAST_IMM = 0x03,
	RC_SEND_ONLY = 0x04,
	RC_SEND_ONLY_IMM = 0x05,
	RC_WRITE_FIRST = 0x06,
	RC_WRITE_MIDDLE = 0x07,
	RC_WRITE_LAST = 0x08,
	RC_WRITE_LAST_IMM = 0x09,
	RC_WRITE_ONLY = 0x0A,
	RC_WRITE_ONLY_IMM = 0x0B,
	RC_READ_REQUEST = 0x0C,
	RC_READ_RESP_FIRST = 0x0D,
	RC_READ_RESP_MIDDLE = 0x0E,
	RC_READ_RESP_LAST = 0x0F,
	RC_READ_RESP_ONLY = 0x10,
	RC_ACK = 0x11,
	RC_ATOMIC_ACK = 0x12, /* atomics are parsed, not built */
	RC_COMPARE_SWAP = 0x13,
	RC_FETCH_ADD = 0x14,
	RC_RESERVED_15 = 0x15,
	RC_SEND_LAST_INV = 0x16, /* SEND with invalidate */
	RC_SEND_ONLY_INV = 0x17,
	RC_RESERVED_18 = 0x18, /* the first of eight */
	RC_OPCODES_END = 0x20,
	UD_SEND_ONLY = 0x64,
	UD_SEND_ONLY_IMM = 0x65,
	ROCE_CNP = 0x81,
};

/* AETH syndromes: bits 6-5 are the kind, bits 4-0 its value (IBTA table 45). */
#define AETH_ACK 0x1Fu /* credits not used */
#define AETH_RNR_NAK 0x20u
#define AETH_NAK_PSN_SEQ 0x60u
#define AETH_NAK_INVALID_REQUEST 0x61u
#define AETH_NAK_REMOTE_ACCESS 0x62u

enum roce_verdict {
	ROCE_OK,
	ROCE_NOT_ROCE, /* not UDP 4791 over IP */
	ROCE_FRAGMENT,
	ROCE_IP_OPTIONS,       /* IPv4 options or IPv6 extension headers before UDP */
	ROCE_BAD_UDP_LENGTH,   /* below UDP + BTH + ICRC, or inconsistent with the IP length */
	ROCE_BAD_UDP_CHECKSUM, /* neither 0 nor valid */
	ROCE_BAD_BTH_VERSION,  /* TVer is not 0 */
	ROCE_UNKNOWN_OPCODE,
	ROCE_TRUNCATED_EXT, /* no room for the opcode's extension headers */
	/*
	 * PadCnt is above the payload length, does not pad it to a multiple of 4, or is not 0 in a
	 * First or Middle.
	 */
	ROCE_BAD_PAD,
	/* A payload although the opcode has none, or no payload in a First, Middle or Last. */
	ROCE_BAD_PAYLOAD_LENGTH,
	ROCE_BAD_ICRC,
	ROCE_VERDICTS
};

/* Offsets from the start of the frame. Header fields in host order. */
struct roce_view {
	uint16_t ip_off;
	uint16_t bth_off;
	uint16_t ext_off; /* RETH, AETH, DETH, ImmDt or CNP body */
	uint16_t payload_off;
	uint16_t payload_bytes; /* without pad */
	uint16_t icrc_off;
	uint16_t udp_sport;
	uint16_t pkey;
	uint8_t ip_version;
	uint8_t dscp;
	uint8_t ecn;
	uint8_t opcode; /* enum roce_opcode */
	uint8_t pad;
	bool becn, fecn, ack_req, solicited, migreq;
	uint32_t dest_qp;
	uint32_t psn;
	/* RETH (WRITE First/Only, READ request) */
	uint64_t reth_va;
	uint32_t reth_rkey;
	uint32_t reth_dma_bytes;
	/* AETH (ACK, READ response First/Last/Only) */
	uint8_t aeth_syndrome;
	uint32_t aeth_msn;
	/* DETH (UD) */
	uint32_t deth_qkey;
	uint32_t deth_src_qp;
	uint32_t imm; /* or IETH: the R_Key that a SEND with invalidate names */
};

/**
 * Parse a frame that frame_parse() accepted. A UDP checksum of 0 is valid. The check of any other
 * one reads the whole payload, and so does check_icrc. The caller checks the payload length against
 * the path MTU.
 *
 * @param frame  Result of frame_parse() for buf[0..len).
 * @param out    Complete if the verdict is ROCE_OK. Otherwise it has the fields that were read
 *               before the verdict, and zeros.
 */
enum roce_verdict roce_parse(const uint8_t *buf, size_t len, const struct frame_view *frame,
			     bool check_icrc, struct roce_view *out);

/** The ICRC check alone, for frames that were parsed without it. */
bool roce_icrc_is_valid(const uint8_t *buf, const struct roce_view *v);

/* Bytes of EtherType, IPv4, UDP and the first two bytes of the BTH. */
#define ROCE_STATION_BYTES 32u

/*
 * Values and masks to compare a frame's headers with, as words in memory order: they select frames
 * to one station.
 */
struct roce_station {
	uint64_t want_mac, mask_mac;
	uint64_t want[ROCE_STATION_BYTES / 8], mask[ROCE_STATION_BYTES / 8];
	uint64_t has_no_ipv4; /* no frame matches */
};

/** @param ipv4  Four bytes in network order, or NULL: the station has no IPv4 address. */
struct roce_station roce_station(const uint8_t mac[6], const uint8_t *ipv4);

/**
 * Fast parse for the common frame to one station, without the ICRC check: untagged or one tag, IPv4
 * without options to the station's MAC and IPv4 addresses, UDP 4791 without checksum. It takes a
 * few wide comparisons instead of frame_parse() and roce_parse().
 *
 * @return  true: the two would return FRAME_OK and ROCE_OK, and out is their result.
 *          false: undecided, and out is undefined; call the two.
 */
bool roce_parse_plain(const uint8_t *buf, size_t len, const struct roce_station *to,
		      struct roce_view *out);

/** Signed distance a - b of two PSNs, in [-2^23, 2^23). */
static inline int32_t
psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

/** Flow label of a QP pair: symmetric, 20 bits (Linux ib_verbs.h rdma_calc_flow_label). */
static inline uint32_t
roce_flow_label(uint32_t local_qpn, uint32_t remote_qpn)
{
	uint64_t v = (uint64_t)local_qpn * remote_qpn;

	v ^= v >> 20;
	v ^= v >> 40;
	return (uint32_t)v & 0xFFFFFu;
}

/**
 * UDP source port in [49152, 65535] from a flow label (Linux ib_verbs.h
 * rdma_flow_label_to_udp_sport).
 */
static inline uint16_t
roce_udp_sport(uint32_t flow_label)
{
	return (uint16_t)(((flow_label & 0x3FFF) ^ (flow_label & 0xFC000) >> 14) | 0xC000);
}

/* Header fields that all frames of one direction of a QP share. Addresses in network order. */
struct roce_path {
	uint8_t src_mac[6], dst_mac[6];
	uint8_t src_ip[16], dst_ip[16]; /* IPv4 in the first four bytes */
	uint8_t ip_version;             /* 4 or 6 */
	bool tagged;
	uint16_t vlan_tci; /* host order */
	uint8_t dscp;
	uint8_t ecn; /* enum ecn */
	uint8_t ttl;
	uint16_t udp_sport;
	uint32_t flow_label; /* IPv6 */
	uint32_t dest_qp;
	uint16_t pkey;
};

/* The fields that differ from frame to frame. */
struct roce_fields {
	uint8_t opcode;
	bool ack_req, solicited, migreq, becn;
	uint16_t ip_id; /* IPv4 identification */
	uint32_t psn;
	uint64_t reth_va;
	uint32_t reth_rkey, reth_dma_bytes;
	uint8_t aeth_syndrome;
	uint32_t aeth_msn;
	uint32_t deth_qkey, deth_src_qp, imm;
};

/** Bytes of an opcode's extension headers (or of a CNP's body); -1 for an unknown opcode. */
int roce_ext_bytes(uint8_t opcode);

/**
 * Build a whole frame: headers, copied payload, pad, ICRC. IPv4 has DF set and UDP checksum 0; IPv6
 * has a computed UDP checksum. Simple and slow, for control frames and tests.
 *
 * @return  Length of the frame without FCS (the caller adds Ethernet padding up to 60). 0 if the
 *          frame does not fit into room, or if the opcode is unknown or an atomic.
 */
size_t roce_build(uint8_t *buf, size_t size, const struct roce_path *path,
		  const struct roce_fields *fields, const void *payload, uint16_t payload_bytes);

/*
 * Number of possible lengths of a stamped frame's extension headers: 0 to RETH and ImmDt, in words.
 */
#define ROCE_EXT_WORDS ((RETH_BYTES + IMMDT_BYTES) / 4 + 1)

/*
 * Fast path for data: headers come from a template, and the payload is constant and already in
 * place.
 *
 * A roce_payload describes the constant payload of one length: its CRC, its checksum, and the
 * operator that combines them with the CRC of the headers. A run needs one for each payload length.
 */
struct roce_payload {
	uint16_t payload_bytes;
	uint16_t udp_bytes; /* UDP length of a frame without extension headers */
	uint16_t checksum;  /* one's complement sum of payload and pad, for IPv6's UDP checksum */
	uint8_t pad;
	uint32_t reg; /* CRC register of payload and pad from 0 */
	/*
	 * Contribution of lengths and pad count to the register after BTH, by [is IPv6][extension
	 * words].
	 */
	uint32_t length_reg[2][ROCE_EXT_WORDS];
	struct icrc_shift shift; /* over payload and pad */
};

void roce_payload_init(struct roce_payload *p, const void *pattern, uint16_t payload_bytes);

/**
 * As roce_icrc_is_valid(), for a frame that is known to have this payload and a pad of zeros: reads
 * the headers and the ICRC only.
 */
bool roce_icrc_is_valid_around(const uint8_t *buf, const struct roce_view *v,
			       const struct roce_payload *p);

/*
 * Header template for QPs that differ only in struct roce_ends: headers up to the end of the BTH,
 * and the partial checksums of the constant fields.
 */
struct roce_template {
	uint8_t hdr[14 + 4 + 40 + 8 + 12]; /* Eth [tag] IP UDP BTH; the last hdr_bytes are used */
	uint8_t hdr_bytes;
	uint8_t ip_version;
	/*
	 * CRC register after the masked headers. Opcode, flags, lengths, PSN, pad and the fields of
	 * struct roce_ends are zero in it.
	 */
	uint32_t reg;
	uint32_t ip_sum;  /* IPv4 header without total length and checksum */
	uint32_t udp_sum; /* pseudo header, UDP and BTH without the variable fields */
};

/* The fields that differ between the QPs of one template. */
struct roce_ends {
	uint32_t dest_qp;
	uint32_t flow_label;
	uint16_t udp_sport;
	uint32_t reg; /* contribution of dest_qp and udp_sport to the register after BTH */
};

/** Everything in the path except dest_qp, flow_label and udp_sport goes into the template. */
void roce_template_init(struct roce_template *t, const struct roce_path *path);

/** The part of a path that is not in its template. */
struct roce_ends roce_path_ends(const struct roce_path *path);

/** Change the destination MAC address, which no checksum covers. */
void roce_template_set_dst_mac(struct roce_template *t, const uint8_t mac[6]);

/**
 * Write headers that end where the payload starts, and pad and ICRC after the payload.
 *
 * @param fields      opcode (RC SEND, WRITE, READ response or ACK, UD SEND, CNP), psn, ack_req,
 *                    solicited, migreq, becn, and the fields of its extension headers. The IPv4 id
 *                    is 0, which DF permits (RFC 6864).
 * @param payload_at  Position of the constant pattern in the packet buffer. ROCE_MAX_HDR_BYTES
 *                    before it and 8 bytes (pad, ICRC) after the payload are overwritten.
 * @return            Header bytes h: the frame is [payload_at - h, payload_at + payload + pad + 4).
 */
unsigned int roce_template_stamp(const struct roce_template *t, const struct roce_ends *ends,
				 const struct roce_payload *p, const struct roce_fields *fields,
				 uint8_t *payload_at);

#endif
