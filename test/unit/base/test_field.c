// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/field/field_table.h"
#include "base/numbers/prng.h"

struct thing {
	bool enable;
	uint8_t threshold;
	uint16_t old_weight;
	uint32_t period_us;
	uint64_t stop_ns;
	uint64_t buffer_bytes;
	uint64_t rate_bps;
	uint32_t probability_ppm;
	uint8_t share_pct;
	int8_t dynamic_th;
	int profile;
	uint8_t mac[6];
	struct field_ip ip;
	struct field_ip ip4;
	struct field_ip ip6;
	char name[9];
	uint8_t queues;
	uint8_t map[64];
	uint8_t weight[8];
	uint8_t own_queues;
	bool has_queues;
	uint8_t own_map[8];
	bool has_map;
	uint32_t qpn;
};

enum {
	ENABLE,
	THRESHOLD,
	OLD_WEIGHT,
	PERIOD,
	STOP,
	BUFFER,
	RATE,
	PROBABILITY,
	SHARE,
	DYNAMIC_TH,
	PROFILE,
	MAC,
	IP,
	IP4,
	IP6,
	NAME,
	QUEUES,
	MAP,
	WEIGHT,
	OWN_QUEUES,
	OWN_MAP,
	QPN,
};

static const char *const profiles[] = {"paper", "mlx", "other", NULL};

#define AT(member) FIELD_OF(struct thing, member)

static const struct field fields[] = {
	[ENABLE] = {AT(enable), .type = FIELD_BOOL, .def = "on"},
	[THRESHOLD] = {AT(threshold), .type = FIELD_U8, .min = 1, .max = 31, .def = "5",
		       .aliases = {{"F", 0, false}}},
	[OLD_WEIGHT] = {AT(old_weight), .type = FIELD_U16, .unit = UNIT_1024, .max = 1024,
			.def = "1020", .aliases = {{"g", 1024, true}, {"dce_tcp_g", 0, false}}},
	[PERIOD] = {AT(period_us), .type = FIELD_U32, .unit = UNIT_US, .min = 1, .max = UINT32_MAX,
		    .def = "55us"},
	[STOP] = {AT(stop_ns), .type = FIELD_U64, .unit = UNIT_NS, .max = UINT64_MAX,
		  .def = "never"},
	[BUFFER] = {AT(buffer_bytes), .type = FIELD_U64, .unit = UNIT_BYTES, .max = 1000000000,
		    .def = "12MB"},
	[RATE] = {AT(rate_bps), .type = FIELD_U64, .unit = UNIT_BPS, .min = 1000000,
		  .max = 400000000000, .def = "40G", .aliases = {{"rate_mbps", 1000000, false}}},
	[PROBABILITY] = {AT(probability_ppm), .type = FIELD_U32, .unit = UNIT_PPM, .max = 1000000,
			 .def = "1%", .aliases = {{"probability", 10000, false}}},
	[SHARE] = {AT(share_pct), .type = FIELD_U8, .unit = UNIT_PCT, .min = 1, .max = 100,
		   .def = "50%"},
	[DYNAMIC_TH] = {AT(dynamic_th), .type = FIELD_I8, .min = -8, .max = 7, .def = "-1"},
	[PROFILE] = {AT(profile), .type = FIELD_ENUM, .choices = profiles, .def = "paper"},
	[MAC] = {AT(mac), .type = FIELD_MAC, .min = 1, .def = "02:00:00:00:00:01"},
	[IP] = {AT(ip), .type = FIELD_IP, .def = "none"},
	[IP4] = {AT(ip4), .type = FIELD_IP, .min = 1, .max = 4, .def = "10.0.0.1"},
	[IP6] = {AT(ip6), .type = FIELD_IP, .max = 6, .def = "none"},
	[NAME] = {AT(name), .type = FIELD_STR, .max = 8, .def = "a b"},
	[QUEUES] = {AT(queues), .type = FIELD_SET8, .def = "3"},
	[MAP] = {AT(map), .type = FIELD_MAP, .map_keys = 64, .max = 7,
		 .def = "26:3, 24:3, 48:7, *:0"},
	[WEIGHT] = {AT(weight), .type = FIELD_MAP, .map_keys = 8, .min = 1, .max = 100,
		    .def = "3:50, *:10"},
	[OWN_QUEUES] = {AT(own_queues), .type = FIELD_SET8, .def = "default", .or_default = true},
	[OWN_MAP] = {AT(own_map), .type = FIELD_MAP, .map_keys = 8, .max = 7, .def = "default",
		     .or_default = true},
	[QPN] = {AT(qpn), .type = FIELD_U32, .min = 2, .max = 0xffffff, .def = "0x11"},
};

