/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC transmit state of one port: which priorities hold their peer, and which frame is due (what to
 * send, not how). IEEE 802.1Qbb; 802.3 Annex 31D.
 *
 * XOFF is sent with pfc_xoff_quanta and sent again every pfc_refresh_pct of that time while it
 * holds, so that the peer's timer never runs out; XON is one frame with time 0. One frame carries
 * all changes and refreshes that are due. A frame takes 84 bytes of the wire, 1.3 quanta, so that
 * two of them are never closer than the one quantum that receivers ask for.
 *
 * Invariants (tested): the peer is told every change that lasts until a frame leaves and no other;
 * every XOFF is followed by an XON; a refresh is due before the time told has passed.
 */
#ifndef QUENCH_TM_PFC_TX_H
#define QUENCH_TM_PFC_TX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "base/units.h"
#include "tm/qos_map.h"

struct pfc_params {
	uint16_t pfc_xoff_quanta; /* 1..65535; 65535 */
	uint8_t pfc_refresh_pct;  /* of the pause time; 50 */
};

extern const struct field pfc_fields[];
extern const unsigned int pfc_fields_n;

/** Nanoseconds of quanta (512 bit times each) at a port's speed, rounded down; 65535 at 1 Mb/s
 * is 33.6 s. */
uint64_t pfc_quanta_ns(uint16_t quanta, uint64_t speed_bps);

/* What a PFC frame says: bit n of enable set means quanta[n] counts. */
struct pfc_vector {
	uint8_t enable;
	uint16_t quanta[TM_CLASSES];
};

/* Durations run from the XOFF that left to the XON that left. */
struct pfc_tx_stats {
	uint64_t tx_pause[TM_CLASSES]; /* frames with the priority's bit, XOFF, refresh and XON */
	uint64_t tx_pause_transition[TM_CLASSES];  /* XOFF to XON */
	uint64_t tx_pause_duration_ns[TM_CLASSES]; /* ended pauses; pfc_tx_duration_ns() adds the
						      running one */
};

struct pfc_tx {
	uint8_t xoff; /* mask: state wanted */
	uint8_t sent; /* mask: state last sent */
	uint16_t quanta;
	uint32_t seq;                  /* of told, since_ns and stats: base/seq.h */
	uint64_t refresh_due_ns;       /* earliest of next_ns[] */
	uint64_t refresh_ns;           /* period */
	uint64_t next_ns[TM_CLASSES];  /* refresh due; NEVER_NS when told XON */
	uint64_t since_ns[TM_CLASSES]; /* when the present XOFF left */
	struct pfc_tx_stats stats;
};

void pfc_tx_init(struct pfc_tx *p, const struct pfc_params *params, uint64_t speed_bps);

/** Other params from the next frame on: a pause that was told is refreshed as it was going to
 * be. */
void pfc_tx_set_params(struct pfc_tx *p, const struct pfc_params *params, uint64_t speed_bps);

/** State wanted, whether or not the peer has been told yet. */
static inline bool
pfc_tx_is_xoff(const struct pfc_tx *p, uint8_t prio)
{
	return p->xoff >> prio & 1;
}

/** Set the state wanted for one priority. A change before the frame left is taken back silently. */
void pfc_tx_set(struct pfc_tx *p, uint8_t prio, bool xoff, uint64_t now_ns);

/** Set the state wanted for all priorities at once. */
void pfc_tx_set_all(struct pfc_tx *p, uint8_t xoff);

/** The link went down: the peer knows of no XOFF any more, and none is wanted. */
void pfc_tx_reset(struct pfc_tx *p, uint64_t now_ns);

/** Is a frame due now? Fills in out and counts it as sent. out is untouched when the answer is
 * no. */
bool pfc_tx_take(struct pfc_tx *p, struct pfc_vector *out, uint64_t now_ns);

/** When pfc_tx_take() will have a frame: 0 when at once, NEVER_NS when all is XON. */
static inline uint64_t
pfc_tx_next_ns(const struct pfc_tx *p)
{
	return p->xoff != p->sent ? 0 : p->refresh_due_ns;
}

/** Pause time so far, the running XOFF included. From any thread. */
uint64_t pfc_tx_duration_ns(const struct pfc_tx *p, uint8_t prio, uint64_t now_ns);

#endif
