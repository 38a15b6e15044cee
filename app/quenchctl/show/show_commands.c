/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of show, set and clear, and the output of their replies. */
#include <stdio.h>
#include <string.h>

#include "base/numbers/array.h"
#include "runtime/notice/say.h"
#include "quenchctl/show/baseline.h"
#include "quenchctl/show/port_texts.h"
#include "quenchctl/show/rates.h"
#include "quenchctl/show/rows.h"
#include "quenchctl/show/show.h"
#include "quenchctl/show/table.h"

static void
compose(char command[COMMAND_CHARS], const char *path, const char *const params[COMMAND_PARAMS])
{
	size_t used = (size_t)snprintf(command, COMMAND_CHARS, "%s", path);

	for (unsigned int i = 0; i < COMMAND_PARAMS && params[i] != NULL; i++)
		used += (size_t)snprintf(command + used,
					 used < COMMAND_CHARS ? COMMAND_CHARS - used : 0, ",%s",
					 params[i]);
}

/* Rows for people. Those that are idle are left out, and counted. */
static void
print_rows(const struct command *command, const struct ctl_options *o, const json_t *rows)
{
	json_t *shown = command->shape != NULL ? command->shape(rows) : json_incref((json_t *)rows);
	size_t hidden;

	if (command->active != NULL && !o->all) {
		json_t *active = rows_in_use(shown, command->active);

		hidden = json_array_size(shown) - json_array_size(active);
		table_rows(stdout, active, command->columns);
		if (hidden > 0)
			printf("%zu idle %s not shown; --all shows them\n", hidden,
			       command->row_noun);
		json_decref(active);
	} else {
		table_rows(stdout, shown, command->columns);
	}
	json_decref(shown);
}

static int
print(const struct command *command, struct client *c, const struct ctl_options *o, json_t *reply)
{
	int rc = 0;
	json_t *rows = command->list != NULL ? json_object_get(reply, command->list) : reply;

	if (rows == NULL) {
		rows = json_array();
		json_object_set_new(reply, command->list, rows);
	}
	if (o->json) {
		json_dumpf(reply, stdout, JSON_INDENT(2));
		putchar('\n');
		return 0;
	}
	if (command->port_texts != NULL)
		rc = port_texts_name(c, command->port_texts, rows);
	if (rc != 0)
		return rc;
	if (command->members == NULL || *command->members != '\0')
		table_members(stdout, reply, command->members);
	if (command->columns != NULL)
		print_rows(command, o, rows);
	return 0;
}

/*
 * The request under which "clear counters" keeps this reply: a port is a number there, however it
 * was named.
 */
static void
baseline_key(char key[COMMAND_CHARS], const char *command, const json_t *reply)
{
	const json_t *port = json_object_get(reply, "port");
	size_t path = strcspn(command, ",");

	if (command[path] == ',' && json_is_integer(port))
		snprintf(key, COMMAND_CHARS, "%.*s,%" JSON_INTEGER_FORMAT "%s", (int)path, command,
			 json_integer_value(port),
			 command + path + 1 + strcspn(command + path + 1, ","));
	else
		snprintf(key, COMMAND_CHARS, "%s", command);
}

static int
ask(struct client *c, const char *command, const json_t *baseline, json_t **reply)
{
	char key[COMMAND_CHARS];
	int rc = client_ask(c, command, reply);

	if (rc == 0) {
		baseline_key(key, command, *reply);
		baseline_subtract(baseline, key, *reply);
	}
	return rc;
}

/* @return 0 and the number of ports, or an exit code. */
static int
count_ports(struct client *c, json_int_t *n)
{
	json_t *info;
	int rc = client_ask(c, "/quench/info", &info);

	if (rc == 0) {
		*n = json_integer_value(json_object_get(info, "ports"));
		json_decref(info);
	}
	return rc;
}

static int
add_port(const struct command *command, struct client *c, const json_t *baseline, const char *port,
	 json_t *rows)
{
	const char *const params[COMMAND_PARAMS] = {port};
	char text[COMMAND_CHARS];
	json_t *reply, *row;
	size_t i;
	int rc;

	compose(text, command->path, params);
	rc = ask(c, text, baseline, &reply);
	if (rc != 0)
		return rc;
	json_array_foreach (json_object_get(reply, command->list), i, row) {
		json_t *with_port = json_object();

		rows_set_port(with_port, reply);
		json_object_update(with_port, row);
		json_array_append_new(rows, with_port);
	}
	json_decref(reply);
	return 0;
}

