/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/gsi/gsi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "base/numbers/fixed.h"
#include "base/threads/lines.h"
#include "nic/core/core.h"
#include "nic/neighbour/nic_resolve.h"
#include "wire/bytes/be.h"
#include "wire/mad/mad.h"

/* Datagrams in each ring: one of each connection, since all may begin or end at once. */
#define RING_SLOTS (2 * NIC_CM_CONNECTIONS)
/* Datagrams received in one call of control(). */
#define RECEIVE_BURST 256u
/* Datagrams sent in one call. */
#define SEND_BURST 16u
/* Frames that wait for the wire besides answers of address resolution. */
#define MOST_WAITING 64u
/* Neighbours that are kept because a datagram without a MAC address goes to them. */
#define MAX_NEIGHBOURS 64u
/*
 * Interval of control(): a message waits so long. While there is no connection, only the first
 * message of a peer waits longer.
 */
#define BUSY_NS NS_PER_MS
#define IDLE_NS (10 * NS_PER_MS)
#define TTL 64

static_assert(NIC_GSI_FRAME_BYTES >= ETH_HDR_BYTES + VLAN_TAG_BYTES + IPV6_HDR_BYTES +
					     UDP_HDR_BYTES + BTH_BYTES + DETH_BYTES + MAD_BYTES +
					     ICRC_BYTES,
	      "the longest headers fit");

struct datagram {
	struct cm_peer peer;
	uint32_t local_id; /* sent: of the connection */
	uint8_t mad[MAD_BYTES];
};
static_assert(sizeof(struct datagram) % 4 == 0, "an element of a ring is whole words");

/* A neighbour in the table of the sending node, on behalf of datagrams. */
struct kept {
	struct neigh_key key;
	uint64_t used_ns;
};

struct nic_gsi {
	/* owners of the nodes -> control lcore */
	struct rte_ring *rx;
	/* control lcore -> owner of `sender` */
	struct rte_ring *tx;
	struct rte_ring *unresolved; /* and back: local IDs */
	struct nic *sender;
	/* control lcore */
	struct cm *cm;
	nic_gsi_offer *offer; /* NULL: none */
	void *offer_arg;
	/* owner of `sender` */
	struct rte_mempool *pool;
	uint32_t psn;
	uint32_t n_kept;
	struct kept kept[MAX_NEIGHBOURS];
};

static struct rte_ring *
ring_create(unsigned int element_bytes, unsigned int flags)
{
	ssize_t bytes = rte_ring_get_memsize_elem(element_bytes, RING_SLOTS);
	struct rte_ring *ring = aligned_alloc(RTE_CACHE_LINE_SIZE,
					      RTE_ALIGN_CEIL((size_t)bytes, RTE_CACHE_LINE_SIZE));

	if (ring != NULL && rte_ring_init(ring, "gsi", RING_SLOTS, flags) != 0) {
		free(ring);
		return NULL;
	}
	return ring;
}

/* The connection manager sends a message. */
static void
on_send(void *arg, const struct cm_peer *to, const struct cm_msg *msg)
{
	struct nic_gsi *gsi = arg;
	struct datagram d = {.peer = *to, .local_id = msg->local_id};

	cm_msg_build(d.mad, msg);
	if (rte_ring_enqueue_elem(gsi->tx, &d, sizeof(d)) != 0) {
		counter_inc(&gsi->sender->stats.cm.cm_drop_unsent);
		return;
	}
	nic_request(gsi->sender, NIC_REQUEST_DATAGRAMS);
}

static enum cm_reason
on_offer(void *arg, const struct cm_view *v, struct cm_end *own)
{
	const struct nic_gsi *gsi = arg;

	return gsi->offer == NULL ? CM_REASON_NO_RESOURCES : gsi->offer(gsi->offer_arg, v, own);
}

void
nic_gsi_set_offer(struct node *first, nic_gsi_offer *offer, void *arg)
{
	struct nic_gsi *gsi = nic_of(first)->gsi;

	gsi->offer = offer;
	gsi->offer_arg = arg;
}

/* EUI-64 of a MAC address (RFC 4291, appendix A). */
static uint64_t
guid_of(const uint8_t mac[6])
{
	uint8_t id[8] = {mac[0] ^ 2, mac[1], mac[2], 0xFF, 0xFE, mac[3], mac[4], mac[5]};

	return be64_load(id);
}

