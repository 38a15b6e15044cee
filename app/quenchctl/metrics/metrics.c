/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/metrics/metrics.h"

#include <stdio.h>
#include <string.h>

#include "base/numbers/array.h"
#include "runtime/notice/say.h"

#define SWITCH "quench-switch"
#define NIC "quench-nic"
/* Limit of the keys of an object. */
#define MOST_KEYS 128
#define PRIORITIES 8

/* Where to find the values of an object. */
struct place {
	const char *program, *object;
	const char *command;
	const char *list;   /* member with its rows or object; NULL: the reply itself */
	bool by_port;       /* one command per port */
	const char *labels; /* keys of a row, or of the reply: "port queue" */
	const char *more;   /* last word of names, such as "_bytes" */
	/* If set, all keys form one family with this label, such as "reason". */
	const char *key_label, *key_help;
	bool optional;      /* refused if the feature is off */
	unsigned int count; /* number of first rows; 0: all */
};

/* Characters of Prometheus' metric names, and a bound on the names in doc/counters.md. */
#define NAME_CHARS 64
#define NAME_ALPHABET "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/*
 * PLACE after the last address: the reply has only the counters of the table, and no rows are
 * copied.
 */
#define NO_ADDRESSES "/quench/fdb,4294967295"

static const struct place places[] = {
	{SWITCH, .object = "run", .command = "/quench/info"},
	{SWITCH, .object = "port", .command = "/quench/ports", .list = "rows",
	 .labels = "port port_name device"},
	{SWITCH, .object = "device", .command = "/quench/device_stats", .list = "rows",
	 .labels = "port port_name"},
	{SWITCH, .object = "drop", .command = "/quench/drops", .list = "rows",
	 .labels = "port port_name", .more = "_packets", .key_label = "reason",
	 .key_help = "frames dropped, by reason; doc/counters.md has a table of the reasons"},
	{SWITCH, .object = "malformed", .command = "/quench/malformed", .list = "rows",
	 .labels = "port port_name", .more = "_packets", .key_label = "kind",
	 .key_help = "frames dropped with reason malformed, by what was wrong"},
	{SWITCH, .object = "queue", .command = "/quench/queues", .list = "queues", .by_port = true,
	 .labels = "port port_name queue"},
	{SWITCH, .object = "wred", .command = "/quench/ecn", .list = "rows",
	 .labels = "port port_name queue"},
	{SWITCH, .object = "pg", .command = "/quench/pg", .list = "pgs", .by_port = true,
	 .labels = "port port_name pg"},
	{SWITCH, .object = "pfc", .command = "/quench/pfc", .list = "rows",
	 .labels = "port port_name"},
	{SWITCH, .object = "pfcwd", .command = "/quench/pfcwd", .list = "rows",
	 .labels = "port port_name prio queue"},
	{SWITCH, .object = "pfcwd", .command = "/quench/pfcwd"},
	{SWITCH, .object = "buffer", .command = "/quench/buffer"},
	{SWITCH, .object = "pool", .command = "/quench/buffer", .list = "pools", .labels = "pool"},
	{SWITCH, .object = "mempool", .command = "/quench/mempools", .list = "rows",
	 .labels = "pool"},
	{SWITCH, .object = "ledger", .command = "/quench/buffer", .list = "ledger",
	 .more = "_bytes"},
	{SWITCH, .object = "fdb", .command = NO_ADDRESSES, .list = "fdb"},
	{SWITCH, .object = "router", .command = "/quench/router"},
	{SWITCH, .object = "interface", .command = "/quench/interfaces", .list = "rows",
	 .labels = "interface"},
	{SWITCH, .object = "dcbx", .command = "/quench/lldp", .list = "rows",
	 .labels = "port port_name", .optional = true},
	{NIC, .object = "run", .command = "/quench/info"},
	{NIC, .object = "nic", .command = "/quench/info"},
	{NIC, .object = "port", .command = "/quench/port", .labels = "port device"},
	{NIC, .object = "device", .command = "/quench/port", .list = "device_stats",
	 .labels = "port"},
	{NIC, .object = "pfc", .command = "/quench/port", .labels = "port"},
	{NIC, .object = "mempool", .command = "/quench/mempools", .list = "rows", .labels = "pool"},
	{NIC, .object = "nic", .command = "/quench/nic"},
	{NIC, .object = "drop", .command = "/quench/nic", .more = "_packets", .key_label = "reason",
	 .key_help = "packets dropped, by reason; doc/counters.md has a table of the reasons"},
#define CC(id, word, section) {NIC, .object = #section, .command = "/quench/nic"},
#include "cc/cc_table.h"
#undef CC
	{NIC, .object = "np", .command = "/quench/nic"},
};

