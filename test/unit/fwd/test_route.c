/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <arpa/inet.h>
#include <rte_memory.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "unit/eal.h"
#include "fwd/route.h"

#define MANY 1000u

static struct route_table *
create(uint32_t routes)
{
	struct route_table *t = route_table_create(
		&(struct route_params){.routes = routes, .socket = SOCKET_ID_ANY});

	assert_non_null(t);
	return t;
}

static void
add(struct route_table *t, const char *text, uint16_t target)
{
	struct route_prefix p;

	assert_int_equal(route_prefix_parse(text, &p), 0);
	assert_int_equal(route_add(t, &p, target), 0);
}

static uint16_t
look_up(const struct route_table *t, const char *text)
{
	uint64_t target = UINT64_MAX;
	uint8_t ip[1][16];
	uint32_t ip4;

	if (inet_pton(AF_INET, text, ip[0]) == 1) {
		ip4 = (uint32_t)ip[0][0] << 24 | ip[0][1] << 16 | ip[0][2] << 8 | ip[0][3];
		route_lookup4(t, &ip4, &target, 1);
	} else {
		assert_int_equal(inet_pton(AF_INET6, text, ip[0]), 1);
		route_lookup6(t, ip, &target, 1);
	}
	return (uint16_t)target;
}

/* The same with a list, a trie and a FIB. */
TEST(longest_prefix_wins)
{
	static const uint32_t sizes[] = {ROUTE_FEW, ROUTE_FEW + 1, ROUTE_SOME, ROUTE_SOME + 1};

	for (unsigned int i = 0; i < ARRAY_LEN(sizes); i++) {
		struct route_table *t = create(sizes[i]);

		assert_int_equal(look_up(t, "10.1.2.3"), ROUTE_NONE);
		assert_int_equal(look_up(t, "fd00::1"), ROUTE_NONE);
		add(t, "0.0.0.0/0", 1);
		add(t, "10.0.0.0/8", 2);
		add(t, "10.1.2.0/24", 3);
		add(t, "10.1.2.3/32", 4);
		add(t, "fd00::/16", 5);
		add(t, "fd00:0:0:7::/64", ROUTE_MAX_TARGET);
		add(t, "fd00:0:0:7::9/128", 7);
		assert_int_equal(look_up(t, "192.0.2.1"), 1);
		assert_int_equal(look_up(t, "10.255.0.1"), 2);
		assert_int_equal(look_up(t, "10.1.2.4"), 3);
		assert_int_equal(look_up(t, "10.1.2.3"), 4);
		assert_int_equal(look_up(t, "fe00::1"), ROUTE_NONE);
		assert_int_equal(look_up(t, "fd00::1"), 5);
		assert_int_equal(look_up(t, "fd00:0:0:7::8"), ROUTE_MAX_TARGET);
		assert_int_equal(look_up(t, "fd00:0:0:7::9"), 7);
		add(t, "10.1.2.0/24", 8);
		assert_int_equal(look_up(t, "10.1.2.4"), 8);
		/* Shorter prefixes that come later. */
		add(t, "10.1.0.0/16", 9);
		add(t, "10.0.0.0/12", 10);
		add(t, "10.1.2.0/30", 11);
		assert_int_equal(look_up(t, "10.1.2.4"), 8);
		assert_int_equal(look_up(t, "10.1.2.3"), 4);
		assert_int_equal(look_up(t, "10.1.2.2"), 11);
		assert_int_equal(look_up(t, "10.1.3.4"), 9);
		assert_int_equal(look_up(t, "10.2.0.1"), 10);
		assert_int_equal(look_up(t, "10.16.0.1"), 2);
		route_table_destroy(t);
	}
}

