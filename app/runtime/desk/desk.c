/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/desk/desk.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_eal.h>
#include <rte_telemetry.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "ctl/output/json.h"
#include "ctl/output/json_schema.h"
#include "runtime/eal/tsc_clock.h"
#include "runtime/notice/say.h"
#include "runtime/release/release.h"

#define VERSION "2.0"
/* Requests of a batch: their replies are held together. */
#define MOST_BATCH 64
/* Deepest nesting of arrays and objects in a request. */
#define DEPTH 32
/* Memory that malloc() keeps for the next reply. */
#define KEPT_BYTES (16 << 20)

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

void
desk_make_plain(char *text)
{
	for (char *c = text; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

static json_t *
refuse(struct desk_call *call, enum desk_error code, const char *expected, const char *error,
       va_list args)
{
	call->code = code;
	vsnprintf(call->error, sizeof(call->error), error, args);
	desk_make_plain(call->error);
	snprintf(call->expected, sizeof(call->expected), "%s", expected);
	return NULL;
}

json_t *
desk_refuse(struct desk_call *call, const char *expected, const char *error, ...)
{
	va_list args;

	va_start(args, error);
	refuse(call, DESK_REFUSED, expected, error, args);
	va_end(args);
	return NULL;
}

json_t *
desk_refuse_param(struct desk_call *call, const char *expected, const char *error, ...)
{
	va_list args;

	va_start(args, error);
	refuse(call, DESK_BAD_PARAMS, expected, error, args);
	va_end(args);
	return NULL;
}

json_t *
desk_refuse_line(struct desk_call *call, const char *line)
{
	return desk_refuse(call, "", "%s", line);
}

uint64_t
desk_now_ns(const struct desk_call *call)
{
	return tsc_clock_now(call->desk->clock);
}

bool
desk_on_main(struct desk_call *call, void (*work)(void *arg, uint64_t now_ns), void *arg)
{
	/* Casts const away: the mailbox is the only member that a reply may change. */
	int rc = mailbox_call((struct mailbox *)&call->desk->mailbox, work, arg);

	if (rc == -ETIMEDOUT)
		desk_refuse(call, "another try", "the main lcore did not respond in %u s",
			    MAILBOX_PATIENCE_MS / 1000);
	else if (rc != 0)
		desk_refuse(call, "a program that runs", "the program is about to end");
	if (rc != 0)
		call->code = DESK_NO_ANSWER;
	return rc == 0;
}

/* The name of a parameter as messages write it: PORT. */
static const char *
upper(const char *name, char text[32])
{
	size_t i;

	for (i = 0; name[i] != '\0' && i < 31; i++)
		text[i] = (char)toupper((unsigned char)name[i]);
	text[i] = '\0';
	return text;
}

static const struct desk_param *
find_param(const struct desk_method *m, const char *name)
{
	for (const struct desk_param *p = m->params; p != NULL && p->name != NULL; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

bool
desk_number(struct desk_call *call, const char *name, uint64_t min, uint64_t max, uint64_t *value)
{
	const json_t *v = json_object_get(call->params, name);
	char expected[64], word[32];

	if (v == NULL)
		return true;
	if ((uint64_t)json_integer_value(v) >= min && (uint64_t)json_integer_value(v) <= max) {
		*value = (uint64_t)json_integer_value(v);
		return true;
	}
	snprintf(expected, sizeof(expected), "a number from %" PRIu64 " to %" PRIu64, min, max);
	desk_refuse_param(call, expected, "%s = %" PRIu64, upper(name, word),
			  (uint64_t)json_integer_value(v));
	return false;
}

bool
desk_flag(const struct desk_call *call, const char *name)
{
	return json_is_true(json_object_get(call->params, name));
}

const char *
desk_word(const struct desk_call *call, const char *name, char digits[DESK_DIGITS])
{
	const json_t *v = json_object_get(call->params, name);

	if (!json_is_integer(v))
		return json_string_value(v);
	snprintf(digits, DESK_DIGITS, "%" PRIu64, (uint64_t)json_integer_value(v));
	return digits;
}

char *
desk_words(struct desk_call *call, const char *name, char between)
{
	const json_t *list = json_object_get(call->params, name), *word;
	size_t bytes = 1, used = 0, i;
	char *text;

	json_array_foreach (list, i, word)
		bytes += json_string_length(word) + 1;
	text = malloc(bytes);
	if (text == NULL) {
		desk_refuse(call, "more memory", "out of memory");
		call->code = DESK_NO_MEMORY;
		return NULL;
	}
	*text = '\0';
	json_array_foreach (list, i, word)
		used += (size_t)snprintf(text + used, bytes - used, "%.*s%s", i > 0, &between,
					 json_string_value(word));
	return text;
}

static bool
is_words(const json_t *v)
{
	const json_t *word;
	size_t i;

	json_array_foreach (v, i, word)
		if (!json_is_string(word) || strchr(json_string_value(word), '\n') != NULL)
			return false;
	return json_is_array(v);
}

static bool
has_type(const json_t *v, enum desk_type type)
{
	bool is_number = json_is_integer(v) && json_integer_value(v) >= 0;

	switch (type) {
	case DESK_NUMBER:
		return is_number;
	case DESK_WORD:
		return is_number || json_is_string(v);
	case DESK_WORDS:
		return is_words(v);
	case DESK_FLAG:
		return json_is_boolean(v);
	}
	return false;
}

static bool
refuse_value(struct desk_call *call, const struct desk_param *p, const json_t *v)
{
	static const char *const expected[] = {
		"an integer of at least 0", "a text, or an integer of at least 0",
		"a list of texts without line ends", "true or false"};
	char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY), word[32];

	desk_refuse_param(call, expected[p->type], "%s = %.200s", upper(p->name, word),
			  text == NULL ? "" : text);
	free(text);
	return false;
}

/* Are the parameters those of the method? */
static bool
check_params(struct desk_call *call)
{
	const struct desk_param *p;
	const char *name;
	json_t *v;
	char word[32];

	json_object_foreach ((json_t *)call->params, name, v) {
		p = find_param(call->method, name);
		if (p == NULL) {
			desk_refuse_param(call, "", "%s has no parameter %.100s",
					  call->method->name, name);
			return false;
		}
		if (!has_type(v, p->type))
			return refuse_value(call, p, v);
	}
	for (p = call->method->params; p != NULL && p->name != NULL; p++)
		if (p->required && json_object_get(call->params, p->name) == NULL) {
			desk_refuse_param(call, p->help, "%s is missing", upper(p->name, word));
			return false;
		}
	return true;
}

/* "queues port": parameters that may be missing are in brackets. */
static void
write_usage(const struct desk_method *m, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "%s", m->name);

	for (const struct desk_param *p = m->params; p != NULL && p->name != NULL && used < size;
	     p++)
		used += (size_t)snprintf(text + used, size - used, p->required ? " %s" : " [%s]",
					 p->name);
}

static json_t *
type_schema(const struct desk_param *p)
{
	switch (p->type) {
	case DESK_NUMBER:
		return json_pack("{s:s, s:i, s:s}", "type", "integer", "minimum", 0, "description",
				 p->help);
	case DESK_WORD:
		return json_pack("{s:[s,s], s:i, s:s}", "type", "string", "integer", "minimum", 0,
				 "description", p->help);
	case DESK_WORDS:
		return json_pack("{s:s, s:{s:s}, s:s}", "type", "array", "items", "type", "string",
				 "description", p->help);
	case DESK_FLAG:
		return json_pack("{s:s, s:s}", "type", "boolean", "description", p->help);
	}
	return NULL;
}

/* The parameters as a JSON Schema. */
static json_t *
params_schema(const struct desk_method *m)
{
	json_t *properties = json_object(), *required = json_array();

	for (const struct desk_param *p = m->params; p != NULL && p->name != NULL; p++) {
		json_object_set_new(properties, p->name, type_schema(p));
		if (p->required)
			json_array_append_new(required, json_string(p->name));
	}
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties,
			 "required", required, "additionalProperties", 0);
}

static json_t *
result_schema(const struct desk_method *m)
{
	/* A request may ask for some keys of a row. */
	return json_schema(m->result, find_param(m, "columns") != NULL);
}

static desk_reply methods_reply, counters_reply, gauges_reply;

static void
methods_result(struct walk *w)
{
	walk_item(w, "rows");
	walk_text(w, WALK_KEY, "name", "name of the method", NULL);
	walk_text(w, WALK_KEY, "help", "what it returns or sets", NULL);
	walk_object(w, "params", "JSON Schema of its parameters");
	walk_object(w, "result", "JSON Schema of its result");
	walk_leave(w);
}

static void
catalogue_result(struct walk *w)
{
	walk_item(w, "rows");
	walk_text(w, WALK_KEY, "object", "what the value is of", NULL);
	walk_text(w, WALK_KEY, "name", "the key", NULL);
	walk_text(w, WALK_KEY, "help", "its meaning", NULL);
	walk_leave(w);
}

/* Methods of every program. */
static const struct desk_method own_methods[] = {
	{"methods", NULL,
	 "Returns the methods, and the JSON Schemas of their parameters and results", methods_reply,
	 methods_result},
	{"counters", NULL, "Returns names and meanings of counters", counters_reply,
	 catalogue_result},
	{"gauges", NULL, "Returns names and meanings of gauges", gauges_reply, catalogue_result},
};
#define OWN_METHODS ARRAY_LEN(own_methods)

static const struct desk_method *
method_at(const struct desk *desk, unsigned int i)
{
	return i < OWN_METHODS ? &own_methods[i] : &desk->methods[i - OWN_METHODS];
}

static json_t *
methods_reply(struct desk_call *call)
{
	json_t *rows = json_array();

	for (unsigned int i = 0; i < OWN_METHODS + call->desk->n_methods; i++) {
		const struct desk_method *m = method_at(call->desk, i);

		json_array_append_new(rows, json_pack("{s:s, s:s, s:o, s:o}", "name", m->name,
						      "help", m->help, "params", params_schema(m),
						      "result", result_schema(m)));
	}
	return json_pack("{s:o}", "rows", rows);
}

/* The counters, or the gauges, among the names of all results: each once. */
struct catalogue_walk {
	struct walk walk;
	bool counters;
	json_t *rows, *known; /* objects of names */
};

static void
catalogue_row(struct walk *w, const struct walk_row *row)
{
	struct catalogue_walk *c = (struct catalogue_walk *)w;
	char name[2 * WALK_NAME_CHARS];

	if (row->kind >= WALK_KEY || (row->kind == WALK_COUNTER) != c->counters)
		return;
	snprintf(name, sizeof(name), "%s %s", w->object, row->name);
	if (json_object_get(c->known, name) != NULL)
		return;
	json_object_set_new(c->known, name, json_true());
	json_array_append_new(c->rows, json_pack("{s:s, s:s, s:s}", "object", w->object, "name",
						 row->name, "help", row->help));
}

static json_t *
catalogue(const struct desk_call *call, bool counters)
{
	struct catalogue_walk c = {.walk = {.row = catalogue_row, .names_only = true},
				   .counters = counters,
				   .rows = json_array(),
				   .known = json_object()};

	for (unsigned int i = 0; i < call->desk->n_methods; i++)
		call->desk->methods[i].result(&c.walk);
	json_decref(c.known);
	return json_pack("{s:o}", "rows", c.rows);
}

static json_t *
counters_reply(struct desk_call *call)
{
	return catalogue(call, true);
}

static json_t *
gauges_reply(struct desk_call *call)
{
	return catalogue(call, false);
}

static const struct desk_method *
find_method(const struct desk *desk, const char *name)
{
	for (unsigned int i = 0; i < OWN_METHODS + desk->n_methods; i++)
		if (strcmp(method_at(desk, i)->name, name) == 0)
			return method_at(desk, i);
	return NULL;
}

static json_t *
error_object(const struct desk_call *call)
{
	json_t *data = json_object();
	char usage[128];

	if (*call->expected != '\0')
		json_object_set_new(data, "expected", json_string(call->expected));
	if (call->method != NULL) {
		write_usage(call->method, usage, sizeof(usage));
		json_object_set_new(data, "usage", json_string(usage));
	}
	return json_pack("{s:i, s:s, s:o}", "code", call->code, "message", call->error, "data",
			 data);
}

static enum desk_access
access_for(const struct desk_method *m)
{
	if (strncmp(m->help, "Sets", 4) == 0)
		return DESK_CHANGE;
	return strncmp(m->help, "Captures", 8) == 0 ? DESK_OWN : DESK_READ;
}

static bool
check_access(struct desk_call *call)
{
	enum desk_access needed = access_for(call->method);

	if (call->peer->access >= needed)
		return true;
	desk_refuse(call,
		    needed == DESK_OWN ? "root, or the user of the program"
				       : "a member of the group of --change-group",
		    "%s: user %u may only %s", call->method->name, call->peer->uid,
		    call->peer->access == DESK_CHANGE ? "read and change" : "read");
	call->code = DESK_FORBIDDEN;
	return false;
}

static json_t *
result_of(struct desk_call *call)
{
	const struct desk *desk = call->desk;
	json_t *result = NULL;

	if (!check_access(call))
		return NULL;
	if (!check_params(call))
		return NULL;
	if (desk->active != NULL)
		call->version = active_config_hold(desk->active);
	result = call->method->reply(call);
	if (desk->active != NULL)
		active_config_release(desk->active, call->version);
	if (result != NULL && lacks_memory) {
		json_decref(result);
		desk_refuse(call, "more memory", "out of memory");
		call->code = DESK_NO_MEMORY;
		return NULL;
	}
	return result;
}

/* Why is this no request with an id that a reply can carry? NULL: it is one. Sets *params. */
static const char *
fault_of(const json_t *request, const json_t **params)
{
	const char *version = json_string_value(json_object_get(request, "jsonrpc"));
	const json_t *id = json_object_get(request, "id");

	*params = json_object_get(request, "params");
	if (!json_is_object(request))
		return "no object: expected a request of JSON-RPC 2.0";
	if (version == NULL || strcmp(version, VERSION) != 0)
		return "jsonrpc: expected \"2.0\"";
	if (id != NULL && !json_is_string(id) && !json_is_number(id) && !json_is_null(id))
		return "id: expected a text or a number";
	if (!json_is_string(json_object_get(request, "method")))
		return "method: expected a text";
	if (*params != NULL && !json_is_object(*params))
		return "params: expected an object";
	return NULL;
}

static bool
is_flat(const char *text, size_t n)
{
	bool in_text = false;
	int depth = 0;

	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if (in_text && c == '\\')
			i++;
		else if (c == '"')
			in_text = !in_text;
		else if (!in_text && (c == '{' || c == '['))
			depth++;
		else if (!in_text && (c == '}' || c == ']'))
			depth--;
		if (depth > DEPTH)
			return false;
	}
	return true;
}