TEST(numbers_are_converted_to_the_stored_unit)
{
	static const struct {
		int field;
		const char *text;
		uint64_t value;
	} rows[] = {
		{RATE, "40G", 40000000000},
		{RATE, "40Gbps", 40000000000},
		{RATE, "40 Gbit/s", 40000000000},
		{RATE, "2.5G", 2500000000},
		{RATE, "1500000", 1500000},
		{RATE, "1500000bps", 1500000},
		{RATE, "1000k", 1000000},
		{RATE, "0.4T", 400000000000},
		{RATE, "10.000000001G", 10000000001},
		{BUFFER, "12MB", 12000000},
		{BUFFER, "22.4KB", 22400},
		{BUFFER, "22.4kB", 22400},
		{BUFFER, "12MiB", 12582912},
		{BUFFER, "1024", 1024},
		{BUFFER, "0.5KiB", 512},
		{BUFFER, "0", 0},
		{BUFFER, "64B", 64},
		{STOP, "200ms", 200000000},
		{STOP, "0.2s", 200000000},
		{STOP, "1.50us", 1500},
		{STOP, "18446744073709551615", UINT64_MAX},
		{STOP, "never", UINT64_MAX},
		{STOP, "0.000000001000000000000000000s", 1},
		{PERIOD, "55us", 55},
		{PERIOD, "55", 55},
		{PERIOD, "55000ns", 55},
		{PERIOD, "1.5ms", 1500},
		{PERIOD, "4294967295", UINT32_MAX},
		{PROBABILITY, "1%", 10000},
		{PROBABILITY, "0.25 %", 2500},
		{PROBABILITY, "10000", 10000},
		{PROBABILITY, "10000ppm", 10000},
		{SHARE, "50%", 50},
		{SHARE, "50", 50},
		{OLD_WEIGHT, "1020", 1020},
		{OLD_WEIGHT, "255/256", 1020},
		{QPN, "0x12aB", 0x12ab},
		{QPN, "17", 17},
		{QPN, "0017", 17},
		{QPN, "17.0", 17},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		const struct field *f = &fields[rows[i].field];
		struct thing t = {0};
		uint64_t got = 0;

		if (field_parse(f, NULL, rows[i].text, &t, NULL, 0) != 0)
			fail_msg("%s = %s is refused", f->name, rows[i].text);
		memcpy(&got, (char *)&t + f->offset,
		       f->type == FIELD_U64   ? 8
		       : f->type == FIELD_U32 ? 4
		       : f->type == FIELD_U16 ? 2
					      : 1);
		if (got != rows[i].value)
			fail_msg("%s = %s gives %lu", f->name, rows[i].text, (unsigned long)got);
	}
}

