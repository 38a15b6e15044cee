/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pause timers of one port: which priorities are paused now? IEEE 802.1Qbb; 802.3 Annex 31D.
 *
 * Bit set and time > 0: the timer is set to the time, whatever is left of it. Bit set and time 0:
 * resume now. Bit clear: no change. A pause also expires without a frame, so a lost XON does no
 * lasting harm. A pause lasts [arrival, arrival + time), even if its expiry is noticed later. A
 * priority that is not enabled is never paused, but its frames are counted. Used by switch and NIC.
 *
 * With a response delay (the "PFC delay" of hardware testers), each frame takes effect later by the
 * delay, and its pause time counts from then. Frames keep their order.
 *
 * One owner; any thread may call pfc_rx_read() and pfc_rx_duration_ns() concurrently.
 */
#ifndef QUENCH_TM_PFC_PFC_RX_H
#define QUENCH_TM_PFC_PFC_RX_H

#include <stdbool.h>
#include <stdint.h>

#include "tm/pfc/pause_log.h"
#include "tm/pfc/pfc_tx.h"

/* Limit of the frames that wait for the end of the response delay. */
#define PFC_RX_WAITING 16

struct pfc_rx_stats {
	uint64_t rx_pause[TM_CLASSES];            /* frames with the priority's bit */
	uint64_t rx_xoff[TM_CLASSES];             /* of these, frames with time > 0 */
	uint64_t rx_pause_transition[TM_CLASSES]; /* ends of a pause */
	/* ended pauses; pfc_rx_duration_ns() adds the current one */
	uint64_t rx_pause_duration_ns[TM_CLASSES];
	/* frames that took effect before their delay, because too many were waiting */
	uint64_t rx_pause_early;
};

/* A frame that takes effect later. */
struct pfc_rx_late {
	uint64_t due_ns;
	struct pfc_vector vector;
};

struct pfc_rx {
	uint64_t next_ns; /* earliest of until_ns[] among paused, and of late[]; NEVER_NS: none */
	uint8_t paused;   /* mask, as of the last call */
	uint8_t enabled;  /* mask */
	uint16_t delay_quanta;
	uint8_t late_first, late_n; /* ring indices of late[] */
	uint32_t seq;               /* base/threads/seq.h: protects the members below */
	uint64_t speed_bps;
	uint64_t until_ns[TM_CLASSES]; /* 0: running */
	uint64_t since_ns[TM_CLASSES];
	struct pfc_rx_stats stats;
	struct pfc_rx_late late[PFC_RX_WAITING];
	struct pause_log log;
};

/** @param speed_bps  Speed of the receiving link; it sets the length of a quantum. */
void pfc_rx_init(struct pfc_rx *p, uint8_t enabled, uint64_t speed_bps);

/** Enable these priorities; pauses of all others end. */
void pfc_rx_set_enabled(struct pfc_rx *p, uint8_t enabled, uint64_t now_ns);

/** Set the delay, in quanta, of the effect of frames that arrive from now on; 0: none. */
void pfc_rx_set_delay(struct pfc_rx *p, uint16_t quanta);

/** The link went down: all pauses end, and delayed frames are discarded. */
void pfc_rx_reset(struct pfc_rx *p, uint64_t now_ns);

/** A PFC frame arrived. @return the mask of paused priorities. */
uint8_t pfc_rx_on_frame(struct pfc_rx *p, const struct pfc_vector *v, uint64_t now_ns);

/** Slow path of pfc_rx_paused(). */
uint8_t pfc_rx_expire(struct pfc_rx *p, uint64_t now_ns);

/**
 * Obey the delayed frames that are due, and expire pauses that have ended.
 * @return mask of paused priorities at now_ns. Cheap enough for every packet.
 */
static inline uint8_t
pfc_rx_paused(struct pfc_rx *p, uint64_t now_ns)
{
	return now_ns < p->next_ns ? p->paused : pfc_rx_expire(p, now_ns);
}

/**
 * Earliest time at which a pause expires or a delayed frame takes effect; NEVER_NS: there is none.
 * The time may be in the past until the next call processes it.
 */
static inline uint64_t
pfc_rx_next_ns(const struct pfc_rx *p)
{
	return p->next_ns;
}

/* Snapshot of one priority. */
struct pfc_rx_view {
	bool paused;
	uint64_t pause_frames, xoff_frames;
	uint64_t duration_ns; /* total pause time, including a current pause */
};

/** Consistent snapshot of one priority, from any thread. */
struct pfc_rx_view pfc_rx_read(const struct pfc_rx *p, uint8_t prio, uint64_t now_ns);

/** Total pause time, including a current pause. */
uint64_t pfc_rx_duration_ns(const struct pfc_rx *p, uint8_t prio, uint64_t now_ns);

/**
 * The latest pauses that ended, the oldest first, then those in force. From any thread.
 * @return their number.
 */
unsigned int pfc_rx_pauses(const struct pfc_rx *p, struct pause_view out[PAUSE_LOG_MOST],
			   uint64_t now_ns);

#endif
