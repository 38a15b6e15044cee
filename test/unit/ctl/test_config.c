/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/stat.h>

#include "base/numbers/array.h"
#include "unit/config_text.h"

#define AT(member) .name = #member, .offset = offsetof(struct thing, member)

struct thing {
	uint64_t rate_bps;
	uint32_t period_us;
	int profile;
	struct field_ip peer_ip;
};

static const char *const profiles[] = {"paper", "mlx", NULL};
static const struct field thing_fields[] = {
	{AT(rate_bps), .help = "how fast", .live = true, .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = 400000000000, .def = "40G",
	 .aliases = {{"R_C", 0, false}, {"rate_mbps", 1000000, false}}},
	{AT(period_us), .help = "how long", .type = FIELD_U32, .unit = UNIT_US, .min = 1,
	 .max = 1000000, .def = "55us"},
	{AT(profile), .help = "whose", .type = FIELD_ENUM, .choices = profiles, .def = "paper"},
};
static const struct field peer_fields[] = {
	{AT(peer_ip), .help = "who", .type = FIELD_IP, .min = 1, .max = 4},
};

static void
put(const char *text)
{
	put_bytes(text, strlen(text));
}

/* Read a file as a program does: every section, then refuse the rest. */
static int
read_thing(struct config *cfg, struct thing *t, struct config_error *err)
{
	int rc = config_read_new(cfg, "thing", thing_fields, ARRAY_LEN(thing_fields), t, err);

	for (const char *s = NULL; rc == 0 && (s = config_next(cfg, "peer", s));)
		rc = config_read_new(cfg, s, peer_fields, ARRAY_LEN(peer_fields), t, err);
	return rc == 0 ? config_finish(cfg, err) : rc;
}

static int
read_file(const char *path, struct config_error *err)
{
	struct config *cfg = config_open(path, err);
	struct thing t;
	int rc;

	if (!cfg)
		return -EINVAL;
	rc = read_thing(cfg, &t, err);
	config_close(cfg);
	return rc;
}