TEST(what_is_refused_says_what_was_expected)
{
	static const char rate[] = "a rate in bit/s from 1M to 400G, such as 40G";
	static const char size[] = "a size in whole bytes from 0 to 1GB, such as 12MB";
	static const char period[] = "a time in whole us from 1us to 4294967295us, such as 55us";
	static const char stop[] = "a time in whole ns from 0 up, or never";
	static const char map[] =
		"every key from 0 to 63 once with a value from 0 to 7, such as 0-1:7, *:0";
	static const char set[] = "numbers from 0 to 7 such as 3,4 or 3-4, or none";
	static const char mac[] = "a station's MAC address such as 02:00:00:00:00:01";
	static const struct {
		int field;
		const char *text;
		int rc;
		const char *expected;
	} rows[] = {
		{RATE, "fast", -EINVAL, rate},
		{RATE, "", -EINVAL, rate},
		{RATE, "40 G b", -EINVAL, rate},
		{RATE, "40GB", -EINVAL, rate},
		{RATE, "40M5", -EINVAL, rate},
		{RATE, "40.G", -EINVAL, rate},
		{RATE, ".5G", -EINVAL, rate},
		{RATE, "1e9", -EINVAL, rate},
		{RATE, " 40G", -EINVAL, rate},
		{RATE, "40G ", -EINVAL, rate},
		{RATE, "0x10", -EINVAL, rate},
		{RATE, "0", -ERANGE, rate},
		{RATE, "-40G", -ERANGE, rate},
		{RATE, "401G", -ERANGE, rate},
		{RATE, "999999", -ERANGE, rate},
		{RATE, "18446744073709551616", -ERANGE, rate},
		{RATE, "18446744073709551615T", -ERANGE, rate},
		{RATE, "1.0000000001G", -EINVAL, rate},
		{RATE, "999999999999999999999999999999999999999G", -ERANGE, rate},
		{BUFFER, "12Mb", -EINVAL, size},
		{BUFFER, "12M", -EINVAL, size},
		{BUFFER, "0.5B", -EINVAL, size},
		{BUFFER, "-1", -ERANGE, size},
		{PERIOD, "0", -ERANGE, period},
		{PERIOD, "1ns", -EINVAL, period},
		{PERIOD, "1500ns", -EINVAL, period},
		{PERIOD, "4294967296", -ERANGE, period},
		{PERIOD, "never", -EINVAL, period},
		{STOP, "0.0000000000000000001s", -EINVAL, stop},
		{STOP, "18446744073709551616", -ERANGE, stop},
		{STOP, "1m", -EINVAL, stop},
		{PROBABILITY, "101%", -ERANGE, "a share from 0 to 100%, such as 1%"},
		{SHARE, "0", -ERANGE, "a whole percentage from 1% to 100%, such as 50%"},
		{SHARE, "0.5%", -EINVAL, "a whole percentage from 1% to 100%, such as 50%"},
		{OLD_WEIGHT, "1/1000", -EINVAL,
		 "parts of 1024, or a fraction such as 1/256, from 0 to 1024, such as 1020"},
		{OLD_WEIGHT, "1/0", -EINVAL,
		 "parts of 1024, or a fraction such as 1/256, from 0 to 1024, such as 1020"},
		{OLD_WEIGHT, "3/2", -ERANGE,
		 "parts of 1024, or a fraction such as 1/256, from 0 to 1024, such as 1020"},
		{THRESHOLD, "32", -ERANGE, "a whole number from 1 to 31"},
		{THRESHOLD, "257", -ERANGE, "a whole number from 1 to 31"},
		{THRESHOLD, "five", -EINVAL, "a whole number from 1 to 31"},
		{DYNAMIC_TH, "-9", -ERANGE, "a whole number from -8 to 7"},
		{DYNAMIC_TH, "8", -ERANGE, "a whole number from -8 to 7"},
		{DYNAMIC_TH, "-300", -ERANGE, "a whole number from -8 to 7"},
		{DYNAMIC_TH, "--1", -EINVAL, "a whole number from -8 to 7"},
		{QPN, "0x", -EINVAL, "a whole number from 2 to 16777215"},
		{QPN, "0x10000000000000000", -ERANGE, "a whole number from 2 to 16777215"},
		{QPN, "0x1g", -EINVAL, "a whole number from 2 to 16777215"},
		{ENABLE, "On", -EINVAL, "on or off"},
		{ENABLE, "2", -EINVAL, "on or off"},
		{PROFILE, "papers", -EINVAL, "paper, mlx or other"},
		{MAC, "02:00:00:00:00", -EINVAL, mac},
		{MAC, "02:00:00:00:00:0g", -EINVAL, mac},
		{MAC, "02-00-00-00-00-01", -EINVAL, mac},
		{MAC, "02:00:00:00:00:01:02", -EINVAL, mac},
		{MAC, "01:00:00:00:00:01", -ERANGE, mac},
		{MAC, "00:00:00:00:00:00", -ERANGE, mac},
		{IP, "10.0.0", -EINVAL, "an IPv4 or IPv6 address, or none"},
		{IP, "10.0.0.1/24", -EINVAL, "an IPv4 or IPv6 address, or none"},
		{IP4, "fd00::1", -ERANGE, "an IPv4 address such as 10.0.0.1"},
		{IP4, "none", -ERANGE, "an IPv4 address such as 10.0.0.1"},
		{IP6, "10.0.0.1", -ERANGE, "an IPv6 address such as fd00::1, or none"},
		{NAME, "123456789", -ERANGE, "0 to 8 printable characters"},
		{NAME, "a\tb", -EINVAL, "0 to 8 printable characters"},
		{QUEUES, "8", -ERANGE, set},
		{QUEUES, "", -EINVAL, set},
		{QUEUES, "3,", -EINVAL, set},
		{QUEUES, "4-3", -EINVAL, set},
		{QUEUES, "3,3", -EINVAL, set},
		{QUEUES, "99999999999", -ERANGE, set},
		{MAP, "64:0, *:0", -ERANGE, map},
		{MAP, "26:8, *:0", -ERANGE, map},
		{MAP, "26:3", -EINVAL, map}, /* what are the others? */
		{MAP, "26:3, 26:4, *:0", -EINVAL, map},
		{MAP, "*:0, *:1", -EINVAL, map},
		{MAP, "26=3, *:0", -EINVAL, map},
		{MAP, "26:3,, *:0", -EINVAL, map},
		{MAP, "26:3 *:0", -EINVAL, map},
		{WEIGHT, "3:0, *:1", -ERANGE,
		 "every key from 0 to 7 once with a value from 1 to 100, such as 0-1:100, *:1"},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		const struct field *f = &fields[rows[i].field];
		struct thing before, t;
		char expected[FIELD_TEXT_SIZE] = "";
		int rc;

		memset(&t, 0xa5, sizeof(t));
		before = t;
		rc = field_parse(f, NULL, rows[i].text, &t, expected, sizeof(expected));
		if (rc != rows[i].rc)
			fail_msg("%s = %s gives %d", f->name, rows[i].text, rc);
		assert_string_equal(expected, rows[i].expected);
		assert_memory_equal(&t, &before, sizeof(t)); /* refused whole */
	}
}

