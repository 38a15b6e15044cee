/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that are left out of the middle of messages, at both ends at once, for a driver in
 * virtual time that has found the state of all nodes to be periodic.
 *
 * The clock of the nodes stands still meanwhile, and frames in flight stay as they are: each
 * message becomes shorter by whole packets of a full MTU. What is recorded has the time and the
 * packets that were left out.
 */
#ifndef QUENCH_NIC_CHANGE_SKIP_H
#define QUENCH_NIC_CHANGE_SKIP_H

#include <stdint.h>

#include "node/node.h"
#include "node/node_pieces.h"

/* Why nothing may be left out now. */
enum nic_unsteady {
	NIC_STEADY,
	NIC_UNSTEADY_MESSAGE, /* one begins or ends */
	NIC_UNSTEADY_TIME,    /* a QP waits for its start, its stop or its next arrival */
	NIC_UNSTEADY_COMPUTE, /* a rank of a job computes, or has not started */
	NIC_UNSTEADY_CC,    /* congestion control holds a rate below the maximum, or a timer runs */
	NIC_UNSTEADY_PAUSE, /* the NIC is paused, or pauses */
	NIC_UNSTEADY_LOSS,  /* packets are sent again */
	NIC_UNSTEADY_VERB,  /* READs, datagrams, SENDs, raw QPs */
	NIC_UNSTEADY_WHYS
};

/* Of several NICs. Zero-initialised: of none. */
struct nic_look {
	enum nic_unsteady why;
	uint32_t senders, receivers; /* QPs in the middle of a message */
	uint64_t messages;           /* digest of the messages that are being sent */
};

/** Add what a NIC does. */
void nic_look(const struct node *node, struct nic_look *sum);

/* Packets of a QP. */
struct nic_stretch {
	uint32_t sent, received;
};

/** Positions of all QPs, modulo 2^32. at has room for nic_qp_count(). */
void nic_positions(const struct node *node, struct nic_stretch *at);
/** As nic_positions(): of one QP, what it has sent. */
uint32_t nic_sent(const struct node *node, uint32_t item);
/** Least time between two packets of a QP in the middle of a message. */
uint64_t nic_packet_ns(const struct node *node, uint32_t item);
/**
 * When the wire is free after what was sent, by the shaper, which does not round. It grows by
 * nothing but the time of frames on the wire as long as the wire is never idle.
 */
uint64_t nic_free_ps(const struct node *node);
/** What was sent, in wire bytes, and the speed of the wire. */
uint64_t nic_wire_bytes(const struct node *node);
uint64_t nic_link_bps(const struct node *node);
/** The first QP that sends; UINT32_MAX: none. */
uint32_t nic_sender(const struct node *node);
/** Digest of the state of transport that a period repeats. */
uint64_t nic_phase(const struct node *node);
/** List the counters that grow in a period, all uint64_t. */
void nic_counts(struct node *node, struct node_pieces *to);
/** Before the first nic_skip(). @return 0 or -ENOMEM. */
int nic_skip_prepare(struct node *node);
/** How often a period of these packets may be left out until a message ends; UINT64_MAX: always. */
uint64_t nic_skip_most(const struct node *node, const struct nic_stretch *period);
/** Leave out n periods, which take ns. */
void nic_skip(struct node *node, const struct nic_stretch *period, uint64_t n, uint64_t ns,
	      uint64_t now_ns);

#endif