int
nic_gsi_open(struct node *const *nodes, uint32_t n_nodes, struct rte_mempool *pool)
{
	struct nic *first = nic_of(nodes[0]);
	const struct nic_params *p = &first->params;
	const struct cm_params cm = {
		.max_connections = NIC_CM_CONNECTIONS,
		.response_timeout = p->cm_response_timeout,
		.max_retries = p->cm_max_retries,
		.ip = p->ip,
		.ip6 = p->ip6,
		.guid = guid_of(p->mac),
		.key = p->table_key,
	};
	const struct cm_ops ops = {.send = on_send, .offer = on_offer};
	struct nic_gsi *gsi;

	if (rte_pktmbuf_data_room_size(pool) < RTE_PKTMBUF_HEADROOM + NIC_GSI_FRAME_BYTES)
		return -EINVAL;
	gsi = calloc(1, sizeof(*gsi));
	if (gsi == NULL)
		return -ENOMEM;
	gsi->pool = pool;
	gsi->sender = first;
	first->gsi = gsi;
	gsi->rx = ring_create(sizeof(struct datagram), RING_F_SC_DEQ);
	gsi->tx = ring_create(sizeof(struct datagram), RING_F_SP_ENQ | RING_F_SC_DEQ);
	gsi->unresolved = ring_create(sizeof(uint32_t), RING_F_SP_ENQ | RING_F_SC_DEQ);
	gsi->cm = cm_create(&cm, &first->stats.cm, &ops, gsi);
	if (gsi->rx == NULL || gsi->tx == NULL || gsi->unresolved == NULL || gsi->cm == NULL ||
	    neigh_reserve(first->neighbours->table, neigh_count(first->neighbours->table) +
							    first->flows_capacity +
							    MAX_NEIGHBOURS) != 0) {
		nic_gsi_free(first);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i < n_nodes; i++)
		nic_of(nodes[i])->gsi = gsi;
	return 0;
}

void
nic_gsi_free(struct nic *nic)
{
	struct nic_gsi *gsi = nic->gsi;

	if (gsi == NULL || gsi->sender != nic)
		return;
	cm_destroy(gsi->cm);
	free(gsi->rx);
	free(gsi->tx);
	free(gsi->unresolved);
	free(gsi);
	nic->gsi = NULL;
}

struct cm *
nic_cm(struct node *node)
{
	struct nic_gsi *gsi = nic_of(node)->gsi;

	return gsi == NULL ? NULL : gsi->cm;
}

/* ---- receive ---- */

/* The way back to the sender of a frame. */
static struct cm_peer
sender_of(const uint8_t *buf, const struct roce_view *v)
{
	const uint8_t *ip = buf + v->ip_off;
	struct cm_peer peer = {
		.ip.version = v->ip_version,
		.tagged = v->ip_off > ETH_HDR_BYTES,
	};

	memcpy(peer.mac, buf + 6, sizeof(peer.mac));
	if (peer.tagged)
		peer.vlan_tci = be16_load(buf + ETH_HDR_BYTES);
	if (v->ip_version == 4)
		memcpy(peer.ip.addr, ip + 12, 4);
	else
		memcpy(peer.ip.addr, ip + 8, 16);
	return peer;
}

unsigned int
nic_gsi_on_datagram(struct nic *nic, const uint8_t *buf, const struct roce_view *v)
{
	struct datagram d = {0};

	if (v->opcode != UD_SEND_ONLY)
		return NIC_DROP_WRONG_TRANSPORT;
	if (v->deth_qkey != GSI_QKEY)
		return NIC_DROP_BAD_QKEY;
	if (v->payload_bytes != MAD_BYTES)
		return NIC_DROP_CM_LENGTH;
	d.peer = sender_of(buf, v);
	memcpy(d.mad, buf + v->payload_off, MAD_BYTES);
	return rte_ring_enqueue_elem(nic->gsi->rx, &d, sizeof(d)) == 0 ? NIC_USED
								       : NIC_DROP_CM_OVERFLOW;
}

/* ---- send ---- */

static void
release_oldest(struct nic_gsi *gsi)
{
	struct neigh_table *table = gsi->sender->neighbours->table;
	uint32_t oldest = 0;

	for (uint32_t i = 1; i < gsi->n_kept; i++)
		if (gsi->kept[i].used_ns < gsi->kept[oldest].used_ns)
			oldest = i;
	neigh_release(table, neigh_find(table, &gsi->kept[oldest].key));
	gsi->kept[oldest] = gsi->kept[--gsi->n_kept];
}

/* Keep the neighbour with this key in the table. @return its index, or NEIGH_NONE. */
static uint32_t
keep_neighbour(struct nic_gsi *gsi, const struct neigh_key *key, uint64_t now_ns)
{
	struct neigh_table *table = gsi->sender->neighbours->table;
	int64_t index;

	for (uint32_t i = 0; i < gsi->n_kept; i++) {
		if (memcmp(&gsi->kept[i].key, key, sizeof(*key)) != 0)
			continue;
		gsi->kept[i].used_ns = now_ns;
		return neigh_find(table, key);
	}
	if (gsi->n_kept == MAX_NEIGHBOURS)
		release_oldest(gsi);
	index = neigh_add(table, key, now_ns);
	if (index < 0)
		return NEIGH_NONE;
	gsi->kept[gsi->n_kept++] = (struct kept){.key = *key, .used_ns = now_ns};
	return (uint32_t)index;
}

