/* SPDX-License-Identifier: BSD-3-Clause */
/* Every counter of every node at the end of a run: counters.csv. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "base/sets/names.h"
#include "runtime/notice/say.h"
#include "quench-lab/output/output.h"
#include "switch/params/sw_counters.h"
#include "tm/buffer/mmu.h"

#define NAME_CHARS 63

/* One counter, summed over all nodes of a kind that have it. */
struct total {
	char name[NAME_CHARS + 1];
	const char *help;
	uint64_t value; /* sum, or maximum of a watermark */
};

/* In the order in which they were first seen. */
struct totals {
	struct names names;
	struct total **rows; /* by number of the name */
	uint32_t capacity;
};

struct writer {
	FILE *out;
	const char *node;
	int32_t port;          /* -1: the node as a whole */
	struct totals *totals; /* of this kind of node, or of port */
	uint32_t next;         /* total that is probably the next: that after the last one */
	bool lost;             /* no memory */
};

enum how { SUM, HIGHEST };

static bool
has_name(const struct total *total, const char *group, const char *name)
{
	size_t n = strlen(group);

	return strncmp(total->name, group, n) == 0 && strcmp(total->name + n, name) == 0;
}

/* @return its number, or NAMES_NONE: no memory. */
static uint32_t
add_total(struct totals *t, const char *full, const char *help)
{
	struct total *total = malloc(sizeof(*total));

	if (t->names.n == t->capacity) {
		uint32_t capacity = t->capacity > 0 ? 2 * t->capacity : 64;
		struct total **rows = realloc(t->rows, capacity * sizeof(struct total *));

		if (rows != NULL) {
			t->rows = rows;
			t->capacity = capacity;
		}
	}
	if (total == NULL || t->names.n == t->capacity) {
		free(total);
		return NAMES_NONE;
	}
	*total = (struct total){.help = help};
	snprintf(total->name, sizeof(total->name), "%s", full);
	t->rows[t->names.n] = total;
	if (names_add(&t->names, total->name) == NAMES_NONE) {
		free(total);
		return NAMES_NONE;
	}
	return t->names.n - 1;
}

/* Nodes of a kind may differ in their counters, as by the marking of a queue: the name decides. */
static struct total *
find_total(struct writer *w, const char *group, const char *name, const char *help)
{
	struct totals *t = w->totals;
	char full[NAME_CHARS + 1];
	uint32_t i = w->next;

	if (i >= t->names.n || !has_name(t->rows[i], group, name)) {
		snprintf(full, sizeof(full), "%s%s", group, name);
		i = names_find(&t->names, full);
		if (i == NAMES_NONE)
			i = add_total(t, full, help);
	}
	w->lost |= i == NAMES_NONE;
	if (i == NAMES_NONE)
		return NULL;
	w->next = i + 1;
	return t->rows[i];
}

static void
free_totals(struct totals *t)
{
	for (uint32_t i = 0; i < t->names.n; i++)
		free(t->rows[i]);
	free(t->rows);
	names_free(&t->names);
}

/* Add a counter. A node has no row for a counter that is 0, but the totals have. */
static void
put(struct writer *w, enum how how, const char *group, const char *name, const char *help,
    uint64_t value)
{
	struct total *total = find_total(w, group, name, help);

	if (total == NULL || value == 0)
		return;
	total->value = how == SUM ? total->value + value : max_u64(total->value, value);
	fprintf(w->out, "%s,", w->node);
	if (w->port >= 0)
		fprintf(w->out, "%d", w->port);
	fprintf(w->out, ",%s,%" PRIu64 ",\n", total->name, value);
}

static void
put_table(struct writer *w, const char *group, const struct counter_field *fields, unsigned int n,
	  const void *stats)
{
	for (unsigned int i = 0; i < n; i++)
		put(w, SUM, group, fields[i].name, fields[i].help,
		    *(const uint64_t *)(const void *)((const char *)stats + fields[i].offset));
}

