/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/capture/capture_file.h"

#include <errno.h>
#include <unistd.h>

#include "ctl/output/pcapng.h"
#include "wire/bytes/le.h"

/* Type, length, and the length again. */
#define LEAST_BLOCK_BYTES 12u
#define MOST_BLOCK_BYTES 0x20000u

/* Bytes of the block at the beginning of a stream. 0: it is not complete. @return 0 or -EPROTO. */
static int
block_at(const uint8_t *stream, size_t n, size_t *bytes)
{
	*bytes = 0;
	if (n < LEAST_BLOCK_BYTES)
		return 0;
	*bytes = le32_load(stream + 4);
	if (*bytes < LEAST_BLOCK_BYTES || *bytes > MOST_BLOCK_BYTES || *bytes % 4 != 0)
		return -EPROTO;
	if (*bytes > n)
		*bytes = 0;
	return 0;
}

static int
whole_blocks(const uint8_t *stream, size_t n, size_t *bytes)
{
	size_t block;
	int rc;

	*bytes = 0;
	do {
		rc = block_at(stream + *bytes, n - *bytes, &block);
		*bytes += rc == 0 ? block : 0;
	} while (rc == 0 && block > 0);
	return rc;
}

/* Count the whole blocks of what was written. @return bytes of an incomplete one at its end. */
static size_t
count(struct capture_file *f, const uint8_t *written, size_t n)
{
	size_t block;

	for (; block_at(written, n, &block) == 0 && block > 0; written += block, n -= block) {
		uint32_t type = le32_load(written);

		if (type == PCAPNG_BLOCK_FRAME) {
			f->frames++;
			f->lost += pcapng_lost(written);
		} else if (type == PCAPNG_BLOCK_STATISTICS) {
			f->lost = pcapng_lost(written);
			f->is_complete = true;
		}
		f->bytes += block;
	}
	return n;
}

/* Cut off an incomplete block, unless the file is a pipe or a device. */
static void
cut(const struct capture_file *f, size_t n)
{
	off_t end = lseek(f->fd, 0, SEEK_CUR);

	if (end >= 0 && n > 0)
		(void)!ftruncate(f->fd, end - (off_t)n);
}

int
capture_file_add(struct capture_file *f, const uint8_t *stream, size_t n, size_t *used)
{
	size_t done = 0;
	int rc = whole_blocks(stream, n, used);

	while (rc == 0 && done < *used) {
		ssize_t written = write(f->fd, stream + done, *used - done);

		if (written >= 0)
			done += (size_t)written;
		else if (errno != EINTR)
			rc = -errno;
	}
	cut(f, count(f, stream, done));
	return rc;
}