/* Fill in the MAC address of a peer. @return false: it is not known yet. */
static bool
resolve(struct nic_gsi *gsi, struct cm_peer *peer, uint64_t now_ns)
{
	static const uint8_t zero[6];
	struct neigh_table *table = gsi->sender->neighbours->table;
	struct neigh_key key;
	uint32_t index;

	if (memcmp(peer->mac, zero, sizeof(zero)) != 0)
		return true;
	memset(&key, 0, sizeof(key));
	key.ip = peer->ip;
	key.vlan_id = peer->tagged ? peer->vlan_tci & 0x0FFF : 0;
	index = keep_neighbour(gsi, &key, now_ns);
	if (index == NEIGH_NONE || !neigh_get(table, index)->has_mac)
		return false;
	memcpy(peer->mac, neigh_get(table, index)->mac, sizeof(peer->mac));
	return true;
}

static struct roce_path
path_to(const struct nic_params *p, const struct cm_peer *to)
{
	const struct field_ip *ip = to->ip.version == 4 ? &p->ip : &p->ip6;
	struct roce_path path = {
		.ip_version = to->ip.version,
		.tagged = to->tagged,
		.vlan_tci = to->vlan_tci,
		.ttl = TTL,
		.udp_sport = roce_udp_sport(roce_flow_label(GSI_QPN, GSI_QPN)),
		.flow_label = roce_flow_label(GSI_QPN, GSI_QPN),
		.dest_qp = GSI_QPN,
		.pkey = PKEY_DEFAULT,
	};

	memcpy(path.src_mac, p->mac, sizeof(path.src_mac));
	memcpy(path.dst_mac, to->mac, sizeof(path.dst_mac));
	memcpy(path.src_ip, ip->addr, sizeof(path.src_ip));
	memcpy(path.dst_ip, to->ip.addr, sizeof(path.dst_ip));
	return path;
}

/* Build a frame, which then waits for the wire beside the answers of address resolution. */
static void
send_datagram(struct nic_gsi *gsi, const struct datagram *d)
{
	struct nic *nic = gsi->sender;
	struct roce_path path = path_to(&nic->params, &d->peer);
	const struct roce_fields fields = {
		.opcode = UD_SEND_ONLY,
		.psn = gsi->psn++ & PSN_MASK,
		.deth_qkey = GSI_QKEY,
		.deth_src_qp = GSI_QPN,
	};
	struct rte_mbuf *m;
	size_t len;

	m = rte_pktmbuf_alloc(gsi->pool);
	if (m == NULL) {
		counter_inc(&nic->stats.cm_no_mbuf);
		return;
	}
	len = roce_build(rte_pktmbuf_mtod(m, uint8_t *), NIC_GSI_FRAME_BYTES, &path, &fields,
			 d->mad, MAD_BYTES);
	assert(len > 0);
	m->data_len = (uint16_t)len;
	m->pkt_len = (uint32_t)len;
	pkt_fifo_push(&nic->neighbours->answers, m);
}

void
nic_gsi_send(struct nic *nic, uint64_t now_ns)
{
	struct nic_gsi *gsi = nic->gsi;
	struct datagram d;
	unsigned int n = 0;

	/* Before the ring is read: a datagram that comes in meanwhile is a new request. */
	nic_request_served(nic, NIC_REQUEST_DATAGRAMS);
	for (; n < SEND_BURST && nic->neighbours->answers.count < MOST_WAITING &&
	       rte_ring_dequeue_elem(gsi->tx, &d, sizeof(d)) == 0;
	     n++) {
		if (resolve(gsi, &d.peer, now_ns))
			send_datagram(gsi, &d);
		else
			rte_ring_enqueue_elem(gsi->unresolved, &d.local_id, sizeof(d.local_id));
	}
	if (!rte_ring_empty(gsi->tx))
		nic_request(nic, NIC_REQUEST_DATAGRAMS);
	node_wake(&nic->node, 0);
}

/* ---- control ---- */

uint64_t
nic_gsi_control(struct nic *nic, uint64_t now_ns)
{
	struct nic_gsi *gsi = nic->gsi;
	struct datagram d;
	uint32_t local_id;

	if (gsi == NULL || gsi->sender != nic)
		return NEVER_NS;
	for (unsigned int i = 0;
	     i < RECEIVE_BURST && rte_ring_dequeue_elem(gsi->rx, &d, sizeof(d)) == 0; i++) {
		struct cm_msg msg;
		enum cm_verdict verdict = cm_msg_parse(d.mad, MAD_BYTES, &msg);

		cm_on_message(gsi->cm, &d.peer, verdict, &msg, now_ns);
	}
	while (rte_ring_dequeue_elem(gsi->unresolved, &local_id, sizeof(local_id)) == 0)
		cm_on_unresolved(gsi->cm, local_id, now_ns);
	cm_run(gsi->cm, now_ns);
	/* More than one burst waits: a flood must not fill the ring while nobody looks. */
	if (!rte_ring_empty(gsi->rx))
		return now_ns;
	return min_u64(cm_next_ns(gsi->cm), now_ns + (cm_count(gsi->cm) > 0 ? BUSY_NS : IDLE_NS));
}
