/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of perftest's exchange. The golden ones are those of ib_write_bw 4.5 on soft-RoCE. */
#include <string.h>

#include "unit/cases.h"
#include "quenchctl/perftest/perftest_wire.h"

static const char golden[] = "0000:0010:000013:013e39:000004d4:000055bfba545000:"
			     "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:09:00:02:00000000:";

TEST(data_of_a_qp_is_read_and_written_as_perftest_does)
{
	uint8_t text[PERFTEST_END_BYTES];
	struct perftest_end end;

	assert_int_equal(sizeof(golden), PERFTEST_END_BYTES);
	assert_true(perftest_get_end((const uint8_t *)golden, &end));
	assert_int_equal(end.rd_depth, 16);
	assert_int_equal(end.qpn, 0x13);
	assert_int_equal(end.psn, 0x13e39);
	assert_int_equal(end.rkey, 0x4d4);
	assert_int_equal(end.addr, 0x55bfba545000);
	assert_int_equal(end.ip.version, 4);
	assert_memory_equal(end.ip.addr, "\x0a\x09\x00\x02", 4);
	perftest_put_end(&end, text);
	assert_memory_equal(text, golden, sizeof(golden));
}

TEST(address_of_version_6_is_the_gid)
{
	struct perftest_end end = {.qpn = 17, .ip = {.version = 6, .addr = {0xfd, 9, [15] = 2}}},
			    got;
	uint8_t text[PERFTEST_END_BYTES];

	perftest_put_end(&end, text);
	assert_true(perftest_get_end(text, &got));
	assert_int_equal(got.ip.version, 6);
	assert_memory_equal(got.ip.addr, end.ip.addr, 16);
}

TEST(each_byte_of_the_data_that_is_wrong_is_refused)
{
	struct perftest_end end;

	for (size_t i = 0; i < sizeof(golden); i++) {
		uint8_t text[PERFTEST_END_BYTES];

		memcpy(text, golden, sizeof(text));
		text[i] = 'g';
		assert_false(perftest_get_end(text, &end));
	}
}

static uint32_t
version(const char *text)
{
	uint8_t bytes[PERFTEST_VERSION_BYTES] = {0};

	memcpy(bytes, text, strnlen(text, sizeof(bytes)));
	return perftest_version(bytes);
}

TEST(versions_are_numbers_with_two_decimals)
{
	assert_int_equal(version("6.06"), 606);
	assert_int_equal(version("5.98"), 598);
	assert_int_equal(version("16.25"), 1625);
	assert_int_equal(version(""), 0);
	assert_int_equal(version("6"), 0);
	assert_int_equal(version("6.1"), 0);
	assert_int_equal(version(".606"), 0);
	assert_int_equal(version("6..06"), 0);
	assert_int_equal(version("6.060"), 0);
	assert_int_equal(version("6.06 "), 0);
	assert_int_equal(version("HTTP/1.1 400 Bad"), 0);
	assert_int_equal(version("9999999999999999"), 0);
}

TEST(mtus_are_digits)
{
	for (uint16_t mtu_bytes = 256; mtu_bytes <= 4096; mtu_bytes *= 2) {
		uint8_t text[PERFTEST_MTU_BYTES];

		perftest_put_mtu(mtu_bytes, text);
		assert_int_equal(perftest_mtu(text), mtu_bytes);
	}
	assert_int_equal(perftest_mtu((const uint8_t *)"3"), 1024);
	assert_int_equal(perftest_mtu((const uint8_t *)"0"), 0);
	assert_int_equal(perftest_mtu((const uint8_t *)"6"), 0);
	assert_int_equal(perftest_mtu((const uint8_t *)"33"), 0);
}

TEST(results_travel_big_endian)
{
	const struct perftest_report report = {
		.bytes = 65536, .iterations = 1000, .peak = 0, .average = 1.0, .mmps = 0.25};
	static const uint8_t expected[PERFTEST_NUMBERS][PERFTEST_NUMBER_BYTES] = {
		{0, 0, 0, 0, 0, 1, 0, 0},
		{0, 0, 0, 0, 0, 0, 3, 0xe8},
		{0},
		{0x3f, 0xf0},
		{0x3f, 0xd0}};
	struct perftest_report got = {0};

	for (unsigned int i = 0; i < PERFTEST_NUMBERS; i++) {
		uint8_t bytes[PERFTEST_NUMBER_BYTES];

		perftest_put_number(&report, i, bytes);
		assert_memory_equal(bytes, expected[i], sizeof(bytes));
		perftest_get_number(bytes, i, &got);
	}
	assert_memory_equal(&got, &report, sizeof(report));
}

TEST_MAIN()
