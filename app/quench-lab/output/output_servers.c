/* SPDX-License-Identifier: BSD-3-Clause */
/* Servers with several NICs: what their hosts sent and received, and their sums. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "runtime/notice/say.h"
#include "runtime/report/report.h"
#include "quench-lab/output/output.h"

/* Sums over flows, in the measured window. */
struct traffic {
	uint64_t tx_wire_bps, tx_goodput_bps, rx_goodput_bps;
};

static bool
has_servers(const struct lab_run *run)
{
	return net_server(run->net, 0) != NULL;
}

/* By host number - 1. @return owned by the caller, or NULL. */
static struct traffic *
traffic_of(const struct lab_run *run)
{
	struct traffic *hosts = calloc(run->scenario->topology->n_hosts, sizeof(*hosts));

	for (uint32_t i = 0; hosts != NULL && i < run->result.n_flows; i++) {
		const struct flow_result *f = &run->result.flows[i];
		struct traffic *from = &hosts[net_flow_sender(f->flow).host - 1];

		from->tx_wire_bps += f->wire_rate_bps;
		from->tx_goodput_bps += f->goodput_bps;
		hosts[net_flow_receiver(f->flow).host - 1].rx_goodput_bps += f->goodput_bps;
	}
	return hosts;
}

static struct traffic
sum_of(const struct lab_run *run, const struct traffic *hosts, uint32_t server)
{
	uint16_t n = run->scenario->fabric.nics_per_server;
	struct traffic sum = {0};

	for (uint16_t i = 0; i < n; i++) {
		const struct traffic *host = &hosts[server * n + i];

		sum.tx_wire_bps += host->tx_wire_bps;
		sum.tx_goodput_bps += host->tx_goodput_bps;
		sum.rx_goodput_bps += host->rx_goodput_bps;
	}
	return sum;
}

static void
walk_traffic(struct walk *w, const struct traffic *t)
{
	WALK(number, w, GAUGE, "tx_wire_rate_bps", "rate of its flows on the wire", t->tx_wire_bps);
	WALK(number, w, GAUGE, "tx_goodput_bps", "payload rate of its flows", t->tx_goodput_bps);
	WALK(number, w, GAUGE, "rx_goodput_bps", "payload rate of the flows to it",
	     t->rx_goodput_bps);
}

/* run and hosts are NULL with names_only. */
static void
walk_server(struct walk *w, const struct lab_run *run, const struct traffic *hosts, uint32_t server)
{
	const struct server_stats *inside =
		w->names_only ? NULL : server_stats(net_server(run->net, server));
	uint16_t n = w->names_only ? 1 : run->scenario->fabric.nics_per_server;
	struct traffic sum = {0};
	char name[24];

	if (!w->names_only)
		sum = sum_of(run, hosts, server);
	w->object = "server";
	snprintf(name, sizeof(name), "server%u", server + 1);
	walk_text(w, WALK_KEY, "name", "name of the server", name);
	walk_texts(w, "hosts", "its hosts, each a NIC");
	for (uint32_t h = server * n + 1; !w->names_only && h <= (server + 1) * n; h++) {
		snprintf(name, sizeof(name), "h%u", h);
		walk_add_text(w, "hosts", name);
	}
	walk_traffic(w, &sum);
	WALK(number, w, COUNTER, "messages_inside", "messages between its ranks", inside->messages);
	WALK(number, w, COUNTER, "bytes_inside", "payload of these messages", inside->bytes);
	walk_list(w, "nics");
	for (uint32_t h = server * n + 1; h <= (server + 1) * n; h++) {
		snprintf(name, sizeof(name), "h%u", h);
		walk_item(w, "nics");
		walk_text(w, WALK_KEY, "host", "the host", name);
		walk_traffic(w, w->names_only ? NULL : &hosts[h - 1]);
		walk_leave(w);
	}
}

void
output_walk_servers(struct walk *w, const struct lab_run *run)
{
	struct traffic *hosts = w->names_only || !has_servers(run) ? NULL : traffic_of(run);
	uint32_t n = w->names_only ? 1 : hosts == NULL ? 0 : scenario_n_servers(run->scenario);

	walk_list(w, "servers");
	for (uint32_t i = 0; i < n; i++) {
		walk_item(w, "servers");
		walk_server(w, run, hosts, i);
		walk_leave(w);
	}
	free(hosts);
}

/* Rows on the terminal; results.json has all. */
#define SERVER_ROWS 16u

void
output_servers_table(FILE *out, const struct lab_run *run)
{
	uint32_t n = has_servers(run) ? scenario_n_servers(run->scenario) : 0;
	struct traffic *hosts = n > 0 ? traffic_of(run) : NULL;

	if (hosts == NULL)
		return;
	fprintf(out, "\n%-20s %9s %10s %10s %14s\n%-20s %9s %10s %10s %14s\n", "server", "NICs",
		"sent", "received", "inside", "", "", "Gb/s", "Gb/s", "bytes");
	for (uint32_t i = 0; i < n && i < SERVER_ROWS; i++) {
		const struct traffic sum = sum_of(run, hosts, i);
		char name[16];

		snprintf(name, sizeof(name), "server%u", i + 1);
		fprintf(out, "%-20s %9u %10.3f %10.3f %14" PRIu64 "\n", name,
			run->scenario->fabric.nics_per_server, (double)sum.tx_goodput_bps / 1e9,
			(double)sum.rx_goodput_bps / 1e9,
			server_stats(net_server(run->net, i))->bytes);
	}
	if (n > SERVER_ROWS)
		fprintf(out, "and %u more servers\n", n - SERVER_ROWS);
	fputc('\n', out);
	free(hosts);
}

int
output_servers_csv(const struct lab_run *run, const char *dir)
{
	struct traffic *hosts;
	FILE *out;

	if (!has_servers(run))
		return 0;
	hosts = traffic_of(run);
	if (hosts == NULL) {
		say_error("%s/servers.csv: no memory", dir);
		return -ENOMEM;
	}
	out = output_open(dir, "servers.csv",
			  "server,host,tx_wire_rate_bps,tx_goodput_bps,rx_goodput_bps");
	for (uint32_t h = 1; out != NULL && h <= run->scenario->topology->n_hosts; h++)
		fprintf(out, "server%u,h%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
			scenario_server_of(run->scenario, h) + 1, h, hosts[h - 1].tx_wire_bps,
			hosts[h - 1].tx_goodput_bps, hosts[h - 1].rx_goodput_bps);
	free(hosts);
	return out == NULL ? -EIO : output_close(out, dir, "servers.csv");
}
