/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of the RoCEv2 formats: headers and payload of each opcode, and writers that the builder
 * and the templates share.
 */
#ifndef QUENCH_WIRE_ROCE_ROCE_IMPL_H
#define QUENCH_WIRE_ROCE_ROCE_IMPL_H

#include "wire/bytes/be.h"
#include "wire/roce/roce.h"

/* Offsets in the BTH. Byte 1: SE, MigReq, PadCnt (2), TVer (4). */
#define BTH_PKEY 2
#define BTH_ECN 4
#define BTH_DEST_QP 4 /* word whose first byte is BTH_ECN */
#define BTH_PSN 8     /* word whose first byte holds AckReq and reserved bits */
#define BTH_SOLICITED 0x80u
#define BTH_MIGREQ 0x40u
#define BTH_PAD_SHIFT 4
#define BTH_FECN 0x80u
#define BTH_BECN 0x40u
#define BTH_ACK_REQ 0x80000000u

#define ATOMIC_ETH_BYTES 28u
#define ATOMIC_ACK_BYTES 8u

/* Extension headers, in wire order. */
#define EXT_DETH 0x01u
#define EXT_RETH 0x02u
#define EXT_ATOMIC 0x04u
#define EXT_AETH 0x08u
#define EXT_ATOMIC_ACK 0x10u
#define EXT_IMM 0x20u /* ImmDt or IETH */
#define EXT_CNP 0x40u

struct roce_op {
	uint8_t ext; /* EXT_* */
	uint8_t ext_bytes;
	uint8_t max_pad; /* 0 where the payload is a path MTU, a multiple of 4 */
	/* Payload bytes are in [min, end). end 0: unknown opcode. */
	uint16_t payload_min_bytes, payload_end_bytes;
};

extern const struct roce_op roce_ops[256];

/* Byte 1 of the BTH without the pad count. */
static inline uint8_t
bth_flags(const struct roce_fields *f)
{
	return (uint8_t)((f->solicited ? BTH_SOLICITED : 0) | (f->migreq ? BTH_MIGREQ : 0));
}

static inline uint32_t
bth_psn_word(const struct roce_fields *f)
{
	return (f->ack_req ? BTH_ACK_REQ : 0) | (f->psn & PSN_MASK);
}

static inline void
reth_write(uint8_t *at, const struct roce_fields *f)
{
	be64_store(at, f->reth_va);
	be32_store(at + 8, f->reth_rkey);
	be32_store(at + 12, f->reth_dma_bytes);
}

static inline uint32_t
aeth_word(const struct roce_fields *f)
{
	return (uint32_t)f->aeth_syndrome << 24 | (f->aeth_msn & 0xFFFFFFu);
}

/**
 * Write Ethernet, tag, IP and UDP headers with all lengths and the IPv4 checksum for udp_bytes. The
 * UDP checksum is 0.
 *
 * @return  Bytes written.
 */
size_t roce_write_ip_udp(uint8_t *buf, const struct roce_path *path, uint16_t ip_id,
			 uint16_t udp_bytes);

/** Bytes of the Ethernet header and tag. */
static inline size_t
roce_eth_bytes(const struct roce_path *path)
{
	return ETH_HDR_BYTES + (path->tagged ? VLAN_TAG_BYTES : 0);
}

static inline size_t
roce_ip_bytes(unsigned int ip_version)
{
	return ip_version == 4 ? IPV4_HDR_BYTES : IPV6_HDR_BYTES;
}

/* Pad bytes that fill a payload up to a multiple of 4. */
static inline uint8_t
roce_pad(size_t payload_bytes)
{
	return (uint8_t)(-payload_bytes & 3);
}

#endif
