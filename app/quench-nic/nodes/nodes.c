/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/nodes/nodes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "base/numbers/units.h"
#include "nic/gsi/gsi.h"
#include "runtime/device/kernel_interface.h"
#include "runtime/device/port_device.h"
#include "runtime/device/port_stop.h"
#include "runtime/port/ports.h"
#include "runtime/run/run.h"
#include "runtime/notice/say.h"
#include "node/pkt_pool.h"
#include "base/threads/counter.h"
#include "wire/bytes/be.h"
#include "wire/bytes/headers.h"

/* Number of mbufs of each pool: more than rings, bursts and a virtual device together hold. */
#define POOL_FRAMES 4095
/* Frames of peers with a larger MTU than ours are received, and refused. */
#define LEAST_ROOM_MTU ((uint16_t)NIC_MAX_IBTA_MTU)
#define DEFAULT_MTU 1024 /* of mtu_bytes */
/* Default of shaper_burst_ns on a NIC. */
#define NIC_BURST_NS 2000u

/* A NIC that begins without flows takes those of the default MTU. */
static uint16_t
largest_mtu(const struct nic_config *config)
{
	unsigned int all = config->n_flows + config->n_patterns;
	uint16_t mtu = all == 0 ? DEFAULT_MTU : 0;

	for (unsigned int i = 0; i < all; i++)
		if (config->flows[i].qp.mtu_bytes > mtu)
			mtu = config->flows[i].qp.mtu_bytes;
	return mtu;
}

/* One node per lcore, but not more than transmit queues or QPs. Without QPs, the limit is the
 * number of QPs that may be added. */
static int
choose_queues(struct nic_nodes *n, const struct nic_config *config)
{
	struct port_offer offer = {0};
	uint16_t want = run_poll_lcores();
	uint32_t most;

	n->n_qps = (uint32_t)nic_config_qps(config);
	if (want > NIC_SHARE_MAX_NODES)
		want = NIC_SHARE_MAX_NODES;
	most = n->n_qps > 0 ? n->n_qps : n->max_qps;
	if (want > most)
		want = (uint16_t)most;
	if (port_offer_of(n->ethdev, &offer) != 0 ||
	    port_plan(&offer, n->nic.control_tx_queue, want, &n->plan) != 0) {
		say_error("%s has %u transmit and %u receive queues: control_tx_queue = on needs "
			  "two for each lcore",
			  port_name(n->ethdev), offer.tx_queues, offer.rx_queues);
		return APP_BAD_USAGE;
	}
	for (uint16_t i = 0; i < n->plan.n_lcores; i++)
		n->queues[i] = port_plan_queues(&n->plan, i);
	if (n->plan.n_lcores < want)
		say_warning("%s has %u transmit queues: %u lcores poll it", port_name(n->ethdev),
			    offer.tx_queues, n->plan.n_lcores);
	return 0;
}

/* Mbufs of a pool that all nodes share. */
static uint32_t
pool_frames(const struct nic_nodes *n)
{
	return n->plan.n_lcores * (POOL_FRAMES + 1) - 1;
}

/* With FCS; 0: there are no streams. A change may make frames longer, up to the usual size. */
static uint16_t
largest_stream_frame(const struct nic_config *config)
{
	uint16_t largest = config->n_streams > 0 ? RTE_ETHER_MAX_LEN : 0;

	for (unsigned int i = 0; i < config->n_streams; i++)
		largest = RTE_MAX(largest, config->streams[i].params.template.frame_bytes);
	return largest;
}

uint16_t
nodes_largest_frame(const struct nic_config *config)
{
	uint16_t of_streams = RTE_MAX(largest_stream_frame(config), config->nic.rx_frame_bytes);

	return RTE_MAX(nic_largest_frame(largest_mtu(config)),
		       (uint16_t)(RTE_MAX(of_streams, (uint16_t)FCS_BYTES) - FCS_BYTES));
}

/* With FCS. */
static uint16_t
largest_received(const struct nic_nodes *n)
{
	uint16_t of_flows = nic_largest_frame(RTE_MAX(n->mtu_bytes, LEAST_ROOM_MTU)) + FCS_BYTES;

	return RTE_MAX(of_flows, n->nic.rx_frame_bytes);
}

