/* SPDX-License-Identifier: BSD-3-Clause */
/* quench-nic: read the configuration, build the NIC and its QPs on one device, run it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_lcore.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "runtime/eal/eal_end.h"
#include "runtime/run/program.h"
#include "runtime/port/port_probe.h"
#include "runtime/device/port_device.h"
#include "runtime/report/report.h"
#include "runtime/run/run.h"
#include "runtime/notice/say.h"
#include "ctl/nic_config/nic_config.h"
#include "nic/gsi/gsi.h"
#include "quench-nic/config/nic_version.h"
#include "quench-nic/connections/connections.h"
#include "quench-nic/nodes/nodes.h"
#include "quench-nic/desk/nic_report.h"
#include "quench-nic/desk/nic_desk.h"
#include "quench-nic/jobs/jobs.h"
#include "quench-nic/tracing/tracing.h"

static struct quench_nic {
	struct nic_version *first; /* in force when the nodes begin to run */
	struct active_config *active;
	struct nic_config_context config_context;
	struct nic_nodes nodes;
	struct flow_registry registry;
	struct tracing tracing;
	struct connections connections;
	struct jobs jobs;
	bool stay;
	bool said_completed, said_stuck; /* main lcore only */
	bool tried_connections;
	struct hops_watch hops;
	struct run_result result;
	struct flows flows;
} nic;

static const struct opts_program command_line = {
	.name = "quench-nic",
	.purpose =
		"A RoCEv2 traffic generator and responder with DCQCN on a DPDK port. It ends when "
		"all\nmessages of its flows and all iterations of its jobs are complete; without a "
		"requester it\nruns until a signal.",
	.trace_help = "write traces of the QPs selected by trace_qps of [flow NAME]",
	.csv_help = "write DIR/flows.csv and DIR/port.csv, a row for each statistics line; "
		    "DIR/times.csv, DIR/jobs.csv",
	.json_qps_help = "largest number of QPs in the JSON; its flows cover all QPs",
	.stay_help = "keep running after the last message, until a signal or the end of --duration",
	.help_config = nic_config_print_reference,
	.results = nic_report_names,
};

static void
close_nic(int code)
{
	eal_quiet(code);
	free(nic.result.loops);
	free(nic.result.links);
	free(nic.result.paces);
	nodes_close(&nic.nodes);
	tracing_close(&nic.tracing);
	jobs_close(&nic.jobs);
	eal_end();
	active_config_destroy(nic.active);
	flow_registry_close(&nic.registry);
}

static int
open_nic(const struct opts *opts)
{
	struct config_error err;
	int rc = nodes_open(&nic.nodes, &nic.first->config, opts);

	if (rc == 0)
		rc = jobs_open(&nic.jobs, &nic.nodes, &nic.registry, &nic.first->config);
	if (rc == 0 && (flow_registry_open(&nic.registry, &nic.nodes, nic.nodes.max_qps) != 0 ||
			nic_version_begin(&nic.registry, nic.first, &err) != 0)) {
		say_error("flows: %s", strerror(ENOMEM));
		rc = APP_FAILED;
	}
	if (rc == 0)
		rc = jobs_begin(&nic.jobs);
	if (rc == 0 &&
	    nic_gsi_open(nic.nodes.node, nic.nodes.plan.n_lcores, nic.nodes.gsi_pool) != 0) {
		say_error("QP 1: %s", strerror(ENOMEM));
		rc = APP_FAILED;
	}
	if (rc == 0 && opts->trace != NULL)
		rc = trace_start(nic.nodes.node, nic.nodes.share, &nic.first->config);
	if (rc == 0 && tracing_open(&nic.tracing, &nic.nodes) != 0) {
		say_error("%s", strerror(ENOMEM));
		rc = APP_FAILED;
	}
	return rc;
}

/* QPs that gave up and have not been reset since, except those that no job needs. */
static uint64_t
failed_qps(const struct config_version *v)
{
	uint64_t failed = 0;

	for (uint16_t i = 0; i < nic.nodes.plan.n_lcores; i++)
		failed += nic_failed(nic.nodes.node[i]);
	return failed > 0 ? sub_sat(failed, jobs_unneeded_qps(&nic.jobs, nic_config_of(v))) : 0;
}

/* Do all QPs that have not ended wait for flows that never end, since QPs of these gave up? */
static bool
is_stuck(const struct config_version *v, uint32_t *flow)
{
	uint64_t pending = 0, failed = 0;

	for (uint16_t i = 0; i < nic.nodes.plan.n_lcores; i++) {
		pending += nic_pending(nic.nodes.node[i]);
		failed += nic_failed(nic.nodes.node[i]);
	}
	return pending > 0 && failed > 0 && nodes_are_reloaded(&nic.nodes) &&
	       flow_registry_stuck_qps(&nic.registry, nic_config_of(v), flow) == pending;
}

