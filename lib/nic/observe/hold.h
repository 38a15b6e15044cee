/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a QP waits at this moment, for an operator who asks why it is slow or silent. */
#ifndef QUENCH_NIC_OBSERVE_HOLD_H
#define QUENCH_NIC_OBSERVE_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"

/* The first of them that is true, in this order. */
enum nic_hold {
	NIC_HOLD_ERROR,     /* it gave up */
	NIC_HOLD_DONE,      /* all is sent and acknowledged */
	NIC_HOLD_RESPONDER, /* it only answers, and has no READ to serve */
	NIC_HOLD_NEIGHBOUR, /* the peer's MAC address is not known */
	NIC_HOLD_START,     /* it starts later, or its owner has not made it yet */
	NIC_HOLD_RNR,       /* the peer had no receive buffer */
	NIC_HOLD_STOPPED,   /* its flow begins no message */
	NIC_HOLD_DEPTH,     /* it begins no message before one is acknowledged */
	NIC_HOLD_MESSAGE,   /* the next message has not come */
	NIC_HOLD_WINDOW,    /* its window is full */
	NIC_HOLD_PAUSE,     /* its priority is paused */
	NIC_HOLD_RATE,      /* the next packet waits until its rate lets it go */
	NIC_HOLD_WIRE,      /* it waits for its turn on the wire */
	NIC_HOLDS
};

/** The word of each: "window". */
extern const char *const nic_hold_words[];

struct nic_qp_hold {
	enum nic_hold hold;
	uint64_t cc_rate_bps; /* what congestion control allows */
	uint64_t cap_bps;     /* of the flow; 0: none */
	uint32_t unacked_packets, window_packets;
};

/**
 * From any thread: members may be a packet apart.
 *
 * @param index  As for nic_qp_info().
 * @return       false: there is no such QP; it waits for its start.
 */
bool nic_qp_hold(const struct node *node, uint32_t index, struct nic_qp_hold *out);

#endif
