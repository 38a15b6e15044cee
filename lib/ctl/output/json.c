/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/output/json.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/threads/counter.h"
#include "ctl/output/out_file.h"

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

static int
dump(FILE *out, const void *root)
{
	if (json_dumpf(root, out, LAYOUT) != 0 || fputc('\n', out) == EOF)
		return errno ? -errno : -ENOMEM;
	return 0;
}

int
json_write(const json_t *root, const char *path)
{
	return out_file_write(path, dump, root);
}
