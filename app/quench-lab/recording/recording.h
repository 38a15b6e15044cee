/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * [record NAME]: what a port sends and receives, as a pcapng file in the folder of the results.
 *
 * A sent frame has the time at which its last bit leaves, a received one that at which it arrives.
 * Frames are written in the order of these times; FCS is not among the bytes.
 */
#ifndef QUENCH_APP_QUENCH_LAB_RECORDING_RECORDING_H
#define QUENCH_APP_QUENCH_LAB_RECORDING_RECORDING_H

#include "fabric/net/net.h"

struct recordings;

/**
 * Open a file with the suffix ".part" for each [record NAME] in dir and look at their ports.
 * @return owned by the caller, or NULL after an error line.
 */
struct recordings *recordings_open(const struct scenario *s, struct net *net, const char *dir);

/**
 * Let others see what a recorded port sends and receives: a cable has one tap at each end.
 * @return false: nobody records there (r may be NULL).
 */
bool recordings_share(struct recordings *r, struct fabric_end end, struct cable_tap sent,
		      struct cable_tap received);

/** Write what was seen up to now_ns, up to which the fabric has run. */
void recordings_flush(struct recordings *r, uint64_t now_ns);

/**
 * Write the rest and close. keep: give the files their names, else remove them. NULL: none.
 * @return 0, or -EIO after an error line.
 */
int recordings_close(struct recordings *r, bool keep);

#endif
