// SPDX-License-Identifier: BSD-3-Clause
/* Addresses of interfaces, and static routes. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/numbers/decimal.h"
#include "fwd/route.h"
#include "import/conversion/import_memory.h"
#include "import/conversion/import_network.h"
#include "import/nxos/parts.h"

/* NX-OS's preference of a static route without one. */
#define STATIC_PREFERENCE 1

/* The length of a netmask such as 255.255.255.0, or -1. */
static int
mask_length(const char *text)
{
	struct in_addr mask;
	uint32_t bits;
	int length = 0;

	if (inet_pton(AF_INET, text, &mask) != 1)
		return -1;
	bits = ntohl(mask.s_addr);
	while (length < 32 && bits >> (31 - length) & 1)
		length++;
	return length < 32 && (uint32_t)(bits << length) != 0 ? -1 : length;
}

/*
 * The prefix at the beginning of a text, "10.0.0.1/24 ..." or "10.0.0.1 255.255.255.0 ...".
 * @return the text after it, or NULL.
 */
static const char *
take_prefix(const char *text, char prefix[SW_PREFIX_CHARS + 1])
{
	size_t n = strcspn(text, " "), n_mask;
	struct route_prefix parsed;
	char mask[INET_ADDRSTRLEN];

	if (n > SW_PREFIX_CHARS)
		return NULL;
	snprintf(prefix, SW_PREFIX_CHARS + 1, "%.*s", (int)n, text);
	text += n + (text[n] == ' ');
	if (strchr(prefix, '/') == NULL) {
		n_mask = strcspn(text, " ");
		if (n_mask >= sizeof(mask) || n >= INET_ADDRSTRLEN)
			return NULL;
		snprintf(mask, sizeof(mask), "%.*s", (int)n_mask, text);
		if (mask_length(mask) < 0)
			return NULL;
		snprintf(prefix + n, SW_PREFIX_CHARS + 1 - n, "/%d", mask_length(mask));
		text += n_mask + (text[n_mask] == ' ');
	}
	return route_prefix_parse(prefix, &parsed) == 0 ? text : NULL;
}

/* Why the addresses of an interface are not carried over, or NULL. */
static const char *
interface_fault(struct nxos *x, int block)
{
	struct nx_args a;

	for (int i = nx_next(&x->nx, block, -1); i >= 0; i = nx_next(&x->nx, block, i))
		if (nx_is(&x->nx.lines[i], "vrf member %", &a))
			return "in a VRF; quench has one routing table";
	return NULL;
}

static int
read_addresses(struct nxos *x, int block, const char *interface)
{
	const char *fault = interface_fault(x, block);
	char prefix[SW_PREFIX_CHARS + 1];
	struct nx_args a;

	for (int i = nx_next(&x->nx, block, -1); i >= 0; i = nx_next(&x->nx, block, i)) {
		const struct nx_line *l = &x->nx.lines[i];
		const char *rest, *why = fault;

		if (!nx_is(l, "ip address ...", &a) && !nx_is(l, "ipv6 address ...", &a))
			continue;
		/* Such as dhcp, or use-link-local-only. */
		if (a.rest[strcspn(a.rest, ".:")] == '\0')
			continue;
		rest = take_prefix(a.rest, prefix);
		if (rest == NULL)
			return nx_refuse(&x->nx, i,
					 "an address and the length of its subnet, such as "
					 "10.0.0.1/24");
		if (why == NULL && strncasecmp(rest, "secondary", 9) == 0)
			why = "a second address; an interface has one of each IP version";
		if (why == NULL)
			why = import_add_address(x->out, interface, prefix);
		if (why == NULL)
			nx_use(&x->nx, i);
		else
			nx_lose(&x->nx, i, why);
	}
	return 0;
}

static bool
is_shut(struct nxos *x, int block)
{
	for (int i = nx_next(&x->nx, block, -1); i >= 0; i = nx_next(&x->nx, block, i)) {
		if (nx_is(&x->nx.lines[i], "shutdown", NULL))
			return true;
	}
	return false;
}

static int
read_vlan_interface(struct nxos *x, int block)
{
	char name[SW_NAME_CHARS + 1];

	snprintf(name, sizeof(name), "vlan %u", nxos_vlan_interface(&x->nx.lines[block]));
	nx_use(&x->nx, block);
	for (int i = nx_next_of(&x->nx, block, -1); i >= 0; i = nx_next_of(&x->nx, block, i))
		if (nx_is(&x->nx.lines[i], "no shutdown", NULL))
			nx_use(&x->nx, i);
	if (is_shut(x, block)) {
		nx_lose_block(&x->nx, block, "the interface is shut down");
		return 0;
	}
	/* A part of a running-config may have a VLAN of no port. */
	x->out->sw.vlan_filtering = true;
	return read_addresses(x, block, name);
}

/* One line of a static route. */
struct route_line {
	int line;
	uint64_t preference;
	char prefix[SW_PREFIX_CHARS + 1];
	char nexthop[INET6_ADDRSTRLEN];
};