/* A key of an object, and its metric. */
struct key {
	const char *name, *help;
	struct metric metric;
};

struct keys {
	const struct place *place;
	unsigned int n;
	struct key key[MOST_KEYS];
};

/* State of reading one program. */
struct walk {
	struct metrics *metrics;
	struct client *client;
	const struct meanings *meanings;
	const char *labels;
	/*
	 * The last command and its reply, because consecutive entries often use the same command.
	 */
	char asked[COMMAND_CHARS];
	json_t *reply;
};

static int
read_meanings(struct client *c, const char *command, json_t **rows)
{
	json_t *reply;
	int rc = client_ask(c, command, &reply);

	if (rc != 0)
		return rc;
	*rows = json_incref(json_object_get(reply, "rows"));
	json_decref(reply);
	return 0;
}

int
meanings_read(struct client *c, struct meanings *meanings)
{
	int rc;

	*meanings = (struct meanings){0};
	rc = read_meanings(c, "/quench/counters", &meanings->counters);
	if (rc == 0)
		rc = read_meanings(c, "/quench/gauges", &meanings->gauges);
	if (rc != 0)
		meanings_free(meanings);
	return rc;
}

void
meanings_free(struct meanings *meanings)
{
	json_decref(meanings->counters);
	json_decref(meanings->gauges);
	*meanings = (struct meanings){0};
}

static bool
is_name(const char *text)
{
	size_t n = strlen(text);

	return n > 0 && n < NAME_CHARS && strspn(text, NAME_ALPHABET) == n;
}

/* Is there a key of this name already? A second one would repeat samples. */
static bool
has_key(const struct keys *keys, const char *name)
{
	for (unsigned int i = 0; i < keys->n; i++)
		if (strcmp(keys->key[i].name, name) == 0)
			return true;
	return false;
}

static void
add_keys(struct keys *keys, const json_t *rows, bool counter)
{
	const struct place *p = keys->place;
	json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		const char *object = json_string_value(json_object_get(row, "object"));
		const char *name = json_string_value(json_object_get(row, "name"));
		const char *help = json_string_value(json_object_get(row, "help"));
		struct key *k = &keys->key[keys->n];

		if (object == NULL || name == NULL || help == NULL ||
		    strcmp(object, p->object) != 0 || keys->n == MOST_KEYS || !is_name(name) ||
		    has_key(keys, name))
			continue;
		*k = (struct key){.name = name, .help = p->key_help != NULL ? p->key_help : help};
		k->metric = metric_of(p->object, p->key_label != NULL ? "" : name,
				      p->more != NULL ? p->more : "", counter);
		keys->n++;
	}
}

/* Add a label whose value is a text or a number. */
static void
add_label(struct text *labels, const char *name, const json_t *v)
{
	char number[24];

	if (json_is_integer(v)) {
		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
		text_add_label(labels, name, number);
	} else if (json_string_length(v) > 0) {
		/* An empty label is none, and a port without a name has none. */
		text_add_label(labels, name, json_string_value(v));
	}
}

/* Add the labels of the place, from the row or else from the reply. */
static void
add_labels(struct text *labels, const struct walk *w, const struct place *p, const json_t *row)
{
	const char *at = p->labels != NULL ? p->labels : "";
	char name[32];

	text_add(labels, "%s", w->labels);
	while (*at != '\0') {
		size_t n = strcspn(at, " ");
		const json_t *v;

		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		v = json_object_get(row, name);
		add_label(labels, strcmp(name, "local_qpn") == 0 ? "qpn" : name,
			  v != NULL ? v : json_object_get(w->reply, name));
		at += n + (at[n] == ' ');
	}
}

static void
add_sample(struct walk *w, const struct key *k, const char *labels, const json_t *v)
{
	char value[64];

	if (metric_value(&k->metric, v, value, sizeof(value)))
		metrics_add(w->metrics, &k->metric, k->help, labels, value);
}

/* Add a sample per priority, for N in the key. */
static void
add_priorities(struct walk *w, const struct key *k, const struct text *labels, const json_t *row)
{
	const char *n = strchr(k->name, 'N');

	for (unsigned int prio = 0; prio < PRIORITIES; prio++) {
		struct text more = {0};
		char name[METRIC_CHARS];
		const json_t *v;

		snprintf(name, sizeof(name), "%.*s%u%s", (int)(n - k->name), k->name, prio, n + 1);
		v = json_object_get(row, name);
		if (v == NULL)
			continue;
		text_add(&more, "%s,prio=\"%u\"", labels->at, prio);
		if (!more.failed)
			add_sample(w, k, more.at, v);
		text_free(&more);
	}
}

