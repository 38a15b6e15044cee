/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pause timers of one port: which priorities are paused at t? IEEE 802.1Qbb; 802.3 Annex 31D.
 *
 * Bit set and time > 0: the timer is replaced (last value wins). Bit set and time 0: resume now.
 * Bit clear: no change. Expiry resumes without a frame, so a lost XON heals. A pause lasts
 * [arrival, arrival + time): an expiry that was looked at late still ends when it ended. Priorities
 * not enabled neither obey nor count as paused; the frame is still counted. Serves the switch and
 * the NIC alike.
 */
#ifndef QUENCH_TM_PFC_RX_H
#define QUENCH_TM_PFC_RX_H

#include <stdint.h>

#include "tm/pfc_tx.h"

struct pfc_rx_stats {
	uint64_t rx_pause[TM_CLASSES];             /* frames with the priority's bit */
	uint64_t rx_pause_transition[TM_CLASSES];  /* paused to running */
	uint64_t rx_pause_duration_ns[TM_CLASSES]; /* ended pauses; pfc_rx_duration_ns() adds the
						      running one */
};

struct pfc_rx {
	uint64_t next_ns; /* earliest of until_ns[] among paused; NEVER_NS when none is */
	uint8_t paused;   /* mask as of the last call */
	uint8_t enabled;  /* mask */
	uint64_t speed_bps;
	uint64_t until_ns[TM_CLASSES]; /* 0: running */
	uint64_t since_ns[TM_CLASSES];
	struct pfc_rx_stats stats;
};

/** @param speed_bps  Of the link that the frames arrive on: it sets the length of a quantum. */
void pfc_rx_init(struct pfc_rx *p, uint8_t enabled, uint64_t speed_bps);

/** A PFC frame came. @return the mask of paused priorities. */
uint8_t pfc_rx_on_frame(struct pfc_rx *p, const struct pfc_vector *v, uint64_t now_ns);

/** Slow path of pfc_rx_paused(). */
uint8_t pfc_rx_expire(struct pfc_rx *p, uint64_t now_ns);

/** Expire what has ended. @return the mask of paused priorities at now_ns. Cheap enough to ask per
 * packet. */
static inline uint8_t
pfc_rx_paused(struct pfc_rx *p, uint64_t now_ns)
{
	return now_ns < p->next_ns ? p->paused : pfc_rx_expire(p, now_ns);
}

/** Earliest expiry, NEVER_NS when none is paused. In the past when an expiry was not looked at yet.
 */
static inline uint64_t
pfc_rx_next_ns(const struct pfc_rx *p)
{
	return p->next_ns;
}

/** Pause time so far, the running pause included. */
uint64_t pfc_rx_duration_ns(const struct pfc_rx *p, uint8_t prio, uint64_t now_ns);

#endif
