/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/neighbour/nic_resolve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "nic/address/addresses.h"
#include "nic/core/core.h"
#include "nic/place/place.h"
#include "nic/port/share.h"
#include "wire/neighbour/arp.h"
#include "wire/neighbour/icmp.h"
#include "wire/neighbour/nd.h"

/*
 * Limit of the answers that wait for the wire: more than a burst of requests, far fewer than a
 * pool's mbufs.
 */
#define MOST_ANSWERS 64
/*
 * Answers leave before data. So that a flood of requests does not take the whole link, answers get
 * 1/64 of it, but at least 1 Mb/s. (Only tests use links below 64 Mb/s.)
 */
#define ANSWER_SHARE 64u
#define ANSWER_LEAST_BPS (1000 * 1000u)
/* QPs updated with a new address in one call. */
#define SCAN_BURST 64u
#define VLAN_ID_MASK 0x0FFFu

static const uint8_t broadcast[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
static const uint8_t all_nodes[16] = {0xFF, 0x02, [15] = 0x01};

static struct neigh_key
key_of(uint8_t ip_version, const uint8_t *ip, uint16_t vlan_tci)
{
	struct neigh_key key = {.ip.version = ip_version, .vlan_id = vlan_tci & VLAN_ID_MASK};

	memcpy(key.ip.addr, ip, ip_version == 4 ? 4 : 16);
	return key;
}

static struct neigh_key
key_of_flow(const struct qp_flow *flow)
{
	const struct roce_path *path = &flow->path;
	const struct field_ip *hop = &flow->params.next_hop;

	return key_of(path->ip_version, hop->version != 0 ? hop->addr : path->dst_ip,
		      path->tagged ? path->vlan_tci : 0);
}

static struct neigh_key
key_of_qp(const struct nic *nic, const struct nic_qp *qp)
{
	return key_of_flow(nic_flow_of(nic, qp));
}

static void
set_address(struct nic *nic, uint32_t item, const uint8_t mac[6], uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	struct qp_flow *flow = nic_flow_of(nic, qp);

	memcpy(flow->path.dst_mac, mac, 6);
	__atomic_store_n(&flow->next_mac, mac_number(mac), __ATOMIC_RELAXED);
	roce_template_set_dst_mac(&flow->template, mac);
	roce_shape_set_dst_mac(&flow->middle, mac);
	roce_shape_set_dst_mac(&flow->ack, mac);
	roce_shape_set_dst_mac(&flow->cnp, mac);
	if (!(qp->flags & QP_UNRESOLVED))
		return;
	qp->flags &= (uint16_t)~QP_UNRESOLVED;
	nic_settle(nic, item, now_ns);
}

static int
askers_grow(struct nic_neighbours *n, uint32_t n_askers)
{
	struct nic_asker *askers = realloc(n->askers, n_askers * sizeof(*askers));

	if (askers == NULL)
		return -ENOMEM;
	memset(&askers[n->n_askers], 0, (n_askers - n->n_askers) * sizeof(*askers));
	n->askers = askers;
	n->n_askers = n_askers;
	return 0;
}

int
nic_resolve_reserve(struct nic *nic, uint32_t n)
{
	return neigh_reserve(nic->neighbours->table, n) != 0 ? -ENOMEM
							     : askers_grow(nic->neighbours, n);
}

/* Requests for the neighbour come from the source of this QP's flow. */
static void
ask_from(struct nic *nic, uint32_t index, const struct nic_qp *qp)
{
	const struct roce_path *path = &nic_flow_of(nic, qp)->path;
	struct nic_asker *asker = &nic->neighbours->askers[index];

	asker->flow = qp->flow;
	asker->ip.version = path->ip_version;
	memcpy(asker->ip.addr, path->src_ip, sizeof(asker->ip.addr));
	memcpy(asker->mac, path->src_mac, sizeof(asker->mac));
}

static int
set_asker(struct nic *nic, uint32_t index, const struct nic_qp *qp)
{
	struct nic_neighbours *n = nic->neighbours;

	if (!nic_addresses_differ(nic) && n->n_askers == 0)
		return 0;
	if (index >= n->n_askers && askers_grow(n, index + 1) != 0)
		return -ENOMEM;
	ask_from(nic, index, qp);
	return 0;
}

/* Who asks for the neighbour: the source of one of its flows, or the NIC. */
static struct nic_asker
asker_of(const struct nic *nic, uint32_t index, uint8_t version)
{
	const struct nic_neighbours *n = nic->neighbours;
	struct nic_asker own = {.ip = version == 4 ? nic->params.ip : nic->params.ip6};

	if (index < n->n_askers && n->askers[index].ip.version == version)
		return n->askers[index];
	memcpy(own.mac, nic->params.mac, sizeof(own.mac));
	return own;
}

int
nic_resolve_qp(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	static const uint8_t zero[6];
	struct nic_qp *qp = &nic->qps[item];
	struct neigh_key key = key_of_qp(nic, qp);
	const struct neigh *e;
	int64_t index;

	if (memcmp(nic_flow_of(nic, qp)->params.peer_mac, zero, sizeof(zero)) != 0)
		return 0;
	index = neigh_add(nic->neighbours->table, &key, now_ns);
	if (index < 0)
		return (int)index;
	if (set_asker(nic, (uint32_t)index, qp) != 0)
		return -ENOMEM;
	qp->rx_flags |= QP_RX_BY_ADDRESS;
	e = neigh_get(nic->neighbours->table, (uint32_t)index);
	/* A scan follows a new address only, and another flow may know this one already. */
	if (e->has_mac)
		set_address(nic, item, e->mac, now_ns);
	else
		qp->flags |= QP_UNRESOLVED;
	return 0;
}

void
nic_resolve_release(struct nic *nic, uint32_t item)
{
	struct nic_neighbours *n = nic->neighbours;
	struct neigh_key key = key_of_qp(nic, &nic->qps[item]);
	uint32_t index = neigh_find(n->table, &key);

	neigh_release(n->table, index);
	/* The next neighbour of this index may be one that the NIC itself asks for. */
	if (index < n->n_askers && neigh_get(n->table, index)->users == 0)
		n->askers[index] = (struct nic_asker){.flow = FLOW_NONE};
}

void
nic_resolve_drop_asker(struct nic *nic, uint32_t flow_id)
{
	struct nic_neighbours *n = nic->neighbours;
	struct neigh_key key = key_of_flow(&nic->flows[flow_id]);
	uint32_t index = neigh_find(n->table, &key);

	if (index == NEIGH_NONE || index >= n->n_askers || n->askers[index].flow != flow_id)
		return;
	n->askers[index] = (struct nic_asker){.flow = FLOW_NONE};
	n->scan_left = nic->n_qps;
	node_wake(&nic->node, 0);
}

/*
 * May the neighbour have this MAC address? A loop or a forged message may announce one of our own
 * addresses, but frames to it reach no other station. A NIC that sends to itself through the wire
 * is its own neighbour.
 */
static bool
may_have(const struct nic *nic, const struct neigh_key *key, const uint8_t mac[6])
{
	if (mac[0] & 1 || mac_number(mac) == 0)
		return false;
	return !nic_mac_is_ours(nic, mac) ||
	       nic_address_is_ours(nic, mac, key->ip.version, key->ip.addr);
}

/* Enter a neighbour's address. If it is new, scan() updates the QPs, a burst in each call. */
static void
learn(struct nic *nic, const struct neigh_key *key, const uint8_t mac[6], uint64_t now_ns)
{
	uint32_t index = neigh_find(nic->neighbours->table, key);

	if (index == NEIGH_NONE || !may_have(nic, key, mac))
		return;
	if (neigh_on_claimed(nic->neighbours->table, &nic->stats.neigh, index, mac, now_ns))
		nic->neighbours->scan_left = nic->n_qps;
	node_wake(&nic->node, 0);
}

void
nic_resolve_from(struct nic *nic, uint32_t item, const uint8_t mac[6], uint64_t now_ns)
{
	struct neigh_key key = key_of_qp(nic, &nic->qps[item]);

	if (!may_have(nic, &key, mac))
		return;
	/*
	 * A router's address is learned only from the router itself: this frame may have come
	 * another way, and other flows use the router too. Until then, this flow alone uses the
	 * frame's source address.
	 */
	if (nic_flow_of(nic, &nic->qps[item])->params.next_hop.version == 0)
		learn(nic, &key, mac, now_ns);
	set_address(nic, item, mac, now_ns);
}

static void
scan(struct nic *nic, uint64_t now_ns)
{
	struct nic_neighbours *n = nic->neighbours;

	for (unsigned int i = 0; i < SCAN_BURST && n->scan_left > 0; i++, n->scan_left--) {
		uint32_t item = n->scan_item;
		const struct nic_qp *qp = &nic->qps[item];

		n->scan_item = item + 1 == nic->n_qps ? 0 : item + 1;
		if (qp->place != QP_FREE && qp->rx_flags & QP_RX_BY_ADDRESS) {
			struct neigh_key key = key_of_qp(nic, qp);
			uint32_t index = neigh_find(n->table, &key);
			const struct neigh *e = neigh_get(n->table, index);

			if (index < n->n_askers && n->askers[index].flow == FLOW_NONE)
				ask_from(nic, index, qp);
			/*
			 * The QPs of a flow share the peer's address, but each QP has its own
			 * QP_UNRESOLVED.
			 */
			if (e->has_mac &&
			    (qp->flags & QP_UNRESOLVED ||
			     memcmp(e->mac, nic_flow_of(nic, qp)->path.dst_mac, 6) != 0))
				set_address(nic, item, e->mac, now_ns);
		}
	}
}

void
nic_resolve_run(struct nic *nic, uint64_t now_ns)
{
	neigh_run(nic->neighbours->table, &nic->stats.neigh, now_ns);
	if (unlikely(nic->neighbours->scan_left > 0))
		scan(nic, now_ns);
}

int
nic_resolve_init(struct nic *nic)
{
	const struct nic_params *p = &nic->params;
	struct nic_neighbours *n = nic->neighbours;
	uint64_t rate_bps = max_u64(p->link_speed_bps / ANSWER_SHARE, ANSWER_LEAST_BPS);

	token_bucket_init(&n->answer_budget, rate_bps, MOST_ANSWERS * wire_bytes(ARP_FRAME_BYTES),
			  0);
	n->plain_queue = qos_map_classify(&p->qos, 0, -1).queue;
	n->table = neigh_table_create(&(struct neigh_params){
		.retrans_ns = p->neigh_retrans_time_ns,
		.reachable_ns = p->neigh_reachable_time_ns,
		.key = p->table_key,
	});
	return n->table == NULL ? -ENOMEM : 0;
}

/* Queue an answer that was built in the received mbuf. */
static unsigned int
keep_answer(struct nic *nic, struct rte_mbuf *m, size_t len)
{
	m->data_len = (uint16_t)len;
	m->pkt_len = (uint32_t)len;
	token_bucket_charge(&nic->neighbours->answer_budget, wire_bytes((uint32_t)len));
	pkt_fifo_push(&nic->neighbours->answers, m);
	node_wake(&nic->node, 0);
	return NIC_KEPT;
}

/* Addresses of an answer: to the sender of the frame, on its VLAN. */
static struct l2
way_back(const uint8_t mac[6], const uint8_t *buf, const struct frame_view *eth)
{
	struct l2 l2 = {.tagged = eth->tagged, .vlan_tci = eth->vlan_tci};

	memcpy(l2.dst_mac, buf + 6, 6);
	memcpy(l2.src_mac, mac, 6);
	return l2;
}

/* May an answer of this length be built in the mbuf and sent? */
static bool
may_answer(struct nic *nic, const struct rte_mbuf *m, size_t bytes, uint64_t now_ns)
{
	struct nic_neighbours *n = nic->neighbours;

	token_bucket_update(&n->answer_budget, now_ns);
	return n->answers.count < MOST_ANSWERS && token_bucket_can_send(&n->answer_budget) &&
	       (size_t)m->data_len + rte_pktmbuf_tailroom(m) >= bytes;
}

static unsigned int
on_arp(struct nic *nic, struct rte_mbuf *m, const struct frame_view *eth, uint64_t now_ns)
{
	static const uint8_t none[4];
	uint8_t *buf = rte_pktmbuf_mtod(m, uint8_t *);
	uint16_t vlan_tci = eth->tagged ? eth->vlan_tci : 0;
	const struct nic_address *asked;
	struct neigh_key sender;
	struct l2 l2;
	struct arp arp;

	if (!arp_parse(buf, m->data_len, eth, &arp))
		return NIC_DROP_NEIGH_MALFORMED;
	asked = nic_address_find(nic, 4, arp.target_ip, vlan_tci & VLAN_ID_MASK);
	/*
	 * Do not pass a request for our address to other nodes: the answer is built in its mbuf, so
	 * no other node may read it.
	 */
	if (arp.op == ARP_REPLY || asked == NULL)
		nic_share_broadcast(nic, m);
	/* RFC 826: every packet has its sender's address. */
	sender = key_of(4, arp.sender_ip, vlan_tci);
	if (memcmp(arp.sender_ip, none, 4) != 0)
		learn(nic, &sender, arp.sender_mac, now_ns);
	if (nic->taking_over || (arp.op == ARP_REPLY && asked != NULL))
		return NIC_USED;
	if (asked == NULL)
		return NIC_DROP_NOT_FOR_US;
	if (!may_answer(nic, m, ARP_FRAME_BYTES, now_ns))
		return NIC_DROP_ANSWER_OVERFLOW;
	counter_inc(&nic->stats.neigh_requests_answered);
	l2 = way_back(asked->mac, buf, eth);
	arp.op = ARP_REPLY;
	memcpy(arp.target_mac, arp.sender_mac, 6);
	memcpy(arp.target_ip, arp.sender_ip, 4);
	memcpy(arp.sender_mac, asked->mac, 6);
	memcpy(arp.sender_ip, asked->ip.addr, 4);
	return keep_answer(nic, m, arp_build(buf, &l2, &arp));
}

/* RFC 4861 4.4: sent to the requester, or to all nodes. */
static unsigned int
on_advertisement(struct nic *nic, struct rte_mbuf *m, const struct frame_view *eth,
		 const struct nd *nd, uint64_t now_ns)
{
	const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *);
	struct neigh_key key = key_of(6, nd->target_ip, eth->tagged ? eth->vlan_tci : 0);
	uint32_t index = neigh_find(nic->neighbours->table, &key);
	const uint8_t *mac = nd->has_mac ? nd->mac : buf + 6;

	nic_share_broadcast(nic, m);
	if (index == NEIGH_NONE || (memcmp(nd->dst_ip, all_nodes, 16) != 0 &&
				    nic_address_find(nic, 6, nd->dst_ip, key.vlan_id) == NULL))
		return nic->taking_over ? NIC_USED : NIC_DROP_NOT_FOR_US;
	/* The override flag may be forged: with it or without, the known address is asked first. */
	learn(nic, &key, mac, now_ns);
	return NIC_USED;
}

