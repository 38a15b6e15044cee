/* SPDX-License-Identifier: BSD-3-Clause */
/* Two configurations of a switch, and what of their difference may be made while it runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "ctl/config/config_edit.h"
#include "ctl/switch_config/switch_config.h"

#define PORTS "[port]\nlink_speed = 40G\n[port 0]\n[port 1]\n"

static struct config *
open_text(const char *text)
{
	struct config_error err;
	struct config *cfg = config_open_text("x.ini", text, strlen(text), &err);

	assert_non_null(cfg);
	return cfg;
}

static struct sw_params *
read_params(struct config *cfg)
{
	struct sw_params *p = calloc(1, sizeof(*p));
	struct config_error err;

	if (switch_config_read(cfg, p, &err) != 0)
		fail_msg("%s", err.text);
	return p;
}

static struct sw_params *
read_text(const char *text)
{
	struct config *cfg = open_text(text);
	struct sw_params *p = read_params(cfg);

	config_close(cfg);
	return p;
}

struct seen {
	char text[2048];
	unsigned int n, live;
};

static void
see(void *arg, const struct config_change *c)
{
	struct seen *s = arg;
	size_t used = strlen(s->text);

	s->n++;
	s->live += c->live;
	snprintf(s->text + used, sizeof(s->text) - used, "[%s] %s: %s > %s\n", c->section,
		 c->field == NULL ? "" : c->field->name, c->from, c->to);
}

static int
compare(const char *from_text, const char *to_text, struct seen *seen, struct config_error *err)
{
	struct config *cfg = open_text(to_text);
	struct sw_params *from = read_text(from_text), *to = read_params(cfg);
	struct config_rows a = {0}, b = {0};
	int rc;

	*seen = (struct seen){0};
	switch_config_rows(from, &a);
	switch_config_rows(to, &b);
	config_rows_compare(&a, &b, see, seen);
	rc = config_rows_refuse_fixed(cfg, &a, &b, err);
	config_rows_free(&a);
	config_rows_free(&b);
	sw_tables_free(&from->tables);
	sw_tables_free(&to->tables);
	free(from);
	free(to);
	config_close(cfg);
	return rc;
}

TEST(words_of_one_value_are_no_difference)
{
	struct config_error err;
	struct seen s;

	assert_int_equal(compare(PORTS "[wred]\nKmax = 400KB\n",
				 "[wred]\ngreen_max_threshold_bytes = 400000\n[queue 2]\n" PORTS,
				 &s, &err),
			 0);
	assert_int_equal(s.n, 0);
}

TEST(each_key_that_differs_is_seen_with_both_values)
{
	struct config_error err;
	struct seen s;

	assert_int_equal(
		compare(PORTS, PORTS "[wred]\nKmax = 400KB\n[queue 1|3]\npir = 1M\n", &s, &err), 0);
	assert_string_equal(s.text, "[wred] green_max_threshold_bytes: 200KB > 400KB\n"
				    "[queue 1|3] max_rate_bps: 0 > 1M\n");
	assert_int_equal(s.live, 2);
}

TEST(profiles_and_addresses_come_and_go_and_ports_do_not)
{
	struct config_error err;
	struct seen s;

	assert_int_equal(compare(PORTS "[wred a]\n", PORTS "[buffer_profile b]\n", &s, &err), 0);
	assert_string_equal(s.text, "[wred a] : there > \n[buffer_profile b] :  > there\n");
	assert_int_equal(compare(PORTS, PORTS "[port 2]\n", &s, &err), -EINVAL);
	assert_string_equal(err.text,
			    "x.ini: [port 2]: this section cannot come while the program runs");
	assert_int_equal(
		compare(PORTS "[fdb a]\nmac = 02:00:00:00:00:01\nport = 1\n", PORTS, &s, &err), 0);
	assert_string_equal(s.text, "[fdb a] : there > \n");
}

TEST(the_first_key_that_is_fixed_is_named)
{
	struct config_error err;
	struct seen s;

	assert_int_equal(
		compare(PORTS, PORTS "[wred]\nKmax = 1MB\n[switch]\nseed = 64\n", &s, &err),
		-EINVAL);
	assert_string_equal(err.text, "x.ini: [switch] seed = 64: cannot change while the "
				      "program runs; it is 1");
}

/* What set goes over: a configuration printed reads back the same. */
TEST(what_is_printed_differs_in_nothing)
{
	struct sw_params *p = read_text(PORTS
					"[wred a]\nKmin = 1KB\n[queue 1|3]\nwred_profile = a\n"
					"[buffer_profile b]\nxoff_bytes = 9KB\n[pg 3]\n"
					"buffer_profile = b\n[tc 3]\nmtu = 1500\n"),
			 *again;
	struct config_rows a = {0}, b = {0};
	struct seen s = {0};
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	switch_config_print(f, p);
	fclose(f);
	again = read_text(text);
	switch_config_rows(p, &a);
	switch_config_rows(again, &b);
	config_rows_compare(&a, &b, see, &s);
	assert_string_equal(s.text, "");
	config_rows_free(&a);
	config_rows_free(&b);
	free(text);
	free(p);
	free(again);
}

