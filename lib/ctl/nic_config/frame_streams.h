/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of frames from templates: [frames NAME]. The template is hexadecimal. Patterns, lengths
 * and checksums are texts of their own, whose forms the help of the keys states.
 */
#ifndef QUENCH_CTL_NIC_CONFIG_FRAME_STREAMS_H
#define QUENCH_CTL_NIC_CONFIG_FRAME_STREAMS_H

#include "ctl/config/config_kinds.h"
#include "nic/frames/frames.h"

#define NIC_STREAM_NAME_CHARS 32
#define NIC_STREAM_HEADER_CHARS (2 * NIC_FRAMES_HEADER_BYTES)
#define NIC_STREAM_PATTERNS_CHARS 8191u
#define NIC_STREAM_SIZES_CHARS 255u

enum nic_stream_latency { NIC_LATENCY_STORE_FORWARD, NIC_LATENCY_CUT_THROUGH };

/* One [frames NAME]. */
struct nic_stream {
	char name[NIC_STREAM_NAME_CHARS + 1];
	char header[NIC_STREAM_HEADER_CHARS + 1];
	char patterns[NIC_STREAM_PATTERNS_CHARS + 1];
	char sizes[NIC_STREAM_SIZES_CHARS + 1];
	char checksums[NIC_STREAM_SIZES_CHARS + 1];
	bool stopped;
	bool paused;
	int latency;                     /* enum nic_stream_latency */
	struct nic_frames_params params; /* its template is made of the texts */
};

FIELD_TABLE(nic_stream_fields);

/**
 * Make params of the texts, and check rules across keys.
 * @return 0, or -EINVAL with err filled in.
 */
int nic_stream_finish(struct config *cfg, struct nic_stream *s, struct config_error *err);

#endif
