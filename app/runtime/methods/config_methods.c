/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/methods/methods.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/units.h"
#include "ctl/config/config_edit.h"
#include "ctl/output/json.h"
#include "runtime/notice/say.h"

/* Longest text of a log line about a change. */
#define SAID_CHARS 900
/* @param c  NULL with names_only. */
static void
walk_change(struct walk *w, const struct config_change *c)
{
	WALK(text, w, KEY, "section", "section of the file", c->section);
	WALK(text, w, KEY, "key", "the key; empty: the section itself was added or removed",
	     c->field == NULL ? "" : c->field->name);
	WALK(text, w, KEY, "from", "value before, or in the file", c->from);
	WALK(text, w, KEY, "to", "value in force", c->to);
}

static void
keep_change(void *rows, const struct config_change *change)
{
	json_t *row = json_object();
	struct json_walk j = json_walk(row);

	walk_change(&j.walk, change);
	json_array_append_new(rows, row);
}

static void
keep_warning(void *warnings, const char *text)
{
	char plain[DESK_ERROR_CHARS + 1];

	snprintf(plain, sizeof(plain), "%s", text);
	desk_make_plain(plain);
	json_array_append_new(warnings, json_string(plain));
}

/* Log an accepted change in one line. */
static void
say_change(const struct active_config_request *r, const struct desk_peer *peer, uint64_t n)
{
	const char *command = "reload", *what = r->path;
	char text[SAID_CHARS + 1] = "", by[DESK_PEER_CHARS];

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
	say_event(false, command, "%s%s: %" PRIu64 " key%s changed; changed=%" PRIu64 " %s",
		  command, text, n, n == 1 ? "" : "s", n, desk_peer_text(peer->pid, peer->uid, by));
}

/* @param out  NULL with names_only. */
static void
walk_outcome(struct walk *w, uint64_t changed, const struct active_config_outcome *out)
{
	walk_number(w, WALK_KEY, "changed", "number of changed keys", changed);
	WALK(flag, w, KEY, "in_force",
	     "whether all lcores have the change; false: it is pending, or was only tried",
	     out->in_force);
	WALK(number, w, KEY, "waited_us", "time waited for the lcores", out->waited_ns / NS_PER_US);
}

void
config_change_result(struct walk *w)
{
	walk_outcome(w, 0, NULL);
	walk_texts(w, "warnings", "warnings about the configuration, as of --check-config");
	walk_item(w, "rows");
	walk_change(w, NULL);
	walk_leave(w);
}

void
config_changes_result(struct walk *w)
{
	walk_number(w, WALK_KEY, "total", "number of keys", 0);
	walk_item(w, "rows");
	walk_change(w, NULL);
	walk_leave(w);
}

void
config_result(struct walk *w)
{
	walk_item(w, "rows");
	walk_text(w, WALK_KEY, "section", "section of the file; [pg P|N] is group N of port P",
		  NULL);
	walk_text(w, WALK_KEY, "key", "a key that differs from its default", NULL);
	walk_text(w, WALK_KEY, "value", "value in force", NULL);
	walk_flag(w, WALK_KEY, "live", "whether it can change while the program runs", false);
	walk_leave(w);
}

static json_t *
change_reply(struct desk_call *call, struct active_config_request request)
{
	const struct say_keeper keeper = {.keep = keep_warning, .only = desk_flag(call, "dry_run")};
	json_t *rows = json_array(), *warnings = json_array(), *o = NULL;
	struct active_config_outcome out = {0};
	struct config_error err;
	int rc;

	request.dry_run = keeper.only;
	request.visit = keep_change;
	request.arg = rows;
	say_keep_warnings(&keeper, warnings);
	rc = active_config_change(call->desk->active, &request, &out, &err);
	say_keep_warnings(NULL, NULL);

	if (rc != 0) {
		desk_refuse_line(call, err.text);
		if (rc == -ETIMEDOUT || rc == -ESHUTDOWN)
			call->code = DESK_NO_ANSWER;
	} else {
		struct json_walk j;

		o = json_object();
		j = json_walk(o);
		walk_outcome(&j.walk, json_array_size(rows), &out);
		json_object_set(o, "warnings", warnings);
		json_object_set(o, "rows", rows);
		if (!request.dry_run)
			say_change(&request, call->peer, json_array_size(rows));
	}
	json_decref(rows);
	json_decref(warnings);
	return o;
}

