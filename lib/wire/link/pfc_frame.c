/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/link/pfc_frame.h"

#include <string.h>

#include "wire/bytes/be.h"

#define OPCODE_PAUSE 0x0001u
#define OPCODE_PFC 0x0101u

static const uint8_t mac_control_address[6] = {0x01, 0x80, 0xC2, 0x00, 0x00, 0x01};

bool
mac_control_is_for(const uint8_t *buf, const uint8_t own_mac[6])
{
	return memcmp(buf, mac_control_address, 6) == 0 || memcmp(buf, own_mac, 6) == 0;
}

enum mac_control_kind
mac_control_parse(const uint8_t *buf, size_t len, struct mac_control *out)
{
	memset(out, 0, sizeof(*out));
	/* MAC Control frames are untagged: EtherType 0x8808 after a tag does not count. */
	if (len < ETH_HDR_BYTES + 2 || be16_load(buf + 12) != ETHERTYPE_MAC_CONTROL)
		return MAC_CONTROL_MALFORMED;

	switch (be16_load(buf + 14)) {
	case OPCODE_PAUSE:
		if (len < PAUSE_MIN_BYTES)
			return MAC_CONTROL_MALFORMED;
		out->quanta[0] = be16_load(buf + 16);
		return MAC_CONTROL_PAUSE;
	case OPCODE_PFC:
		if (len < PFC_MIN_BYTES)
			return MAC_CONTROL_MALFORMED;
		out->enable = buf[17];
		for (unsigned int prio = 0; prio < 8; prio++) {
			if (out->enable >> prio & 1)
				out->quanta[prio] = be16_load(buf + 18 + 2 * prio);
		}
		return MAC_CONTROL_PFC;
	default:
		return MAC_CONTROL_UNKNOWN;
	}
}

static void
mac_control_start(uint8_t *buf, const uint8_t src_mac[6], uint16_t opcode)
{
	memset(buf, 0, PFC_FRAME_BYTES);
	memcpy(buf, mac_control_address, 6);
	memcpy(buf + 6, src_mac, 6);
	be16_store(buf + 12, ETHERTYPE_MAC_CONTROL);
	be16_store(buf + 14, opcode);
}

void
pfc_frame_build(uint8_t *buf, const uint8_t src_mac[6], uint8_t enable, const uint16_t quanta[8])
{
	mac_control_start(buf, src_mac, OPCODE_PFC);
	be16_store(buf + 16, enable);
	for (unsigned int prio = 0; prio < 8; prio++) {
		if (enable >> prio & 1)
			be16_store(buf + 18 + 2 * prio, quanta[prio]);
	}
}

void
pause_frame_build(uint8_t *buf, const uint8_t src_mac[6], uint16_t quanta)
{
	mac_control_start(buf, src_mac, OPCODE_PAUSE);
	be16_store(buf + 16, quanta);
}