/* @return the reply; NULL: the request was a notification. */
static json_t *
reply_to(const struct desk *desk, const struct desk_peer *peer, const json_t *request)
{
	struct desk_call of_request = {.desk = desk, .peer = peer}, *call = &of_request;
	const char *fault = fault_of(request, &call->params), *name;
	json_t *id = json_object_get(request, "id"), *result = NULL, *reply;

	if (fault != NULL) {
		desk_refuse(call, "", "%s", fault);
		call->code = DESK_NO_REQUEST;
	} else {
		name = json_string_value(json_object_get(request, "method"));
		call->method = find_method(call->desk, name);
		if (call->method != NULL) {
			result = result_of(call);
		} else {
			desk_refuse(call, "a method that `methods` lists",
				    "%s has no method %.100s", call->desk->name, name);
			call->code = DESK_NO_METHOD;
		}
		if (id == NULL) {
			json_decref(result);
			return NULL;
		}
	}
	reply = json_pack("{s:s}", "jsonrpc", VERSION);
	if (id != NULL)
		json_object_set(reply, "id", id);
	else
		json_object_set_new(reply, "id", json_null());
	json_object_set_new(reply, result != NULL ? "result" : "error",
			    result != NULL ? result : error_object(call));
	return reply;
}

/* The replies to a batch; NULL: it had notifications only. */
static json_t *
replies_to(const struct desk *desk, const struct desk_peer *peer, const json_t *batch)
{
	json_t *replies = json_array(), *reply;
	const json_t *request;
	size_t i;

	json_array_foreach (batch, i, request) {
		reply = reply_to(desk, peer, request);
		if (reply != NULL)
			json_array_append_new(replies, reply);
	}
	if (json_array_size(replies) > 0)
		return replies;
	json_decref(replies);
	return NULL;
}

