/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/sections/switch_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/switch_config/switch_config.h"
#include "fabric/scenario/scenario.h"
#include "runtime/notice/say.h"
#include "switch/params/port_names.h"

/* Rule of thumb, as for headroom: copper 4.76, fibre 5.13. */
#define NS_PER_M 5u
/* Most senders of the incast. */
#define MOST_SENDERS 8u

/* Names, each once, as "[switch], [wred]". */
struct word_list {
	char text[512];
};

static void
list_word(struct word_list *l, const char *open, const char *word, const char *close)
{
	char item[2 * CONFIG_MAX_NAME];
	size_t used = strlen(l->text);

	snprintf(item, sizeof(item), "%s%s%s", open, word, close);
	if (strstr(l->text, item) == NULL)
		snprintf(l->text + used, sizeof(l->text) - used, "%s%s", used > 0 ? ", " : "",
			 item);
}

/* A switch on its way into a scenario. */
struct taking {
	const struct sw_params *params;
	struct word_list unlike; /* what the lab does not have */
	bool has_auto;           /* of flow_control */
};

/* Keys of [port] and [switch] that describe a device. A port's name and speed have a place. */
static bool
is_of_device(struct taking *t, const struct config_pair *pair, bool of_port)
{
	const struct field *fields = of_port ? sw_port_fields : sw_device_fields;
	unsigned int n = of_port ? sw_port_device_fields_n : sw_device_fields_n;
	const struct field_alias *alias;
	const struct field *key = field_find(fields, n, pair->key, &alias);
	bool has_place;

	if (key == NULL)
		return false;
	has_place = of_port &&
		    (strcmp(key->name, "name") == 0 || strcmp(key->name, "link_speed_bps") == 0);
	if (!has_place && (key->def == NULL || strcmp(pair->value, key->def) != 0))
		list_word(&t->unlike, "", key->name, "");
	return true;
}

/* A port of [interface port NAME] or of a static address becomes its number. */
static void
spell_port(const struct sw_params *params, char *text, size_t size)
{
	int port = sw_port_find(params, text);

	if (port >= 0)
		snprintf(text, size, "%d", port);
}

static bool
take_pair(void *arg, struct config_pair *pair)
{
	static const char of_interface[] = "interface port ";
	struct taking *t = arg;
	bool of_port =
		strcmp(pair->section, "port") == 0 || strncmp(pair->section, "port ", 5) == 0;

	if (strcmp(pair->section, "pool") == 0) {
		strcpy(pair->section, "fabric");
		return true;
	}
	if ((of_port || strcmp(pair->section, "switch") == 0) && is_of_device(t, pair, of_port))
		return false;
	if (of_port && strcmp(pair->key, "flow_control") == 0 && strcmp(pair->value, "auto") == 0) {
		strcpy(pair->value, "pfc");
		t->has_auto = true;
	}
	if (strncmp(pair->section, of_interface, strlen(of_interface)) == 0)
		spell_port(t->params, pair->section + strlen(of_interface),
			   sizeof(pair->section) - strlen(of_interface));
	if (strncmp(pair->section, "fdb ", 4) == 0 && strcmp(pair->key, "port") == 0)
		spell_port(t->params, pair->value, sizeof(pair->value));
	return true;
}

/* Set a key of the scenario: "section.key=value". */
__attribute__((format(printf, 3, 4))) static int
set_key(struct config *cfg, struct config_error *err, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return config_set(cfg, text, err);
}

/* A cable of 0 m has the shortest delay: 0 stands for the fabric's. */
static uint64_t
delay_ns(const struct sw_port_params *port)
{
	return port->cable_length_m > 0 ? (uint64_t)port->cable_length_m * NS_PER_M : 1;
}

