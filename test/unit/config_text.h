/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of configuration: text as the file x.ini in a folder of the test's own, so that error
 * lines hold a short path.
 */
#ifndef QUENCH_TEST_UNIT_CONFIG_TEXT_H
#define QUENCH_TEST_UNIT_CONFIG_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/config/config.h"
#include "unit/cases.h"

static inline void
put_bytes(const char *text, size_t size)
{
	FILE *f = fopen("x.ini", "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static inline struct config *
open_text(const char *text)
{
	struct config_error err = {"no error"};
	struct config *cfg;

	put_bytes(text, strlen(text));
	cfg = config_open("x.ini", &err);
	if (!cfg)
		fail_msg("%s", err.text);
	return cfg;
}

/* The error without the number of a line, for tables of many texts. */
static inline const char *
without_line(struct config_error *err)
{
	static const char path[] = "x.ini:";
	char *line = err->text + strlen(path);
	size_t digits;

	if (strncmp(err->text, path, strlen(path)) != 0)
		return err->text;
	digits = strspn(line, "0123456789");
	if (digits > 0)
		memmove(line, line + digits + 1, strlen(line + digits + 1) + 1);
	return err->text;
}

/* A file of the project's config/. Without QUENCH_CONFIG_DIR, which meson sets, the test is
 * skipped. */
static inline struct config *
open_shipped(const char *name)
{
	const char *folder = getenv("QUENCH_CONFIG_DIR");
	struct config_error err = {"no error"};
	struct config *cfg;
	char path[4096];

	if (!folder) {
		print_message("QUENCH_CONFIG_DIR is not set: no %s\n", name);
		skip();
	}
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	cfg = config_open(path, &err);
	if (!cfg)
		fail_msg("%s", err.text);
	return cfg;
}

static inline int
enter_folder(void **state)
{
	static char folder[] = "/tmp/quench-config-XXXXXX";

	*state = mkdtemp(folder);
	return *state ? chdir(*state) : -1;
}

static inline int
leave_folder(void **state)
{
	unlink("x.ini");
	return chdir("/") || rmdir(*state);
}

#endif