/* RFC 4861 7.2.3 and 7.2.4. */
static unsigned int
on_solicitation(struct nic *nic, struct rte_mbuf *m, const struct frame_view *eth,
		const struct nd *nd, uint64_t now_ns)
{
	uint8_t *buf = rte_pktmbuf_mtod(m, uint8_t *);
	struct neigh_key sender = key_of(6, nd->src_ip, eth->tagged ? eth->vlan_tci : 0);
	const struct nic_address *asked = nic_address_find(nic, 6, nd->target_ip, sender.vlan_id);
	struct nd answer = {.type = ND_ADVERTISEMENT, .flags = ND_OVERRIDE, .has_mac = true};
	struct l2 l2;

	if (asked == NULL)
		return NIC_DROP_NOT_FOR_US;
	l2 = way_back(asked->mac, buf, eth);
	if (!may_answer(nic, m, ND_FRAME_BYTES, now_ns))
		return NIC_DROP_ANSWER_OVERFLOW;
	if (nd->has_mac) {
		learn(nic, &sender, nd->mac, now_ns);
		memcpy(l2.dst_mac, nd->mac, 6);
	}
	memcpy(answer.dst_ip, nd->src_ip, 16);
	if (nd_is_unspecified(nd->src_ip)) {
		memcpy(answer.dst_ip, all_nodes, 16);
		nd_group_mac(all_nodes, l2.dst_mac);
	} else {
		answer.flags |= ND_SOLICITED;
	}
	memcpy(answer.src_ip, asked->ip.addr, 16);
	memcpy(answer.target_ip, asked->ip.addr, 16);
	memcpy(answer.mac, asked->mac, 6);
	counter_inc(&nic->stats.neigh_requests_answered);
	return keep_answer(nic, m, nd_build(buf, &l2, &answer));
}

