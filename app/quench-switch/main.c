/* SPDX-License-Identifier: BSD-3-Clause */
/* quench-switch: read the configuration, build the switch on its devices, run it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "runtime/eal/eal_end.h"
#include "runtime/run/free_memory.h"
#include "runtime/run/program.h"
#include "runtime/device/port_device.h"
#include "runtime/device/port_stop.h"
#include "runtime/port/ports.h"
#include "runtime/report/report.h"
#include "runtime/run/run.h"
#include "runtime/notice/say.h"
#include "node/pkt_pool.h"
#include "quench-switch/config/switch_version.h"
#include "quench-switch/desk/switch_desk.h"
#include "quench-switch/nodes/shards.h"
#include "switch/monitor/sw_dcbx.h"
#include "switch/params/port_names.h"
#include "switch/sw.h"
#include "quench-switch/config/threshold_advice.h"
#include "tm/buffer/mmu_part.h"
#include "wire/link/lldp.h"

/*
 * More mbufs than the mempool cache of one lcore holds (PKT_POOL_CACHED_MBUFS). Other lcores cannot
 * get these.
 */
#define CACHE_MBUFS 1024
/* Default of shaper_burst_ns on NICs. */
#define NIC_BURST_NS 4000u
/* Data room for a pause frame of 60 bytes. */
#define PAUSE_ROOM_BYTES 128

static const struct opts_program command_line = {
	.name = "quench-switch",
	.purpose = "A software switch with lossless queues, ECN marking and PFC on DPDK ports.",
	.help_config = switch_version_print_reference,
	.results = switch_report_names,
	.thresholds_help = "print headroom and thresholds for the configuration, do not run",
};

static struct quench_switch {
	struct switch_version *config; /* as of start-up */
	struct active_config *active;
	struct switch_config_context config_context;
	uint16_t ethdevs[SW_DEVICE_PORTS];
	uint16_t n_open; /* devices started so far */
	struct sw_pools pools;
	struct node *node;
	struct shards shards;
	struct run_result result;
	uint64_t leave_by_ns; /* 0: no stop was asked for */
} quench_switch;

/* Longest wait for the last LLDP frames, which a port that is paused does not send. */
#define LEAVE_NS (100 * NS_PER_MS)

static void
close_switch(struct quench_switch *s, int code)
{
	eal_quiet(code);
	/* The node frees its packets before devices and pools are destroyed. */
	if (s->node != NULL)
		sw_destroy(s->node);
	free(s->result.loops);
	free(s->result.links);
	ports_close(s->ethdevs, s->n_open);
	pkt_pool_destroy(s->pools.frames);
	pkt_pool_destroy(s->pools.clones);
	pkt_pool_destroy(s->pools.lossless_clones);
	pkt_pool_destroy(s->pools.pause);
	pkt_pool_destroy(s->pools.own);
	pkt_pool_destroy(s->pools.copies);
	eal_end();
}

/*
 * Mbufs needed for the buffer, for devices, bursts and caches, and for the bytes by which shards
 * may exceed the buffer (doc/buffer.md).
 */
static uint32_t
frames_needed(const struct sw_params *params)
{
	uint64_t port = PORT_RX_DESCRIPTORS + PORT_TX_DESCRIPTORS + 2 * POLL_BURST;
	uint64_t lag = mmu_part_lag(params->mmu.packets, params->shards, MMU_MIN_LAG_PACKETS);
	uint64_t shard = CACHE_MBUFS + 3 * POLL_BURST + lag;

	/*
	 * If that is more than a ring can index, the creation of the pool fails, with an error
	 * line.
	 */
	return (uint32_t)min_u64(params->mmu.packets + params->n_ports * port +
					 params->shards * shard,
				 UINT32_MAX - 1);
}

/*
 * Size of each of the pools pause, own and copies: the number of mbufs that transmit rings, one
 * burst per port, and caches may hold.
 */
static uint32_t
own_frames_needed(const struct sw_params *params)
{
	return params->n_ports * (PORT_TX_DESCRIPTORS + POLL_BURST) + params->shards * CACHE_MBUFS;
}

/* Memory that is worth a line. */
#define MUCH_BYTES (1ull << 30)

/* A pool to be created. */
struct wanted_pool {
	struct rte_mempool **pool;
	const char *name;
	uint32_t n_mbufs;
	uint16_t largest_frame;
};

