/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/flows/flows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "runtime/report/report.h"
#include "runtime/notice/scaled.h"
#include "runtime/notice/say.h"
#include "ctl/results/flow_results.h"
#include "quench-nic/nodes/nodes.h"

/* Largest number of flows with a line each. More lines would hide the line of the port. */
#define MOST_LINES 8
/* Rows of the table at the end. */
#define MOST_ROWS 64

static FILE *
open_csv(const char *dir, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (file == NULL)
		say_error("%s: %s", path, strerror(errno));
	return file;
}

static void
print_headings(struct flows *f)
{
	flow_csv_head(f->flows_csv);
	times_csv_head(f->times_csv);
	fprintf(f->port_csv, "time_ns,rx_packets,rx_bytes,tx_packets,tx_bytes,rx_pause_frames,"
			     "np_ecn_marked_roce_packets,np_cnp_sent,rp_cnp_handled,"
			     "rp_cnp_ignored,retransmitted_packets");
	for (unsigned int prio = 0; prio < TM_CLASSES; prio++)
		fprintf(f->port_csv, ",rx_prio%u_pause,rx_prio%u_pause_duration_us", prio, prio);
	fprintf(f->port_csv, "\n");
}

int
flows_open(struct flows *f, const struct nic_config *config, struct flow_registry *registry,
	   const char *dir)
{
	*f = (struct flows){.config = config, .registry = registry};
	f->all = calloc(1, sizeof(*f->all));
	f->interval = calloc(1, sizeof(*f->interval));
	if (f->all == NULL || f->interval == NULL) {
		say_error("%s", strerror(ENOMEM));
		return APP_FAILED;
	}
	if (dir == NULL)
		return 0;
	if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
		say_error("%s: %s", dir, strerror(errno));
		return APP_FAILED;
	}
	f->flows_csv = open_csv(dir, "flows.csv");
	f->port_csv = f->flows_csv == NULL ? NULL : open_csv(dir, "port.csv");
	f->times_csv = f->port_csv == NULL ? NULL : open_csv(dir, "times.csv");
	if (f->times_csv == NULL)
		return APP_FAILED;
	print_headings(f);
	return 0;
}

int
flows_close(struct flows *f)
{
	FILE *files[] = {f->flows_csv, f->port_csv, f->times_csv};
	int rc = 0;

	for (unsigned int i = 0; i < 3; i++) {
		bool failed = files[i] != NULL && ferror(files[i]);

		if (files[i] != NULL && (fclose(files[i]) != 0 || failed))
			rc = APP_FAILED;
	}
	if (rc != 0)
		say_error("the CSV files are incomplete: %s", strerror(errno));
	free(f->shown);
	free(f->awaited);
	free(f->all);
	free(f->interval);
	*f = (struct flows){0};
	return rc;
}

static bool
show(struct flows *f, struct flow_shown one)
{
	if (f->n_shown == f->shown_capacity) {
		unsigned int capacity = f->shown_capacity == 0 ? 16 : 2 * f->shown_capacity;
		struct flow_shown *shown = realloc(f->shown, capacity * sizeof(*shown));

		if (shown == NULL)
			return false;
		f->shown = shown;
		f->shown_capacity = capacity;
	}
	f->shown[f->n_shown++] = one;
	return true;
}

static int
by_entry(const void *a, const void *b)
{
	const struct flow_entry *const *x = a, *const *y = b;

	return *x < *y ? -1 : *x > *y;
}

unsigned int
flows_list(struct flows *f)
{
	const struct nic_config *config = f->config;
	const struct flow_entry **present =
		calloc(config->n_flows, sizeof(const struct flow_entry *));

	f->n_shown = 0;
	for (unsigned int i = 0; present != NULL && i < config->n_flows; i++) {
		struct flow_entry *e = flow_registry_entry_of(f->registry, config->flows[i].id);

		present[i] = e;
		show(f, (struct flow_shown){&config->flows[i], e, false});
	}
	if (present != NULL)
		qsort(present, config->n_flows, sizeof(const struct flow_entry *), by_entry);
	for (uint32_t i = 0; present != NULL && i < f->registry->n_entries; i++) {
		struct flow_entry *e = f->registry->entries[i];

		if (bsearch(&e, present, config->n_flows, sizeof(const struct flow_entry *),
			    by_entry) == NULL)
			show(f, (struct flow_shown){&e->flow, e, true});
	}
	free(present);
	free(f->awaited);
	f->awaited = flow_registry_awaited(f->registry, config);
	return f->n_shown;
}