TEST(a_set_or_map_may_be_default_which_is_zeros)
{
	struct thing t, zeros = {0};
	char text[FIELD_TEXT_SIZE];

	memset(&t, 0, sizeof(t));
	assert_int_equal(field_parse(&fields[OWN_QUEUES], NULL, "none", &t, NULL, 0), 0);
	assert_true(field_is_own(&fields[OWN_QUEUES], &t));
	field_format(&fields[OWN_QUEUES], &t, text, sizeof(text));
	assert_string_equal(text, "none");
	assert_int_equal(field_parse(&fields[OWN_MAP], NULL, "3:7, *:1", &t, NULL, 0), 0);
	assert_int_equal(t.own_map[3], 7);
	field_format(&fields[OWN_MAP], &t, text, sizeof(text));
	assert_string_equal(text, "3:7, *:1");
	assert_int_equal(field_parse(&fields[OWN_QUEUES], NULL, "default", &t, NULL, 0), 0);
	assert_int_equal(field_parse(&fields[OWN_MAP], NULL, "default", &t, NULL, 0), 0);
	assert_memory_equal(&t, &zeros, sizeof(t));
	field_format(&fields[OWN_MAP], &t, text, sizeof(text));
	assert_string_equal(text, "default");
	assert_int_equal(field_parse(&fields[OWN_MAP], NULL, "3:8, *:1", &t, text, sizeof(text)),
			 -ERANGE);
	assert_non_null(strstr(text, ", or default"));
	assert_memory_equal(&t, &zeros, sizeof(t));
	assert_int_equal(field_parse(&fields[QUEUES], NULL, "default", &t, NULL, 0), -EINVAL);
}

TEST(a_change_of_a_map_keeps_the_keys_that_it_does_not_name)
{
	struct thing t = {.map = {[26] = 3, [48] = 7}, .own_map = {1, 2, 3, 4}, .has_map = true};
	const struct field *own = &fields[OWN_MAP];

	assert_int_equal(field_parse_change(&fields[MAP], NULL, "8:1, 48:6", &t, NULL, 0), 0);
	assert_int_equal(t.map[26], 3);
	assert_int_equal(t.map[8], 1);
	assert_int_equal(t.map[48], 6);
	assert_int_equal(field_parse_change(&fields[MAP], NULL, "8:1, *:2", &t, NULL, 0), 0);
	assert_int_equal(t.map[26], 2);
	assert_int_equal(field_parse_change(&fields[MAP], NULL, "64:1", &t, NULL, 0), -ERANGE);
	assert_int_equal(field_parse_change(own, NULL, "1:7", &t, NULL, 0), 0);
	assert_int_equal(t.own_map[1], 7);
	assert_int_equal(t.own_map[3], 4);
	/* Those that the default stands for, which the caller has filled in. */
	assert_int_equal(field_parse(own, NULL, "default", &t, NULL, 0), 0);
	t.own_map[3] = 5;
	assert_int_equal(field_parse_change(own, NULL, "1:7", &t, NULL, 0), 0);
	assert_int_equal(t.own_map[1], 7);
	assert_int_equal(t.own_map[3], 5);
	assert_true(t.has_map);
}

