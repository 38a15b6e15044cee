/* SPDX-License-Identifier: BSD-3-Clause */
/* What the attacker sends: each function writes frame number n, so that a run can be repeated. */
#include <string.h>

#include "attack/town.h"
#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "wire/neighbour/arp.h"
#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"
#include "wire/frame/frame.h"
#include "wire/link/lldp.h"
#include "wire/neighbour/nd.h"
#include "wire/link/pfc_frame.h"
#include "wire/roce/roce.h"

#define SHORTEST 60u

static const uint8_t router_mac[6] = {2, 0xFF, 0, 0, 0, 1};
static const uint8_t attacker_mac[6] = {2, 0, 0, 0, 0, ATTACKER};
static const uint8_t everybody[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

/* A number without a pattern, the same for the same n (the finaliser of SplitMix64). */
static uint64_t
mixed(uint64_t n)
{
	n += 0x9E3779B97F4A7C15u;
	n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9u;
	n = (n ^ n >> 27) * 0x94D049BB133111EBu;
	return n ^ n >> 31;
}

static void
ethernet(uint8_t *f, const uint8_t dst[6], const uint8_t src[6], uint16_t ethertype)
{
	memset(f, 0, SHORTEST);
	memcpy(f, dst, 6);
	memcpy(f + 6, src, 6);
	be16_store(f + 12, ethertype);
}

/* IPv4 and UDP; total is that of the IP header's length field, options are NOPs. */
static void
ipv4(uint8_t *f, const uint8_t to[4], uint16_t total, unsigned int option_words, uint16_t fragment)
{
	uint8_t *ip = f + ETH_HDR_BYTES;
	size_t header = (size_t)(5 + option_words) * 4;

	ip[0] = (uint8_t)(0x45 + option_words);
	be16_store(ip + 2, total);
	be16_store(ip + 6, fragment);
	ip[8] = 64;
	ip[9] = IP_PROTO_UDP;
	memcpy(ip + 12, ((const uint8_t[4]){10, 0, 10, 9}), 4);
	memcpy(ip + 16, to, 4);
	memset(ip + 20, 1, header - 20);
	be16_store(ip + 10, ipv4_header_checksum(ip, header));
}

static void
host_mac(uint8_t mac[6], uint8_t host)
{
	memcpy(mac, attacker_mac, 6);
	mac[5] = host;
}

/* Plain traffic, which the others are held against: short lossy packets between two known hosts. */
static uint16_t
plain(uint8_t *f, uint64_t n)
{
	uint8_t dst[6];

	(void)n;
	host_mac(dst, RECEIVER);
	ethernet(f, dst, attacker_mac, ETHERTYPE_IPV4);
	ipv4(f, (const uint8_t[4]){10, 0, 10, RECEIVER}, SHORTEST - ETH_HDR_BYTES, 0, 0);
	return SHORTEST;
}

static uint16_t
plain_routed(uint8_t *f, uint64_t n)
{
	(void)n;
	ethernet(f, router_mac, attacker_mac, ETHERTYPE_IPV4);
	ipv4(f, (const uint8_t[4]){10, 0, 20, ROUTED}, SHORTEST - ETH_HDR_BYTES, 0, 0);
	return SHORTEST;
}

/* Each class gets its share of them, the lossless ones too. */
static uint16_t
small_frames(uint8_t *f, uint64_t n)
{
	plain(f, n);
	f[ETH_HDR_BYTES + 1] = (uint8_t)(mixed(n) & 0xFC);
	be16_store(f + ETH_HDR_BYTES + 10, 0);
	be16_store(f + ETH_HDR_BYTES + 10, ipv4_header_checksum(f + ETH_HDR_BYTES, 20));
	return SHORTEST;
}

static uint16_t
small_lossy(uint8_t *f, uint64_t n)
{
	uint8_t dst[6];

	plain(f, n);
	host_mac(dst, INCAST_RECEIVER);
	memcpy(f, dst, 6);
	return SHORTEST;
}

static uint16_t
macs(uint8_t *f, uint64_t n)
{
	uint64_t random = mixed(n);

	plain(f, n);
	memcpy(f + 6, &random, 6);
	f[6] = 2; /* neither a group nor an honest host */
	f[7] |= 1;
	return SHORTEST;
}

/* Addresses that differ in few bits, which a weak hash puts side by side. */
static uint16_t
macs_in_a_row(uint8_t *f, uint64_t n)
{
	plain(f, n);
	f[7] = 1;
	be32_store(f + 8, (uint32_t)n << 12);
	return SHORTEST;
}

static uint16_t
unknown_unicast(uint8_t *f, uint64_t n)
{
	uint64_t random = mixed(n);

	plain(f, n);
	memcpy(f, &random, 6);
	f[0] = 2;
	f[1] |= 1;
	return SHORTEST;
}

static uint16_t
neighbours4(uint8_t *f, uint64_t n)
{
	uint64_t random = mixed(n);
	struct l2 l2 = {0};
	struct arp arp = {.op = ARP_REQUEST,
			  .sender_ip = {10, 0, (uint8_t)(64 | (random >> 8 & 63)), (uint8_t)random},
			  .target_ip = {10, 0, 10, 254}};

	memcpy(l2.dst_mac, everybody, 6);
	memcpy(l2.src_mac, attacker_mac, 6);
	memcpy(arp.sender_mac, attacker_mac, 6);
	/* Of the attacker's own subnet, 10.0.8.0/21 without the honest hosts. */
	arp.sender_ip[2] = (uint8_t)(8 | (random >> 8 & 7));
	arp.sender_ip[3] = (uint8_t)(16 + random % 200);
	return (uint16_t)arp_build(f, &l2, &arp);
}

static uint16_t
neighbours6(uint8_t *f, uint64_t n)
{
	struct l2 l2 = {0};
	struct nd nd = {.type = ND_SOLICITATION,
			.src_ip = {0xFD, 0, 0, 0x10},
			.target_ip = {0xFD, 0, 0, 0x10, [15] = 0xFE},
			.has_mac = true};
	uint64_t random = mixed(n);

	memcpy(nd.src_ip + 8, &random, 8);
	memcpy(nd.mac, attacker_mac, 6);
	memcpy(l2.src_mac, attacker_mac, 6);
	nd_solicited_node(nd.target_ip, nd.dst_ip);
	nd_group_mac(nd.dst_ip, l2.dst_mac);
	return (uint16_t)nd_build(f, &l2, &nd);
}

/* Packets to hosts that are not there: each wants a place among the neighbours. */
static uint16_t
absent_hosts(uint8_t *f, uint64_t n)
{
	uint64_t random = mixed(n);

	plain_routed(f, n);
	ipv4(f,
	     (const uint8_t[4]){10, 0, (uint8_t)(16 | (random >> 8 & 7)),
				(uint8_t)(16 + random % 200)},
	     SHORTEST - ETH_HDR_BYTES, 0, 0);
	return SHORTEST;
}

static uint16_t
absent_hosts_newcomers_vlan(uint8_t *f, uint64_t n)
{
	uint64_t random = mixed(n);

	plain_routed(f, n);
	ipv4(f, (const uint8_t[4]){10, 0, 20, (uint8_t)(16 + random % 200)},
	     SHORTEST - ETH_HDR_BYTES, 0, 0);
	return SHORTEST;
}

static uint16_t
lldp(uint8_t *f, uint64_t n)
{
	struct lldp_info info = {.chassis = {.subtype = LLDP_CHASSIS_MAC, .len = 6},
				 .port = {.subtype = LLDP_PORT_IFNAME, .len = 4, .id = "eth0"},
				 .ttl_s = 120};
	uint64_t random = mixed(n);
	size_t len;

	memcpy(info.src_mac, attacker_mac, 6);
	memcpy(info.chassis.id, &random, 6);
	len = lldp_build(f, &info);
	return (uint16_t)(len < SHORTEST ? SHORTEST : len);
}

/* From an address that nobody has, to the QPs of an honest sender, in the class of CNPs. */
static uint16_t
cnps(uint8_t *f, uint64_t n)
{
	static const uint8_t body[16];
	struct roce_path path = {.ip_version = 4,
				 .src_ip = {10, 0, 10, 99},
				 .dst_ip = {10, 0, 10, SENDER},
				 .dscp = 48,
				 .ttl = 64,
				 .udp_sport = 50000,
				 .dest_qp = (uint32_t)(mixed(n) & 0xFF),
				 .pkey = PKEY_DEFAULT};
	struct roce_fields fields = {.opcode = ROCE_CNP};

	memcpy(path.src_mac, attacker_mac, 6);
	host_mac(path.dst_mac, SENDER);
	return (uint16_t)roce_build(f, TOWN_FRAME_BYTES, &path, &fields, body, sizeof(body));
}

static uint16_t
pauses(uint8_t *f, uint64_t n)
{
	uint16_t quanta[8];

	for (unsigned int i = 0; i < 8; i++)
		quanta[i] = (uint16_t)mixed(n + i);
	pfc_frame_build(f, attacker_mac, (uint8_t)mixed(n), quanta);
	return SHORTEST;
}

static uint16_t
link_pauses(uint8_t *f, uint64_t n)
{
	pause_frame_build(f, attacker_mac, (uint16_t)mixed(n));
	return SHORTEST;
}

static uint16_t
fragments(uint8_t *f, uint64_t n)
{
	plain_routed(f, n);
	ipv4(f, (const uint8_t[4]){10, 0, 20, ROUTED}, SHORTEST - ETH_HDR_BYTES, 0,
	     0x2000 | (n & 0x1FFF));
	return SHORTEST;
}

static uint16_t
options(uint8_t *f, uint64_t n)
{
	enum { LEN = ETH_HDR_BYTES + 60 + 8 };

	ethernet(f, router_mac, attacker_mac, ETHERTYPE_IPV4);
	memset(f + SHORTEST, 0, LEN - SHORTEST);
	ipv4(f, (const uint8_t[4]){10, 0, 20, ROUTED}, LEN - ETH_HDR_BYTES, 10, 0);
	(void)n;
	return LEN;
}

/* Six extension headers, of which a parser looks through five. */
static uint16_t
extensions6(uint8_t *f, uint64_t n)
{
	enum { LEN = ETH_HDR_BYTES + IPV6_HDR_BYTES + 6 * 8 + 8 };
	uint8_t *ip = f + ETH_HDR_BYTES;

	(void)n;
	ethernet(f, router_mac, attacker_mac, ETHERTYPE_IPV6);
	memset(ip, 0, LEN - ETH_HDR_BYTES);
	ip[0] = 0x60;
	be16_store(ip + 4, LEN - ETH_HDR_BYTES - IPV6_HDR_BYTES);
	ip[6] = 60;
	ip[7] = 64;
	memcpy(ip + 8, ((const uint8_t[16]){0xFD, 0, 0, 0x10, [15] = 9}), 16);
	memcpy(ip + 24, ((const uint8_t[16]){0xFD, 0, 0, 0x20, [15] = 4}), 16);
	for (unsigned int i = 0; i < 6; i++)
		ip[IPV6_HDR_BYTES + 8 * i] = i < 5 ? 60 : IP_PROTO_UDP;
	return LEN;
}

/* As service discovery sends them: every port gets a copy. */
static uint16_t
mdns(uint8_t *f, uint64_t n)
{
	(void)n;
	ethernet(f, (const uint8_t[6]){1, 0, 0x5E, 0, 0, 0xFB}, attacker_mac, ETHERTYPE_IPV4);
	ipv4(f, (const uint8_t[4]){224, 0, 0, 251}, SHORTEST - ETH_HDR_BYTES, 0, 0);
	return SHORTEST;
}

static uint16_t
broadcasts(uint8_t *f, uint64_t n)
{
	mdns(f, n);
	memcpy(f, everybody, 6);
	return SHORTEST;
}

/* Frames that no parser takes: lying lengths, bad checksums, unknown versions. */
static uint16_t
garbage(uint8_t *f, uint64_t n)
{
	plain_routed(f, n);
	for (unsigned int i = ETH_HDR_BYTES; i < SHORTEST; i += 8) {
		uint64_t random = mixed(n * 8 + i);

		memcpy(f + i, &random, SHORTEST - i < 8 ? SHORTEST - i : 8);
	}
	return SHORTEST;
}

/* Floods of one lossy class leave the incast, which wants the whole link of its receiver, half of
 * it. */
const struct attack attacks[] = {
	{.name = "nobody"},
	{.name = "plain", .frame = plain},
	{.name = "plain-routed", .frame = plain_routed},
	/* Of 8 classes that wait, one is strict and seven share the rest. */
	{.name = "small-frames", .frame = small_frames, .lossless_pct = 40},
	{.name = "small-lossy", .frame = small_lossy, .incast_pct = 80},
	{.name = "macs", .frame = macs},
	{.name = "macs-in-a-row", .frame = macs_in_a_row},
	{.name = "unknown-unicast", .frame = unknown_unicast, .incast_pct = 80},
	{.name = "neighbours4", .frame = neighbours4, .incast_pct = 80},
	{.name = "neighbours6", .frame = neighbours6, .incast_pct = 80},
	{.name = "absent-hosts", .frame = absent_hosts},
	{.name = "absent-hosts-newcomers-vlan", .frame = absent_hosts_newcomers_vlan},
	{.name = "lldp", .frame = lldp},
	{.name = "cnps", .frame = cnps},
	{.name = "pauses", .frame = pauses},
	{.name = "link-pauses", .frame = link_pauses},
	{.name = "fragments", .frame = fragments},
	{.name = "options", .frame = options},
	{.name = "extensions6", .frame = extensions6},
	{.name = "mdns", .frame = mdns, .incast_pct = 80},
	{.name = "broadcasts", .frame = broadcasts, .incast_pct = 80},
	{.name = "garbage", .frame = garbage},
};
const unsigned int attacks_n = ARRAY_LEN(attacks);

const struct attack *
attack_of(const char *name)
{
	for (unsigned int i = 0; i < attacks_n; i++)
		if (strcmp(attacks[i].name, name) == 0)
			return &attacks[i];
	return NULL;
}
