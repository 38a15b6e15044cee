/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/forward/neighbours.h"

#include <string.h>
#include <rte_mbuf.h>

#include "base/threads/counter.h"
#include "switch/frame/copy_on_write.h"
#include "switch/shard/news.h"
#include "wire/neighbour/arp.h"
#include "wire/neighbour/icmp.h"
#include "wire/neighbour/nd.h"

static const uint8_t all_nodes[16] = {0xFF, 0x02, [15] = 0x01};

/* How an address was learned. */
enum news_kind {
	NEWS_OVERHEARD, /* from a frame to others: updates an existing entry */
	NEWS_QUESTION,  /* from a request to us: creates an entry */
	NEWS_ANSWER,    /* from an answer to us: confirms an entry, if we sent a request */
};

/* Do we expect an answer from this neighbour? */
static bool
is_asked(const struct neigh *e)
{
	return e->state == NEIGH_INCOMPLETE || e->state == NEIGH_PROBE || e->state == NEIGH_FAILED;
}

/* Has it answered us at its address? Then another one, which may be forged, is not believed. */
static bool
is_verified(const struct neigh *e)
{
	return e->state == NEIGH_REACHABLE || (e->state == NEIGH_PROBE && e->has_mac);
}

/* Enter a learned address. @return true: the neighbour is in the table now. */
static bool
enter(struct sw_router *r, const struct sw_neigh_news *news, uint64_t now_ns)
{
	struct neigh_stats counted = {0}, *stats = news->counted ? &counted : &r->stats.neigh;
	uint32_t index = neigh_find(r->neighs, &news->key);
	const struct neigh *e;

	if (index == NEIGH_NONE && news->kind == NEWS_QUESTION)
		index = neigh_claim(r->neighs, &r->stats.claims, &news->key,
				    (struct neigh_claim){.heard = true}, now_ns);
	if (index == NEIGH_NONE)
		return false;
	e = neigh_get(r->neighs, index);
	if (is_verified(e) && memcmp(e->mac, news->mac, sizeof(e->mac)) != 0)
		neigh_on_claimed(r->neighs, stats, index, news->mac, now_ns);
	else if (news->kind == NEWS_ANSWER && is_asked(e))
		neigh_on_learnt(r->neighs, stats, index, news->mac, now_ns);
	else
		neigh_on_heard(r->neighs, stats, index, news->mac, now_ns);
	return true;
}

static void
learn(struct sw_router *r, const struct arrival *a, uint8_t ip_version, const uint8_t *ip,
      const uint8_t mac[6], enum news_kind kind)
{
	struct sw_neigh_news news = {.key = {.ip.version = ip_version, .vlan_id = a->domain},
				     .kind = (uint8_t)kind};

	memcpy(news.key.ip.addr, ip, ip_version == 4 ? 4 : 16);
	memcpy(news.mac, mac, sizeof(news.mac));
	if (mac[0] & 1 || !sw_router_is_neighbour(r, &news.key))
		return;
	news.counted = enter(r, &news, a->now_ns);
	counter_add(&r->stats.neigh_news_lost, sw_news_send(r->shard, &news));
}

void
sw_neigh_take_news(struct sw_router *r, uint64_t now_ns)
{
	struct sw_neigh_news news;

	for (uint16_t from = 0; from < r->shard->shards->n; from++) {
		if (from == r->shard->index)
			continue;
		while (sw_news_take(r->shard, from, &news)) {
			/* During a reload the shards may have different interfaces. */
			if (sw_router_is_neighbour(r, &news.key))
				(void)enter(r, &news, now_ns);
		}
	}
}

static bool
is_nd(const struct arrival *a, const uint8_t *frame)
{
	const struct frame_view *v = &a->view;

	return v->ip_version == 6 && v->ip_proto == IP_PROTO_ICMPV6 && !v->fragment &&
	       v->ip_end > v->l4_off &&
	       (frame[v->l4_off] == ND_SOLICITATION || frame[v->l4_off] == ND_ADVERTISEMENT);
}

/* RFC 826: every ARP packet updates its sender's entry in the table. */
static bool
hear_arp(struct sw_router *r, const struct arrival *a, const uint8_t *frame)
{
	struct arp arp;

	if (!arp_parse(frame, a->m->data_len, &a->view, &arp))
		return false;
	if (sw_router_is_own(&sw_router_interface(r, a->domain)->ip, arp.target_ip, 4))
		return true;
	learn(r, a, 4, arp.sender_ip, arp.sender_mac, NEWS_OVERHEARD);
	return false;
}

