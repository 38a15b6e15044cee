/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "wire/bytes/checksum.h"
#include "wire/bytes/le.h"
#include "wire/roce/roce.h"
#include "wire/roce/roce_impl.h"

#define IPV4_DF 0x4000u

static void
write_ipv4(uint8_t *ip, const struct roce_path *path, uint16_t ip_id, uint16_t udp_bytes)
{
	ip[0] = 0x45;
	ip[1] = (uint8_t)(path->dscp << 2 | path->ecn);
	be16_store(ip + 2, (uint16_t)(IPV4_HDR_BYTES + udp_bytes));
	be16_store(ip + 4, ip_id);
	be16_store(ip + 6, IPV4_DF);
	ip[8] = path->ttl;
	ip[9] = IP_PROTO_UDP;
	be16_store(ip + 10, 0);
	memcpy(ip + 12, path->src_ip, 4);
	memcpy(ip + 16, path->dst_ip, 4);
	be16_store(ip + 10, ipv4_header_checksum(ip, IPV4_HDR_BYTES));
}

static void
write_ipv6(uint8_t *ip, const struct roce_path *path, uint16_t udp_bytes)
{
	uint32_t traffic_class = (uint32_t)path->dscp << 2 | path->ecn;

	be32_store(ip, 6u << 28 | traffic_class << 20 | (path->flow_label & 0xFFFFF));
	be16_store(ip + 4, udp_bytes);
	ip[6] = IP_PROTO_UDP;
	ip[7] = path->ttl;
	memcpy(ip + 8, path->src_ip, 16);
	memcpy(ip + 24, path->dst_ip, 16);
}

size_t
roce_write_ip_udp(uint8_t *buf, const struct roce_path *path, uint16_t ip_id, uint16_t udp_bytes)
{
	uint8_t *ip = buf + roce_eth_bytes(path);
	uint8_t *udp = ip + roce_ip_bytes(path->ip_version);

	memcpy(buf, path->dst_mac, 6);
	memcpy(buf + 6, path->src_mac, 6);
	if (path->tagged) {
		be16_store(buf + 12, ETHERTYPE_VLAN);
		be16_store(buf + 14, path->vlan_tci);
	}
	be16_store(ip - 2, path->ip_version == 4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6);
	if (path->ip_version == 4)
		write_ipv4(ip, path, ip_id, udp_bytes);
	else
		write_ipv6(ip, path, udp_bytes);
	be16_store(udp, path->udp_sport);
	be16_store(udp + 2, ROCE_UDP_PORT);
	be16_store(udp + 4, udp_bytes);
	be16_store(udp + 6, 0);
	return (size_t)(udp + UDP_HDR_BYTES - buf);
}

static void
write_bth(uint8_t *bth, const struct roce_path *path, const struct roce_fields *f, uint8_t pad)
{
	bth[0] = f->opcode;
	bth[1] = (uint8_t)(bth_flags(f) | pad << BTH_PAD_SHIFT);
	be16_store(bth + BTH_PKEY, path->pkey);
	be32_store(bth + BTH_DEST_QP, path->dest_qp & QPN_MASK);
	bth[BTH_ECN] = f->becn ? BTH_BECN : 0;
	be32_store(bth + BTH_PSN, bth_psn_word(f));
}

static void
write_ext(uint8_t *at, const struct roce_op *op, const struct roce_fields *f)
{
	if (op->ext & EXT_CNP)
		memset(at, 0, CNP_BODY_BYTES);
	if (op->ext & EXT_DETH) {
		be32_store(at, f->deth_qkey);
		be32_store(at + 4, f->deth_src_qp & QPN_MASK);
		at += DETH_BYTES;
	}
	if (op->ext & EXT_RETH) {
		reth_write(at, f);
		at += RETH_BYTES;
	}
	if (op->ext & EXT_AETH)
		be32_store(at, aeth_word(f));
	if (op->ext & EXT_IMM)
		be32_store(at, f->imm);
}

size_t
roce_build(uint8_t *buf, size_t size, const struct roce_path *path,
	   const struct roce_fields *fields, const void *payload, uint16_t payload_bytes)
{
	const struct roce_op *op = &roce_ops[fields->opcode];
	uint8_t pad = roce_pad(payload_bytes);
	size_t ip_off = roce_eth_bytes(path), ip_bytes = roce_ip_bytes(path->ip_version);
	size_t udp_bytes = UDP_HDR_BYTES + BTH_BYTES + op->ext_bytes + (size_t)payload_bytes + pad +
			   ICRC_BYTES;
	size_t frame_len = ip_off + ip_bytes + udp_bytes;
	uint8_t *at;

	if (op->payload_end_bytes == 0 || (op->ext & (EXT_ATOMIC | EXT_ATOMIC_ACK)) ||
	    frame_len > size || ip_bytes + udp_bytes > UINT16_MAX)
		return 0;
	at = buf + roce_write_ip_udp(buf, path, fields->ip_id, (uint16_t)udp_bytes);
	write_bth(at, path, fields, pad);
	write_ext(at + BTH_BYTES, op, fields);
	at += BTH_BYTES + op->ext_bytes;
	if (payload_bytes != 0)
		memcpy(at, payload, payload_bytes);
	memset(at + payload_bytes, 0, pad);
	at += payload_bytes + pad;
	le32_store(at, icrc_compute(buf + ip_off, path->ip_version, (size_t)(at - buf) - ip_off));
	if (path->ip_version == 6) {
		/*
		 * ICRC first: the UDP checksum covers the ICRC, while the ICRC counts the checksum
		 * as ones.
		 */
		uint8_t *udp = buf + ip_off + ip_bytes;

		be16_store(udp + 6, udp_checksum(buf + ip_off, 6, udp, udp_bytes));
	}
	return frame_len;
}
