/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/nic_config/frame_streams.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "nic/frames/signature.h"
#include "wire/bytes/headers.h"

#define LEAST_FRAME_BYTES 64
#define MOST_FRAME_BYTES 9216
#define MOST_RATE_BPS (800 * GBPS)
#define MOST_RATE_PPS (2 * GBPS)

static const char *const latency_words[] = {"store_forward", "cut_through", NULL};

const struct field nic_stream_fields[] = {
	{FIELD_OF(struct nic_stream, header), .type = FIELD_STR, .min = 2 * ETH_HDR_BYTES,
	 .max = NIC_STREAM_HEADER_CHARS, .live = true,
	 .help = "first bytes of each frame, in hexadecimal, from the destination address; the "
		 "rest is zeros"},
	{FIELD_OF(struct nic_stream, patterns), .type = FIELD_STR, .max = NIC_STREAM_PATTERNS_CHARS,
	 .def = "", .live = true,
	 .help = "fields of the header that change from frame to frame, separated by spaces. "
		 "BIT/WIDTH:FIRST+STEP*N: N values, then the first one again; "
		 "BIT/WIDTH:VALUE,VALUE,...; BIT/WIDTH:LEAST~MOST*N@SEED: N values by chance; "
		 "BIT/WIDTH:len-BYTES: length of the frame without FCS, minus BYTES, which may not "
		 "exceed the shortest frame. BIT counts from the first bit of the frame"},
	{FIELD_IN(struct nic_stream, params.template, frame_bytes), .type = FIELD_U16,
	 .unit = UNIT_BYTES, .min = LEAST_FRAME_BYTES, .max = MOST_FRAME_BYTES, .def = "64",
	 .live = true,
	 .help = "length of a frame with FCS, the largest if sizes has several; a change is at "
		 "most 1518 or the largest at start-up"},
	{FIELD_OF(struct nic_stream, sizes), .type = FIELD_STR, .max = NIC_STREAM_SIZES_CHARS,
	 .def = "", .live = true,
	 .help = "lengths that change from frame to frame, with FCS, up to frame_bytes. "
		 "LEAST-MOST/STEP: in turn; LEAST~MOST: by chance; BYTES:WEIGHT,BYTES:WEIGHT,...: "
		 "by chance, at most 16. Empty: all frames have frame_bytes"},
	{FIELD_OF(struct nic_stream, checksums), .type = FIELD_STR, .max = NIC_STREAM_SIZES_CHARS,
	 .def = "", .live = true,
	 .help = "checksums that are computed for each frame, separated by spaces, an inner one "
		 "first: ipv4@OFFSET, icmp@OFFSET, udp@OFFSET/IP, tcp@OFFSET/IP or "
		 "icmpv6@OFFSET/IP, with the offsets in bytes of its header and of the IP header "
		 "before it; -BYTES after it leaves out the last BYTES of the frame; ! at the end "
		 "makes a wrong checksum"},
	{FIELD_IN(struct nic_stream, params, queue), .type = FIELD_I8, .min = -1, .max = 7,
	 .def = "-1", .live = true,
	 .help = "queue with which the stream waits while it is paused; frames that were due "
		 "meanwhile are not made up for; -1: pauses do not stop it"},
	{FIELD_IN(struct nic_stream, params, rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = MOST_RATE_BPS, .def = "0", .live = true,
	 .help = "rate, in wire bytes; either this or rate_pps"},
	{FIELD_IN(struct nic_stream, params, rate_pps), .type = FIELD_U64, .max = MOST_RATE_PPS,
	 .def = "0", .live = true, .help = "rate in frames per second, whatever their lengths"},
	{FIELD_IN(struct nic_stream, params, delay_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = 86400 * NS_PER_SEC, .def = "0", .live = true,
	 .help = "time from each start to the first frame"},
	{FIELD_IN(struct nic_stream, params, count), .type = FIELD_U64, .max = UINT64_MAX,
	 .def = "0", .live = true, .help = "frames after each start; 0: no limit"},
	{FIELD_IN(struct nic_stream, params, duration_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = 86400 * NS_PER_SEC, .def = "0", .live = true,
	 .help = "time after each start, and its delay_ns, at which the stream ends; 0: no limit"},
	{FIELD_IN(struct nic_stream, params, burst_packets), .type = FIELD_U32, .max = UINT32_MAX,
	 .def = "0", .live = true,
	 .help = "frames of a burst, in which they follow each other at the rate; 0: no bursts"},
	{FIELD_IN(struct nic_stream, params, burst_gap_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = 86400 * NS_PER_SEC, .def = "0", .live = true,
	 .help = "time from the end of a burst to the next one"},
	{FIELD_IN(struct nic_stream, params, signature), .type = FIELD_U16, .max = UINT16_MAX,
	 .def = "0", .live = true,
	 .help = "number of a signature at the end of each frame, by which a quench-nic with "
		 "signatures counts it, 16 bytes; without room for them 6 bytes, without the "
		 "frame's number and time; 0: none"},
	{FIELD_OF(struct nic_stream, latency), .type = FIELD_ENUM, .choices = latency_words,
	 .def = "store_forward", .live = true,
	 .help = "latency of signed frames, from when tx() gave the frame to the device to when "
		 "rx() took it from one: store_forward: without the time that the frame takes at "
		 "the receiver's link_speed_bps; cut_through: with it"},
	{FIELD_OF(struct nic_stream, stopped), .type = FIELD_BOOL, .def = "off", .live = true,
	 .help = "on: send nothing; a change to off is a start"},
	{FIELD_OF(struct nic_stream, paused), .type = FIELD_BOOL, .def = "off", .live = true,
	 .help = "on: send nothing; a change to off goes on with the next frame, with the count "
		 "and the time that were left"},
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
	struct nic_frames_template *t = &s->params.template;
	size_t chars = strlen(s->header);

	for (size_t i = 0; i < chars; i += 2) {
		int high = nibble(s->header[i]), low = nibble(s->header[i + 1]);

		if (high < 0 || low < 0)
			return false;
		t->header[i / 2] = (uint8_t)(high << 4 | low);
	}
	t->header_bytes = (uint16_t)(chars / 2);
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
read_list(const char **at, uint64_t most, struct nic_frames_template *t,
	  struct nic_frames_pattern *p)
{
	p->values = NIC_FRAMES_LIST;
	p->first = t->n_values;
	for (p->n = 0; t->n_values < NIC_FRAMES_VALUES; t->n_values++, p->n++) {
		const char *value = *at;

		if (read_number(at, most, ',', &t->values[t->n_values]))
			continue;
		*at = value;
		if (!read_number(at, most, 0, &t->values[t->n_values]))
			return false;
		t->n_values++;
		p->n++;
		return true;
	}
	return false;
}

/* The rest of a random pattern: MOST*N@SEED. */
static bool
read_random(const char **at, uint64_t most, struct nic_frames_pattern *p)
{
	uint64_t highest, n, seed;

	if (!read_number(at, most, '*', &highest) || highest < p->first ||
	    !read_number(at, UINT32_MAX, '@', &n) || n == 0 ||
	    !read_number(at, UINT32_MAX, 0, &seed))
		return false;
	p->values = NIC_FRAMES_RANDOM;
	p->step = highest - p->first;
	p->n = (uint32_t)n;
	p->seed = (uint32_t)seed;
	return true;
}

static bool
read_counter(const char **at, uint64_t most, struct nic_frames_pattern *p)
{
	uint64_t n;

	if (!read_number(at, most, '*', &p->step) || !read_number(at, UINT32_MAX, 0, &n) || n == 0)
		return false;
	p->n = (uint32_t)n;
	return true;
}

static bool
read_values(const char **at, uint64_t most, struct nic_frames_template *t,
	    struct nic_frames_pattern *p)
{
	const char *values = *at;

	if (strncmp(values, "len-", 4) == 0) {
		*at += 4;
		p->values = NIC_FRAMES_LENGTH;
		return read_number(at, nic_template_least_bytes(t), 0, &p->first);
	}
	if (read_number(at, most, '+', &p->first))
		return read_counter(at, most, p);
	*at = values;
	if (read_number(at, most, '~', &p->first))
		return read_random(at, most, p);
	*at = values;
	return read_list(at, most, t, p);
}

static bool
read_pattern(const char **at, struct nic_frames_template *t, struct nic_frames_pattern *p)
{
	uint64_t bit, width;

	if (!read_number(at, UINT16_MAX, '/', &bit) || !read_number(at, 64, ':', &width) ||
	    width == 0 || bit + width > 8u * t->header_bytes)
		return false;
	p->bit = (uint16_t)bit;
	p->width = (uint8_t)width;
	return read_values(at, width == 64 ? UINT64_MAX : (1ull << width) - 1, t, p);
}

static bool
read_patterns(const char *text, struct nic_frames_template *t)
{
	t->n_patterns = 0;
	t->n_values = 0;
	for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
		struct nic_frames_pattern *p = &t->patterns[t->n_patterns];

		if (t->n_patterns == NIC_FRAMES_PATTERNS)
			return false;
		*p = (struct nic_frames_pattern){0};
		if (!read_pattern(&text, t, p))
			return false;
		t->n_patterns++;
	}
	return true;
}

static bool
read_weights(const char *at, uint16_t most, struct nic_frames_lengths *l)
{
	uint64_t bytes, weight, sum = 0;
	bool last;

	l->sizes = NIC_SIZES_WEIGHTS;
	for (l->n = 0; l->n < NIC_FRAMES_LENGTHS; l->n++) {
		const char *word;

		if (!read_number(&at, most, ':', &bytes) || bytes < LEAST_FRAME_BYTES)
			return false;
		word = at;
		last = !read_number(&at, UINT32_MAX, ',', &weight);
		if (last) {
			at = word;
			if (!read_number(&at, UINT32_MAX, 0, &weight))
				return false;
		}
		sum += weight;
		if (sum == 0 || sum > UINT32_MAX)
			return false;
		l->bytes[l->n] = (uint16_t)bytes;
		l->weights[l->n] = (uint32_t)sum;
		if (last) {
			l->n++;
			return *at == '\0';
		}
	}
	return false;
}

static bool
read_range(const char *at, uint16_t most, struct nic_frames_lengths *l)
{
	const char *begin = at;
	uint64_t low, high, step = 1;

	l->sizes = NIC_SIZES_COUNTER;
	if (!read_number(&at, most, '-', &low)) {
		at = begin;
		if (!read_number(&at, most, '~', &low))
			return false;
		l->sizes = NIC_SIZES_RANDOM;
		if (!read_number(&at, most, 0, &high))
			return false;
	} else if (!read_number(&at, most, '/', &high) || !read_number(&at, most, 0, &step)) {
		return false;
	}
	l->n = 2;
	l->bytes[0] = (uint16_t)low;
	l->bytes[1] = (uint16_t)high;
	l->step = (uint16_t)step;
	return *at == '\0' && LEAST_FRAME_BYTES <= low && low <= high && step > 0;
}

static bool
read_sizes(const char *text, struct nic_frames_template *t)
{
	t->lengths = (struct nic_frames_lengths){0};
	if (*text == '\0')
		return true;
	return strchr(text, ':') != NULL ? read_weights(text, t->frame_bytes, &t->lengths)
					 : read_range(text, t->frame_bytes, &t->lengths);
}

/* Does the header have what the checksum covers, but for the payload? */
static bool
has_checksum(const struct nic_frames_template *t, const struct nic_frames_checksum *c)
{
	static const uint8_t least[] = {
		[NIC_SUM_IPV4] = IPV4_HDR_BYTES,
		[NIC_SUM_UDP] = UDP_HDR_BYTES,
		[NIC_SUM_TCP] = 20,
		[NIC_SUM_ICMP] = 4,
		[NIC_SUM_ICMPV6] = 4,
	};
	const uint8_t *ip = &t->header[c->ip_at];
	unsigned int own = least[c->sum];

	if (c->at < ETH_HDR_BYTES || c->at + own > t->header_bytes ||
	    t->header_bytes + c->tail > nic_template_least_bytes(t))
		return false;
	if (c->sum == NIC_SUM_ICMP)
		return true;
	if (c->sum == NIC_SUM_IPV4) {
		own = (t->header[c->at] & 15) * 4u;
		return t->header[c->at] >> 4 == 4 && own >= IPV4_HDR_BYTES &&
		       c->at + own <= t->header_bytes;
	}
	return c->ip_at >= ETH_HDR_BYTES &&
	       ((ip[0] >> 4 == 4 && c->ip_at + IPV4_HDR_BYTES <= c->at) ||
		(ip[0] >> 4 == 6 && c->ip_at + IPV6_HDR_BYTES <= c->at));
}

static bool
read_checksum(const char **at, struct nic_frames_checksum *c)
{
	static const char *const words[] = {
		[NIC_SUM_IPV4] = "ipv4@", [NIC_SUM_UDP] = "udp@",       [NIC_SUM_TCP] = "tcp@",
		[NIC_SUM_ICMP] = "icmp@", [NIC_SUM_ICMPV6] = "icmpv6@",
	};
	uint64_t own, ip = 0, tail = 0;
	char *rest;

	for (c->sum = 0; c->sum < ARRAY_LEN(words); c->sum++)
		if (strncmp(*at, words[c->sum], strlen(words[c->sum])) == 0)
			break;
	if (c->sum == ARRAY_LEN(words))
		return false;
	*at += strlen(words[c->sum]);
	own = strtoul(*at, &rest, 10);
	if (c->sum != NIC_SUM_IPV4 && c->sum != NIC_SUM_ICMP) {
		if (*rest != '/')
			return false;
		ip = strtoul(rest + 1, &rest, 10);
	}
	if (c->sum != NIC_SUM_IPV4 && *rest == '-')
		tail = strtoul(rest + 1, &rest, 10);
	c->bad = *rest == '!';
	*at = rest + c->bad;
	c->at = (uint16_t)(own < NIC_FRAMES_HEADER_BYTES ? own : 0);
	c->ip_at = (uint16_t)(ip < NIC_FRAMES_HEADER_BYTES ? ip : 0);
	c->tail = (uint16_t)min_u64(tail, MOST_FRAME_BYTES);
	return **at == ' ' || **at == '\0';
}

static bool
read_checksums(const char *text, struct nic_frames_template *t)
{
	t->n_checksums = 0;
	for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
		struct nic_frames_checksum *c = &t->checksums[t->n_checksums];

		if (t->n_checksums == NIC_FRAMES_CHECKSUMS || !read_checksum(&text, c) ||
		    !has_checksum(t, c))
			return false;
		t->n_checksums++;
	}
	return true;
}

int
nic_stream_finish(struct config *cfg, struct nic_stream *s, struct config_error *err)
{
	struct nic_frames_template *t = &s->params.template;
	char section[NIC_STREAM_NAME_CHARS + 8];
	unsigned int room;

	snprintf(section, sizeof(section), "frames %s", s->name);
	s->params.cut_through = s->latency == NIC_LATENCY_CUT_THROUGH;
	if (!read_header(s))
		return config_refuse(cfg, section, "header", "pairs of hexadecimal digits", err);
	if (!read_sizes(s->sizes, t))
		return config_refuse(cfg, section, "sizes",
				     "LEAST-MOST/STEP, LEAST~MOST, or at most 16 of BYTES:WEIGHT, "
				     "with 64 bytes to frame_bytes",
				     err);
	room = nic_template_least_bytes(t);
	if (t->header_bytes > room)
		return config_refuse(cfg, section, t->lengths.n > 0 ? "sizes" : "frame_bytes",
				     "at least the bytes of header and FCS", err);
	if (s->params.signature != 0 && t->header_bytes + SIGNATURE_SHORT_BYTES > room)
		return config_refuse(cfg, section, "signature",
				     "0, or frames with room for 6 bytes after the header", err);
	if (!read_patterns(s->patterns, t))
		return config_refuse(cfg, section, "patterns",
				     "at most 32 of BIT/WIDTH:FIRST+STEP*N, BIT/WIDTH:VALUE,..., "
				     "BIT/WIDTH:LEAST~MOST*N@SEED or BIT/WIDTH:len-BYTES with at "
				     "most 1024 values, in the bits of header, and BYTES up "
				     "to the shortest frame",
				     err);
	if (!read_checksums(s->checksums, t))
		return config_refuse(cfg, section, "checksums",
				     "at most 8 of ipv4@OFFSET, icmp@OFFSET, udp@OFFSET/IP, "
				     "tcp@OFFSET/IP or icmpv6@OFFSET/IP, of headers within header, "
				     "and -BYTES up to what the shortest frame has after header",
				     err);
	if ((s->params.rate_bps == 0) == (s->params.rate_pps == 0))
		return config_refuse(cfg, section, "rate_bps", "either rate_bps or rate_pps", err);
	return 0;
}
