/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as ARP, neighbour discovery or echo: what is understood, and built again, is understood
 * as the same; an answered echo request is none any more. ICMPv6's checksum is mended first, else
 * hardly any input would pass it.
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "wire/neighbour/arp.h"
#include "wire/neighbour/icmp.h"
#include "wire/neighbour/nd.h"

#define MOST 256

static void
mend_icmp6(uint8_t *buf, const struct frame_view *eth)
{
	uint8_t *icmp = buf + eth->l4_off;

	if (eth->ip_version != 6 || eth->fragment || eth->ip_end < eth->l4_off + 4)
		return;
	be16_store(icmp + 2, 0);
	be16_store(icmp + 2, icmp6_checksum(buf + eth->l3_off, icmp, eth->ip_end - eth->l4_off));
}

static void
check_arp(const uint8_t *buf, size_t len, const struct frame_view *eth)
{
	struct l2 l2 = {.tagged = eth->tagged, .vlan_tci = eth->vlan_tci};
	struct arp arp, again;
	struct frame_view view;
	uint8_t built[ARP_FRAME_BYTES];

	if (!arp_parse(buf, len, eth, &arp))
		return;
	FUZZ_CHECK(arp_build(built, &l2, &arp) == sizeof(built));
	FUZZ_CHECK(frame_parse(built, sizeof(built), &view) == FRAME_OK);
	FUZZ_CHECK(arp_parse(built, sizeof(built), &view, &again));
	FUZZ_CHECK(memcmp(&arp, &again, sizeof(arp)) == 0);
}

static void
check_nd(const uint8_t *buf, const struct frame_view *eth)
{
	struct l2 l2 = {.tagged = eth->tagged, .vlan_tci = eth->vlan_tci};
	struct frame_view view;
	struct nd nd, again;
	uint8_t built[ND_FRAME_BYTES];
	size_t len;

	if (!nd_parse(buf, eth, &nd))
		return;
	len = nd_build(built, &l2, &nd);
	FUZZ_CHECK(len <= sizeof(built) && frame_parse(built, len, &view) == FRAME_OK);
	FUZZ_CHECK(nd_parse(built, &view, &again));
	FUZZ_CHECK(memcmp(&nd, &again, sizeof(nd)) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct frame_view eth;
	uint8_t buf[MOST];

	len = len < MOST ? len : MOST;
	memcpy(buf, data, len);
	if (frame_parse(buf, len, &eth) != FRAME_OK)
		return 0;
	mend_icmp6(buf, &eth);
	check_arp(buf, len, &eth);
	check_nd(buf, &eth);
	if (icmp_is_echo_request(buf, &eth)) {
		icmp_echo_answer(buf, &eth);
		FUZZ_CHECK(frame_parse(buf, len, &eth) == FRAME_OK);
		FUZZ_CHECK(!icmp_is_echo_request(buf, &eth));
	}
	return 0;
}
