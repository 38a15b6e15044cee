/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/telemetry/telemetry.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/decimal.h"
#include "base/numbers/fixed.h"
#include "runtime/eal/tsc_clock.h"

/* DPDK reads 1024 bytes, command included. */
#define PARAMS_CHARS 899
/* Memory that malloc() keeps for the next reply. */
#define KEPT_BYTES (16 << 20)

/* DPDK cannot unregister commands: they are refused while open is NULL. */
static struct {
	pthread_rwlock_t lock;
	struct telemetry *open;
} current = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static const struct telemetry_endpoint *
find(const struct telemetry *t, const char *path)
{
	for (unsigned int i = 0; i < t->n_endpoints; i++)
		if (strcmp(t->endpoints[i].path, path) == 0)
			return &t->endpoints[i];
	return NULL;
}

/* Split parameters at commas. @return false: too many. */
static bool
split(struct telemetry_call *call, unsigned int max_args, char *params)
{
	for (char *at = params; at != NULL && *at != '\0';) {
		char *comma = strchr(at, ',');

		if (call->n_args == max_args)
			return false;
		call->args[call->n_args++] = at;
		if (comma != NULL)
			*comma++ = '\0';
		at = comma;
	}
	return true;
}

/* Set when an allocation fails: jansson then omits members, and the reply would seem complete. */
static _Thread_local bool lacks_memory;
static json_malloc_t take_memory;
static json_free_t give_memory;

static void *
take_noted(size_t n)
{
	void *p = take_memory(n);

	lacks_memory = lacks_memory || p == NULL;
	return p;
}

static void
note_lacking_memory(void)
{
	json_malloc_t now;

	json_get_alloc_funcs(&now, &give_memory);
	if (now == take_noted)
		return;
	take_memory = now;
	json_set_alloc_funcs(take_noted, give_memory);
}

static json_t *
reply_to(const struct telemetry_endpoint *e, struct telemetry_call *call, const char *params)
{
	static const char too_many[] = "at most %u parameters, each of which is short";
	char text[PARAMS_CHARS + 1] = "", expected[sizeof(too_many) + 16];

	snprintf(expected, sizeof(expected), too_many, e->max_args);
	if (params != NULL && strlen(params) > PARAMS_CHARS)
		return telemetry_refuse(call, expected, "the parameters are too long");
	if (params != NULL)
		snprintf(text, sizeof(text), "%s", params);
	if (e->max_args == TELEMETRY_WHOLE && *text != '\0')
		call->args[call->n_args++] = text;
	else if (!split(call, e->max_args, text))
		return telemetry_refuse(call, expected, "%s has too many parameters", e->path);
	return e->reply(call);
}

/* Add the rest of an error, in pieces that fit a text of DPDK. */
static void
add_rest(json_t *o, const char *rest)
{
	json_t *pieces = json_array();

	for (size_t n = strlen(rest), at = 0; at < n; at += TELEMETRY_ERROR_CHARS) {
		char piece[TELEMETRY_ERROR_CHARS + 1];

		snprintf(piece, sizeof(piece), "%s", rest + at);
		json_array_append_new(pieces, json_pack("{s:s}", "text", piece));
	}
	if (*rest != '\0')
		json_object_set(o, "error_rest", pieces);
	json_decref(pieces);
}

static json_t *
error_object(const struct telemetry_endpoint *e, const struct telemetry_call *call)
{
	char usage[128];
	json_t *o = json_object();

	snprintf(usage, sizeof(usage), "%s%s", e->path, e->usage);
	json_object_set_new(o, "error", json_string(call->error));
	add_rest(o, call->rest);
	json_object_set_new(o, "expected", json_string(call->expected));
	json_object_set_new(o, "usage", json_string(usage));
	return o;
}

static int
answer(const struct telemetry *t, const char *path, const char *params, struct rte_tel_data *reply)
{
	const struct telemetry_endpoint *e = find(t, path);
	struct telemetry_call call = {.telemetry = t};
	json_t *object;
	int rc;

	if (e == NULL)
		return -ENOENT;
	lacks_memory = false;
	if (t->active != NULL)
		call.version = active_config_hold(t->active);
	object = reply_to(e, &call, params);
	if (object == NULL)
		object = error_object(e, &call);
	if (t->active != NULL)
		active_config_release(t->active, call.version);
	/* If this fails, DPDK replies null. */
	rc = telemetry_fold(reply, object, &lacks_memory);
	json_decref(object);
	return rc;
}

static int
on_command(const char *path, const char *params, struct rte_tel_data *reply)
{
	int rc = -ESHUTDOWN;

	pthread_rwlock_rdlock(&current.lock);
	if (current.open != NULL)
		rc = answer(current.open, path, params, reply);
	pthread_rwlock_unlock(&current.lock);
	return rc;
}

int
telemetry_open(struct telemetry *t)
{
	int rc = mailbox_init(&t->mailbox);

	/*
	 * A reply takes and frees megabytes, most of them columns of DPDK's. The kernel would take
	 * them back, and clear them again, for every reply.
	 */
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	note_lacking_memory();
	for (unsigned int i = 0; rc == 0 && i < t->n_endpoints; i++) {
		/* One more than DPDK accepts: it refuses a text that is cut here. */
		char help[RTE_TEL_MAX_STRING_LEN + 1];
		const struct telemetry_endpoint *e = &t->endpoints[i];

		snprintf(help, sizeof(help), "%s: %s%s", e->help, e->path, e->usage);
		rc = rte_telemetry_register_cmd(e->path, on_command, help);
	}
	if (rc != 0)
		return rc;
	if (t->active != NULL)
		active_config_prepare(t->active, &t->mailbox, t->stop);
	pthread_rwlock_wrlock(&current.lock);
	current.open = t;
	pthread_rwlock_unlock(&current.lock);
	/* Creating the thread takes time; commands are answered meanwhile. */
	rc = t->active != NULL ? active_config_start(t->active) : 0;
	if (rc != 0)
		telemetry_close(t);
	return rc;
}

