/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/output/pcapng.h"

#include <string.h>

#define BLOCK_SECTION 0x0A0D0D0Au
#define BLOCK_INTERFACE 1u
#define BLOCK_STATISTICS 5u
#define BLOCK_FRAME 6u
#define BYTE_ORDER_MAGIC 0x1A2B3C4Du
#define LINKTYPE_ETHERNET 1u
#define OPTION_END 0u
#define OPTION_COMMENT 1u
#define OPTION_NAME 2u
#define OPTION_TIME_RESOLUTION 9u
#define OPTION_FLAGS 2u
#define OPTION_FRAME_LOST 4u
#define OPTION_LOST 5u
#define OPTION_ACCEPTED 6u
#define OPTION_DELIVERED 8u
#define FLAG_INBOUND 1u
#define FLAG_OUTBOUND 2u

/* Blocks, values and options are padded to 32 bits. */
static uint32_t
padded(uint32_t n)
{
	return (n + 3u) & ~3u;
}

/* Little-endian, which the reader recognises by the magic. */
static void
put32(FILE *out, uint32_t value)
{
	const uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
				  (uint8_t)(value >> 24)};

	fwrite(bytes, 1, sizeof(bytes), out);
}

static void
put_bytes(FILE *out, const void *bytes, uint32_t n)
{
	static const uint8_t zero[3];

	fwrite(bytes, 1, n, out);
	fwrite(zero, 1, padded(n) - n, out);
}

static void
put_option(FILE *out, uint32_t code, const void *value, uint32_t n)
{
	put32(out, code | n << 16);
	put_bytes(out, value, n);
}

static void
put_section(FILE *out)
{
	const uint32_t length = 28;

	put32(out, BLOCK_SECTION);
	put32(out, length);
	put32(out, BYTE_ORDER_MAGIC);
	put32(out, 1);          /* version 1.0 */
	put32(out, UINT32_MAX); /* length of the section: not given */
	put32(out, UINT32_MAX);
	put32(out, length);
}

static void
put64_option(FILE *out, uint32_t code, uint64_t value)
{
	put32(out, code | 8u << 16);
	put32(out, (uint32_t)value);
	put32(out, (uint32_t)(value >> 32));
}

void
pcapng_begin(FILE *out, const struct pcapng_interface *interface)
{
	const uint8_t nanoseconds = 9;
	uint32_t n = (uint32_t)strlen(interface->name);
	uint32_t length = 20 + (4 + padded(n)) + (4 + 4) + 4;

	put_section(out);
	put32(out, BLOCK_INTERFACE);
	put32(out, length);
	put32(out, LINKTYPE_ETHERNET);
	put32(out, interface->snap_bytes);
	put_option(out, OPTION_NAME, interface->name, n);
	put_option(out, OPTION_TIME_RESOLUTION, &nanoseconds, 1);
	put32(out, OPTION_END);
	put32(out, length);
}

static uint32_t
comment_bytes(const struct pcapng_frame *frame)
{
	return frame->comment == NULL ? 0 : (uint32_t)strlen(frame->comment);
}

uint32_t
pcapng_frame_bytes(const struct pcapng_frame *frame)
{
	uint32_t n = comment_bytes(frame);

	return 32 + padded(frame->n_bytes) + (4 + 4) + (frame->lost > 0 ? 4 + 8 : 0) +
	       (n > 0 ? 4 + padded(n) : 0) + 4;
}

void
pcapng_write(FILE *out, const struct pcapng_frame *frame)
{
	static const uint8_t directions[] = {
		[PCAPNG_RECEIVED] = FLAG_INBOUND,
		[PCAPNG_SENT] = FLAG_OUTBOUND,
		[PCAPNG_LOST] = 0, /* "information not available" */
	};
	const uint8_t flags[4] = {directions[frame->way]};
	uint32_t length = pcapng_frame_bytes(frame), n = comment_bytes(frame);

	put32(out, BLOCK_FRAME);
	put32(out, length);
	put32(out, 0); /* the interface */
	put32(out, (uint32_t)(frame->at_ns >> 32));
	put32(out, (uint32_t)frame->at_ns);
	put32(out, frame->n_bytes);
	put32(out, frame->frame_bytes);
	put_bytes(out, frame->bytes, frame->n_bytes);
	put_option(out, OPTION_FLAGS, flags, sizeof(flags));
	if (frame->lost > 0)
		put64_option(out, OPTION_FRAME_LOST, frame->lost);
	if (n > 0)
		put_option(out, OPTION_COMMENT, frame->comment, n);
	put32(out, OPTION_END);
	put32(out, length);
}

void
pcapng_end(FILE *out, const struct pcapng_statistics *s)
{
	put32(out, BLOCK_STATISTICS);
	put32(out, PCAPNG_END_BYTES);
	put32(out, 0); /* the interface */
	put32(out, (uint32_t)(s->at_ns >> 32));
	put32(out, (uint32_t)s->at_ns);
	put64_option(out, OPTION_LOST, s->lost);
	put64_option(out, OPTION_ACCEPTED, s->written + s->lost);
	put64_option(out, OPTION_DELIVERED, s->written);
	put32(out, OPTION_END);
	put32(out, PCAPNG_END_BYTES);
}