/* Sum the flow's times into f->all. @return f->all, or NULL: the flow is not measured. */
static const struct nic_times *
read_times(struct flows *f, const struct flow_entry *e)
{
	return flow_registry_times(f->registry, e, f->all) ? f->all : NULL;
}

/* Sum the flow's pacing into *sum. @return sum, or NULL: the flow is not measured. */
static const struct nic_pacing *
read_pacing(const struct flows *f, const struct flow_entry *e, struct nic_pacing *sum)
{
	return flow_registry_pacing(f->registry, e, sum) ? sum : NULL;
}

/* Times measured since the last sample, or NULL: the flow is not measured. */
static const struct nic_times *
read_interval(struct flows *f, struct flow_entry *e)
{
	const struct nic_times *times = read_times(f, e);
	struct flow_mark *last = &e->last;

	if (times != NULL && last->times == NULL)
		last->times = calloc(1, sizeof(*last->times));
	if (times == NULL || last->times == NULL)
		return NULL;
	nic_times_since(times, last->times, f->interval);
	return f->interval;
}

bool
flows_sends_data(const struct nic_flow *flow)
{
	return flow->qp.requester != (flow->qp.verb == NIC_READ);
}

/* Bytes in the direction of the flow's data. */
static uint64_t
wire_bytes_of(const struct nic_flow *flow, const struct nic_qp_info *sum)
{
	return flows_sends_data(flow) ? sum->tx_wire_bytes : sum->rx_wire_bytes;
}

static uint64_t
payload_bytes_of(const struct nic_flow *flow, const struct nic_qp_info *sum)
{
	return flows_sends_data(flow) ? sum->tx_payload_bytes : sum->rx_payload_bytes;
}

static uint64_t
messages_of(const struct nic_flow *flow, const struct nic_qp_info *sum)
{
	return flows_sends_data(flow) ? sum->tx_messages : sum->rx_messages;
}

uint64_t
flows_rate_bps(uint64_t bytes, uint64_t ns)
{
	return ns == 0 ? 0 : (uint64_t)((double)bytes * 8e9 / (double)ns + 0.5);
}

uint64_t
flows_active_ns(const struct nic_flow *flow, uint64_t elapsed_ns)
{
	return sub_sat(elapsed_ns,
		       max_u64(flow->added_ns, flow->qp.requester ? flow->qp.start_ns : 0));
}

static void
port_row(FILE *csv, const struct run_app *app, uint64_t now_ns)
{
	const struct pfc_rx *pfc = nic_pfc_rx(app->nodes[0]);
	struct nic_stats s = nic_total_stats(app);

	fprintf(csv,
		"%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
		",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
		now_ns, s.rx_packets, s.rx_bytes, s.tx_packets, s.tx_bytes, s.rx_pause_frames,
		s.np.np_ecn_marked_roce_packets, s.np.np_cnp_sent, s.rp.rp_cnp_handled,
		s.rp.rp_cnp_ignored, s.retransmitted_packets);
	for (uint8_t prio = 0; prio < TM_CLASSES; prio++)
		fprintf(csv, ",%" PRIu64 ",%" PRIu64, pfc->stats.rx_pause[prio],
			pfc_rx_duration_ns(pfc, prio, now_ns) / NS_PER_US);
	fprintf(csv, "\n");
	fflush(csv);
}

