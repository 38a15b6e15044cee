/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/top/snapshot.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/array.h"
#include "runtime/notice/monotonic.h"
#include "runtime/notice/say.h"
#include "quenchctl/show/rows.h"

/*
 * Limits of a snapshot. A program that has not answered after READING_NS counts as silent. Too many
 * bytes in a snapshot, or rows in a reply, are another error.
 */
#define READING_NS 4000000000ull
#define READING_BYTES (4u << 20)
#define READING_ROWS 1024u

/* A command of a snapshot. */
struct question {
	const char *path;
	const char *name;
	const char *list; /* key of a list that is asked for per port, and joined */
	bool some;        /* only the first READING_FLOWS rows */
};

static const struct question of_switch[] = {
	{"/quench/ports", "ports", NULL, false}, {"/quench/ecn", "ecn", NULL, false},
	{"/quench/drops", "drops", NULL, false}, {"/quench/pfc", "pfc", NULL, false},
	{"/quench/pfcwd", "pfcwd", NULL, false}, {"/quench/buffer", "buffer", NULL, false},
	{"/quench/pg", "pg", "pgs", false},
};
static const struct question of_nic[] = {
	{"/quench/nic", "nic", NULL, false},    {"/quench/port,0", "port", NULL, false},
	{"/quench/rp", "rp", NULL, false},      {"/quench/np", "np", NULL, false},
	{"/quench/flows", "flows", NULL, true},
};

/* Join the lists of all ports, each element with its port. */
static int
ask_by_port(struct client *c, const struct question *q, const json_t *ports, json_t **reply)
{
	json_t *all = json_array(), *port, *element;
	size_t p, i;
	int rc = 0;

	json_array_foreach (ports, p, port) {
		char command[64];
		json_t *one;

		snprintf(command, sizeof(command), "%s,%zu", q->path, p);
		rc = client_ask(c, command, &one);
		if (rc != 0)
			break;
		json_array_foreach (json_object_get(one, q->list), i, element) {
			rows_set_port(element, port);
			json_array_append(all, element);
		}
		json_decref(one);
		/*
		 * Leave out the other ports: top and web compare each row with every row of the
		 * previous snapshot.
		 */
		if (json_array_size(all) > READING_ROWS)
			break;
	}
	*reply = json_pack("{s:o}", q->list, all);
	return rc;
}

static int
ask(struct client *c, const struct question *q, json_t *replies)
{
	const json_t *ports = json_object_get(json_object_get(replies, "ports"), "rows");
	json_t *reply = NULL;
	int rc;

	if (q->list != NULL)
		rc = ask_by_port(c, q, ports, &reply);
	else if (q->some)
		rc = client_ask_first(c, q->path, READING_FLOWS, &reply);
	else
		rc = client_ask(c, q->path, &reply);
	if (rc == 0)
		json_object_set(replies, q->name, reply);
	json_decref(reply);
	/* Not an error: a program refuses the command of a feature that is off, such as pfcwd. */
	return rc == APP_BAD_USAGE ? 0 : rc;
}

static int
take(struct client *c, struct snapshot *r)
{
	bool is_switch = strcmp(c->program, "quench-switch") == 0;
	const struct question *q = is_switch ? of_switch : of_nic;
	unsigned int n = is_switch ? ARRAY_LEN(of_switch) : ARRAY_LEN(of_nic);
	json_t *info;
	int rc = client_ask(c, "/quench/info", &info);

	if (rc != 0)
		return rc;
	r->elapsed_ns = (uint64_t)json_integer_value(json_object_get(info, "elapsed_ns"));
	r->replies = json_pack("{s:o}", "info", info);
	for (unsigned int i = 0; rc == 0 && i < n; i++)
		rc = ask(c, &q[i], r->replies);
	return rc;
}

int
snapshot_take(struct client *c, struct snapshot *r)
{
	struct client_limits limits = {.deadline_ns = monotonic_ns() + READING_NS,
				       .most_bytes = READING_BYTES,
				       .most_rows = READING_ROWS,
				       .cancel_fd = -1};
	int rc;

	*r = (struct snapshot){0};
	c->limits = &limits;
	c->received_bytes = 0;
	rc = take(c, r);
	c->limits = NULL;
	if (rc != 0)
		snapshot_free(r);
	return rc;
}

void
snapshot_free(struct snapshot *r)
{
	json_decref(r->replies);
	*r = (struct snapshot){0};
}
