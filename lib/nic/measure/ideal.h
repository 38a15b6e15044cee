/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion time of a message that is alone on its path, frame by frame.
 *
 * Each node stores and forwards. Frame n of a message, from 0, begins to leave by link j at
 *   s(n, j) = max(s(n, j - 1) + transit(n, j - 1), free(n, j) - burst(j))
 *   free(n + 1, j) = max(s(n, j), free(n, j)) + gap(n, j),
 * where transit is the time on the wire plus the delay of the cable, rounded up to nanoseconds as
 * the event loop of the lab does, gap is the time on the wire, and burst is that of the port's
 * shaper. All frames between the first and the last have one length, and r steps of equal frames
 * are one step with r times the gap: the frames queue at the slowest link so far. So the cost
 * depends on the number of links alone.
 *
 * The sender may also be slower than its link: its pace, the pacing wheel whose slots round waits
 * up, and a window that is smaller than the path. Congestion control is not part of the ideal: what
 * it costs an idle flow counts as slowdown.
 */
#ifndef QUENCH_NIC_MEASURE_IDEAL_H
#define QUENCH_NIC_MEASURE_IDEAL_H

#include <stdbool.h>
#include <stdint.h>

/* Links of a path, in one direction. */
#define IDEAL_MAX_LINKS 65u

struct ideal_link {
	uint64_t ns_per_byte_q32;
	uint64_t delay_ns;
	uint32_t tag_bytes; /* of a VLAN tag that frames have on this link, but not at the host */
	uint32_t burst_bytes;
};

/* The links from a requester to its responder, and those back. */
struct ideal_path {
	uint32_t n_there, n_back;
	struct ideal_link links[]; /* n_there, then n_back */
};

/* Time per byte of a link. rate_bps >= 1 Mb/s. */
static inline uint64_t
ideal_ns_per_byte_q32(uint64_t rate_bps)
{
	return (uint64_t)(((unsigned __int128)8000000000u << 32) / rate_bps);
}

/* Frame lengths are without FCS. */
struct ideal_message {
	uint32_t packets;
	uint32_t first_len, middle_len, last_len; /* a single packet is the first */
	uint32_t request_len; /* of a READ, whose data comes back; 0: the data goes there */
	uint32_t ack_len;     /* unless it is a READ */
	uint64_t begun_ns;
	uint64_t slot_ns;                   /* of the pacing wheel, a power of two */
	uint64_t pace_bps;                  /* of the sender of the data; 0: the link's rate */
	int64_t tokens_nanobits;            /* saved when the data begins, with pace_bps */
	uint32_t window_packets, ack_every; /* unless it is a READ */
	bool waits_for_slot;                /* the message begins with the next slot of the wheel */
};

/** @return completion time, at least 1. */
uint64_t ideal_ns(const struct ideal_path *path, const struct ideal_message *m);

#endif
