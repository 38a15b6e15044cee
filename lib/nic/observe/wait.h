/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a QP waits at this moment, for an operator who asks why it is slow or silent. */
#ifndef QUENCH_NIC_OBSERVE_WAIT_H
#define QUENCH_NIC_OBSERVE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"

/* The first of them that is true, in this order. */
enum nic_wait {
	NIC_WAIT_ERROR,     /* it gave up */
	NIC_WAIT_DONE,      /* all is sent and acknowledged */
	NIC_WAIT_RESPONDER, /* it only answers, and has no READ to serve */
	NIC_WAIT_NEIGHBOUR, /* the peer's MAC address is not known */
	NIC_WAIT_START,     /* it starts later, or its owner has not made it yet */
	NIC_WAIT_RNR,       /* the peer had no receive buffer */
	NIC_WAIT_STOPPED,   /* its flow begins no message */
	NIC_WAIT_DEPTH,     /* it begins no message before one is acknowledged */
	NIC_WAIT_MESSAGE,   /* the next message has not come */
	NIC_WAIT_WINDOW,    /* its window is full */
	NIC_WAIT_PAUSE,     /* its priority is paused */
	NIC_WAIT_RATE,      /* the next packet waits until its rate lets it go */
	NIC_WAIT_WIRE,      /* it waits for its turn on the wire */
	NIC_WAITS
};

/** The word of each: "window". */
extern const char *const nic_wait_words[];

struct nic_qp_wait {
	enum nic_wait reason;
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
bool nic_qp_wait(const struct node *node, uint32_t index, struct nic_qp_wait *out);

#endif
