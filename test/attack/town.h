/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch with honest hosts, and one port that attacks, in virtual time.
 *
 *   port  VLAN  host
 *   0     10    the attacker, at line rate
 *   1     10    10.0.10.1, a lossless sender at 10 Gb/s to host 2; also sends routed packets to
 * hosts 4 and 5 2     10    10.0.10.2, its receiver 3     10    10.0.10.3, half of a 2:1 lossless
 * incast to host 7 4     20    10.0.20.4, known to the router from the start 5     20    10.0.20.5,
 * a newcomer: silent until ARRIVAL_NS, then it announces itself 6     10    10.0.10.6, the other
 * half of the incast 7     10    10.0.10.7, the incast's receiver
 *
 * All links run at 40 Gb/s, and frames come from the switch's own pool, as they do from a device.
 * Honest hosts obey PFC and answer ARP and neighbour solicitations for their own addresses. A run
 * is compared with the same run without its attacker.
 */
#ifndef QUENCH_TEST_ATTACK_TOWN_H
#define QUENCH_TEST_ATTACK_TOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"
#include "switch/sw.h"

#define TOWN_PORTS 8u
#define TOWN_LINK_BPS (40 * GBPS)
#define TOWN_TICK_NS 200u
/* When the newcomer speaks for the first time. */
#define TOWN_ARRIVAL_NS (500 * NS_PER_US)
/* Longest frame, without FCS, that an attacker sends. */
#define TOWN_FRAME_BYTES 1600u

enum town_host {
	ATTACKER,
	SENDER,
	RECEIVER,
	INCAST_A,
	ROUTED,
	NEWCOMER,
	INCAST_B,
	INCAST_RECEIVER
};

struct town;

/** Write the attacker's frame number n, at least 60 bytes. @return its length without FCS. */
typedef uint16_t attack_frame(uint8_t frame[TOWN_FRAME_BYTES], uint64_t n);

struct attack {
	const char *name;
	attack_frame *frame; /* NULL: nobody attacks */
	/*
	 * Rates that an honest stream keeps, in percent of those without the attack; 0: 95. Less
	 * only where the attack's frames leave by the stream's port in other classes, which DWRR
	 * serves by right.
	 */
	uint8_t lossless_pct, incast_pct;
};

extern const struct attack attacks[];
extern const unsigned int attacks_n;

/** A stream of frames of one kind between two honest hosts. */
struct town_stream {
	uint64_t sent;
	uint64_t in_time; /* arrived before the end of the run: the rate */
	uint64_t arrived; /* with those that still waited in the switch */
};

struct town_result {
	struct town_stream lossless;   /* SENDER to RECEIVER */
	struct town_stream incast;     /* both halves */
	struct town_stream routed;     /* SENDER to ROUTED */
	struct town_stream newcomer;   /* SENDER to NEWCOMER, sent from TOWN_ARRIVAL_NS on */
	uint64_t newcomer_answered_ns; /* first frame that reached the newcomer, from its arrival on
					*/
	uint64_t pauses_sent, pauses_obeyed; /* PFC frames by the switch's counters; by the hosts */
	uint64_t attack_frames;              /* offered by the attacker */
	uint64_t attack_refused;             /* of these, for which the device had no mbuf */
	uint64_t honest_refused;             /* frames of honest hosts for which it had none */
	uint64_t rx_frames, tx_frames;       /* of the switch, in all */
};

/** EAL and pools, once. */
void town_open(void);

/** Run for run_ns. attack_frames > 0: no more frames of the attack than that. */
struct town_result town_run(const struct attack *attack, uint64_t run_ns, uint64_t attack_frames);

/**
 * The attacker alone at line rate: first frames, a call of then(), and n frames more, which the
 * result counts. For measuring what a frame costs in a switch that is warm.
 */
struct town_result town_run_alone(const struct attack *attack, uint64_t first, uint64_t n,
				  void (*then)(void));

const struct attack *attack_of(const char *name);

#endif
