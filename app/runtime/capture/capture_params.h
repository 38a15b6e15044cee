/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client asks of a capture: its filter and its limits. */
#ifndef QUENCH_APP_RUNTIME_CAPTURE_CAPTURE_PARAMS_H
#define QUENCH_APP_RUNTIME_CAPTURE_CAPTURE_PARAMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/field/field.h"
#include "runtime/capture/capture_filter.h"

#define CAPTURE_KIND_CHARS 47

struct capture_params {
	char kind[CAPTURE_KIND_CHARS + 1];
	char match[CAPTURE_MATCH_CHARS + 1];
	struct capture_filter filter;
	uint32_t snap_bytes;
	uint32_t buffer_bytes; /* of each polling lcore: at least; a power of two is used */
	/* limits; 0: none */
	uint64_t most_frames;
	uint64_t most_bytes; /* of the file */
	uint64_t duration_ns;
};

FIELD_TABLE(capture_fields);

/**
 * Read "KEY=VALUE KEY=VALUE".
 *
 * @param words  NULL: none. Is cut into pieces.
 * @param error  On failure, receives a line that names key, value and what was expected.
 * @return       0 or -EINVAL.
 */
int capture_params_read(struct capture_params *p, char *words, char *error, size_t size);

#endif