/* Refuse packet memory that the machine does not have. Hugepages have their own bound. */
static int
check_memory(const struct quench_switch *s, const char *path, uint64_t bytes, uint16_t data_room,
	     uint32_t frames)
{
	uint64_t free_bytes = rte_eal_has_hugepages() ? UINT64_MAX : free_memory_bytes("");
	const char *less = "less with a smaller max_frame_bytes or buffer_bytes, or a larger "
			   "backing_frame_bytes";

	if (bytes > free_bytes) {
		say_error("%s: [switch] buffer_bytes = %" PRIu64
			  ": needs %.1f GB of packet memory, with room for %u bytes in each of %u "
			  "mbufs; %.1f GB are free (%s)",
			  path, s->config->params.mmu.buffer_bytes, (double)bytes / 1e9, data_room,
			  frames, (double)free_bytes / 1e9, less);
		return APP_FAILED;
	}
	if (bytes >= MUCH_BYTES)
		say("packet memory: %.1f GB, with room for %u bytes in each of %u mbufs (%s)",
		    (double)bytes / 1e9, data_room, frames, less);
	return 0;
}

static int
create_pools(struct quench_switch *s, const char *path)
{
	struct sw_params *params = &s->config->params;
	uint16_t data_room = ports_data_room(s->ethdevs, params->n_ports, params->max_frame_bytes);
	uint32_t frames = frames_needed(params), own = own_frames_needed(params);
	const struct wanted_pool wanted[] = {
		{&s->pools.frames, "frames", frames, data_room},
		{&s->pools.clones, "clones", frames, 0},
		{&s->pools.lossless_clones, "lossless_clones", frames / 4 + 1, 0},
		{&s->pools.pause, "pause", own, PAUSE_ROOM_BYTES},
		{&s->pools.own, "own", own, LLDP_MAX_BYTES},
		{&s->pools.copies, "copies", own, data_room},
	};
	struct pkt_pool_params pools[ARRAY_LEN(wanted)];
	uint64_t bytes = 0;
	int rc;

	for (unsigned int i = 0; i < ARRAY_LEN(wanted); i++) {
		pools[i] = (struct pkt_pool_params){
			.name = wanted[i].name,
			.n_mbufs = wanted[i].n_mbufs,
			.largest_frame = wanted[i].largest_frame,
			.socket = (int)rte_lcore_to_socket_id(run_poll_lcore(0)),
			.threads = params->shards > 1,
		};
		bytes += pkt_pool_bytes(&pools[i]);
	}
	rc = check_memory(s, path, bytes, data_room, frames);
	for (unsigned int i = 0; rc == 0 && i < ARRAY_LEN(wanted); i++) {
		*wanted[i].pool = pkt_pool_create(&pools[i]);
		if (*wanted[i].pool != NULL)
			continue;
		say_error("%s: buffer_bytes = %" PRIu64
			  " at backing_frame_bytes = %u needs %u mbufs of %u bytes: %s "
			  "(more memory with -m or hugepages, or a smaller buffer)",
			  path, params->mmu.buffer_bytes, s->config->pool.backing_frame_bytes,
			  frames, data_room, rte_strerror(rte_errno));
		rc = APP_FAILED;
	}
	return rc;
}

static uint32_t
largest_frame(const struct config_version *v)
{
	return ((const struct switch_version *)v)->params.max_frame_bytes - FCS_BYTES;
}

static int
open_ports(struct quench_switch *s)
{
	for (uint16_t i = 0; i < s->config->params.n_ports; i++) {
		struct port_params params = {
			.link_speed_bps = s->config->params.ports[i].link_speed_bps,
			.largest_frame = (uint16_t)largest_frame(&s->config->version),
			.pool = s->pools.frames,
		};
		int rc = port_open(s->ethdevs[i], &params);

		if (rc != 0)
			return rc;
		s->n_open++;
		if (sw_port_has_name(&s->config->params.ports[i]))
			port_give_name(s->ethdevs[i], s->config->params.ports[i].name);
		rc = port_address(s->ethdevs[i], s->config->params.ports[i].mac);
		if (rc != 0)
			return rc;
		port_check_numa(s->ethdevs[i], shards_lcore(&s->config->params, i),
				s->pools.frames);
	}
	return 0;
}

static int
find_ports(struct quench_switch *s, const char *path)
{
	const char *names[SW_DEVICE_PORTS];

	for (uint16_t i = 0; i < s->config->params.n_ports; i++)
		names[i] = s->config->params.ports[i].device;
	return ports_find(s->ethdevs, s->config->params.n_ports, names, path);
}

