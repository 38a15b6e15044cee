/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/output/telemetry.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <rte_version.h>

#include "base/dpdk_compat.h"

/* Longest text that DPDK accepts, including the terminating zero. */
#define TEXT_BYTES RTE_TEL_MAX_STRING_LEN

/* Type of the items of an array. */
enum kind { KIND_U64, KIND_INT, KIND_TEXT };

static bool
is_unsigned(const json_t *v)
{
	return json_is_boolean(v) || (json_is_integer(v) && json_integer_value(v) >= 0);
}

static enum kind
kind_of(const json_t *v)
{
	if (is_unsigned(v))
		return KIND_U64;
	if (json_is_integer(v) && json_integer_value(v) >= INT_MIN)
		return KIND_INT;
	return KIND_TEXT;
}

static uint64_t
number_of(const json_t *v)
{
	return json_is_boolean(v) ? json_is_true(v) : (uint64_t)json_integer_value(v);
}

/* Text that is too long is truncated. */
static void
text_of(const json_t *v, char text[TEXT_BYTES])
{
	if (json_is_string(v))
		snprintf(text, TEXT_BYTES, "%s", json_string_value(v));
	else if (json_is_real(v))
		snprintf(text, TEXT_BYTES, "%.6f", json_real_value(v));
	else if (json_is_boolean(v) || json_is_integer(v))
		snprintf(text, TEXT_BYTES, "%" PRId64, (int64_t)number_of(v));
	else
		text[0] = '\0';
}

static int
add_scalar(struct rte_tel_data *d, const char *name, const json_t *v)
{
	char text[TEXT_BYTES];

	switch (kind_of(v)) {
	case KIND_U64:
		return rte_tel_data_add_dict_uint(d, name, number_of(v));
	case KIND_INT:
		return rte_tel_data_add_dict_int(d, name, (int)json_integer_value(v));
	case KIND_TEXT:
		break;
	}
	text_of(v, text);
	return rte_tel_data_add_dict_string(d, name, text);
}

static int
add_item(struct rte_tel_data *array, enum kind kind, const json_t *v)
{
	char text[TEXT_BYTES];

	if (kind == KIND_U64)
		return rte_tel_data_add_array_uint(array, number_of(v));
	if (kind == KIND_INT)
		return rte_tel_data_add_array_int(array, (int)json_integer_value(v));
	text_of(v, text);
	return rte_tel_data_add_array_string(array, text);
}

/* The kind that can hold the values of all rows: an array of DPDK has only one kind. */
static enum kind
kind_of_column(const json_t *rows, const char *key)
{
	enum kind kind = KIND_U64;
	size_t i;
	json_t *row;

	json_array_foreach (rows, i, row) {
		const json_t *v = json_object_get(row, key);
		enum kind k = kind_of(v);

		if (k == KIND_TEXT)
			return KIND_TEXT;
		if (k == KIND_INT)
			kind = KIND_INT;
	}
	for (i = 0; kind == KIND_INT && i < json_array_size(rows); i++) {
		const json_t *v = json_object_get(json_array_get(rows, i), key);

		if (json_is_integer(v) && json_integer_value(v) > INT_MAX)
			return KIND_TEXT;
	}
	return kind;
}

/* A reply being built. DPDK frees its arrays when it sends the reply, and only then. */
struct fold {
	struct rte_tel_data *reply;
	struct rte_tel_data *array[RTE_TEL_MAX_DICT_ENTRIES];
	unsigned int n_arrays;
};

static int
add_column(struct fold *f, const char *name, const json_t *rows, const char *key)
{
	static const enum rte_tel_value_type types[] = {RTE_TEL_UINT_VAL, RTE_TEL_INT_VAL,
							RTE_TEL_STRING_VAL};
	struct rte_tel_data *array = rte_tel_data_alloc();
	enum kind kind = kind_of_column(rows, key);
	size_t i;
	json_t *row;
	int rc;

	if (array == NULL)
		return -ENOMEM;
	rc = rte_tel_data_start_array(array, types[kind]);
	json_array_foreach (rows, i, row) {
		if (rc == 0)
			rc = add_item(array, kind, json_object_get(row, key));
	}
	if (rc == 0)
		rc = rte_tel_data_add_dict_container(f->reply, name, array, 0);
	if (rc != 0)
		rte_tel_data_free(array);
	else
		/* fits, because array[] is as long as the dictionary */
		f->array[f->n_arrays++] = array;
	return rc;
}

static int
join(char name[TEXT_BYTES], const char *prefix, const char *key)
{
	int n = snprintf(name, TEXT_BYTES, "%s%s%s", prefix, *prefix != '\0' ? "/" : "", key);

	return n < TEXT_BYTES ? 0 : -E2BIG;
}

