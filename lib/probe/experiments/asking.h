/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of an experiment to the NIC, and their answers. */
#ifndef QUENCH_PROBE_EXPERIMENTS_ASKING_H
#define QUENCH_PROBE_EXPERIMENTS_ASKING_H

#include "probe/core/prober_core.h"

/**
 * Send the oldest request that was not acknowledged, some times: a responder answers only
 * that one after a lost NAK. It must have its own ACK and no other one, so that no late answer to
 * an earlier request is taken for one to the next step.
 */
#define PROBE_RESYNCS 16u
#define PROBE_RESYNC(p, qp_i)                                                                      \
	(p)->sync_n = 0;                                                                           \
	do {                                                                                       \
		probe_resync(p, qp_i, now_ns);                                                     \
		PROBER_SLEEP(p, (p)->params.settle_ns);                                            \
	} while (!probe_is_synced(p, qp_i) && ++(p)->sync_n < PROBE_RESYNCS)

void probe_resync(struct prober *p, uint32_t qp, uint64_t now_ns);
bool probe_is_synced(const struct prober *p, uint32_t qp);

#define PROBE_NO_TRIP "the round trip is not known: requests were not acknowledged one by one"

/**
 * One more time from a frame of the prober to its answer, which was received as this frame. A time
 * in which the NIC sent nothing else, since p->frames, counts for more: the answer waited for no
 * frame at its port.
 */
void probe_least_add(const struct prober *p, struct prober_least *l, double ns, uint64_t frame);

/** How long an answer may have waited for another frame at the NIC's port. */
double probe_frame_doubt_ns(const struct prober *p, const struct prober_least *l);

/**
 * Note a delay: its value if it is known within 5 %, else only a bound. Lateness is in what was
 * measured, and turn_ns: how long a packet waits in any case, because of the rate of its QP or for
 * a frame that is being sent. Up to prompt_ns it is ok, above sluggish_ns a fault.
 */
struct probe_limits {
	double prompt_ns, sluggish_ns, turn_ns;
};

void probe_say_delay(struct prober *p, enum findings_line line, double delay_ns,
		     struct probe_limits limits, const char *what);

/** Was a PSN acknowledged since entry `since`? */
bool probe_is_acknowledged(const struct prober *p, uint32_t qp, uint64_t since, uint32_t psn);

/** The first answer to a QP since entry `since`, or NULL. */
const struct prober_answer *probe_answer_to(const struct prober *p, uint32_t qp, uint64_t since);

#endif
