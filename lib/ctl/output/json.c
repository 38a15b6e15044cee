/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/output/json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LAYOUT (JSON_INDENT(2) | JSON_PRESERVE_ORDER)

static json_t *
value_of(const struct walk_row *row)
{
	if (row->is_null)
		return json_null();
	if (row->type == WALK_TEXTS)
		return json_array();
	if (row->type == WALK_TEXT || row->text != NULL)
		return json_string(row->text);
	if (row->type == WALK_FLAG)
		return json_boolean(row->number != 0);
	if (row->type == WALK_REAL || row->type == WALK_MAYBE_REAL)
		return json_real(row->real);
	return json_integer((json_int_t)row->number);
}

void
json_walk_row(struct walk *w, const struct walk_row *row)
{
	json_t *at = ((struct json_walk *)w)->at;

	if (row->type == WALK_ADDED)
		json_array_append_new(json_object_get(at, row->name), value_of(row));
	else
		json_object_set_new(at, row->name, value_of(row));
}

static void
add_row(struct walk *w, const struct walk_row *row)
{
	json_t *at = ((struct json_walk *)w)->at;
	struct walk_row sum = *row;

	sum.number += (uint64_t)json_integer_value(json_object_get(at, row->name));
	json_object_set_new(at, row->name, value_of(&sum));
}

static void
set_list(struct walk *w, const char *member)
{
	json_t *at = ((struct json_walk *)w)->at;

	if (json_object_get(at, member) == NULL)
		json_object_set_new(at, member, json_array());
}

static void
enter(struct walk *w, const char *member, enum walk_place place)
{
	struct json_walk *j = (struct json_walk *)w;
	const bool in_list = place == WALK_ITEM;
	json_t *to = in_list ? NULL : json_object_get(j->at, member);

	if (to == NULL) {
		to = json_object();
		if (in_list) {
			set_list(w, member);
			json_array_append_new(json_object_get(j->at, member), to);
		} else {
			json_object_set_new(j->at, member, to);
		}
	}
	j->outer[w->n - 1] = j->at;
	j->at = to;
}

static void
leave(struct walk *w)
{
	struct json_walk *j = (struct json_walk *)w;

	j->at = j->outer[w->n];
}

struct json_walk
json_walk(json_t *object)
{
	return (struct json_walk){
		.walk = {.row = json_walk_row, .enter = enter, .leave = leave, .list = set_list},
		.at = object};
}

struct json_walk
json_walk_sum(json_t *object)
{
	struct json_walk j = json_walk(object);

	j.walk.row = add_row;
	return j;
}

/* Write the document and flush. A full disk causes an error at the flush at the latest. */
static int
dump(FILE *out, const json_t *root)
{
	errno = 0;
	if (json_dumpf(root, out, LAYOUT) != 0 || fputc('\n', out) == EOF)
		return errno ? -errno : -ENOMEM;
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

/* A device or pipe cannot be replaced by renaming a file. */
static int
write_special(const char *path, const json_t *root)
{
	FILE *out = fopen(path, "we");
	int rc;

	if (!out)
		return -errno;
	rc = dump(out, root);
	if (fclose(out) != 0 && rc == 0)
		rc = -errno;
	return rc;
}

/* mkstemp() creates a file that only its owner may access; give it the mode of any new file. */
static int
usual_rights(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(fd, 0666 & ~mask) == 0 ? 0 : -errno;
}

static int
write_temporary(int fd, const json_t *root)
{
	FILE *out = fdopen(fd, "w");
	int rc;

	if (!out) {
		rc = -errno;
		close(fd);
		return rc;
	}
	rc = usual_rights(fd);
	if (rc == 0)
		rc = dump(out, root);
	if (rc == 0 && fsync(fd) != 0)
		rc = -errno;
	if (fclose(out) != 0 && rc == 0)
		rc = -errno;
	return rc;
}

static int
replace_file(const char *path, const json_t *root)
{
	char *temporary = NULL;
	int fd, rc;

	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkstemp(temporary);
	rc = fd < 0 ? -errno : write_temporary(fd, root);
	if (rc == 0 && rename(temporary, path) != 0)
		rc = -errno;
	if (rc != 0 && fd >= 0)
		unlink(temporary);
	free(temporary);
	return rc;
}

int
json_write(const json_t *root, const char *path)
{
	struct stat st;

	if (strcmp(path, "-") == 0)
		return dump(stdout, root);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return write_special(path, root);
	return replace_file(path, root);
}
