/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/show/rates.h"

#include <time.h>

#include "runtime/notice/monotonic.h"

#define BETWEEN_NS 500000000l

static void
set_rate(json_t *row, const json_t *before, double seconds)
{
	const json_t *now = json_object_get(row, "wire_bytes");
	const json_t *was =
		json_object_get(before, json_string_value(json_object_get(row, "flow")));
	double bytes = json_number_value(now) - json_number_value(was);

	if (was != NULL)
		json_object_set_new(row, "present_wire_rate_bps",
				    json_integer((json_int_t)(bytes * 8 / seconds + 0.5)));
}

/* Bytes by name of the flow. */
static json_t *
bytes_of(const json_t *reply)
{
	json_t *bytes = json_object(), *row;
	size_t i;

	json_array_foreach (json_object_get(reply, "rows"), i, row) {
		const char *flow = json_string_value(json_object_get(row, "flow"));

		if (flow != NULL)
			json_object_set(bytes, flow, json_object_get(row, "wire_bytes"));
	}
	return bytes;
}

static int
ask_time(struct client *c, uint64_t *elapsed_ns)
{
	json_t *info;
	int rc = client_ask(c, "/quench/info", &info);

	*elapsed_ns = (uint64_t)json_integer_value(json_object_get(info, "elapsed_ns"));
	json_decref(info);
	return rc;
}

int
rates_ask(struct client *c, const char *command, json_t **reply, uint64_t *elapsed_ns)
{
	const struct timespec between = {.tv_nsec = BETWEEN_NS};
	uint64_t first_ns = monotonic_ns(), ns;
	json_t *before, *row;
	size_t i;
	int rc = client_ask(c, command, reply);

	if (rc != 0)
		return rc;
	before = bytes_of(*reply);
	json_decref(*reply);
	nanosleep(&between, NULL);
	/* A row is read as long after the request as in the first reply. */
	ns = monotonic_ns() - first_ns;
	rc = client_ask(c, command, reply);
	json_array_foreach (json_object_get(*reply, "rows"), i, row)
		set_rate(row, before, (double)ns / 1e9);
	json_decref(before);
	if (rc == 0)
		rc = ask_time(c, elapsed_ns);
	if (rc != 0) {
		json_decref(*reply);
		*reply = NULL;
	}
	return rc;
}
