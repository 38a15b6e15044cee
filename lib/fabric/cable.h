/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What may happen to frames on one direction of a cable: they are lost at random, damaged by bit
 * errors and so dropped by the receiver's FCS check, or sent into a link that is down; and somebody
 * may look at them. Most cables do none of this and have no such object.
 *
 * Losses are independent of each other. A frame of n bits on the wire is damaged with probability
 * 1 - (1 - b)^n, b = bit_errors_per_tbit / 10^12. Integers only, so all compilers draw alike.
 */
#ifndef QUENCH_FABRIC_CABLE_H
#define QUENCH_FABRIC_CABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"

struct rte_mbuf;

enum cable_drop {
	CABLE_DROP_LOSS,
	CABLE_DROP_BIT_ERROR,
	CABLE_DROP_LINK_DOWN, /* sent, or on the way, while the link was down */
	CABLE_DROPS
};

/** Counter name, e.g. "wire_loss". */
const char *cable_drop_name(enum cable_drop d);

struct cable_params {
	uint32_t frame_loss_ppb;      /* frames of 10^9 that are lost */
	uint64_t bit_errors_per_tbit; /* of 10^12 bits */
	uint64_t seed;
};

#define CABLE_MAX_LOSS_PPB 1000000000u
#define CABLE_MAX_BIT_ERRORS 1000000000000ull

/** A frame that passes, at the time at which its last bit does. The mbuf is only read. */
typedef void (*cable_tap_fn)(void *arg, const struct rte_mbuf *m, uint64_t at_ns);

struct cable_tap {
	cable_tap_fn fn; /* NULL: nobody looks */
	void *arg;
};

/* Of one direction. */
struct cable {
	uint64_t loss_below;  /* of a 64-bit random number */
	uint64_t bit_ok_q64;  /* probability that a bit is right; 0: all are */
	uint32_t frame_bytes; /* that damaged_below is of */
	uint64_t damaged_below;
	struct prng rnd;
	bool down;
	struct cable_tap tx, rx; /* at the sender, and at the receiver */
	uint64_t drops[CABLE_DROPS];
};

void cable_init(struct cable *c, const struct cable_params *params, uint64_t stream);

/**
 * A frame leaves.
 *
 * @param frame_bytes  On the wire.
 * @return             Why it does not arrive, counted, or CABLE_DROPS: it does.
 */
enum cable_drop cable_send(struct cable *c, const struct rte_mbuf *m, uint32_t frame_bytes,
			   uint64_t sent_ns, uint64_t arrives_ns);

#endif