TEST(every_malformed_file_has_its_error_line)
{
	static const char rate[] = "expected a rate in bit/s from 0 to 400G, such as 40G";
	static const struct {
		const char *text;
		const char *error;
	} rows[] = {
		{"[thing\n", "x.ini:1: expected ']' after the section name"},
		{"\n[thing] x\n", "x.ini:2: expected nothing after ']'"},
		{"[]\n", "x.ini:1: expected the name of a section"},
		{"[ \t]\n", "x.ini:1: expected the name of a section"},
		{"[thing]\n\n[ thing ]\n", "x.ini:3: section [thing] comes twice"},
		{"[peer a]\n[peer\ta]\n", "x.ini:2: section [peer a] comes twice"},
		{"rate_bps = 1G\n", "x.ini:1: expected a [section] before the first key, rate_bps"},
		{"[thing]\nrate_bps 1G\n",
		 "x.ini:2: expected [section] or key = value, found 'rate_bps 1G'"},
		{"[thing]\n= 1G\n", "x.ini:2: expected a key of one word"},
		{"[thing]\nrate bps = 1G\n", "x.ini:2: expected a key of one word"},
		{"[thing]\nrate_bps = 1G\nrate_bps = 1G",
		 "x.ini:3: rate_bps comes twice in [thing]"},
		{"[thing]\nrate_bps = 1G\r\n\x80 = 1\n",
		 "x.ini:3: expected printable ASCII outside comments"},
		{"\xef\xbb\xbf[thing]\n", "x.ini:1: expected printable ASCII outside comments"},
		{"[thing]\nperiod_us = 55\xc2\xb5s\n",
		 "x.ini:2: expected printable ASCII outside comments"},
		{"[thing]\nrate_bps = 40X\n", "x.ini:2: [thing] rate_bps = 40X: %s"},
		{"[thing]\nrate_bps =\n", "x.ini:2: [thing] rate_bps = : %s"},
		{"[thing]\nrate_bps = # 1G\n", "x.ini:2: [thing] rate_bps = : %s"},
		{"[thing]\nrate_bps = 40G#fast\n", "x.ini:2: [thing] rate_bps = 40G#fast: %s"},
		{"[thing]\nrate_bps = -1\n", "x.ini:2: [thing] rate_bps = -1: %s"},
		{"[thing]\nrate_bps = 1 = 2\n", "x.ini:2: [thing] rate_bps = 1 = 2: %s"},
		{"[thing]\nrate_mbps = x\n", "x.ini:2: [thing] rate_mbps = x: %s; "
					     "a bare number under rate_mbps counts 1000000 bit/s"},
		{"[thing]\nprofile = Paper\n",
		 "x.ini:2: [thing] profile = Paper: expected paper or mlx"},
		{"[thing]\nR_C = 1G\nrate_bps = 1G\n",
		 "x.ini:3: [thing] rate_bps = 1G: expected one "
		 "of rate_bps and R_C, which are the same"},
		{"[thing]\nR_C = 1G\nrate_mbps = 1\n",
		 "x.ini:2: [thing] R_C = 1G: expected one of R_C and rate_mbps, which are the same"},
		{"[thing]\nrate_bp = 1G\n",
		 "x.ini:2: [thing] rate_bp = 1G: expected a known key, such as rate_bps"},
		{"[thing]\nperiod = 1\n",
		 "x.ini:2: [thing] period = 1: expected a known key, such as period_us"},
		{"[thing]\ncolour = red\n", "x.ini:2: [thing] colour = red: expected a known key"},
		{"[thing]\nR = 1\n", "x.ini:2: [thing] R = 1: expected a known key"},
		{"[thing]\npeer_ip = 10.0.0.1\n",
		 "x.ini:2: [thing] peer_ip = 10.0.0.1: expected a known key"},
		{"[thingy]\n", "x.ini:1: [thingy]: expected a known section, such as [thing]"},
		{"[other]\nx = 1\n", "x.ini:1: [other]: expected a known section"},
		{"[peers]\n", "x.ini:1: [peers]: expected a known section"},
		{"[peer a]\n", "x.ini:1: [peer a] peer_ip is missing: "
			       "expected an IPv4 address such as 10.0.0.1"},
		{"[peer a]\npeer_ip = fd00::1\n", "x.ini:2: [peer a] peer_ip = fd00::1: "
						  "expected an IPv4 address such as 10.0.0.1"},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct config_error err = {"no error"};
		char expected[512];
		const char *mark = strstr(rows[i].error, "%s");
		int head = mark ? (int)(mark - rows[i].error) : (int)strlen(rows[i].error);

		snprintf(expected, sizeof(expected), "%.*s%s%s", head, rows[i].error,
			 mark ? rate : "", mark ? mark + 2 : "");
		put(rows[i].text);
		if (read_file("x.ini", &err) != -EINVAL)
			fail_msg("accepted: %s", rows[i].text);
		assert_string_equal(err.text, expected);
	}
}

TEST(names_and_values_that_are_too_long_are_refused)
{
	char text[CONFIG_MAX_VALUE + 64], expected[256];
	struct config_error err;

	snprintf(text, sizeof(text), "[%064d]\n", 1);
	put(text);
	assert_int_equal(read_file("x.ini", &err), -EINVAL);
	assert_string_equal(err.text, "x.ini:1: expected a section name of at most 63 characters");
	snprintf(text, sizeof(text), "[thing]\nk%063d = 1\n", 1);
	put(text);
	assert_int_equal(read_file("x.ini", &err), -EINVAL);
	assert_string_equal(err.text, "x.ini:2: expected a key of at most 63 characters");
	snprintf(text, sizeof(text), "[thing]\nrate_bps = %012288d\n", 1);
	put(text);
	assert_int_equal(read_file("x.ini", &err), -EINVAL);
	assert_string_equal(err.text,
			    "x.ini:2: expected a value of at most 12287 characters for rate_bps");
	/* One less is whole. */
	snprintf(text, sizeof(text), "[thing]\nrate_bps = %012287d\n", 7);
	put(text);
	assert_int_equal(read_file("x.ini", &err), 0);
	snprintf(text, sizeof(text), "[%063d]\n", 1);
	put(text);
	assert_int_equal(read_file("x.ini", &err), -EINVAL);
	snprintf(expected, sizeof(expected), "x.ini:1: [%063d]: expected a known section", 1);
	assert_string_equal(err.text, expected);
}

