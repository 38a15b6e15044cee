/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Class of a frame, by its DSCP or PCP: traffic class, priority group, queue, largest frame. Ports
 * with equal maps share a struct sw_classes. The maps of the ingress port choose class and group;
 * that of the egress port chooses the queue.
 *
 * Invariant: each code point has a class, including SW_CODE_POINT_NONE, for frames without DSCP and
 * PCP.
 */
#ifndef QUENCH_SWITCH_FRAME_CLASSIFY_H
#define QUENCH_SWITCH_FRAME_CLASSIFY_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_mbuf.h>

#include "node/pkt_meta.h"
#include "switch/frame/arrival.h"
#include "switch/params/sw_params.h"
#include "wire/frame/ecn.h"
#include "wire/frame/l2.h"

/* Code points: 64 DSCPs, none, 8 PCPs. */
#define SW_CODE_POINT_NONE TM_DSCPS
#define SW_CODE_POINTS (TM_DSCPS + 1 + TM_CLASSES)

struct sw_class {
	struct qos_class class;
	uint32_t max_frame_bytes; /* without tag; UINT32_MAX: no limit for this class */
};

struct sw_classes {
	/* per packet */
	uint8_t lossless_pgs; /* mask */
	bool trust_dscp;
	uint8_t tcs[SW_CODE_POINTS]; /* traffic classes by code point */
	struct sw_class classes[TM_CLASSES];
	/* per pause */
	uint8_t prios_of_queue[TM_CLASSES]; /* mask of priorities that pause a queue */
	struct qos_map_params qos;
};

/** Set the maps of a port and the tables derived from them. */
void sw_classes_set(struct sw_classes *classes, const struct sw_params *params, uint16_t port);

/* Inline definitions */

/** Classify a frame; fills in class and flags. */
static inline const struct sw_class *
sw_classify(const struct sw_classes *classes, struct arrival *a)
{
	/* By ECN code point, which is 0 for a frame without IP. */
	static const uint8_t flags[] = {
		[ECN_ECT0] = PKT_ECT, [ECN_ECT1] = PKT_ECT, [ECN_CE] = PKT_CE};
	bool dscp = classes->trust_dscp && a->view.ip_version != 0;
	uint8_t tc = classes->tcs[dscp ? a->view.dscp : SW_CODE_POINT_NONE + 1 + a->pcp];
	const struct sw_class *c = &classes->classes[tc];

	a->class = c->class;
	a->flags = flags[a->view.ecn];
	return c;
}

/** The class of a classified frame. */
static inline const struct sw_class *
sw_class_of(const struct sw_classes *classes, const struct arrival *a)
{
	return &classes->classes[a->class.tc];
}

/** Is the frame longer than its class allows? (NX-OS: mtu of a network-qos class.) */
static inline bool
sw_above_mtu(const struct sw_class *c, const struct arrival *a)
{
	uint32_t tag = a->view.tagged ? VLAN_TAG_BYTES : 0;

	/* Not a->frame_bytes: a priority tag may have been removed since. */
	return c->max_frame_bytes != UINT32_MAX &&
	       frame_bytes(a->m->pkt_len) - tag > c->max_frame_bytes;
}

/** The largest IP packet of the class. */
static inline uint32_t
sw_ip_mtu_bytes(const struct sw_class *c)
{
	return c->max_frame_bytes - (ETH_HDR_BYTES + FCS_BYTES);
}

#endif
