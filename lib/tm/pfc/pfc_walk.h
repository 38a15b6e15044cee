/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of the pauses of a port, by priority: names as in ethtool. */
#ifndef QUENCH_TM_PFC_PFC_WALK_H
#define QUENCH_TM_PFC_PFC_WALK_H

#include "base/field/walk.h"
#include "tm/pfc/pfc_rx.h"
#include "tm/pfc/pfc_tx.h"

void pfc_walk(struct walk *w, const struct pfc_rx *rx, const struct pfc_tx *tx, uint64_t now_ns);

/** The same for 802.3x link pause, which rx and tx count as priority 0. */
void pfc_walk_link(struct walk *w, const struct pfc_rx *rx, const struct pfc_tx *tx,
		   uint64_t now_ns);

#endif
