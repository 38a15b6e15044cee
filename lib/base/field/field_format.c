/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/field/field.h"

#include <arpa/inet.h>
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/field/field_list.h"
#include "base/field/field_unit.h"

static_assert(FIELD_IP_CHARS >= INET6_ADDRSTRLEN, "room for the longest address");

const char *
field_ip_text(const struct field_ip *ip, char text[FIELD_IP_CHARS])
{
	if (ip->version == 0 ||
	    !inet_ntop(ip->version == 4 ? AF_INET : AF_INET6, ip->addr, text, FIELD_IP_CHARS))
		return "none";
	return text;
}

const char *
field_mac_text(const uint8_t mac[6], char text[FIELD_MAC_CHARS])
{
	snprintf(text, FIELD_MAC_CHARS, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	return text;
}

const char *
field_text(const struct field *field, const void *object)
{
	const void *member = (const char *)object + field->offset;
	const char *text = field->type == FIELD_TEXT ? *(const char *const *)member : member;

	return text == NULL ? "" : text;
}

uint64_t
field_number(const struct field *field, const void *object)
{
	const void *member = (const char *)object + field->offset;

	switch (field->type) {
	case FIELD_U8:
		return *(const uint8_t *)member;
	case FIELD_U16:
		return *(const uint16_t *)member;
	case FIELD_U32:
		return *(const uint32_t *)member;
	default:
		return *(const uint64_t *)member;
	}
}

static int
format_number(const struct field *field, uint64_t value, char *text, size_t size)
{
	if (value == UINT64_MAX && field_highest_word(field) != NULL)
		return snprintf(text, size, "%s", field_highest_word(field));
	return unit_format(field->unit, value, text, size);
}

/* The bool after the value of a row with or_default. */
static size_t
own_offset(const struct field *field)
{
	return field->offset + (field->type == FIELD_MAP ? field->map_keys : 1u);
}

bool
field_is_own(const struct field *field, const void *object)
{
	return !field->or_default || *((const bool *)object + own_offset(field));
}

int
field_format(const struct field *field, const void *object, char *text, size_t size)
{
	char address[FIELD_IP_CHARS], mac[FIELD_MAC_CHARS];
	const void *member = (const char *)object + field->offset;
	const uint8_t *b = member;

	if (!field_is_own(field, object))
		return snprintf(text, size, FIELD_DEFAULT);
	switch (field->type) {
	case FIELD_BOOL:
		return snprintf(text, size, "%s", *(const bool *)member ? "on" : "off");
	case FIELD_ENUM:
		return snprintf(text, size, "%s", field->choices[*(const int *)member]);
	case FIELD_MAC:
		return snprintf(text, size, "%s", field_mac_text(b, mac));
	case FIELD_IP:
		return snprintf(text, size, "%s", field_ip_text(member, address));
	case FIELD_STR:
	case FIELD_TEXT:
		return snprintf(text, size, "%s", field_text(field, object));
	case FIELD_SET8:
		return set8_format(*b, text, size);
	case FIELD_MAP:
		return map_format(field, member, text, size);
	case FIELD_I8:
		return snprintf(text, size, "%d", *(const int8_t *)member);
	default:
		return format_number(field, field_number(field, object), text, size);
	}
}

/* part / whole, below 1, as ".015625"; nothing for 0. whole is a power of 10 or of 2. */
static void
decimals(uint64_t part, uint64_t whole, char *text, size_t size)
{
	size_t n = 0;

	if (part > 0)
		text[n++] = '.';
	for (; part > 0 && n < size - 1; part = part * 10 % whole)
		text[n++] = (char)('0' + part * 10 / whole);
	text[n] = '\0';
}

int
field_format_alias(const struct field *field, const struct field_alias *alias, const void *object,
		   char *text, size_t size)
{
	uint64_t value, full, scale = alias->scale ? alias->scale : 1;
	char fraction[24];

	if (field->type < FIELD_U8 || field->type > FIELD_U64)
		return field_format(field, object, text, size);
	value = field_number(field, object);
	if (alias->one_minus) {
		full = unit_full_scale(field->unit);
		value = (full ? full : field->max) - value;
		if (field->unit == UNIT_1024)
			return snprintf(text, size, "%" PRIu64 "/1024", value);
	}
	if (value == UINT64_MAX && field_highest_word(field) != NULL)
		return snprintf(text, size, "%s", field_highest_word(field));
	decimals(value % scale, scale, fraction, sizeof(fraction));
	return snprintf(text, size, "%" PRIu64 "%s", value / scale, fraction);
}

static int
expected_choice(const struct field *field, char *text, size_t size)
{
	char list[FIELD_TEXT_SIZE] = "";
	size_t used = 0;

	for (int i = 0; field->choices[i] && used < sizeof(list); i++) {
		const char *before = i == 0 ? "" : field->choices[i + 1] ? ", " : " or ";

		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", before,
					 field->choices[i]);
	}
	return snprintf(text, size, "%s", list);
}