TEST(an_alias_scales_bare_numbers_and_turns_weights_round)
{
	static const struct {
		const char *alias;
		const char *text;
		int rc;
		uint64_t value;
	} rows[] = {
		{"g", "1/256", 0, 1020}, /* SIGCOMM15: weight of the new sample */
		{"g", "0.00390625", 0, 1020},
		{"g", "1", 0, 0},
		{"g", "0", 0, 1024},
		{"g", "1.5", -ERANGE, 0},
		{"g", "1/1000", -EINVAL, 0},
		{"dce_tcp_g", "1019", 0, 1019}, /* vendors: weight of the old one */
		{"rate_mbps", "40000", 0, 40000000000},
		{"rate_mbps", "0.000001", -ERANGE, 0},
		{"rate_mbps", "40G", 0, 40000000000}, /* a suffix says its own scale */
		{"rate_mbps", "99999999999999", -ERANGE, 0},
		{"probability", "5", 0, 50000},
		{"probability", "0.5", 0, 5000},
		{"probability", "100ppm", 0, 100},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		const struct field_alias *alias;
		const struct field *f =
			field_find(fields, ARRAY_LEN(fields), rows[i].alias, &alias);
		struct thing t = {0};
		uint64_t got = 0;

		assert_non_null(f);
		assert_non_null(alias);
		assert_int_equal(field_parse(f, alias, rows[i].text, &t, NULL, 0), rows[i].rc);
		memcpy(&got, (char *)&t + f->offset,
		       f->type == FIELD_U64   ? 8
		       : f->type == FIELD_U32 ? 4
					      : 2);
		if (got != rows[i].value)
			fail_msg("%s = %s gives %lu", rows[i].alias, rows[i].text,
				 (unsigned long)got);
	}
}

TEST(an_error_under_an_alias_tells_its_scale)
{
	const struct field_alias *alias;
	const struct field *f = field_find(fields, ARRAY_LEN(fields), "rate_mbps", &alias);
	char expected[FIELD_TEXT_SIZE];
	struct thing t;

	assert_int_equal(field_parse(f, alias, "x", &t, expected, sizeof(expected)), -EINVAL);
	assert_string_equal(expected, "a rate in bit/s from 1M to 400G, such as 40G; "
				      "a bare number under rate_mbps counts 1000000 bit/s");
	f = field_find(fields, ARRAY_LEN(fields), "g", &alias);
	assert_int_equal(field_parse(f, alias, "2", &t, expected, sizeof(expected)), -ERANGE);
	assert_string_equal(expected, "parts of 1024, or a fraction such as 1/256, from 0 to 1024, "
				      "such as 1020; under g, one minus that");
	/* Cut off, not overrun. */
	memset(expected, 'x', sizeof(expected));
	field_parse(f, alias, "2", &t, expected, 10);
	assert_string_equal(expected, "parts of ");
	assert_int_equal(expected[10], 'x');
}

TEST(names_and_aliases_are_found_and_others_are_not)
{
	const struct field_alias *alias;

	assert_ptr_equal(field_find(fields, ARRAY_LEN(fields), "rate_bps", &alias), &fields[RATE]);
	assert_null(alias);
	assert_ptr_equal(field_find(fields, ARRAY_LEN(fields), "F", &alias), &fields[THRESHOLD]);
	assert_string_equal(alias->name, "F");
	assert_null(field_find(fields, ARRAY_LEN(fields), "rate", &alias));
	assert_null(field_find(fields, ARRAY_LEN(fields), "", &alias));
	assert_null(field_find(fields, 0, "rate_bps", &alias));
}

