/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/web/web_settings.h"

#include <stdio.h>
#include <string.h>

#include "tm/queue/wred.h"
#include "runtime/notice/say.h"
#include "quenchctl/socket/change.h"
#include "quenchctl/top/top_view.h"
#include "quenchctl/web/web_picture.h"

#define KEY_CHARS 160
#define NAME_CHARS 32

/* Keys of a curve: of marks and drops, or of marks if they have a curve of their own. */
struct curve_keys {
	const char *kmin, *kmax, *pmax;
};

static const struct curve_keys shared_keys = {
	"green_min_threshold_bytes", "green_max_threshold_bytes", "green_drop_probability_ppm"};
static const struct curve_keys mark_keys = {"ecn_green_min_threshold_bytes",
					    "ecn_green_max_threshold_bytes",
					    "ecn_green_mark_probability_ppm"};

static const struct curve_keys *
keys_of(const json_t *row)
{
	return top_value(row, mark_keys.kmax) > 0 ? &mark_keys : &shared_keys;
}

/* The value of a key in force, or NULL if it has its default. */
static const char *
value_of(const json_t *config, const char *section, const char *key)
{
	json_t *row;
	size_t i;

	json_array_foreach (json_object_get(config, "rows"), i, row)
		if (strcmp(json_string_value(json_object_get(row, "key")), key) == 0 &&
		    strcmp(json_string_value(json_object_get(row, "section")), section) == 0)
			return json_string_value(json_object_get(row, "value"));
	return NULL;
}

/* The profile of a queue: "" is [wred]. */
static const char *
profile_of(const json_t *config, const json_t *row)
{
	char section[32];
	const char *profile;

	snprintf(section, sizeof(section), "queue %.0f|%.0f", top_value(row, "port"),
		 top_value(row, "queue"));
	profile = value_of(config, section, "wred_profile");
	return profile == NULL || strcmp(profile, "default") == 0 ? "" : profile;
}

static json_t *
queue_of(const json_t *config, const json_t *row)
{
	const struct curve_keys *keys = keys_of(row);
	char port[WEB_PORT_CHARS], name[64];

	snprintf(name, sizeof(name), "%s queue %.0f", web_port(row, port), top_value(row, "queue"));
	return json_pack("{s:O,s:O,s:s,s:s,s:O,s:O,s:O}", "port", json_object_get(row, "port"),
			 "queue", json_object_get(row, "queue"), "name", name, "profile",
			 profile_of(config, row), "Kmin", json_object_get(row, keys->kmin), "Kmax",
			 json_object_get(row, keys->kmax), "Pmax",
			 json_object_get(row, keys->pmax));
}

static void
count_sharing(json_t *queues)
{
	json_t *a, *b;
	size_t i, k;

	json_array_foreach (queues, i, a) {
		json_int_t n = 0;

		json_array_foreach (queues, k, b)
			n += json_equal(json_object_get(a, "profile"),
					json_object_get(b, "profile"));
		json_object_set_new(a, "sharing", json_integer(n));
	}
}

static json_t *
queues_of(const json_t *config, const json_t *rows)
{
	json_t *queues = json_array(), *row;
	size_t i;

	json_array_foreach (rows, i, row)
		json_array_append_new(queues, queue_of(config, row));
	count_sharing(queues);
	return json_pack("{s:o}", "queues", queues);
}

static json_t *
flows_of(const json_t *config, const json_t *rows)
{
	json_t *flows = json_array(), *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		const char *flow = json_string_value(json_object_get(row, "flow"));
		double qps = top_value(row, "qps"), cap = top_value(row, "configured_rate_bps");
		const char *stopped;
		char section[KEY_CHARS];

		if (flow == NULL || top_value(row, "gone") != 0)
			continue;
		snprintf(section, sizeof(section), "flow %s", flow);
		stopped = value_of(config, section, "stopped");
		json_array_append_new(flows,
				      json_pack("{s:s,s:f,s:b}", "flow", flow, "cap",
						qps > 0 ? cap / qps : 0, "stopped",
						stopped != NULL && strcmp(stopped, "on") == 0));
	}
	return json_pack("{s:o}", "flows", flows);
}

static bool
is_switch(const struct client *c)
{
	return strcmp(c->program, "quench-switch") == 0;
}

int
web_settings(struct client *c, json_t **settings)
{
	json_t *config, *reply;
	const json_t *rows;
	int rc = client_ask(c, "/quench/config", &config);

	*settings = NULL;
	if (rc != 0)
		return rc;
	rc = is_switch(c) ? client_ask(c, "/quench/ecn", &reply)
			  : client_ask_first(c, "/quench/flows", READING_FLOWS, &reply);
	rows = json_object_get(reply, "rows");
	if (rc == 0)
		*settings = is_switch(c) ? queues_of(config, rows) : flows_of(config, rows);
	json_decref(config);
	json_decref(reply);
	return rc;
}