/* The next word of a text, or "" at its end. @return the text after it. */
static const char *
take_word(const char *text, char word[INET6_ADDRSTRLEN])
{
	size_t n = strcspn(text, " ");

	snprintf(word, INET6_ADDRSTRLEN, "%.*s", (int)n, text);
	return text + n + (text[n] == ' ');
}

/*
 * The next hop, after an egress interface if there is one: "Ethernet1/1 10.0.0.2", "null 0".
 * @return the text after it, or NULL.
 */
static const char *
take_nexthop(const char *text, char nexthop[INET6_ADDRSTRLEN])
{
	struct field_ip ip;

	for (unsigned int i = 0; i < 3 && *text != '\0'; i++) {
		text = take_word(text, nexthop);
		if (strncasecmp(nexthop, "null", 4) == 0) {
			if (nexthop[4] == '\0')
				text = take_word(text, nexthop);
			snprintf(nexthop, INET6_ADDRSTRLEN, "blackhole");
			return text;
		}
		if (sw_address_parse(nexthop, &ip))
			return text;
	}
	return NULL;
}

/* The words after the next hop. @return NULL, or why the line is not carried over. */
static const char *
read_options(const char *text, uint64_t *preference)
{
	char word[INET6_ADDRSTRLEN];

	while (*text != '\0') {
		text = take_word(text, word);
		if (strcasecmp(word, "name") == 0 || strcasecmp(word, "tag") == 0)
			text = take_word(text, word);
		else if (!decimal_parse(word, 1, 255, preference))
			return "expected no words but name, tag and a preference after the next "
			       "hop";
	}
	return NULL;
}

static int
read_route(struct nxos *x, int line, const char *text, struct route_line *route)
{
	const char *rest = take_prefix(text, route->prefix), *why;

	route->line = -1;
	route->preference = STATIC_PREFERENCE;
	if (rest == NULL)
		return nx_refuse(&x->nx, line, "a prefix, such as 10.0.0.0/8");
	rest = take_nexthop(rest, route->nexthop);
	why = rest == NULL ? "expected the address of a next hop, or null0"
			   : read_options(rest, &route->preference);
	if (why == NULL)
		route->line = line;
	else
		nx_lose(&x->nx, line, why);
	return 0;
}

static int
by_preference(const void *a, const void *b)
{
	const struct route_line *p = a, *q = b;

	if (p->preference != q->preference)
		return p->preference < q->preference ? -1 : 1;
	return p->line < q->line ? -1 : 1;
}

/* Of the lines of a prefix, those of the best preference are in force. */
static void
add_routes(struct nxos *x, struct route_line *routes, unsigned int n)
{
	uint32_t n_better = 0;

	if (n > 0)
		qsort(routes, n, sizeof(*routes), by_preference);
	for (unsigned int i = 0; i < n; i++) {
		const char *why = NULL;

		if (i > 0 && routes[i].preference != routes[i - 1].preference)
			n_better = x->out->sw.tables.n_routes;
		if (import_has_route(x->out, routes[i].prefix, n_better))
			why = "a route of this prefix has a better preference";
		else
			why = import_add_route(x->out, routes[i].prefix, routes[i].nexthop);
		if (why == NULL)
			nx_use(&x->nx, routes[i].line);
		else
			nx_lose(&x->nx, routes[i].line, why);
	}
}

static int
read_routes(struct nxos *x)
{
	struct route_line *routes = import_alloc((size_t)x->nx.n + 1, sizeof(*routes));
	unsigned int n = 0;
	struct nx_args a;
	int rc = 0;

	for (int i = nx_next(&x->nx, NX_TOP, -1); rc == 0 && i >= 0;
	     i = nx_next(&x->nx, NX_TOP, i)) {
		if (!nx_is(&x->nx.lines[i], "ip route ...", &a) &&
		    !nx_is(&x->nx.lines[i], "ipv6 route ...", &a))
			continue;
		rc = read_route(x, i, a.rest, &routes[n]);
		n += rc == 0 && routes[n].line >= 0;
	}
	if (rc == 0)
		add_routes(x, routes, n);
	free(routes);
	return rc;
}

int
nxos_ip(struct nxos *x)
{
	int rc = 0;

	for (int i = nx_next(&x->nx, NX_TOP, -1); rc == 0 && i >= 0;
	     i = nx_next(&x->nx, NX_TOP, i)) {
		if (nxos_vlan_interface(&x->nx.lines[i]) != 0)
			rc = read_vlan_interface(x, i);
		else if (nx_is(&x->nx.lines[i], "interface ...", NULL))
			nx_lose_block(&x->nx, i, "no port is in this port-channel");
		else if (nx_is(&x->nx.lines[i], "feature interface-vlan", NULL))
			nx_use(&x->nx, i);
	}
	for (uint16_t i = 0; rc == 0 && i < x->out->sw.n_ports; i++) {
		char name[SW_NAME_CHARS + 1];

		snprintf(name, sizeof(name), "port %u", i);
		if (x->network_line[i] >= 0)
			rc = read_addresses(x, x->network_line[i], name);
	}
	if (rc == 0)
		rc = read_routes(x);
	if (rc == 0)
		import_set_router(x->out, NULL, x->log);
	return rc;
}
