/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/scenario/scenario_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctl/nic_config/nic_config.h"
#include "fabric/scenario/scenario_path.h"
#include "fabric/topology/host_list.h"
#include "runtime/notice/say.h"

static void
warn_late(const struct config *cfg, const struct scenario *s, const char *word, const char *name,
	  const char *key, const char *effect)
{
	char section[FLOW_NAME_CHARS + 16], end[FIELD_TEXT_SIZE], expected[FIELD_TEXT_SIZE + 64];
	const struct field_alias *alias;
	struct config_error err;

	field_format(field_find(fabric_fields, fabric_fields_n, "duration_ns", &alias), &s->fabric,
		     end, sizeof(end));
	snprintf(expected, sizeof(expected), "a time in the run, which ends at %s: %s", end,
		 effect);
	snprintf(section, sizeof(section), "%s %s", word, name);
	config_refuse(cfg, section, key, expected, &err);
	say_warning("%s", err.text);
}

/* Does a trace have a message at or after the end? */
static bool
has_late_message(const struct flow_params *flow, uint64_t end_ns)
{
	for (uint32_t i = 0; flow->pattern == FLOW_TRACE && i < flow->n_pairs; i++)
		if (flow->pairs[i].at_ns >= end_ns)
			return true;
	for (uint32_t i = 0; i < flow->n_messages; i++)
		if (flow->messages_of_pairs[i].at_ns >= end_ns)
			return true;
	return false;
}

/* DSCPs of the data of hosts, as a mask. */
static uint64_t
data_dscps(const struct scenario *s)
{
	uint64_t dscps = 0;

	for (uint32_t i = 0; i < s->n_flows; i++)
		dscps |= 1ull << (s->flows[i].dscp < 0 ? s->nic.data_dscp : s->flows[i].dscp);
	return dscps;
}

/* Does a queue of this switch mark data with one of these DSCPs? */
static bool
marks(const struct sw_params *sw, uint64_t dscps)
{
	for (int dscp = 0; dscp < 64; dscp++) {
		uint8_t queue = qos_map_classify(&sw->qos, dscp, 0).queue;

		for (uint16_t port = 0; (dscps >> dscp & 1) && port < sw->n_ports; port++)
			if (sw_queue_marks(sw, port, queue))
				return true;
	}
	return false;
}

static bool
has_marks(const struct scenario *s)
{
	const uint64_t dscps = data_dscps(s);
	bool any = marks(&s->sw, dscps);

	for (uint32_t i = 0; i < s->n_switches && !any; i++)
		any = marks(&s->switches[i].sw, dscps);
	return any;
}

/* Section that gives a pair its algorithm: "[flow NAME]", or another. @return text. */
static const char *
cc_section(const struct scenario *s, const struct flow_params *flow, uint32_t pair,
	   char text[FLOW_NAME_CHARS + 16])
{
	uint32_t host = scenario_sender(flow, pair), hosts[TOPOLOGY_MAX_HOSTS];
	const char *name = flow->name, *word = flow->job != NULL ? "job" : "flow";

	for (uint32_t i = 0; flow->cc == 0 && i < s->n_host_sections; i++) {
		int32_t n = host_list_parse(s->topology, s->host_sections[i].hosts, hosts);

		for (int32_t k = 0; k < n; k++)
			if (hosts[k] == host)
				name = s->host_sections[i].name;
		word = "host";
	}
	if (scenario_cc_choice(s, flow, pair) == 0)
		snprintf(text, FLOW_NAME_CHARS + 16, "[nic]");
	else
		snprintf(text, FLOW_NAME_CHARS + 16, "[%s %s]", word, name);
	return text;
}

/* A choice that pairs have (cc.h), and the first section that made it. */
struct cc_use {
	enum cc_algorithm cc;
	int choice;
	char section[FLOW_NAME_CHARS + 16];
};

/* @return their number. */
static unsigned int
find_uses(const struct scenario *s, struct cc_use uses[CC_ALGORITHMS + 1])
{
	uint32_t found = 0;
	unsigned int n = 0;

	for (uint32_t i = 0; i < s->n_flows; i++)
		for (uint32_t k = 0; k < s->flows[i].n_pairs; k++) {
			int choice = scenario_cc_choice(s, &s->flows[i], k);
			struct cc_use *use = &uses[n];

			if (found >> choice & 1)
				continue;
			found |= 1u << choice;
			n++;
			use->cc = cc_chosen(choice, s->nic.cc);
			use->choice = choice;
			cc_section(s, &s->flows[i], k, use->section);
		}
	return n;
}

