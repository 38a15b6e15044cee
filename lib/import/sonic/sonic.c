// SPDX-License-Identifier: BSD-3-Clause
#include "import/sonic/sonic.h"
#include "base/numbers/array.h"
#include "import/conversion/import_memory.h"
#include "import/sonic/parts.h"

#include <errno.h>
#include <string.h>

/* A config_db.json must contain at least one of these tables. */
static const char *const wanted[] = {"PORT", "PORT_QOS_MAP", "DSCP_TO_TC_MAP", "BUFFER_POOL",
				     "QUEUE"};

/* A key may list all ports of a switch, so only its names are limited. */
static bool
has_long_name(const char *key)
{
	while (*key != '\0') {
		size_t n = strcspn(key, ",");

		if (n >= SONIC_TEXT)
			return true;
		key += n + (key[n] == ',');
	}
	return false;
}

static int
load(struct sonic *s, const char *text, size_t size)
{
	json_error_t err;
	const char *table, *key;
	json_t *entries, *entry;
	bool known = false;

	import_json_memory();
	s->root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &err);
	if (s->root == NULL)
		return import_refuse(s->log, "%d: %s: expected a complete config_db.json", err.line,
				     err.text);
	for (unsigned int i = 0; i < ARRAY_LEN(wanted); i++)
		known |= json_object_get(s->root, wanted[i]) != NULL;
	if (!known)
		return import_refuse(s->log,
				     " expected a config_db.json of SONiC, with tables such "
				     "as PORT, PORT_QOS_MAP and BUFFER_POOL");
	json_object_foreach (s->root, table, entries) {
		if (!json_is_object(entries))
			return import_refuse(
				s->log, " %.80s: expected a table: an object of entries", table);
		json_object_foreach (entries, key, entry) {
			if (has_long_name(key))
				return import_refuse(
					s->log,
					" %.80s|%.80s...: expected a shorter name in the key",
					table, key);
		}
	}
	return 0;
}

int
import_sonic(const char *text, size_t size, struct import_switch *out, struct import_log *log)
{
	int (*const parts[])(struct sonic *) = {sonic_ports,    sonic_maps,     sonic_queues,
						sonic_buffers,  sonic_watchdog, sonic_members,
						sonic_addresses};
	struct sonic s = {.out = out, .log = log};
	int rc;

	import_switch_begin(out);
	rc = load(&s, text, size);
	for (unsigned int i = 0; rc == 0 && i < ARRAY_LEN(parts); i++)
		rc = parts[i](&s);
	if (rc == 0) {
		sonic_report(&s);
		rc = import_switch_finish(out, log);
	}
	json_decref(s.root);
	json_decref(s.left);
	json_decref(s.lost);
	if (rc != 0)
		import_switch_free(out);
	return rc;
}
