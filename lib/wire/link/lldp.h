/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LLDP frames (IEEE 802.1AB-2016 clause 8): the identity of the neighbour on this link, its basic
 * TLVs, and its bridging configuration (wire/link/dcbx.h).
 *
 * A station may run an agent for each of several group addresses, whose neighbours are separate
 * (clauses 7.1 and 9.2). DCBX belongs to the nearest bridge (802.1Q-2018 clause 38), so these
 * functions know its address alone.
 *
 * A frame is used only after all of it has been parsed. Chassis, port and time to live must come
 * first, once each, in this order. A TLV that runs past the frame makes the whole frame malformed.
 * TLVs of other kinds are ignored, and so are basic ones that are repeated or too short.
 */
#ifndef QUENCH_WIRE_LINK_LLDP_H
#define QUENCH_WIRE_LINK_LLDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/link/dcbx.h"

#define ETHERTYPE_LLDP 0x88CCu
#define LLDP_ID_BYTES 255u
/* Large enough for any frame from lldp_build(). */
#define LLDP_MAX_BYTES 1024u
/* Longer texts are cut. */
#define LLDP_TEXT_BYTES 64u

extern const uint8_t lldp_address[6]; /* 01:80:C2:00:00:0E, the nearest bridge */

enum lldp_verdict {
	LLDP_OK,
	LLDP_NOT,       /* another destination or EtherType */
	LLDP_MALFORMED, /* mandatory TLVs, lengths */
};

struct lldp_id {
	uint8_t subtype;
	uint8_t len;
	uint8_t id[LLDP_ID_BYTES];
};

#define LLDP_CHASSIS_MAC 4u
#define LLDP_PORT_IFNAME 5u

struct lldp_text {
	uint8_t len; /* 0: no such TLV */
	uint8_t text[LLDP_TEXT_BYTES];
};

/* System capabilities (table 8-4). */
#define LLDP_BRIDGE (1u << 2)
#define LLDP_ROUTER (1u << 4)

struct lldp_info {
	uint8_t src_mac[6];
	struct lldp_id chassis, port;
	uint16_t ttl_s; /* 0: the sender shuts down */
	struct lldp_text port_description, system_name, system_description;
	uint16_t capabilities, enabled; /* masks, enabled a subset; 0: no such TLV */
	struct dcbx_tlvs dcbx;
};

/** Set a text; what does not fit is cut. */
void lldp_set_text(struct lldp_text *t, const void *text, size_t len);

/** Parse an untagged frame, len without FCS. */
enum lldp_verdict lldp_parse(const uint8_t *buf, size_t len, struct lldp_info *out);

/**
 * Build a frame to the nearest bridge in buf, which has LLDP_MAX_BYTES. Ids are at most 64 bytes.
 * @return its length without FCS.
 */
size_t lldp_build(uint8_t *buf, const struct lldp_info *info);

#endif
