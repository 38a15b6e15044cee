/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A received frame on its way through the ingress stages, and their verdicts. A burst passes each
 * stage (parse, look up, admit) as a whole, so that memory for one frame is fetched while the
 * others are processed.
 *
 * Invariant: each frame of a burst has exactly one verdict: SW_PASS, SW_CONSUMED, or an enum
 * sw_drop (SW_TO_ROUTER is replaced by one of these).
 */
#ifndef QUENCH_SWITCH_FRAME_ARRIVAL_H
#define QUENCH_SWITCH_FRAME_ARRIVAL_H

#include <stdint.h>
#include <rte_branch_prediction.h>

#include "fwd/fdb_params.h"
#include "switch/params/sw_counters.h"
#include "tm/classes/qos_map.h"
#include "wire/frame/frame.h"

struct rte_mbuf;

/*
 * Verdicts in addition to enum sw_drop: forward the frame; the switch has consumed the frame; pass
 * the frame to the router.
 */
#define SW_PASS SW_DROPS
#define SW_CONSUMED (SW_DROPS + 1)
#define SW_TO_ROUTER (SW_DROPS + 2)

/* Largest number of frames that pass the stages together. */
#define SW_BURST 32

#define FLOOD FDB_UNKNOWN

struct arrival {
	struct rte_mbuf *m;
	uint64_t now_ns;
	uint32_t frame_bytes;
	uint32_t charged_bytes;
	uint16_t in_port;
	uint16_t out_port; /* or FLOOD */
	uint16_t domain;   /* forwarding domain: a VLAN, or a routed port */
	/* crossed frames; mask: ports that need the other form (tagged or not) */
	uint64_t form_ports;
	uint16_t tci_bits; /* PCP and DEI, at their position in a tag */
	int8_t pcp;        /* as received; -1: no tag */
	uint8_t flags;     /* initial PKT_* of the frame and its copies */
	struct qos_class class;
	struct frame_view view;
	/*
	 * port excluded from flooding: in_port; PORT_NONE if routed. Not next to domain: compilers
	 * would join the two stores of each frame, which takes more instructions.
	 */
	uint16_t not_to;
};

#endif