static int
open_switch(struct quench_switch *s, const struct opts *opts)
{
	uint32_t *burst_ns = &s->config->params.shaper_burst_ns, default_ns;
	int rc = find_ports(s, opts->config);

	if (rc == 0)
		rc = shards_plan(&s->config->params, opts->config);
	if (rc == 0)
		rc = create_pools(s, opts->config);
	if (rc == 0)
		rc = open_ports(s);
	if (rc != 0)
		return rc;
	rc = run_make_key(&s->config->params.table_key);
	if (rc != 0)
		return rc;
	default_ns = ports_burst_ns(s->ethdevs, s->config->params.n_ports, NIC_BURST_NS,
				    opts->idle_sleep_ns);
	if (*burst_ns == 0)
		*burst_ns = default_ns;
	s->node = sw_create(&s->config->params, &s->pools);
	if (s->node == NULL) {
		say_error("the switch cannot be built: %s", strerror(errno));
		return APP_FAILED;
	}
	s->config->shown.node = s->node;
	s->config_context = (struct switch_config_context){.node = s->node,
							   .ethdevs = s->ethdevs,
							   .burst_ns = default_ns,
							   .running = *s->config};
	return 0;
}

static const struct sw_params *
params_in_force(const struct quench_switch *s)
{
	return &((const struct switch_version *)s->active->current)->params;
}

static uint64_t
shaper_burst_ns(const struct run_app *app)
{
	const struct config_version *v = active_config_hold(quench_switch.active);
	uint64_t burst_ns = ((const struct switch_version *)v)->params.shaper_burst_ns;

	(void)app;
	active_config_release(quench_switch.active, v);
	return burst_ns;
}

static bool
leave(const struct run_app *app, uint64_t now_ns)
{
	struct quench_switch *s = &quench_switch;

	(void)app;
	if (s->leave_by_ns == 0)
		s->leave_by_ns = now_ns + LEAVE_NS;
	return sw_dcbx_leave(s->node, now_ns) && now_ns < s->leave_by_ns;
}

static void
say_running(const struct run_app *app)
{
	char lcores[40];

	snprintf(lcores, sizeof(lcores), app->n_nodes == 1 ? "lcore %u" : "%u lcores",
		 app->n_nodes == 1 ? run_poll_lcore(0) : app->n_nodes);
	say("running: %u ports, %" PRIu64 " bytes of buffer, polling on %s", app->n_ports,
	    quench_switch.config->params.mmu.buffer_bytes, lcores);
}

static int
run_switch(struct quench_switch *s, const struct opts *opts)
{
	struct desk desk = {
		.name = "quench-switch",
		.methods = switch_methods,
		.n_methods = switch_methods_n,
		.active = s->active,
	};
	struct run_app app = {
		.node = s->node,
		.desk = &desk,
		.nodes = s->shards.node,
		.node_ports = s->shards.ports,
		.n_nodes = s->config->params.shards,
		.ethdevs = s->ethdevs,
		.n_ports = s->config->params.n_ports,
		.opts = opts,
		.started = say_running,
		.shaper_burst_ns = shaper_burst_ns,
		.stats = switch_stats,
		.watch = switch_watch,
		.leave = leave,
	};
	int rc;

	shards_find(&s->shards, s->node);
	rc = run_node(&app, &s->result);
	if (rc == 0 && opts->json != NULL)
		rc = report_write(switch_report(&app, params_in_force(s), &s->result), opts->json);
	return rc == 0 && s->result.no_device_left ? APP_FAILED : rc;
}

static int
run(const struct opts *opts, struct active_config *active)
{
	struct quench_switch *s = &quench_switch;
	int rc;

	s->active = active;
	s->config = (struct switch_version *)active->current;
	rc = open_switch(s, opts);
	if (rc == 0)
		rc = run_switch(s, opts);
	close_switch(s, rc);
	return rc;
}

static struct config_version *
read_first(struct config *cfg, const struct opts *opts, struct config_error *err)
{
	struct switch_version *v = switch_version_read(cfg, err);

	if (v == NULL)
		return NULL;
	v->params.mmu.packets = (uint32_t)min_u64(
		mmu_params_packets(&v->params.mmu, v->pool.backing_frame_bytes), UINT32_MAX);
	if (opts->action != OPTS_RUN)
		ports_warn_of_count(v->params.n_ports, config_path(cfg));
	return &v->version;
}

static void
print_config(const struct config_version *v, const struct opts *opts)
{
	const struct switch_version *config = (const struct switch_version *)v;

	if (opts->action == OPTS_THRESHOLDS)
		thresholds_print(stdout, &config->params);
	else
		switch_version_print(stdout, config);
}

static const struct program program = {
	.command_line = &command_line,
	.read = read_first,
	.largest_frame = largest_frame,
	.print = print_config,
	.config_ops = &switch_config_ops,
	.context = &quench_switch.config_context,
	.run = run,
};

int
main(int argc, char **argv)
{
	return program_main(&program, argc, argv);
}