/* A host at each port, over a link of the port's speed and length. */
static int
set_links(struct config *cfg, const struct sw_params *params, struct config_error *err)
{
	const struct sw_port_params *first = &params->ports[0];
	int rc = 0;

	if (set_key(cfg, err, "fabric.topology=star") < 0 ||
	    set_key(cfg, err, "fabric.hosts=%u", params->n_ports) < 0 ||
	    set_key(cfg, err, "fabric.link_rate_bps=%" PRIu64, first->link_speed_bps) < 0 ||
	    set_key(cfg, err, "fabric.link_delay_ns=%" PRIu64 "ns", delay_ns(first)) < 0)
		return -ENOMEM;
	for (uint16_t p = 1; rc == 0 && p < params->n_ports; p++) {
		const struct sw_port_params *port = &params->ports[p];

		if (port->link_speed_bps == first->link_speed_bps &&
		    delay_ns(port) == delay_ns(first))
			continue;
		rc = set_key(cfg, err, "link port-%u.ends=h%u s1", p, p + 1u);
		if (rc == 0)
			rc = set_key(cfg, err, "link port-%u.link_rate_bps=%" PRIu64, p,
				     port->link_speed_bps);
		if (rc == 0)
			rc = set_key(cfg, err, "link port-%u.link_delay_ns=%" PRIu64 "ns", p,
				     delay_ns(port));
	}
	return rc;
}

/* Domains of a port's untagged frames, beside those of sw_interface_domain(). */
#define NOWHERE (-1) /* they are dropped */
#define ROUTED (-2)  /* every subnet of the router */

static int32_t
domain_of(const struct sw_params *params, uint16_t port)
{
	int32_t vlan = params->vlan_filtering ? params->ports[port].access_vlan : 0;
	bool none = params->vlan_filtering && vlan == 0;

	for (uint32_t i = 0; i < params->tables.n_interfaces; i++) {
		const struct sw_interface *at = &params->tables.interfaces[i];
		int32_t domain = sw_interface_domain(at->name);
		bool own = domain == (int32_t)SW_PORT_DOMAIN + port;

		if (own || (!none && domain == vlan))
			return strcmp(at->ip, "none") != 0 ? ROUTED : domain;
	}
	return none ? NOWHERE : vlan;
}

/* Ports that reach each other. */
struct group {
	int32_t domain;
	uint32_t n;
};

static struct group
largest_group(const struct sw_params *params)
{
	struct group best = {.domain = NOWHERE};

	for (uint16_t p = 0; p < params->n_ports; p++) {
		struct group g = {.domain = domain_of(params, p)};

		for (uint16_t q = p; q < params->n_ports; q++)
			g.n += domain_of(params, q) == g.domain;
		if (g.domain != NOWHERE && g.n > best.n)
			best = g;
	}
	return best;
}

/* A DSCP whose class is lossless from one port to another. -1: there is none. */
static int
lossless_dscp(const struct sw_params *params, uint16_t from, uint16_t to)
{
	struct qos_map_params qos = sw_port_qos(params, from);
	uint8_t enabled = sw_port_qos(params, to).pfc_enable & qos.pfc_enable;
	/* RoCEv2's usual value first. */
	static const int usual = 26;

	for (int i = -1; params->pfc_generate && i < TM_DSCPS; i++) {
		int dscp = i < 0 ? usual : i;

		if (enabled >> qos_map_classify(&qos, dscp, -1).pg & 1)
			return dscp;
	}
	return -1;
}

/* The ports of a group, the last of which receives from up to MOST_SENDERS others. */
struct incast {
	uint16_t from[MOST_SENDERS], to;
	uint32_t n;
	int dscp; /* -1: no class is lossless */
};

static struct incast
choose_incast(const struct sw_params *params, const struct group *g)
{
	struct incast in = {.dscp = -1};

	for (uint16_t p = 0; p < params->n_ports; p++)
		if (domain_of(params, p) == g->domain)
			in.to = p;
	in.dscp = lossless_dscp(params, in.to, in.to);
	for (uint16_t p = 0; p < in.to && in.n < MOST_SENDERS; p++)
		if (domain_of(params, p) == g->domain)
			in.from[in.n++] = p;
	return in;
}

static int
set_incast(struct config *cfg, const struct sw_params *params, const char *path,
	   struct config_error *err)
{
	static const char *const words[] = {[SW_FLOW_OFF] = "off",
					    [SW_FLOW_PFC] = "pfc",
					    [SW_FLOW_PAUSE] = "pause",
					    [SW_FLOW_AUTO] = "pfc"};
	struct group g = largest_group(params);
	struct incast in = choose_incast(params, &g);
	char src[8 * MOST_SENDERS] = "", with[32];