static void
flow_line(FILE *out, const struct flow_row *row)
{
	const struct nic_times *t = row->times;
	char slowdown[SLOWDOWN_CHARS], n[6][SCALED_CHARS];

	fprintf(out,
		"           flow %-16s wire %s goodput %s messages %s resent %s cnp tx %s rx %s\n",
		row->flow, scaled(n[0], (double)row->wire_rate_bps, "b/s"),
		scaled(n[1], (double)row->goodput_bps, "b/s"), scaled_count(n[2], row->messages),
		scaled_count(n[3], row->retransmitted_packets), scaled_count(n[4], row->cnps_sent),
		scaled_count(n[5], row->cnps_handled));
	if (t == NULL)
		return;
	fprintf(out,
		"                completion p50 %s p99 %s slowdown p99 %s (of %s) rtt p50 %s p99 %s\n",
		scaled_time(n[0], hist_quantile(&t->completion_ns, 50)),
		scaled_time(n[1], hist_quantile(&t->completion_ns, 99)),
		slowdown_text(t, 99, slowdown), slowdown_base(t),
		scaled_time(n[2], hist_quantile(&t->rtt_ns, 50)),
		scaled_time(n[3], hist_quantile(&t->rtt_ns, 99)));
}

static void
sample_flow(struct flows *f, const struct flow_shown *shown, FILE *out, uint64_t now_ns)
{
	const struct nic_flow *flow = shown->flow;
	struct flow_entry *e = shown->entry;
	const struct nic_flow_info info = flow_registry_info(f->registry, e);
	const struct nic_qp_info *sum = &info.sum;
	struct flow_mark *last = &e->last;
	uint64_t wire = wire_bytes_of(flow, sum), payload = payload_bytes_of(flow, sum);
	const struct flow_row row = {
		.time_ns = now_ns,
		.flow = flow->name,
		.wire_rate_bps = flows_rate_bps(wire - last->wire_bytes, now_ns - f->last_ns),
		.goodput_bps = flows_rate_bps(payload - last->payload_bytes, now_ns - f->last_ns),
		.times = read_interval(f, e),
		.rp_rate_bps = flows_sends_data(flow) ? sum->rate_bps : 0,
		.rp_target_rate_bps = flows_sends_data(flow) ? sum->target_rate_bps : 0,
		.cnps_handled = sum->cnps_handled,
		.cnps_sent = sum->cnps_sent,
		.cnps_ignored = sum->cnps_ignored,
		.ce_packets = sum->ce_packets,
		.messages = messages_of(flow, sum),
		.retransmitted_packets = sum->retransmitted_packets,
		.rate_cuts = sum->rate_cuts,
		.paused_ns = flow_registry_paused_ns(f->registry, e, now_ns),
	};

	/*
	 * Report a removed flow once after its removal. After that, report it only while it still
	 * sends or receives.
	 */
	if (shown->gone && last->gone && wire == last->wire_bytes)
		return;
	if (f->flows_csv != NULL)
		flow_csv_row(f->flows_csv, &row);
	if (f->config->n_flows <= MOST_LINES)
		flow_line(out, &row);
	last->wire_bytes = wire;
	last->payload_bytes = payload;
	last->gone = shown->gone;
}

void
flows_sample(struct flows *f, const struct run_app *app, FILE *out, uint64_t now_ns)
{
	/*
	 * On a single lcore, reading a QP costs as much as a packet. So skip it if the result is
	 * not used.
	 */
	if (f->flows_csv == NULL && f->config->n_flows > MOST_LINES)
		return;
	flow_registry_read_begin(f->registry);
	flows_list(f);
	for (unsigned int i = 0; i < f->n_shown; i++)
		sample_flow(f, &f->shown[i], out, now_ns);
	flow_registry_read_end(f->registry);
	f->last_ns = now_ns;
	if (f->flows_csv != NULL) {
		fflush(f->flows_csv);
		port_row(f->port_csv, app, now_ns);
	}
}

static void
table_row(FILE *out, const struct nic_flow *flow, const struct nic_qp_info *sum,
	  const struct nic_times *t, uint64_t active_ns)
{
	char slowdown[SLOWDOWN_CHARS];

	fprintf(out, "%-20s %9.4f %9.4f %10" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64,
		flow->name, (double)flows_rate_bps(wire_bytes_of(flow, sum), active_ns) / 1e9,
		(double)flows_rate_bps(payload_bytes_of(flow, sum), active_ns) / 1e9,
		messages_of(flow, sum), sum->retransmitted_packets,
		flows_sends_data(flow) ? sum->cnps_handled : sum->cnps_sent, sum->ce_packets);
	if (t != NULL)
		fprintf(out, " %9.1f %9.1f %9.1f %8s %-11s %8.1f %8.1f",
			(double)hist_quantile(&t->completion_ns, 50) / 1e3,
			(double)hist_quantile(&t->completion_ns, 99) / 1e3,
			(double)t->completion_ns.max / 1e3, slowdown_text(t, 99, slowdown),
			slowdown_base(t), (double)hist_quantile(&t->rtt_ns, 50) / 1e3,
			(double)hist_quantile(&t->rtt_ns, 99) / 1e3);
	fputc('\n', out);
}

