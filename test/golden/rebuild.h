/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a parsed frame back to what roce_build() takes, for tests that hold the two against each
 * other.
 */
#ifndef QUENCH_TEST_GOLDEN_REBUILD_H
#define QUENCH_TEST_GOLDEN_REBUILD_H

#include <string.h>

#include "wire/bytes/be.h"
#include "wire/roce/roce.h"

static inline void
rebuild_path(const uint8_t *buf, const struct frame_view *f, const struct roce_view *r,
	     struct roce_path *path)
{
	const uint8_t *ip = buf + f->l3_off;
	size_t addr = f->ip_version == 4 ? 4 : 16, addrs = f->ip_version == 4 ? 12 : 8;

	memset(path, 0, sizeof(*path));
	memcpy(path->dst_mac, buf, 6);
	memcpy(path->src_mac, buf + 6, 6);
	memcpy(path->src_ip, ip + addrs, addr);
	memcpy(path->dst_ip, ip + addrs + addr, addr);
	path->ip_version = f->ip_version;
	path->tagged = f->tagged;
	path->vlan_tci = f->vlan_tci;
	path->dscp = f->dscp;
	path->ecn = f->ecn;
	path->ttl = f->ttl;
	path->udp_sport = r->udp_sport;
	path->flow_label = f->ip_version == 6 ? be32_load(ip) & 0xFFFFF : 0;
	path->dest_qp = r->dest_qp;
	path->pkey = r->pkey;
}

static inline void
rebuild_fields(const uint8_t *buf, const struct frame_view *f, const struct roce_view *r,
	       struct roce_fields *fields)
{
	memset(fields, 0, sizeof(*fields));
	fields->opcode = r->opcode;
	fields->ack_req = r->ack_req;
	fields->solicited = r->solicited;
	fields->migreq = r->migreq;
	fields->becn = r->becn;
	fields->ip_id = f->ip_version == 4 ? be16_load(buf + f->l3_off + 4) : 0;
	fields->psn = r->psn;
	fields->reth_va = r->reth_va;
	fields->reth_rkey = r->reth_rkey;
	fields->reth_dma_bytes = r->reth_dma_bytes;
	fields->aeth_syndrome = r->aeth_syndrome;
	fields->aeth_msn = r->aeth_msn;
	fields->deth_qkey = r->deth_qkey;
	fields->deth_src_qp = r->deth_src_qp;
	fields->imm = r->imm;
}

/** Rebuild a frame that parsed. @return as roce_build. */
static inline size_t
rebuild(const uint8_t *buf, const struct frame_view *f, const struct roce_view *r, uint8_t *out,
	size_t max_pkts)
{
	struct roce_path path;
	struct roce_fields fields;

	rebuild_path(buf, f, r, &path);
	rebuild_fields(buf, f, r, &fields);
	return roce_build(out, max_pkts, &path, &fields, buf + r->payload_off, r->payload_bytes);
}

#endif
