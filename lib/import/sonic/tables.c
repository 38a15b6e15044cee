// SPDX-License-Identifier: BSD-3-Clause
/* Takes fields and keys out of config_db.json, and reports the remaining ones. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "import/conversion/import_memory.h"
#include "import/sonic/tables.h"

/*
 * Limit of the entries of a table for this search, which looks for each field in all entries: as
 * many as 64 ports need.
 */
#define MAX_SHARED 1024
/*
 * If a field remains in more entries than this, and in all entries of its table, the report gives
 * their number instead of their names.
 */
#define MANY 8
#define SHOWN_KEY 80 /* characters of a key in a message */

/* Reasons for frequent remaining fields. */
static const struct {
	const char *table, *field; /* field: its beginning */
	const char *why;
} reasons[] = {
	{"DSCP_TO_TC_MAP", "", "no port has this map"},
	{"DOT1P_TO_TC_MAP", "", "no port has this map"},
	{"TC_TO_QUEUE_MAP", "", "no port has this map"},
	{"TC_TO_PRIORITY_GROUP_MAP", "", "no port has this map"},
	{"MAP_PFC_PRIORITY_TO_QUEUE", "", "no port has this map"},
	{"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "",
	 "a priority belongs to the group of the same number"},
};

/* Fields that concern the hardware, or packets that are not green, of which there are none. */
static const struct {
	const char *table, *field; /* field: its beginning */
} aside_fields[] = {
	{"PORT", "lanes"},
	{"PORT", "alias"},
	{"PORT", "index"},
	{"PORT", "fec"},
	{"PORT", "autoneg"},
	{"PORT", "adv_"},
	{"PORT", "link_training"},
	{"PORT", "description"},
	{"PORT", "role"},
	{"PORT", "subport"},
	{"PORT", "core"},
	{"PORT", "num_voq"},
	{"PORT", "asic_port_name"},
	{"PORT", "valid_speeds"},
	{"PORT", "dom_polling"},
	{"PORT", "dhcp_rate_limit"},
	{"WRED_PROFILE", "yellow_"},
	{"WRED_PROFILE", "red_"},
	{"WRED_PROFILE", "wred_yellow_enable"},
	{"WRED_PROFILE", "wred_red_enable"},
};

/* Beginnings of tables of management, routing protocols and hardware. */
static const char *const aside_tables[] = {
	"AAA",
	"AUTO_TECHSUPPORT",
	"BANNER_MESSAGE",
	"BGP",
	"BREAKOUT_CFG",
	"CHASSIS_MODULE",
	"CONSOLE_",
	"CRM",
	"DEVICE_METADATA",
	"DEVICE_NEIGHBOR",
	"DHCP",
	"DNS_NAMESERVER",
	"FEATURE",
	"FIPS",
	"FLEX_COUNTER_TABLE",
	"GNMI",
	"KDUMP",
	"KUBERNETES_MASTER",
	"LDAP",
	"LOGGER",
	"MEMORY_",
	"MGMT_",
	"NTP",
	"PASSW_HARDENING",
	"RADIUS",
	"RESTAPI",
	"SFLOW",
	"SNMP",
	"SSH_SERVER",
	"SYSLOG_",
	"SYSTEM_DEFAULTS",
	"SYSTEM_HEALTH",
	"TACPLUS",
	"TELEMETRY",
	"VERSIONS",
};

/* Tables whose remaining fields are reported one by one. */
static const char *const known_tables[] = {
	"PORT",
	"PORT_QOS_MAP",
	"DSCP_TO_TC_MAP",
	"DOT1P_TO_TC_MAP",
	"TC_TO_QUEUE_MAP",
	"TC_TO_PRIORITY_GROUP_MAP",
	"SCHEDULER",
	"MAP_PFC_PRIORITY_TO_QUEUE",
	"QUEUE",
	"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
	"WRED_PROFILE",
	"BUFFER_POOL",
	"BUFFER_PROFILE",
	"BUFFER_PG",
	"BUFFER_QUEUE",
	"PFC_WD",
	"CABLE_LENGTH",
	"VLAN",
	"VLAN_MEMBER",
	"VLAN_INTERFACE",
	"INTERFACE",
	"PORTCHANNEL",
	"PORTCHANNEL_MEMBER",
	"PORTCHANNEL_INTERFACE",
	"STATIC_ROUTE",
	"DEFAULT_LOSSLESS_BUFFER_PARAMETER",
};

json_t *
sonic_entry(const struct sonic *s, const char *table, const char *key)
{
	return json_object_get(json_object_get(s->root, table), key);
}

