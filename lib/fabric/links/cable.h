/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What may happen to frames on one direction of a cable: they are lost at random, all of them or
 * those of one kind; damaged by bit errors and so dropped by the receiver's FCS check; damaged
 * where no FCS sees it; overtaken; or sent into a link that is down. And somebody may look at them.
 * Most cables do none of this and have no such object.
 *
 * Losses are independent of each other. A frame of n bits on the wire is damaged with probability
 * 1 - (1 - b)^n, b = bit_errors_per_tbit / 10^12. Integers only, so all compilers draw alike.
 *
 * A corrupted frame is one of which a single bit was turned after the check of its FCS, in a
 * switch's memory for instance, and that got a right FCS on its way out: only RoCEv2's ICRC shows
 * it. The bit is any from after the BTH to the end of the ICRC. Other frames are left as they are.
 *
 * A late frame is overtaken by the next reorder_frames frames and arrives right after the last of
 * these, or reorder_delay_ns after its time, whichever comes first. One frame of a direction is
 * late at a time, all others keep their order.
 */
#ifndef QUENCH_FABRIC_LINKS_CABLE_H
#define QUENCH_FABRIC_LINKS_CABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "fabric/links/flights.h"

struct rte_mempool;

/* Which frames are lost: all, data and requests, ACK and NAK, CNP, MAC control. */
enum cable_frames {
	CABLE_FRAMES_ALL,
	CABLE_FRAMES_DATA,
	CABLE_FRAMES_ACK,
	CABLE_FRAMES_CNP,
	CABLE_FRAMES_PAUSE,
	CABLE_FRAMES
};

extern const char *const cable_frames_words[];

enum cable_drop {
	CABLE_DROP_LOSS,
	CABLE_DROP_BIT_ERROR,
	CABLE_DROP_LINK_DOWN, /* sent, or on the way, while the link was down */
	CABLE_DROP_DATA_LOSS, /* in the order of enum cable_frames */
	CABLE_DROP_ACK_LOSS,
	CABLE_DROP_CNP_LOSS,
	CABLE_DROP_PAUSE_LOSS,
	CABLE_DROPS
};

/** Counter name, e.g. "wire_loss". */
const char *cable_drop_name(enum cable_drop d);

struct cable_params {
	uint32_t loss_ppb[CABLE_FRAMES]; /* frames of 10^9 of that kind that are lost */
	uint64_t bit_errors_per_tbit;    /* of 10^12 bits */
	uint32_t corrupt_ppb;            /* frames of 10^9 */
	uint32_t reorder_ppb;            /* frames of 10^9 that are late */
	uint32_t reorder_frames;         /* that overtake; 0: as many as there is time for */
	uint64_t reorder_delay_ns;
	struct rte_mempool *copies; /* for corrupted frames; not owned */
	uint64_t seed;
};

#define CABLE_MAX_PPB 1000000000u
#define CABLE_MAX_BIT_ERRORS 1000000000000ull

/** Does anything happen to frames? */
bool cable_params_is_faulty(const struct cable_params *params);

/** A frame that passes, at the time at which its last bit does. The mbuf is only read. */
typedef void (*cable_tap_fn)(void *arg, const struct rte_mbuf *m, uint64_t at_ns);

struct cable_tap {
	cable_tap_fn fn; /* NULL: nobody looks */
	void *arg;
};

/* What happened to frames that arrived. */
struct cable_stats {
	uint64_t corrupted, reordered;
	uint64_t corrupt_no_mbuf; /* should have been, and there was no mbuf for the copy */
};

/* Of one direction. */
struct cable {
	uint64_t loss_below[CABLE_FRAMES]; /* of a 64-bit random number */
	bool has_kind_loss;                /* some kind has a loss of its own */
	uint64_t bit_ok_q64;               /* probability that a bit is right; 0: all are */
	uint32_t frame_bytes;              /* that damaged_below is of */
	uint64_t damaged_below;
	uint64_t corrupt_below, reorder_below;
	struct cable_params params;
	struct prng rnd;
	bool down;
	uint64_t last_due_ns;    /* arrival of the last frame that keeps its order */
	struct rte_mbuf *late;   /* the last on the cable, or NULL */
	uint32_t late_left;      /* frames that may overtake it still */
	struct cable_tap tx, rx; /* at the sender, and at the receiver */
	uint64_t drops[CABLE_DROPS];
	struct cable_stats stats;
};

void cable_init(struct cable *c, const struct cable_params *params, uint64_t stream);

/** Other faults from now on; seed and random numbers go on as they are. */
void cable_set(struct cable *c, const struct cable_params *params);

/**
 * A frame leaves.
 *
 * @param m            Owned by the caller, who owns what stands there instead: the frame, or its
 *                     damaged copy. NULL in tests: no frame of any kind.
 * @param frame_bytes  On the wire.
 * @return             Why it does not arrive, counted, or CABLE_DROPS: it does.
 */
enum cable_drop cable_send(struct cable *c, struct rte_mbuf **m, uint32_t frame_bytes,
			   uint64_t sent_ns);

/**
 * Put a frame that arrives in its place among those on the cable, which are in the order of their
 * due_ns.
 *
 * @param frame  due_ns: when it would arrive if nothing were before it. Changed.
 * @return       false: there is no memory, and it is still the caller's.
 */
bool cable_queue(struct cable *c, struct flights *on_cable, struct flight *frame);

/** The first frame on the cable, which was taken off it, has arrived. */
void cable_arrive(struct cable *c, const struct rte_mbuf *m, uint64_t now_ns);

/** All that was on the cable was lost: count n frames. */
void cable_cut(struct cable *c, uint64_t n);

#endif
