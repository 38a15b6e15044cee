/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random paths, fields and payload, and the opcodes that can be built, for the tests of RoCEv2
 * frames.
 */
#ifndef QUENCH_TEST_UNIT_WIRE_ROCE_RANDOM_H
#define QUENCH_TEST_UNIT_WIRE_ROCE_RANDOM_H

#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "wire/roce/roce.h"

/* The largest payload of a test, so that frames stamped from it stay inside their room. */
#define PAYLOAD_MOST 4096u

/* clang-format off */
static const uint8_t opcodes[] = {
	RC_SEND_FIRST, RC_SEND_MIDDLE, RC_SEND_LAST, RC_SEND_LAST_IMM, RC_SEND_ONLY,
	RC_SEND_ONLY_IMM, RC_WRITE_FIRST, RC_WRITE_MIDDLE, RC_WRITE_LAST, RC_WRITE_LAST_IMM,
	RC_WRITE_ONLY, RC_WRITE_ONLY_IMM, RC_READ_RESP_FIRST, RC_READ_RESP_MIDDLE,
	RC_READ_RESP_LAST, RC_READ_RESP_ONLY,
	RC_READ_REQUEST, RC_ACK, UD_SEND_ONLY, UD_SEND_ONLY_IMM, ROCE_CNP};
/* clang-format on */
#define OPCODES (ARRAY_LEN(opcodes))

/* What every payload is cut from. */
static uint8_t pattern[PAYLOAD_MOST];

static inline int
make_pattern(void **state)
{
	struct prng r;

	(void)state;
	prng_seed(&r, PAYLOAD_MOST, 0);
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)prng_u32(&r);
	return 0;
}

static inline bool
coin(struct prng *r)
{
	return prng_below(r, 2) != 0;
}

static inline void
random_path(struct prng *r, struct roce_path *p)
{
	uint8_t *bytes = (uint8_t *)p;

	for (size_t i = 0; i < sizeof(*p); i++)
		bytes[i] = 0;
	for (int i = 0; i < 6; i++) {
		p->src_mac[i] = (uint8_t)prng_u32(r);
		p->dst_mac[i] = (uint8_t)prng_u32(r);
	}
	p->ip_version = coin(r) ? 4 : 6;
	for (int i = 0; i < (p->ip_version == 4 ? 4 : 16); i++) {
		p->src_ip[i] = (uint8_t)prng_u32(r);
		p->dst_ip[i] = (uint8_t)prng_u32(r);
	}
	p->tagged = coin(r);
	p->vlan_tci = p->tagged ? (uint16_t)prng_u32(r) : 0;
	p->dscp = (uint8_t)prng_below(r, 64);
	p->ecn = (uint8_t)prng_below(r, 4);
	p->ttl = (uint8_t)prng_u32(r);
	p->udp_sport = (uint16_t)prng_u32(r);
	p->flow_label = prng_u32(r) & 0xFFFFF;
	p->dest_qp = prng_u32(r) & QPN_MASK;
	p->pkey = (uint16_t)prng_u32(r);
}

static inline void
random_fields(struct prng *r, uint8_t opcode, struct roce_fields *f)
{
	*f = (struct roce_fields){
		.opcode = opcode,
		.ack_req = coin(r),
		.solicited = coin(r),
		.migreq = coin(r),
		.psn = prng_u32(r) & PSN_MASK,
		.reth_va = prng_u64(r),
		.reth_rkey = prng_u32(r),
		.reth_dma_bytes = prng_u32(r),
		.aeth_syndrome = (uint8_t)prng_u32(r),
		.aeth_msn = prng_u32(r) & 0xFFFFFF,
		.deth_qkey = prng_u32(r),
		.deth_src_qp = prng_u32(r) & QPN_MASK,
		.imm = prng_u32(r),
	};
}

#endif