static char *
line_of(const json_t *reply)
{
	static const char no_memory[] =
		"{\"jsonrpc\":\"" VERSION "\",\"id\":null,\"error\":{\"code\":-32603,"
		"\"message\":\"out of memory\"}}\n";
	char *text = json_dumps(reply, JSON_COMPACT);
	size_t n = text == NULL ? 0 : strlen(text);
	char *line = n == 0 || lacks_memory ? NULL : realloc(text, n + 2);

	if (line == NULL) {
		free(text);
		return strdup(no_memory);
	}
	memcpy(line + n, "\n", 2);
	return line;
}

char *
desk_answer(const struct desk *desk, const struct desk_peer *peer, const char *text, size_t n)
{
	struct desk_call call = {.desk = desk};
	json_t *request = NULL, *reply;
	json_error_t fault;
	char *line;

	lacks_memory = false;
	if (!is_flat(text, n))
		snprintf(fault.text, sizeof(fault.text), "more than %d levels", DEPTH);
	else
		request = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &fault);
	if (request == NULL || json_array_size(request) > MOST_BATCH) {
		if (request == NULL)
			desk_refuse(&call, "", "no JSON: %s", fault.text);
		else
			desk_refuse(&call, "", "%zu requests: expected at most %d in a batch",
				    json_array_size(request), MOST_BATCH);
		call.code = request == NULL ? DESK_NO_JSON : DESK_NO_REQUEST;
		reply = json_pack("{s:s, s:n, s:o}", "jsonrpc", VERSION, "id", "error",
				  error_object(&call));
	} else {
		bool batch = json_array_size(request) > 0;

		reply = batch ? replies_to(desk, peer, request) : reply_to(desk, peer, request);
	}
	line = reply == NULL && !lacks_memory ? NULL : line_of(reply);
	json_decref(reply);
	json_decref(request);
	return line;
}