void
flows_end(struct flows *f, FILE *out, uint64_t elapsed_ns)
{
	fprintf(out, "%-20s %9s %9s %10s %8s %8s %8s %9s %9s %9s %8s %-11s %8s %8s\n", "flow",
		"wire", "goodput", "messages", "retrans-", "cnp", "ce", "complet.", "p99", "max",
		"slowdown", "of", "rtt", "p99");
	fprintf(out, "%-20s %9s %9s %10s %8s %8s %8s %9s %9s %9s %8s %-11s %8s %8s\n", "", "Gb/s",
		"Gb/s", "", "mitted", "", "packets", "p50 us", "us", "us", "p99", "", "p50 us",
		"us");
	flow_registry_read_begin(f->registry);
	flows_list(f);
	for (unsigned int i = 0; i < f->n_shown; i++) {
		const struct nic_flow *flow = f->shown[i].flow;
		const struct flow_entry *e = f->shown[i].entry;
		const struct nic_flow_info info = flow_registry_info(f->registry, e);
		const struct nic_times *times = read_times(f, e);
		struct nic_pacing pacing;

		if (i < MOST_ROWS)
			table_row(out, flow, &info.sum, times,
				  flow_registry_active_ns(f->registry, e, elapsed_ns));
		if (f->times_csv != NULL)
			times_csv_rows(f->times_csv, flow->name, times, read_pacing(f, e, &pacing));
	}
	flow_registry_read_end(f->registry);
	if (f->n_shown > MOST_ROWS)
		fprintf(out, "and %u more flows: see --csv or --json\n", f->n_shown - MOST_ROWS);
}

/* When the last QP of a requester ended, or now. 0: none has started. */
static uint64_t
ended_ns(const struct nic_flow_info *info, uint64_t now_ns)
{
	bool ended = info->qps_done + info->qps_failed == info->qps;

	return !info->started ? 0 : ended ? info->ended_ns : now_ns;
}

static void
walk_counts(struct walk *w, const struct nic_flow *flow, const struct nic_flow_info *info)
{
	const struct nic_qp_info *sum = &info->sum;

	WALK(number, w, COUNTER, "wire_bytes",
	     "bytes of data packets on the wire, with preamble and gap", wire_bytes_of(flow, sum));
	WALK(number, w, COUNTER, "payload_bytes", "payload of messages, without retransmissions",
	     payload_bytes_of(flow, sum));
	WALK(number, w, COUNTER, "messages", "complete messages sent or received",
	     messages_of(flow, sum));
	walk_number(w, WALK_COUNTER, "retransmitted_packets", "data packets retransmitted",
		    sum->retransmitted_packets);
	walk_number(w, WALK_COUNTER, "cnps_handled", "CNPs handled by congestion control",
		    sum->cnps_handled);
	walk_number(w, WALK_COUNTER, "cnps_ignored", "CNPs ignored by congestion control",
		    sum->cnps_ignored);
	walk_number(w, WALK_COUNTER, "cnps_sent", "CNPs sent for packets with CE", sum->cnps_sent);
	walk_number(w, WALK_COUNTER, "ce_packets", "data packets received with CE",
		    sum->ce_packets);
	walk_number(w, WALK_COUNTER, "rate_cuts", "rate cuts", sum->rate_cuts);
}

/* The flow that one of the configuration waits for now; "": none. */
static const char *
waits_for(const struct flows *f, const struct flow_shown *shown)
{
	uint32_t i = (uint32_t)(shown->flow - f->config->flows);

	if (shown->gone || f->awaited == NULL || f->awaited[i] == i)
		return "";
	return f->config->flows[f->awaited[i]].name;
}

