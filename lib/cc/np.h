/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notification point of one QP, address pair or port: which CE marks deserve a CNP, and when.
 *
 * SIGCOMM 2015 section 3.1, figure 6: a marked packet of an idle flow is answered at once and opens
 * a window of N; at the end of each window a CNP is sent if a marked packet came within it, else
 * the flow is idle.
 *
 * Invariants (tested): no CE, no CNP; two CNPs are at least N apart; t ns of continuous CE give at
 * most 1 + floor(t / N). N = 0 answers every marked packet.
 *
 * struct np is for one owner. Where several lcores see marks of one unit, the unit is a gate: one
 * word, passed by compare-and-swap, so that of lcores that race exactly one sends.
 */
#ifndef QUENCH_CC_NP_H
#define QUENCH_CC_NP_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "base/units.h"

/* What has one CNP in a window of N: how adapters call it, moderation. */
enum np_moderation { NP_PER_QP, NP_PER_IP_PAIR, NP_PER_PORT };

/* CNPs of a unit that are on their way through np_cnp_delay, but one. */
#define NP_MOST_IN_DELAY 64

struct np_params {
	uint32_t np_min_time_between_cnps_us; /* N */
	int np_cnp_moderation;                /* enum np_moderation */
	uint32_t np_cnp_delay_ns;             /* from the decision to the CNP's leaving */
	uint32_t np_min_port_cnp_interval_ns; /* least time between two CNPs of the port */
	uint8_t np_cnp_dscp;
	uint8_t np_cnp_prio; /* PCP on tagged links */
	int np_cnp_ecn;      /* code point: 0 Not-ECT, 1 ECT(1), 2 ECT(0) */
};

extern const struct field np_fields[];
extern const unsigned int np_fields_n;

/** Ranges and rules across keys. @return 0, or as params_refuse(). */
int np_params_check(const struct np_params *params, char *why, unsigned int why_size);

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
	/* 0: idle. All windows last N, so a FIFO of them is ordered by it. */
	uint64_t window_end_ns : 63;
	uint64_t ce_seen : 1; /* in the window, and not answered yet */
};
static_assert(sizeof(struct np) == 8, "as many as there are QPs");

/**
 * A valid data packet with CE came.
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

/**
 * A unit that several lcores share: the window in which a mark came is over; may its CNP be sent?
 * Not if another lcore has passed the gate since: that CNP answered this mark as well.
 *
 * @param gate_ns  Atomic: no CNP before. Zero-initialised state is open.
 * @param seen_ns  What np_gate_pass() returned for the mark; at most now_ns.
 */
static inline bool
np_gate_pass_from(uint64_t *gate_ns, uint64_t seen_ns, uint64_t interval_ns, uint64_t now_ns)
{
	assert(seen_ns <= now_ns);
	return __atomic_compare_exchange_n(gate_ns, &seen_ns, now_ns + interval_ns, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/**
 * May a CNP of a shared unit be sent? Whoever passes closes the gate for the interval. Invariant
 * (tested): between any two passes lies an interval at least, whatever the order in which lcores,
 * each with a time of its own, come.
 *
 * @return  0: send one now; else when the gate opens.
 */
static inline uint64_t
np_gate_pass(uint64_t *gate_ns, uint64_t interval_ns, uint64_t now_ns)
{
	uint64_t opens_ns;

	do {
		opens_ns = __atomic_load_n(gate_ns, __ATOMIC_RELAXED);
		if (now_ns < opens_ns)
			return opens_ns;
	} while (!np_gate_pass_from(gate_ns, opens_ns, interval_ns, now_ns));
	return 0;
}

/** When np_on_window_end() wants to be called; NEVER_NS when idle. */
static inline uint64_t
np_next_ns(const struct np *np)
{
	return np->window_end_ns ? np->window_end_ns : NEVER_NS;
}

#endif