TEST(defaults_fill_the_whole_struct)
{
	static const struct field wrong[] = {
		{AT(threshold), .type = FIELD_U8, .min = 1, .max = 31, .def = "0"},
	};
	struct thing t;

	memset(&t, 0xff, sizeof(t));
	assert_int_equal(field_defaults(fields, ARRAY_LEN(fields), &t), 0);
	assert_true(t.enable);
	assert_int_equal(t.dynamic_th, -1);
	assert_int_equal(t.rate_bps, 40000000000);
	assert_string_equal(t.name, "a b");
	assert_int_equal(t.queues, 1 << 3);
	assert_int_equal(t.map[26], 3);
	assert_int_equal(t.map[24], 3);
	assert_int_equal(t.map[48], 7);
	assert_int_equal(t.map[0], 0);
	assert_int_equal(t.map[63], 0);
	assert_int_equal(t.weight[3], 50);
	assert_int_equal(t.weight[7], 10);
	assert_int_equal(t.ip.version, 0);
	assert_int_equal(field_defaults(wrong, 1, &t), -EINVAL);
}

TEST(values_are_written_as_people_write_them)
{
	static const struct {
		int field;
		const char *in;
		const char *out;
	} rows[] = {
		{RATE, "40000000000", "40G"},
		{RATE, "1234567", "1234567"},
		{BUFFER, "12000000", "12MB"},
		{BUFFER, "1024", "1024B"},
		{BUFFER, "12MiB", "12MiB"},
		{BUFFER, "125MiB", "125MiB"},
		{BUFFER, "0", "0"},
		{PERIOD, "1000", "1ms"},
		{STOP, "1500", "1500ns"},
		{STOP, "never", "never"},
		{PROBABILITY, "10000", "1%"},
		{PROBABILITY, "10001", "10001ppm"},
		{SHARE, "5", "5%"},
		{OLD_WEIGHT, "1/2", "512"},
		{DYNAMIC_TH, "-8", "-8"},
		{QUEUES, "3-4,6", "3-4,6"},
		{QUEUES, "7,0,1", "0-1,7"},
		{QUEUES, "none", "none"},
		{MAP, "*:7", "*:7"},
		{MAP, "0-31:1,32-63:2", "0-31:1, *:2"},
		{WEIGHT, "0:1, 1 : 2,2:3 ,3-7:4", "0:1, 1:2, 2:3, *:4"},
		{MAC, "02:AB:00:00:00:0f", "02:ab:00:00:00:0f"},
		{IP, "FD00:0::1", "fd00::1"},
		{IP, "10.1.2.3", "10.1.2.3"},
		{IP, "none", "none"},
		{IP6, "fd00::1", "fd00::1"},
		{IP6, "none", "none"},
		{ENABLE, "0", "off"},
		{PROFILE, "mlx", "mlx"},
		{NAME, "", ""},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		const struct field *f = &fields[rows[i].field];
		char text[FIELD_TEXT_SIZE];
		struct thing t = {0};

		assert_int_equal(field_parse(f, NULL, rows[i].in, &t, NULL, 0), 0);
		assert_int_equal(field_format(f, &t, text, sizeof(text)), strlen(rows[i].out));
		assert_string_equal(text, rows[i].out);
		/* The length is told even when there is no room. */
		assert_int_equal(field_format(f, &t, NULL, 0), strlen(rows[i].out));
	}
}

/* A file takes values of 255 characters, so no map that came from one may need more. */
TEST(a_map_is_written_no_longer_than_it_was_read)
{
	const struct field *f = &fields[MAP];
	char text[256] = "", again[FIELD_TEXT_SIZE];
	struct thing t = {0}, u = {0};
	int used = 0;

	/* No two neighbours equal; of the four values none stands out. */
	for (int k = 0; k < 48; k++)
		used += snprintf(text + used, sizeof(text) - (size_t)used, "%d:%d,", k, k % 4);
	snprintf(text + used, sizeof(text) - (size_t)used, "*:7");
	assert_int_equal(field_parse(f, NULL, text, &t, NULL, 0), 0);
	assert_true(field_format(f, &t, again, sizeof(again)) <= (int)strlen(text));
	assert_int_equal(field_parse(f, NULL, again, &u, NULL, 0), 0);
	assert_memory_equal(&t, &u, sizeof(t));
}

static uint64_t
random_in(struct prng *r, uint64_t min, uint64_t max)
{
	uint64_t span = max - min;
	uint64_t v = prng_u64(r) >> prng_below(r, 64);
	uint64_t round = 1;

	/* Mix raw bits with round numbers, which take suffixes. */
	for (uint64_t zeros = prng_below(r, 13); zeros > 0; zeros--)
		round *= 10;
	v = prng_below(r, 2) ? v / round * round : v;
	return span == UINT64_MAX ? v : min + v % (span + 1);
}