/* One direction of a priority: frames, transitions, and the paused time with its meaning. */
static void
put_pauses(struct writer *w, const char *way, unsigned int prio, const uint64_t values[3],
	   const char *duration)
{
	char group[16];

	snprintf(group, sizeof(group), "%s_prio%u_pause", way, prio);
	put(w, SUM, group, "", "frames with the priority's bit, including XON and refresh",
	    values[0]);
	put(w, SUM, group, "_transition", "XOFF to XON", values[1]);
	put(w, SUM, group, "_duration_us", duration, values[2] / NS_PER_US);
}

static void
put_pfc(struct writer *w, const struct pfc_tx *tx, const struct pfc_rx *rx, uint64_t end_ns)
{
	for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
		put_pauses(w, "tx", prio,
			   (const uint64_t[]){tx->stats.tx_pause[prio],
					      tx->stats.tx_pause_transition[prio],
					      pfc_tx_duration_ns(tx, prio, end_ns)},
			   "time during which it paused its peer");
		put_pauses(w, "rx", prio,
			   (const uint64_t[]){rx->stats.rx_pause[prio],
					      rx->stats.rx_pause_transition[prio],
					      pfc_rx_duration_ns(rx, prio, end_ns)},
			   "time during which its peer paused it");
	}
}

static void
put_cable(struct writer *w, const struct net *net, uint32_t node, uint16_t port)
{
	for (unsigned int d = 0; d < CABLE_DROP_REASONS; d++)
		put(w, SUM, "drops/", cable_drop_name(d), "frames to here that did not arrive",
		    net_cable_drops(net, (struct fabric_end){.node = node, .port = port}, d));
}

static void
put_classes(struct writer *w, const struct node *sw, uint16_t port)
{
	const struct sw_port_stats *s = sw_port_stats(sw, port);
	const struct mmu *mmu = sw_mmu(sw);

	for (uint8_t i = 0; i < TM_CLASSES; i++) {
		const struct mark_queue *scheme = sw_mark_scheme(sw, port, i);
		char group[16];

		snprintf(group, sizeof(group), "queue%u/", i);
		put_table(w, group, sw_queue_counter_fields, sw_queue_counter_fields_n,
			  &s->queue[i]);
		if (scheme != NULL)
			put_table(w, group, scheme->ops->counters, *scheme->ops->n_counters,
				  &scheme->counts);
		put(w, HIGHEST, group, "watermark_bytes", "most that it held",
		    mmu_watermark_bytes(mmu, MMU_WATERMARK_QUEUE, port, i));
		snprintf(group, sizeof(group), "pg%u/", i);
		put_table(w, group, sw_pg_counter_fields, sw_pg_counter_fields_n, &s->pg[i]);
		put(w, HIGHEST, group, "watermark_bytes", "most that it held",
		    mmu_watermark_bytes(mmu, MMU_WATERMARK_PG, port, i));
		put(w, HIGHEST, group, "headroom_watermark_bytes", "most that it had in headroom",
		    mmu_watermark_bytes(mmu, MMU_WATERMARK_PG_HEADROOM, port, i));
		snprintf(group, sizeof(group), "pfcwd%u/", i);
		put_table(w, group, pfcwd_counters, pfcwd_counters_n,
			  &sw_pfcwd(sw, port, i)->stats);
	}
}

static void
put_port(struct writer *w, const struct net *net, uint32_t i, uint16_t port, uint64_t end_ns)
{
	const struct node *sw = net_switch(net, i);
	const struct sw_port_stats *s = sw_port_stats(sw, port);

	put_table(w, "", sw_port_counter_fields, sw_port_counter_fields_n, s);
	for (unsigned int d = 0; d < SW_DROPS; d++)
		put(w, SUM, "drops/", sw_drop_name((enum sw_drop)d), "frames dropped, by reason",
		    s->drops[d]);
	put_cable(w, net, i, port);
	for (unsigned int v = FRAME_OK + 1; v < FRAME_VERDICTS; v++)
		put(w, SUM, "malformed/", frame_verdict_name((enum frame_verdict)v),
		    "malformed frames dropped, by kind", s->malformed[v]);
	put_pfc(w, sw_pfc_tx(sw, port), sw_pfc_rx(sw, port), end_ns);
	put_classes(w, sw, port);
}