static void
hold_against_a_plain_list(uint32_t n, uint32_t room)
{
	static struct {
		uint32_t ip;
		uint8_t length;
	} list[MANY];
	struct route_table *t = create(room);
	struct prng r;

	prng_seed(&r, 3, 0);
	for (uint32_t i = 0; i < n; i++) {
		struct route_prefix p = {.ip.version = 4};

		list[i].length = (uint8_t)(8 + prng_below(&r, 25));
		list[i].ip = (uint32_t)(10u << 24 | prng_below(&r, 1u << 24)) &
			     (uint32_t)(UINT64_MAX << (32 - list[i].length));
		for (unsigned int k = 0; k < 4; k++)
			p.ip.addr[k] = (uint8_t)(list[i].ip >> (24 - 8 * k));
		p.length = list[i].length;
		assert_int_equal(route_add(t, &p, (uint16_t)(i + 1)), 0);
	}
	for (unsigned int step = 0; step < 20000; step++) {
		uint32_t near_ip = list[prng_below(&r, n)].ip;
		uint32_t ip = near_ip ^ (uint32_t)prng_below(&r, 512);
		uint32_t best = 0, best_length = 0;
		uint64_t target;

		for (uint32_t i = 0; i < n; i++) {
			if ((list[i].ip ^ ip) >> (32 - list[i].length) == 0 &&
			    list[i].length >= best_length) {
				best = i + 1;
				best_length = list[i].length;
			}
		}
		route_lookup4(t, &ip, &target, 1);
		assert_int_equal(target, best);
	}
	route_table_destroy(t);
}

TEST(many_routes_are_what_a_plain_list_says)
{
	hold_against_a_plain_list(MANY, MANY);
	hold_against_a_plain_list(MANY, ROUTE_SOME + 1);
}

/* Of each number that fills the last step of the list or does not. */
TEST(few_routes_are_what_a_plain_list_says)
{
	for (uint32_t n = 1; n <= 33; n++)
		hold_against_a_plain_list(n, n);
	hold_against_a_plain_list(ROUTE_FEW, ROUTE_FEW);
}

TEST(wrong_routes_are_refused)
{
	struct route_table *t = create(2);
	struct route_prefix p;

	assert_int_equal(route_prefix_parse("10.0.0.0/8", &p), 0);
	assert_int_equal(route_add(t, &p, ROUTE_NONE), -EINVAL);
	assert_int_equal(route_add(t, &p, ROUTE_MAX_TARGET + 1), -EINVAL);
	p.length = 33;
	assert_int_equal(route_add(t, &p, 1), -EINVAL);
	add(t, "10.0.0.0/8", 1);
	add(t, "11.0.0.0/8", 1);
	assert_int_equal(route_prefix_parse("12.0.0.0/8", &p), 0);
	assert_int_equal(route_add(t, &p, 1), -ENOMEM);
	route_table_destroy(t);
}

TEST(prefixes_are_read_whole_or_refused)
{
	static const char *const wrong[] = {"10.0.0.0",   "10.0.0.0/33", "10.0.0/8",
					    "fd00::/129", "10.0.0.0/",   "10.0.0.0/-1",
					    "/8",         "10.0.0.0/8 ", "10.0.0.0/8x",
					    "fd00:::/8",  "x/8",         "1.2.3.4/0008"};
	struct route_prefix p;
	struct field_ip in = {4, {10, 1, 255, 255}}, out = {4, {10, 2, 0, 0}}, six = {6, {10, 1}};

	for (unsigned int i = 0; i < ARRAY_LEN(wrong); i++)
		if (route_prefix_parse(wrong[i], &p) != -EINVAL)
			fail_msg("taken: %s", wrong[i]);
	assert_int_equal(route_prefix_parse("10.1.2.3/16", &p), 0);
	assert_int_equal(p.ip.version, 4);
	assert_int_equal(p.ip.addr[3], 3);
	assert_int_equal(p.length, 16);
	assert_true(route_prefix_has(&p, &in));
	assert_false(route_prefix_has(&p, &out));
	assert_false(route_prefix_has(&p, &six));
	p.length = 15;
	assert_true(route_prefix_has(&p, &in));
	out.addr[1] = 0;
	assert_true(route_prefix_has(&p, &out));
	p.length = 0;
	assert_true(route_prefix_has(&p, &out));
}

TEST_MAIN(.begin = start_eal)
