/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paths of QPs, for the slowdown of their messages. They are those of the scenario's start:
 * events do not change them. QPs whose paths take the same time share one.
 */
#include "fabric/net/net_state.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/units.h"
#include "fabric/scenario/scenario_path.h"
#include "nic/measure/ideal.h"
#include "nic/observe/flow_info.h"
#include "wire/roce/roce.h"

#define VLAN_TAG_BYTES 4u
#define FIRST_SLOTS 64u
static_assert(sizeof(struct ideal_link) == 24, "links are compared as bytes: no padding");
static_assert(PATH_MAX_HOPS + 1 <= IDEAL_MAX_LINKS, "a path has a link more than it has switches");

/* Hash table of different paths; its size is a power of two. */
struct net_paths {
	struct ideal_path **slots; /* NULL: free */
	uint32_t n, n_slots;
};

static size_t
path_size(const struct ideal_path *p)
{
	return sizeof(*p) + (p->n_there + p->n_back) * sizeof(p->links[0]);
}

static uint32_t
hash(const struct ideal_path *p)
{
	uint64_t h = p->n_there;

	for (uint32_t i = 0; i < p->n_there + p->n_back; i++) {
		const struct ideal_link *l = &p->links[i];

		h = (h ^ l->ns_per_byte_q32) * 0x9E3779B97F4A7C15u;
		h = (h ^ l->delay_ns ^ l->tag_bytes) * 0x9E3779B97F4A7C15u;
	}
	return (uint32_t)(h >> 32);
}

static struct ideal_path **
slot_of(const struct net_paths *t, const struct ideal_path *p)
{
	uint32_t i = hash(p) & (t->n_slots - 1);

	while (t->slots[i] != NULL && (path_size(t->slots[i]) != path_size(p) ||
				       memcmp(t->slots[i], p, path_size(p)) != 0))
		i = (i + 1) & (t->n_slots - 1);
	return &t->slots[i];
}

static int
grow(struct net_paths *t)
{
	struct net_paths more = {.n = t->n,
				 .n_slots = t->n_slots == 0 ? FIRST_SLOTS : 2 * t->n_slots};

	more.slots = calloc(more.n_slots, sizeof(struct ideal_path *));
	if (more.slots == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_slots; i++)
		if (t->slots[i] != NULL)
			*slot_of(&more, t->slots[i]) = t->slots[i];
	free(t->slots);
	*t = more;
	return 0;
}

/* The path of the table that equals p, which is added if it is new. @return NULL: no memory. */
static const struct ideal_path *
kept(struct net_paths *t, const struct ideal_path *p)
{
	struct ideal_path **slot;

	if (2 * t->n >= t->n_slots && grow(t) < 0)
		return NULL;
	slot = slot_of(t, p);
	if (*slot != NULL)
		return *slot;
	*slot = malloc(path_size(p));
	if (*slot == NULL)
		return NULL;
	memcpy(*slot, p, path_size(p));
	t->n++;
	return *slot;
}

static struct ideal_link
link_of(const struct fabric_cable *cable, bool of_host, bool tagged)
{
	const uint64_t byte_bps = 8 * NS_PER_SEC; /* a byte in a nanosecond */

	return (struct ideal_link){
		.ns_per_byte_q32 = ideal_ns_per_byte_q32(cable->rate_bps),
		.delay_ns = cable->delay_ns,
		.tag_bytes = tagged ? VLAN_TAG_BYTES : 0,
		/* As NICs and switches compute it, with a shaper_burst_ns of 1. */
		.burst_bytes = (uint32_t)(of_host ? (cable->rate_bps + byte_bps - 1) / byte_bps
						  : cable->rate_bps / byte_bps + 1),
	};
}

/* The links from one host to another. @return their number, or -ELOOP. */
static int
list_links(const struct scenario *s, const struct routes *routes, uint32_t from, uint32_t to,
	   uint16_t udp_sport, struct ideal_link *links)
{
	const struct topology *t = s->topology;
	/* Bridges send all VLANs tagged to each other. */
	bool tagged = s->routes == NULL && s->sw.vlan_filtering;
	struct path_hop hops[PATH_MAX_HOPS];
	int n = path_find(s, routes, from, to, udp_sport, hops);

	if (n < 0)
		return n;
	links[0] = link_of(&t->links[t->hosts[from - 1].link].cable, true, false);
	for (int i = 0; i < n; i++)
		links[i + 1] = link_of(&t->links[t->switches[hops[i].sw].link[hops[i].port]].cable,
				       false, tagged && i + 1 < n);
	return n + 1;
}

static int
set_path(struct net *net, const struct routes *routes, const struct net_flow *flow, uint32_t qp,
	 struct ideal_path *buffer)
{
	const struct scenario *s = net->scenario;
	uint16_t udp_sport = roce_udp_sport(roce_flow_label(
		SCENARIO_FIRST_QPN + flow->src_qp + qp, SCENARIO_FIRST_QPN + flow->dst_qp + qp));
	const struct ideal_path *path;
	int n = list_links(s, routes, flow->src, flow->dst, udp_sport, buffer->links);

	/* Static routes can form a loop, and then there is no path. */
	if (n < 0)
		return 0;
	buffer->n_there = (uint32_t)n;
	n = list_links(s, routes, flow->dst, flow->src, udp_sport, buffer->links + n);
	if (n < 0)
		return 0;
	buffer->n_back = (uint32_t)n;
	path = kept(net->paths, buffer);
	if (path == NULL)
		return -ENOMEM;
	return nic_set_path(net->hosts[flow->src - 1], flow->src_qp + qp, path);
}

static int
set_paths(struct net *net, const struct routes *routes)
{
	struct ideal_path *buffer =
		malloc(sizeof(*buffer) + 2 * IDEAL_MAX_LINKS * sizeof(buffer->links[0]));
	int rc = buffer != NULL ? 0 : -ENOMEM;

	for (uint32_t i = 0; rc == 0 && i < net->n_flows; i++) {
		const struct net_flow *flow = &net->flows[i];

		if (!net_has_host(net, flow->src) || !nic_measures_times(net->hosts[flow->src - 1]))
			continue;
		for (uint32_t qp = 0; rc == 0 && qp < flow->qps; qp++)
			rc = set_path(net, routes, flow, qp, buffer);
	}
	free(buffer);
	return rc;
}

int
net_set_paths(struct net *net)
{
	const struct scenario *s = net->scenario;
	struct routes *own = s->routes == NULL ? routes_create(s->topology, NULL) : NULL;
	int rc = -ENOMEM;

	net->paths = calloc(1, sizeof(*net->paths));
	if (net->paths != NULL && (own != NULL || s->routes != NULL))
		rc = set_paths(net, own != NULL ? own : s->routes);
	routes_destroy(own);
	return rc;
}

void
net_free_paths(struct net *net)
{
	if (net->paths == NULL)
		return;
	for (uint32_t i = 0; i < net->paths->n_slots; i++)
		free(net->paths->slots[i]);
	free(net->paths->slots);
	free(net->paths);
}
