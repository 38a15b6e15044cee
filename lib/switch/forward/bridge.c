/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/forward/bridge.h"

#include <rte_mbuf.h>

#include "switch/forward/neighbours.h"
#include "switch/forward/router.h"
#include "switch/frame/copy_on_write.h"
#include "wire/frame/l2.h"

#define MAC_MASK 0xFFFFFFFFFFFFull

/* Remove a priority tag (802.1Q 3.184), which contains only the PCP. */
static enum sw_drop
drop_priority_tag(const struct sw_pools *pools, struct arrival *a)
{
	struct rte_mbuf *own = sw_retag(pools, a->m, true, SW_UNTAGGED);

	if (own == NULL)
		return SW_DROP_NO_MBUF;
	a->m = own;
	a->view.tagged = false;
	a->view.l3_off -= VLAN_TAG_BYTES;
	a->view.l4_off -= VLAN_TAG_BYTES;
	a->view.ip_end -= VLAN_TAG_BYTES;
	return SW_PASS;
}

enum sw_drop
sw_bridge_filter(const struct sw_forward *f, struct arrival *a, uint16_t vid)
{
	uint16_t access = f->vlans->access_domain[a->in_port];

	if (vid == 0) {
		if (access == SW_NO_DOMAIN)
			return SW_DROP_VLAN_TAG_NOT_ALLOWED;
		a->domain = access;
		return a->view.tagged ? drop_priority_tag(f->pools, a) : SW_PASS;
	}
	if (!sw_is_member(f->vlans, vid, a->in_port))
		return SW_DROP_INGRESS_VLAN_FILTER;
	a->domain = vid;
	return SW_PASS;
}

/* 01:80:C2:00:00:00..0F (802.1Q table 8-1). */
static bool
is_reserved(uint64_t dst_key)
{
	return (dst_key & 0xFFFFFFFFFFF0ull) == 0x0180C2000000ull;
}

static bool
is_storm(struct sw_forward_port *s, const struct arrival *a, enum sw_storm kind)
{
	struct token_bucket *tb = &s->storm[kind];

	if (likely(tb->account.rate_bps == 0))
		return false;
	token_bucket_update(tb, a->now_ns);
	if (!token_bucket_can_send(tb))
		return true;
	token_bucket_charge(tb, wire_bytes(a->m->pkt_len));
	return false;
}

static enum sw_drop
check_storm(const struct sw_forward *f, const struct arrival *a, uint64_t dst)
{
	struct sw_forward_port *s = &f->ports[a->in_port];

	if (!fdb_key_is_group(dst))
		return is_storm(s, a, SW_STORM_UNKNOWN_UNICAST) ? SW_DROP_STORM_UNKNOWN_UNICAST
								: SW_PASS;
	if ((dst & MAC_MASK) == MAC_MASK)
		return is_storm(s, a, SW_STORM_BROADCAST) ? SW_DROP_STORM_BROADCAST : SW_PASS;
	return is_storm(s, a, SW_STORM_MULTICAST) ? SW_DROP_STORM_MULTICAST : SW_PASS;
}

/* The addresses of a frame, with their homes, cheaper in bursts; of one alone, the memo. */
struct addresses {
	uint64_t src, dst;
	const uint32_t *homes; /* NULL: memo */
	struct fdb_memo *memo;
};

static __rte_always_inline void
learn(struct sw_forward *f, const struct arrival *a, struct addresses addr)
{
	const uint64_t *at;

	if (addr.homes != NULL) {
		fdb_learn_at(f->fdb, addr.src, addr.homes[0], a->in_port, a->now_ns);
		return;
	}
	at = fdb_recall(f->fdb, addr.memo, addr.src);
	if (at == NULL || !fdb_is_fresh(f->fdb, at, a->in_port, a->now_ns))
		fdb_learn(f->fdb, addr.src, a->in_port, a->now_ns);
}

static __rte_always_inline uint16_t
look_up(struct sw_forward *f, const struct arrival *a, struct addresses addr)
{
	const uint64_t *at;

	if (addr.homes != NULL)
		return fdb_lookup_at(f->fdb, addr.dst, addr.homes[1], a->now_ns);
	at = fdb_recall(f->fdb, addr.memo, addr.dst);
	return at == NULL ? FDB_UNKNOWN : fdb_port_at(f->fdb, at, addr.dst, a->now_ns);
}