void
telemetry_close(struct telemetry *t)
{
	if (current.open != t)
		return;
	/*
	 * First of all, because a reply that waits for this thread must not do so while this thread
	 * waits for replies.
	 */
	mailbox_close(&t->mailbox);
	if (t->active != NULL)
		active_config_stop(t->active);
	pthread_rwlock_wrlock(&current.lock);
	current.open = NULL;
	pthread_rwlock_unlock(&current.lock);
	mailbox_destroy(&t->mailbox);
}

uint64_t
telemetry_now_ns(const struct telemetry_call *call)
{
	return tsc_clock_now(call->telemetry->clock);
}

bool
telemetry_on_main(struct telemetry_call *call, void (*work)(void *arg, uint64_t now_ns), void *arg)
{
	/* Casts const away: the mailbox is the only member that a reply may change. */
	int rc = mailbox_call((struct mailbox *)&call->telemetry->mailbox, work, arg);

	if (rc == -ETIMEDOUT)
		telemetry_refuse(call, "another try", "the main lcore did not respond in %u s",
				 MAILBOX_PATIENCE_MS / 1000);
	else if (rc != 0)
		telemetry_refuse(call, "a program that runs", "the program is about to end");
	return rc == 0;
}

void
telemetry_make_plain(char *text)
{
	for (char *c = text; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

json_t *
telemetry_refuse_line(struct telemetry_call *call, const char *line)
{
	snprintf(call->error, sizeof(call->error), "%s", line);
	if (strlen(line) > TELEMETRY_ERROR_CHARS)
		snprintf(call->rest, sizeof(call->rest), "%s", line + TELEMETRY_ERROR_CHARS);
	telemetry_make_plain(call->error);
	telemetry_make_plain(call->rest);
	return NULL;
}

json_t *
telemetry_refuse(struct telemetry_call *call, const char *expected, const char *error, ...)
{
	va_list args;

	va_start(args, error);
	vsnprintf(call->error, sizeof(call->error), error, args);
	va_end(args);
	telemetry_make_plain(call->error);
	snprintf(call->expected, sizeof(call->expected), "%s", expected);
	return NULL;
}

bool
telemetry_number(struct telemetry_call *call, unsigned int i, const char *name, uint64_t min,
		 uint64_t max, uint64_t *value)
{
	const char *text = i < call->n_args ? call->args[i] : NULL;
	char expected[64];

	snprintf(expected, sizeof(expected), "a number from %" PRIu64 " to %" PRIu64, min, max);
	if (text == NULL) {
		telemetry_refuse(call, expected, "%s is missing", name);
		return false;
	}
	if (decimal_parse(text, min, max, value))
		return true;
	telemetry_refuse(call, expected, "%s = %s", name, text);
	return false;
}

bool
telemetry_switch(struct telemetry_call *call, unsigned int i, const char *name, bool *value)
{
	const char *text = i < call->n_args ? call->args[i] : NULL;

	if (text == NULL)
		telemetry_refuse(call, "on or off", "%s is missing", name);
	else if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
		telemetry_refuse(call, "on or off", "%s = %s", name, text);
	else {
		*value = strcmp(text, "on") == 0;
		return true;
	}
	return false;
}

bool
telemetry_optional_number(struct telemetry_call *call, unsigned int i, const char *name,
			  uint64_t min, uint64_t max, uint64_t *value)
{
	return i >= call->n_args || telemetry_number(call, i, name, min, max, value);
}

/* A row of the members that columns names, separated by '+'. @return NULL: refused. */
static json_t *
chosen_columns(struct telemetry_call *call, json_t *row, const char *columns)
{
	json_t *o = json_object();

	for (const char *at = columns; o != NULL; at += strcspn(at, "+") + 1) {
		size_t n = strcspn(at, "+");
		json_t *v = json_object_getn(row, at, n);

		if (v == NULL) {
			telemetry_refuse(call, "keys of a row, separated by +", "COLUMNS = %.*s",
					 (int)n, at);
			json_decref(o);
			o = NULL;
		} else {
			json_object_setn_nocheck(o, at, n, v);
		}
		if (at[n] == '\0')
			break;
	}
	json_decref(row);
	return o;
}

json_t *
telemetry_list_add(struct telemetry_call *call, const struct telemetry_list *list, json_t *o)
{
	uint64_t i = list->first, count = UINT32_MAX, end;
	unsigned int at = list->n_before + 2;
	const char *columns = call->n_args > at ? call->args[at] : NULL;
	struct telemetry_page page;
	bool fits = true;

	if (!telemetry_optional_number(call, list->n_before, "FIRST", list->first, list->max_first,
				       &i) ||
	    !telemetry_optional_number(call, list->n_before + 1, "COUNT", 1, UINT32_MAX, &count)) {
		json_decref(o);
		return NULL;
	}
	end = min_u64(list->end, i + count);
	telemetry_page_begin(&page, o);
	for (; fits && i < end; i++) {
		json_t *row = list->row(call, list->arg, i);

		if (row != NULL && columns != NULL) {
			row = chosen_columns(call, row, columns);
			if (row == NULL) {
				json_decref(o);
				return NULL;
			}
		}
		fits = row == NULL || telemetry_page_add(&page, row, i);
	}
	return o;
}

json_t *
telemetry_list_reply(struct telemetry_call *call, const struct telemetry_list *list)
{
	return telemetry_list_add(call, list, json_pack("{s:I}", "total", (json_int_t)list->end));
}