static bool
is_nd(const uint8_t *buf, const struct frame_view *eth)
{
	if (eth->ip_proto != IP_PROTO_ICMPV6 || eth->ip_version != 6 || eth->fragment ||
	    eth->ip_end <= eth->l4_off)
		return false;
	return buf[eth->l4_off] == ND_SOLICITATION || buf[eth->l4_off] == ND_ADVERTISEMENT;
}

static unsigned int
on_nd(struct nic *nic, struct rte_mbuf *m, const struct frame_view *eth, uint64_t now_ns)
{
	const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *);
	struct nd nd;

	if (!nd_parse(buf, eth, &nd))
		return NIC_DROP_NEIGH_MALFORMED;
	if (nd.type == ND_ADVERTISEMENT)
		return on_advertisement(nic, m, eth, &nd, now_ns);
	return on_solicitation(nic, m, eth, &nd, now_ns);
}

unsigned int
nic_on_other(struct nic *nic, struct rte_mbuf *m, const struct frame_view *eth, uint64_t now_ns)
{
	uint8_t *buf = rte_pktmbuf_mtod(m, uint8_t *);
	const uint8_t *ip = buf + eth->l3_off;
	bool to_us = nic_mac_is_ours(nic, buf);

	if (!to_us && !(buf[0] & 1))
		return NIC_DROP_NOT_FOR_US;
	if (eth->ethertype == ETHERTYPE_ARP)
		return on_arp(nic, m, eth, now_ns);
	if (is_nd(buf, eth))
		return on_nd(nic, m, eth, now_ns);
	if (!to_us)
		return NIC_DROP_NOT_FOR_US;
	if (eth->ip_version == 0)
		return NIC_DROP_NOT_ROCE;
	if (!nic_address_is_ours(nic, buf, eth->ip_version,
				 eth->ip_version == 4 ? ip + 16 : ip + 24))
		return NIC_DROP_NOT_FOR_US;
	if (!icmp_is_echo_request(buf, eth))
		return NIC_DROP_NOT_ROCE;
	if (!may_answer(nic, m, 0, now_ns))
		return NIC_DROP_ANSWER_OVERFLOW;
	counter_inc(&nic->stats.echo_requests_answered);
	icmp_echo_answer(buf, eth);
	return keep_answer(nic, m, m->data_len);
}

