/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults of one direction of a cable: random losses of all frames or of one kind; bit errors, after
 * which the receiver's FCS check drops the frame; corruption that no FCS detects; reordering; a
 * link that is down. A tap may also observe its frames. Most cables have none of these and no such
 * object.
 *
 * Losses are independent. A frame of n bits on the wire is damaged with probability
 *   1 - (1 - b)^n,  b = bit_errors_per_tbit / 10^12.
 * Only integers are used, so that the draws do not depend on the compiler.
 *
 * A corrupted frame had a single bit flipped after its FCS check, for instance in a switch's
 * memory, and got a valid FCS on its way out; only RoCEv2's ICRC detects it. The bit is drawn from
 * the end of the BTH to the end of the ICRC. Frames other than RoCEv2 are not corrupted.
 *
 * A late frame is overtaken by the next reorder_frames frames. It arrives right after the last of
 * these, or reorder_delay_ns after its time, whichever comes first. Each direction has at most one
 * late frame at a time; all others keep their order.
 */
#ifndef QUENCH_FABRIC_LINKS_CABLE_H
#define QUENCH_FABRIC_LINKS_CABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/numbers/prng.h"
#include "fabric/links/flights.h"

struct rte_mempool;

/* Kinds of frames to lose: any frame, data and requests, ACK and NAK, CNP, MAC control. */
enum cable_frames {
	CABLE_FRAMES_ANY,
	CABLE_FRAMES_DATA,
	CABLE_FRAMES_ACK,
	CABLE_FRAMES_CNP,
	CABLE_FRAMES_PAUSE,
	CABLE_FRAME_KINDS
};

extern const char *const cable_frames_words[];

enum cable_drop {
	CABLE_DROP_LOSS,
	CABLE_DROP_BIT_ERROR,
	CABLE_DROP_LINK_DOWN, /* sent or in flight while the link was down */
	CABLE_DROP_DATA_LOSS, /* in the order of enum cable_frames */
	CABLE_DROP_ACK_LOSS,
	CABLE_DROP_CNP_LOSS,
	CABLE_DROP_PAUSE_LOSS,
	CABLE_DROP_REASONS,
	CABLE_ARRIVES = CABLE_DROP_REASONS /* result of cable_send(): not lost */
};

/** Counter name, such as "wire_loss". */
const char *cable_drop_name(enum cable_drop d);

struct cable_params {
	uint32_t loss_ppb[CABLE_FRAME_KINDS]; /* lost frames per 10^9 of that kind */
	uint64_t bit_errors_per_tbit;         /* per 10^12 bits */
	uint32_t corrupt_ppb;                 /* per 10^9 frames */
	uint32_t reorder_ppb;                 /* late frames per 10^9 */
	/* number of frames that overtake a late one; 0: all that can before its time */
	uint32_t reorder_frames;
	uint64_t reorder_delay_ns;
	struct rte_mempool *copies; /* pool for corrupted frames; not owned */
	uint64_t seed;
};

#define CABLE_MAX_PPB 1000000000u
#define CABLE_MAX_BIT_ERRORS 1000000000000ull

/** Is any fault set? */
bool cable_params_is_faulty(const struct cable_params *params);

/**
 * Called for a passing frame, at the time of its last bit; at the sender also for a frame that the
 * cable loses. The mbuf is read-only.
 */
typedef void (*cable_tap_fn)(void *arg, const struct rte_mbuf *m, uint64_t at_ns);

struct cable_tap {
	cable_tap_fn fn; /* NULL: no tap */
	void *arg;
};

/* Counts of frames that arrived. */
struct cable_stats {
	uint64_t corrupted, reordered;
	uint64_t corrupt_no_mbuf; /* not corrupted, because no mbuf was free for the copy */
};

/* What one rank has counted of a direction. */
struct cable_counts {
	uint64_t drops[CABLE_DROP_REASONS];
	struct cable_stats stats;
};

static inline void
cable_stats_add(struct cable_stats *sum, const struct cable_stats *s)
{
	sum->corrupted += s->corrupted;
	sum->reordered += s->reordered;
	sum->corrupt_no_mbuf += s->corrupt_no_mbuf;
}

/*
 * State of one direction. The sender's thread calls cable_send(), the receiver's cable_queue() and
 * cable_arrive(); each has its own random numbers, so that their order in time does not matter.
 */
struct cable {
	uint64_t loss_below[CABLE_FRAME_KINDS]; /* threshold for a 64-bit random number */
	bool has_kind_loss;                     /* a kind has its own loss rate */
	uint64_t bit_ok_q64;                    /* probability that a bit is correct; 0: always */
	uint32_t frame_bytes;                   /* frame length for which damaged_below is valid */
	uint64_t damaged_below;
	uint64_t corrupt_below, reorder_below;
	struct cable_params params;
	struct prng rnd;         /* of cable_send() */
	struct prng reorder_rnd; /* of cable_queue() */
	bool down;
	uint64_t last_due_ns;    /* arrival of the last frame in order */
	struct rte_mbuf *late;   /* the last frame on the cable, or NULL */
	uint32_t late_left;      /* frames that may still overtake it */
	struct cable_tap tx, rx; /* taps at the sender and at the receiver */
	uint64_t drops[CABLE_DROP_REASONS];
	struct cable_stats stats;
};

void cable_init(struct cable *c, const struct cable_params *params, uint64_t stream);

/** Change the faults from now on; the random sequence continues. */
void cable_set(struct cable *c, const struct cable_params *params);

/**
 * Send a frame over the cable.
 *
 * @param m            The caller's frame; replaced by the damaged copy if it is corrupted. NULL in
 *                     tests: a frame of no kind.
 * @param frame_bytes  Wire bytes.
 * @return             The reason of its loss, which is counted, or CABLE_ARRIVES.
 */
enum cable_drop cable_send(struct cable *c, struct rte_mbuf **m, uint32_t frame_bytes,
			   uint64_t sent_ns);

/**
 * Insert a frame at its place among those on the cable, which are sorted by due_ns.
 *
 * @param frame  due_ns: arrival time if the cable were empty. Updated.
 * @return       false: out of memory, and the caller keeps the frame.
 */
bool cable_queue(struct cable *c, struct flights *on_cable, struct flight *frame);

/** The first frame on the cable has arrived, and was taken off. */
void cable_arrive(struct cable *c, const struct rte_mbuf *m, uint64_t now_ns);

/** The frames on the cable were lost: count n of them. */
void cable_cut(struct cable *c, uint64_t n);

#endif
