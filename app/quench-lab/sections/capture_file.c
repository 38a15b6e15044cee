/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/sections/capture_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pcap/pcap.h>

#include "base/numbers/units.h"

static int
refuse(char *why, size_t why_size, const char *expected)
{
	snprintf(why, why_size, "%s", expected);
	return -EINVAL;
}

/* Frames and bytes in arrays that double. */
struct capacity {
	struct event_frames *out;
	uint32_t max_frames;
	size_t n_bytes, max_bytes;
};

static int
add_frame(struct capacity *r, uint64_t at_ns, const uint8_t *bytes, uint32_t n)
{
	struct event_frames *out = r->out;

	if (out->n == r->max_frames) {
		struct event_frame *more;

		r->max_frames = r->max_frames == 0 ? 16 : 2 * r->max_frames;
		more = realloc(out->frames, r->max_frames * sizeof(*more));
		if (more == NULL)
			return -ENOMEM;
		out->frames = more;
	}
	while (r->n_bytes + n > r->max_bytes) {
		uint8_t *more;

		r->max_bytes = r->max_bytes == 0 ? 4096 : 2 * r->max_bytes;
		more = realloc(out->bytes, r->max_bytes);
		if (more == NULL)
			return -ENOMEM;
		out->bytes = more;
	}
	if (n > 0)
		memcpy(out->bytes + r->n_bytes, bytes, n);
	out->frames[out->n++] =
		(struct event_frame){.at_ns = at_ns, .n_bytes = n, .offset = r->n_bytes};
	r->n_bytes += n;
	return 0;
}

static int
hex_value(char digit)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = digit == '\0' ? NULL : strchr(digits, digit | 0x20);

	return at == NULL || (digit >= '0' && digit <= '9' && *at != digit) ? -1
									    : (int)(at - digits);
}

int
capture_from_hex(const char *digits, struct event_frames *out, char *why, size_t why_size)
{
	struct capacity capacity = {.out = out};
	uint8_t bytes[EVENT_FRAME_CHARS / 2];
	size_t n = strlen(digits);

	if (n == 0 || n % 2 != 0 || n / 2 > sizeof(bytes))
		return refuse(why, why_size, "an even number of hexadecimal digits, 252 at most");
	for (size_t i = 0; i < n; i++) {
		int value = hex_value(digits[i]);

		if (value < 0)
			return refuse(why, why_size, "hexadecimal digits");
		bytes[i / 2] = (uint8_t)(i % 2 == 0 ? value << 4 : bytes[i / 2] | value);
	}
	if (add_frame(&capacity, 0, bytes, (uint32_t)(n / 2)) < 0)
		return refuse(why, why_size, "memory for it");
	return 0;
}

static int
read_frames(pcap_t *pcap, struct capacity *r, char *why, size_t why_size)
{
	uint64_t first_ns = 0, last_ns = 0;
	struct pcap_pkthdr *head;
	const u_char *bytes;
	int rc;

	while ((rc = pcap_next_ex(pcap, &head, &bytes)) == 1) {
		/* With nanosecond precision tv_usec holds nanoseconds. */
		uint64_t at_ns =
			(uint64_t)head->ts.tv_sec * NS_PER_SEC + (uint64_t)head->ts.tv_usec;

		if (head->caplen > CAPTURE_MAX_FRAME || r->n_bytes > CAPTURE_MAX_BYTES)
			return refuse(why, why_size,
				      "frames of 16000 bytes at most, and 1 GB of them");
		if (r->out->n == 0)
			first_ns = last_ns = at_ns;
		if (at_ns > last_ns)
			last_ns = at_ns;
		if (add_frame(r, last_ns - first_ns, bytes, head->caplen) < 0)
			return refuse(why, why_size, "memory for it");
	}
	if (rc == PCAP_ERROR) {
		snprintf(why, why_size, "a capture that can be read (%.80s)", pcap_geterr(pcap));
		return -EINVAL;
	}
	return r->out->n > 0 ? 0 : refuse(why, why_size, "a capture with at least one frame");
}

int
capture_from_file(const char *path, struct event_frames *out, char *why, size_t why_size)
{
	struct capacity capacity = {.out = out};
	char text[PCAP_ERRBUF_SIZE];
	pcap_t *pcap =
		pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, text);
	int rc;

	if (pcap == NULL) {
		snprintf(why, why_size, "a capture that can be read (%.80s)", text);
		return -EINVAL;
	}
	if (pcap_datalink(pcap) != DLT_EN10MB)
		rc = refuse(why, why_size, "a capture of Ethernet");
	else
		rc = read_frames(pcap, &capacity, why, why_size);
	pcap_close(pcap);
	return rc;
}

void
capture_release(struct event_frames *frames)
{
	free(frames->frames);
	free(frames->bytes);
	*frames = (struct event_frames){0};
}