/* Addresses of a request: unicast to probe a known address, else to the group. */
static struct l2
way_to_ask(const struct nic_asker *asker, const struct neigh *e, const uint8_t group_mac[6])
{
	struct l2 l2 = {.tagged = e->key.vlan_id != 0, .vlan_tci = e->key.vlan_id};

	memcpy(l2.dst_mac, e->state == NEIGH_PROBE ? e->mac : group_mac, 6);
	memcpy(l2.src_mac, asker->mac, 6);
	return l2;
}

static size_t
build_arp_request(const struct nic_asker *asker, const struct neigh *e, uint8_t *buf)
{
	struct l2 l2 = way_to_ask(asker, e, broadcast);
	struct arp arp = {.op = ARP_REQUEST};

	memcpy(arp.sender_mac, asker->mac, 6);
	memcpy(arp.sender_ip, asker->ip.addr, 4);
	memcpy(arp.target_ip, e->key.ip.addr, 4);
	return arp_build(buf, &l2, &arp);
}

static size_t
build_solicitation(const struct nic_asker *asker, const struct neigh *e, uint8_t *buf)
{
	struct nd nd = {.type = ND_SOLICITATION, .has_mac = true};
	uint8_t group_mac[6];
	struct l2 l2;

	nd_solicited_node(e->key.ip.addr, nd.dst_ip);
	nd_group_mac(nd.dst_ip, group_mac);
	if (e->state == NEIGH_PROBE)
		memcpy(nd.dst_ip, e->key.ip.addr, 16);
	l2 = way_to_ask(asker, e, group_mac);
	memcpy(nd.src_ip, asker->ip.addr, 16);
	memcpy(nd.target_ip, e->key.ip.addr, 16);
	memcpy(nd.mac, asker->mac, 6);
	return nd_build(buf, &l2, &nd);
}