static char *
answer(const void *desk, const struct desk_peer *peer, const char *text, size_t n)
{
	return desk_answer(desk, peer, text, n);
}

/* What DPDK's own telemetry says of us: its clients find the desk by it. */
static struct {
	char program[32], socket[128];
} known;

static int
on_info(const char *path, const char *params, struct rte_tel_data *reply)
{
	(void)path;
	(void)params;
	rte_tel_data_start_dict(reply);
	rte_tel_data_add_dict_string(reply, "program", known.program);
	rte_tel_data_add_dict_string(reply, "version", release_version);
	rte_tel_data_add_dict_string(reply, "rpc_socket", known.socket);
	return 0;
}

static int
register_info(const struct desk *desk)
{
	snprintf(known.program, sizeof(known.program), "%s", desk->name);
	snprintf(known.socket, sizeof(known.socket), "%s", desk_socket_path(desk->socket));
	return rte_telemetry_register_cmd("/quench/info", on_info,
					  "Returns program, version and its JSON-RPC socket");
}

int
desk_open(struct desk *desk)
{
	int rc = mailbox_init(&desk->mailbox);

	/*
	 * A reply takes and frees megabytes. The kernel would take them back, and clear them again,
	 * for every reply.
	 */
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	note_lacking_memory();
	if (rc == 0 && desk->active != NULL)
		active_config_prepare(desk->active, &desk->mailbox, desk->stop);
	if (rc == 0)
		rc = desk_socket_open(&desk->socket, rte_eal_get_runtime_dir(), &desk->groups,
				      answer, desk);
	if (rc == 0)
		rc = register_info(desk);
	if (rc == 0 && desk->active != NULL)
		rc = active_config_start(desk->active);
	if (rc != 0) {
		say_error("%s/" DESK_SOCKET_NAME ": %s", rte_eal_get_runtime_dir(), strerror(-rc));
		desk_close(desk);
	}
	return rc;
}

