/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN notification point of one QP: which CE marks deserve a CNP, and when.
 *
 * SIGCOMM 2015 section 3.1, figure 6: a marked packet of an idle flow is answered at once and opens
 * a window of N; at the end of each window a CNP is sent if a marked packet came within it, else
 * the flow is idle.
 *
 * Invariants (tested): no CE, no CNP; two CNPs are at least N apart; t ns of continuous CE give at
 * most 1 + floor(t / N). N = 0 answers every marked packet.
 */
#ifndef QUENCH_CC_NP_H
#define QUENCH_CC_NP_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "base/units.h"

struct np_params {
	uint32_t np_min_time_between_cnps_us; /* N */
	uint8_t np_cnp_dscp;
	uint8_t np_cnp_prio; /* PCP on tagged links */
};

extern const struct field np_fields[];
extern const unsigned int np_fields_n;

/* Counted by the owner of the QPs: the functions below only decide. */
struct np_stats {
	uint64_t np_ecn_marked_roce_packets;
	uint64_t np_cnp_sent;
	uint64_t np_ce_on_control; /* CE on CNP, ACK or NAK: counted, not answered */
};

extern const struct counter_field np_counters[];
extern const unsigned int np_counters_n;

/* Zero-initialised state is an idle flow. */
struct np {
	/* 0: idle. Windows of all QPs last N, so a FIFO of QPs is ordered by it. */
	uint64_t window_end_ns : 63;
	uint64_t ce_seen : 1; /* in the window, and not answered yet */
};
static_assert(sizeof(struct np) == 8, "one word: there are as many as QPs");

/**
 * A valid data packet with CE came for this QP.
 *
 * A window that ended with a marked packet in it and was not looked at since is settled by the same
 * CNP: one CNP may answer many marked packets.
 *
 * @return true: send a CNP now (a window opened now).
 */
bool np_on_ce(struct np *np, const struct np_params *params, uint64_t now_ns);

/**
 * The window may have ended; a call before its end changes nothing.
 *
 * @return true: send a CNP now (and a new window opened now, not at the end of the old one, so that
 * a late call never brings two CNPs closer than N).
 */
bool np_on_window_end(struct np *np, const struct np_params *params, uint64_t now_ns);

/* Inline definitions */

/** When np_on_window_end() wants to be called; NEVER_NS when idle. */
static inline uint64_t
np_next_ns(const struct np *np)
{
	return np->window_end_ns ? np->window_end_ns : NEVER_NS;
}

#endif
