/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fabric whose nodes are divided among ranks (ranks/ranks.h). Each rank knows the places and
 * cables of all nodes, and runs its own nodes. A node of rank q counts as being in part
 * n_parts + q, so that frames to it wait in a box as those to another part do.
 *
 * The ranks exchange these boxes and the times of their next events, from which all compute the
 * same time before which no frame of another rank can arrive: that of the next event of all and the
 * fastest cable between two ranks. Up to it, each rank has as many windows as its own cables want.
 *
 * Frames of one direction come from one node, so their order needs no further key.
 */
#ifndef QUENCH_FABRIC_LINKS_FABRIC_RANKS_H
#define QUENCH_FABRIC_LINKS_FABRIC_RANKS_H

#include "fabric/links/fabric_state.h"

/**
 * Between windows: frames to other ranks leave, those from there are put on their cables, and
 * before_ns is computed anew.
 * @param next_ns  When the next event of this rank can be, without these frames.
 * @return         When the next one of all ranks can be; NEVER_NS also if a rank has failed, and
 *                 all know it.
 */
uint64_t abroad_exchange(struct fabric *f, uint64_t next_ns);
/**
 * Call between windows: put on the cables the frames that parts and ranks sent to each other since
 * the last one began.
 */
void fabric_collect(struct fabric *f);
void abroad_free(struct fabric *f);

#endif
