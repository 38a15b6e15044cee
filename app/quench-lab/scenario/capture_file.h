/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that an event sends: from hexadecimal digits, or from a capture, read whole with libpcap:
 * pcap and pcapng, times in us or ns, of Ethernet. A frame that was cut when it was captured is as
 * long as what is left of it. Captures have no FCS.
 */
#ifndef QUENCH_APP_QUENCH_LAB_SCENARIO_CAPTURE_FILE_H
#define QUENCH_APP_QUENCH_LAB_SCENARIO_CAPTURE_FILE_H

#include "fabric/scenario/scenario.h"

/* Of a frame in an mbuf, with its headroom; and of a file in memory. */
#define CAPTURE_MAX_FRAME 16000u
#define CAPTURE_MAX_BYTES (1ull << 30)

/** @return 0, or -EINVAL with what was expected in why. capture_release() after both. */
int capture_from_hex(const char *digits, struct event_frames *out, char *why, size_t why_size);

/** As capture_from_hex(). Times count from the first frame; one that steps back stands still. */
int capture_from_file(const char *path, struct event_frames *out, char *why, size_t why_size);

void capture_release(struct event_frames *frames);

#endif