static int
create_pools(struct nic_nodes *n, const struct nic_config *config)
{
	struct pkt_pool_params control = {
		.name = "control",
		.n_mbufs = pool_frames(n),
		.largest_frame = nic_largest_frame(0),
		.socket = (int)rte_lcore_to_socket_id(run_poll_lcore(0)),
		.threads = n->plan.n_lcores > 1,
	};
	struct pkt_pool_params rx = control, gsi = control, frames = control;

	rx.name = "rx";
	rx.largest_frame = ports_data_room(&n->ethdev, 1, largest_received(n));
	gsi.name = "gsi";
	gsi.n_mbufs = NIC_GSI_MBUFS;
	gsi.largest_frame = NIC_GSI_FRAME_BYTES;
	n->pools.control = pkt_pool_create(&control);
	if (n->pools.control != NULL)
		n->pools.data =
			nic_data_pool_create(&(struct pkt_pool_params){.name = "data",
								       .n_mbufs = pool_frames(n),
								       .socket = control.socket,
								       .threads = true},
					     n->mtu_bytes);
	if (n->pools.data != NULL)
		n->rx_pool = pkt_pool_create(&rx);
	if (n->rx_pool != NULL)
		n->gsi_pool = pkt_pool_create(&gsi);
	frames.name = "frames";
	n->stream_bytes = largest_stream_frame(config);
	frames.largest_frame = n->stream_bytes;
	if (n->gsi_pool != NULL && n->stream_bytes > 0)
		n->frames_pool = pkt_pool_create(&frames);
	if (n->gsi_pool != NULL && (n->stream_bytes == 0 || n->frames_pool != NULL))
		return 0;
	say_error("pools of %u mbufs: %s (more memory with -m or hugepages)", pool_frames(n),
		  rte_strerror(rte_errno));
	return APP_FAILED;
}

static int
open_device(struct nic_nodes *n, const struct nic_config *config, struct nic_params *nic)
{
	struct port_params params = {
		.link_speed_bps = nic->link_speed_bps,
		.largest_frame = nodes_largest_frame(config),
		.must_fit = true,
		.pool = n->rx_pool,
		.rx_queues = n->plan.rx_queues,
		.tx_queues = n->plan.tx_queues,
		.rss = &n->rss,
	};
	int rc = port_open(n->ethdev, &params);

	if (rc != 0)
		return rc;
	n->n_open = 1;
	for (uint16_t i = 0; i < n->plan.n_lcores; i++)
		port_check_numa(n->ethdev, run_poll_lcore(i), n->rx_pool);
	return port_address(n->ethdev, nic->mac);
}

static int
share_nic(struct nic_nodes *n)
{
	struct nic_share_params share = {
		.n_nodes = n->plan.n_lcores,
		.first_qpn = n->nic.first_qpn,
		.link_speed_bps = n->nic.link_speed_bps,
		.shaper_burst_ns = n->nic.shaper_burst_ns,
		/* Some devices deliver the sender's mbufs, which may be of any pool. */
		.rx_mbufs = 4 * pool_frames(n),
		.socket = (int)rte_lcore_to_socket_id(run_poll_lcore(0)),
	};

	n->share = nic_share_create(&share);
	if (n->share != NULL)
		return 0;
	say_error("rings between %u lcores: %s", share.n_nodes, rte_strerror(rte_errno));
	return APP_FAILED;
}

/* RSS bucket of QP i of a flow. */
static uint32_t
bucket_of(const struct nic_nodes *n, const struct nic_flow *flow, uint32_t i)
{
	struct nic_qp_params qp = nic_flow_qp(flow, i);

	return nic_rss_hash_of_qp(n->rss.key, &n->nic, &qp,
				  n->nic.first_qpn + flow->first_number + i) &
	       (n->rss.n_buckets - 1);
}

