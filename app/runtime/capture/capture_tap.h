/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The place in a poll loop at which the frames of a port are copied. While no capture runs, it
 * costs a comparison for each burst.
 *
 * The control thread connects a tap to a lane, and takes the lane away again. A loop says that it
 * uses its lane (busy) before it looks whether it still has one, so that the control thread knows
 * when it may free the lane.
 */
#ifndef QUENCH_APP_RUNTIME_CAPTURE_CAPTURE_TAP_H
#define QUENCH_APP_RUNTIME_CAPTURE_CAPTURE_TAP_H

#include "node/node.h"
#include "runtime/capture/capture_filter.h"
#include "runtime/capture/capture_ring.h"

/* Largest burst. */
#define CAPTURE_BURST 32

/* From one polling lcore to the writer. */
struct capture_lane {
	struct capture_ring ring;
	struct capture_filter filter;
	uint32_t snap_bytes;
};

/* Zero-initialised: off. */
struct capture_tap {
	_Atomic(struct capture_lane *) lane;
	atomic_bool busy;
	struct node_drops *drops; /* of the loop's node, told while a capture runs; NULL: none */
};

/* Frames that are offered to a device. */
struct capture_offer {
	struct capture_lane *lane;                    /* NULL: the capture has ended */
	struct capture_mark after[CAPTURE_BURST + 1]; /* after the first i frames */
};

/* Received frames of which the node may still drop some. */
struct capture_intake {
	struct node_drops drops;       /* first; the node tells it which, and then they say why */
	struct capture_lane *lane;     /* NULL: the capture has ended */
	const struct capture_tap *tap; /* from which the node gets frames now; NULL: none */
	uint16_t n;
	const struct rte_mbuf *pkts[CAPTURE_BURST]; /* those that passed the filter */
	struct capture_record *records[CAPTURE_BURST];
};

/** Does a capture run? */
static inline bool
capture_tap_is_on(const struct capture_tap *tap)
{
	return unlikely(atomic_load_explicit(&tap->lane, memory_order_relaxed) != NULL);
}

/** For node_ops.watch_drops(): the text of a received frame that the node drops. */
void capture_intake_dropped(struct node_drops *intake, uint16_t port, const struct rte_mbuf *m,
			    const char *reason);
/** On the polling lcore: the node drops a frame that was to leave by the tap's port. */
void capture_tap_lost(struct capture_tap *tap, const struct capture_intake *intake,
		      const struct node_lost_frame *frame);
/**
 * On the polling lcore: n frames, at most CAPTURE_BURST, were received, and the node gets them
 * next. Until capture_tap_taken(), intake->drops is wanted.
 */
void capture_tap_received(struct capture_tap *tap, struct capture_intake *intake,
			  struct rte_mbuf *const *pkts, uint16_t n, uint64_t now_ns);
/** The node has them. */
void capture_tap_taken(struct capture_tap *tap, struct capture_intake *intake);

/* Who sends frames, and by which port. */
struct capture_sender {
	const struct node *node;
	uint16_t port;
};

/**
 * On the polling lcore: n frames of the sender, at most CAPTURE_BURST, are about to be offered to
 * the device.
 */
void capture_tap_offer(struct capture_tap *tap, struct capture_offer *offer,
		       struct rte_mbuf *const *pkts, uint16_t n, struct capture_sender sender,
		       uint64_t now_ns);
/** The device took the first n of them. */
void capture_tap_sent(struct capture_tap *tap, const struct capture_offer *offer, uint16_t n);

/** On the control thread: copy frames from now on. */
void capture_tap_connect(struct capture_tap *tap, struct capture_lane *lane);
/** Copy no more, and wait until the loop does not use the lane. */
void capture_tap_disconnect(struct capture_tap *tap);

#endif