/*
 * An algorithm that acts on marks alone hears nothing without them. Some act on losses too, which
 * are rare with PFC. Flows with a choice have the echoes or CNPs that they need, and a receiver's
 * hook sends its CNPs whether ACKs echo or not.
 */
static void
warn_deaf(const struct scenario *s, const struct cc_use *use)
{
	const struct cc_ops *ops = cc_algorithms[use->cc];
	const char *why = NULL;

	if (ops->cnp == NULL && !ops->hears_echoes)
		return;
	if (use->choice == 0 && s->nic.np.np_ecn_echo && !ops->hears_echoes && ops->notify == NULL)
		why = "acts on CNPs, and np_ecn_echo = on of [np] sends none for acknowledged "
		      "packets";
	else if (use->choice == 0 && !s->nic.np.np_ecn_echo && ops->cnp == NULL)
		why = "acts on marks that ACKs echo, which needs np_ecn_echo = on in [np]";
	else if (s->nic.data_ecn == 0)
		why = "acts on marks, which data_ecn = not_ect of [nic] excludes";
	else if ((ops->loss == NULL || s->sw.pfc_generate) && !has_marks(s))
		why = "acts on marks, and no switch marks data";
	if (why != NULL)
		say_warning("%s cc = %s: it %s", use->section, cc_words[use->cc], why);
}

static bool
all_tell(const struct scenario *s)
{
	bool all = s->sw.int_telemetry;

	for (uint32_t i = 0; i < s->n_switches; i++)
		all = all && s->switches[i].sw.int_telemetry;
	return all;
}

/* Given values of keys that the algorithm would have chosen differently. */
static void
warn_companions(const struct config *cfg, const struct scenario *s, const struct cc_use *use)
{
	unsigned int hops;
	char expected[192];
	struct config_error err;

	if (!cc_algorithms[use->cc]->hears_hops)
		return;
	if (!all_tell(s)) {
		snprintf(expected, sizeof(expected),
			 "on with cc = %s of %s, which needs it at each switch", cc_words[use->cc],
			 use->section);
		config_refuse(cfg, "switch", "int_telemetry", expected, &err);
		say_warning("%s", err.text);
	}
	hops = path_longest(s);
	if (hops > s->nic.int_slots) {
		snprintf(expected, sizeof(expected),
			 "%u, the switches of the longest path: others count as fully used", hops);
		config_refuse(cfg, "nic", "int_slots", expected, &err);
		say_warning("%s", err.text);
	}
}

/* Delay of the cables from one host to another; 0: there is no path. */
static uint64_t
way_ns(const struct scenario *s, const struct routes *routes, uint32_t from, uint32_t to)
{
	const struct topology *t = s->topology;
	struct path_hop hops[PATH_MAX_HOPS];
	int n = path_find(s, routes, from, to, 0, hops);
	uint64_t ns = t->links[t->hosts[from - 1].link].cable.delay_ns;

	for (int i = 0; i < n; i++)
		ns += t->links[t->switches[hops[i].sw].link[hops[i].port]].cable.delay_ns;
	return n < 0 ? 0 : ns;
}

/* An algorithm that stays below the speed of the port on a long way: the first such pair. */
static void
warn_long_trip(const struct config *cfg, const struct scenario *s, const struct cc_use *use)
{
	struct routes *own = s->routes == NULL ? routes_create(s->topology, NULL) : NULL;
	const struct routes *routes = s->routes != NULL ? s->routes : own;
	const struct cc_ops *ops = cc_algorithms[use->cc];
	uint64_t most_ns = ops->longest_trip_ns != NULL
				   ? ops->longest_trip_ns(&s->nic.cc_params.of[CC_SLOT(use->cc)])
				   : UINT64_MAX;
	bool told = routes == NULL || most_ns == UINT64_MAX;
	struct config_error err;
	char expected[160];

	for (uint32_t i = 0; !told && i < s->n_flows; i++) {
		const struct flow_params *flow = &s->flows[i];

		for (uint32_t k = 0; !told && k < flow->n_pairs; k++) {
			uint32_t from = flow->pairs[k].src, to = flow->pairs[k].dst;
			uint64_t trip_ns =
				way_ns(s, routes, from, to) + way_ns(s, routes, to, from);

			told = trip_ns > most_ns && scenario_cc_choice(s, flow, k) == use->choice;
			if (!told)
				continue;
			snprintf(expected, sizeof(expected),
				 "more: the cables from h%u to h%u and back take %" PRIu64
				 " ns, and above %" PRIu64
				 " ns a sender cannot reach the speed of its link",
				 from, to, trip_ns, most_ns);
			config_refuse(cfg, cc_words[use->cc], ops->trip_key, expected, &err);
			say_warning("%s", err.text);
		}
	}
	routes_destroy(own);
}