void
desk_close(struct desk *desk)
{
	/*
	 * Close the mailbox first. Otherwise a reply that waits for this thread, and this thread,
	 * which waits for replies below, would wait for each other.
	 */
	mailbox_close(&desk->mailbox);
	if (desk->active != NULL)
		active_config_stop(desk->active);
	desk_socket_close(desk->socket, desk->failed);
	desk->socket = NULL;
	mailbox_destroy(&desk->mailbox);
}

/* The members of a row that columns names; takes row. @return NULL: refused. */
static json_t *
chosen_columns(struct desk_call *call, json_t *row, const json_t *columns)
{
	const json_t *name;
	json_t *o = json_object();
	size_t i;

	json_array_foreach (columns, i, name) {
		json_t *v = json_object_get(row, json_string_value(name));

		if (v == NULL) {
			desk_refuse_param(call, "keys of a row", "COLUMNS = %.100s",
					  json_string_value(name));
			json_decref(o);
			o = NULL;
			break;
		}
		json_object_set(o, json_string_value(name), v);
	}
	json_decref(row);
	return o;
}

json_t *
desk_list_add(struct desk_call *call, const struct desk_list *list, json_t *o)
{
	const json_t *columns = json_object_get(call->params, "columns");
	uint64_t i = 0, count = UINT32_MAX, end;
	json_t *rows = json_array();

	if (!desk_number(call, "first", 0, UINT32_MAX, &i) ||
	    !desk_number(call, "count", 1, UINT32_MAX, &count)) {
		json_decref(rows);
		json_decref(o);
		return NULL;
	}
	i = max_u64(i, list->first);
	end = min_u64(list->end, i + count);
	for (; i < end; i++) {
		json_t *row = json_object();
		struct json_walk j = json_walk(row);

		if (!list->row(&j.walk, call, list->arg, i)) {
			json_decref(row);
			row = NULL;
		}
		if (row != NULL && columns != NULL)
			row = chosen_columns(call, row, columns);
		if (row != NULL)
			json_array_append_new(rows, row);
		if (call->code != 0) {
			json_decref(rows);
			json_decref(o);
			return NULL;
		}
	}
	json_object_set_new(o, "rows", rows);
	return o;
}

void
desk_rows_result(struct walk *w, desk_row *row)
{
	walk_item(w, "rows");
	row(w, NULL, NULL, 0);
	walk_leave(w);
}

void
desk_list_result(struct walk *w, desk_row *row)
{
	walk_number(w, WALK_KEY, "total", "number of all rows", 0);
	desk_rows_result(w, row);
}

json_t *
desk_list_reply(struct desk_call *call, const struct desk_list *list)
{
	return desk_list_add(call, list, json_pack("{s:I}", "total", (json_int_t)list->end));
}
