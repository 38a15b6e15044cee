/* SPDX-License-Identifier: BSD-3-Clause */
/* reload, set, start, stop and remove: change the configuration of the program. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/notice/say.h"
#include "quenchctl/show/show.h"
#include "quenchctl/show/table.h"

static void
print_changes(const struct ctl_options *o, const json_t *reply)
{
	json_int_t changed = json_integer_value(json_object_get(reply, "changed"));
	const json_t *rows = json_object_get(reply, "rows");

	if (o->json) {
		json_dumpf(reply, stdout, JSON_INDENT(2));
		putchar('\n');
		return;
	}
	if (changed == 0) {
		puts("nothing to change: all keys have these values already");
		return;
	}
	table_rows(stdout, rows, "section key from to");
	if ((size_t)changed > json_array_size(rows))
		printf("and %zu more\n", (size_t)changed - json_array_size(rows));
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

static int
send_change(struct client *c, const struct ctl_options *o, const char *request)
{
	json_t *reply;
	int rc;

	if (strlen(request) >= CLIENT_REQUEST_CHARS) {
		say_error("%.60s...: expected at most %d characters", request,
			  CLIENT_REQUEST_CHARS);
		return APP_BAD_USAGE;
	}
	rc = client_ask(c, request, &reply);
	if (rc != 0)
		return rc;
	print_changes(o, reply);
	print_outcome(o, reply);
	json_decref(reply);
	return 0;
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
	char request[CLIENT_REQUEST_CHARS + 1];
	size_t n = (size_t)snprintf(request, sizeof(request), "%s,", command->path);

	/* One key a line. send_change() refuses what is too long. */
	for (unsigned int i = 0; i < COMMAND_PARAMS && params[i] != NULL; i++)
		if (n < sizeof(request))
			n += (size_t)snprintf(request + n, sizeof(request) - n, "%s%s",
					      i == 0 ? "" : "\n", params[i]);
	return send_change(c, o, request);
}

int
command_remove_flow(const struct command *command, struct client *c, const struct ctl_options *o,
		    const char *const params[COMMAND_PARAMS])
{
	char request[CLIENT_REQUEST_CHARS + 1];

	snprintf(request, sizeof(request), "%s,%s", command->path, params[0]);
	return send_change(c, o, request);
}

/* Is there such a flow? Setting a key of an unknown one would begin a new flow. */
static int
check_flow(struct client *c, const char *flow)
{
	json_t *reply, *row;
	bool found = false;
	size_t i;
	int rc = client_ask(c, "/quench/flows", &reply);

	if (rc != 0)
		return rc;
	json_array_foreach (json_object_get(reply, "rows"), i, row) {
		const char *name = json_string_value(json_object_get(row, "flow"));

		found |= name != NULL && strcmp(name, flow) == 0 &&
			 json_integer_value(json_object_get(row, "gone")) == 0;
	}
	json_decref(reply);
	if (found)
		return 0;
	say_error("%s: expected a flow that \"show flows\" lists", flow);
	return APP_BAD_USAGE;
}

static int
set_stopped(const struct command *command, struct client *c, const struct ctl_options *o,
	    const char *flow, const char *value)
{
	char request[CLIENT_REQUEST_CHARS + 1];
	int rc = check_flow(c, flow);

	snprintf(request, sizeof(request), "%s,flow %s.stopped=%s", command->path, flow, value);
	return rc == 0 ? send_change(c, o, request) : rc;
}

int
command_start_flow(const struct command *command, struct client *c, const struct ctl_options *o,
		   const char *const params[COMMAND_PARAMS])
{
	return set_stopped(command, c, o, params[0], "off");
}

int
command_stop_flow(const struct command *command, struct client *c, const struct ctl_options *o,
		  const char *const params[COMMAND_PARAMS])
{
	return set_stopped(command, c, o, params[0], "on");
}
