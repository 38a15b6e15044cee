/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Link-level flow control of a NIC: it obeys pause frames, and sends them as a slow receiver.
 *
 * flow_control = pfc: IEEE 802.1Qbb, each priority of pfc_enable separately. pause: 802.3 annex
 * 31B, the whole link, represented as priority 0. Frames of the other kind are counted and ignored.
 *
 * The NIC pauses its peer only as a slow receiver, which drains a buffer per priority (one buffer
 * with link pause) at a rate, or as a defective one (nic_set_pause_storm()). Pause frames leave
 * before all other frames, and no pause delays them. The nodes of one NIC fill the same buffers, in
 * nic_port_state; only the first of them sends pause frames, so that XOFF and XON keep their order.
 *
 * Invariant: while no node is within a call, wants_xoff has the bit of each buffer that is above
 * its XOFF threshold and whose priority may be paused.
 */
#ifndef QUENCH_NIC_PORT_NIC_PAUSE_H
#define QUENCH_NIC_PORT_NIC_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"
#include "nic/host/pause_storm.h"
#include "tm/pfc/pfc_rx.h"
#include "tm/pfc/pfc_tx.h"
#include "nic/host/rx_drain.h"
#include "wire/link/pfc_frame.h"

struct nic;
struct rte_mbuf;

struct nic_pause {
	/* per packet */
	uint8_t paused_prios;
	uint8_t paused_queues; /* of paused_prios */
	bool slow;             /* the receiver has a drain rate */
	bool sends_pause;      /* this node sends pause frames */
	uint8_t stuck;         /* mask: priorities that a simulated defect pauses without end */
	/* earliest time at which a priority that we paused may resume; NEVER_NS: none */
	uint64_t xon_ns;
	struct pfc_rx pfc_rx;
	struct pfc_tx pfc_tx;
	struct pause_storm storm;
	uint64_t source; /* MAC address that sent the last pause frame; 0: none has arrived */
};

void nic_pause_init(struct nic *nic);

/** Handle a received PFC or PAUSE frame. */
void nic_pause_on_frame(struct nic *nic, enum mac_control_kind kind, const struct mac_control *mc,
			uint64_t now_ns);

/** End the pauses that are over; called while paused_prios is not 0. */
void nic_pause_update(struct nic *nic, uint64_t now_ns);

/*
 * The functions below are for a slow or defective receiver. Only the node that sends pause frames
 * calls them, except nic_pause_admit().
 */

/**
 * Add a frame to the receive buffer of its class, and request XOFF if the buffer reaches its
 * threshold. len excludes the FCS.
 * @return false: no room, nothing was added.
 */
bool nic_pause_admit(struct nic *nic, int dscp, int pcp, uint32_t len, uint64_t now_ns);

/** Begin and end the pauses of the peer, as the buffers require. @return Is a pause frame due? */
bool nic_pause_due(struct nic *nic, uint64_t now_ns);
/** Write the due frame into an empty mbuf; it counts as sent. */
void nic_pause_build(struct nic *nic, struct rte_mbuf *m, uint64_t now_ns);

/** Earliest time at which nic_pause_due() has work or may be true. */
uint64_t nic_pause_next_ns(const struct nic *nic);

/* Simulated faults of a host with one node; called by its owner, never during rx() or tx(). */

/** Change the rate at which the host drains its buffers; 0: frames leave them at once. */
void nic_set_drain_rate(struct node *node, uint64_t drain_rate_bps, uint64_t now_ns);
/**
 * Begin or end a pause storm: XOFF for all priorities with PFC (or the link), repeated without end,
 * independent of buffers and of device_stall_critical_watermark_ns.
 */
void nic_set_pause_storm(struct node *node, bool on, uint64_t now_ns);
/** The link changed its state: end the pauses of both directions. */
void nic_reset_pause(struct node *node, uint64_t now_ns);

#endif
