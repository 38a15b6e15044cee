/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC transmit state of one port: which priorities hold their peer, and which frame is due (what to send,
 * not how). IEEE 802.1Qbb; 802.3 Annex 31D.
 *
 * XOFF is sent with pfc_xoff_quanta and sent again every pfc_refresh_pct of that time while it holds; XON
 * is one frame with time 0. One frame carries all changes that are due. Every XOFF is followed by an XON.
 */
#ifndef QUENCH_TM_PFC_TX_H
#define QUENCH_TM_PFC_TX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "base/units.h"
#include "tm/qos_map.h"

struct pfc_params {
	uint16_t pfc_xoff_quanta;  /* 1..65535; 65535 */
	uint8_t pfc_refresh_pct;   /* of the pause time; 50 */
};

extern const struct field pfc_fields[];
extern const unsigned int pfc_fields_n;

/** Nanoseconds of quanta (512 bit times each) at a port's speed, rounded down; 65535 at 1 Mb/s is 33.6 s. */
uint64_t pfc_quanta_ns(uint16_t quanta, uint64_t speed_bps);

/* What a PFC frame says: bit n of enable set means time[n] counts. */
struct pfc_vector {
	uint8_t enable;
	uint16_t quanta[TM_CLASSES];
};

struct pfc_tx_stats {
	uint64_t tx_pause[TM_CLASSES];            /* frames with the priority's bit, XOFF, refresh and XON */
	uint64_t tx_pause_transition[TM_CLASSES]; /* XOFF to XON */
	uint64_t tx_pause_duration_ns[TM_CLASSES];
};

struct pfc_tx {
	uint64_t refresh_ns;   /* period */
	uint64_t next_ns[TM_CLASSES];  /* refresh due; NEVER_NS when XON */
	uint64_t since_ns[TM_CLASSES]; /* start of the present XOFF */
	uint16_t quanta;
	uint8_t xoff;          /* mask: state wanted */
	uint8_t told;          /* mask: state last sent */
	struct pfc_tx_stats stats;
};

void pfc_tx_init(struct pfc_tx *p, const struct pfc_params *params, uint64_t speed_bps);

static inline bool
pfc_tx_is_xoff(const struct pfc_tx *p, uint8_t prio)
{
	return p->xoff >> prio & 1;
}

/** Set the state wanted for one priority. A change before the frame left is taken back silently. */
void pfc_tx_set(struct pfc_tx *p, uint8_t prio, bool xoff, uint64_t now_ns);

/** Is a frame due now? Fills in out and counts it as sent. */
bool pfc_tx_take(struct pfc_tx *p, struct pfc_vector *out, uint64_t now_ns);

/** When pfc_tx_take() will have a frame: 0 when at once, NEVER_NS when all is XON. */
uint64_t pfc_tx_next_ns(const struct pfc_tx *p);

/** Pause time so far, the running XOFF included. */
uint64_t pfc_tx_duration_ns(const struct pfc_tx *p, uint8_t prio, uint64_t now_ns);

#endif
