/* SPDX-License-Identifier: BSD-3-Clause */
/* quench-nic: read the configuration, build the NIC and its QPs on one device, run it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "base/units.h"
#include "common/opts.h"
#include "common/port_probe.h"
#include "common/port_queues.h"
#include "common/ports.h"
#include "common/report.h"
#include "common/run.h"
#include "common/say.h"
#include "ctl/nic_config.h"
#include "nic/nic_share.h"
#include "nic/report.h"
#include "nic/trace.h"
#include "node/pkt_pool.h"

/* Frames of each pool: rings, bursts and what a virtual device holds, with room to spare. */
#define POOL_FRAMES 4095
#define LARGEST_MTU 4096

static struct quench_nic {
	struct nic_config config;
	uint16_t ethdev;
	uint16_t n_open;
	uint16_t n_nodes; /* one for each lcore that polls */
	struct port_plan plan;
	struct poll_queues queues[NIC_SHARE_MAX_NODES];
	bool stay;
	uint32_t n_qps;
	struct rte_mempool *rx_pool;
	struct nic_pools pools;
	struct nic_share *share; /* NULL: one node */
	struct node *nodes[NIC_SHARE_MAX_NODES];
	struct run_result result;
	struct flows flows;
} nic;

static const struct opts_program program = {
	.name = "quench-nic",
	.purpose =
		"A RoCEv2 traffic generator and responder with DCQCN on a DPDK port. It ends when "
		"all\nmessages of its flows are completed; one that only answers ends on a signal.",
	.trace_help = "write the traces of QPs that trace_qps of [flow NAME] chooses",
	.csv_help = "write DIR/flows.csv and DIR/port.csv, a row for each statistics line; DIR/times.csv",
	.json_qps_help = "most QPs that the JSON lists one by one; flows are whole",
	.stay_help = "go on after the last message, until a signal or the duration's end",
	.help_config = nic_config_print_reference,
};

static void
close_nic(void)
{
	/* The node gives its packets back before devices and pools go. */
	for (uint16_t i = 0; i < nic.n_nodes; i++)
		nic_destroy(nic.nodes[i]);
	nic_share_destroy(nic.share);
	free(nic.result.loops);
	free(nic.result.paces);
	ports_close(&nic.ethdev, nic.n_open);
	if (nic.pools.data != NULL)
		pkt_pool_destroy(nic.pools.data);
	if (nic.pools.control != NULL)
		pkt_pool_destroy(nic.pools.control);
	if (nic.rx_pool != NULL)
		pkt_pool_destroy(nic.rx_pool);
	rte_eal_cleanup();
}

static uint16_t
largest_mtu(void)
{
	uint16_t mtu = 0;

	for (unsigned int i = 0; i < nic.config.n_flows; i++)
		if (nic.config.flows[i].qp.mtu_bytes > mtu)
			mtu = nic.config.flows[i].qp.mtu_bytes;
	return mtu;
}

/* Frames of a pool that all nodes share. */
static uint32_t
pool_frames(void)
{
	return nic.n_nodes * (POOL_FRAMES + 1) - 1;
}

static int
create_pools(void)
{
	struct pkt_pool_params control = {
		.name = "control",
		.n_mbufs = pool_frames(),
		.largest_frame = nic_largest_frame(0),
		.socket = (int)rte_lcore_to_socket_id(run_poll_lcore(0)),
		.threads = nic.n_nodes > 1,
	};
	struct pkt_pool_params rx = control;

	rx.name = "rx";
	rx.largest_frame = nic_largest_frame(LARGEST_MTU);
	nic.pools.control = pkt_pool_create(&control);
	if (nic.pools.control != NULL)
		nic.pools.data =
			nic_data_pool_create("data", pool_frames(), largest_mtu(), control.socket);
	if (nic.pools.data != NULL)
		nic.rx_pool = pkt_pool_create(&rx);
	if (nic.rx_pool != NULL)
		return 0;
	say_error("pools of %u mbufs: %s (more memory with -m or hugepages)", pool_frames(),
		  rte_strerror(rte_errno));
	return APP_FAILED;
}

static int
open_device(void)
{
	struct port_params params = {
		.link_speed_bps = nic.config.nic.link_speed_bps,
		.largest_frame = nic_largest_frame(largest_mtu()),
		.pool = nic.rx_pool,
		.rx_queues = nic.plan.rx_queues,
		.tx_queues = nic.plan.tx_queues,
	};
	int rc = port_open(nic.ethdev, &params);

	if (rc != 0)
		return rc;
	nic.n_open = 1;
	for (uint16_t i = 0; i < nic.n_nodes; i++)
		port_check_numa(nic.ethdev, run_poll_lcore(i), nic.rx_pool);
	return port_address(nic.ethdev, nic.config.nic.mac);
}

