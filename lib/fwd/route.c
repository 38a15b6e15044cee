/* SPDX-License-Identifier: BSD-3-Clause */
#include "fwd/route.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_errno.h>
#include <rte_fib.h>
#include <rte_fib6.h>
#include <rte_version.h>

#include "base/dpdk_compat.h"
#include "fwd/route_list.h"
#include "fwd/route_trie.h"

#define NAME_CHARS 32
/* Minimum number of groups (256 entries of 2 bytes) for prefixes longer than 24 bits. */
#define MIN_TBL8 256u
#define MAX_TBL8 32767u
/* An IPv6 route of 64 bits needs at most five of these groups, one of 128 bits at most thirteen. */
#define TBL8_PER_ROUTE6 8u

struct route_table {
	struct route_list few4;  /* of up to ROUTE_FEW routes */
	struct route_trie some4; /* of up to ROUTE_SOME; without memory before its first route */
	struct rte_fib *fib4;    /* of more */
	struct rte_fib6 *fib6;
	struct route_params params;
};

static void
make_name(char *name, size_t size)
{
	static unsigned int created; /* rte_fib requires a name that is unique in the process */

	snprintf(name, size, "route_%u", __atomic_add_fetch(&created, 1, __ATOMIC_RELAXED));
}

static struct rte_fib *
create4(const struct route_params *params)
{
	struct rte_fib_conf conf = {
		.type = RTE_FIB_DIR24_8,
		.default_nh = ROUTE_NONE,
		.max_routes = (int)params->routes,
		.dir24_8 = {.nh_sz = RTE_FIB_DIR24_8_2B,
			    .num_tbl8 = RTE_MIN(RTE_MAX(params->routes, MIN_TBL8), MAX_TBL8)},
	};
	char name[NAME_CHARS];

	make_name(name, sizeof(name));
	return rte_fib_create(name, params->socket, &conf);
}

static struct rte_fib6 *
create6(const struct route_params *params)
{
	struct rte_fib6_conf conf = {
		.type = params->routes <= ROUTE_SOME6 ? RTE_FIB6_DUMMY : RTE_FIB6_TRIE,
		.default_nh = ROUTE_NONE,
		.max_routes = (int)params->routes,
		.trie = {.nh_sz = RTE_FIB6_TRIE_2B,
			 .num_tbl8 = RTE_MIN(RTE_MAX(params->routes * TBL8_PER_ROUTE6, MIN_TBL8),
					     MAX_TBL8)},
	};
	char name[NAME_CHARS];

	make_name(name, sizeof(name));
	return rte_fib6_create(name, params->socket, &conf);
}