TEST(a_zero_byte_and_too_much_of_anything_are_refused)
{
	static char big[CONFIG_MAX_FILE_BYTES + 1];
	struct config_error err;
	size_t used = 0;

	put_bytes("[thing]\nrate\0_bps = 1\n", 22);
	assert_int_equal(read_file("x.ini", &err), -EINVAL);
	assert_string_equal(err.text, "x.ini:2: expected text, found a zero byte");

	memset(big, '\n', sizeof(big));
	put_bytes(big, sizeof(big));
	assert_int_equal(read_file("x.ini", &err), -EINVAL);
	assert_string_equal(err.text, "x.ini: expected a file of at most 1048576 bytes");
	put_bytes(big, sizeof(big) - 1);
	assert_int_equal(read_file("x.ini", &err), 0);

	for (int i = 0; i <= CONFIG_MAX_SECTIONS; i++)
		used += (size_t)snprintf(big + used, sizeof(big) - used, "[peer %d]\n", i);
	put_bytes(big, used);
	assert_int_equal(read_file("x.ini", &err), -EINVAL);
	assert_string_equal(err.text, "x.ini:4097: expected at most 4096 sections");

	used = (size_t)snprintf(big, sizeof(big), "[thing]\n");
	for (int i = 0; i <= CONFIG_MAX_KEYS; i++)
		used += (size_t)snprintf(big + used, sizeof(big) - used, "k%d=1\n", i);
	put_bytes(big, used);
	assert_int_equal(read_file("x.ini", &err), -EINVAL);
	assert_string_equal(err.text, "x.ini:1026: expected at most 1024 keys in [thing]");
}

