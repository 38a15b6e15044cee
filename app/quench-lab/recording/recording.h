/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * [record NAME]: the frames that a port sends and receives, as a pcapng file in the results'
 * folder.
 *
 * The time of a sent frame is when its last bit leaves, that of a received frame when it arrives.
 * Frames have no FCS.
 *
 * Invariant: the times in a file never decrease.
 */
#ifndef QUENCH_APP_QUENCH_LAB_RECORDING_RECORDING_H
#define QUENCH_APP_QUENCH_LAB_RECORDING_RECORDING_H

#include "fabric/net/net.h"

struct recordings;

/** Remove the unfinished files of a run that was killed, whatever their names. */
void recordings_remove_parts(const char *dir);

/**
 * Open a file with the suffix ".part" in dir for each [record NAME] and tap its port. Of several
 * ranks, all tap it, and those but rank 0 have no dir (NULL).
 * @return owned by the caller, or NULL after an error line.
 */
struct recordings *recordings_open(const struct scenario *s, struct net *net, const char *dir);

/**
 * Pass the frames of a recorded port on to another pair of taps, of which either may be empty: a
 * cable has room for only one pair at each end.
 * @return false: the port is not recorded (r may be NULL).
 */
bool recordings_share(struct recordings *r, struct fabric_end end, struct cable_tap sent,
		      struct cable_tap received);

/**
 * Write the frames up to now_ns, the time that the fabric has reached. All ranks call it together.
 */
void recordings_flush(struct recordings *r, uint64_t now_ns);

/**
 * Close the files, and give them their names (keep) or remove them. r may be NULL.
 * @return 0, or -EIO after an error line.
 */
int recordings_close(struct recordings *r, bool keep);

#endif
