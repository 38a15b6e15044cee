/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of frames from templates: [frames NAME]. The template is hexadecimal. Patterns are
 * "BIT/WIDTH:FIRST+STEP*N" or "BIT/WIDTH:VALUE,VALUE", separated by spaces: the field of WIDTH bits
 * that begins at this bit of the template.
 */
#ifndef QUENCH_CTL_NIC_CONFIG_FRAME_STREAMS_H
#define QUENCH_CTL_NIC_CONFIG_FRAME_STREAMS_H

#include "ctl/config/config_kinds.h"
#include "nic/frames/frames.h"

#define NIC_STREAM_NAME_CHARS 32
#define NIC_STREAM_TEXT_CHARS (2 * NIC_FRAMES_HEADER_BYTES)

/* One [frames NAME]. */
struct nic_stream {
	char name[NIC_STREAM_NAME_CHARS + 1];
	char header[NIC_STREAM_TEXT_CHARS + 1];
	char patterns[NIC_STREAM_TEXT_CHARS + 1];
	bool stopped;
	struct nic_frames_params params; /* its header and patterns are made of the texts */
};

FIELD_TABLE(nic_stream_fields);

/**
 * Make params of the texts, and check rules across keys.
 * @return 0, or -EINVAL with err filled in.
 */
int nic_stream_finish(struct config *cfg, struct nic_stream *s, struct config_error *err);

#endif
