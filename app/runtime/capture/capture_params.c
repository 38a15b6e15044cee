/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/capture/capture_params.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "wire/roce/roce.h"

#define OF(member) .offset = offsetof(struct capture_params, member)

static const char *const direction_words[] = {"both", "received", "sent", NULL};

/* clang-format off */
const struct field capture_fields[] = {
	{.name = "kind", OF(kind), .help = "kinds of frames: all, or some of " CAPTURE_KIND_WORDS,
	 .type = FIELD_STR, .min = 1, .max = CAPTURE_KIND_CHARS, .def = "all"},
	{.name = "qp", OF(filter.dest_qp), .help = "only RoCEv2 frames for this QP",
	 .type = FIELD_U32, .max = QPN_MASK},
	{.name = "match", OF(match), .help = "only frames with these bits: HEADER@BIT/BITS:VALUE/MASK of eth, vlan, ipv4, ipv6 or l4",
	 .type = FIELD_STR, .max = CAPTURE_MATCH_CHARS, .def = ""},
	{.name = "direction", OF(filter.direction), .help = "only frames that the port received, or that it sent",
	 .type = FIELD_ENUM, .choices = direction_words, .def = "both"},
	{.name = "snaplen", OF(snap_bytes), .help = "bytes of each frame at most",
	 .type = FIELD_U32, .unit = UNIT_BYTES, .min = 14, .max = 65535, .def = "65535"},
	{.name = "count", OF(most_frames), .help = "end after this number of frames",
	 .type = FIELD_U64, .min = 1, .max = INT64_MAX},
	{.name = "size", OF(most_bytes), .help = "end before the file is larger",
	 .type = FIELD_U64, .unit = UNIT_BYTES, .min = 1000, .max = INT64_MAX},
	{.name = "duration", OF(duration_ns), .help = "end after this time",
	 .type = FIELD_U64, .unit = UNIT_NS, .min = NS_PER_MS, .max = INT64_MAX},
	{.name = "buffer", OF(buffer_bytes), .help = "memory for frames on their way, for each polling lcore",
	 .type = FIELD_U32, .unit = UNIT_BYTES, .min = 65536, .max = 1u << 30, .def = "8MiB"},
};
/* clang-format on */

const unsigned int capture_fields_n = ARRAY_LEN(capture_fields);

static int
read_word(struct capture_params *p, char *word, char *error, size_t size)
{
	char expected[FIELD_TEXT_SIZE] = "";
	char *value = strchr(word, '=');
	const struct field_alias *alias;
	const struct field *field;

	if (value != NULL)
		*value++ = '\0';
	field = field_find(capture_fields, capture_fields_n, word, &alias);
	if (field == NULL || value == NULL) {
		snprintf(
			error, size,
			"%s: expected KEY=VALUE with one of kind, qp, match, direction, snaplen, count, "
			"size, duration, buffer",
			word);
		return -EINVAL;
	}
	if (field_parse(field, alias, value, p, expected, sizeof(expected)) == 0)
		return 0;
	snprintf(error, size, "%s = %s: expected %s", word, value, expected);
	return -EINVAL;
}

static int
read_matches(struct capture_params *p, char *error, size_t size)
{
	const char *text = p->match;
	size_t wrong = capture_matches_read(&text, p->filter.matches, &p->filter.n_matches);

	if (wrong == 0)
		return 0;
	snprintf(error, size,
		 "match = %.*s: expected at most %u of HEADER@BIT/BITS:VALUE[/MASK], with eth, "
		 "vlan, ipv4, ipv6 or l4, at most %u BITS, and hexadecimal numbers that fit",
		 (int)wrong, text, CAPTURE_MATCHES, CAPTURE_MATCH_BITS);
	return -EINVAL;
}

int
capture_params_read(struct capture_params *p, char *words, char *error, size_t size)
{
	*p = (struct capture_params){.filter.dest_qp = CAPTURE_ANY_QP};
	if (field_defaults(capture_fields, capture_fields_n, p) != 0)
		return -EINVAL;
	for (char *rest = words, *word; (word = strsep(&rest, " ")) != NULL;)
		if (*word != '\0' && read_word(p, word, error, size) != 0)
			return -EINVAL;
	p->filter.kinds = capture_kinds(p->kind);
	if (p->filter.kinds != 0)
		return read_matches(p, error, size);
	snprintf(error, size, "kind = %s: expected all, or some of " CAPTURE_KIND_WORDS, p->kind);
	return -EINVAL;
}
