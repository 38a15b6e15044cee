/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the stages of the way in share. A burst goes through them together: parse, look up, admit,
 * so that what one frame has to wait for in memory is fetched while the others are worked on.
 */
#ifndef QUENCH_SWITCH_SW_RX_H
#define QUENCH_SWITCH_SW_RX_H

#include "switch/sw_internal.h"

#define FLOOD FDB_UNKNOWN
#define VLAN_ID_MASK 0x0FFFu

/* One received frame on its way through the stages. */
struct arrival {
	struct rte_mbuf *m;
	uint64_t now_ns;
	uint32_t frame_bytes;
	uint32_t charged_bytes;
	uint16_t in_port;
	uint16_t out_port; /* or FLOOD */
	uint16_t domain;   /* where it is forwarded: a VLAN, or a routed port */
	uint64_t not_to; /* ports that it is not flooded to: the one that it came by, unless routed
			  */
	uint64_t form_ports; /* crossed: mask of the ports that it leaves in the other form */
	uint16_t tci_bits;   /* PCP and DEI, where they stand in a tag */
	int8_t pcp;          /* as received; -1: no tag */
	uint8_t flags;       /* PKT_* that its copies start with */
	struct qos_class class;
	struct frame_view view;
};

/* sw_l2.c */

/** Which VLAN a frame is in that came by a port that filters, with this one in its tag, or 0.
 * @return SW_PASS or why it is not forwarded. */
enum sw_drop sw_filter_vlan(struct sw *sw, struct arrival *a, uint16_t vid);

/** Which VLAN a frame is in, by its port and its tag. @return as sw_filter_vlan(). */
static inline enum sw_drop
sw_l2_classify(struct sw *sw, struct arrival *a)
{
	uint16_t vid = 0;

	a->pcp = -1;
	a->tci_bits = 0;
	if (unlikely(a->view.tagged)) {
		vid = a->view.vlan_tci & VLAN_ID_MASK;
		a->pcp = (int8_t)(a->view.vlan_tci >> 13);
		a->tci_bits = a->view.vlan_tci & (uint16_t)~VLAN_ID_MASK;
	}
	a->not_to = 1ull << a->in_port;
	a->domain = vid;
	return sw->vlans->access_domain[a->in_port] != SW_TRANSPARENT ? sw_filter_vlan(sw, a, vid)
								      : SW_PASS;
}

/**
 * Learn where the sources of a burst are, and find where the destinations are.
 *
 * @param reasons  Per frame: SW_PASS, SW_TO_ROUTER, or why it is not forwarded.
 * @return         Is there one for the router?
 */
bool sw_l2_forward(struct sw *sw, struct arrival *a, unsigned int n, enum sw_drop reasons[]);

/** Ports that a frame goes to when its destination is not known. */
static inline uint64_t
sw_flood_ports(const struct sw *sw, const struct arrival *a)
{
	return sw->vlans->members[a->domain] & ~sw_down_ports(sw) & ~a->not_to;
}

/** Does a frame that came in here leave port in the other form: with a tag that it has not, or
 * without the one that it has? */
static inline bool
sw_changes_form(const struct sw *sw, const struct arrival *a, uint16_t port)
{
	uint16_t access = sw->vlans->access_domain[port];

	return access != SW_TRANSPARENT && (a->domain != access) != a->view.tagged;
}

/** TCI of the other form, or SW_UNTAGGED. */
static inline int32_t
sw_other_tci(const struct arrival *a)
{
	return a->view.tagged ? SW_UNTAGGED : a->tci_bits | a->domain;
}

/* sw_route.c */

/** Route those frames of a burst whose reason is SW_TO_ROUTER; gives each another one. */
void sw_route(struct sw *sw, struct arrival *a, unsigned int n, enum sw_drop reasons[]);

/* sw_dcbx.c */

/**
 * An untagged LLDP frame came.
 * @return SW_CONSUMED or why it is dropped; SW_PASS: it is not for us.
 */
enum sw_drop sw_dcbx_rx(struct sw *sw, const struct arrival *a);

/* sw_flood.c */

/** Send copies of an admitted frame to all ports that it may go to; takes it. */
void sw_flood(struct sw *sw, struct arrival *a);
/** The same of one that has crossed, to those of the ports that are this shard's. */
void sw_flood_crossed(struct sw *sw, struct arrival *a);

/* sw_cross.c */

/** A frame leaves by another shard's port: hand it over at the end of the burst; takes it. */
void sw_cross(struct sw *sw, const struct arrival *a);
/**
 * A flooded frame goes to ports of other shards too: give each of these a hold on it.
 *
 * @param form_ports  Those of ports that it leaves in the other form.
 */
void sw_cross_flood(struct sw *sw, const struct arrival *a, uint64_t ports, uint64_t form_ports);

/* sw_admit.c */

/** Count a frame that ends here, without freeing it. */
void sw_count_drop(struct sw *sw, uint16_t port, enum sw_drop reason, uint32_t charged_bytes);

/** Queue a frame that the switch itself has made, for one port in a domain; takes it. */
void sw_send_own(struct sw *sw, struct rte_mbuf *m, uint16_t domain, uint16_t port,
		 uint64_t now_ns);

/**
 * Both admissions, and the queue or the queues that it goes to; takes the frame.
 *
 * @return the ingress group, which the caller asks sw_update_xoff() about after the burst.
 */
uint8_t sw_admit(struct sw *sw, struct arrival *a);

/** An admitted frame, or one that the switch has made, is for a port of this shard, in the other
 * form or as it is; takes it. */
void sw_to_port(struct sw *sw, struct arrival *a, bool other_form);

/** A frame ends here, dropped or consumed. */
void sw_end(struct sw *sw, const struct arrival *a, enum sw_drop reason);

/* sw_admit_burst.c */

/**
 * sw_admit() for what is left of a burst of one port, counted, with XOFF; takes the frames.
 *
 * @param reasons  Per frame: SW_PASS, or why it is not forwarded.
 */
void sw_admit_burst(struct sw *sw, struct arrival *a, unsigned int n, const enum sw_drop reasons[]);

/** Frames that have crossed to this shard, admitted at their ingress: to their queues; takes them.
 */
void sw_admit_crossed(struct sw *sw, struct arrival *a, unsigned int n);

#endif
