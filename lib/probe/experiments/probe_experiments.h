/* SPDX-License-Identifier: BSD-3-Clause */
/* The experiments, and their functions: one call for each event, until it returns true. */
#ifndef QUENCH_PROBE_EXPERIMENTS_PROBE_EXPERIMENTS_H
#define QUENCH_PROBE_EXPERIMENTS_PROBE_EXPERIMENTS_H

#include "probe/core/prober_core.h"

#define PROBE_NO_DATA "the NIC sends no data to the prober"
#define PROBE_NO_CNPS "the NIC sends no CNPs"
#define PROBE_NO_REACTION "no reaction to CNPs: no DCQCN"

/* Length of the pauses, in quanta. */
#define PROBE_QUANTA 20000u

/* Time of pause quanta on the link. */
double probe_quanta_ns(const struct prober *p, double quanta);

/* Reaction point: the first CNP and alpha; many CNPs; a recovery; the floor; other QPs. */
bool probe_rp_first(struct prober *p, uint64_t now_ns);
bool probe_rp_alpha(struct prober *p, uint64_t now_ns);
bool probe_rp_many(struct prober *p, uint64_t now_ns);
bool probe_rp_back_off(struct prober *p, uint64_t now_ns);
bool probe_rp_recovery(struct prober *p, uint64_t now_ns);
bool probe_rp_floor(struct prober *p, uint64_t now_ns);
bool probe_rp_others(struct prober *p, uint64_t now_ns);

/* Notification point: a mark and its CNP; intervals; what does not count. */
bool probe_np_first(struct prober *p, uint64_t now_ns);
bool probe_np_interval(struct prober *p, uint64_t now_ns);
bool probe_np_scope(struct prober *p, uint64_t now_ns);
bool probe_np_others(struct prober *p, uint64_t now_ns);

/* Transport: the NIC as responder, and as requester. */
bool probe_tr_nak(struct prober *p, uint64_t now_ns);
bool probe_tr_reorder(struct prober *p, uint64_t now_ns);
bool probe_tr_answers(struct prober *p, uint64_t now_ns);
bool probe_tr_loss(struct prober *p, uint64_t now_ns);
bool probe_tr_timeout(struct prober *p, uint64_t now_ns);
bool probe_tr_last(struct prober *p, uint64_t now_ns);
bool probe_tr_read(struct prober *p, uint64_t now_ns);
/** Both without a receive. A QP that may not try again ends in error, so it comes late. */
bool probe_tr_rnr(struct prober *p, uint64_t now_ns);

/* Pause frames to the NIC, and from it. */
bool probe_pfc(struct prober *p, uint64_t now_ns);
bool probe_pfc_sent(struct prober *p, uint64_t now_ns);

/* What the headers of data show, and a request that is too long, after which a QP may be dead. */
bool probe_pitfalls(struct prober *p, uint64_t now_ns);

/* All experiments, in the order in which they run. */
extern const struct prober_experiment prober_experiments[];
extern const unsigned int prober_experiments_n;

/** An experiment has ended. If it was too late, its lines of times get "not measured". */
void probe_distrust(struct prober *p);

#endif