TEST(what_is_no_file_is_said)
{
	struct config_error err;
	char path[512], expected[1024];

	assert_int_equal(read_file("missing.ini", &err), -EINVAL);
	assert_string_equal(err.text, "missing.ini: cannot be opened: No such file or directory");
	assert_int_equal(read_file(".", &err), -EINVAL);
	assert_string_equal(err.text, ".: expected a regular file");
	assert_int_equal(read_file("/dev/zero", &err), -EINVAL);
	assert_string_equal(err.text, "/dev/zero: expected a regular file");
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(read_file("fifo", &err), -EINVAL); /* and does not wait for a writer */
	assert_string_equal(err.text, "fifo: expected a regular file");
	assert_int_equal(unlink("fifo"), 0);
	assert_int_equal(read_file("", &err), -EINVAL);
	assert_string_equal(err.text, ": cannot be opened: No such file or directory");
	/* A long path loses its head, not the message. */
	memset(path, 'p', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(read_file(path, &err), -EINVAL);
	snprintf(expected, sizeof(expected), "...%s: cannot be opened: File name too long",
		 path + sizeof(path) - 1 - 256);
	assert_string_equal(err.text, expected);
}

TEST(comments_blanks_and_line_ends_do_not_matter)
{
	struct config *cfg = open_text("# \xc2\xb5 comment\r\n; another [\n\n"
				       "\t[ thing ]  # why\r\n  rate_mbps=10000;\tno\r\n");
	struct config_error err;
	struct thing t = {0};

	assert_int_equal(read_thing(cfg, &t, &err), -EINVAL); /* "10000;" has no blank before ; */
	config_close(cfg);
	cfg = open_text("# \xc2\xb5 comment\r\n; another [\n\n"
			"\t[ thing ]  # why\r\n  rate_mbps=10000\t;\tno\r\n"
			"period_us\t=\t1.5 ms\n[peer  a]\npeer_ip=10.0.0.9");
	assert_int_equal(read_thing(cfg, &t, &err), 0);
	assert_int_equal(t.rate_bps, 10000000000);
	assert_int_equal(t.period_us, 1500);
	assert_int_equal(t.profile, 0);         /* default */
	assert_int_equal(t.peer_ip.addr[3], 9); /* the last line needs no newline */
	assert_true(config_has(cfg, "peer a"));
	assert_true(config_gives(cfg, "thing", "rate_bps")); /* under its alias */
	assert_false(config_gives(cfg, "thing", "profile"));
	assert_string_equal(config_path(cfg), "x.ini");
	config_close(cfg);
	cfg = open_text("");
	assert_int_equal(read_thing(cfg, &t, &err), 0);
	assert_null(config_next(cfg, "peer", NULL));
	config_close(cfg);
	config_close(NULL);
}

TEST(sections_of_one_word_come_in_file_order)
{
	struct config *cfg = open_text("[peer z]\n[peering]\n[peer]\n[thing]\n[peer a]\n");
	const char *s = NULL;

	assert_string_equal(s = config_next(cfg, "peer", s), "peer z");
	assert_string_equal(s = config_next(cfg, "peer", s), "peer");
	assert_string_equal(s = config_next(cfg, "peer", s), "peer a");
	assert_null(config_next(cfg, "peer", s));
	config_close(cfg);
}

TEST(reading_over_a_struct_changes_only_what_is_given)
{
	struct config *cfg = open_text("[thing]\nperiod_us = 1\npeer_ip = 10.0.0.1\n");
	struct config_error err;
	struct thing t = {.rate_bps = 7, .period_us = 8, .profile = 1};

	assert_int_equal(config_read(cfg, "thing", thing_fields, ARRAY_LEN(thing_fields), &t, &err),
			 0);
	assert_int_equal(t.rate_bps, 7);
	assert_int_equal(t.period_us, 1);
	assert_int_equal(t.profile, 1);
	/* Two tables may share a section: what one leaves the other takes. */
	assert_int_equal(config_finish(cfg, &err), -EINVAL);
	assert_int_equal(config_read(cfg, "thing", peer_fields, ARRAY_LEN(peer_fields), &t, &err),
			 0);
	assert_int_equal(config_finish(cfg, &err), 0);
	config_close(cfg);
}

TEST(a_rule_across_keys_is_refused_with_the_value_as_written)
{
	struct config *cfg = open_text("[thing]\nrate_mbps = 10\n");
	struct config_error err;
	struct thing t;

	assert_int_equal(read_thing(cfg, &t, &err), 0);
	assert_int_equal(config_refuse(cfg, "thing", "rate_bps", "more", &err), -EINVAL);
	assert_string_equal(err.text, "x.ini:2: [thing] rate_mbps = 10: expected more");
	config_refuse(cfg, "thing", "profile", "another", &err);
	assert_string_equal(err.text, "x.ini:1: [thing] profile: expected another");
	config_refuse(cfg, "peer", NULL, "one", &err);
	assert_string_equal(err.text, "x.ini: [peer]: expected one");
	config_close(cfg);
}

TEST(what_is_printed_reads_back)
{
	struct thing t = {.rate_bps = 123456, .period_us = 2000, .profile = 1}, again = {0};
	struct config_error err;
	struct config *cfg;
	FILE *f = fopen("x.ini", "w");

	config_print(f, "thing", thing_fields, ARRAY_LEN(thing_fields), &t);
	assert_int_equal(fclose(f), 0);
	cfg = config_open("x.ini", &err);
	assert_non_null(cfg);
	assert_int_equal(read_thing(cfg, &again, &err), 0);
	assert_memory_equal(&t, &again, sizeof(t));
	config_close(cfg);
}

TEST(the_reference_names_every_key_with_its_values)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	config_print_reference(f, "thing", thing_fields, 1);
	config_print_reference(f, "peer NAME", peer_fields, 1);
	fclose(f);
	assert_string_equal(
		text,
		"## [thing]\n\n"
		"| key | values | default | live | also known as | meaning "
		"|\n|---|---|---|---|---|---|\n"
		"| `rate_bps` | a rate in bit/s from 0 to 400G | 40G | yes | `R_C`, `rate_mbps` (x "
		"1000000) "
		"| how fast |\n\n"
		"## [peer NAME]\n\n"
		"| key | values | default | live | also known as | meaning "
		"|\n|---|---|---|---|---|---|\n"
		"| `peer_ip` | an IPv4 address such as 10.0.0.1 | required |  |  | who |\n\n");
	free(text);
}

