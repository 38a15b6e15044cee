/* SPDX-License-Identifier: BSD-3-Clause */
/* reload, set, start, stop and remove: change the configuration of the program. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/notice/say.h"
#include "quenchctl/socket/change.h"
#include "quenchctl/show/port_texts.h"
#include "quenchctl/show/show.h"
#include "quenchctl/show/table.h"

/* A warning may take several texts. The program's log has those that the reply has no room for. */
static void
say_warnings(const json_t *reply)
{
	const json_t *pieces = json_object_get(reply, "warnings"), *piece;
	json_int_t all = json_integer_value(json_object_get(reply, "n_warnings")), number = 0;
	char text[1024] = "";
	size_t i;

	json_array_foreach (pieces, i, piece) {
		json_int_t of = json_integer_value(json_object_get(piece, "warning"));
		const char *more = json_string_value(json_object_get(piece, "text"));

		if (of != number && number > 0)
			say_warning("%s", text);
		if (of != number)
			*text = '\0';
		number = of;
		if (more != NULL)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", more);
	}
	if (number > 0)
		say_warning("%s", text);
	if (all > number)
		say_warning("%lld more warnings are in the log of the program",
			    (long long)(all - number));
}

static int
print_changes(struct client *c, const struct ctl_options *o, const json_t *reply)
{
	json_int_t changed = json_integer_value(json_object_get(reply, "changed"));
	json_t *rows = json_object_get(reply, "rows");
	int rc;

	if (o->json) {
		json_dumpf(reply, stdout, JSON_INDENT(2));
		putchar('\n');
		return 0;
	}
	if (changed == 0) {
		puts("nothing to change: all keys have these values already");
		return 0;
	}
	rc = port_texts_name(c, "section", rows);
	if (rc != 0)
		return rc;
	table_rows(stdout, rows, "section key from to");
	if ((size_t)changed > json_array_size(rows))
		printf("and %zu more\n", (size_t)changed - json_array_size(rows));
	return 0;
}

/* Print a line if the change is not in force yet, or took long. */
static void
print_outcome(const struct ctl_options *o, const json_t *reply)
{
	json_int_t waited_us = json_integer_value(json_object_get(reply, "waited_us"));

	if (o->json)
		return;
	if (json_integer_value(json_object_get(reply, "in_force")) == 0)
		printf("accepted, but not in force on all lcores after %.1f s: they are busy or "
		       "stopped\n",
		       (double)waited_us / 1e6);
	else if (waited_us >= 100000)
		printf("in force after %.1f s\n", (double)waited_us / 1e6);
}

/* Print the outcome of a change. */
static int
finish(struct client *c, const struct ctl_options *o, int rc, json_t *reply)
{
	if (rc != 0)
		return rc;
	say_warnings(reply);
	rc = print_changes(c, o, reply);
	print_outcome(o, reply);
	json_decref(reply);
	return rc;
}

static int
send_change(struct client *c, const struct ctl_options *o, const char *request)
{
	json_t *reply;
	int rc = change_ask(c, request, &reply);

	return finish(c, o, rc, reply);
}

int
command_reload(const struct command *command, struct client *c, const struct ctl_options *o,
	       const char *const params[COMMAND_PARAMS])
{
	char request[PATH_MAX + 64], path[PATH_MAX];

	if (params[0] == NULL)
		return send_change(c, o, command->path);
	/* The program may run in another folder. */
	if (realpath(params[0], path) == NULL) {
		say_error("%s: %s", params[0], strerror(errno));
		return APP_BAD_USAGE;
	}
	snprintf(request, sizeof(request), "%s,%s", command->path, path);
	return send_change(c, o, request);
}

int
command_set_key(const struct command *command, struct client *c, const struct ctl_options *o,
		const char *const params[COMMAND_PARAMS])
{
	unsigned int n = 0;
	json_t *reply;
	int rc;

	(void)command;
	while (n < COMMAND_PARAMS && params[n] != NULL)
		n++;
	rc = change_set(c, params, n, &reply);
	return finish(c, o, rc, reply);
}

int
command_remove_flow(const struct command *command, struct client *c, const struct ctl_options *o,
		    const char *const params[COMMAND_PARAMS])
{
	char request[CLIENT_REQUEST_CHARS + 1];

	snprintf(request, sizeof(request), "%s,%s", command->path, params[0]);
	return send_change(c, o, request);
}

static int
set_stopped(struct client *c, const struct ctl_options *o, const char *flow, const char *value)
{
	json_t *reply;
	int rc = change_flow(c, flow, "stopped", value, &reply);

	return finish(c, o, rc, reply);
}

int
command_start_flow(const struct command *command, struct client *c, const struct ctl_options *o,
		   const char *const params[COMMAND_PARAMS])
{
	(void)command;
	return set_stopped(c, o, params[0], "off");
}

int
command_stop_flow(const struct command *command, struct client *c, const struct ctl_options *o,
		  const char *const params[COMMAND_PARAMS])
{
	(void)command;
	return set_stopped(c, o, params[0], "on");
}
