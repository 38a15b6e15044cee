/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/report/telemetry_config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/numbers/units.h"
#include "runtime/report/report.h"
#include "runtime/notice/say.h"

/* Longest parameters of a command, with a blank before them. */
#define PARAMS_CHARS 900
/* Room for the largest members, a FIELD_STR or a map. */
#define MEMBER_BYTES 256

/* Most pieces of warnings in a reply. */
#define WARNING_PIECES 48u

struct key_list {
	json_t *object;
	struct telemetry_page page;
	uint64_t n, first; /* n: number of all keys; those before number `first` are not listed */
	bool full;
};

static struct key_list
begin_list(uint64_t first)
{
	struct key_list c = {.object = json_object(), .first = first};

	telemetry_page_begin(&c.page, c.object);
	return c;
}

static json_t *
change_row(const struct config_change *change)
{
	json_t *row = json_object();

	json_object_set_new(row, "section", json_string(change->section));
	json_object_set_new(row, "key",
			    json_string(change->field == NULL ? "" : change->field->name));
	json_object_set_new(row, "from", json_string(change->from));
	json_object_set_new(row, "to", json_string(change->to));
	return row;
}

/* A change that is made, and the warnings about its result. */
struct change_list {
	json_t *rows, *warnings;
	unsigned int n_warnings;
	bool full; /* no room in a reply for further warnings */
};

static void
keep_change(void *arg, const struct config_change *change)
{
	json_array_append_new(((struct change_list *)arg)->rows, change_row(change));
}

/* Texts of DPDK are short: a warning may take several. */
static void
keep_warning(void *arg, const char *text)
{
	struct change_list *list = arg;
	size_t n = strlen(text), pieces = n / TELEMETRY_ERROR_CHARS + 1;

	list->n_warnings++;
	list->full |= json_array_size(list->warnings) + pieces > WARNING_PIECES;
	if (list->full)
		return;
	for (size_t at = 0; at < n; at += TELEMETRY_ERROR_CHARS) {
		char piece[TELEMETRY_ERROR_CHARS + 1];

		snprintf(piece, sizeof(piece), "%s", text + at);
		telemetry_make_plain(piece);
		json_array_append_new(
			list->warnings,
			json_pack("{s:i, s:s}", "warning", (int)list->n_warnings, "text", piece));
	}
}

/* Add rows as long as they fit. The others are made too, but a change has no next page. */
static void
add_changes(json_t *o, const json_t *rows)
{
	struct telemetry_page page;
	bool fits = true;
	size_t i;
	json_t *row;

	telemetry_page_begin(&page, o);
	json_array_foreach (rows, i, row)
		fits = fits && telemetry_page_add(&page, json_incref(row), i);
	json_object_del(o, "next");
}

static void
add_change(void *arg, const struct config_change *change)
{
	struct key_list *c = arg;
	json_t *row = change_row(change);

	if (c->full || c->n < c->first)
		json_decref(row);
	else
		c->full = !telemetry_page_add(&c->page, row, c->n);
	c->n++;
}

/* Log an accepted change in one line. */
static void
say_change(const struct active_config_request *r, uint64_t n)
{
	const char *command = "reload", *what = r->path;
	char text[PARAMS_CHARS + 1] = "";

	if (r->set != NULL) {
		command = "set";
		what = r->set;
	} else if (r->remove != NULL) {
		command = "remove";
		what = r->remove;
	}
	if (what != NULL)
		snprintf(text, sizeof(text), " %s", what);
	for (char *at = text; (at = strchr(at, '\n')) != NULL;)
		*at = ' ';
	say("%s%s: %" PRIu64 " keys changed", command, text, n);
}

static json_t *
change_reply(struct telemetry_call *call, struct active_config_request request)
{
	struct change_list list = {.rows = json_array(), .warnings = json_array()};
	struct active_config_outcome out;
	struct config_error err;
	json_t *o = NULL;
	int rc;

	request.visit = keep_change;
	request.arg = &list;
	say_keep_warnings(keep_warning, &list);
	rc = active_config_change(call->telemetry->active, &request, &out, &err);
	say_keep_warnings(NULL, NULL);

	if (rc != 0) {
		telemetry_refuse_line(call, err.text);
	} else {
		o = json_object();
		report_set_u64(o, "changed", json_array_size(list.rows));
		json_object_set_new(o, "in_force", json_boolean(out.in_force));
		report_set_u64(o, "waited_us", out.waited_ns / NS_PER_US);
		report_set_u64(o, "n_warnings", list.n_warnings);
		if (list.n_warnings > 0)
			json_object_set(o, "warnings", list.warnings);
		add_changes(o, list.rows);
		say_change(&request, json_array_size(list.rows));
	}
	json_decref(list.rows);
	json_decref(list.warnings);
	return o;
}

json_t *
config_reload_reply(struct telemetry_call *call)
{
	return change_reply(call, (struct active_config_request){
					  .path = call->n_args > 0 ? call->args[0] : NULL});
}

json_t *
config_set_reply(struct telemetry_call *call)
{
	if (call->n_args == 0)
		return telemetry_refuse(call, "SECTION.KEY=VALUE, such as wred.Kmax=400KB",
					"there is nothing to set");
	return change_reply(call, (struct active_config_request){.set = call->args[0]});
}

json_t *
config_remove_reply(struct telemetry_call *call, const char *section)
{
	return change_reply(call, (struct active_config_request){.remove = section});
}

json_t *
config_changes_reply(struct telemetry_call *call)
{
	struct config_error err;
	uint64_t first = 0;
	struct key_list c;

	if (!telemetry_optional_number(call, 0, "FIRST", 0, UINT32_MAX, &first))
		return NULL;
	c = begin_list(first);
	if (active_config_compare(call->telemetry->active, add_change, &c, &err) != 0) {
		json_decref(c.object);
		return telemetry_refuse_line(call, err.text);
	}
	report_set_u64(c.object, "total", c.n);
	return c.object;
}

static bool
is_default(const struct field *f, const char *value)
{
	char member[MEMBER_BYTES] = {0}, text[FIELD_TEXT_SIZE];
	struct field alone = *f;

	alone.offset = 0;
	if (f->def == NULL || field_parse(&alone, NULL, f->def, member, NULL, 0) != 0)
		return false;
	field_format(&alone, member, text, sizeof(text));
	return strcmp(text, value) == 0;
}

static bool
add_key(struct key_list *c, const struct config_row *row, const struct field *f)
{
	char value[FIELD_TEXT_SIZE];

	field_format(f, row->object, value, sizeof(value));
	if (is_default(f, value))
		return true;
	if (c->n++ < c->first)
		return true;
	return telemetry_page_add(&c->page,
				  json_pack("{s:s, s:s, s:s, s:b}", "section", row->section, "key",
					    f->name, "value", value, "live",
					    f->live && !row->fixed),
				  c->n - 1);
}

json_t *
config_reply(struct telemetry_call *call)
{
	struct active_config *active = call->telemetry->active;
	struct config_rows rows = {0};
	uint64_t first = 0;
	bool fits = true;
	struct key_list c;

	if (!telemetry_optional_number(call, 0, "FIRST", 0, UINT32_MAX, &first))
		return NULL;
	c = begin_list(first);
	active->ops->rows(active_config_running_begin(active), &rows);
	for (unsigned int i = 0; fits && i < rows.n; i++) {
		for (unsigned int k = 0; fits && k < rows.rows[i].n; k++)
			fits = add_key(&c, &rows.rows[i], &rows.rows[i].fields[k]);
	}
	active_config_running_end(active);
	config_rows_free(&rows);
	return c.object;
}
