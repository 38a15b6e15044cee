/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host that also sends streams of raw frames, as a tester does for background traffic.
 *
 * The tester is a node around the host's NIC and shares the NIC's port: frames of NIC and streams
 * alternate. The NIC receives pauses, and a stream obeys those of its priority. Frames of a stream
 * are spaced at its rate. A stream that had to wait for longer than the time between two frames
 * goes on at its rate from then, and does not catch up.
 *
 * A frame ends with a mark, the number of its stream and its own number. The tester that it is for
 * counts it, and its NIC does not see it.
 */
#ifndef QUENCH_FABRIC_TESTER_TESTER_H
#define QUENCH_FABRIC_TESTER_TESTER_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"
#include "node/node_pieces.h"

struct rte_mempool;

#define TESTER_HEADER_BYTES 64u
/* The mark and the two numbers. */
#define TESTER_TAIL_BYTES 12u

struct tester_stream {
	uint8_t header[TESTER_HEADER_BYTES];
	uint32_t header_bytes;
	uint32_t frame_bytes; /* without FCS; zeros between header and tail */
	uint32_t udp_at;      /* offset of the UDP header; 0: none */
	uint16_t udp_sports;  /* successive frames take this number of ports in turn */
	uint8_t prio;         /* whose pause it obeys */
	bool obey_pause;
	uint64_t rate_bps; /* in wire bytes */
	uint64_t start_ns, stop_ns;
	uint64_t count; /* 0: no limit */
	uint32_t index; /* unique in a fabric */
};

struct tester_stats {
	uint64_t tx_packets, tx_bytes; /* wire bytes */
	uint64_t no_mbuf;              /* frames that were left out */
	uint64_t held_ns;              /* time that frames waited, beyond the time between two */
};

struct tester_params {
	struct node *nic; /* one port */
	struct rte_mempool *frames;
	uint64_t link_speed_bps;
	const struct tester_stream *streams; /* copied */
	uint32_t n_streams;
	/* by index of a stream, for all streams of the fabric: packets received here */
	uint32_t all_streams;
	uint64_t seed; /* of the order of streams that are due at one time */
};

/** @return owned by the caller, or NULL with errno ENOMEM. The NIC stays the caller's. */
struct node *tester_create(const struct tester_params *params);
void tester_destroy(struct node *node);

/** Call after a direct call has changed the NIC. */
void tester_wake(struct node *node);

/** Statistics of this tester's stream i. */
const struct tester_stats *tester_sent(const struct node *node, uint32_t i);
/** List what readers read: node/node_pieces.h. */
void tester_pieces(struct node *node, struct node_pieces *to);
/** Frames of the stream with this index that have arrived here. */
uint64_t tester_received(const struct node *node, uint32_t index);

#endif