static void
put_switch(struct writer *w, const struct node *sw)
{
	const struct sw_router_stats router = sw_router_stats(sw);
	const struct sw_ledger ledger = sw_ledger(sw);
	const struct fdb_stats fdb = sw_fdb_stats(sw);

	put_table(w, "router/", sw_router_counter_fields, sw_router_counter_fields_n, &router);
	put_table(w, "fdb/", sw_fdb_counter_fields, sw_fdb_counter_fields_n, &fdb);
	put_table(w, "ledger/", sw_ledger_counter_fields, sw_ledger_counter_fields_n, &ledger);
}

static void
put_host(struct writer *w, const struct net *net, uint16_t h, uint64_t end_ns)
{
	const struct node *nic = net_host(net, h);
	const struct nic_stats *s = nic_stats(nic);

	put_table(w, "", nic_counters, nic_counters_n, s);
	for (int i = CC_NONE + 1; i < CC_ALGORITHMS; i++)
		put_table(w, "", cc_algorithms[i]->counters, *cc_algorithms[i]->n_counters,
			  &s->cc.of[CC_SLOT(i)]);
	put_table(w, "", np_counters, np_counters_n, &s->np);
	put_cable(w, net, topology_host_node(net_scenario(net)->topology, h), 0);
	put_pfc(w, nic_pfc_tx(nic), nic_pfc_rx(nic), end_ns);
}

/* The rows of totals, with help texts, which contain no quotes. */
static void
put_totals(FILE *out, const char *of, const char *port, const struct totals *t)
{
	for (uint32_t i = 0; i < t->names.n; i++)
		fprintf(out, "%s,%s,%s,%" PRIu64 ",\"%s\"\n", of, port, t->rows[i]->name,
			t->rows[i]->value, t->rows[i]->help);
}

static bool
put_all(FILE *out, const struct net *net, struct totals totals[3])
{
	const struct topology *t = net_scenario(net)->topology;
	uint64_t end_ns = net_scenario(net)->fabric.duration_ns;
	struct writer w = {.out = out};

	for (uint32_t i = 0; i < t->n_switches; i++) {
		w = (struct writer){out, t->switches[i].name, -1, &totals[0], 0, w.lost};
		put_switch(&w, net_switch(net, i));
		for (uint16_t port = 0; port < t->switches[i].n_ports; port++) {
			w.port = port;
			w.totals = &totals[1];
			w.next = 0;
			put_port(&w, net, i, port, end_ns);
		}
	}
	for (uint16_t h = 1; h <= t->n_hosts; h++) {
		char name[TOPOLOGY_NODE_CHARS + 1];

		topology_node_name(t, topology_host_node(t, h), name);
		w = (struct writer){out, name, -1, &totals[2], 0, w.lost};
		put_host(&w, net, h, end_ns);
	}
	put_totals(out, "all switches", "", &totals[0]);
	put_totals(out, "all switches", "all", &totals[1]);
	put_totals(out, "all hosts", "", &totals[2]);
	return !w.lost;
}

int
output_counters(const struct lab_run *run, const char *dir)
{
	FILE *out = output_open(dir, "counters.csv", "node,port,counter,value,help");
	struct totals totals[3] = {0};
	bool whole;

	if (out == NULL)
		return -EIO;
	whole = put_all(out, run->net, totals);
	for (unsigned int i = 0; i < 3; i++)
		free_totals(&totals[i]);
	if (output_close(out, dir, "counters.csv") < 0)
		return -EIO;
	if (!whole)
		say_error("%s/counters.csv: no memory", dir);
	return whole ? 0 : -ENOMEM;
}
