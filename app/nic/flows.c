/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/flows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fixed.h"
#include "base/units.h"
#include "common/report.h"
#include "common/say.h"
#include "nic/report.h"

/* More of them would hide the line about the port. */
#define MOST_LINES 8

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
	fprintf(f->flows_csv, "time_ns,flow,wire_rate_bps,goodput_bps,rp_rate_bps,"
			      "rp_target_rate_bps,cnp_handled,cnp_sent,messages,"
			      "retransmitted_packets,rate_cuts\n");
	fprintf(f->port_csv, "time_ns,rx_packets,rx_bytes,tx_packets,tx_bytes,rx_pause_frames,"
			     "np_ecn_marked_roce_packets,np_cnp_sent,rp_cnp_handled,"
			     "rp_cnp_ignored,retransmitted_packets");
	for (unsigned int prio = 0; prio < TM_CLASSES; prio++)
		fprintf(f->port_csv, ",rx_prio%u_pause,rx_prio%u_pause_duration_us", prio, prio);
	fprintf(f->port_csv, "\n");
}

int
flows_open(struct flows *f, const struct nic_config *config, const char *dir)
{
	*f = (struct flows){.config = config};
	f->last = calloc(config->n_flows, sizeof(*f->last));
	if (f->last == NULL) {
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
	if (f->port_csv == NULL)
		return APP_FAILED;
	print_headings(f);
	return 0;
}

int
flows_close(struct flows *f)
{
	FILE *files[] = {f->flows_csv, f->port_csv};
	int rc = 0;

	for (unsigned int i = 0; i < 2; i++) {
		bool failed = files[i] != NULL && ferror(files[i]);

		if (files[i] != NULL && (fclose(files[i]) != 0 || failed))
			rc = APP_FAILED;
	}
	if (rc != 0)
		say_error("the CSV files are not whole: %s", strerror(errno));
	free(f->last);
	*f = (struct flows){0};
	return rc;
}

static void
add_qp(struct flow_counts *c, const struct nic_flow *flow, const struct nic_qp_info *i)
{
	if (flow->qp.requester) {
		c->wire_bytes += i->tx_wire_bytes;
		c->payload_bytes += i->tx_payload_bytes;
		c->messages += i->tx_messages;
		c->rate_bps += i->rate_bps;
		c->target_rate_bps += i->target_rate_bps;
		c->qps_done += i->done;
	} else {
		c->wire_bytes += i->rx_wire_bytes;
		c->payload_bytes += i->rx_payload_bytes;
		c->messages += i->rx_messages;
	}
	c->retransmitted_packets += i->retransmitted_packets;
	c->cnps_handled += i->cnps_handled;
	c->cnps_sent += i->cnps_sent;
	c->rate_cuts += i->rate_cuts;
	c->qps_failed += i->error;
}

/* QPs were dealt out to the nodes in turn. @param first  Of the flow, among all QPs. */
static struct flow_counts
count(const struct run_app *app, const struct nic_flow *flow, uint32_t first)
{
	struct flow_counts c = {0};

	for (uint32_t i = first; i < first + flow->qp_count; i++) {
		struct nic_qp_info info;

		nic_qp_info(app->nodes[i % app->n_nodes], i / app->n_nodes, &info);
		add_qp(&c, flow, &info);
	}
	return c;
}

static uint64_t
rate_bps(uint64_t bytes, uint64_t ns)
{
	return ns == 0 ? 0 : (uint64_t)((double)bytes * 8e9 / (double)ns + 0.5);
}

static void
flow_row(FILE *csv, const char *name, const struct flow_counts *c, uint64_t wire_bps,
	 uint64_t goodput_bps, uint64_t now_ns)
{
	fprintf(csv,
		"%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
		",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
		now_ns, name, wire_bps, goodput_bps, c->rate_bps, c->target_rate_bps,
		c->cnps_handled, c->cnps_sent, c->messages, c->retransmitted_packets, c->rate_cuts);
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
sample_flow(struct flows *f, unsigned int i, const struct flow_counts *c, FILE *out,
	    uint64_t now_ns)
{
	const struct flow_counts *last = &f->last[i];
	const char *name = f->config->flows[i].name;
	uint64_t ns = now_ns - f->last_ns;
	uint64_t wire_bps = rate_bps(c->wire_bytes - last->wire_bytes, ns);
	uint64_t goodput_bps = rate_bps(c->payload_bytes - last->payload_bytes, ns);

	if (f->flows_csv != NULL)
		flow_row(f->flows_csv, name, c, wire_bps, goodput_bps, now_ns);
	if (f->config->n_flows > 1 && f->config->n_flows <= MOST_LINES)
		fprintf(out,
			"           flow %-16s wire %8.4f Gb/s goodput %8.4f Gb/s  messages "
			"%" PRIu64 " retransmitted %" PRIu64 " cnp tx %" PRIu64 " rx %" PRIu64 "\n",
			name, (double)wire_bps / 1e9, (double)goodput_bps / 1e9, c->messages,
			c->retransmitted_packets, c->cnps_sent, c->cnps_handled);
}

void
flows_sample(struct flows *f, const struct run_app *app, FILE *out, uint64_t now_ns)
{
	uint32_t first = 0;

	/* Reading all QPs costs a single lcore the time of a packet each: only for a reader. */
	if (f->flows_csv == NULL && f->config->n_flows > MOST_LINES)
		return;
	for (unsigned int i = 0; i < f->config->n_flows; i++) {
		const struct nic_flow *flow = &f->config->flows[i];
		struct flow_counts c = count(app, flow, first);

		sample_flow(f, i, &c, out, now_ns);
		f->last[i] = c;
		first += flow->qp_count;
	}
	f->last_ns = now_ns;
	if (f->flows_csv != NULL) {
		fflush(f->flows_csv);
		port_row(f->port_csv, app, now_ns);
	}
}

static json_t *
flow_object(const struct nic_flow *flow, const struct flow_counts *c, uint64_t elapsed_ns)
{
	json_t *o = json_object();

	json_object_set_new(o, "flow", json_string(flow->name));
	report_set_u64(o, "qps", flow->qp_count);
	json_object_set_new(o, "requester", json_boolean(flow->qp.requester));
	report_set_u64(o, "configured_rate_bps", flow->qp.rate_cap_bps * flow->qp_count);
	report_set_u64(o, "wire_rate_bps", rate_bps(c->wire_bytes, elapsed_ns));
	report_set_u64(o, "goodput_bps", rate_bps(c->payload_bytes, elapsed_ns));
	report_set_u64(o, "wire_bytes", c->wire_bytes);
	report_set_u64(o, "payload_bytes", c->payload_bytes);
	report_set_u64(o, "messages", c->messages);
	report_set_u64(o, "retransmitted_packets", c->retransmitted_packets);
	report_set_u64(o, "cnps_handled", c->cnps_handled);
	report_set_u64(o, "cnps_sent", c->cnps_sent);
	report_set_u64(o, "rate_cuts", c->rate_cuts);
	report_set_u64(o, "qps_done", c->qps_done);
	report_set_u64(o, "qps_failed", c->qps_failed);
	return o;
}

json_t *
flows_report(const struct flows *f, const struct run_app *app, uint64_t elapsed_ns)
{
	json_t *list = json_array();
	uint32_t first = 0;

	for (unsigned int i = 0; i < f->config->n_flows; i++) {
		const struct nic_flow *flow = &f->config->flows[i];
		struct flow_counts c = count(app, flow, first);
		uint64_t start_ns = min_u64(flow->qp.requester ? flow->qp.start_ns : 0, elapsed_ns);

		json_array_append_new(list, flow_object(flow, &c, elapsed_ns - start_ns));
		first += flow->qp_count;
	}
	return list;
}