TEST(layers_stand_over_each_other)
{
	struct config *cfg = open_text("[thing]\nrate_mbps = 10000\nperiod_us = 5us\n");
	struct config_error err;
	struct config *low, *high;
	struct thing t = {0};

	assert_int_equal(config_set(cfg, "thing.profile=mlx", &err), 0);
	low = config_over(cfg, "low", &err);
	assert_int_equal(config_set(low, "thing.R_C=20G", &err), 0);
	assert_int_equal(config_set(low, "peer a.peer_ip=10.0.0.7", &err), 0);
	high = config_over(low, "high", &err);
	assert_int_equal(config_set(high, "thing.rate_bps=30G", &err), 0);
	assert_int_equal(read_thing(high, &t, &err), 0);
	assert_int_equal(t.rate_bps, 30000000000);
	assert_int_equal(t.period_us, 5);
	assert_int_equal(t.profile, 1);
	assert_int_equal(t.peer_ip.addr[3], 7);
	/* Those below do not know. */
	assert_int_equal(read_thing(low, &t, &err), 0);
	assert_int_equal(t.rate_bps, 20000000000);
	assert_int_equal(read_thing(cfg, &t, &err), 0);
	assert_int_equal(t.rate_bps, 10000000000);
	assert_false(config_has(cfg, "peer a"));
	assert_true(config_has(high, "peer a"));
	config_close(high);
	config_close(low);
	config_close(cfg);
}

/* A layer with this key is refused with a line that begins so. */
static void
layer_is_refused(const struct config *cfg, const char *set, const char *error)
{
	struct config_error err;
	struct config *over = config_over(cfg, "top", &err);
	struct thing t = {0};
	int rc = config_set(over, set, &err);

	if (rc == 0)
		rc = read_thing(over, &t, &err);
	assert_int_equal(rc, -EINVAL);
	assert_memory_equal(err.text, error, strlen(error));
	config_close(over);
}

TEST(errors_of_a_layer_have_its_name)
{
	struct config *cfg = open_text("[thing]\nrate_mbps = 10000\n");

	layer_is_refused(cfg, "thing.rate_bps=1X", "top: [thing] rate_bps = 1X: expected a rate");
	layer_is_refused(cfg, "thing.rate=1G", "top: [thing] rate = 1G: expected a known key");
	layer_is_refused(cfg, "other.rate=1G", "top: [other]: expected a known section");
	layer_is_refused(cfg, "rate=1G", "top: rate=1G: expected SECTION.KEY=VALUE");
	config_close(cfg);
}

