/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MAC Control frames: PFC (IEEE 802.1Qbb; 802.3 Annex 31D) and PAUSE (802.3 Annex 31B).
 */
#ifndef QUENCH_WIRE_LINK_PFC_FRAME_H
#define QUENCH_WIRE_LINK_PFC_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/frame/frame.h"

#define PFC_FRAME_BYTES 60u /* without FCS */
#define PFC_MIN_BYTES 34u   /* up to the last time field; shorter is malformed */
#define PAUSE_MIN_BYTES 18u

enum mac_control_kind {
	MAC_CONTROL_PFC,
	MAC_CONTROL_PAUSE,     /* 802.3x: quanta[0] is the time */
	MAC_CONTROL_UNKNOWN,   /* another opcode: dropped */
	MAC_CONTROL_MALFORMED, /* too short */
};

struct mac_control {
	uint8_t enable; /* class-enable vector, low byte */
	uint16_t quanta[8];
};

/**
 * Is a MAC Control frame addressed to this station, that is, to the MAC Control multicast address
 * or to the station's own address (802.3 31B.3.3)? A pause frame to any other address has no
 * effect.
 *
 * @param buf  At least ETH_HDR_BYTES.
 */
bool mac_control_is_for(const uint8_t *buf, const uint8_t own_mac[6]);

/**
 * Parse a frame whose EtherType is MAC Control. Addresses are not checked: mac_control_is_for()
 * checks the destination, and any source is allowed.
 */
enum mac_control_kind mac_control_parse(const uint8_t *buf, size_t len, struct mac_control *out);

/**
 * Build a PFC frame of PFC_FRAME_BYTES in buf. quanta[n] is written only if bit n of enable is set.
 */
void pfc_frame_build(uint8_t *buf, const uint8_t src_mac[6], uint8_t enable,
		     const uint16_t quanta[8]);

/** Build an 802.3x PAUSE frame of PFC_FRAME_BYTES in buf. */
void pause_frame_build(uint8_t *buf, const uint8_t src_mac[6], uint16_t quanta);

#endif
