/* SPDX-License-Identifier: BSD-3-Clause */
/* Dropped frames, and frames that cable faults corrupted or reordered. */
#include "base/numbers/fixed.h"
#include "runtime/report/report.h"
#include "quench-lab/output/output.h"

/* A count, and what is counted under which key. */
struct count {
	const char *list, *key, *help;
};
static const struct count drop = {"drops", "reason", "why they were dropped"};
static const struct count fault = {"cable_faults", "fault", "what the cable did to them"};

/* Add a count at a port, with its reason or fault, unless it is zero. */
static void
add(struct walk *w, const struct count *of, const char *node, uint16_t port, const char *word,
    uint64_t packets)
{
	if (!w->names_only && packets == 0)
		return;
	walk_item(w, of->list);
	w->object = "drop";
	walk_text(w, WALK_KEY, "node", "the switch or host", node);
	walk_number(w, WALK_KEY, "port", "number of the port", port);
	walk_text(w, WALK_KEY, of->key, of->help, word);
	walk_number(w, WALK_COUNTER, "packets", "frames", packets);
	walk_leave(w);
}

/* Frames that did not arrive at this end. */
static void
add_cable_drops(struct walk *w, const struct lab_run *run, struct topology_end end)
{
	char name[TOPOLOGY_NODE_CHARS + 1];

	topology_node_name(run->scenario->topology, end.node, name);
	for (unsigned int d = 0; d < CABLE_DROP_REASONS; d++)
		add(w, &drop, name, end.port, cable_drop_name(d),
		    net_cable_drops(run->net, end, d));
}

static void
add_drops(struct walk *w, const struct lab_run *run)
{
	const struct topology *t = run->scenario->topology;

	for (uint32_t i = 0; i < t->n_switches; i++)
		for (uint16_t port = 0; port < t->switches[i].n_ports; port++)
			for (unsigned int d = 0; d < SW_DROPS; d++)
				add(w, &drop, t->switches[i].name, port, sw_drop_name(d),
				    sw_port_stats(net_switch(run->net, i), port)->drops[d]);
	for (uint32_t i = 0; i < t->n_links; i++) {
		add_cable_drops(w, run, t->links[i].a);
		add_cable_drops(w, run, t->links[i].b);
	}
	for (uint32_t h = 1; h <= t->n_hosts; h++) {
		char name[16];

		snprintf(name, sizeof(name), "h%u", h);
		for (unsigned int d = 0; d < NIC_DROPS; d++)
			add(w, &drop, name, 0, nic_drop_name(d),
			    nic_stats(net_host(run->net, h))->drops[d]);
	}
}

void
output_walk_drops(struct walk *w, const struct lab_run *run)
{
	walk_list(w, drop.list);
	if (w->names_only)
		add(w, &drop, NULL, 0, NULL, 0);
	else
		add_drops(w, run);
}

/* Frames that arrived at this end corrupted or out of order. */
static void
add_cable_faults(struct walk *w, const struct lab_run *run, struct topology_end end)
{
	const struct cable_stats stats = net_cable_stats(run->net, end);
	char name[TOPOLOGY_NODE_CHARS + 1];

	topology_node_name(run->scenario->topology, end.node, name);
	add(w, &fault, name, end.port, "corrupted", stats.corrupted);
	add(w, &fault, name, end.port, "corrupt_no_mbuf", stats.corrupt_no_mbuf);
	add(w, &fault, name, end.port, "reordered", stats.reordered);
}

void
output_walk_cable_faults(struct walk *w, const struct lab_run *run)
{
	const struct topology *t = w->names_only ? NULL : run->scenario->topology;

	walk_list(w, fault.list);
	if (w->names_only)
		add(w, &fault, NULL, 0, NULL, 0);
	for (uint32_t i = 0; !w->names_only && i < t->n_links; i++) {
		add_cable_faults(w, run, t->links[i].a);
		add_cable_faults(w, run, t->links[i].b);
	}
}

