/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that an event sends, from hexadecimal digits or from a capture, which libpcap reads: pcap
 * or pcapng of Ethernet, times in us or ns. A frame that the capture has truncated stays truncated.
 * Captures have no FCS.
 */
#ifndef QUENCH_APP_QUENCH_LAB_SECTIONS_CAPTURE_FILE_H
#define QUENCH_APP_QUENCH_LAB_SECTIONS_CAPTURE_FILE_H

#include "fabric/scenario/scenario.h"

/* Limits: a frame in an mbuf with its headroom, and a file in memory. */
#define CAPTURE_MAX_FRAME 16000u
#define CAPTURE_MAX_BYTES (1ull << 30)

/** @return 0, or -EINVAL with the expectation in why. Call capture_release() in both cases. */
int capture_from_hex(const char *digits, struct event_frames *out, char *why, size_t why_size);

/** As capture_from_hex(). Times count from the first frame; an earlier time becomes the last. */
int capture_from_file(const char *path, struct event_frames *out, char *why, size_t why_size);

void capture_release(struct event_frames *frames);

#endif
