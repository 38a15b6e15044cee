/* SPDX-License-Identifier: BSD-3-Clause */
/* Parse text into the members that rows describe. */
#include "base/numbers/array.h"
#include "base/field/field.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/field/field_list.h"
#include "base/field/field_unit.h"

static int
parse_bool(const char *text, bool *out)
{
	static const char *const words[] = {"off", "on", "no", "yes", "false", "true", "0", "1"};

	for (unsigned int i = 0; i < ARRAY_LEN(words); i++) {
		if (strcmp(text, words[i]) == 0) {
			*out = i & 1;
			return 0;
		}
	}
	return -EINVAL;
}

static int
parse_enum(const struct field *field, const char *text, int *out)
{
	for (int i = 0; field->choices[i]; i++) {
		if (strcmp(text, field->choices[i]) == 0) {
			*out = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int
hex_digit(char c)
{
	if (!isxdigit((unsigned char)c))
		return -1;
	return isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

static int
parse_mac(const struct field *field, const char *text, uint8_t *out)
{
	static const uint8_t zero[6];
	uint8_t mac[6];

	if (strlen(text) != 17)
		return -EINVAL;
	for (int i = 0; i < 6; i++) {
		int high = hex_digit(text[3 * i]), low = hex_digit(text[3 * i + 1]);

		if (high < 0 || low < 0 || (i < 5 && text[3 * i + 2] != ':'))
			return -EINVAL;
		mac[i] = (uint8_t)(high << 4 | low);
	}
	/* The lowest bit of the first byte marks a group (IEEE 802-2014 8.2). */
	if (field->min > 0 && (memcmp(mac, zero, 6) == 0 || mac[0] & 1))
		return -ERANGE;
	memcpy(out, mac, 6);
	return 0;
}

bool
field_takes_ip(const struct field *field, const struct field_ip *ip)
{
	if (ip->version == 0)
		return field->min == 0;
	return ip->version == field->max ||
	       (field->max == 0 && (ip->version == 4 || ip->version == 6));
}

static int
parse_ip(const struct field *field, const char *text, struct field_ip *out)
{
	struct field_ip ip = {0};

	if (inet_pton(AF_INET, text, ip.addr) == 1)
		ip.version = 4;
	else if (inet_pton(AF_INET6, text, ip.addr) == 1)
		ip.version = 6;
	else if (strcmp(text, "none") != 0)
		return -EINVAL;
	if (!field_takes_ip(field, &ip))
		return -ERANGE;
	*out = ip;
	return 0;
}

static int
check_text(const struct field *field, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if (!isprint((unsigned char)text[i]))
			return -EINVAL;
	return (int64_t)n < field->min || n > field->max ? -ERANGE : 0;
}

static int
parse_str(const struct field *field, const char *text, char *out)
{
	int rc = check_text(field, text);

	if (rc != 0)
		return rc;
	/* Clear up to the last byte, so that equal texts are equal bytes. */
	memset(out, 0, field->max + 1);
	memcpy(out, text, strlen(text));
	return 0;
}

static int
parse_text(const struct field *field, const char *text, const char **out)
{
	int rc = check_text(field, text);
	char *copy = rc == 0 ? strdup(text) : NULL;

	if (rc == 0 && copy == NULL)
		rc = -ENOMEM;
	if (rc != 0)
		return rc;
	free((void *)(uintptr_t)*out);
	*out = copy;
	return 0;
}

/* The highest value that both the row and the member's type allow. */
static uint64_t
highest(const struct field *field)
{
	uint64_t type_max = UINT64_MAX;

	if (field->type == FIELD_U8)
		type_max = UINT8_MAX;
	else if (field->type == FIELD_U16)
		type_max = UINT16_MAX;
	else if (field->type == FIELD_U32)
		type_max = UINT32_MAX;
	else if (field->type == FIELD_I8)
		type_max = INT8_MAX;
	return field->max < type_max ? field->max : type_max;
}

static int
store_number(const struct field *field, const struct unit_number *number, void *member)
{
	int64_t negated = 0;

	if (number->negative && number->magnitude > 0) {
		if (number->magnitude > (uint64_t) - (int64_t)INT8_MIN || field->type != FIELD_I8)
			return -ERANGE;
		negated = -(int64_t)number->magnitude;
		if (negated < field->min)
			return -ERANGE;
		*(int8_t *)member = (int8_t)negated;
		return 0;
	}
	if (number->magnitude > highest(field) ||
	    (field->min > 0 && number->magnitude < (uint64_t)field->min))
		return -ERANGE;
	switch (field->type) {
	case FIELD_U8:
	case FIELD_I8:
		*(uint8_t *)member = (uint8_t)number->magnitude;
		break;
	case FIELD_U16:
		*(uint16_t *)member = (uint16_t)number->magnitude;
		break;
	case FIELD_U32:
		*(uint32_t *)member = (uint32_t)number->magnitude;
		break;
	default:
		*(uint64_t *)member = number->magnitude;
		break;
	}
	return 0;
}

static int
parse_number(const struct field *field, const struct field_alias *alias, const char *text,
	     void *member)
{
	uint64_t scale = alias && alias->scale ? alias->scale : 1;
	struct unit_number number;
	int rc;

	const char *word = field_highest_word(field);

	if (word != NULL && strcmp(text, word) == 0)
		number = (struct unit_number){.magnitude = UINT64_MAX};
	else if ((rc = unit_parse(field->unit, scale, text, &number)) != 0)
		return rc;
	if (alias && alias->one_minus) {
		uint64_t full = unit_full_scale(field->unit);

		full = full ? full : field->max;
		if (number.negative || number.magnitude > full)
			return -ERANGE;
		number.magnitude = full - number.magnitude;
	}
	return store_number(field, &number, member);
}

static int
parse_member(const struct field *field, const struct field_alias *alias, const char *text,
	     bool change, void *member)
{
	switch (field->type) {
	case FIELD_BOOL:
		return parse_bool(text, member);
	case FIELD_ENUM:
		return parse_enum(field, text, member);
	case FIELD_MAC:
		return parse_mac(field, text, member);
	case FIELD_IP:
		return parse_ip(field, text, member);
	case FIELD_STR:
		return parse_str(field, text, member);
	case FIELD_TEXT:
		return parse_text(field, text, member);
	case FIELD_SET8:
		return set8_parse(text, member);
	case FIELD_MAP:
		return map_parse(field, text, change ? member : NULL, member);
	default:
		return parse_number(field, alias, text, member);
	}
}

/* Rows with or_default: the value, and whether it is the object's own. */
static int
parse_or_default(const struct field *field, const char *text, bool change, uint8_t *member)
{
	size_t n = field->type == FIELD_MAP ? field->map_keys : 1u;
	int rc;

	if (strcmp(text, FIELD_DEFAULT) == 0) {
		memset(member, 0, n + sizeof(bool));
		return 0;
	}
	rc = parse_member(field, NULL, text, change, member);
	if (rc == 0)
		*(bool *)(member + n) = true;
	return rc;
}

static int
parse(const struct field *field, const struct field_alias *alias, const char *text, bool change,
      void *object, char *expected, size_t size)
{
	void *member = (char *)object + field->offset;
	int rc = field->or_default ? parse_or_default(field, text, change, member)
				   : parse_member(field, alias, text, change, member);

	if (rc != 0 && size > 0)
		field_expected(field, alias, expected, size);
	return rc;
}

int
field_parse(const struct field *field, const struct field_alias *alias, const char *text,
	    void *object, char *expected, size_t size)
{
	return parse(field, alias, text, false, object, expected, size);
}

int
field_parse_change(const struct field *field, const struct field_alias *alias, const char *text,
		   void *object, char *expected, size_t size)
{
	return parse(field, alias, text, true, object, expected, size);
}

bool
field_lacks_unit(const struct field *field, const struct field_alias *alias, const char *text,
		 char *doubt, size_t size)
{
	const char *meant;
	uint64_t least = unit_least_bare(field->unit, &meant), number = 0;

	if (field->least_bare > 0)
		least = field->least_bare;
	/* An alias with a scale counts a unit of its own. */
	if (meant == NULL || (alias != NULL && alias->scale > 1) ||
	    text[strspn(text, "0123456789")] != '\0')
		return false;
	for (; *text != '\0' && number < least; text++)
		number = 10 * number + (uint64_t)(*text - '0');
	if (number == 0 || number >= least)
		return false;
	snprintf(doubt, size, "%u %s, since no unit such as %s follows", (unsigned int)number,
		 field_unit_name(field->unit), meant);
	return true;
}

int
field_defaults(const struct field *fields, size_t n, void *object)
{
	for (size_t i = 0; i < n; i++)
		if (fields[i].def && field_parse(&fields[i], NULL, fields[i].def, object, NULL, 0))
			return -EINVAL;
	return 0;
}

const struct field *
field_find(const struct field *fields, size_t n, const char *name, const struct field_alias **alias)
{
	*alias = NULL;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(fields[i].name, name) == 0)
			return &fields[i];
		for (int a = 0; a < FIELD_ALIASES && fields[i].aliases[a].name; a++) {
			if (strcmp(fields[i].aliases[a].name, name) == 0) {
				*alias = &fields[i].aliases[a];
				return &fields[i];
			}
		}
	}
	return NULL;
}
