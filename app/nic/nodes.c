/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "common/ports.h"
#include "common/run.h"
#include "common/say.h"
#include "node/pkt_pool.h"

/* Frames of each pool: rings, bursts and what a virtual device holds, with room to spare. */
#define POOL_FRAMES 4095
#define LARGEST_MTU 4096

static uint16_t
largest_mtu(const struct nic_config *config)
{
	uint16_t mtu = 0;

	for (unsigned int i = 0; i < config->n_flows; i++)
		if (config->flows[i].qp.mtu_bytes > mtu)
			mtu = config->flows[i].qp.mtu_bytes;
	return mtu;
}

/* As many nodes as there are lcores, transmit queues and QPs for. */
static int
choose_queues(struct nic_nodes *n)
{
	struct port_offer offer = {0};
	uint16_t want = run_poll_lcores();

	for (unsigned int f = 0; f < n->config->n_flows; f++)
		n->n_qps += n->config->flows[f].qp_count;
	if (want > NIC_SHARE_MAX_NODES)
		want = NIC_SHARE_MAX_NODES;
	if (want > n->n_qps)
		want = (uint16_t)n->n_qps;
	if (port_offer_of(n->ethdev, &offer) != 0 ||
	    port_plan(&offer, n->config->nic.control_tx_queue, want, &n->plan) != 0) {
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

/* Frames of a pool that all nodes share. */
static uint32_t
pool_frames(const struct nic_nodes *n)
{
	return n->plan.n_lcores * (POOL_FRAMES + 1) - 1;
}

static int
create_pools(struct nic_nodes *n)
{
	struct pkt_pool_params control = {
		.name = "control",
		.n_mbufs = pool_frames(n),
		.largest_frame = nic_largest_frame(0),
		.socket = (int)rte_lcore_to_socket_id(run_poll_lcore(0)),
		.threads = n->plan.n_lcores > 1,
	};
	struct pkt_pool_params rx = control;

	rx.name = "rx";
	rx.largest_frame = nic_largest_frame(LARGEST_MTU);
	n->pools.control = pkt_pool_create(&control);
	if (n->pools.control != NULL)
		n->pools.data = nic_data_pool_create("data", pool_frames(n), largest_mtu(n->config),
						     control.socket);
	if (n->pools.data != NULL)
		n->rx_pool = pkt_pool_create(&rx);
	if (n->rx_pool != NULL)
		return 0;
	say_error("pools of %u mbufs: %s (more memory with -m or hugepages)", pool_frames(n),
		  rte_strerror(rte_errno));
	return APP_FAILED;
}

static int
open_device(struct nic_nodes *n, struct nic_params *nic)
{
	struct port_params params = {
		.link_speed_bps = nic->link_speed_bps,
		.largest_frame = nic_largest_frame(largest_mtu(n->config)),
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
		.first_qpn = n->config->nic.first_qpn,
		.link_speed_bps = n->config->nic.link_speed_bps,
		.shaper_burst_ns = n->config->nic.shaper_burst_ns,
		/* Some devices hand over the sender's mbufs. */
		.rx_mbufs = 3 * pool_frames(n),
		.socket = (int)rte_lcore_to_socket_id(run_poll_lcore(0)),
	};

	n->share = nic_share_create(&share);
	if (n->share != NULL)
		return 0;
	say_error("rings between %u lcores: %s", share.n_nodes, rte_strerror(rte_errno));
	return APP_FAILED;
}

/* The device's bucket of each QP. @return false: it hashes not all of them, or no memory. */
static bool
find_buckets(const struct nic_nodes *n, uint16_t *bucket)
{
	const struct nic_params *nic = &n->config->nic;
	uint32_t number = 0;

	for (unsigned int f = 0; f < n->config->n_flows; f++) {
		const struct nic_flow *flow = &n->config->flows[f];

		if (!port_rss_hashes(&n->rss, flow->qp.peer_ip.version))
			return false;
		for (uint32_t i = 0; i < flow->qp_count; i++, number++) {
			struct nic_qp_params qp = nic_flow_qp(flow, i);

			bucket[number] =
				nic_rss_hash_of_qp(n->rss.key, nic, &qp, nic->first_qpn + number) &
				(n->rss.n_buckets - 1);
		}
	}
	return true;
}

/* Which lcore has which bucket, and with it the QPs in it; the device is told. */
static bool
deal_buckets(const struct nic_nodes *n, uint16_t *place)
{
	uint32_t qps[NIC_RSS_MAX_BUCKETS] = {0};
	uint16_t lcore[NIC_RSS_MAX_BUCKETS];
	int rc;

	for (uint32_t i = 0; i < n->n_qps; i++)
		qps[place[i]]++;
	nic_rss_balance(qps, n->rss.n_buckets, n->plan.n_lcores, lcore);
	rc = port_rss_set_queues(&n->rss, n->ethdev, lcore);
	if (rc != 0) {
		say_warning(
			"%s: its RSS table cannot be set (%s): frames will cross between lcores",
			port_name(n->ethdev), rte_strerror(-rc));
		return false;
	}
	for (uint32_t i = 0; i < n->n_qps; i++)
		place[i] = lcore[place[i]];
	return true;
}

/*
 * Place QPs by RSS, if the device has it and each lcore has one receive queue: lcore k's is queue
 * k. Without it they are dealt out in turn.
 */
static int
place_qps(struct nic_nodes *n)
{
	uint16_t *place;
	int rc = 0;

	if (!n->rss.known || n->plan.rx_queues < n->plan.n_lcores)
		return 0;
	place = malloc(n->n_qps * sizeof(*place));
	if (place == NULL)
		rc = -ENOMEM;
	else if (find_buckets(n, place) && deal_buckets(n, place)) {
		rc = nic_share_place(n->share, place, n->n_qps);
		n->placed = true;
	}
	free(place);
	if (rc != 0)
		say_error("places of %u QPs: %s", n->n_qps, strerror(-rc));
	return rc != 0 ? APP_FAILED : 0;
}

static int
create_node(struct nic_nodes *n, uint16_t i)
{
	struct nic_params params = n->config->nic;

	if (n->share != NULL) {
		params.max_qps = nic_share_qps(n->share, n->n_qps, i);
		/* RSS may leave a lcore without QPs: it forwards, and answers ARP. */
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
add_qps(struct nic_nodes *n)
{
	uint32_t number = 0;

	for (unsigned int f = 0; f < n->config->n_flows; f++) {
		const struct nic_flow *flow = &n->config->flows[f];

		for (uint32_t i = 0; i < flow->qp_count; i++) {
			struct nic_place at = nic_share_find(n->share, number++);
			struct nic_qp_params qp = nic_flow_qp(flow, i);
			int64_t qpn;

			qp.flow_id = f;
			qpn = nic_add_qp(n->node[at.node], &qp, 0);
			if (qpn >= 0)
				continue;
			say_error("flow %s: QP %u of %u: %s", flow->name, i + 1, flow->qp_count,
				  strerror((int)-qpn));
			return APP_FAILED;
		}
	}
	return 0;
}

int
nodes_open(struct nic_nodes *n, struct nic_config *config, const char *config_path)
{
	int rc = ports_find(&n->ethdev, 1, NULL, config_path);

	n->config = config;
	if (rc == 0)
		rc = choose_queues(n);
	if (rc == 0)
		rc = create_pools(n);
	if (rc == 0)
		rc = open_device(n, &config->nic);
	if (rc == 0 && n->plan.n_lcores > 1)
		rc = share_nic(n);
	if (rc == 0 && n->share != NULL)
		rc = place_qps(n);
	for (uint16_t i = 0; rc == 0 && i < n->plan.n_lcores; i++)
		rc = create_node(n, i);
	return rc == 0 ? add_qps(n) : rc;
}

void
nodes_close(struct nic_nodes *n)
{
	/* Nodes give their packets back before devices and pools go. */
	for (uint16_t i = 0; i < n->plan.n_lcores; i++)
		nic_destroy(n->node[i]);
	nic_share_destroy(n->share);
	ports_close(&n->ethdev, n->n_open);
	if (n->pools.data != NULL)
		pkt_pool_destroy(n->pools.data);
	if (n->pools.control != NULL)
		pkt_pool_destroy(n->pools.control);
	if (n->rx_pool != NULL)
		pkt_pool_destroy(n->rx_pool);
}