/* Count the QPs in each bucket. @return false: the device does not hash all of them. */
static bool
fill_buckets(const struct nic_nodes *n, const struct nic_config *config, uint32_t *qps)
{
	for (unsigned int f = 0; f < config->n_flows; f++) {
		const struct nic_flow *flow = &config->flows[f];

		if (!port_rss_hashes(&n->rss, flow->qp.peer_ip.version))
			return false;
		for (uint32_t i = 0; i < flow->qp_count; i++)
			qps[bucket_of(n, flow, i)]++;
	}
	return true;
}

/* Assign buckets, with their QPs, to lcores, and set the device's table to match. */
static bool
deal_buckets(struct nic_nodes *n, const uint32_t *qps)
{
	int rc;

	nic_rss_balance(qps, n->rss.n_buckets, n->plan.n_lcores, n->lcore);
	rc = port_rss_set_queues(&n->rss, n->ethdev, n->lcore);
	if (rc != 0)
		say_warning(
			"%s: its RSS table cannot be set (%s): frames will cross between lcores",
			port_name(n->ethdev), rte_strerror(-rc));
	return rc == 0;
}

/*
 * Place QPs by RSS if the device has it and each lcore has a receive queue (queue k for lcore k);
 * otherwise QPs are assigned in turn. Adding or removing flows does not move buckets.
 */
static int
place_qps(struct nic_nodes *n, const struct nic_config *config)
{
	uint32_t qps[NIC_RSS_MAX_BUCKETS] = {0};
	int rc;

	if (!n->rss.known || n->plan.rx_queues < n->plan.n_lcores)
		return 0;
	if (!fill_buckets(n, config, qps) || !deal_buckets(n, qps))
		return 0;
	rc = nic_share_use_table(n->share, n->max_qps);
	if (rc != 0)
		say_error("table of %u QPs: %s", n->max_qps, strerror(-rc));
	n->placed = rc == 0;
	return rc != 0 ? APP_FAILED : 0;
}

uint16_t
nodes_home(const struct nic_nodes *n, const struct nic_flow *flow, uint32_t i)
{
	uint32_t number = flow->first_number + i;

	/* The device may not hash the IP version of a flow that was added later. */
	if (n->placed && port_rss_hashes(&n->rss, flow->qp.peer_ip.version))
		return n->lcore[bucket_of(n, flow, i)];
	return (uint16_t)(number % n->plan.n_lcores);
}

void
nodes_count(const struct nic_nodes *n, const struct nic_flow *flow, struct nic_flow_place *places)
{
	uint32_t n_lcores = n->plan.n_lcores, first = flow->first_number;

	for (uint32_t k = 0; k < n_lcores; k++) {
		uint32_t skipped = (k + n_lcores - first % n_lcores) % n_lcores;

		places[k].first_item = (first + skipped) / n_lcores;
		places[k].n_qps = flow->qp_count > skipped
					  ? (flow->qp_count - skipped - 1) / n_lcores + 1
					  : 0;
	}
	for (uint32_t k = 0; n->placed && k < n_lcores; k++)
		places[k].n_qps = 0;
	for (uint32_t i = 0; n->placed && i < flow->qp_count; i++)
		places[nodes_home(n, flow, i)].n_qps++;
}

static int
create_node(struct nic_nodes *n, uint16_t i)
{
	struct nic_params params = n->nic;

	if (n->share != NULL) {
		params.max_qps = nic_share_qps(n->share, n->max_qps, i);
		/* A node without QPs still forwards frames to other nodes and answers ARP. */
		if (params.max_qps == 0)
			params.max_qps = 1;
	}
	n->node[i] = nic_create(&params, &n->pools);
	if (n->node[i] == NULL) {
		say_error("the NIC cannot be built: %s", strerror(errno));
		return APP_FAILED;
	}
	if (n->share != NULL)
		nic_join(n->node[i], n->share, i);
	if (n->plan.control_apart)
		nic_send_control_apart(n->node[i]);
	return 0;
}

static int
add_streams(struct nic_nodes *n, const struct nic_config *config)
{
	struct nic_frames_params *params = calloc(config->n_streams, sizeof(*params));
	int rc = params == NULL ? -ENOMEM : 0;

	for (unsigned int i = 0; rc == 0 && i < config->n_streams; i++)
		params[i] = config->streams[i].params;
	if (rc == 0)
		rc = nic_frames_add(n->node[0], params, config->n_streams, n->frames_pool);
	free(params);
	if (rc == 0)
		return 0;
	say_error("streams of frames: %s", strerror(-rc));
	return APP_FAILED;
}