/* Strip the object's name: drop_malformed of object drop becomes malformed. */
static const char *
without_object(const char *key, const char *object)
{
	size_t n = strlen(object);

	return strncmp(key, object, n) == 0 && key[n] == '_' ? key + n + 1 : key;
}

static void
add_row(struct walk *w, const struct keys *keys, const json_t *row)
{
	struct text labels = {0};

	add_labels(&labels, w, keys->place, row);
	for (unsigned int i = 0; i < keys->n && !labels.failed; i++) {
		const struct key *k = &keys->key[i];
		const json_t *v = json_object_get(row, k->name);
		size_t used = labels.used;

		if (strchr(k->name, 'N') != NULL) {
			add_priorities(w, k, &labels, row);
			continue;
		}
		if (v == NULL)
			continue;
		if (keys->place->key_label != NULL)
			text_add_label(&labels, keys->place->key_label,
				       without_object(k->name, keys->place->object));
		if (!labels.failed)
			add_sample(w, k, labels.at, v);
		labels.used = used;
		labels.at[used] = '\0';
	}
	text_free(&labels);
}

static int
ask(struct walk *w, const struct place *p, const char *command)
{
	int rc;

	if (strcmp(w->asked, command) == 0)
		return 0;
	json_decref(w->reply);
	w->reply = NULL;
	*w->asked = '\0';
	rc = p->count > 0 ? client_ask_first(w->client, command, p->count, &w->reply)
			  : client_ask(w->client, command, &w->reply);
	if (rc == APP_BAD_USAGE && p->optional) {
		w->reply = json_object();
		rc = 0;
	}
	if (rc == 0)
		snprintf(w->asked, sizeof(w->asked), "%s", command);
	return rc;
}

static int
walk_command(struct walk *w, const struct keys *keys, const char *command)
{
	const struct place *p = keys->place;
	const json_t *found, *row;
	size_t i;
	int rc = ask(w, p, command);

	if (rc != 0)
		return rc;
	found = p->list != NULL ? json_object_get(w->reply, p->list) : w->reply;
	if (json_is_object(found))
		add_row(w, keys, found);
	json_array_foreach (found, i, row)
		add_row(w, keys, row);
	return 0;
}

static int
walk_place(struct walk *w, const struct place *p, json_int_t ports)
{
	struct keys keys = {.place = p};
	char command[COMMAND_CHARS];
	int rc = 0;

	add_keys(&keys, w->meanings->counters, true);
	add_keys(&keys, w->meanings->gauges, false);
	if (!p->by_port)
		return walk_command(w, &keys, p->command);
	for (json_int_t i = 0; rc == 0 && i < ports; i++) {
		snprintf(command, sizeof(command), "%s,%" JSON_INTEGER_FORMAT, p->command, i);
		rc = walk_command(w, &keys, command);
	}
	return rc;
}

static unsigned int
least(json_int_t a, unsigned int b)
{
	return a < (json_int_t)b ? (unsigned int)a : b;
}

/* Read the first flows and QPs, up to the bounds. */
static int
walk_flows(struct walk *w, const json_t *info, const struct metrics_bounds *bounds)
{
	unsigned int flows =
		least(json_integer_value(json_object_get(info, "flows")), bounds->flows);
	unsigned int qps = least(json_integer_value(json_object_get(info, "qps")), bounds->qps);
	const struct place flow = {NIC,    "flow",           "/quench/flows",
				   "rows", .labels = "flow", .count = flows};
	const struct place qp = {
		NIC, "qp", "/quench/qps", "rows", .labels = "local_qpn flow", .count = qps};
	int rc = 0;

	if (flows > 0)
		rc = walk_place(w, &flow, 0);
	if (rc == 0 && qps > 0)
		rc = walk_place(w, &qp, 0);
	return rc;
}

int
metrics_collect(struct metrics *m, struct client *c, const struct meanings *meanings,
		const char *labels, const struct metrics_bounds *bounds)
{
	struct walk w = {.metrics = m, .client = c, .meanings = meanings, .labels = labels};
	json_t *info = NULL;
	json_int_t ports;
	int rc = client_ask(c, "/quench/info", &info);

	if (rc != 0)
		return rc;
	ports = json_integer_value(json_object_get(info, "ports"));
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(places); i++)
		if (strcmp(places[i].program, c->program) == 0)
			rc = walk_place(&w, &places[i], ports);
	if (rc == 0 && strcmp(c->program, NIC) == 0)
		rc = walk_flows(&w, info, bounds);
	json_decref(w.reply);
	json_decref(info);
	return rc;
}
