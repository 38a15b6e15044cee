// SPDX-License-Identifier: BSD-3-Clause
/* PORT and CABLE_LENGTH; PFC_WD. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "import/conversion/import_memory.h"
#include "import/conversion/import_ports.h"
#include "import/sonic/parts.h"
#include "switch/params/port_names.h"

#define ASSUMED_SPEED_MBPS 100000
#define ASSUMED_MTU 9100
#define MAX_MTU (16000u - SW_MTU_OVERHEAD_BYTES)

struct named_port {
	const char *name;
	size_t prefix; /* characters before the number */
	unsigned long number;
};

/* Numerical order: Ethernet4 before Ethernet16. */
static int
compare(const void *a, const void *b)
{
	const struct named_port *p = a, *q = b;

	if (p->prefix == q->prefix && strncmp(p->name, q->name, p->prefix) == 0 &&
	    p->number != q->number)
		return p->number < q->number ? -1 : 1;
	return strcmp(p->name, q->name);
}

static struct named_port
named_port(const char *name)
{
	struct named_port p = {.name = name, .prefix = strlen(name)};

	while (p.prefix > 0 && strchr("0123456789", name[p.prefix - 1]) != NULL)
		p.prefix--;
	p.number = strtoul(name + p.prefix, NULL, 10);
	return p;
}

/* Take the ports of --ports, and remember the others. */
static int
choose_ports(struct sonic *s, const struct named_port *ports, size_t n)
{
	struct import_ports wanted;
	const char *first = NULL;
	uint16_t n_ports = 0;
	int rc = import_ports_parse(s->log->ports, &wanted, s->log);

	s->left = json_object();
	for (size_t i = 0; rc == 0 && i < n; i++) {
		if (import_ports_want(&wanted, ports[i].name, n_ports)) {
			snprintf(s->out->sw.ports[n_ports++].name, IMPORT_PORT_NAME + 1, "%s",
				 ports[i].name);
			continue;
		}
		first = first != NULL ? first : ports[i].name;
		json_object_set_new(s->left, ports[i].name, json_true());
	}
	if (rc == 0)
		rc = import_ports_check(&wanted, s->log);
	if (rc == 0)
		import_ports_left(&wanted, first, (unsigned int)json_object_size(s->left), s->log);
	s->out->sw.n_ports = n_ports;
	return rc;
}

/* Remove what concerns the ports that are left out only. */
static void
drop_left(struct sonic *s)
{
	static const char *const tables[] = {"PORT", "INTERFACE", "VLAN_MEMBER",
					     "PORTCHANNEL_MEMBER"};
	json_t *cables = json_object_get(s->root, "CABLE_LENGTH"), *entry;
	const char *key, *left;
	json_t *any;
	void *next;

	for (unsigned int i = 0; i < ARRAY_LEN(tables); i++) {
		json_t *table = json_object_get(s->root, tables[i]);

		json_object_foreach_safe (table, next, key, entry) {
			size_t n = strcspn(key, "|");
			bool is_left = sonic_is_left(s, key, n) ||
				       (key[n] == '|' &&
					sonic_is_left(s, key + n + 1, strlen(key + n + 1)));

			(void)entry;
			if (is_left)
				json_object_del(table, key);
		}
	}
	json_object_foreach (cables, key, entry) {
		json_object_foreach (s->left, left, any) {
			(void)any;
			json_object_del(entry, left);
		}
	}
}

/* Name the ports, in the order of the numbers in the names. */
static int
name_ports(struct sonic *s)
{
	json_t *table = json_object_get(s->root, "PORT"), *entry;
	struct named_port *ports = import_alloc(json_object_size(table) + 1, sizeof(*ports));
	const char *key;
	size_t n = 0;
	int rc = 0;

	json_object_foreach (table, key, entry) {
		(void)entry;
		if (!sw_port_name_is_valid(key))
			rc = sonic_refuse(s, "PORT", key, NULL, NULL,
					  "the name of a port: a letter, then letters, digits and "
					  "/-_.:, at most 31 characters");
		ports[n++] = named_port(key);
	}
	if (rc == 0 && n == 0)
		rc = import_refuse(s->log, " PORT: expected at least one port");
	qsort(ports, n, sizeof(*ports), compare);
	if (rc == 0)
		rc = choose_ports(s, ports, n);
	free(ports);
	if (rc == 0)
		drop_left(s);
	return rc;
}

