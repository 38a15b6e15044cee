/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames as those who explain a run see them on a cable. */
#ifndef QUENCH_APP_QUENCH_LAB_RECORDING_EXPLAIN_FRAME_H
#define QUENCH_APP_QUENCH_LAB_RECORDING_EXPLAIN_FRAME_H

#include "fabric/net/net.h"
#include "wire/roce/roce.h"

/** Parse a RoCEv2 frame, or the one that a frame with an INT header was. */
bool explain_parse(const struct rte_mbuf *m, struct frame_view *f, struct roce_view *v);

/** Is it a pause frame? @return -1: no, or not for this priority; else whether it pauses. */
int explain_pause(const struct rte_mbuf *m, uint8_t prio);

#endif