/* Ask for the list of one port, or for those of all ports, joined to one. */
static int
ask_ports(const struct command *command, struct client *c, const json_t *baseline, const char *port,
	  json_t **reply)
{
	json_t *rows = json_array();
	json_int_t n = 0;
	int rc = port != NULL ? add_port(command, c, baseline, port, rows) : count_ports(c, &n);

	for (json_int_t i = 0; rc == 0 && i < n; i++) {
		char number[24];

		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, i);
		rc = add_port(command, c, baseline, number, rows);
	}
	if (rc != 0)
		json_decref(rows);
	else
		*reply = json_pack("{s:o}", command->list, rows);
	return rc;
}

/* Ask for one reply. With rates, ask twice, for the present rates. */
static int
ask_one(const struct command *command, struct client *c, const json_t *baseline, const char *text,
	json_t **reply)
{
	char key[COMMAND_CHARS];
	uint64_t elapsed_ns;
	int rc;

	if (!command->rates)
		return ask(c, text, baseline, reply);
	rc = rates_ask(c, text, reply, &elapsed_ns);
	if (rc == 0) {
		baseline_key(key, text, *reply);
		baseline_subtract(baseline, key, *reply);
		baseline_mean_rates(baseline, key, *reply, elapsed_ns);
	}
	return rc;
}

int
command_show(const struct command *command, struct client *c, const struct ctl_options *o,
	     const char *const params[COMMAND_PARAMS])
{
	json_t *baseline = o->since_start ? NULL : baseline_load(c), *reply;
	char text[COMMAND_CHARS];
	int rc = check_params(params);

	if (rc == 0 && command->by_port && command->list != NULL) {
		rc = ask_ports(command, c, baseline, params[0], &reply);
	} else if (rc == 0) {
		compose(text, command->path, params);
		rc = ask_one(command, c, baseline, text, &reply);
	}
	json_decref(baseline);
	if (rc != 0)
		return rc;
	rc = print(command, c, o, reply);
	json_decref(reply);
	return rc;
}

int
command_send(const struct command *command, struct client *c, const struct ctl_options *o,
	     const char *const params[COMMAND_PARAMS])
{
	char text[COMMAND_CHARS];
	json_t *reply;
	int rc = check_params(params);

	if (rc != 0)
		return rc;
	compose(text, command->path, params);
	rc = client_ask(c, text, &reply);
	if (rc != 0)
		return rc;
	rc = print(command, c, o, reply);
	json_decref(reply);
	return rc;
}

/* Replies that "clear counters" keeps, by kind. */
static const struct kind {
	const char *name, *program, *path;
	bool by_port;
	bool on_request; /* only if it is named, because it is long */
	bool by_flow;
} kinds[] = {
	{"interface", "quench-switch", "/quench/ports", false, false, false},
	{"interface", "quench-switch", "/quench/port", true, false, false},
	{"interface", "quench-nic", "/quench/port", false, false, false},
	{"queue", "quench-switch", "/quench/queues", true, false, false},
	{"queue", "quench-switch", "/quench/ecn", false, false, false},
	{"priority-group", "quench-switch", "/quench/pg", true, false, false},
	{"pfc", "quench-switch", "/quench/pfc", false, false, false},
	{"pfc", "quench-nic", "/quench/port", false, false, false},
	{"pfcwd", "quench-switch", "/quench/pfcwd", false, false, false},
	{"drop", "quench-switch", "/quench/drops", false, false, false},
	{"router", "quench-switch", "/quench/router", false, false, false},
	{"router", "quench-switch", "/quench/interfaces", false, false, false},
	{"nic", "quench-nic", "/quench/nic", false, false, false},
	{"nic", "quench-nic", "/quench/np", false, false, false},
	{"nic", "quench-nic", "/quench/rp", false, false, false},
	{"flow", "quench-nic", "/quench/flows", false, false, false},
	{"qp", "quench-nic", "/quench/qps", false, true, false},
	{"times", "quench-nic", "/quench/times", false, true, true},
};
#define N_KINDS (ARRAY_LEN(kinds))

