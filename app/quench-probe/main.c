/* SPDX-License-Identifier: BSD-3-Clause */
/* quench-probe: describe the RDMA NIC on the other end of a DPDK port by its frames. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "base/numbers/units.h"
#include "node/pkt_pool.h"
#include "probe/prober.h"
#include "quench-probe/probe_report.h"
#include "runtime/device/port_stop.h"
#include "runtime/eal/eal_end.h"
#include "runtime/notice/say.h"
#include "runtime/port/ports.h"
#include "runtime/report/report.h"
#include "runtime/run/program.h"
#include "runtime/run/run.h"

/* More than rings, a burst of 1024 requests and a virtual device together hold. */
#define POOL_FRAMES 8191

struct probe_version {
	struct config_version version;
	struct prober_params params;
};

static void
print_reference(FILE *out)
{
	config_print_reference(out, "probe", prober_fields, prober_fields_n);
}

static const struct opts_program command_line = {
	.name = "quench-probe",
	.purpose = "Describe the RDMA NIC on the other end of a DPDK port: notification point, "
		   "reaction\npoint, transport, pauses, pitfalls. Its host starts a flow to each "
		   "QP first.",
	.json_help = "write the report to FILE at the end; -: to standard output",
	.is_fixed = true,
	.help_config = print_reference,
	.results = probe_report_names,
};

static struct config_version *
read_config(struct config *cfg, const struct opts *opts, struct config_error *err)
{
	struct probe_version *v = calloc(1, sizeof(*v));
	char why[128];
	int rc;

	(void)opts;
	if (v == NULL) {
		snprintf(err->text, sizeof(err->text), "out of memory");
		return NULL;
	}
	rc = config_has(cfg, "probe") ? config_read_new(cfg, "probe", prober_fields,
							prober_fields_n, &v->params, err)
				      : config_refuse(cfg, "probe", NULL, "a section [probe]", err);
	if (rc == 0 && prober_params_check(&v->params, why, sizeof(why)) != 0)
		rc = config_refuse(cfg, "probe", NULL, why, err);
	if (rc == 0)
		rc = config_finish(cfg, err);
	if (rc == 0)
		return &v->version;
	free(v);
	return NULL;
}

static const struct prober_params *
params_of(const struct config_version *v)
{
	return &((const struct probe_version *)v)->params;
}

static uint32_t
largest_frame(const struct config_version *v)
{
	(void)v;
	return PROBER_LARGEST_FRAME;
}

static void
print_config(const struct config_version *v, const struct opts *opts)
{
	(void)opts;
	config_print(stdout, "probe", prober_fields, prober_fields_n, params_of(v));
}

static void
free_config(struct config_version *v)
{
	free(v);
}

static bool
is_done(const struct run_app *app)
{
	return prober_done(app->node);
}

static void
sum_stats(const struct run_app *app, struct run_traffic *traffic, char *text,
	  unsigned int text_size)
{
	const struct prober_stats *s = prober_stats(app->node);

	*traffic = (struct run_traffic){
		.rx_packets = counter_read(&s->rx_packets),
		.rx_bytes = counter_read(&s->rx_bytes),
		.tx_packets = counter_read(&s->tx_packets),
		.tx_bytes = counter_read(&s->tx_bytes),
	};
	snprintf(text, text_size, "%s", prober_experiment(app->node));
}

static struct probe {
	struct prober_params params;
	struct rte_mempool *pool;
	struct node *node;
	uint16_t ethdev, n_open;
	struct run_result result;
} probe;

static void
close_probe(int code)
{
	eal_quiet(code);
	free(probe.result.loops);
	free(probe.result.links);
	free(probe.result.paces);
	prober_destroy(probe.node);
	ports_close(&probe.ethdev, probe.n_open);
	if (probe.pool != NULL)
		pkt_pool_destroy(probe.pool);
	eal_end();
}

static int
open_probe(const struct opts *opts)
{
	struct port_params port = {
		.link_speed_bps = probe.params.link_speed_bps,
		.largest_frame = PROBER_LARGEST_FRAME,
	};
	int rc = ports_find(&probe.ethdev, 1, NULL, opts->config);

	if (rc != 0)
		return rc;
	probe.pool = pkt_pool_create(&(struct pkt_pool_params){
		.name = "probe",
		.n_mbufs = POOL_FRAMES,
		.largest_frame =
			ports_data_room(&probe.ethdev, 1, PROBER_LARGEST_FRAME + FCS_BYTES),
		.socket = (int)rte_lcore_to_socket_id(run_poll_lcore(0)),
	});
	if (probe.pool == NULL) {
		say_error("a pool of %u mbufs: %s (more memory with -m or hugepages)", POOL_FRAMES,
			  rte_strerror(rte_errno));
		return APP_FAILED;
	}
	port.pool = probe.pool;
	rc = port_open(probe.ethdev, &port);
	if (rc != 0)
		return rc;
	probe.n_open = 1;
	rc = port_address(probe.ethdev, probe.params.mac);
	if (rc != 0)
		return rc;
	probe.node = prober_create(&probe.params, probe.pool);
	if (probe.node == NULL)
		say_error("%s", strerror(errno));
	return probe.node == NULL ? APP_FAILED : 0;
}

static int
run_probe(const struct opts *opts)
{
	struct run_app app = {
		.node = probe.node,
		.waits_for_link = true,
		.ethdevs = &probe.ethdev,
		.n_ports = 1,
		.opts = opts,
		.done = is_done,
		.stats = sum_stats,
	};
	int rc = run_node(&app, &probe.result);

	if (rc != 0)
		return rc;
	if (prober_trouble(probe.node) == NULL)
		probe_print(run_stats_file(opts), probe.node);
	if (!prober_done(probe.node))
		say_warning("stopped in experiment %s: the report is not complete",
			    prober_experiment(probe.node));
	if (prober_trouble(probe.node) != NULL) {
		say_error("%s", prober_trouble(probe.node));
		rc = APP_FAILED;
	}
	if (opts->json != NULL)
		rc |= report_write(probe_report(probe.node, &probe.params, probe.result.elapsed_ns),
				   opts->json);
	return rc;
}

static int
run(const struct opts *opts, struct active_config *active)
{
	int rc;

	probe.params = *params_of(active->current);
	rc = open_probe(opts);
	if (rc == 0)
		rc = run_probe(opts);
	close_probe(rc);
	return rc;
}

static const struct active_config_ops config_ops = {.free = free_config};

static const struct program program = {
	.command_line = &command_line,
	.read = read_config,
	.largest_frame = largest_frame,
	.print = print_config,
	.config_ops = &config_ops,
	.run = run,
};

int
main(int argc, char **argv)
{
	return program_main(&program, argc, argv);
}
