/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VLANs, addresses and routes of a switch being converted. Functions that cannot carry over a
 * setting return the reason, for the log. Private to lib/import.
 */
#ifndef QUENCH_IMPORT_CONVERSION_IMPORT_NETWORK_H
#define QUENCH_IMPORT_CONVERSION_IMPORT_NETWORK_H

#include "import/conversion/import_log.h"
#include "switch/tables/vlan_list.h"

/* Whether, and how, a port bridges. Zero-initialised: in no VLAN. */
struct import_bridge {
	uint16_t access_vlan; /* 0: none */
	struct vlan_set tagged;
};

static inline void
import_vlan_add(struct vlan_set *set, uint16_t vlan)
{
	set->bits[vlan / 64] |= 1ull << (vlan % 64);
}

/**
 * Switch vlan_filtering on, and set the VLANs of all ports.
 *
 * @param bridges  One for each port of the switch.
 * @param why      Receives for each port NULL, or why it lacks some of its VLANs.
 */
void import_set_vlans(struct import_switch *out, const struct import_bridge *bridges,
		      const char *why[SW_DEVICE_PORTS]);

/**
 * Give an interface an address.
 *
 * @param interface  "vlan 10" or "port 3".
 * @param address    Such as 10.0.0.1/24 or fd00::1/64.
 * @return           NULL, or why it is not carried over.
 */
const char *import_add_address(struct import_switch *out, const char *interface,
			       const char *address);

/**
 * Add a next hop to the route of a prefix. Call after all addresses are added.
 *
 * @param nexthop  An address, or "blackhole".
 * @return         NULL, or why it is not carried over.
 */
const char *import_add_route(struct import_switch *out, const char *prefix, const char *nexthop);

/** Have the first n routes one of this prefix? */
bool import_has_route(const struct import_switch *out, const char *prefix, uint32_t n);

/** Set the router's address, if there are interfaces: mac, or an assumed one if it is NULL. */
void import_set_router(struct import_switch *out, const uint8_t mac[6], struct import_log *log);

#endif
