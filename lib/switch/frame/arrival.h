/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A received frame on its way through the stages of the way in, and their verdicts on it. A burst
 * goes through the stages together: parse, look up, admit, so that memory that one frame waits for
 * is fetched while the others are worked on.
 */
#ifndef QUENCH_SWITCH_FRAME_ARRIVAL_H
#define QUENCH_SWITCH_FRAME_ARRIVAL_H

#include <stdint.h>
#include <rte_branch_prediction.h>

#include "fwd/fdb.h"
#include "switch/params/counters.h"
#include "tm/qos_map.h"
#include "wire/frame.h"

struct rte_mbuf;

/* Verdicts beside enum sw_drop: the frame goes on, it ended here as it should, or the router has to
 * look at it. */
#define SW_PASS SW_DROPS
#define SW_CONSUMED (SW_DROPS + 1)
#define SW_TO_ROUTER (SW_DROPS + 2)

/* Frames that go through the stages together. */
#define SW_BURST 32

#define FLOOD FDB_UNKNOWN

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

#endif
