/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of a switch's configuration: text read as the program reads its file. */
#ifndef QUENCH_TEST_UNIT_CTL_SWITCH_TEXT_H
#define QUENCH_TEST_UNIT_CTL_SWITCH_TEXT_H

#include "unit/config_text.h"
#include "ctl/switch_config/switch_config.h"

#define TWO_PORTS "[port]\nlink_speed_bps = 40G\n[port 0]\n[port 1]\n"

/* Read, then refuse the rest. */
static inline int
read_text(const char *text, struct sw_params *p, struct config_error *err)
{
	struct config *cfg = open_text(text);
	int rc = switch_config_read(cfg, p, err);

	if (rc == 0)
		rc = config_finish(cfg, err);
	config_close(cfg);
	return rc;
}

/* Refused in one line, which begins so. */
static inline void
is_refused(const char *text, const char *error)
{
	struct config_error err = {"no error"};
	struct sw_params p;

	if (read_text(text, &p, &err) != -EINVAL)
		fail_msg("accepted: %s", text);
	if (strncmp(without_line(&err), error, strlen(error)) != 0)
		assert_string_equal(err.text, error);
	assert_null(strchr(err.text, '\n'));
}

/* For free(). */
static inline char *
print_to_text(const struct sw_params *p)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	switch_config_print(f, p);
	fclose(f);
	return text;
}

/* What is printed of p reads back to the same. @return it, for free(). */
static inline char *
prints_what_reads_back(struct sw_params *p)
{
	struct config_error err = {"no error"};
	char *text = print_to_text(p), *again;

	sw_tables_free(&p->tables);
	if (read_text(text, p, &err) != 0)
		fail_msg("%s in\n%s", err.text, text);
	again = print_to_text(p);
	sw_tables_free(&p->tables);
	assert_string_equal(text, again);
	free(again);
	return text;
}

#endif