/* Has the frame's domain another port, without a link? */
static bool
has_other_port(const struct sw_forward *f, const struct arrival *a)
{
	const uint64_t *members = sw_members(f->vlans, a->domain);
	struct port_set down = {0};

	for (unsigned int i = 0; i < f->vlans->words; i++)
		down.word[i] = members[i] & sw_down_word(f, i);
	if (a->not_to != PORT_NONE)
		port_set_remove(&down, a->not_to);
	return !port_set_is_empty(&down);
}

/* Why is there no port to flood to? */
static enum sw_drop
no_port(const struct sw_forward *f, const struct arrival *a)
{
	if (has_other_port(f, a))
		return SW_DROP_LINK_DOWN;
	return sw_router_has(f->router, a->domain) ? SW_DROP_NOT_FOR_ROUTER : SW_DROP_SAME_PORT;
}

/*
 * A flood to no port is a drop; one to a single port needs no copies. Out of line, so that its sets
 * of ports take no registers and no stack of its caller.
 */
static __rte_noinline enum sw_drop
choose_flood(const struct sw_forward *f, struct arrival *a)
{
	struct port_set ports = sw_flood_ports(f, a);
	uint16_t first = port_set_next(&ports, 0);

	if (first == PORT_NONE)
		return no_port(f, a);
	if (port_set_next(&ports, (uint16_t)(first + 1)) == PORT_NONE)
		a->out_port = first;
	return SW_PASS;
}

/* The domain of a routed port has no other port, so it needs no addresses. */
static inline bool
is_bridged(uint16_t domain)
{
	return likely(domain < SW_PORT_DOMAIN);
}

static __rte_always_inline enum sw_drop
forward(struct sw_forward *f, struct arrival *a, struct addresses addr)
{
	uint64_t src = addr.src, dst = addr.dst;
	bool bridged = is_bridged(a->domain);
	enum sw_drop reason;

	if (unlikely(fdb_key_is_group(src)))
		return SW_DROP_BAD_SOURCE;
	if (unlikely(is_reserved(dst)))
		return SW_DROP_RESERVED_ADDRESS;
	if (bridged)
		learn(f, a, addr);
	if (sw_router_takes(f->router, dst))
		return SW_TO_ROUTER;
	a->out_port = !bridged || fdb_key_is_group(dst) ? FLOOD : look_up(f, a, addr);
	if (unlikely(a->out_port == a->in_port))
		return SW_DROP_SAME_PORT;
	if (likely(a->out_port != FLOOD))
		return SW_PASS;
	reason = check_storm(f, a, dst);
	if (reason != SW_PASS)
		return reason;
	if (sw_router_has(f->router, a->domain) && fdb_key_is_group(dst) &&
	    sw_neigh_hear(f->router, a))
		return SW_TO_ROUTER;
	return choose_flood(f, a);
}

bool
sw_bridge_forward(struct sw_forward *f, struct fdb_memo *memo, struct arrival *a, unsigned int n,
		  enum sw_drop reasons[])
{
	/* fdb_homes() works in steps of 4 keys. */
	uint64_t keys[2 * SW_BURST + 3], src[SW_BURST], dst[SW_BURST];
	uint32_t homes[2 * SW_BURST + 3];
	uint8_t at[SW_BURST]; /* of a frame's keys */
	unsigned int n_keys = 0;
	bool routed = false;

	if (n == 0)
		return false;
	if (n == 1) {
		const uint8_t *frame = rte_pktmbuf_mtod(a->m, const uint8_t *);

		reasons[0] =
			forward(f, a,
				(struct addresses){.src = fdb_key_in_header(a->domain, frame + 6),
						   .dst = fdb_key_in_header(a->domain, frame),
						   .memo = memo});
		return reasons[0] == SW_TO_ROUTER;
	}
	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(a[i].m, const uint8_t *);

		dst[i] = fdb_key_in_header(a[i].domain, frame);
		at[i] = (uint8_t)n_keys;
		src[i] = fdb_key_in_header(a[i].domain, frame + 6);
		if (!is_bridged(a[i].domain))
			continue;
		keys[n_keys++] = src[i];
		keys[n_keys] = dst[i];
		/* The router's own address is not looked up. */
		n_keys += !sw_router_takes(f->router, dst[i]);
	}
	keys[n_keys] = keys[n_keys + 1] = keys[n_keys + 2] = 0;
	fdb_homes(f->fdb, keys, homes, n_keys);
	for (unsigned int i = 0; i < n; i++) {
		reasons[i] = forward(
			f, &a[i],
			(struct addresses){.src = src[i], .dst = dst[i], .homes = &homes[at[i]]});
		routed |= reasons[i] == SW_TO_ROUTER;
	}
	return routed;
}
