/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/socket/change.h"

#include <stdio.h>
#include <string.h>

#include "runtime/notice/say.h"

int
change_ask(struct client *c, const char *request, json_t **reply)
{
	*reply = NULL;
	if (strlen(request) >= CLIENT_REQUEST_CHARS)
		return client_fail(c, APP_BAD_USAGE, "%.60s...: expected at most %d characters",
				   request, CLIENT_REQUEST_CHARS);
	return client_ask(c, request, reply);
}

int
change_set(struct client *c, const char *const *keys, unsigned int n, json_t **reply)
{
	char request[CLIENT_REQUEST_CHARS + 1];
	size_t used = (size_t)snprintf(request, sizeof(request), "/quench/set,");

	/* One key a line. change_ask() refuses what is too long. */
	for (unsigned int i = 0; i < n; i++)
		if (used < sizeof(request))
			used += (size_t)snprintf(request + used, sizeof(request) - used, "%s%s",
						 i == 0 ? "" : "\n", keys[i]);
	return change_ask(c, request, reply);
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
	return client_fail(c, APP_BAD_USAGE, "%s: expected a flow that \"show flows\" lists", flow);
}

int
change_flow(struct client *c, const char *flow, const char *key, const char *value, json_t **reply)
{
	char text[CLIENT_REQUEST_CHARS + 1];
	const char *const keys[] = {text};
	int rc = check_flow(c, flow);

	*reply = NULL;
	snprintf(text, sizeof(text), "flow %s.%s=%s", flow, key, value);
	return rc == 0 ? change_set(c, keys, 1, reply) : rc;
}