/* As many nodes as there are lcores, transmit queues and QPs for. @return 0 or an exit code. */
static int
choose_nodes(void)
{
	struct port_offer offer = {0};
	uint16_t n = run_poll_lcores();

	for (unsigned int f = 0; f < nic.config.n_flows; f++)
		nic.n_qps += nic.config.flows[f].qp_count;
	if (n > NIC_SHARE_MAX_NODES)
		n = NIC_SHARE_MAX_NODES;
	if (n > nic.n_qps)
		n = (uint16_t)nic.n_qps;
	if (port_offer_of(nic.ethdev, &offer) != 0 ||
	    port_plan(&offer, nic.config.nic.control_tx_queue, n, &nic.plan) != 0) {
		say_error("%s has %u transmit and %u receive queues: control_tx_queue = on needs "
			  "two for each lcore",
			  port_name(nic.ethdev), offer.tx_queues, offer.rx_queues);
		return APP_BAD_USAGE;
	}
	nic.n_nodes = nic.plan.n_lcores;
	for (uint16_t i = 0; i < nic.n_nodes; i++)
		nic.queues[i] = port_plan_queues(&nic.plan, i);
	if (nic.n_nodes < n)
		say_warning("%s has %u transmit queues: %u lcores poll it", port_name(nic.ethdev),
			    offer.tx_queues, nic.n_nodes);
	return 0;
}

/* Nodes that are one NIC: QPs are dealt out to them in turn. */
static int
share_nic(void)
{
	struct nic_share_params share = {
		.n_nodes = nic.n_nodes,
		.first_qpn = nic.config.nic.first_qpn,
		.link_speed_bps = nic.config.nic.link_speed_bps,
		.shaper_burst_ns = nic.config.nic.shaper_burst_ns,
		/* Some devices hand over the sender's mbufs. */
		.rx_mbufs = 3 * pool_frames(),
		.socket = (int)rte_lcore_to_socket_id(run_poll_lcore(0)),
	};

	nic.share = nic_share_create(&share);
	if (nic.share != NULL)
		return 0;
	say_error("rings between %u lcores: %s", nic.n_nodes, rte_strerror(rte_errno));
	return APP_FAILED;
}

static int
create_node(uint16_t i)
{
	struct nic_params params = nic.config.nic;

	if (nic.share != NULL) {
		params.first_qpn += i;
		params.max_qps = nic_share_qps(nic.n_qps, nic.n_nodes, i);
	}
	nic.nodes[i] = nic_create(&params, &nic.pools);
	if (nic.nodes[i] == NULL) {
		say_error("the NIC cannot be built: %s", strerror(errno));
		return APP_FAILED;
	}
	if (nic.share != NULL)
		nic_join(nic.nodes[i], nic.share, i);
	if (nic.plan.control_apart)
		nic_send_control_apart(nic.nodes[i]);
	return 0;
}

static int
add_qps(void)
{
	uint32_t n = 0;

	for (unsigned int f = 0; f < nic.config.n_flows; f++) {
		const struct nic_flow *flow = &nic.config.flows[f];

		for (uint32_t i = 0; i < flow->qp_count; i++) {
			struct nic_qp_params qp = nic_flow_qp(flow, i);
			int64_t qpn;

			qp.flow_id = f;
			qpn = nic_add_qp(nic.nodes[n++ % nic.n_nodes], &qp, 0);

			if (qpn >= 0)
				continue;
			say_error("flow %s: QP %u of %u: %s", flow->name, i + 1, flow->qp_count,
				  strerror((int)-qpn));
			return APP_FAILED;
		}
	}
	return 0;
}

static int
open_nic(const struct opts *opts)
{
	int rc = ports_find(&nic.ethdev, 1, opts->config);

	if (rc != 0)
		return rc;
	rc = choose_nodes();
	if (rc == 0)
		rc = create_pools();
	if (rc == 0)
		rc = open_device();
	if (rc == 0 && nic.n_nodes > 1)
		rc = share_nic();
	for (uint16_t i = 0; rc == 0 && i < nic.n_nodes; i++)
		rc = create_node(i);
	if (rc == 0)
		rc = add_qps();
	return rc == 0 && opts->trace != NULL ? trace_start(nic.nodes, nic.n_nodes, &nic.config)
					      : rc;
}

/* Requesters that end by themselves: without one, there is nothing to wait for. */
static bool
has_an_end(void)
{
	for (unsigned int f = 0; f < nic.config.n_flows; f++) {
		const struct nic_qp_params *qp = &nic.config.flows[f].qp;

		if (qp->requester && (qp->messages > 0 || qp->stop_ns != NEVER_NS))
			return true;
	}
	return false;
}

static bool
all_done(const struct run_app *app)
{
	if (nic_total_stats(app).qp_errors == 0)
		say("all messages completed");
	return !nic.stay;
}

/* A QP that gave up is no result to build on, however the run ended. */
static int
outcome(const struct run_app *app)
{
	uint64_t failed = nic_total_stats(app).qp_errors;

	if (failed == 0)
		return APP_DONE;
	say_error("%" PRIu64 " of %u QPs gave up: the peer does not answer, or refused", failed,
		  nic.n_qps);
	return APP_FAILED;
}

