/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/roce/int_hdr.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"
#include "wire/roce/roce_impl.h"
#include "wire/roce/roce.h"

#define FLAGS 0
#define COUNTS 1 /* slots and hops */
#define PATH_ID 2

/* Offset of IP in a frame with at most one tag. */
static size_t
l3_off_of(const uint8_t *buf)
{
	return ETH_HDR_BYTES + (be16_load(buf + 12) == ETHERTYPE_VLAN ? VLAN_TAG_BYTES : 0);
}

/* Change port and lengths of a frame that has become longer or shorter by `grown` bytes. */
static void
set_lengths(uint8_t *buf, size_t l3_off, uint16_t port, int grown)
{
	uint8_t *ip = buf + l3_off;
	unsigned int version = ip[0] >> 4;
	uint8_t *udp = ip + roce_ip_bytes(version), *length = ip + (version == 4 ? 2 : 4);

	be16_store(length, (uint16_t)(be16_load(length) + grown));
	if (version == 4) {
		be16_store(ip + 10, 0);
		be16_store(ip + 10, ipv4_header_checksum(ip, IPV4_HDR_BYTES));
	}
	be16_store(udp + 2, port);
	be16_store(udp + 4, (uint16_t)(be16_load(udp + 4) + grown));
	be16_store(udp + 6, 0);
}

unsigned int
int_insert(uint8_t *buf, unsigned int slots, uint8_t flags, uint16_t path_id, const uint8_t *hops,
	   unsigned int n_hops)
{
	unsigned int bytes = int_hdr_bytes(slots);
	size_t l3_off = l3_off_of(buf);
	size_t front = l3_off + roce_ip_bytes(buf[l3_off] >> 4) + UDP_HDR_BYTES;
	uint8_t *hdr = buf + front - bytes;

	assert(slots <= INT_MAX_HOPS && n_hops <= slots);
	memmove(buf - bytes, buf, front);
	hdr[FLAGS] = (uint8_t)(INT_VERSION << 4 | flags);
	hdr[COUNTS] = (uint8_t)(slots << 4 | n_hops);
	be16_store(hdr + PATH_ID, path_id);
	memset(hdr + INT_HDR_BYTES, 0, slots * INT_HOP_BYTES);
	if (n_hops > 0)
		memcpy(hdr + INT_HDR_BYTES, hops, n_hops * INT_HOP_BYTES);
	set_lengths(buf - bytes, l3_off, INT_UDP_PORT, (int)bytes);
	return bytes;
}

/* Check a header with `room` bytes from its start to the end of the IP packet. */
static bool
is_valid(const uint8_t *hdr, size_t room)
{
	return room >= INT_HDR_BYTES && hdr[FLAGS] >> 4 == INT_VERSION &&
	       int_hdr_slots(hdr) <= INT_MAX_HOPS && int_hdr_hops(hdr) <= int_hdr_slots(hdr) &&
	       room >= int_hdr_bytes(int_hdr_slots(hdr)) + BTH_BYTES + ICRC_BYTES;
}

enum int_verdict
int_strip(const uint8_t *buf, size_t len, const struct frame_view *frame, uint8_t *out,
	  const uint8_t **hdr)
{
	size_t l3_off = frame->l3_off, front = frame->l4_off + UDP_HDR_BYTES;
	const uint8_t *udp = buf + frame->l4_off;
	unsigned int bytes;

	if (frame->ip_version == 0 || frame->ip_proto != IP_PROTO_UDP || frame->fragment ||
	    front > frame->ip_end || frame->ip_end > len || be16_load(udp + 2) != INT_UDP_PORT)
		return INT_NONE;
	if (frame->l4_off - l3_off != roce_ip_bytes(frame->ip_version) ||
	    be16_load(udp + 4) != frame->ip_end - frame->l4_off ||
	    !is_valid(buf + front, frame->ip_end - front))
		return INT_MALFORMED;
	*hdr = buf + front;
	bytes = int_hdr_bytes(int_hdr_slots(*hdr));
	memcpy(out, buf, front);
	memcpy(out + front, *hdr + bytes, len - front - bytes);
	set_lengths(out, l3_off, ROCE_UDP_PORT, -(int)bytes);
	return INT_OK;
}

/* Offset of what follows UDP; 0: no frame to INT_UDP_PORT over IP without options. */
static size_t
front_of(const uint8_t *buf, size_t len)
{
	size_t l3_off, front;
	uint16_t ethertype;
	const uint8_t *ip;
	bool v4;

	if (len < ETH_HDR_BYTES + VLAN_TAG_BYTES)
		return 0;
	l3_off = l3_off_of(buf);
	ethertype = be16_load(buf + l3_off - 2);
	ip = buf + l3_off;
	v4 = ethertype == ETHERTYPE_IPV4;
	if (!v4 && ethertype != ETHERTYPE_IPV6)
		return 0;
	front = l3_off + roce_ip_bytes(v4 ? 4 : 6) + UDP_HDR_BYTES;
	if (len < front + INT_HDR_BYTES || ip[v4 ? 9 : 6] != IP_PROTO_UDP ||
	    (v4 && (ip[0] != 0x45 || be16_load(ip + 6) & 0x3FFF)))
		return 0;
	return be16_load(buf + front - 6) == INT_UDP_PORT ? front : 0;
}

bool
int_is_open(const uint8_t *buf, size_t len)
{
	size_t front = front_of(buf, len);

	return front != 0 && !(buf[front + FLAGS] & INT_ECHO);
}

enum int_verdict
int_append(uint8_t *buf, size_t len, uint16_t port_id, const struct int_hop *hop)
{
	size_t front = front_of(buf, len), udp_bytes;
	uint8_t *hdr = buf + front, *at;

	if (front == 0)
		return INT_NONE;
	udp_bytes = be16_load(hdr - 4);
	if (udp_bytes < UDP_HDR_BYTES || front + udp_bytes - UDP_HDR_BYTES > len ||
	    !is_valid(hdr, udp_bytes - UDP_HDR_BYTES))
		return INT_MALFORMED;
	be16_store(hdr + PATH_ID, int_hdr_path_id(hdr) ^ port_id);
	if (int_hdr_hops(hdr) == int_hdr_slots(hdr)) {
		hdr[FLAGS] |= INT_FULL;
		return INT_NO_ROOM;
	}
	at = hdr + INT_HDR_BYTES + (hdr[COUNTS]++ & 15) * INT_HOP_BYTES;
	be32_store(at, hop->queue_bytes);
	be32_store(at + 4, hop->tx_bytes);
	be32_store(at + 8, hop->time_ns);
	be32_store(at + 12, hop->rate_mbps);
	return INT_OK;
}

uint16_t
int_port_id(const uint8_t switch_mac[6], uint16_t port)
{
	uint64_t mac = be48_load(switch_mac);
	/* An odd factor spreads neighbouring addresses and ports over the high bits. */
	uint64_t mixed = (mac << 16 | port) * UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return (uint16_t)(mixed >> 48);
}

struct int_hop
int_read_hop(const uint8_t *hdr, unsigned int i)
{
	const uint8_t *at = hdr + INT_HDR_BYTES + i * INT_HOP_BYTES;

	return (struct int_hop){be32_load(at), be32_load(at + 4), be32_load(at + 8),
				be32_load(at + 12)};
}
