/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pause timers of one port: which priorities are paused at t? IEEE 802.1Qbb; 802.3 Annex 31D.
 *
 * Bit set and time > 0: the timer is replaced (last value wins). Bit set and time 0: resume now.
 * Bit clear: no change. Expiry resumes without a frame, so a lost XON heals. A pause lasts
 * [arrival, arrival + time): an expiry that was looked at late still ends when it ended. Priorities
 * not enabled neither obey nor count as paused; the frame is still counted. Serves the switch and
 * the NIC alike.
 *
 * A tester's response delay (the "PFC delay" of hardware testers) lets a frame take effect that
 * much later, in order, its pause time counted from then.
 *
 * One owner; pfc_rx_read() may be called from another thread beside it.
 */
#ifndef QUENCH_TM_PFC_RX_H
#define QUENCH_TM_PFC_RX_H

#include <stdbool.h>
#include <stdint.h>

#include "tm/pfc_tx.h"

/* Frames that may wait for the response delay. */
#define PFC_RX_WAITING 16

struct pfc_rx_stats {
	uint64_t rx_pause[TM_CLASSES];             /* frames with the priority's bit */
	uint64_t rx_xoff[TM_CLASSES];              /* of them those with a time above 0 */
	uint64_t rx_pause_transition[TM_CLASSES];  /* paused to running */
	uint64_t rx_pause_duration_ns[TM_CLASSES]; /* ended pauses; pfc_rx_duration_ns() adds the
						      running one */
	uint64_t rx_pause_early; /* frames obeyed before their delay: too many waited */
};

/* A frame that is obeyed later. */
struct pfc_rx_late {
	uint64_t due_ns;
	struct pfc_vector vector;
};

struct pfc_rx {
	uint64_t next_ns; /* earliest of until_ns[] among paused, and of what waits; NEVER_NS: none
			   */
	uint8_t paused;   /* mask as of the last call */
	uint8_t enabled;  /* mask */
	uint16_t delay_quanta;
	uint8_t late_first, late_n; /* of late[] */
	uint32_t seq;               /* of what follows: base/seq.h */
	uint64_t speed_bps;
	uint64_t until_ns[TM_CLASSES]; /* 0: running */
	uint64_t since_ns[TM_CLASSES];
	struct pfc_rx_stats stats;
	struct pfc_rx_late late[PFC_RX_WAITING];
};

/** @param speed_bps  Of the link that the frames arrive on: it sets the length of a quantum. */
void pfc_rx_init(struct pfc_rx *p, uint8_t enabled, uint64_t speed_bps);

/** Obey these priorities from now on; pauses of others end. */
void pfc_rx_set_enabled(struct pfc_rx *p, uint8_t enabled, uint64_t now_ns);

/** Let frames that come from now on wait for so many quanta before they are obeyed; 0: none. */
void pfc_rx_set_delay(struct pfc_rx *p, uint16_t quanta);

/** The link went down: all pauses end, and what waited is forgotten. */
void pfc_rx_reset(struct pfc_rx *p, uint64_t now_ns);

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

/** Earliest expiry or end of a delay, NEVER_NS when there is none. In the past when it was not
 * looked at yet. */
static inline uint64_t
pfc_rx_next_ns(const struct pfc_rx *p)
{
	return p->next_ns;
}

/* One priority at a moment. */
struct pfc_rx_view {
	bool paused;
	uint64_t pause_frames, xoff_frames;
	uint64_t duration_ns; /* pause time so far, the running pause included */
};

/** Read one priority as a whole, from any thread. */
struct pfc_rx_view pfc_rx_read(const struct pfc_rx *p, uint8_t prio, uint64_t now_ns);

/** Pause time so far, the running pause included. */
uint64_t pfc_rx_duration_ns(const struct pfc_rx *p, uint8_t prio, uint64_t now_ns);

#endif