/* A key for a message: of many ports "Ethernet0,Ethernet4 and 30 more|3-4". */
static const char *
short_key(const char *key, char out[SONIC_TEXT])
{
	size_t n = strcspn(key, "|"), first = strcspn(key, ",|");
	unsigned int names = 1;

	for (size_t i = 0; i < n; i++)
		names += key[i] == ',';
	if (names < 4 || strlen(key) <= SHOWN_KEY)
		snprintf(out, SONIC_TEXT, "%.*s%s", SHOWN_KEY, key,
			 strlen(key) > SHOWN_KEY ? "..." : "");
	else
		snprintf(out, SONIC_TEXT, "%.*s and %u more%.20s",
			 (int)(first < SHOWN_KEY ? first : SHOWN_KEY), key, names - 1, key + n);
	return out;
}

int
sonic_refuse(struct sonic *s, const char *table, const char *key, const char *field,
	     const char *value, const char *expected)
{
	char shown[SONIC_TEXT];

	return import_refuse(s->log, " %s|%s%s%.60s%s%.100s: expected %s", table,
			     short_key(key, shown), field != NULL ? "|" : "",
			     field != NULL ? field : "", value != NULL ? " = " : "",
			     value != NULL ? value : "", expected);
}

void
sonic_lose(struct sonic *s, const char *table, const char *key, const char *field,
	   const char *value, const char *why)
{
	json_t *entry = sonic_entry(s, table, key), *keys;
	char shown[SONIC_TEXT], id[512];

	/* A table, and what follows the key, with a separator that neither has. */
	snprintf(id, sizeof(id), "%s\n%s%.60s%s%.100s: %s", table, field != NULL ? "|" : "",
		 field != NULL ? field : "", value != NULL ? " = " : "", value != NULL ? value : "",
		 why);
	if (s->lost == NULL)
		s->lost = json_object();
	keys = json_object_get(s->lost, id);
	if (keys == NULL) {
		keys = json_array();
		json_object_set_new_nocheck(s->lost, id, keys);
	}
	json_array_append_new(keys, json_string_nocheck(short_key(key, shown)));
	if (field != NULL && json_is_object(entry))
		json_object_del(entry, field);
	else if (field == NULL)
		json_object_del(json_object_get(s->root, table), key);
}

