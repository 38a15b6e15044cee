/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ports are in which VLANs, and which of their frames leave untagged. */
#ifndef QUENCH_SWITCH_FORWARD_VLANS_H
#define QUENCH_SWITCH_FORWARD_VLANS_H

#include "switch/frame/arrival.h"
#include "switch/frame/copy_on_write.h"
#include "switch/params/params.h"

/* A port that is in all VLANs and leaves tags alone. */
#define SW_TRANSPARENT (SW_NO_DOMAIN - 1u)

struct sw_vlans {
	uint16_t access_domain[SW_MAX_PORTS]; /* of untagged frames; SW_NO_DOMAIN: dropped */
	uint64_t members[SW_DOMAINS];         /* mask of ports */
};

/** @return owned by the caller, freed by sw_vlans_free(); NULL: no memory. */
struct sw_vlans *sw_vlans_create(const struct sw_params *params);
/** NULL is allowed. */
void sw_vlans_free(struct sw_vlans *vlans);

/* Inline definitions */

/** Does a frame that came in here leave port in the other form: with a tag that it has not, or
 * without the one that it has? */
static inline bool
sw_changes_form(const struct sw_vlans *vlans, const struct arrival *a, uint16_t port)
{
	uint16_t access = vlans->access_domain[port];

	return access != SW_TRANSPARENT && (a->domain != access) != a->view.tagged;
}

/** TCI of the other form, or SW_UNTAGGED. */
static inline int32_t
sw_other_tci(const struct arrival *a)
{
	return a->view.tagged ? SW_UNTAGGED : a->tci_bits | a->domain;
}

#endif