/* A flow whose peer never answered has sent nothing: that is worth a line. */
static void
check_neighbours(void)
{
	uint32_t unresolved;
	uint32_t n = nic_neighbours(nic.nodes[0], &unresolved);

	if (unresolved > 0)
		say_warning("%u of %u peers given without peer_mac did not answer: their MAC "
			    "addresses are not known",
			    unresolved, n);
}

static void
sample(const struct run_app *app, FILE *out, uint64_t now_ns)
{
	flows_sample(&nic.flows, app, out, now_ns);
}

static void
say_running(void)
{
	char lcores[64];

	if (nic.n_nodes == 1)
		snprintf(lcores, sizeof(lcores), "polling on lcore %u", run_poll_lcore(0));
	else
		snprintf(lcores, sizeof(lcores), "polling on %u lcores, %u receive queue%s",
			 nic.n_nodes, nic.plan.rx_queues, nic.plan.rx_queues == 1 ? "" : "s");
	say("running: %u QPs on %s, %s%s", nic.n_qps, port_name(nic.ethdev), lcores,
	    nic.plan.control_apart ? ", control frames by queues of their own" : "");
}

/* A result that is missing is worth a line. */
static void
say_measures(void)
{
	bool all = true;

	for (uint16_t i = 0; i < nic.n_nodes; i++)
		all = all && nic_measures_times(nic.nodes[i]);
	if (!all && nic.config.nic.measure_times == NIC_MEASURE_AUTO)
		say("completion and round-trip times are not measured: more than %u QPs on an "
		    "lcore; measure_times = on measures them",
		    NIC_TIMED_QPS);
}

static int
run_nic(const struct opts *opts)
{
	struct run_app app = {
		.node = nic.nodes[0],
		.nodes = nic.nodes,
		.n_nodes = nic.n_nodes,
		.measure_pacing = nic.config.nic.measure_pacing,
		.queues = nic.queues,
		.ethdevs = &nic.ethdev,
		.n_ports = 1,
		.opts = opts,
		.done = has_an_end() ? nic_done : NULL,
		.all_done = all_done,
		.stats = nic_stats_line,
		.sample = sample,
	};
	int rc, closed;

	nic.stay = opts->stay;
	rc = flows_open(&nic.flows, &nic.config, opts->csv);
	if (rc != 0) {
		flows_close(&nic.flows);
		return rc;
	}
	say_running();
	say_measures();
	rc = run_node(&app, &nic.result);
	check_neighbours();
	port_check_hidden_pause(nic.ethdev, nic_total_stats(&app).rx_pause_frames);
	if (rc == 0 && opts->trace != NULL)
		rc = trace_write(nic.nodes, nic.n_nodes, &nic.config, opts->trace);
	if (rc == 0 && opts->json != NULL)
		rc = report_write(nic_report(&app, &nic.result, &nic.flows),
				  opts->json);
	if (rc == 0 && opts->stats_interval_ns > 0)
		flows_end(&nic.flows, &app, run_stats_file(opts), nic.result.elapsed_ns);
	/* Whatever the counters came to, the files are closed. */
	closed = flows_close(&nic.flows);
	if (rc == 0)
		rc = closed;
	return rc == 0 ? outcome(&app) : rc;
}

/* @return 0, or -errno after an error line. */
static int
read_config(const char *path)
{
	struct config_error err;
	struct config *cfg = config_open(path, &err);
	int rc = cfg == NULL ? -EINVAL : nic_config_read(cfg, &nic.config, &err);

	if (rc == 0)
		rc = config_finish(cfg, &err);
	if (rc == 0 && nic.config.n_flows == 0)
		rc = config_refuse(cfg, "flow", NULL, "a section [flow NAME] at least", &err);
	if (rc != 0) {
		fprintf(stderr, "%s\n", err.text);
		nic_config_free(&nic.config);
	}
	config_close(cfg);
	return rc;
}

static int
start(const struct opts *opts)
{
	int rc = run_start(opts);

	if (rc != 0)
		return rc;
	rc = open_nic(opts);
	if (rc == 0)
		rc = run_nic(opts);
	close_nic();
	return rc;
}

static int
act(const struct opts *opts)
{
	int rc = APP_DONE;

	if (opts_answer(&program, opts))
		return APP_DONE;
	if (read_config(opts->config) != 0)
		return APP_BAD_USAGE;
	if (opts->action == OPTS_RUN)
		rc = start(opts);
	else
		nic_config_print(stdout, &nic.config);
	nic_config_free(&nic.config);
	return rc;
}

int
main(int argc, char **argv)
{
	struct opts opts;
	int rc;

	say_as(program.name);
	rc = opts_parse(&program, argc, argv, &opts);
	if (rc == 0)
		rc = act(&opts);
	opts_free(&opts);
	return say_end(rc);
}