/* RFC 4861 7.2.5: an unsolicited advertisement carries its sender's current address. */
static bool
hear_nd(struct sw_router *r, const struct arrival *a, const uint8_t *frame)
{
	struct nd nd;

	if (!is_nd(a, frame) || !nd_parse(frame, &a->view, &nd))
		return false;
	if (nd.type == ND_SOLICITATION)
		return sw_router_is_own(&sw_router_interface(r, a->domain)->ip6, nd.target_ip, 6);
	if (nd.has_mac && nd.flags & ND_OVERRIDE)
		learn(r, a, 6, nd.target_ip, nd.mac, NEWS_OVERHEARD);
	return false;
}

bool
sw_neigh_hear(struct sw_router *r, const struct arrival *a)
{
	const uint8_t *frame = rte_pktmbuf_mtod(a->m, const uint8_t *);

	if (a->view.ethertype == ETHERTYPE_ARP)
		return hear_arp(r, a, frame);
	return hear_nd(r, a, frame);
}

/*
 * Make the frame writable, so that the answer can be built in it. NULL: no mbuf is free, or the
 * mbuf is too small.
 */
static uint8_t *
answer_in(const struct sw_router *r, struct arrival *a, size_t bytes)
{
	struct rte_mbuf *own = sw_make_writable(r->pools, a->m);

	if (own == NULL)
		return NULL;
	a->m = own;
	if ((size_t)own->data_len + rte_pktmbuf_tailroom(own) < bytes)
		return NULL;
	return rte_pktmbuf_mtod(own, uint8_t *);
}

/* Send the answer in the frame by the port that the frame was received on. */
static enum sw_drop
send_answer(struct arrival *a, size_t len)
{
	a->m->data_len = (uint16_t)len;
	a->m->pkt_len = (uint32_t)len;
	a->out_port = a->in_port;
	return SW_PASS;
}

static struct l2
way_back(const struct sw_router *r, const struct arrival *a, const uint8_t *frame)
{
	struct l2 l2 = {.tagged = a->view.tagged, .vlan_tci = a->view.vlan_tci};

	memcpy(l2.dst_mac, frame + 6, 6);
	memcpy(l2.src_mac, r->mac, 6);
	return l2;
}

static enum sw_drop
on_arp(struct sw_router *r, struct arrival *a)
{
	static const uint8_t none[4];
	uint8_t *frame = rte_pktmbuf_mtod(a->m, uint8_t *);
	struct arp arp;
	struct l2 l2;

	if (!arp_parse(frame, a->m->data_len, &a->view, &arp))
		return SW_DROP_NEIGH_MALFORMED;
	if (!sw_router_is_own(&sw_router_interface(r, a->domain)->ip, arp.target_ip, 4))
		return SW_DROP_NON_ROUTABLE;
	if (memcmp(arp.sender_ip, none, sizeof(none)) != 0)
		learn(r, a, 4, arp.sender_ip, arp.sender_mac,
		      arp.op == ARP_REPLY ? NEWS_ANSWER : NEWS_QUESTION);
	if (arp.op == ARP_REPLY)
		return SW_CONSUMED;
	frame = answer_in(r, a, ARP_FRAME_BYTES);
	if (frame == NULL)
		return SW_DROP_NO_MBUF;
	l2 = way_back(r, a, frame);
	arp.op = ARP_REPLY;
	memcpy(arp.target_mac, arp.sender_mac, 6);
	memcpy(arp.target_ip, arp.sender_ip, 4);
	memcpy(arp.sender_mac, r->mac, 6);
	memcpy(arp.sender_ip, sw_router_interface(r, a->domain)->ip.ip.addr, 4);
	counter_inc(&r->stats.neigh_requests_answered);
	return send_answer(a, arp_build(frame, &l2, &arp));
}

/* RFC 4861 7.2.5: without the override flag, do not replace a known address. */
static void
on_advertisement(struct sw_router *r, const struct arrival *a, const struct nd *nd,
		 const uint8_t mac[6])
{
	struct neigh_key key = {.ip.version = 6, .vlan_id = a->domain};
	const struct neigh *e;
	uint32_t index;

	memcpy(key.ip.addr, nd->target_ip, 16);
	index = neigh_find(r->neighs, &key);
	e = index == NEIGH_NONE ? NULL : neigh_get(r->neighs, index);
	if (e != NULL && e->has_mac && !(nd->flags & ND_OVERRIDE) && memcmp(e->mac, mac, 6) != 0)
		return;
	/* A neighbour that is unknown here may be one that another shard has asked. */
	learn(r, a, 6, nd->target_ip, mac, nd->flags & ND_SOLICITED ? NEWS_ANSWER : NEWS_OVERHEARD);
}