/* The file's text with the values of another. */
static char *
edit(const char *text, const char *wanted_text)
{
	struct sw_params *file = calloc(1, sizeof(*file)), *wanted = read_text(wanted_text);
	struct config_rows from = {0}, to = {0};
	struct config_error err;
	struct config *cfg = config_open_text("x.ini", text, strlen(text), &err);
	char *made;

	assert_non_null(cfg);
	assert_int_equal(switch_config_read(cfg, file, &err), 0);
	switch_config_rows(file, &from);
	switch_config_rows(wanted, &to);
	made = config_edit(cfg, text, &from, &to);
	config_rows_free(&from);
	config_rows_free(&to);
	config_close(cfg);
	sw_tables_free(&file->tables);
	sw_tables_free(&wanted->tables);
	free(file);
	free(wanted);
	return made;
}

TEST(an_edited_file_keeps_the_lines_that_need_no_change)
{
	static const struct {
		const char *file, *wanted, *edited;
	} cases[] = {
		{PORTS "# end", PORTS, PORTS "# end\n"},
		/* A key under another name, and its comment. */
		{"; first\n[wred]\n\tKmax = 300KB  # why\n" PORTS, PORTS "[wred]\nKmax = 400KB\n",
		 "; first\n[wred]\n\tgreen_max_threshold_bytes = 400KB  # why\n" PORTS},
		/* A new key comes after the last one, before comments and blank lines. */
		{"[wred]\nKmax = 300KB\n# about ports\n\n" PORTS,
		 PORTS "[wred]\nKmax = 300KB\nKmin = 1KB\n",
		 "[wred]\nKmax = 300KB\ngreen_min_threshold_bytes = 1KB\n# about ports\n\n" PORTS},
		{"[wred] # none\n" PORTS, PORTS "[wred]\nKmin = 1KB\n",
		 "[wred] # none\ngreen_min_threshold_bytes = 1KB\n" PORTS},
		/* The default is a value, too. */
		{PORTS "[wred]\nKmax = 300KB", PORTS,
		 PORTS "[wred]\ngreen_max_threshold_bytes = 200KB\n"},
		/* Sections are added at the end, and removed up to their last key. */
		{PORTS,
		 PORTS "[fdb a]\nmac = 02:00:00:00:00:01\nport = 1\n[tc 0]\nmtu_bytes = 1500\n",
		 PORTS
		 "\n[tc 0]\nmtu_bytes = 1500B\n\n[fdb a]\nmac = 02:00:00:00:00:01\nport = 1\n"},
		{PORTS "# a\n[fdb a]\nmac = 02:00:00:00:00:01\n# of a\nport = 1\n# b\n[wred]\n",
		 PORTS, PORTS "# a\n# b\n[wred]\n"},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(cases); i++) {
		char *made = edit(cases[i].file, cases[i].wanted), *again;

		assert_string_equal(made, cases[i].edited);
		/* It has the wanted values: nothing is left to edit. */
		again = edit(made, cases[i].wanted);
		assert_string_equal(again, made);
		free(again);
		free(made);
	}
}

TEST_MAIN()
