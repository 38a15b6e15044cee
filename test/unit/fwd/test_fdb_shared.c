/* SPDX-License-Identifier: BSD-3-Clause */
/* A forwarding table that several threads learn into, look up in and sweep at once. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <rte_memory.h>

#include "unit/cases.h"
#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "unit/eal.h"
#include "fwd/fdb.h"

#define ENTRIES 32
#define ADDRESSES 96
#define PORTS 7
#define AGEING_NS 1000
#define STEPS 400000u

struct table {
	struct fdb *fdb;
	atomic_ullong clock_ns;
	atomic_uint found, wrong;
};

struct user {
	struct table *t;
	uint64_t seed;
};

static struct table
create(bool shared)
{
	struct fdb_params p = {.entries = ENTRIES,
			       .ageing_ns = AGEING_NS,
			       .socket = SOCKET_ID_ANY,
			       .shared = shared};
	struct table t = {.fdb = fdb_create(&p)};

	assert_non_null(t.fdb);
	return t;
}

static uint64_t
address(uint32_t n, uint16_t *port)
{
	const uint8_t mac[6] = {0x02, 0, 0, 0, 0, (uint8_t)n};

	*port = (uint16_t)(n % PORTS);
	return fdb_key(1, mac);
}

/* More addresses than the table holds, so that places change hands; each is ever on one port. */
static void *
use(void *arg)
{
	struct user *u = arg;
	struct table *t = u->t;
	struct prng r;

	prng_seed(&r, u->seed, 0);
	for (unsigned int i = 0; i < STEPS; i++) {
		uint64_t now_ns = atomic_fetch_add(&t->clock_ns, 1), key;
		uint32_t what = (uint32_t)prng_below(&r, 8);
		uint16_t port, found;

		key = address((uint32_t)prng_below(&r, ADDRESSES), &port);
		if (what == 0) {
			fdb_sweep(t->fdb, now_ns);
		} else if (what < 3) {
			fdb_learn(t->fdb, key, port, now_ns);
		} else {
			found = fdb_lookup(t->fdb, key, now_ns);
			t->wrong += found != port && found != FDB_UNKNOWN;
			t->found += found == port;
		}
	}
	return NULL;
}

TEST(no_lookup_finds_another_address_s_port_while_places_change_hands)
{
	struct table t = create(true);
	struct user users[3];
	pthread_t threads[3];
	uint32_t on_ports = 0;

	for (unsigned int i = 0; i < 3; i++) {
		users[i] = (struct user){&t, i};
		assert_int_equal(pthread_create(&threads[i], NULL, use, &users[i]), 0);
	}
	for (unsigned int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(t.wrong, 0);
	assert_true(t.found > 0);
	/* The books are whole: all is given back once it is old. */
	for (uint16_t port = 0; port < PORTS; port++)
		on_ports += fdb_port_entries(t.fdb, port);
	assert_int_equal(on_ports, fdb_entries(t.fdb));
	fdb_sweep(t.fdb, t.clock_ns + 2 * AGEING_NS);
	assert_int_equal(fdb_entries(t.fdb), 0);
	for (uint16_t port = 0; port < PORTS; port++)
		assert_int_equal(fdb_port_entries(t.fdb, port), 0);
	fdb_destroy(t.fdb);
}

TEST(an_address_heard_by_a_later_clock_is_no_old_one)
{
	struct table t = create(true);
	uint16_t port;
	uint64_t key = address(3, &port);

	fdb_learn(t.fdb, key, port, 5000);
	assert_int_equal(fdb_lookup(t.fdb, key, 4990), port);
	assert_int_equal(fdb_lookup(t.fdb, key, 5000 + 2 * AGEING_NS), FDB_UNKNOWN);
	fdb_destroy(t.fdb);
}

static void *
move_about(void *arg)
{
	struct table *t = arg;
	uint16_t port;

	/* Each moves the address: all of them write. */
	for (unsigned int i = 0; i < 10 * STEPS; i++)
		fdb_learn(t->fdb, address(1, &port), (uint16_t)(i % PORTS), i);
	atomic_store_explicit(&t->found, 1, memory_order_relaxed);
	return NULL;
}

/* It is shared while another table is taken over, and no more then: beside who learns. */
TEST(no_lock_stays_taken_when_a_table_is_shared_no_more)
{
	struct table t = create(false);
	pthread_t mover;
	uint16_t port;

	assert_int_equal(pthread_create(&mover, NULL, move_about, &t), 0);
	for (bool shared = true; !atomic_load_explicit(&t.found, memory_order_relaxed);
	     shared = !shared)
		fdb_set_shared(t.fdb, shared);
	pthread_join(mover, NULL);
	fdb_set_shared(t.fdb, true);
	assert_true(fdb_learn(t.fdb, address(2, &port), 1, 10 * STEPS));
	assert_int_equal(fdb_stats(t.fdb)->learn_busy, 0);
	fdb_destroy(t.fdb);
}

TEST_MAIN(.begin = start_eal)
