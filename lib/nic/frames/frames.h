/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of frames from templates, as testers send them beside RoCEv2: background traffic, pauses,
 * frames with errors.
 *
 * Frames of a stream are spaced by a token bucket: at rate_bps by their wire bytes, or at rate_pps
 * by their number. After a late call, a stream catches up by as much as the port's shaper does, and
 * by no less than a QP; what was due beyond that is missed. A stream waits while its queue is
 * paused, and does not catch up afterwards. Streams are served before data and after control
 * frames, and take turns. Every frame is charged to the port's shaper.
 *
 * A start waits for delay_ns. With burst_packets, a gap follows each burst: the next frame leaves
 * no earlier than burst_gap_ns after the wire had the last one.
 *
 * Starts, stops and changes of parameters are part of a reload (change/nic_reload.h). A start
 * begins again with the first frame of the template. A stream that sends when its parameters change
 * goes on with the next frame of the new template; what is left of its count and duration stays. A
 * stream that was paused by its user goes on where it was, with the time that was left.
 *
 * Invariant (tested): in any time t, bytes sent <= rate_bps t / 8 + burst + one frame, and of a
 * stream with a count no more than count frames for each start.
 */
#ifndef QUENCH_NIC_FRAMES_FRAMES_H
#define QUENCH_NIC_FRAMES_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/frames/template.h"

struct node;
struct nic;
struct rte_mbuf;
struct rte_mempool;

#define NIC_FRAMES_STREAMS 256u

struct nic_frames_params {
	struct nic_frames_template template;
	int8_t queue;           /* the queue whose pause it obeys; -1: it obeys none */
	bool cut_through;       /* latency of signed frames counts from the first bit */
	uint16_t signature;     /* id; 0: frames are not signed */
	uint64_t rate_bps;      /* wire bytes; 0: rate_pps */
	uint64_t rate_pps;      /* 0: rate_bps */
	uint64_t count;         /* frames of a start; 0: no limit */
	uint64_t duration_ns;   /* of a start, without the delay; 0: no limit */
	uint64_t delay_ns;      /* from the start to the first frame */
	uint32_t burst_packets; /* 0: frames follow each other at the rate */
	uint64_t burst_gap_ns;
};

/**
 * Add streams, all of them stopped, before the node runs. The params are copied.
 * @param pool  Of mbufs with room for the largest frame; must outlive the node.
 * @return      0 or -ENOMEM.
 */
int nic_frames_add(struct node *node, const struct nic_frames_params *streams, uint32_t n,
		   struct rte_mempool *pool);
void nic_frames_free(struct nic *nic);

/* Change of a stream by a reload. */
struct nic_frames_update {
	bool started;
	bool paused;                            /* sends nothing, and goes on afterwards */
	const struct nic_frames_params *params; /* NULL: as before; not owned */
};

/** Put an update of each stream in force, at one instant. In the owner's thread. */
void nic_frames_update(struct nic *nic, const struct nic_frames_update *updates, uint64_t now_ns);

struct nic_frames_info {
	uint64_t tx_packets, tx_bytes; /* of all starts; with FCS */
	uint64_t missed_bytes;         /* of all starts: on the wire, by the rate */
	bool started;                  /* frames are left of the last start */
	bool paused;
};

/** From any thread. */
struct nic_frames_info nic_frames_info(const struct node *node, uint32_t i);

/** The next frame that may leave, or NULL. Only with nic->frames. */
struct rte_mbuf *nic_frames_next(struct nic *nic, uint8_t open_queues, uint64_t now_ns);
/** The earliest time at which nic_frames_next() could return one. Only with nic->frames. */
uint64_t nic_frames_next_ns(const struct nic *nic);

#endif