/* A kernel interface would refuse each longer frame, but for a tag. 0: no limit. */
static uint32_t
most_sent(const struct nic_nodes *n, const struct nic_frames_template *t)
{
	bool tagged = be16_load(&t->header[ETH_HDR_BYTES - 2]) == ETHERTYPE_VLAN;
	char name[IF_NAMESIZE];
	uint32_t mtu = kernel_interface_name(n->ethdev, name) ? kernel_interface_mtu(name) : 0;

	return mtu == 0 ? 0 : mtu + ETH_HDR_BYTES + (tagged ? RTE_VLAN_HLEN : 0) + FCS_BYTES;
}

const struct nic_stream *
nodes_too_long(const struct nic_nodes *n, const struct nic_config *config, uint32_t *most)
{
	for (uint32_t i = 0; i < config->n_streams; i++) {
		const struct nic_frames_template *t = &config->streams[i].params.template;

		*most = most_sent(n, t);
		if (*most > 0 && t->frame_bytes > *most)
			return &config->streams[i];
	}
	return NULL;
}

static int
check_streams(const struct nic_nodes *n, const struct nic_config *config)
{
	uint32_t most;
	const struct nic_stream *s = nodes_too_long(n, config, &most);

	if (s == NULL)
		return 0;
	say_error("[frames %s] frame_bytes = %u: expected at most %u, by the MTU of the interface "
		  "of %s",
		  s->name, s->params.template.frame_bytes, most, port_name(n->ethdev));
	return APP_BAD_USAGE;
}

/* A node knows the addresses of its own flows only. */
const struct nic_flow *
nodes_unfit(const struct nic_nodes *n, const struct nic_config *config)
{
	for (unsigned int i = 0; n->plan.n_lcores > 1 && i < config->n_flows; i++)
		if (nic_flow_is_local(&config->flows[i]))
			return &config->flows[i];
	return NULL;
}

static int
check_lcores(const struct nic_nodes *n, const struct nic_config *config)
{
	const struct nic_flow *flow = nodes_unfit(n, config);

	if (flow == NULL)
		return 0;
	say_error("[flow %s] local_mac and local_ip need one polling lcore, not %u", flow->name,
		  n->plan.n_lcores);
	return APP_BAD_USAGE;
}

int
nodes_open(struct nic_nodes *n, struct nic_config *config, const struct opts *opts)
{
	int rc = ports_find(&n->ethdev, 1, NULL, opts->config);

	if (rc == 0)
		n->burst_ns = ports_burst_ns(&n->ethdev, 1, NIC_BURST_NS, opts->idle_sleep_ns);
	if (config->nic.shaper_burst_ns == 0)
		config->nic.shaper_burst_ns = n->burst_ns;
	n->mtu_bytes = largest_mtu(config);
	n->max_qps = config->nic.max_qps;
	n->nic = config->nic;
	if (rc == 0)
		rc = run_make_key(&n->nic.table_key);
	if (rc == 0)
		rc = choose_queues(n, config);
	if (rc == 0)
		rc = check_lcores(n, config);
	if (rc == 0)
		rc = check_streams(n, config);
	if (rc == 0)
		rc = create_pools(n, config);
	if (rc == 0)
		rc = open_device(n, config, &n->nic);
	memcpy(config->nic.mac, n->nic.mac, sizeof(n->nic.mac));
	if (rc == 0 && n->plan.n_lcores > 1)
		rc = share_nic(n);
	if (rc == 0 && n->share != NULL)
		rc = place_qps(n, config);
	for (uint16_t i = 0; rc == 0 && i < n->plan.n_lcores; i++)
		rc = create_node(n, i);
	if (rc == 0 && config->n_streams > 0)
		rc = add_streams(n, config);
	return rc;
}

bool
nodes_are_reloaded(const struct nic_nodes *n)
{
	bool done = true;

	for (uint16_t i = 0; i < n->plan.n_lcores; i++)
		done = done && nic_reload_is_done(n->node[i]);
	return done;
}