int
sonic_take(struct sonic *s, const char *table, const char *key, const char *field,
	   char text[SONIC_TEXT])
{
	json_t *entry = sonic_entry(s, table, key), *v = json_object_get(entry, field);
	int n = 0;

	if (v == NULL)
		return 0;
	if (json_is_string(v))
		n = snprintf(text, SONIC_TEXT, "%s", json_string_value(v));
	else if (json_is_integer(v))
		n = snprintf(text, SONIC_TEXT, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else
		return sonic_refuse(s, table, key, field, NULL, "a text or a number");
	if (n >= SONIC_TEXT)
		return sonic_refuse(s, table, key, field, text, "a shorter text");
	json_object_del(entry, field);
	return 1;
}

int
sonic_take_number(struct sonic *s, const char *table, const char *key, const char *field,
		  int64_t min, uint64_t max, int64_t *out)
{
	char text[SONIC_TEXT], expected[96], *end;
	int rc = sonic_take(s, table, key, field, text);

	if (rc <= 0)
		return rc;
	errno = 0;
	*out = strtoll(text, &end, 10);
	end += strspn(end, " "); /* as blanks before it, in tables of some vendors */
	if (end != text && *end == '\0' && errno == 0 && *out >= min &&
	    (*out < 0 || (uint64_t)*out <= max))
		return 1;
	snprintf(expected, sizeof(expected), "a whole number from %" PRId64 " to %" PRIu64, min,
		 max);
	return sonic_refuse(s, table, key, field, text, expected);
}

int
sonic_take_reference(struct sonic *s, const char *table, const char *key, const char *field,
		     const char *to, char text[SONIC_TEXT])
{
	int rc = sonic_take(s, table, key, field, text);
	size_t n = strlen(to), length;
	char expected[96];

	if (rc <= 0)
		return rc;
	length = strlen(text);
	snprintf(expected, sizeof(expected), "the name of an entry of %s", to);
	if (*text == '\0')
		snprintf(text, SONIC_TEXT, "NULL");
	if (text[0] == '[') {
		if (length < n + 3 || strncmp(text + 1, to, n) != 0 || text[n + 1] != '|' ||
		    text[length - 1] != ']')
			return sonic_refuse(s, table, key, field, text, expected);
		text[length - 1] = '\0';
		memmove(text, text + n + 2, length - n - 2);
	}
	if (strcmp(text, "NULL") != 0 && sonic_entry(s, to, text) == NULL)
		return sonic_refuse(s, table, key, field, text, expected);
	return 1;
}

int
sonic_take_set(struct sonic *s, const char *table, const char *key, const char *field,
	       uint8_t *mask)
{
	char text[SONIC_TEXT];
	int rc = sonic_take(s, table, key, field, text);
	const char *at = text;

	*mask = 0;
	if (rc <= 0)
		return rc;
	while (*at != '\0') {
		if (at[0] < '0' || at[0] > '7' || (at[1] != '\0' && at[1] != ',') ||
		    (at[1] == ',' && at[2] == '\0'))
			return sonic_refuse(s, table, key, field, text,
					    "numbers from 0 to 7, such as 3,4");
		*mask |= (uint8_t)(1u << (at[0] - '0'));
		at += at[1] == ',' ? 2 : 1;
	}
	return 1;
}

static bool
is_word(const char *word, const char *text, size_t n)
{
	return *word != '\0' && strlen(word) == n && strncmp(word, text, n) == 0;
}

/* Number of a port, or -1. */
static int
find_port(const struct sonic *s, const char *name, size_t n)
{
	for (uint16_t i = 0; i < s->out->sw.n_ports; i++)
		if (is_word(s->out->sw.ports[i].name, name, n))
			return i;
	return -1;
}

int
sonic_find_port(const struct sonic *s, const char *name, size_t n)
{
	for (uint16_t i = 0; i < s->out->sw.n_ports; i++)
		if (is_word(s->channels[i], name, n))
			return i;
	return find_port(s, name, n);
}

/* Parse "3" or "3-4". @return 1; 0: above 7; or -EINVAL. */
static int
read_range(struct sonic *s, const char *table, const char *key, const char *range, uint8_t *mask)
{
	char *end;
	unsigned long first = strtoul(range, &end, 10), last = first;
	bool is_number = end != range && *range >= '0' && *range <= '9';

	if (is_number && *end == '-' && end[1] >= '0' && end[1] <= '9')
		last = strtoul(end + 1, &end, 10);
	if (!is_number || *end != '\0' || first > last)
		return sonic_refuse(s, table, key, NULL, NULL,
				    "a number or a range of numbers such as 3-4 after the ports");
	*mask = 0;
	for (unsigned long i = first; i <= last && i < TM_CLASSES; i++)
		*mask |= (uint8_t)(1u << i);
	return last < TM_CLASSES;
}

int
sonic_place(struct sonic *s, const char *table, const char *key, struct sonic_place *place)
{
	const char *bar = strchr(key, '|'), *end = bar != NULL ? bar : key + strlen(key);
	bool is_left = false;
	int rc = 1;

	*place = (struct sonic_place){0};
	for (const char *name = key; name < end;) {
		size_t n = strcspn(name, ",|");
		int port = find_port(s, name, n);

		if (port < 0 && sonic_is_left(s, name, n)) {
			name += n + (name[n] == ',');
			is_left = true;
			continue;
		}
		if (port < 0) {
			sonic_lose(s, table, key, NULL, NULL, "no such port in PORT");
			return 0;
		}
		place->ports |= 1ull << port;
		name += n + (name[n] == ',');
	}
	if (place->ports == 0 && is_left) {
		json_object_del(json_object_get(s->root, table), key);
		return 0;
	}
	if (place->ports == 0)
		return sonic_refuse(s, table, key, NULL, NULL, "a port");
	if (bar != NULL)
		rc = read_range(s, table, key, bar + 1, &place->indices);
	if (rc == 0)
		sonic_lose(s, table, key, NULL, NULL, "numbers from 0 to 7");
	return rc;
}

static bool
begins(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* The beginning of such a field; NULL: it concerns forwarding or buffering. */
static const char *
aside_field(const char *table, const char *field)
{
	for (unsigned int i = 0; i < ARRAY_LEN(aside_fields); i++)
		if (strcmp(aside_fields[i].table, table) == 0 &&
		    begins(field, aside_fields[i].field))
			return aside_fields[i].field;
	return NULL;
}

/* Is this a table of maps, of which ports may have some? */
static bool
is_map(const char *table)
{
	return strstr(table, "_TO_") != NULL;
}

static bool
is_aside_table(const char *table)
{
	for (unsigned int i = 0; i < ARRAY_LEN(aside_tables); i++)
		if (begins(table, aside_tables[i]))
			return true;
	return false;
}

static const char *
reason_for(const char *table, const char *field)
{
	for (unsigned int i = 0; i < ARRAY_LEN(reasons); i++)
		if (strcmp(reasons[i].table, table) == 0 && begins(field, reasons[i].field))
			return reasons[i].why;
	return "no counterpart";
}

static bool
is_known(const char *table)
{
	for (unsigned int i = 0; i < ARRAY_LEN(known_tables); i++)
		if (strcmp(known_tables[i], table) == 0)
			return true;
	return false;
}

/* Entries with the same remaining field share a line, as in SONiC's own keys: A,B|field. */
static void
report_field(struct sonic *s, const char *table, json_t *entries, const char *field)
{
	char *keys, *value = NULL;
	size_t size;
	unsigned int n = 0;
	FILE *list = import_text_open(&keys, &size);
	const char *key;
	json_t *entry;

	json_object_foreach (entries, key, entry) {
		json_t *v = json_object_get(entry, field);

		if (v == NULL)
			continue;
		fprintf(list, "%s%s", n > 0 ? "," : "", key);
		if (n++ == 0)
			value = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
		json_object_del(entry, field);
	}
	import_text_close(list, &keys);
	if (n == 1)
		import_lost(s->log, " %s|%s|%.80s = %.100s: %s", table, keys, field, value,
			    reason_for(table, field));
	else if (n > MANY && n == json_object_size(entries))
		import_lost(s->log, " %s|all %u|%.80s: %s", table, n, field,
			    reason_for(table, field));
	else
		import_lost(s->log, " %s|%s|%.80s: %s", table, keys, field,
			    reason_for(table, field));
	free(keys);
	free(value);
}

static void
report_table(struct sonic *s, const char *table, json_t *entries)
{
	const char *key, *field;
	json_t *entry, *v;
	void *next, *next_field;
	bool is_long = json_object_size(entries) > MAX_SHARED;

	json_object_foreach_safe (entries, next, key, entry) {
		if (!json_is_object(entry)) {
			import_lost(s->log, " %s|%.80s: not an object of fields", table, key);
			continue;
		}
		if (is_map(table) && json_object_size(entry) > 0) {
			import_lost(s->log, " %s|%.80s: %s", table, key, reason_for(table, ""));
			continue;
		}
		json_object_foreach_safe (entry, next_field, field, v) {
			char name[SONIC_TEXT];

			(void)v;
			snprintf(name, sizeof(name), "%s", field);
			if (aside_field(table, field) != NULL) {
				import_aside(s->log, "%s %s", table, aside_field(table, field));
				json_object_del(entry, name);
			} else if (!is_long && strcmp(name, field) == 0)
				report_field(s, table, entries, name);
			else
				import_lost(s->log, " %s|%.80s|%.120s: %s", table, key, field,
					    reason_for(table, field));
		}
	}
}

bool
sonic_is_left(const struct sonic *s, const char *name, size_t n)
{
	char text[SONIC_TEXT];

	if (s->left == NULL || n >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)n, name);
	return json_object_get(s->left, text) != NULL;
}

/* Keys that were lost for one reason share a line, as in SONiC's own keys. */
static void
report_lost(struct sonic *s)
{
	const char *id;
	json_t *keys;

	json_object_foreach (s->lost, id, keys) {
		size_t n = json_array_size(keys), n_table = strcspn(id, "\n");
		size_t n_shown = n > MANY ? 2 : n, size;
		char *list;
		FILE *out = import_text_open(&list, &size);

		for (size_t i = 0; i < n_shown; i++)
			fprintf(out, "%s%s", i > 0 ? "," : "",
				json_string_value(json_array_get(keys, i)));
		if (n > n_shown)
			fprintf(out, " and %zu more", n - n_shown);
		import_text_close(out, &list);
		import_lost(s->log, " %.*s|%s%s", (int)n_table, id, list, id + n_table + 1);
		free(list);
	}
}

void
sonic_report(struct sonic *s)
{
	const char *table;
	json_t *entries;

	report_lost(s);
	json_object_foreach (s->root, table, entries) {
		if (is_known(table) && json_is_object(entries))
			report_table(s, table, entries);
		else if (is_aside_table(table))
			import_aside(s->log, "%.80s", table);
		else
			import_lost(s->log, " %.80s: no counterpart; entries: %zu", table,
				    json_object_size(entries));
	}
}
