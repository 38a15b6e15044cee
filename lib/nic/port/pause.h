/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Link-level flow control of a NIC: obeying pause frames, and sending them as a slow receiver.
 *
 * flow_control = pfc: IEEE 802.1Qbb, each priority of pfc_enable for itself. pause: 802.3 annex
 * 31B, the whole link, kept as priority 0. The other kind of frame is counted and changes nothing.
 *
 * The NIC itself pauses its peer as a slow receiver only: a buffer for each priority (one for all
 * with 802.3x) that is drained at a rate. Its frames leave ahead of all others and do not obey the
 * peer's pause. Nodes of one NIC fill the same buffers, in nic_shared; the first of them speaks for
 * all, so that XOFF and XON keep their order.
 */
#ifndef QUENCH_NIC_PORT_PAUSE_H
#define QUENCH_NIC_PORT_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"
#include "tm/pause_storm.h"
#include "tm/pfc_rx.h"
#include "tm/pfc_tx.h"
#include "tm/rx_drain.h"
#include "wire/pfc_frame.h"

struct nic;
struct rte_mbuf;

struct nic_pause {
	/* per packet */
	uint8_t paused_prios;
	uint8_t paused_queues; /* of paused_prios */
	bool slow;             /* there is a drain rate */
	bool speaks;           /* this node sends pause frames */
	uint8_t stuck;         /* priorities that a defect holds for ever */
	uint64_t xon_ns; /* earliest time at which a held priority may go on; NEVER_NS: none */
	struct pfc_rx pfc_rx;
	struct pfc_tx pfc_tx;
	struct pause_storm storm;
};

void nic_pause_init(struct nic *nic);

/** A PFC or PAUSE frame came. */
void nic_pause_on_frame(struct nic *nic, enum mac_control_kind kind, const struct mac_control *mc,
			uint64_t now_ns);

/** Let pauses end that are over; called while paused_prios is not 0. */
void nic_pause_update(struct nic *nic, uint64_t now_ns);

/* The rest is called if the receiver is slow or defective; all but admit() only if this node
 * speaks. */

/** Room in the receive buffer for a frame of this class? len without FCS. */
bool nic_pause_admit(struct nic *nic, int dscp, int pcp, uint32_t len, uint64_t now_ns);

/** Is a MAC control frame due? */
bool nic_pause_due(struct nic *nic, uint64_t now_ns);
/** Write the frame that is due into an empty mbuf; it counts as sent. */
void nic_pause_build(struct nic *nic, struct rte_mbuf *m, uint64_t now_ns);

/** When nic_pause_due() will be true. */
uint64_t nic_pause_next_ns(const struct nic *nic);

/* Faults of a host that is one node, beside rx() and tx(). */

/** The host takes frames out of its buffers at another rate from now on; 0: all at once. */
void nic_set_drain_rate(struct node *node, uint64_t drain_rate_bps, uint64_t now_ns);
/** A defect holds the peer: XOFF for all priorities with PFC (or the link), sent again for ever,
 * whatever its buffers say and device_stall_critical_watermark_ns; or no longer. */
void nic_set_pause_storm(struct node *node, bool on, uint64_t now_ns);
/** The link went down or came up: pauses of both directions end. */
void nic_reset_pause(struct node *node, uint64_t now_ns);

#endif
