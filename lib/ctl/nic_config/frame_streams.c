/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/nic_config/frame_streams.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "wire/bytes/headers.h"

#define LEAST_FRAME_BYTES 64
#define MOST_FRAME_BYTES 9216
#define MOST_RATE_BPS (800 * GBPS)

const struct field nic_stream_fields[] = {
	{FIELD_OF(struct nic_stream, header), .type = FIELD_STR, .min = 2 * ETH_HDR_BYTES,
	 .max = NIC_STREAM_TEXT_CHARS, .live = true,
	 .help = "first bytes of each frame, in hexadecimal, from the destination address; the "
		 "rest is zeros"},
	{FIELD_OF(struct nic_stream, patterns), .type = FIELD_STR, .max = NIC_STREAM_TEXT_CHARS,
	 .def = "", .live = true,
	 .help = "fields of the header that change from frame to frame, separated by spaces: "
		 "BIT/WIDTH:FIRST+STEP*N (N values, then the first one again) or "
		 "BIT/WIDTH:VALUE,VALUE,...; BIT counts from the first bit of the frame"},
	{FIELD_IN(struct nic_stream, params, frame_bytes), .type = FIELD_U16, .unit = UNIT_BYTES,
	 .min = LEAST_FRAME_BYTES, .max = MOST_FRAME_BYTES, .def = "64", .live = true,
	 .help = "length of a frame with FCS; a change is at most 1518 or the largest at start-up"},
	{FIELD_IN(struct nic_stream, params, ip_at), .type = FIELD_U16,
	 .max = NIC_FRAMES_HEADER_BYTES, .def = "0", .live = true,
	 .help = "offset in bytes of an IP header whose checksum is computed for each frame: that "
		 "of IPv4 without options, or that of UDP after IPv6; 0: none"},
	{FIELD_IN(struct nic_stream, params, queue), .type = FIELD_I8, .min = -1, .max = 7,
	 .def = "-1", .live = true,
	 .help = "queue with which the stream waits while it is paused; frames that were due "
		 "meanwhile are not made up for; -1: pauses do not stop it"},
	{FIELD_IN(struct nic_stream, params, rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .min = 1, .max = MOST_RATE_BPS, .live = true, .help = "rate, in wire bytes"},
	{FIELD_IN(struct nic_stream, params, count), .type = FIELD_U64, .max = UINT64_MAX,
	 .def = "0", .live = true, .help = "frames after each start; 0: no limit"},
	{FIELD_IN(struct nic_stream, params, duration_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = 86400 * NS_PER_SEC, .def = "0", .live = true,
	 .help = "time after each start at which the stream ends; 0: no limit"},
	{FIELD_OF(struct nic_stream, stopped), .type = FIELD_BOOL, .def = "off", .live = true,
	 .help = "on: send nothing; a change to off is a start"},
};
const unsigned int nic_stream_fields_n = ARRAY_LEN(nic_stream_fields);

static int
nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool
read_header(struct nic_stream *s)
{
	size_t chars = strlen(s->header);

	for (size_t i = 0; i < chars; i += 2) {
		int high = nibble(s->header[i]), low = nibble(s->header[i + 1]);

		if (high < 0 || low < 0)
			return false;
		s->params.header[i / 2] = (uint8_t)(high << 4 | low);
	}
	s->params.header_bytes = (uint16_t)(chars / 2);
	return chars % 2 == 0;
}

/* Read a number and the character after it; 0 stands for the end or a space. */
static bool
read_number(const char **at, uint64_t most, char after, uint64_t *value)
{
	char *rest;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*value = strtoull(*at, &rest, 0);
	if (errno != 0 || *value > most)
		return false;
	*at = rest;
	if (after == 0)
		return *rest == '\0' || *rest == ' ';
	if (*rest == after)
		*at = rest + 1;
	return *rest == after;
}

static bool
read_list(const char **at, uint64_t most, struct nic_frames_pattern *p)
{
	p->listed = true;
	for (p->n = 0; p->n < NIC_FRAMES_VALUES; p->n++) {
		const char *value = *at;

		if (read_number(at, most, ',', &p->list[p->n]))
			continue;
		*at = value;
		if (!read_number(at, most, 0, &p->list[p->n]))
			return false;
		p->n++;
		return true;
	}
	return false;
}

static bool
read_pattern(const char **at, uint16_t header_bytes, struct nic_frames_pattern *p)
{
	uint64_t bit, width, n, most;
	const char *values;

	if (!read_number(at, UINT16_MAX, '/', &bit) || !read_number(at, 64, ':', &width) ||
	    width == 0 || bit + width > 8u * header_bytes)
		return false;
	p->bit = (uint16_t)bit;
	p->width = (uint8_t)width;
	most = width == 64 ? UINT64_MAX : (1ull << width) - 1;
	values = *at;
	if (!read_number(at, most, '+', &p->first)) {
		*at = values;
		return read_list(at, most, p);
	}
	if (!read_number(at, most, '*', &p->step) || !read_number(at, UINT32_MAX, 0, &n) || n == 0)
		return false;
	p->n = (uint32_t)n;
	return true;
}

static bool
read_patterns(struct nic_stream *s)
{
	const char *at = s->patterns;

	s->params.n_patterns = 0;
	for (at += strspn(at, " "); *at != '\0'; at += strspn(at, " ")) {
		struct nic_frames_pattern *p = &s->params.patterns[s->params.n_patterns];

		if (s->params.n_patterns == NIC_FRAMES_PATTERNS)
			return false;
		*p = (struct nic_frames_pattern){0};
		if (!read_pattern(&at, s->params.header_bytes, p))
			return false;
		s->params.n_patterns++;
	}
	return true;
}

/* Does the header have all that the checksum covers? */
static bool
has_ip(const struct nic_frames_params *p)
{
	const uint8_t *ip = &p->header[p->ip_at];

	if (p->ip_at < ETH_HDR_BYTES || p->ip_at + IPV4_HDR_BYTES > p->header_bytes)
		return false;
	if (ip[0] >> 4 == 4)
		return (ip[0] & 15) * 4 == IPV4_HDR_BYTES;
	return ip[0] >> 4 == 6 && p->ip_at + IPV6_HDR_BYTES <= p->header_bytes &&
	       (ip[6] != IP_PROTO_UDP ||
		p->ip_at + IPV6_HDR_BYTES + UDP_HDR_BYTES <= p->header_bytes);
}

int
nic_stream_finish(struct config *cfg, struct nic_stream *s, struct config_error *err)
{
	char section[NIC_STREAM_NAME_CHARS + 8];

	snprintf(section, sizeof(section), "frames %s", s->name);
	if (!read_header(s))
		return config_refuse(cfg, section, "header", "pairs of hexadecimal digits", err);
	if (s->params.header_bytes + FCS_BYTES > s->params.frame_bytes)
		return config_refuse(cfg, section, "frame_bytes",
				     "at least the bytes of header and FCS", err);
	if (!read_patterns(s))
		return config_refuse(cfg, section, "patterns",
				     "at most 16 of BIT/WIDTH:FIRST+STEP*N or BIT/WIDTH:VALUE,... "
				     "with at most 64 values, in the bits of header",
				     err);
	if (s->params.ip_at > 0 && !has_ip(&s->params))
		return config_refuse(cfg, section, "ip_at",
				     "the offset of an IPv4 header of 20 bytes, or of an IPv6 "
				     "header, and then UDP's, that is within header",
				     err);
	return 0;
}