/* As is_stuck(). Each time that it becomes so, print which flow waits, and for which. */
static bool
say_if_stuck(const struct config_version *v)
{
	const struct nic_config *c = nic_config_of(v);
	uint32_t flow = UINT32_MAX;
	bool stuck = is_stuck(v, &flow);
	uint32_t *awaited = stuck && !nic.said_stuck && flow != UINT32_MAX
				    ? flow_registry_awaited(&nic.registry, c)
				    : NULL;

	if (awaited != NULL)
		say_warning("[flow %s] has not begun: it waits for [flow %s], which has not ended",
			    c->flows[flow].name, c->flows[awaited[flow]].name);
	free(awaited);
	nic.said_stuck = stuck;
	return stuck;
}

/*
 * Are all messages of the active configuration complete? The first time that they are, print a
 * line.
 */
static bool
is_done(const struct run_app *app)
{
	const struct config_version *v = active_config_hold(nic.active);
	/* Without a requester that ends by itself, the program never ends by itself. */
	bool done = ((const struct nic_version *)v)->ends &&
		    (say_if_stuck(v) || nodes_are_done(&nic.nodes)) &&
		    connections_are_done(&nic.connections) && jobs_are_done(&nic.jobs);
	bool completed = done && failed_qps(v) == 0 && !jobs_have_failed(&nic.jobs);

	(void)app;
	active_config_release(nic.active, v);
	if (completed && !nic.said_completed)
		say("all messages completed");
	nic.said_completed = completed;
	return done && !nic.stay;
}

static uint64_t
shaper_burst_ns(const struct run_app *app)
{
	(void)app;
	return nic.first->config.nic.shaper_burst_ns;
}

/* If a QP gave up or the device was removed, the run has failed, even if it ended by a signal. */
static int
outcome(uint64_t failed)
{
	if (failed == 0)
		return nic.result.no_device_left || jobs_have_failed(&nic.jobs) ? APP_FAILED
										: APP_DONE;
	/* Some may belong to flows that were removed. */
	say_error("%" PRIu64 " QPs gave up: the peer does not answer, or refused", failed);
	return APP_FAILED;
}

/* Warn of flows that have sent nothing because their peer never answered. */
static void
check_neighbours(void)
{
	uint32_t unresolved;
	uint32_t n = nic_neighbours(nic.nodes.node[0], &unresolved);

	if (unresolved > 0)
		say_warning("%u of %u peers without peer_mac did not answer ARP or neighbour "
			    "discovery: their MAC addresses are unknown",
			    unresolved, n);
}

static void
sample(const struct run_app *app, FILE *out, uint64_t now_ns)
{
	flows_sample(&nic.flows, app, out, now_ns);
}

static void
watch(const struct run_app *app, const struct port_link *links, uint64_t now_ns)
{
	(void)links;
	const struct config_version *v = active_config_hold(nic.active);

	jobs_watch(&nic.jobs, nic_config_of(v), now_ns);
	active_config_release(nic.active, v);
	tracing_tend(&nic.tracing, now_ns);
	hops_look(&nic.hops, app);
	/* Here, because now the mailbox is served. */
	if (!nic.connections.has_thread && !nic.tried_connections &&
	    connections_start(&nic.connections, nic.active, &nic.registry) != 0)
		say_warning("connections: no thread: RDMA CM does not answer");
	nic.tried_connections = true;
}

static bool
leave(const struct run_app *app, uint64_t now_ns)
{
	(void)app;
	return connections_leave(&nic.connections, now_ns);
}

static void
say_running(void)
{
	char lcores[80];

	if (nic.nodes.plan.n_lcores == 1)
		snprintf(lcores, sizeof(lcores), "polling on lcore %u", run_poll_lcore(0));
	else
		snprintf(lcores, sizeof(lcores), "polling on %u lcores, %u receive queue%s%s",
			 nic.nodes.plan.n_lcores, nic.nodes.plan.rx_queues,
			 nic.nodes.plan.rx_queues == 1 ? "" : "s",
			 nic.nodes.plan.rx_queues == 1 ? ""
			 : nic.nodes.placed            ? ", QPs placed by RSS"
						       : ", QPs not placed by RSS");
	say("running: %u QPs on %s, %s%s", nic.nodes.n_qps, port_name(nic.nodes.ethdev), lcores,
	    nic.nodes.plan.control_apart ? ", separate queues for control frames" : "");
}

