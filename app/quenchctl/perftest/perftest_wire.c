/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/perftest/perftest_wire.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/array.h"
#include "wire/roce/gid.h"

uint32_t
perftest_version(const uint8_t text[PERFTEST_VERSION_BYTES])
{
	uint32_t hundredths = 0, digits = 0;
	bool dot = false;

	for (unsigned int i = 0; i < PERFTEST_VERSION_BYTES && text[i] != '\0'; i++) {
		if (text[i] == '.' && i > 0 && !dot) {
			dot = true;
			continue;
		}
		if (!isdigit(text[i]) || hundredths > 99999 || digits == 2)
			return 0;
		hundredths = hundredths * 10 + (uint32_t)(text[i] - '0');
		digits += dot;
	}
	return digits == 2 ? hundredths : 0;
}

void
perftest_put_mtu(uint16_t mtu_bytes, uint8_t text[PERFTEST_MTU_BYTES])
{
	text[0] = '1';
	while (mtu_bytes > 256) {
		mtu_bytes /= 2;
		text[0]++;
	}
	text[1] = '\0';
}

uint16_t
perftest_mtu(const uint8_t text[PERFTEST_MTU_BYTES])
{
	if (text[0] < '1' || text[0] > '5' || text[1] != '\0')
		return 0;
	return (uint16_t)(256u << (text[0] - '1'));
}

void
perftest_put_end(const struct perftest_end *end, uint8_t text[PERFTEST_END_BYTES])
{
	uint8_t gid[GID_BYTES];
	char line[PERFTEST_END_BYTES + 1];
	size_t n = (size_t)snprintf(line, sizeof(line), "%04x:%04x:%06x:%06x:%08x:%016" PRIx64,
				    end->lid & 0xffff, end->rd_depth & 0xffff, end->qpn & 0xffffff,
				    end->psn & 0xffffff, end->rkey, end->addr);

	gid_of_ip(&end->ip, gid);
	for (unsigned int i = 0; i < GID_BYTES; i++)
		n += (size_t)snprintf(line + n, sizeof(line) - n, ":%02x", gid[i]);
	snprintf(line + n, sizeof(line) - n, ":%08x:", end->srqn);
	memcpy(text, line, PERFTEST_END_BYTES);
}

/* Read exactly `digits` hexadecimal digits and a colon at *at. @return false: malformed. */
static bool
get_hex(const uint8_t **at, unsigned int digits, uint64_t *value)
{
	*value = 0;
	for (unsigned int i = 0; i < digits; i++) {
		int c = tolower(*(*at)++);

		if (!isxdigit(c))
			return false;
		*value = *value << 4 | (uint64_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	return *(*at)++ == ':';
}

bool
perftest_get_end(const uint8_t text[PERFTEST_END_BYTES], struct perftest_end *end)
{
	static const unsigned int digits[] = {4, 4, 6, 6, 8, 16};
	uint64_t value[ARRAY_LEN(digits)], byte, srqn;
	const uint8_t *at = text;
	uint8_t gid[GID_BYTES];

	for (unsigned int i = 0; i < ARRAY_LEN(digits); i++)
		if (!get_hex(&at, digits[i], &value[i]))
			return false;
	for (unsigned int i = 0; i < GID_BYTES; i++) {
		if (!get_hex(&at, 2, &byte))
			return false;
		gid[i] = (uint8_t)byte;
	}
	if (!get_hex(&at, 8, &srqn) || *at != '\0')
		return false;
	*end = (struct perftest_end){.lid = (uint32_t)value[0],
				     .rd_depth = (uint32_t)value[1],
				     .qpn = (uint32_t)value[2],
				     .psn = (uint32_t)value[3],
				     .rkey = (uint32_t)value[4],
				     .addr = value[5],
				     .srqn = (uint32_t)srqn,
				     .ip = gid_ip(gid)};
	return true;
}

void
perftest_put_u32(uint32_t value, uint8_t bytes[4])
{
	for (unsigned int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

void
perftest_put_number(const struct perftest_report *report, unsigned int i,
		    uint8_t bytes[PERFTEST_NUMBER_BYTES])
{
	const double reals[PERFTEST_NUMBERS] = {0, 0, report->peak, report->average, report->mmps};
	uint64_t bits = i == 0 ? report->bytes : report->iterations;

	/* A double travels as its bits (IEEE 754), big-endian as the rest. */
	if (i >= 2)
		memcpy(&bits, &reals[i], sizeof(bits));
	for (unsigned int k = 0; k < PERFTEST_NUMBER_BYTES; k++)
		bytes[k] = (uint8_t)(bits >> (56 - 8 * k));
}

void
perftest_get_number(const uint8_t bytes[PERFTEST_NUMBER_BYTES], unsigned int i,
		    struct perftest_report *report)
{
	double *const reals[PERFTEST_NUMBERS] = {NULL, NULL, &report->peak, &report->average,
						 &report->mmps};
	uint64_t bits = 0;

	for (unsigned int k = 0; k < PERFTEST_NUMBER_BYTES; k++)
		bits = bits << 8 | bytes[k];
	if (i == 0)
		report->bytes = bits;
	else if (i == 1)
		report->iterations = bits;
	else
		memcpy(reals[i], &bits, sizeof(bits));
}