static int
keep(struct client *c, const char *command, json_t *replies)
{
	json_t *reply;
	int rc = client_ask(c, command, &reply);

	if (rc == 0)
		json_object_set_new(replies, command, reply);
	return rc;
}

static bool
has_times(const json_t *flow)
{
	static const char *const counts[] = {"completions", "rtt_samples", "paced_gaps",
					     "burst_gaps", "one_way_samples"};

	for (unsigned int i = 0; i < ARRAY_LEN(counts); i++)
		if (client_u64(flow, counts[i]) > 0)
			return true;
	return false;
}

static int
keep_by_flow(struct client *c, const struct kind *k, json_t *replies)
{
	char command[COMMAND_CHARS];
	json_t *flows, *flow;
	int rc = client_ask(c, "/quench/flows", &flows);
	size_t i;

	json_array_foreach (json_object_get(flows, "rows"), i, flow) {
		if (rc != 0 || !has_times(flow))
			continue;
		snprintf(command, sizeof(command), "%s,%s", k->path,
			 json_string_value(json_object_get(flow, "flow")));
		rc = keep(c, command, replies);
	}
	json_decref(flows);
	return rc;
}

static int
keep_kind(struct client *c, const struct kind *k, json_int_t n_ports, json_t *replies)
{
	char command[COMMAND_CHARS];
	int rc = 0;

	if (k->by_flow)
		return keep_by_flow(c, k, replies);
	if (!k->by_port)
		return keep(c, k->path, replies);
	for (json_int_t i = 0; rc == 0 && i < n_ports; i++) {
		snprintf(command, sizeof(command), "%s,%" JSON_INTEGER_FORMAT, k->path, i);
		rc = keep(c, command, replies);
	}
	return rc;
}

/* N in a name stands for each priority. */
static void
add_name(json_t *names, const char *name)
{
	const char *n = strchr(name, 'N');

	if (n == NULL)
		json_array_append_new(names, json_string(name));
	for (unsigned int prio = 0; n != NULL && prio < 8; prio++)
		json_array_append_new(names,
				      json_sprintf("%.*s%u%s", (int)(n - name), name, prio, n + 1));
}

static int
read_counters(struct client *c, json_t *names)
{
	json_t *reply, *row;
	size_t i;
	int rc = client_ask(c, "/quench/counters", &reply);

	if (rc != 0)
		return rc;
	json_array_foreach (json_object_get(reply, "rows"), i, row)
		add_name(names, json_string_value(json_object_get(row, "name")));
	json_decref(reply);
	return 0;
}

static bool
is_wanted(const struct kind *k, const struct client *c, const char *name)
{
	return strcmp(k->program, c->program) == 0 &&
	       (name == NULL ? !k->on_request : strcmp(k->name, name) == 0);
}

int
command_clear_counters(const struct command *command, struct client *c, const struct ctl_options *o,
		       const char *const params[COMMAND_PARAMS])
{
	json_t *replies = json_object(), *names = json_array(), *info;
	unsigned int found = 0;
	json_int_t n_ports = 0;
	int rc = client_ask(c, "/quench/info", &info);

	(void)command;
	(void)o;
	if (rc == 0)
		n_ports = json_integer_value(json_object_get(info, "ports"));
	for (unsigned int i = 0; rc == 0 && i < N_KINDS; i++) {
		if (!is_wanted(&kinds[i], c, params[0]))
			continue;
		rc = keep_kind(c, &kinds[i], n_ports, replies);
		found++;
	}
	if (rc == 0 && found == 0) {
		say_error("%s: expected one of " CLEAR_KINDS ", of a %s", params[0], c->program);
		rc = APP_BAD_USAGE;
	}
	if (rc == 0)
		rc = read_counters(c, names);
	if (rc == 0)
		rc = baseline_keep(c, replies, names, json_object_get(info, "elapsed_ns"));
	json_decref(info);
	json_decref(replies);
	json_decref(names);
	return rc;
}