struct route_table *
route_table_create(const struct route_params *params)
{
	struct route_table *t = calloc(1, sizeof(*t));

	if (t == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	t->params = *params;
	return t;
}

void
route_table_destroy(struct route_table *t)
{
	if (t == NULL)
		return;
	route_trie_free(&t->some4);
	rte_fib_free(t->fib4);
	rte_fib6_free(t->fib6);
	free(t);
}

static uint32_t
host_order(const uint8_t ip[4])
{
	return (uint32_t)ip[0] << 24 | (uint32_t)ip[1] << 16 | (uint32_t)ip[2] << 8 | ip[3];
}

static bool
is_few(const struct route_table *t)
{
	return t->params.routes <= ROUTE_FEW;
}

static int
add_some4(struct route_table *t, uint32_t ip, uint8_t length, uint16_t target)
{
	int rc = t->some4.value == NULL ? route_trie_init(&t->some4, t->params.routes) : 0;

	return rc < 0 ? rc : route_trie_add(&t->some4, ip, length, target);
}

/* The FIB of an IP version is created with its first route. */
static int
add4(struct route_table *t, const struct route_prefix *prefix, uint16_t target)
{
	uint32_t ip = host_order(prefix->ip.addr);

	if (is_few(t))
		return route_list_add(&t->few4, ip, prefix->length, target, t->params.routes);
	if (t->params.routes <= ROUTE_SOME)
		return add_some4(t, ip, prefix->length, target);
	if (t->fib4 == NULL)
		t->fib4 = create4(&t->params);
	if (t->fib4 == NULL)
		return -rte_errno;
	return rte_fib_add(t->fib4, ip, prefix->length, target);
}

static int
add6(struct route_table *t, const struct route_prefix *prefix, uint16_t target)
{
	if (t->fib6 == NULL)
		t->fib6 = create6(&t->params);
	if (t->fib6 == NULL)
		return -rte_errno;
	return rte_fib6_add(t->fib6, DPDK_IPV6(prefix->ip.addr), prefix->length, target);
}

int
route_add(struct route_table *t, const struct route_prefix *prefix, uint16_t target)
{
	if (target == ROUTE_NONE || target > ROUTE_MAX_TARGET ||
	    prefix->length > (prefix->ip.version == 4 ? 32 : 128))
		return -EINVAL;
	return prefix->ip.version == 4 ? add4(t, prefix, target) : add6(t, prefix, target);
}

void
route_lookup4(const struct route_table *t, const uint32_t ips[], uint64_t targets[], unsigned int n)
{
	if (likely(is_few(t))) {
		for (unsigned int i = 0; i < n; i++)
			targets[i] = route_list_look_up(&t->few4, ips[i], ROUTE_NONE);
		return;
	}
	if (t->some4.value != NULL) {
		for (unsigned int i = 0; i < n; i++)
			targets[i] = route_trie_look_up(&t->some4, ips[i]);
		return;
	}
	memset(targets, 0, n * sizeof(targets[0]));
	if (t->fib4 != NULL)
		rte_fib_lookup_bulk(t->fib4, (uint32_t *)(uintptr_t)ips, targets, (int)n);
}

void
route_lookup6(const struct route_table *t, uint8_t ips[][16], uint64_t targets[], unsigned int n)
{
	memset(targets, 0, n * sizeof(targets[0]));
	if (t->fib6 != NULL)
		rte_fib6_lookup_bulk(t->fib6, DPDK_IPV6(ips), targets, (int)n);
}

/* Up to three decimal digits. @return the number, or -1. */
static int
parse_length(const char *text, int max)
{
	size_t n = strspn(text, "0123456789");

	if (n == 0 || n > 3 || text[n] != '\0' || atoi(text) > max)
		return -1;
	return atoi(text);
}

int
route_prefix_parse(const char *text, struct route_prefix *out)
{
	struct route_prefix p = {0};
	const char *slash = strchr(text, '/');
	char address[INET6_ADDRSTRLEN];
	int length;

	if (slash == NULL || (size_t)(slash - text) >= sizeof(address))
		return -EINVAL;
	snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);
	if (inet_pton(AF_INET, address, p.ip.addr) == 1)
		p.ip.version = 4;
	else if (inet_pton(AF_INET6, address, p.ip.addr) == 1)
		p.ip.version = 6;
	else
		return -EINVAL;
	length = parse_length(slash + 1, p.ip.version == 4 ? 32 : 128);
	if (length < 0)
		return -EINVAL;
	p.length = (uint8_t)length;
	*out = p;
	return 0;
}

bool
route_prefix_has(const struct route_prefix *prefix, const struct field_ip *ip)
{
	unsigned int whole = prefix->length / 8, bits = prefix->length % 8;

	if (ip->version != prefix->ip.version || memcmp(ip->addr, prefix->ip.addr, whole) != 0)
		return false;
	return bits == 0 || (ip->addr[whole] ^ prefix->ip.addr[whole]) >> (8 - bits) == 0;
}

bool
route_prefix_equal(const struct route_prefix *a, const struct route_prefix *b)
{
	return a->length == b->length && route_prefix_has(a, &b->ip);
}