/* Add a column for each key that at least one row has. */
static int
add_rows(struct fold *f, const char *prefix, const json_t *rows)
{
	json_t *keys = json_object(), *row, *v;
	char name[TEXT_BYTES];
	const char *key;
	size_t i;
	int rc = 0;

	json_array_foreach (rows, i, row)
		json_object_update_missing(keys, row);
	json_object_foreach (keys, key, v) {
		if (rc == 0 && (json_is_object(v) || json_is_array(v)))
			rc = -EINVAL;
		if (rc == 0)
			rc = join(name, prefix, key);
		if (rc == 0)
			rc = add_column(f, name, rows, key);
	}
	json_decref(keys);
	return rc;
}

static int
add_members(struct fold *f, const char *prefix, const json_t *object)
{
	char name[TEXT_BYTES];
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)object, key, v) {
		bool is_page = *prefix == '\0' && strcmp(key, "rows") == 0;
		int rc = join(name, prefix, key);

		if (rc == 0 && json_is_object(v))
			rc = add_members(f, name, v);
		else if (rc == 0 && json_is_array(v))
			rc = add_rows(f, is_page ? "" : name, v);
		else if (rc == 0)
			rc = add_scalar(f->reply, name, v);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* Upper bound of the bytes that DPDK writes for a value with its quotes and comma. */
static size_t
value_bytes(const json_t *v)
{
	char text[TEXT_BYTES];
	size_t n;

	text_of(v, text);
	n = strlen(text);
	/* A character that is escaped takes six. */
	for (const char *c = text; *c != '\0'; c++)
		n += (unsigned char)*c < ' ' || *c == '"' || *c == '\\' ? 5 : 0;
	return n + 3;
}

/* "prefix/key":[], */
static size_t
name_bytes(size_t prefix_bytes, const char *key)
{
	return prefix_bytes + strlen(key) + 7;
}

static size_t
reply_bytes(const json_t *object, size_t prefix_bytes)
{
	size_t bytes = 0, i;
	const char *key, *row_key;
	json_t *v, *row, *item;

	json_object_foreach ((json_t *)object, key, v) {
		size_t name = name_bytes(prefix_bytes, key);
		bool is_page = prefix_bytes == 0 && strcmp(key, "rows") == 0;

		if (json_is_object(v)) {
			bytes += reply_bytes(v, name);
		} else if (json_is_array(v)) {
			json_object_foreach (json_array_get(v, 0), row_key, item)
				bytes += name_bytes(is_page ? 0 : name, row_key);
			json_array_foreach (v, i, row) {
				json_object_foreach (row, row_key, item)
					bytes += value_bytes(item);
			}
		} else {
			bytes += name + value_bytes(v);
		}
	}
	return bytes;
}

int
telemetry_fold(struct rte_tel_data *reply, const json_t *object, const bool *lacks_memory)
{
	struct fold f = {.reply = reply};
	int rc;

	if (reply_bytes(object, 0) > TELEMETRY_REPLY_BYTES)
		return -E2BIG;
	rte_tel_data_start_dict(reply);
	rc = add_members(&f, "", object);
	if (rc == 0 && *lacks_memory)
		rc = -ENOMEM;
	for (unsigned int i = 0; rc != 0 && i < f.n_arrays; i++)
		rte_tel_data_free(f.array[i]);
	return rc;
}

void
telemetry_page_begin(struct telemetry_page *p, json_t *object)
{
	p->object = object;
	p->rows = json_array();
	p->bytes = reply_bytes(object, 0) + name_bytes(0, "next") + 20;
	json_object_set_new(object, "rows", p->rows);
}

void
telemetry_page_more(struct telemetry_page *p, uint64_t next)
{
	json_object_set_new(p->object, "next", json_integer((json_int_t)next));
}

bool
telemetry_page_fits(const struct telemetry_page *p, size_t rows, size_t row_bytes)
{
	return p->bytes + (rows + 2) * row_bytes <= TELEMETRY_REPLY_BYTES &&
	       json_array_size(p->rows) + rows <= RTE_TEL_MAX_ARRAY_ENTRIES;
}

bool
telemetry_page_add(struct telemetry_page *p, json_t *row, uint64_t number)
{
	const json_t *first = json_array_get(p->rows, 0);
	size_t bytes = p->bytes;
	const char *key;
	json_t *v;

	json_object_foreach (row, key, v) {
		bytes += value_bytes(v);
		/*
		 * The name of a key that the first row lacks is counted in every row that has it,
		 * so the sum may be too high, never too low.
		 */
		if (json_object_get(first, key) == NULL)
			bytes += name_bytes(0, key);
	}
	/* Each key that this row lacks adds "" to its column. */
	if (first != NULL && json_object_size(first) > json_object_size(row))
		bytes += 3 * (json_object_size(first) - json_object_size(row));
	if (bytes > TELEMETRY_REPLY_BYTES ||
	    json_array_size(p->rows) == RTE_TEL_MAX_ARRAY_ENTRIES) {
		json_decref(row);
		telemetry_page_more(p, number);
		return false;
	}
	p->bytes = bytes;
	json_array_append_new(p->rows, row);
	return true;
}
