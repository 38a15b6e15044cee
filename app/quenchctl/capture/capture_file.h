/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of a capture: whole blocks of pcapng, and what they contain.
 *
 * Invariant: a regular file ends with a whole block, whatever happens, and frames, bytes and lost
 * are those of the blocks in it.
 */
#ifndef QUENCH_APP_QUENCHCTL_CAPTURE_CAPTURE_FILE_H
#define QUENCH_APP_QUENCHCTL_CAPTURE_CAPTURE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture_file {
	int fd;
	uint64_t frames, bytes;
	uint64_t lost;    /* frames */
	bool is_complete; /* the statistics were written */
};

/**
 * Write the whole blocks at the beginning of a stream.
 *
 * @param used  Set to their bytes.
 * @return      0, -EPROTO (no pcapng), or -errno of a write.
 */
int capture_file_add(struct capture_file *f, const uint8_t *stream, size_t n, size_t *used);

#endif
