/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notification point of a QP, address pair or port: which CE marks cause a CNP, and when.
 *
 * SIGCOMM 2015 section 3.1, figure 6: a marked packet of an idle flow causes a CNP at once and
 * opens a window of N. At the end of a window a CNP is sent if a marked packet arrived in it; else
 * the flow is idle.
 *
 * Invariants (tested): no CNP without CE; CNPs are at least N apart; t ns of continuous CE cause at
 * most 1 + floor(t / N) CNPs. With N = 0 every marked packet causes one.
 *
 * struct np has one owner. A unit whose marks arrive on several lcores has a gate instead: the time
 * of the last CNP in one word. A compare-and-swap passes it, so only one of several racing lcores
 * sends.
 *
 * Both store when a window began, so that a change of N holds for windows that run.
 */
#ifndef QUENCH_CC_POINTS_NP_H
#define QUENCH_CC_POINTS_NP_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/field/field.h"
#include "base/numbers/units.h"

/* The unit to which N applies; adapters call it CNP moderation. */
enum np_moderation { NP_PER_QP, NP_PER_IP_PAIR, NP_PER_PORT };

/* np_cnp_delay is at most this number times N, which limits the delayed CNPs of a unit. */
#define NP_MOST_IN_DELAY 64

struct np_params {
	uint32_t np_min_time_between_cnps_us; /* N */
	int np_cnp_moderation;                /* enum np_moderation */
	uint32_t np_cnp_delay_ns;             /* from the decision to the CNP's departure */
	uint32_t np_min_port_cnp_interval_ns; /* minimum time between CNPs of the port */
	uint8_t np_cnp_dscp;
	uint8_t np_cnp_prio; /* PCP on tagged links */
	int np_cnp_ecn;      /* code point: 0 Not-ECT, 1 ECT(1), 2 ECT(0) */
	bool np_ecn_echo;    /* ACKs echo marks, in place of CNPs */
};

/* Words for the ECN code points of what a NIC sends, up to NULL. */
extern const char *const np_code_points[];

FIELD_TABLE(np_fields);

/** Ranges and rules across keys. @return 0, or as params_refuse(). */
int np_params_check(const struct np_params *params, char *why, unsigned int why_size);

/* The owner of the QPs counts these; the functions below only decide. */
struct np_stats {
	uint64_t np_ecn_marked_roce_packets;
	uint64_t np_cnp_sent;
	uint64_t np_ce_on_control; /* CE on a CNP, ACK or NAK: counted, without a CNP */
};

COUNTER_TABLE(np_counters);

/* Zero-initialised state is an idle flow. */
struct np {
	/* Start of the window. All windows last N, so a FIFO of units is sorted by this. */
	uint64_t start_ns : 62;
	uint64_t runs : 1;    /* a window; else the flow is idle */
	uint64_t ce_seen : 1; /* a marked packet of this window has no CNP yet */
};
static_assert(sizeof(struct np) == 8, "as many as there are QPs");

/**
 * Handle a valid data packet with CE. If a window with a marked packet has ended without a call of
 * np_on_window_end(), one CNP answers both that packet and this one.
 *
 * @param interval_ns  N.
 * @return true: send a CNP now (a window opened now).
 */
bool np_on_ce(struct np *np, uint64_t interval_ns, uint64_t now_ns);

/**
 * End the window if it is over; a call before its end changes nothing.
 *
 * @return true: send a CNP now. A new window opened at now_ns, not at the end of the old one, so
 *         that CNPs stay N apart after a late call.
 */
bool np_on_window_end(struct np *np, uint64_t interval_ns, uint64_t now_ns);

/* Inline definitions */

/** When a gate opens that was last passed at passed_ns. */
static inline uint64_t
np_gate_opens_ns(uint64_t passed_ns, uint64_t interval_ns)
{
	return passed_ns == 0 ? 0 : passed_ns + interval_ns;
}

/**
 * Pass the gate of a shared unit for a pending mark, once the gate has opened. Fails if another
 * lcore has passed it since the mark: its CNP answers this mark too.
 *
 * @param gate_ns  Atomic: time of the last CNP, or 0. Zero-initialised state is open.
 * @param seen_ns  Result of np_gate_pass() for the mark; its gate has opened.
 * @return         true: send a CNP now.
 */
static inline bool
np_gate_pass_from(uint64_t *gate_ns, uint64_t seen_ns, uint64_t now_ns)
{
	assert(seen_ns <= now_ns);
	return __atomic_compare_exchange_n(gate_ns, &seen_ns, now_ns + (now_ns == 0), false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/**
 * Pass the gate of a shared unit, which closes it for the interval. Invariant (tested): any two
 * passes are at least an interval apart, whatever the order of the lcores and the difference of
 * their clocks.
 *
 * @return  0: send a CNP now; else the time of the last pass, which still closes the gate.
 */
static inline uint64_t
np_gate_pass(uint64_t *gate_ns, uint64_t interval_ns, uint64_t now_ns)
{
	uint64_t passed_ns;

	do {
		passed_ns = __atomic_load_n(gate_ns, __ATOMIC_RELAXED);
		if (now_ns < np_gate_opens_ns(passed_ns, interval_ns))
			return passed_ns;
	} while (!np_gate_pass_from(gate_ns, passed_ns, now_ns));
	return 0;
}

/** When to call np_on_window_end(); NEVER_NS if idle. */
static inline uint64_t
np_next_ns(const struct np *np, uint64_t interval_ns)
{
	return np->runs ? np->start_ns + interval_ns : NEVER_NS;
}

#endif