static void
warn_uncontrolled(const struct scenario *s, const struct flow_params *flow)
{
	for (uint32_t k = 0; k < flow->n_pairs; k++) {
		int cc = cc_chosen(scenario_cc_choice(s, flow, k), s->nic.cc);

		if (!nic_is_uncontrolled(cc, flow->verb, false))
			continue;
		say_warning(NIC_UNCONTROLLED, flow->name, nic_verb_words[flow->verb],
			    NIC_RAW_TEXT(false), cc_words[cc]);
		return;
	}
}

void
scenario_warn(const struct config *cfg, const struct scenario *s)
{
	uint64_t end_ns = s->fabric.duration_ns;
	struct cc_use uses[CC_ALGORITHMS + 1];
	unsigned int n = find_uses(s, uses);
	struct config_error err;

	scenario_warn_headroom(s);
	for (unsigned int i = 0; i < n; i++)
		warn_deaf(s, &uses[i]);
	if (nic_config_doubt_cc(cfg, &s->nic, &err))
		say_warning("%s", err.text);
	for (unsigned int i = 0; i < n; i++) {
		warn_companions(cfg, s, &uses[i]);
		warn_long_trip(cfg, s, &uses[i]);
	}
	for (uint32_t i = 0; i < s->n_flows; i++) {
		const struct flow_params *flow = &s->flows[i];

		warn_uncontrolled(s, flow);
		if (flow->start_ns >= end_ns && flow->job == NULL)
			warn_late(cfg, s, "flow", flow->name, "start_ns", "the flow never starts");
		else if (has_late_message(flow, end_ns))
			warn_late(cfg, s, "flow", flow->name, "trace",
				  "later messages are not sent");
	}
	for (uint32_t i = 0; i < s->n_jobs; i++)
		if (s->jobs[i].start_ns >= end_ns)
			warn_late(cfg, s, "job", s->jobs[i].name, "start_ns",
				  "the job never starts");
	/* An event at the very end still happens. */
	for (uint32_t i = 0; i < s->n_events; i++)
		if (s->events[i].at_ns > end_ns)
			warn_late(cfg, s, "event", s->events[i].name, "at_ns",
				  "the event never happens");
}

void
scenario_print_headroom(FILE *out, const struct scenario *s)
{
	struct sw_auto_headroom least = {0}, most = {0};
	uint32_t least_sw = 0, most_sw = 0;

	for (uint32_t i = 0; i < s->topology->n_switches; i++) {
		struct sw_auto_headroom found = scenario_auto_headroom(s, i);

		if (found.most_bytes == 0)
			continue;
		if (least.least_bytes == 0 || found.least_bytes < least.least_bytes) {
			least = found;
			least_sw = i;
		}
		if (found.most_bytes > most.most_bytes) {
			most = found;
			most_sw = i;
		}
	}
	if (most.most_bytes == 0)
		return;
	fprintf(out, "# xoff_bytes = auto is %" PRIu64 " bytes", least.least_bytes);
	if (most.most_bytes > least.least_bytes)
		fprintf(out, " (switch %s, port %u) to %" PRIu64 " bytes (switch %s, port %u)",
			s->topology->switches[least_sw].name, least.least_port, most.most_bytes,
			s->topology->switches[most_sw].name, most.most_port);
	fputc('\n', out);
}

struct headroom_found {
	struct sw_short_headroom first;
	unsigned int groups; /* in all switches */
	uint32_t sw;         /* of the first */
};

/*
 * Groups whose xoff_bytes is below what their link needs. Hosts and switches of the lab react to a
 * pause at once, unless their port has a peer_response_ns.
 */
static struct headroom_found
find_headroom(const struct scenario *s)
{
	struct headroom_found f = {0};

	for (uint32_t i = 0; i < s->topology->n_switches; i++) {
		struct sw_short_headroom found = scenario_short_headroom(s, i);

		if (f.groups == 0) {
			f.first = found;
			f.sw = i;
		}
		f.groups += found.groups;
	}
	return f;
}

