/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC transmit state of one port: which priorities are paused at the peer, and which frame is due.
 * It decides what to send, not how. IEEE 802.1Qbb; 802.3 Annex 31D.
 *
 * XOFF carries pfc_xoff_quanta and is repeated every pfc_refresh_pct of that time while it lasts,
 * so that the peer's timer never runs out. XON is one frame with time 0. One frame carries all
 * changes and refreshes that are due. A frame takes 84 bytes on the wire, or 1.3 quanta, so two
 * frames are always at least one quantum apart, as receivers require.
 *
 * Invariants (tested): the peer receives every change that is still valid when a frame leaves, and
 * no other; every XOFF is followed by an XON; a refresh is due before the advertised pause time has
 * passed.
 */
#ifndef QUENCH_TM_PFC_PFC_TX_H
#define QUENCH_TM_PFC_PFC_TX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field.h"
#include "base/numbers/units.h"
#include "tm/classes/qos_map.h"
#include "tm/pfc/pause_log.h"

struct pfc_params {
	uint16_t pfc_xoff_quanta; /* 1..65535; 65535 */
	uint8_t pfc_refresh_pct;  /* of the pause time; 50 */
};

FIELD_TABLE(pfc_fields);

/**
 * Duration of quanta (512 bit times each) at a port's speed in ns, rounded down. 65535 quanta at 1
 * Mb/s are 33.6 s.
 */
uint64_t pfc_quanta_ns(uint16_t quanta, uint64_t speed_bps);

/* Content of a PFC frame: quanta[n] is valid if bit n of enable is set. */
struct pfc_vector {
	uint8_t enable;
	uint16_t quanta[TM_CLASSES];
};

/* Durations run from the frame with XOFF to the frame with XON. */
struct pfc_tx_stats {
	uint64_t tx_pause[TM_CLASSES]; /* frames with the priority's bit: XOFF, refresh or XON */
	uint64_t tx_pause_transition[TM_CLASSES]; /* XOFF to XON */
	/* ended pauses; pfc_tx_duration_ns() adds the current one */
	uint64_t tx_pause_duration_ns[TM_CLASSES];
};

/*
 * Who wants to know when a pause of the peer begins and when it ends. fn is called as the frame
 * leaves, and for each pause that pfc_tx_reset() ends. It must not call this module.
 */
struct pfc_tx_watch {
	void (*fn)(void *arg, uint8_t prio, bool xoff, uint64_t now_ns); /* NULL: nobody */
	void *arg;
};

struct pfc_tx {
	uint8_t xoff; /* mask: requested state */
	uint8_t sent; /* mask: last state sent */
	uint16_t quanta;
	uint32_t seq;                  /* base/threads/seq.h: protects sent, since_ns, stats, log */
	uint64_t refresh_due_ns;       /* earliest of next_ns[] */
	uint64_t refresh_ns;           /* period */
	uint64_t next_ns[TM_CLASSES];  /* refresh due; NEVER_NS after XON */
	uint64_t since_ns[TM_CLASSES]; /* when the current XOFF was sent */
	struct pfc_tx_stats stats;
	struct pause_log log;
	struct pfc_tx_watch watch;
};

void pfc_tx_init(struct pfc_tx *p, const struct pfc_params *params, uint64_t speed_bps);

/** Apply params from the next frame on. A pause already sent is still refreshed as scheduled. */
void pfc_tx_set_params(struct pfc_tx *p, const struct pfc_params *params, uint64_t speed_bps);

/** Requested state, sent or not. */
static inline bool
pfc_tx_is_xoff(const struct pfc_tx *p, uint8_t prio)
{
	return p->xoff >> prio & 1;
}

/**
 * Request the state of one priority. A change that is reverted before a frame leaves is not sent.
 */
void pfc_tx_set(struct pfc_tx *p, uint8_t prio, bool xoff, uint64_t now_ns);

/** Request the state of all priorities. */
void pfc_tx_set_all(struct pfc_tx *p, uint8_t xoff);

/** The link went down: the peer's pauses have ended. What is requested stays. */
void pfc_tx_reset(struct pfc_tx *p, uint64_t now_ns);

/** Is a frame due? If so, fill in out and count it as sent; otherwise leave out unchanged. */
bool pfc_tx_take(struct pfc_tx *p, struct pfc_vector *out, uint64_t now_ns);

/**
 * Time at which pfc_tx_take() will have a frame: 0 for at once, NEVER_NS while everything is XON.
 */
static inline uint64_t
pfc_tx_next_ns(const struct pfc_tx *p)
{
	return p->xoff != p->sent ? 0 : p->refresh_due_ns;
}

/** Would pfc_tx_take() repeat an XOFF? Then it has a frame, whatever changes before the call. */
static inline bool
pfc_tx_refresh_is_due(const struct pfc_tx *p, uint64_t now_ns)
{
	return p->refresh_due_ns <= now_ns;
}

/** Total pause time, including a current XOFF. From any thread. */
uint64_t pfc_tx_duration_ns(const struct pfc_tx *p, uint8_t prio, uint64_t now_ns);

/**
 * The latest pauses of the peer that ended, the oldest first, then those in force. From any thread.
 * @return their number.
 */
unsigned int pfc_tx_pauses(const struct pfc_tx *p, struct pause_view out[PAUSE_LOG_MOST],
			   uint64_t now_ns);

#endif