json_t *
config_reload_reply(struct desk_call *call)
{
	char digits[DESK_DIGITS];
	const char *path = desk_word(call, "file", digits);

	/* The program reads it with its own rights, and a refusal quotes its lines. */
	if (path != NULL && call->peer->access < DESK_OWN) {
		desk_refuse(call, "root, or the user of the program",
			    "reload: user %u may not name a file", call->peer->uid);
		call->code = DESK_FORBIDDEN;
		return NULL;
	}
	return change_reply(call, (struct active_config_request){.path = path});
}

json_t *
config_set_reply(struct desk_call *call)
{
	char *lines = desk_words(call, "settings", '\n');
	json_t *o;

	if (lines == NULL)
		return NULL;
	if (*lines == '\0')
		o = desk_refuse_param(call, "SECTION.KEY=VALUE, such as wred.Kmax=400KB",
				      "there is nothing to set");
	else
		o = change_reply(call, (struct active_config_request){.set = lines});
	free(lines);
	return o;
}

json_t *
config_remove_reply(struct desk_call *call, const char *sections)
{
	return change_reply(call, (struct active_config_request){.remove = sections});
}

json_t *
config_changes_reply(struct desk_call *call)
{
	json_t *rows = json_array();
	struct config_error err;

	if (active_config_compare(call->desk->active, keep_change, rows, &err) != 0) {
		json_decref(rows);
		return desk_refuse_line(call, err.text);
	}
	return json_pack("{s:I, s:o}", "total", (json_int_t)json_array_size(rows), "rows", rows);
}

static void
add_key(json_t *keys, const struct config_row *row, const struct field *f)
{
	char value[FIELD_VALUE_SIZE];

	field_format(f, row->object, value, sizeof(value));
	if (!config_is_default(f, value))
		json_array_append_new(keys, json_pack("{s:s, s:s, s:s, s:b}", "section",
						      row->section, "key", f->name, "value", value,
						      "live", f->live && !row->fixed));
}

json_t *
config_reply(struct desk_call *call)
{
	struct active_config *active = call->desk->active;
	struct config_rows rows = {0};
	json_t *keys = json_array();

	active->ops->rows(active_config_running_begin(active), &rows);
	for (unsigned int i = 0; i < rows.n; i++)
		for (unsigned int k = 0; k < rows.rows[i].n; k++)
			add_key(keys, &rows.rows[i], &rows.rows[i].fields[k]);
	active_config_running_end(active);
	config_rows_free(&rows);
	return json_pack("{s:o}", "rows", keys);
}

void
config_file_result(struct walk *w)
{
	walk_text(w, WALK_KEY, "file", "path of the last file read", NULL);
	walk_text(w, WALK_KEY, "text",
		  "a file of the values in force: the last one read, edited; or all keys", NULL);
	walk_texts(w, "lost",
		   "why the file could not be edited, so that its comments are lost; at most one");
}

/* JSON is UTF-8. Other comments of a file are taken as Latin-1, whose letters then stay. */
static json_t *
text_of(const char *text)
{
	json_t *whole = json_string(text);
	char *utf8 = whole != NULL ? NULL : malloc(2 * strlen(text) + 1), *at = utf8;

	if (utf8 == NULL)
		return whole;
	for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
		if (*c < 0x80) {
			*at++ = (char)*c;
		} else {
			*at++ = (char)(0xc0 | *c >> 6);
			*at++ = (char)(0x80 | (*c & 0x3f));
		}
	}
	*at = '\0';
	whole = json_string(utf8);
	free(utf8);
	return whole;
}

json_t *
config_file_reply(struct desk_call *call)
{
	struct active_config_text text;
	struct config_error err;
	json_t *lost = json_array(), *o;

	if (active_config_text(call->desk->active, &text, &err) != 0) {
		json_decref(lost);
		return desk_refuse_line(call, err.text);
	}
	if (!text.is_edited)
		keep_warning(lost, text.why.text);
	o = json_pack("{s:s?, s:o, s:o}", "file", text.path, "text", text_of(text.text), "lost",
		      lost);
	active_config_text_free(&text);
	return o;
}

#define DRY_RUN_PARAM                                                                              \
	{                                                                                          \
		"dry_run", DESK_FLAG, false, "true: say what would change, and change nothing"     \
	}

const struct desk_param config_file_params[] = {
	{"file", DESK_WORD, false, "path of the file; the last one read without it"},
	DRY_RUN_PARAM,
	{0},
};

const struct desk_param config_set_params[] = {
	{"settings", DESK_WORDS, true, "SECTION.KEY=VALUE, such as wred.Kmax=400KB; one change"},
	DRY_RUN_PARAM,
	{0},
};