/* @param where  "[event NAME] set: ", or "" for the start. */
static void
warn_of_headroom(const struct scenario *s, const struct headroom_found *f, const char *where)
{
	char others[48] = "";

	if (f->groups > 1)
		snprintf(others, sizeof(others), "; so in %u groups in all", f->groups);
	say_warning("%sswitch %s, port %u, lossless group %u: xoff_bytes = %" PRIu64
		    ", but %" PRIu64
		    " bytes may arrive after a pause: frames may be lost%s (doc/buffer.md)",
		    where, s->topology->switches[f->sw].name, f->first.port, f->first.pg,
		    f->first.has_bytes, f->first.needs_bytes, others);
}

void
scenario_warn_headroom(const struct scenario *s)
{
	struct headroom_found start = find_headroom(s);

	if (start.groups > 0)
		warn_of_headroom(s, &start, "");
	for (uint32_t i = 0; i < s->n_events; i++) {
		const struct scenario *next = s->events[i].begin.next;
		struct headroom_found f = next != NULL ? find_headroom(next) : start;
		char where[FLOW_NAME_CHARS + 24];

		snprintf(where, sizeof(where), "[event %s] set: ", s->events[i].name);
		if (f.groups > 0 &&
		    (f.groups != start.groups || f.first.has_bytes != start.first.has_bytes))
			warn_of_headroom(next, &f, where);
	}
}

/* Hosts, and pairs of hosts, that are listed. */
#define SHOWN 64u

static void
print_hosts(FILE *out, const struct scenario *s)
{
	uint32_t n = s->topology->n_hosts;

	for (uint32_t h = 1; h <= n && h <= SHOWN; h++) {
		struct field_ip ip = scenario_host_ip(s, h);
		char text[FIELD_IP_CHARS], mac_text[FIELD_MAC_CHARS];
		uint8_t mac[6];

		scenario_host_mac(h, mac);
		fprintf(out, "#   h%u: %s, %s\n", h, field_ip_text(&ip, text),
			field_mac_text(mac, mac_text));
	}
	if (n > SHOWN)
		fprintf(out, "#   and %u more\n", n - SHOWN);
}

/* "0x100", or "0x100 to 0x103". */
static void
print_numbers(FILE *out, uint32_t first, uint32_t n)
{
	fprintf(out, n > 1 ? "0x%x to 0x%x" : "0x%x", first, first + n - 1);
}

/* used: by host, QPs so far. */
static void
print_pair(FILE *out, const struct flow_params *flow, uint32_t pair, const uint32_t *used)
{
	const struct flow_pair *p = &flow->pairs[pair];
	char title[FLOW_TITLE_CHARS + 1];

	fprintf(out, "#   %s: ", scenario_flow_title(flow, pair, title));
	print_numbers(out, SCENARIO_FIRST_QPN + used[p->src], scenario_pair_qps(flow, pair));
	fprintf(out, " at h%u, ", p->src);
	print_numbers(out, SCENARIO_FIRST_QPN + used[p->dst], scenario_pair_qps(flow, pair));
	fprintf(out, " at h%u\n", p->dst);
}

void
scenario_print_addresses(FILE *out, const struct scenario *s)
{
	uint32_t *used = calloc(s->topology->n_hosts + 1ull, sizeof(*used)), n = 0;

	fputs("# Addresses of the hosts:\n", out);
	print_hosts(out, s);
	fprintf(out,
		"# QP numbers: each host numbers its QPs from 0x%x on, in the order of the flows. A "
		"CNP to\n# the sender of data has the sender's QP number, and comes from the "
		"receiver's address:\n",
		SCENARIO_FIRST_QPN);
	for (uint32_t i = 0; used != NULL && i < s->n_flows; i++) {
		const struct flow_params *flow = &s->flows[i];

		for (uint32_t k = 0; k < flow->n_pairs; k++) {
			if (n++ < SHOWN)
				print_pair(out, flow, k, used);
			used[flow->pairs[k].src] += scenario_pair_qps(flow, k);
			used[flow->pairs[k].dst] += scenario_pair_qps(flow, k);
		}
	}
	if (n > SHOWN)
		fprintf(out, "#   and %u more\n", n - SHOWN);
	free(used);
}
