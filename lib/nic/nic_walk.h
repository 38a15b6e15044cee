/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters of a NIC and of its QPs (base/field/walk.h). They have these names wherever they
 * are shown, as those of a switch (switch/sw_walk.h) have.
 */
#ifndef QUENCH_NIC_NIC_WALK_H
#define QUENCH_NIC_NIC_WALK_H

#include "base/field/walk.h"
#include "nic/nic.h"

/** All counters of a NIC: its own, drops, those of each algorithm and of the notification point. */
void nic_walk_counters(struct walk *w, const struct nic_stats *stats);

/** A QP: its state, without its flow, and its counters. */
void nic_walk_qp(struct walk *w, const struct nic_qp_info *info);

#endif
