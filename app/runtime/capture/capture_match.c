/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/capture/capture_match.h"

#include <stdio.h>
#include <string.h>

#define ETHER_ADDRS_AND_TYPE_BYTES 14u
#define NOWHERE SIZE_MAX

static const char *const header_words[CAPTURE_HEADERS] = {
	[CAPTURE_ETH] = "eth",   [CAPTURE_VLAN] = "vlan", [CAPTURE_IPV4] = "ipv4",
	[CAPTURE_IPV6] = "ipv6", [CAPTURE_L4] = "l4",
};

static uint8_t
digit_value(char c)
{
	return (uint8_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

/* The last digit is at the last bit of the field. @return false: the number has more bits. */
static bool
place_digits(const char *digits, const struct capture_match *m, uint8_t bytes[CAPTURE_MATCH_BYTES])
{
	size_t n = strlen(digits);

	for (uint32_t i = 0; i < 4 * n; i++) {
		uint32_t at = m->bit % 8 + m->bits - 1 - i;

		if ((digit_value(digits[n - 1 - i / 4]) >> i % 4 & 1) == 0)
			continue;
		if (i >= m->bits)
			return false;
		bytes[at / 8] |= (uint8_t)(0x80 >> at % 8);
	}
	return true;
}

static bool
find_header(const char *word, enum capture_header *header)
{
	for (unsigned int i = 0; i < CAPTURE_HEADERS; i++)
		if (strcmp(header_words[i], word) == 0) {
			*header = (enum capture_header)i;
			return true;
		}
	return false;
}

/* @param n  Length of the match. */
static bool
read_one(const char *text, size_t n, struct capture_match *m)
{
	char header[5], value[CAPTURE_MATCH_BITS / 4 + 1], mask[CAPTURE_MATCH_BITS / 4 + 1];
	int with_value = 0, with_mask = 0;

	*m = (struct capture_match){.negate = *text == '!'};
	text += m->negate;
	n -= m->negate;
	(void)!sscanf(text, "%4[a-z0-9]@%5u/%3u:%32[0-9a-fA-F]%n/%32[0-9a-fA-F]%n", header, &m->bit,
		      &m->bits, value, &with_value, mask, &with_mask);
	if (with_value == 0 || (size_t)(with_mask > 0 ? with_mask : with_value) != n ||
	    !find_header(header, &m->header) || m->bits < 1 || m->bits > CAPTURE_MATCH_BITS ||
	    m->bit > CAPTURE_MATCH_LAST_BIT || !place_digits(value, m, m->value))
		return false;
	if (with_mask > 0)
		return place_digits(mask, m, m->mask);
	for (uint32_t i = 0; i < m->bits; i++)
		m->mask[(m->bit % 8 + i) / 8] |= (uint8_t)(0x80 >> (m->bit + i) % 8);
	return true;
}

size_t
capture_matches_read(const char **text, struct capture_match *matches, uint32_t *n)
{
	*n = 0;
	if (**text == '\0')
		return 0;
	for (;; ++*text) {
		size_t length = strcspn(*text, ",");

		if (*n == CAPTURE_MATCHES || length == 0 || !read_one(*text, length, &matches[*n]))
			return length > 0 ? length : 1;
		++*n;
		*text += length;
		if (**text == '\0')
			return 0;
	}
}

static size_t
find(enum capture_header header, const struct frame_view *v)
{
	switch (header) {
	case CAPTURE_ETH:
		return 0;
	case CAPTURE_VLAN:
		return v->tagged ? ETHER_ADDRS_AND_TYPE_BYTES : NOWHERE;
	case CAPTURE_IPV4:
		return v->ip_version == 4 ? v->l3_off : NOWHERE;
	case CAPTURE_IPV6:
		return v->ip_version == 6 ? v->l3_off : NOWHERE;
	default:
		return v->ip_version != 0 && !v->fragment ? v->l4_off : NOWHERE;
	}
}

bool
capture_match_holds(const struct capture_match *m, const uint8_t *bytes, size_t len,
		    const struct frame_view *v)
{
	size_t at = find(m->header, v), n = (m->bit % 8 + m->bits + 7) / 8;

	if (at == NOWHERE || at + m->bit / 8 + n > len)
		return false;
	at += m->bit / 8;
	for (size_t i = 0; i < n; i++)
		if (((bytes[at + i] ^ m->value[i]) & m->mask[i]) != 0)
			return m->negate;
	return !m->negate;
}