/* Share of the run for which a port may be paused without a doubt about its phantom queues. */
#define PAUSED_SHARE 0.1

/* A phantom queue counts frames that leave, so it does not grow while a pause holds its port. */
static void
add_blind_marking(json_t *list, const struct lab_run *run, uint32_t sw, uint16_t port,
		  uint8_t queue)
{
	const struct node *node = net_switch(run->net, sw);
	const struct mark_queue *marking = sw_mark_scheme(node, port, queue);
	const struct sw_queue_stats *stats = &sw_port_stats(node, port)->queue[queue];
	uint64_t end_ns = run->scenario->fabric.duration_ns, paused_ns = 0;

	if (marking == NULL || marking->ops != mark_schemes[MARK_PHANTOM])
		return;
	for (uint8_t prio = 0; prio < TM_CLASSES; prio++)
		paused_ns = max_u64(paused_ns, pfc_rx_duration_ns(sw_pfc_rx(node, port), prio,
								  net_clock_ns(run->net, end_ns)));
	if ((double)paused_ns < PAUSED_SHARE * (double)end_ns || stats->tx_packets == 0)
		return;
	json_array_append_new(
		list,
		json_sprintf("%s port %u queue %u was paused for %.0f %% of the run, and its "
			     "phantom queue marked %" JSON_INTEGER_FORMAT
			     " of %" JSON_INTEGER_FORMAT
			     " frames: it does not see frames that a pause holds. Use marking "
			     "= wred or step at a port whose peer is slow",
			     run->scenario->topology->switches[sw].name, port, queue,
			     100 * (double)paused_ns / (double)end_ns,
			     (json_int_t)stats->ecn_marked_packets, (json_int_t)stats->tx_packets));
}

/* A flow that has not begun, since one that its key `after` names has not ended. */
static void
add_waiting(json_t *list, const struct lab_run *run, uint32_t section)
{
	const struct flow_params *flows = run->scenario->flows;
	uint32_t awaited = net_after_awaits(run->net, section);
	uint32_t messages = net_after_waiting_messages(run->net, section);

	if (awaited != UINT32_MAX)
		json_array_append_new(list, json_sprintf("[flow %s] has not begun: it waits for "
							 "[flow %s], which has not ended",
							 flows[section].name, flows[awaited].name));
	if (messages > 0)
		json_array_append_new(list,
				      json_sprintf("%u messages of [flow %s] have not begun: they "
						   "wait for earlier ones that have not ended",
						   messages, flows[section].name));
}

json_t *
output_warnings(const struct lab_run *run)
{
	const struct topology *t = run->scenario->topology;
	json_t *list = json_array();
	uint64_t lost = 0;

	for (uint32_t i = 0; i < t->n_switches; i++)
		for (uint16_t port = 0; port < t->switches[i].n_ports; port++) {
			lost += sw_port_stats(net_switch(run->net, i), port)
					->drops[SW_DROP_NO_HEADROOM];
			for (uint8_t queue = 0; queue < TM_CLASSES; queue++)
				add_blind_marking(list, run, i, port, queue);
		}
	for (uint32_t i = 0; i < run->scenario->n_flow_sections; i++)
		add_waiting(list, run, i);
	if (lost > 0)
		json_array_append_new(
			list,
			json_sprintf("%" JSON_INTEGER_FORMAT
				     " lossless frames were lost (no_headroom): xoff_bytes is "
				     "too small for a link, or a peer does not obey PFC",
				     (json_int_t)lost));
	return list;
}

void
output_walk_warnings(struct walk *w, const struct lab_run *run)
{
	json_t *list = w->names_only ? NULL : output_warnings(run), *text;
	size_t i;

	walk_texts(w, "warnings", "reasons to doubt these results, as sentences");
	json_array_foreach (list, i, text)
		walk_add_text(w, "warnings", json_string_value(text));
	json_decref(list);
}
