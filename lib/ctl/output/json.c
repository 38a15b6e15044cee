/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/output/json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/threads/counter.h"

#define LAYOUT (JSON_INDENT(2) | JSON_PRESERVE_ORDER)

void
json_set_counters(json_t *object, const struct counter_field *fields, unsigned int n,
		  const void *stats)
{
	for (unsigned int i = 0; i < n; i++) {
		const void *counter = (const char *)stats + fields[i].offset;

		json_object_set_new(object, fields[i].name,
				    json_integer((json_int_t)counter_read(counter)));
	}
}

static json_t *
field_value(const struct field *field, const void *params)
{
	char text[FIELD_TEXT_SIZE];

	switch (field->type) {
	case FIELD_BOOL:
		return json_boolean(*(const bool *)((const char *)params + field->offset));
	case FIELD_U8:
	case FIELD_U16:
	case FIELD_U32:
		return json_integer((json_int_t)field_number(field, params));
	case FIELD_U64:
		if (field_number(field, params) <= INT64_MAX)
			return json_integer((json_int_t)field_number(field, params));
		break;
	default:
		break;
	}
	field_format(field, params, text, sizeof(text));
	return json_string(text);
}

void
json_set_fields(json_t *object, const struct field *fields, unsigned int n, const void *params)
{
	for (unsigned int i = 0; i < n; i++)
		json_object_set_new(object, fields[i].name, field_value(&fields[i], params));
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