static int
expected_ip(const struct field *field, char *text, size_t size)
{
	const char *versions = field->max == 4   ? "an IPv4 address such as 10.0.0.1"
			       : field->max == 6 ? "an IPv6 address such as fd00::1"
						 : "an IPv4 or IPv6 address";

	return snprintf(text, size, "%s%s", versions, field->min > 0 ? "" : ", or none");
}

static int
expected_number(const struct field *field, const struct field_alias *alias, char *text, size_t size)
{
	char low[32], high[40] = " up", scale[96] = "", example[64] = "";
	const char *word = field_highest_word(field);

	if (field->min < 0)
		snprintf(low, sizeof(low), "%" PRId64, field->min);
	else
		unit_format(field->unit, (uint64_t)field->min, low, sizeof(low));
	if (field->max < UINT64_MAX) {
		snprintf(high, sizeof(high), " to ");
		unit_format(field->unit, field->max, high + 4, sizeof(high) - 4);
	}
	if (field->unit != UNIT_NONE && field->def && strcmp(field->def, "0") != 0 &&
	    (word == NULL || strcmp(field->def, word) != 0))
		snprintf(example, sizeof(example), ", such as %.40s", field->def);
	if (alias && alias->one_minus)
		snprintf(scale, sizeof(scale), "; under %s, one minus that", alias->name);
	else if (alias && alias->scale > 1)
		snprintf(scale, sizeof(scale), "; a bare number under %s counts %" PRIu64 " %s",
			 alias->name, alias->scale, field_unit_name(field->unit));
	return snprintf(text, size, "%s from %s%s%s%s%s%s", unit_noun(field->unit), low, high,
			example, word == NULL ? "" : ", or ", word == NULL ? "" : word, scale);
}

static int
expected_value(const struct field *field, const struct field_alias *alias, char *text, size_t size)
{
	switch (field->type) {
	case FIELD_BOOL:
		return snprintf(text, size, "on or off");
	case FIELD_ENUM:
		return expected_choice(field, text, size);
	case FIELD_MAC:
		return snprintf(text, size, "a %sMAC address such as 02:00:00:00:00:01",
				field->min > 0 ? "station's " : "");
	case FIELD_IP:
		return expected_ip(field, text, size);
	case FIELD_STR:
	case FIELD_TEXT:
		return snprintf(text, size, "%" PRId64 " to %" PRIu64 " printable characters",
				field->min, field->max);
	case FIELD_SET8:
		return snprintf(text, size, "numbers from 0 to 7 such as 3,4 or 3-4, or none");
	case FIELD_MAP:
		return snprintf(text, size,
				"every key from 0 to %u once with a value from %" PRId64
				" to %" PRIu64 ", such as 0-1:%" PRIu64 ", *:%" PRId64,
				field->map_keys - 1u, field->min, field->max, field->max,
				field->min);
	default:
		return expected_number(field, alias, text, size);
	}
}

int
field_expected(const struct field *field, const struct field_alias *alias, char *text, size_t size)
{
	char value[FIELD_TEXT_SIZE];

	if (!field->or_default)
		return expected_value(field, alias, text, size);
	expected_value(field, alias, value, sizeof(value));
	return snprintf(text, size, "%s, or " FIELD_DEFAULT, value);
}