/* A random legal value for one member. */
static void
randomize(const struct field *f, struct thing *t, struct prng *r)
{
	uint8_t *member = (uint8_t *)t + f->offset;
	uint64_t v = f->type == FIELD_I8 ? (uint64_t)f->min + prng_below(r, 16)
					 : random_in(r, (uint64_t)f->min, f->max);
	size_t n = f->type == FIELD_U64   ? 8
		   : f->type == FIELD_U32 ? 4
		   : f->type == FIELD_U16 ? 2
					  : 1;

	switch (f->type) {
	case FIELD_BOOL:
		*member = (uint8_t)prng_below(r, 2);
		break;
	case FIELD_ENUM:
		*(int *)(void *)member = (int)prng_below(r, 3);
		break;
	case FIELD_MAC:
		for (int i = 0; i < 6; i++)
			member[i] = (uint8_t)prng_u32(r);
		member[0] = (uint8_t)((member[0] & ~1u) | 2u);
		break;
	case FIELD_IP:
		memset(member, 0, sizeof(struct field_ip));
		member[0] = f->max ? (uint8_t)f->max : (uint8_t[]){4, 6}[prng_below(r, 2)];
		if (f->min == 0 && prng_below(r, 3) == 0)
			member[0] = 0;
		for (int i = 0; i < (member[0] == 4 ? 4 : member[0] == 6 ? 16 : 0); i++)
			member[1 + i] = prng_below(r, 2) ? (uint8_t)prng_u32(r) : 0;
		break;
	case FIELD_STR:
		memset(member, 0, f->max + 1);
		for (uint64_t i = prng_below(r, f->max + 1); i > 0; i--)
			member[i - 1] = (uint8_t)(' ' + prng_below(r, 95));
		break;
	case FIELD_SET8:
		*member = (uint8_t)prng_u32(r);
		if (f->or_default)
			t->has_queues = true;
		break;
	case FIELD_MAP:
		if (f->or_default)
			t->has_map = true;
		for (int k = 0; k < f->map_keys; k++)
			member[k] = prng_below(r, 3) && k
					    ? member[k - 1]
					    : (uint8_t)random_in(r, (uint64_t)f->min, f->max);
		break;
	default:
		memcpy(member, &v, n);
		break;
	}
}

TEST(what_is_written_reads_back_to_the_same_bytes)
{
	struct prng r;

	prng_seed(&r, 11, 0);
	for (int i = 0; i < 40000; i++) {
		const struct field *f = &fields[i % (int)ARRAY_LEN(fields)];
		struct thing a = {0}, b = {0};
		char text[FIELD_TEXT_SIZE], expected[FIELD_TEXT_SIZE];

		randomize(f, &a, &r);
		assert_true(field_format(f, &a, text, sizeof(text)) < (int)sizeof(text));
		if (field_parse(f, NULL, text, &b, expected, sizeof(expected)) != 0)
			fail_msg("seed 11 step %d: %s = %s: expected %s", i, f->name, text,
				 expected);
		if (memcmp(&a, &b, sizeof(a)) != 0)
			fail_msg("seed 11 step %d: %s = %s changed", i, f->name, text);
	}
}

/* A long text is on the heap: a value that is refused leaves the one before. */
TEST(long_text_replaces_the_one_before)
{
	struct {
		const char *list;
	} one = {0}, other = {0};
	const struct field f = {
		.name = "list", .type = FIELD_TEXT, .min = 2, .max = 9000, .live = true};
	char text[9002], again[FIELD_VALUE_SIZE], why[64];
	const char *before;

	assert_string_equal(field_text(&f, &one), "");
	assert_int_equal(field_format(&f, &one, again, sizeof(again)), 0);
	memset(text, 'x', sizeof(text));
	text[9000] = '\0';
	assert_int_equal(field_parse(&f, NULL, text, &one, NULL, 0), 0);
	assert_string_equal(one.list, text);
	assert_ptr_not_equal(one.list, text);
	assert_int_equal(field_format(&f, &one, again, sizeof(again)), 9000);
	assert_string_equal(again, text);
	assert_int_equal(field_parse(&f, NULL, again, &other, NULL, 0), 0);
	assert_string_equal(field_text(&f, &other), text);
	before = one.list;
	text[9000] = 'x';
	text[9001] = '\0';
	assert_int_equal(field_parse(&f, NULL, text, &one, why, sizeof(why)), -ERANGE);
	assert_string_equal(why, "2 to 9000 printable characters");
	assert_int_equal(field_parse(&f, NULL, "x", &one, NULL, 0), -ERANGE);
	assert_int_equal(field_parse(&f, NULL, "a\tb", &one, NULL, 0), -EINVAL);
	assert_ptr_equal(one.list, before);
	assert_int_equal(fields_check(&f, 1, &one, why, sizeof(why)), 0);
	assert_int_equal(field_parse(&f, NULL, "new", &one, NULL, 0), 0);
	assert_string_equal(one.list, "new");
	free((void *)(uintptr_t)one.list);
	free((void *)(uintptr_t)other.list);
}

