/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of frames from templates, as testers send them beside RoCEv2: background traffic, pauses,
 * frames with errors.
 *
 * A frame is the template's header, then zeros. Patterns overwrite fields of the header: frame k of
 * a stream gets value k mod n of each pattern. With ip_at, the checksum of IPv4, or that of UDP
 * over IPv6, is computed after that. Frames of a stream are spaced by a token bucket at rate_bps. A
 * stream waits while its queue is paused, and does not catch up by more than the bucket's burst.
 * Streams are served before data and after control frames, and take turns. Every frame is charged
 * to the port's shaper.
 *
 * Starts, stops and changes of parameters are part of a reload (change/nic_reload.h). A start
 * begins again with the first frame of the template. A stream that sends when its parameters change
 * goes on with the next frame of the new template; what is left of its count and duration stays.
 *
 * Invariant (tested): in any time t, bytes sent <= rate_bps t / 8 + burst + one frame, and of a
 * stream with a count no more than count frames for each start.
 */
#ifndef QUENCH_NIC_FRAMES_FRAMES_H
#define QUENCH_NIC_FRAMES_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

struct node;
struct nic;
struct rte_mbuf;
struct rte_mempool;

#define NIC_FRAMES_HEADER_BYTES 120u
#define NIC_FRAMES_PATTERNS 16u
#define NIC_FRAMES_VALUES 64u
#define NIC_FRAMES_STREAMS 256u

/* A field of the header whose value changes from frame to frame. */
struct nic_frames_pattern {
	uint16_t bit;  /* of the header, where the field begins */
	uint8_t width; /* in bits, 1 to 64 */
	bool listed;   /* list[], not first and step */
	uint64_t first, step;
	uint32_t n; /* values, after which the first one follows */
	uint64_t list[NIC_FRAMES_VALUES];
};

struct nic_frames_params {
	uint8_t header[NIC_FRAMES_HEADER_BYTES];
	uint16_t header_bytes;
	uint16_t frame_bytes; /* with FCS */
	uint16_t ip_at;       /* offset of the IP header whose checksum is computed; 0: none */
	int8_t queue;         /* whose pause it obeys; -1: none's */
	uint8_t n_patterns;
	struct nic_frames_pattern patterns[NIC_FRAMES_PATTERNS];
	uint64_t rate_bps;    /* wire bytes */
	uint64_t count;       /* frames of a start; 0: no limit */
	uint64_t duration_ns; /* of a start; 0: no limit */
};

/**
 * Add streams, all of them stopped, before the node runs. The params are copied.
 * @param pool  Of mbufs with room for the largest frame; must outlive the node.
 * @return      0 or -ENOMEM.
 */
int nic_frames_add(struct node *node, const struct nic_frames_params *streams, uint32_t n,
		   uint64_t burst_bytes, struct rte_mempool *pool);
void nic_frames_free(struct nic *nic);

/* What a reload makes of a stream. */
struct nic_frames_update {
	bool started;
	const struct nic_frames_params *params; /* NULL: as before; not owned */
};

/** Put an update of each stream in force, at one instant. In the owner's thread. */
void nic_frames_update(struct nic *nic, const struct nic_frames_update *updates, uint64_t now_ns);

struct nic_frames_info {
	uint64_t tx_packets, tx_bytes; /* of all starts; with FCS */
	bool started;                  /* frames are left of the last start */
};

/** From any thread. */
struct nic_frames_info nic_frames_info(const struct node *node, uint32_t i);

/** The next frame that may leave, or NULL. Only with nic->frames. */
struct rte_mbuf *nic_frames_next(struct nic *nic, uint8_t open_queues, uint64_t now_ns);
/** The earliest time at which nic_frames_next() could return one. Only with nic->frames. */
uint64_t nic_frames_next_ns(const struct nic *nic);

#endif