	if (g.n < 2) {
		config_error_set(err, path,
				 " expected two ports that forward untagged frames to each other, "
				 "or a scenario after --switch %s",
				 path);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < in.n; i++)
		snprintf(src + strlen(src), sizeof(src) - strlen(src), "%s%u", i > 0 ? "," : "",
			 in.from[i] + 1u);
	if (in.dscp >= 0)
		snprintf(with, sizeof(with), "DSCP %d, lossless", in.dscp);
	else
		strcpy(with, "no class is lossless");
	say("%s: %" PRIu32 ":1 incast to h%u at port %s (%s); a scenario after --switch has other "
	    "traffic",
	    path, in.n, in.to + 1u, sw_port_text(params, in.to).text, with);
	if (set_key(cfg, err, "nic.flow_control=%s", words[params->ports[in.to].flow_control]) <
		    0 ||
	    (in.dscp >= 0 && set_key(cfg, err, "nic.data_dscp=%d", in.dscp) < 0) ||
	    set_key(cfg, err, "flow incast.src=%s", src) < 0)
		return -ENOMEM;
	return set_key(cfg, err, "flow incast.dst=%u", in.to + 1u);
}

/* Is the fabric of the scenario one switch, with a port for each host? */
static int
check_fabric(struct config *cfg, const struct sw_params *params, struct config_error *err)
{
	struct fabric_params fabric = {0};
	char expected[96];

	if (config_read_new(cfg, "fabric", fabric_fields, fabric_fields_n, &fabric, err) < 0)
		return -EINVAL;
	if (fabric.topology != TOPOLOGY_STAR)
		return config_refuse(cfg, "fabric", "topology",
				     "star with --switch, which describes one switch", err);
	if (!config_gives(cfg, "fabric", "hosts") || fabric.hosts <= params->n_ports)
		return 0;
	snprintf(expected, sizeof(expected), "at most %u with --switch, one for each of its ports",
		 params->n_ports);
	return config_refuse(cfg, "fabric", "hosts", expected, err);
}

static void
forget_switches(struct config *cfg, const char *path)
{
	struct word_list forgotten = {0};
	const char *word;

	for (unsigned int i = 0; (word = switch_config_word(i)) != NULL; i++)
		if (config_forget(cfg, word) > 0)
			list_word(&forgotten, "[", word, "]");
	if (forgotten.text[0] != '\0')
		say("%s: those of %s apply instead of %s", config_path(cfg), path, forgotten.text);
}

/* @return 0, or -EINVAL with err filled in. */
static int
read_switch(struct config *file, struct sw_params *params, struct config_error *err)
{
	struct switch_pool pool = {0};

	if (switch_config_read(file, params, err) < 0)
		return -EINVAL;
	if (config_read(file, "pool", switch_pool_fields, switch_pool_fields_n, &pool, err) == 0 &&
	    config_finish(file, err) == 0)
		return 0;
	sw_tables_free(&params->tables);
	return -EINVAL;
}

static int
take(struct config *cfg, const struct config *file, const struct sw_params *params, bool alone,
     struct config_error *err)
{
	const char *path = config_path(file);
	struct taking t = {.params = params};
	int rc = check_fabric(cfg, params, err);

	if (rc < 0)
		return rc;
	forget_switches(cfg, path);
	rc = config_copy(cfg, file, take_pair, &t, err);
	if (rc == 0)
		rc = set_links(cfg, params, err);
	if (rc == 0 && alone)
		rc = set_incast(cfg, params, path, err);
	if (t.has_auto)
		list_word(&t.unlike, "", "DCBX at hosts (flow_control = auto is pfc)", "");
	if (rc == 0 && t.unlike.text[0] != '\0')
		say("%s: the lab does without %s", path, t.unlike.text);
	return rc;
}

int
switch_file_take(struct config *cfg, const char *path, bool alone, struct config_error *err)
{
	struct sw_params *params = calloc(1, sizeof(*params));
	struct config *file = params != NULL ? config_open(path, err) : NULL;
	int rc = -EINVAL;

	if (params == NULL)
		config_error_set(err, path, " out of memory");
	else if (file != NULL && read_switch(file, params, err) == 0) {
		rc = take(cfg, file, params, alone, err);
		sw_tables_free(&params->tables);
	}
	config_close(file);
	free(params);
	return rc;
}