/* The parsers never store outside the range and never crash, whatever they are given. */
TEST(noise_is_refused_or_lands_in_range)
{
	static const char alphabet[] = "0123456789.,:-*/% xGKMBiTnsumbp";
	struct prng r;

	prng_seed(&r, 12, 0);
	for (int i = 0; i < 200000; i++) {
		const struct field *f = &fields[i % (int)ARRAY_LEN(fields)];
		char text[12], again[FIELD_TEXT_SIZE];
		struct thing t = {0}, u = {0};
		uint64_t n = prng_below(&r, sizeof(text));

		for (uint64_t c = 0; c < n; c++)
			text[c] = alphabet[prng_below(&r, sizeof(alphabet) - 1)];
		text[n] = '\0';
		if (field_parse(f, NULL, text, &t, NULL, 0) != 0)
			continue;
		field_format(f, &t, again, sizeof(again));
		if (field_parse(f, NULL, again, &u, NULL, 0) != 0 || memcmp(&t, &u, sizeof(t)) != 0)
			fail_msg("seed 12 step %d: %s = '%s', then '%s'", i, f->name, text, again);
	}
}

/* Of a struct that a program filled in. */
TEST(members_out_of_range_are_refused_by_name)
{
	struct thing t = {0};
	char why[256] = "";

	assert_int_equal(field_defaults(fields, ARRAY_LEN(fields), &t), 0);
	assert_int_equal(fields_check(fields, ARRAY_LEN(fields), &t, why, sizeof(why)), 0);
	assert_string_equal(why, "");
#define REFUSED(member, value, text)                                                               \
	do {                                                                                       \
		struct thing broken = t;                                                           \
                                                                                                   \
		broken.member = value;                                                             \
		assert_int_equal(                                                                  \
			fields_check(fields, ARRAY_LEN(fields), &broken, why, sizeof(why)),        \
			-EINVAL);                                                                  \
		assert_string_equal(why, text);                                                    \
	} while (0)
	REFUSED(threshold, 0, "threshold must be a whole number from 1 to 31");
	REFUSED(threshold, 32, "threshold must be a whole number from 1 to 31");
	REFUSED(old_weight, 1025,
		"old_weight must be parts of 1024, or a fraction such as 1/256, from 0 to 1024");
	REFUSED(period_us, 0, "period_us must be a time in whole us from 1us to 4294967295us");
	REFUSED(rate_bps, 999999, "rate_bps must be a rate in bit/s from 1M to 400G");
	REFUSED(dynamic_th, -9, "dynamic_th must be a whole number from -8 to 7");
	REFUSED(dynamic_th, 8, "dynamic_th must be a whole number from -8 to 7");
	REFUSED(profile, -1, "profile must be paper, mlx or other");
	REFUSED(profile, 3, "profile must be paper, mlx or other");
	REFUSED(mac[0], 3, "mac must be a station's MAC address such as 02:00:00:00:00:01");
	REFUSED(ip.version, 5, "ip must be an IPv4 or IPv6 address, or none");
	REFUSED(ip4.version, 0, "ip4 must be an IPv4 address such as 10.0.0.1");
	REFUSED(ip4.version, 6, "ip4 must be an IPv4 address such as 10.0.0.1");
	REFUSED(ip6.version, 4, "ip6 must be an IPv6 address such as fd00::1, or none");
	REFUSED(map[63], 8, "map must be values from 0 to 7");
	REFUSED(weight[7], 0, "weight must be values from 1 to 100");
#undef REFUSED
}

TEST_MAIN()