void
flows_walk(struct walk *w, struct flows *f, unsigned int i, uint64_t elapsed_ns)
{
	const struct flow_shown none = {0}, *shown = w->names_only ? &none : &f->shown[i];
	const struct flow_entry *e = shown->entry;
	const struct nic_flow *flow = shown->flow;
	struct nic_flow_info info = {0};
	uint64_t active_ns = 0;
	struct nic_pacing pacing;

	if (!w->names_only) {
		info = flow_registry_info(f->registry, e);
		active_ns = flow_registry_active_ns(f->registry, e, elapsed_ns);
	}
	w->object = "flow";
	WALK(text, w, KEY, "flow", "name of the flow", flow->name);
	WALK(text, w, KEY, "cc", "congestion control of the flow",
	     cc_words[cc_chosen(flow->qp.cc, f->config->nic.cc)]);
	WALK(number, w, GAUGE, "qps", "QPs of the flow", flow->qp_count);
	WALK(flag, w, GAUGE, "requester", "whether the flow is a requester", flow->qp.requester);
	WALK(number, w, GAUGE, "configured_rate_bps",
	     "rate limit of the flow in the configuration; 0: none",
	     flow->qp.rate_cap_bps * flow->qp_count);
	WALK(number, w, GAUGE, "wire_rate_bps", "mean rate on the wire since the flow's start",
	     flows_rate_bps(wire_bytes_of(flow, &info.sum), active_ns));
	WALK(number, w, GAUGE, "goodput_bps", "mean payload rate since the flow's start",
	     flows_rate_bps(payload_bytes_of(flow, &info.sum), active_ns));
	walk_counts(w, flow, &info);
	WALK(number, w, COUNTER, "rx_pause_duration_us",
	     "time during which the flow's priority was paused",
	     flow_registry_paused_ns(f->registry, e, elapsed_ns) / NS_PER_US);
	walk_number(w, WALK_GAUGE, "qps_done", "QPs that have sent all their messages",
		    info.qps_done);
	walk_number(w, WALK_GAUGE, "qps_failed", "QPs in error", info.qps_failed);
	walk_number(w, WALK_GAUGE, "started_ns",
		    "requester: when its first QP started, since the program's start; 0: not yet",
		    info.started_ns);
	walk_number(w, WALK_GAUGE, "ended_ns",
		    "requester: when its last QP ended, or now while one sends; 0: not started",
		    ended_ns(&info, elapsed_ns));
	walk_text(
		w, WALK_KEY, "waits_for",
		"flow whose end, or whose end of the round of their barrier, it waits for; empty: "
		"none",
		w->names_only ? NULL : waits_for(f, shown));
	walk_times(w, w->names_only ? NULL : read_times(f, e));
	walk_flag(w, WALK_GAUGE, "gone",
		  "whether the flow was removed from the configuration; its counters stay",
		  shown->gone);
	WALK(number, w, GAUGE, "qps_ending",
	     "QPs of removed flows of this name that are not idle yet",
	     flow_registry_ending_qps(f->registry, e));
	walk_pacing(w, w->names_only ? NULL : read_pacing(f, e, &pacing));
}

unsigned int
flows_find(const struct flows *f, const char *name)
{
	unsigned int i = 0;

	while (i < f->n_shown && strcmp(f->shown[i].flow->name, name) != 0)
		i++;
	return i;
}

const struct nic_times *
flows_times(struct flows *f, unsigned int i)
{
	return read_times(f, f->shown[i].entry);
}

const struct nic_pacing *
flows_pacing(const struct flows *f, unsigned int i, struct nic_pacing *sum)
{
	return read_pacing(f, f->shown[i].entry, sum);
}

void
flows_walk_all(struct walk *w, struct flows *f, uint64_t elapsed_ns)
{
	walk_list(w, "flows");
	if (w->names_only) {
		walk_item(w, "flows");
		flows_walk(w, f, 0, elapsed_ns);
		walk_leave(w);
		return;
	}
	flow_registry_read_begin(f->registry);
	flows_list(f);
	for (unsigned int i = 0; i < f->n_shown; i++) {
		walk_item(w, "flows");
		flows_walk(w, f, i, elapsed_ns);
		walk_leave(w);
	}
	flow_registry_read_end(f->registry);
}
