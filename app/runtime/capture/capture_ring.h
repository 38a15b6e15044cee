/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames on their way from a polling lcore to the thread that writes them: records of different
 * lengths in a ring of bytes, with one producer and one consumer. A frame for which there is no
 * room is lost and counted; the producer never waits.
 *
 * The producer puts frames and publishes them later: of the frames offered to a device, only those
 * that it took have been sent.
 *
 * Invariant (tested): frames published = frames taken + frames lost + frames in the ring, and each
 * record says how many were lost before it.
 */
#ifndef QUENCH_APP_RUNTIME_CAPTURE_CAPTURE_RING_H
#define QUENCH_APP_RUNTIME_CAPTURE_CAPTURE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "ctl/output/pcapng.h"
#include "node/node.h"

/* Before the bytes of each frame; a multiple of 8 bytes. */
struct capture_record {
	uint32_t n_bytes; /* captured */
	uint32_t frame_bytes;
	uint64_t at_ns;
	uint64_t lost; /* frames of this ring, before this one */
	enum pcapng_way way;
	char why[NODE_WHY_CHARS]; /* what the node did to it; "": nothing to say */
};

/* The producer's end of the ring. */
struct capture_mark {
	uint64_t end, lost;
};

struct capture_ring {
	uint8_t *bytes;
	uint64_t size; /* a power of two */
	/* the producer's */
	struct capture_mark put __rte_cache_aligned; /* frames not published yet, too */
	uint64_t known_first;
	_Atomic uint64_t end;
	_Atomic uint64_t lost;
	/* the consumer's */
	_Atomic uint64_t first __rte_cache_aligned;
};

/** @param bytes  A power of two, at least 65536. @return 0 or -ENOMEM. */
int capture_ring_init(struct capture_ring *ring, uint64_t bytes);
void capture_ring_free(struct capture_ring *ring);

/**
 * Copy at most snap_bytes of a frame, or lose it.
 * @return  its record, whose text why the caller may write until it is published; NULL: lost.
 */
struct capture_record *capture_ring_put(struct capture_ring *ring, const struct rte_mbuf *frame,
					uint32_t snap_bytes, enum pcapng_way way, uint64_t at_ns);

/** Where the producer is: the frames put so far. */
static inline struct capture_mark
capture_ring_mark(const struct capture_ring *ring)
{
	return ring->put;
}

/** Publish the frames before a mark, and forget those after it. */
void capture_ring_publish(struct capture_ring *ring, const struct capture_mark *mark);

/** The oldest frame, or NULL. Its bytes follow it; valid until capture_ring_take(). */
const struct capture_record *capture_ring_peek(struct capture_ring *ring);
/** Take the frame that capture_ring_peek() has returned. */
void capture_ring_take(struct capture_ring *ring);

#endif
