/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a QP waits now: for an operator whose QP is slow or silent.
 *
 * Invariant: the reason is the first of enum nic_wait that applies, so each QP has exactly one.
 */
#ifndef QUENCH_NIC_OBSERVE_WAIT_H
#define QUENCH_NIC_OBSERVE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"

/* In order of precedence. */
enum nic_wait {
	NIC_WAIT_ERROR,     /* the QP gave up */
	NIC_WAIT_DONE,      /* everything is sent and acknowledged */
	NIC_WAIT_RESPONDER, /* a responder without READs to serve */
	NIC_WAIT_NEIGHBOUR, /* the peer's MAC address is unknown */
	NIC_WAIT_FLOWS,     /* flows that it begins after have not ended */
	NIC_WAIT_START,     /* the QP starts later, or its owner has not made it yet */
	NIC_WAIT_RNR,       /* the peer had no receive buffer */
	NIC_WAIT_STOPPED,   /* its flow is stopped */
	NIC_WAIT_ROUND,     /* the next round waits for QPs that have not ended this one */
	NIC_WAIT_DEPTH,     /* the next message waits for the ACK of an earlier one */
	NIC_WAIT_MESSAGE,   /* the next message has not arrived */
	NIC_WAIT_WINDOW,    /* the window is full */
	NIC_WAIT_PAUSE,     /* the priority is paused */
	NIC_WAIT_RATE,      /* the next packet waits for tokens */
	NIC_WAIT_WIRE,      /* the next packet waits for the wire */
	NIC_WAITS
};

/** One word per reason, such as "window". */
extern const char *const nic_wait_words[];

struct nic_qp_wait {
	enum nic_wait reason;
	uint64_t cc_rate_bps; /* rate that congestion control allows */
	uint64_t cap_bps;     /* rate cap of the flow; 0: none */
	uint32_t unacked_packets, window_packets;
	uint64_t
		next_mac; /* MAC address of the peer or the router to it, as a number; 0: unknown */
};

/**
 * From any thread. Some members may be from before a packet, others from after it.
 *
 * @param index  As for nic_qp_info().
 * @return       false: there is no such QP, and the reason is NIC_WAIT_START.
 */
bool nic_qp_wait(const struct node *node, uint32_t index, struct nic_qp_wait *out);

#endif