static enum sw_drop
on_nd(struct sw_router *r, struct arrival *a)
{
	struct nd answer = {
		.type = ND_ADVERTISEMENT, .flags = ND_OVERRIDE | ND_ROUTER, .has_mac = true};
	uint8_t *frame = rte_pktmbuf_mtod(a->m, uint8_t *);
	struct l2 l2;
	struct nd nd;

	if (!nd_parse(frame, &a->view, &nd))
		return SW_DROP_NEIGH_MALFORMED;
	if (nd.type == ND_ADVERTISEMENT) {
		on_advertisement(r, a, &nd, nd.has_mac ? nd.mac : frame + 6);
		return SW_CONSUMED;
	}
	if (!sw_router_is_own(&sw_router_interface(r, a->domain)->ip6, nd.target_ip, 6))
		return SW_DROP_NON_ROUTABLE;
	if (nd.has_mac)
		learn(r, a, 6, nd.src_ip, nd.mac, NEWS_QUESTION);
	frame = answer_in(r, a, ND_FRAME_BYTES);
	if (frame == NULL)
		return SW_DROP_NO_MBUF;
	l2 = way_back(r, a, frame);
	memcpy(answer.dst_ip, nd.src_ip, 16);
	if (nd_is_unspecified(nd.src_ip)) {
		memcpy(answer.dst_ip, all_nodes, 16);
		nd_group_mac(all_nodes, l2.dst_mac);
	} else {
		answer.flags |= ND_SOLICITED;
	}
	memcpy(answer.src_ip, nd.target_ip, 16);
	memcpy(answer.target_ip, nd.target_ip, 16);
	memcpy(answer.mac, r->mac, 6);
	counter_inc(&r->stats.neigh_requests_answered);
	return send_answer(a, nd_build(frame, &l2, &answer));
}

static enum sw_drop
on_echo(struct sw_router *r, struct arrival *a)
{
	uint8_t *frame = answer_in(r, a, 0);

	if (frame == NULL)
		return SW_DROP_NO_MBUF;
	icmp_echo_answer(frame, &a->view);
	counter_inc(&r->stats.echo_requests_answered);
	return send_answer(a, a->m->data_len);
}

enum sw_drop
sw_neigh_rx(struct sw_router *r, struct arrival *a, bool to_own_ip)
{
	const uint8_t *frame = rte_pktmbuf_mtod(a->m, const uint8_t *);

	if (a->view.ethertype == ETHERTYPE_ARP)
		return on_arp(r, a);
	if (is_nd(a, frame))
		return on_nd(r, a);
	if (!to_own_ip)
		return SW_DROP_NON_ROUTABLE;
	if (!icmp_is_echo_request(frame, &a->view))
		return SW_DROP_IP2ME;
	return on_echo(r, a);
}

static size_t
build_arp_request(const struct sw_router *r, const struct neigh *e, uint8_t *frame)
{
	struct l2 l2 = {.dst_mac = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};
	struct arp arp = {.op = ARP_REQUEST};

	if (e->state == NEIGH_PROBE)
		memcpy(l2.dst_mac, e->mac, 6);
	memcpy(l2.src_mac, r->mac, 6);
	memcpy(arp.sender_mac, r->mac, 6);
	memcpy(arp.sender_ip, sw_router_interface(r, e->key.vlan_id)->ip.ip.addr, 4);
	memcpy(arp.target_ip, e->key.ip.addr, 4);
	return arp_build(frame, &l2, &arp);
}

static size_t
build_solicitation(const struct sw_router *r, const struct neigh *e, uint8_t *frame)
{
	struct nd nd = {.type = ND_SOLICITATION, .has_mac = true};
	struct l2 l2 = {0};

	nd_solicited_node(e->key.ip.addr, nd.dst_ip);
	nd_group_mac(nd.dst_ip, l2.dst_mac);
	if (e->state == NEIGH_PROBE) {
		memcpy(nd.dst_ip, e->key.ip.addr, 16);
		memcpy(l2.dst_mac, e->mac, 6);
	}
	memcpy(l2.src_mac, r->mac, 6);
	memcpy(nd.src_ip, sw_router_interface(r, e->key.vlan_id)->ip6.ip.addr, 16);
	memcpy(nd.target_ip, e->key.ip.addr, 16);
	memcpy(nd.mac, r->mac, 6);
	return nd_build(frame, &l2, &nd);
}

size_t
sw_neigh_request(const struct sw_router *r, const struct neigh *e, uint8_t *frame)
{
	return e->key.ip.version == 4 ? build_arp_request(r, e, frame)
				      : build_solicitation(r, e, frame);
}