bool
nodes_are_done(const struct nic_nodes *n)
{
	bool done = nodes_are_reloaded(n);

	/* In this order, because an added flow is counted before its reload is done. */
	for (uint16_t i = 0; done && i < n->plan.n_lcores; i++)
		done = nic_done(n->node[i]);
	return done;
}

void
nodes_close(struct nic_nodes *n)
{
	/*
	 * Nodes free their packets before devices and pools are destroyed. The first one owns QP 1,
	 * which the others look at.
	 */
	for (uint16_t i = n->plan.n_lcores; i-- > 0;)
		nic_destroy(n->node[i]);
	nic_share_destroy(n->share);
	ports_close(&n->ethdev, n->n_open);
	if (n->pools.data != NULL)
		pkt_pool_destroy(n->pools.data);
	if (n->pools.control != NULL)
		pkt_pool_destroy(n->pools.control);
	if (n->rx_pool != NULL)
		pkt_pool_destroy(n->rx_pool);
	if (n->gsi_pool != NULL)
		pkt_pool_destroy(n->gsi_pool);
	if (n->frames_pool != NULL)
		pkt_pool_destroy(n->frames_pool);
}

/* Add the counters that a table names. */
static void
add_counters(void *total, const void *part, const struct counter_field *fields, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		uint64_t *to = (uint64_t *)((char *)total + fields[i].offset);

		*to += counter_read((const uint64_t *)((const char *)part + fields[i].offset));
	}
}

struct nic_stats
nic_total_stats(const struct run_app *app)
{
	struct nic_stats total = {0};

	for (uint16_t i = 0; i < app->n_nodes; i++) {
		const struct nic_stats *s = nic_stats(app->nodes[i]);

		add_counters(&total, s, nic_counters, nic_counters_n);
		counters_add(&s->cc, &total.cc, sizeof(total.cc));
		add_counters(&total.np, &s->np, np_counters, np_counters_n);
	}
	return total;
}

/* ACKs without in-band telemetry before the warning. The first ACKs of a flow may have none. */
#define ENOUGH_ACKS 100u

/* An algorithm WORD with hears_hops counts WORD_samples, WORD_missing and WORD_full. */
static uint64_t
count(const struct nic_stats *stats, int cc, const char *what)
{
	const struct cc_ops *ops = cc_algorithms[cc];
	const char *counts = (const char *)&stats->cc.of[CC_SLOT(cc)];
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", cc_words[cc], what);
	for (unsigned int i = 0; i < *ops->n_counters; i++)
		if (strcmp(ops->counters[i].name, name) == 0)
			return *(const uint64_t *)(counts + ops->counters[i].offset);
	return 0;
}

static void
look(struct hops_watch *w, const struct nic_stats *stats, int cc)
{
	uint64_t missing = count(stats, cc, "missing"), full = count(stats, cc, "full");
	uint32_t bit = 1u << cc;

	if (!(w->said_missing & bit) && missing >= ENOUGH_ACKS &&
	    count(stats, cc, "samples") == 0) {
		say_event(true, "int_missing",
			  "cc = %s: no ACK has in-band telemetry, so rates do not change: set "
			  "int_telemetry = on at the switches of the path; acks=%" PRIu64,
			  cc_words[cc], missing);
		w->said_missing |= bit;
	}
	if (!(w->said_full & bit) && full > 0) {
		say_event(true, "int_full",
			  "cc = %s: a path has more hops than int_slots, and the others count as "
			  "fully used: raise int_slots; int_slots=%u",
			  cc_words[cc], w->int_slots);
		w->said_full |= bit;
	}
}

void
hops_look(struct hops_watch *w, const struct run_app *app)
{
	struct nic_stats stats;

	if (!cc_needs_of(w->cc_mask & ~(w->said_missing & w->said_full)).hears_hops)
		return;
	stats = nic_total_stats(app);
	for (int cc = 0; cc < CC_ALGORITHMS; cc++)
		if ((w->cc_mask >> cc & 1) && cc_algorithms[cc]->hears_hops)
			look(w, &stats, cc);
}