TEST(what_is_set_takes_the_place_of_the_file)
{
	struct config *cfg = open_text("[thing]\nrate_mbps = 10000\nperiod_us = 5us\n");
	struct config_error err;
	struct thing t = {0};

	/* Another name of the same key; and a section that the file has not. The later counts. */
	assert_int_equal(config_set(cfg, "thing.rate_bps=7G", &err), 0);
	assert_int_equal(config_set(cfg, "thing.rate_bps=1.5G", &err), 0);
	assert_int_equal(config_set(cfg, " peer  a . peer_ip = 10.0.0.7", &err), 0);
	assert_int_equal(read_thing(cfg, &t, &err), 0);
	assert_int_equal(t.rate_bps, 1500000000);
	assert_int_equal(t.period_us, 5);
	assert_int_equal(t.peer_ip.addr[3], 7);
	assert_true(config_gives_set(cfg, "thing", "rate_bps"));
	assert_false(config_gives_set(cfg, "thing", "period_us"));
	assert_false(config_gives_set(cfg, "thing", "profile"));
	assert_false(config_gives_set(cfg, "thing", "no such key"));
	config_close(cfg);
}

TEST(a_small_number_without_a_unit_is_doubted_once)
{
	static const struct {
		const char *line, *doubt;
	} rows[] = {
		{"rate_bps = 40",
		 "x.ini:2: [thing] rate_bps = 40: 40 bit/s, since no unit such as M follows"},
		{"R_C = 999",
		 "x.ini:2: [thing] R_C = 999: 999 bit/s, since no unit such as M follows"},
		{"rate_bps = 1000", NULL},
		{"rate_bps = 40bps", NULL},
		{"rate_bps = 0", NULL},
		{"rate_mbps = 40", NULL},
		{"period_us = 1", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct config_error err;
		struct config *cfg;
		char text[64];
		struct thing t;

		snprintf(text, sizeof(text), "[thing]\n%s\n", rows[i].line);
		cfg = open_text(text);
		assert_int_equal(read_thing(cfg, &t, &err), 0);
		assert_int_equal(read_thing(cfg, &t, &err), 0);
		if (rows[i].doubt == NULL) {
			assert_null(config_doubt(cfg, 0));
		} else {
			assert_string_equal(config_doubt(cfg, 0), rows[i].doubt);
			assert_null(config_doubt(cfg, 1));
		}
		config_close(cfg);
	}
}

TEST(what_is_set_wrongly_is_refused_by_name)
{
	static const struct {
		const char *set, *again, *error;
	} rows[] = {
		{"rate_bps=1", NULL, "--set rate_bps=1: expected SECTION.KEY=VALUE"},
		{"thing.rate_bps", NULL, "--set thing.rate_bps: expected SECTION.KEY=VALUE"},
		{".rate_bps=1", NULL, "--set .rate_bps=1: expected SECTION.KEY=VALUE"},
		{"thing.=1", NULL, "--set thing.=1: expected SECTION.KEY=VALUE"},
		{"thing.rate_bps=1G", "thing.R_C=2G",
		 "x.ini: [thing] rate_bps = 1G: expected one of"},
		{"thing.rate_bps=1X", NULL, "x.ini: [thing] rate_bps = 1X: expected"},
		{"thing.rat_bps=1G", NULL, "x.ini: [thing] rat_bps = 1G: expected a known key"},
		{"thin.rate_bps=1G", NULL, "x.ini: [thin]: expected a known section"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct config *cfg = open_text("[thing]\nperiod_us = 5us\n");
		struct config_error err = {"no error"};
		struct thing t = {0};
		int rc = config_set(cfg, rows[i].set, &err);

		if (rc == 0 && rows[i].again)
			rc = config_set(cfg, rows[i].again, &err);
		if (rc == 0)
			rc = read_thing(cfg, &t, &err);
		assert_int_equal(rc, -EINVAL);
		if (strncmp(err.text, rows[i].error, strlen(rows[i].error)) != 0)
			fail_msg("%s: %s", rows[i].set, err.text);
		config_close(cfg);
	}
}

TEST_MAIN(.begin = enter_folder, .end = leave_folder)
