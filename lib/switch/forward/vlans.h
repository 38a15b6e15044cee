/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VLAN membership of ports, and which frames leave untagged.
 *
 * Invariant: a port's access domain is in its membership: port p is a member of access_domain[p],
 * unless that is SW_NO_DOMAIN or SW_TRANSPARENT.
 */
#ifndef QUENCH_SWITCH_FORWARD_VLANS_H
#define QUENCH_SWITCH_FORWARD_VLANS_H

#include "node/port_set.h"
#include "switch/frame/arrival.h"
#include "switch/frame/copy_on_write.h"
#include "switch/params/sw_params.h"

/* Access domain of a port that is in all VLANs and does not change tags. */
#define SW_TRANSPARENT (SW_NO_DOMAIN - 1u)

struct sw_vlans {
	uint16_t access_domain[SW_MAX_PORTS]; /* of untagged frames; SW_NO_DOMAIN: dropped */
	uint16_t words;                       /* port_words() of the switch */
	uint64_t members[]; /* SW_DOMAINS sets of ports, each of this many words */
};

/** @return owned by the caller, freed by sw_vlans_free(); NULL: no memory. */
struct sw_vlans *sw_vlans_create(const struct sw_params *params);
/** Of two tables of one switch. */
bool sw_vlans_equal(const struct sw_vlans *a, const struct sw_vlans *b);
/** NULL is allowed. */
void sw_vlans_free(struct sw_vlans *vlans);

/* Inline definitions */

/** The members of a domain: v->words words. */
static inline const uint64_t *
sw_members(const struct sw_vlans *v, uint16_t domain)
{
	return &v->members[(uint32_t)domain * v->words];
}

static inline bool
sw_is_member(const struct sw_vlans *v, uint16_t domain, uint16_t port)
{
	return port_words_have(sw_members(v, domain), port);
}

/** Must a tag be added or removed (the other form) when the frame leaves by port? */
static inline bool
sw_changes_form(const struct sw_vlans *vlans, const struct arrival *a, uint16_t port)
{
	uint16_t access = vlans->access_domain[port];

	return access != SW_TRANSPARENT && (a->domain != access) != a->view.tagged;
}

/** TCI of the other form of a frame; SW_UNTAGGED: remove the tag. */
static inline int32_t
sw_other_tci(const struct arrival *a)
{
	return a->view.tagged ? SW_UNTAGGED : a->tci_bits | a->domain;
}

#endif
