/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What waits in a queue, from which ports it came, and what keeps it there: read by the owner of
 * the port when another thread asks (control/snapshot.h). Nothing is recorded while nobody asks.
 *
 * The owner reads at most SW_LOOK_ENTRIES entries, the oldest ones, and copies the headers of at
 * most SW_LOOK_FRAMES of these frames, evenly spread: a few tens of microseconds for a long queue.
 */
#ifndef QUENCH_SWITCH_CONTROL_QUEUE_LOOK_H
#define QUENCH_SWITCH_CONTROL_QUEUE_LOOK_H

#include <stdint.h>

#include "switch/tables/sw_tables.h"
#include "tm/classes/qos_map.h"

struct sw;

#define SW_LOOK_ENTRIES 4096u
#define SW_LOOK_FRAMES 64u
/* Ethernet, a tag, IPv6, UDP, and the base transport header of RoCEv2, in full words. */
#define SW_LOOK_HEADER_BYTES 80u

/* What keeps the oldest frame of a queue: the first that applies. */
enum sw_hold {
	SW_HOLD_EMPTY,
	SW_HOLD_LINK,     /* the link is down */
	SW_HOLD_DISABLED, /* tx_disabled */
	SW_HOLD_STORM,    /* the PFC watchdog drops the queue's frames */
	SW_HOLD_PAUSE,    /* the peer pauses it */
	SW_HOLD_MAX_RATE, /* max_rate_bps of the queue */
	SW_HOLD_STRICT,   /* queues of strict priority, which go first */
	SW_HOLD_WEIGHTS,  /* it shares the port with other queues by weight */
	SW_HOLD_SHAPER,   /* shaper_rate_bps of the port */
	SW_HOLD_WIRE,     /* nothing: it leaves as fast as the link takes it */
	SW_HOLDS
};

extern const char *const sw_hold_words[SW_HOLDS + 1];

struct sw_look_frames {
	uint64_t bytes; /* charged */
	uint32_t packets;
	uint32_t not_ect_packets; /* can neither be marked nor are marked */
};

/* A frame that waits. */
struct sw_look_header {
	uint32_t charged_bytes;
	uint8_t len; /* of data */
	uint8_t data[SW_LOOK_HEADER_BYTES];
};

struct sw_look {
	uint16_t port; /* asked */
	uint8_t queue; /* asked */
	uint64_t now_ns;
	uint64_t queue_bytes;
	struct sw_look_frames read; /* of the entries that were read */
	/* in_port * TM_CLASSES + priority group: of these entries */
	struct sw_look_frames group[SW_MAX_PORTS * TM_CLASSES];
	struct sw_look_header headers[SW_LOOK_FRAMES];
	uint32_t n_headers;
	enum sw_hold hold;
	uint8_t behind;       /* mask: queues that SW_HOLD_STRICT or SW_HOLD_WEIGHTS are about */
	uint8_t paused_prios; /* mask: pauses that hold the queue */
	uint64_t since_ns;    /* begin of the longest of these pauses */
};

/** By the owner of the port. look: all 0 but for what is asked. */
void sw_look_at(const struct sw *sw, struct sw_look *look, uint64_t now_ns);

#endif
