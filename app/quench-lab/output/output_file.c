/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/output/output_file.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "runtime/notice/say.h"

static void
path_of(char path[static PATH_MAX], const char *dir, const char *name, const char *suffix)
{
	snprintf(path, PATH_MAX, "%s/%s%s", dir, name, suffix);
}

FILE *
output_open(const char *dir, const char *name, const char *columns)
{
	char path[PATH_MAX];
	FILE *f;

	path_of(path, dir, name, ".part");
	f = fopen(path, "w");
	if (f == NULL)
		say_error("%s: %s", path, strerror(errno));
	else if (columns != NULL)
		fprintf(f, "%s\n", columns);
	return f;
}

int
output_close(FILE *f, const char *dir, const char *name)
{
	int failed;

	if (f == NULL)
		return 0;
	failed = ferror(f);
	if (fclose(f) != 0 || failed) {
		say_error("%s/%s: %s", dir, name, strerror(errno ? errno : EIO));
		return -EIO;
	}
	return 0;
}

static int
keep_part(const char *dir, const char *name, bool keep, bool optional)
{
	char part[PATH_MAX], path[PATH_MAX];

	path_of(part, dir, name, ".part");
	path_of(path, dir, name, "");
	if (!keep) {
		unlink(part);
	} else if (optional && access(part, F_OK) < 0) {
		unlink(path);
	} else if (rename(part, path) < 0) {
		say_error("%s: %s", path, strerror(errno));
		return -EIO;
	}
	return 0;
}

int
output_keep(const char *dir, const char *name, bool keep)
{
	return keep_part(dir, name, keep, false);
}

int
output_keep_optional(const char *dir, const char *name, bool keep)
{
	return keep_part(dir, name, keep, true);
}