struct rte_mbuf *
nic_resolve_frame(struct nic *nic, uint64_t now_ns)
{
	struct rte_mbuf *m = pkt_fifo_pop(&nic->neighbours->answers);
	const struct neigh *e;
	struct nic_asker asker;
	uint32_t index;
	uint8_t *buf;
	size_t len;

	if (m != NULL || !neigh_has_ask(nic->neighbours->table))
		return m;
	m = nic_take_mbuf(nic, nic->mbufs.control, now_ns);
	if (m == NULL)
		return NULL;
	index = neigh_pop_ask(nic->neighbours->table);
	e = neigh_get(nic->neighbours->table, index);
	asker = asker_of(nic, index, e->key.ip.version);
	buf = rte_pktmbuf_mtod(m, uint8_t *);
	len = e->key.ip.version == 4 ? build_arp_request(&asker, e, buf)
				     : build_solicitation(&asker, e, buf);
	m->data_len = (uint16_t)len;
	m->pkt_len = (uint32_t)len;
	counter_inc(&nic->stats.neigh_requests_sent);
	return m;
}

void
nic_resolve_free(struct nic *nic)
{
	struct rte_mbuf *m;

	while ((m = pkt_fifo_pop(&nic->neighbours->answers)) != NULL)
		rte_pktmbuf_free(m);
	neigh_table_destroy(nic->neighbours->table);
	free(nic->neighbours->askers);
}