/* Print a line if times will not be measured. */
static void
say_measures(void)
{
	bool all = true;

	for (uint16_t i = 0; i < nic.nodes.plan.n_lcores; i++)
		all = all && nic_measures_times(nic.nodes.node[i]);
	if (!all && nic.first->config.nic.measure_times == NIC_MEASURE_AUTO)
		say("completion and round-trip times are not measured: more than %u QPs on an "
		    "lcore; set measure_times = on to measure them",
		    NIC_TIMED_QPS);
}

static void
started(const struct run_app *app)
{
	(void)app;
	say_running();
	say_measures();
	jobs_say(&nic.jobs);
}

static void
set_epoch(const struct run_app *app, uint64_t epoch_ns)
{
	nic.jobs.epoch_ns = epoch_ns;
	for (uint16_t i = 0; i < app->n_nodes; i++)
		nic_set_epoch(app->nodes[i], epoch_ns);
}

static int
run_nic(const struct opts *opts)
{
	struct desk desk = {
		.name = "quench-nic",
		.methods = nic_methods,
		.n_methods = nic_methods_n,
		.program = &nic.tracing,
		.active = nic.active,
	};
	struct run_app app = {
		.node = nic.nodes.node[0],
		.desk = &desk,
		.nodes = nic.nodes.node,
		.n_nodes = nic.nodes.plan.n_lcores,
		.waits_for_link = true,
		.measure_pacing = nic.first->config.nic.measure_pacing,
		.set_epoch = set_epoch,
		.queues = nic.nodes.queues,
		.share = nic.nodes.share,
		.ethdevs = &nic.nodes.ethdev,
		.n_ports = 1,
		.opts = opts,
		.started = started,
		.done = is_done,
		.shaper_burst_ns = shaper_burst_ns,
		.stats = nic_stats_line,
		.watch = watch,
		.leave = leave,
		.sample = sample,
	};
	const struct config_version *last;
	uint64_t failed;
	int rc, closed;

	nic.stay = opts->stay;
	nic.hops.cc_mask = nic_cc_mask(&nic.first->config.nic);
	nic.hops.int_slots = nic.first->config.nic.int_slots;
	rc = flows_open(&nic.flows, &nic.first->config, &nic.registry, opts->csv);
	if (rc != 0) {
		flows_close(&nic.flows);
		return rc;
	}
	rc = run_node(&app, &nic.result);
	connections_stop(&nic.connections);
	last = active_config_hold(nic.active);
	check_neighbours();
	port_check_hidden_pause(nic.nodes.ethdev, nic_total_stats(&app).rx_pause_frames);
	if (rc == 0 && opts->trace != NULL)
		rc = trace_write(nic.nodes.node, nic.nodes.plan.n_lcores, opts->trace);
	if (rc == 0 && opts->json != NULL)
		rc = report_write(nic_report(&app, &nic.result, &nic.flows, &nic.jobs), opts->json);
	if (rc == 0 && opts->csv != NULL)
		rc = jobs_csv(&nic.jobs, opts->csv);
	if (rc == 0 && opts->stats_interval_ns > 0) {
		flows_end(&nic.flows, run_stats_file(opts), nic.result.elapsed_ns);
		jobs_table(&nic.jobs, run_stats_file(opts));
	}
	failed = failed_qps(last);
	active_config_release(nic.active, last);
	/* Close the files even after an error. */
	closed = flows_close(&nic.flows);
	if (rc == 0)
		rc = closed;
	return rc == 0 ? outcome(failed) : rc;
}

static int
run(const struct opts *opts, struct active_config *active)
{
	int rc;

	nic.active = active;
	nic.first = (struct nic_version *)active->current;
	nic.config_context = (struct nic_config_context){.active = active,
							 .nodes = &nic.nodes,
							 .registry = &nic.registry,
							 .flows = &nic.flows,
							 .connections = &nic.connections,
							 .jobs = &nic.jobs};
	rc = open_nic(opts);
	if (rc == 0)
		rc = run_nic(opts);
	close_nic(rc);
	return rc;
}

static struct config_version *
read_first(struct config *cfg, const struct opts *opts, struct config_error *err)
{
	struct nic_version *v = nic_version_read(cfg, NULL, err);

	(void)opts;
	return v == NULL ? NULL : &v->version;
}

static uint32_t
largest_frame(const struct config_version *v)
{
	return nodes_largest_frame(nic_config_of(v));
}

static void
print_config(const struct config_version *v, const struct opts *opts)
{
	(void)opts;
	nic_config_print(stdout, nic_config_of(v));
}

static const struct program program = {
	.command_line = &command_line,
	.read = read_first,
	.largest_frame = largest_frame,
	.print = print_config,
	.config_ops = &nic_config_ops,
	.context = &nic.config_context,
	.run = run,
};

int
main(int argc, char **argv)
{
	return program_main(&program, argc, argv);
}
