/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/topology/topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads/pages.h"

#define SWITCHES_BYTES (TOPOLOGY_MAX_SWITCHES * sizeof(struct topology_switch))

const char *const topology_words[] = {"star",       "dumbbell", "parking_lot",    "testbed",
				      "leaf_spine", "fat_tree", "rail_optimized", "rail_only",
				      "graph",      NULL};

struct topology *
topology_create(void)
{
	struct topology *t = calloc(1, sizeof(*t));

	if (t != NULL)
		t->switches = pages_alloc_sparse(SWITCHES_BYTES);
	if (t != NULL && t->switches == NULL) {
		free(t);
		return NULL;
	}
	return t;
}

void
topology_destroy(struct topology *t)
{
	if (t == NULL)
		return;
	free(t->links);
	free(t->hosts);
	names_free(&t->names);
	pages_free_sparse(t->switches, SWITCHES_BYTES);
	free(t);
}

/*
 * Make room for one more item. An array that is full doubles its size. @return the array or NULL.
 */
static void *
room_for_one(void *items, uint32_t n, size_t item_bytes)
{
	if ((n & (n - 1)) != 0)
		return items;
	return realloc(items, (n == 0 ? 1 : 2ull * n) * item_bytes);
}

int64_t
topology_add_switch(struct topology *t, const char *name, uint8_t stage)
{
	struct topology_switch *sw = &t->switches[t->n_switches];

	if (t->n_switches == TOPOLOGY_MAX_SWITCHES || strlen(name) > TOPOLOGY_NAME_CHARS)
		return -ENOSPC;
	if (names_find(&t->names, name) != NAMES_NONE)
		return -EEXIST;
	sw->stage = stage;
	strcpy(sw->name, name);
	if (names_add(&t->names, sw->name) == NAMES_NONE)
		return -ENOMEM;
	return t->n_switches++;
}

/* Plug in a cable. Its switch ends get their next ports. */
static int
add_link(struct topology *t, uint32_t a, uint32_t b, const struct fabric_cable *cable)
{
	const uint32_t nodes[2] = {a, b};
	struct topology_link link = {.cable = *cable};
	struct topology_end *ends[2] = {&link.a, &link.b};
	struct topology_link *links;

	for (unsigned int i = 0; i < 2; i++)
		if (topology_is_switch(t, nodes[i]) &&
		    t->switches[nodes[i]].n_ports == SW_MAX_PORTS)
			return -ENOSPC;
	links = room_for_one(t->links, t->n_links, sizeof(*links));
	if (links == NULL)
		return -ENOMEM;
	t->links = links;
	for (unsigned int i = 0; i < 2; i++) {
		ends[i]->node = nodes[i];
		if (topology_is_switch(t, nodes[i])) {
			struct topology_switch *sw = &t->switches[nodes[i]];

			ends[i]->port = sw->n_ports;
			sw->link[sw->n_ports++] = t->n_links;
		}
	}
	links[t->n_links++] = link;
	return 0;
}

int
topology_add_hosts(struct topology *t, uint32_t sw, uint32_t n, const struct fabric_cable *cable)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		struct topology_host *hosts = room_for_one(t->hosts, t->n_hosts, sizeof(*hosts));

		if (hosts == NULL)
			return -ENOMEM;
		t->hosts = hosts;
		if (t->n_hosts == TOPOLOGY_MAX_HOSTS)
			return -ENOSPC;
		hosts[t->n_hosts] = (struct topology_host){
			.sw = sw, .place = t->switches[sw].n_hosts, .link = t->n_links};
		rc = add_link(t, t->n_switches + t->n_hosts, sw, cable);
		if (rc == 0) {
			t->n_hosts++;
			t->switches[sw].n_hosts++;
		}
	}
	return rc;
}

int
topology_join(struct topology *t, uint32_t a, uint32_t b, const struct fabric_cable *cable)
{
	return a == b ? -EINVAL : add_link(t, a, b, cable);
}

/* Parse decimal digits, from 1 on. @return 0: not a number. */
static uint32_t
host_number(const char *digits)
{
	size_t n = strspn(digits, "0123456789");

	if (n == 0 || n > 5 || digits[n] != '\0' || *digits == '0')
		return 0;
	return (uint32_t)atoi(digits);
}

int64_t
topology_find(const struct topology *t, const char *name)
{
	uint32_t host = *name == 'h' ? host_number(name + 1) : 0;
	uint32_t sw = names_find(&t->names, name);

	if (sw != NAMES_NONE)
		return sw;
	return host >= 1 && host <= t->n_hosts ? (int64_t)t->n_switches + host - 1 : -1;
}

struct topology_end
topology_peer(const struct topology *t, uint32_t sw, uint16_t port)
{
	const struct topology_link *link = &t->links[t->switches[sw].link[port]];

	return link->a.node == sw && link->a.port == port ? link->b : link->a;
}

const char *
topology_node_name(const struct topology *t, uint32_t node, char text[TOPOLOGY_NODE_CHARS + 1])
{
	if (topology_is_switch(t, node))
		snprintf(text, TOPOLOGY_NODE_CHARS + 1, "%s", t->switches[node].name);
	else
		snprintf(text, TOPOLOGY_NODE_CHARS + 1, "h%u", node - t->n_switches + 1);
	return text;
}

uint32_t
topology_link_between(const struct topology *t, uint32_t a, uint32_t b, uint32_t first)
{
	uint16_t n_ports = topology_is_switch(t, a) ? t->switches[a].n_ports : 1;

	/* The cables of a switch are in the order of their numbers. */
	for (uint16_t p = 0; p < n_ports; p++) {
		uint32_t i = topology_link_at(t, (struct topology_end){a, p});
		const struct topology_link *l = &t->links[i];

		if (i >= first && (l->a.node == a ? l->b.node : l->a.node) == b)
			return i;
	}
	return TOPOLOGY_NO_LINK;
}

/* Each host has one cable, so hosts add no paths. */
bool
topology_is_connected(const struct topology *t)
{
	bool seen[TOPOLOGY_MAX_SWITCHES] = {0};
	uint32_t queue[TOPOLOGY_MAX_SWITCHES], head = 0, tail = 0;

	if (t->n_switches == 0)
		return false;
	queue[tail++] = 0;
	seen[0] = true;
	while (head < tail) {
		uint32_t sw = queue[head++];

		for (uint16_t p = 0; p < t->switches[sw].n_ports; p++) {
			uint32_t next = topology_peer(t, sw, p).node;

			if (topology_is_switch(t, next) && !seen[next]) {
				seen[next] = true;
				queue[tail++] = next;
			}
		}
	}
	return tail == t->n_switches;
}

bool
topology_is_tree(const struct topology *t)
{
	return t->n_links - t->n_hosts == t->n_switches - 1;
}