#define MOST_KEYS 16

/* Keys of a change in the making. */
struct change {
	unsigned int n;
	char text[MOST_KEYS][KEY_CHARS];
	const char *keys[MOST_KEYS];
};

static void
add_key(struct change *change, const char *profile, const char *key, const char *value)
{
	char *text = change->text[change->n];

	if (value == NULL)
		return;
	snprintf(text, KEY_CHARS, "wred%s%s.%s=%s", *profile == '\0' ? "" : " ", profile, key,
		 value);
	change->keys[change->n++] = text;
}

/* Copy the keys of the profile that the queue has now, but for those that change. */
static void
copy_curve(struct change *change, const char *profile, const json_t *row,
	   const struct web_curve *curve)
{
	const struct curve_keys *keys = keys_of(row);

	for (unsigned int i = 0; i < wred_fields_n; i++) {
		const char *key = wred_fields[i].name;
		const json_t *value = json_object_get(row, key);
		char number[32];

		if (value == NULL || (curve->kmin != NULL && strcmp(key, keys->kmin) == 0) ||
		    (curve->kmax != NULL && strcmp(key, keys->kmax) == 0) ||
		    (curve->pmax != NULL && strcmp(key, keys->pmax) == 0))
			continue;
		snprintf(number, sizeof(number), "%.0f", json_number_value(value));
		add_key(change, profile, key,
			json_is_string(value)    ? json_string_value(value)
			: json_is_boolean(value) ? (json_is_true(value) ? "on" : "off")
						 : number);
	}
}

static bool
is_profile(const json_t *config, const char *name)
{
	char section[KEY_CHARS];
	json_t *row;
	size_t i;

	snprintf(section, sizeof(section), "wred %s", name);
	json_array_foreach (json_object_get(config, "rows"), i, row)
		if (strcmp(json_string_value(json_object_get(row, "section")), section) == 0 ||
		    (strcmp(json_string_value(json_object_get(row, "key")), "wred_profile") == 0 &&
		     strcmp(json_string_value(json_object_get(row, "value")), name) == 0))
			return true;
	return false;
}

/* A name that no profile has: one of the first choice may be another queue's by now. */
static void
name_profile(const json_t *config, const json_t *row, char name[NAME_CHARS])
{
	int n = snprintf(name, NAME_CHARS, "web-%.0f-%.0f", top_value(row, "port"),
			 top_value(row, "queue"));

	for (unsigned int i = 2; is_profile(config, name); i++)
		snprintf(name + n, NAME_CHARS - (size_t)n, "-%u", i);
}

/* Change the curve of a queue with this row, among those of all queues. */
static int
change_curve(struct client *c, const json_t *config, const json_t *rows, const json_t *row,
	     bool only, const struct web_curve *curve, json_t **reply)
{
	const struct curve_keys *keys = keys_of(row);
	const char *profile = profile_of(config, row);
	struct change change = {0};
	char own[NAME_CHARS], queue[KEY_CHARS];
	unsigned int sharing = 0;
	json_t *other;
	size_t i;

	json_array_foreach (rows, i, other)
		sharing += strcmp(profile_of(config, other), profile) == 0;
	if (only && sharing > 1) {
		name_profile(config, row, own);
		profile = own;
		copy_curve(&change, profile, row, curve);
		snprintf(queue, sizeof(queue), "queue %.0f|%.0f.wred_profile=%s",
			 top_value(row, "port"), top_value(row, "queue"), own);
		change.keys[change.n++] = queue;
	}
	add_key(&change, profile, keys->kmin, curve->kmin);
	add_key(&change, profile, keys->kmax, curve->kmax);
	add_key(&change, profile, keys->pmax, curve->pmax);
	return change_set(c, change.keys, change.n, reply);
}

int
web_settings_curve(struct client *c, json_int_t port, json_int_t queue, bool only,
		   const struct web_curve *curve, json_t **reply)
{
	static const char *const by[] = {"port", "queue", NULL};
	json_t *config = NULL, *ecn = NULL, *like;
	const json_t *rows, *row;
	int rc = client_ask(c, "/quench/config", &config);

	*reply = NULL;
	if (rc == 0)
		rc = client_ask(c, "/quench/ecn", &ecn);
	like = json_pack("{s:I,s:I}", "port", port, "queue", queue);
	rows = json_object_get(ecn, "rows");
	row = top_row(rows, like, by);
	if (rc == 0 && row == NULL)
		rc = client_fail(c, APP_BAD_USAGE,
				 "port %" JSON_INTEGER_FORMAT " queue %" JSON_INTEGER_FORMAT
				 ": expected a queue with a WRED curve",
				 port, queue);
	if (rc == 0)
		rc = change_curve(c, config, rows, row, only, curve, reply);
	json_decref(like);
	json_decref(config);
	json_decref(ecn);
	return rc;
}