static int
read_port(struct sonic *s, uint16_t i, int64_t *mtu)
{
	struct sw_port_params *port = &s->out->sw.ports[i];
	const char *name = s->out->sw.ports[i].name;
	int64_t speed = ASSUMED_SPEED_MBPS;
	char text[SONIC_TEXT];
	int rc = sonic_take_number(s, "PORT", name, "speed", 1, 1600000, &speed);

	if (rc == 0)
		import_note(s->log, " PORT|%s: no speed: 100G is assumed", name);
	port->link_speed_bps = (uint64_t)speed * MBPS;
	*mtu = 0;
	if (rc >= 0)
		rc = sonic_take_number(s, "PORT", name, "mtu", 64, MAX_MTU, mtu);
	if (rc >= 0)
		rc = sonic_take(s, "PORT", name, "pfc_asym", text);
	if (rc > 0 && strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
		return sonic_refuse(s, "PORT", name, "pfc_asym", text, "on or off");
	port->pfc_asymmetric = rc > 0 && strcmp(text, "on") == 0;
	if (rc >= 0)
		rc = sonic_take(s, "PORT", name, "admin_status", text);
	if (rc > 0 && strcmp(text, "up") != 0)
		sonic_lose(s, "PORT", name, "admin_status", text,
			   "a port is up while its device is up");
	return rc < 0 ? rc : 0;
}

/* Use the largest MTU: quench has one limit for all ports. */
static void
join_mtus(struct sonic *s, const int64_t mtu[SW_DEVICE_PORTS])
{
	int64_t longest = 0;

	for (uint16_t i = 0; i < s->out->sw.n_ports; i++)
		longest = mtu[i] > longest ? mtu[i] : longest;
	if (longest == 0) {
		longest = ASSUMED_MTU;
		import_note(s->log, " PORT: no mtu: 9100 is assumed");
	}
	for (uint16_t i = 0; i < s->out->sw.n_ports; i++) {
		char text[32];

		snprintf(text, sizeof(text), "%lld", (long long)mtu[i]);
		if (mtu[i] > 0 && mtu[i] < longest)
			sonic_lose(s, "PORT", s->out->sw.ports[i].name, "mtu", text,
				   "max_frame_bytes applies to all ports: it is that of the "
				   "largest mtu");
	}
	s->out->sw.max_frame_bytes = (uint32_t)longest + SW_MTU_OVERHEAD_BYTES;
}

/* Cable lengths by port, such as "40m", from the only entry that SONiC has in CABLE_LENGTH. */
static int
read_cables(struct sonic *s)
{
	json_t *table = json_object_get(s->root, "CABLE_LENGTH");
	const char *name = json_object_iter_key(json_object_iter(table));
	int rc = 0;

	for (uint16_t i = 0; name != NULL && rc >= 0 && i < s->out->sw.n_ports; i++) {
		const char *port = s->out->sw.ports[i].name;
		char text[SONIC_TEXT];
		unsigned long metres;
		char *end;

		rc = sonic_take(s, "CABLE_LENGTH", name, port, text);
		if (rc <= 0)
			continue;
		metres = strtoul(text, &end, 10);
		if (end == text || strcmp(end, "m") != 0 || metres > 100000 || *text == '-')
			return sonic_refuse(s, "CABLE_LENGTH", name, port, text,
					    "metres from 0m to 100000m");
		s->out->sw.ports[i].cable_length_m = (uint32_t)metres;
	}
	if (name == NULL)
		import_note(s->log, " CABLE_LENGTH is missing: 5 m are assumed");
	return rc < 0 ? rc : 0;
}

int
sonic_ports(struct sonic *s)
{
	int64_t mtu[SW_DEVICE_PORTS];
	int rc = name_ports(s);

	for (uint16_t i = 0; rc == 0 && i < s->out->sw.n_ports; i++)
		rc = read_port(s, i, &mtu[i]);
	if (rc == 0) {
		join_mtus(s, mtu);
		rc = read_cables(s);
	}
	return rc;
}

/* One entry of PFC_WD; times in ns. */
struct watch {
	bool is_watched;
	int action;
	uint64_t detection_ns, restoration_ns;
};

/* A time of at least one poll, in ms. SONiC's command takes those from 100 to sonic_max only. */
static int
take_time(struct sonic *s, const char *key, const char *field, unsigned int sonic_max,
	  unsigned int max, uint64_t *ns)
{
	uint64_t poll_ms = s->out->sw.pfcwd.poll_interval_ns / NS_PER_MS;
	int64_t ms;
	int rc = sonic_take_number(s, "PFC_WD", key, field, 1, max, &ms);
	char text[32], expected[80];

	if (rc <= 0)
		return rc;
	snprintf(text, sizeof(text), "%u", (unsigned int)ms);
	if ((uint64_t)ms < poll_ms) {
		snprintf(expected, sizeof(expected), "at least POLL_INTERVAL, which is %u",
			 (unsigned int)poll_ms);
		return sonic_refuse(s, "PFC_WD", key, field, text, expected);
	}
	if (ms < 100 || ms > sonic_max)
		import_note(s->log, " PFC_WD|%.80s|%s = %s: SONiC itself takes 100 to %u", key,
			    field, text, sonic_max);
	*ns = (uint64_t)ms * NS_PER_MS;
	return 1;
}

static int
read_watch(struct sonic *s, const char *key, struct watch *w)
{
	static const char *const actions[] = {"drop", "forward", "alert"};
	char text[SONIC_TEXT];
	int rc = sonic_take(s, "PFC_WD", key, "action", text);

	*w = (struct watch){true, PFCWD_DROP, 200 * NS_PER_MS, NEVER_NS};
	if (rc > 0) {
		for (w->action = 0; w->action < 3 && strcmp(text, actions[w->action]) != 0;)
			w->action++;
		if (w->action == 3)
			return sonic_refuse(s, "PFC_WD", key, "action", text,
					    "drop, forward or alert");
	}
	if (rc >= 0)
		rc = take_time(s, key, "detection_time", 5000, 60000, &w->detection_ns);
	if (rc >= 0)
		rc = take_time(s, key, "restoration_time", 60000, 3600000, &w->restoration_ns);
	return rc < 0 ? rc : 0;
}

static int
read_global(struct sonic *s)
{
	struct pfcwd_params *wd = &s->out->sw.pfcwd;
	char text[SONIC_TEXT];
	int64_t ms;
	int rc = sonic_take_number(s, "PFC_WD", "GLOBAL", "POLL_INTERVAL", 1, 60000, &ms);

	if (rc > 0)
		wd->poll_interval_ns = (uint64_t)ms * NS_PER_MS;
	if (rc >= 0)
		rc = sonic_take(s, "PFC_WD", "GLOBAL", "BIG_RED_SWITCH", text);
	if (rc > 0 && strcmp(text, "enable") != 0 && strcmp(text, "disable") != 0)
		return sonic_refuse(s, "PFC_WD", "GLOBAL", "BIG_RED_SWITCH", text,
				    "enable or disable");
	wd->big_red_switch = rc > 0 && strcmp(text, "enable") == 0;
	return rc < 0 ? rc : 0;
}

/*
 * The entry of the first watched port becomes [pfcwd]. Other ports get the keys in which they
 * differ.
 */
static void
set_watches(struct sonic *s, const struct watch watches[SW_DEVICE_PORTS])
{
	struct sw_params *sw = &s->out->sw;
	const struct watch *first = NULL;

	/* Without a watched port there is no watchdog. */
	for (uint16_t i = 0; i < sw->n_ports && first == NULL; i++)
		first = watches[i].is_watched ? &watches[i] : NULL;
	if (first == NULL)
		return;
	for (uint16_t i = 0; i < sw->n_ports; i++) {
		const struct watch *w = &watches[i];

		sw->ports[i].pfcwd = w->is_watched;
		if (!w->is_watched)
			continue;
		if (w->action != first->action)
			sw->ports[i].pfcwd_action = 1 + w->action;
		if (w->detection_ns != first->detection_ns)
			sw->ports[i].pfcwd_detection_time_ns = w->detection_ns;
		if (w->restoration_ns != first->restoration_ns)
			sw->ports[i].pfcwd_restoration_time_ns = w->restoration_ns;
	}
	sw->pfcwd.pfcwd = PFCWD_SONIC;
	sw->pfcwd.action = first->action;
	sw->pfcwd.detection_time_ns = first->detection_ns;
	sw->pfcwd.restoration_time_ns = first->restoration_ns;
}

int
sonic_watchdog(struct sonic *s)
{
	json_t *table = json_object_get(s->root, "PFC_WD"), *entry;
	struct watch watches[SW_DEVICE_PORTS] = {{0}};
	const char *key;
	void *next;
	int rc = read_global(s);

	json_object_foreach_safe (table, next, key, entry) {
		struct sonic_place place;
		struct watch w;

		(void)entry;
		if (rc < 0 || strcmp(key, "GLOBAL") == 0)
			continue;
		rc = sonic_place(s, "PFC_WD", key, &place);
		if (rc <= 0)
			continue;
		rc = read_watch(s, key, &w);
		for (uint16_t i = 0; i < SW_DEVICE_PORTS; i++)
			if (place.ports >> i & 1)
				watches[i] = w;
	}
	if (rc >= 0)
		set_watches(s, watches);
	return rc < 0 ? rc : 0;
}
