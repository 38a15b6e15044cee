/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <errno.h>
#include <rte_errno.h>
#include <rte_memory.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "unit/eal.h"
#include "fwd/fdb_read.h"

#define AGEING_NS (600 * NS_PER_SEC)

static const uint8_t mac_a[6] = {0x02, 0, 0, 0, 0, 0x0A};
static const uint8_t in_header[8] = {0x02, 0, 0, 0, 0, 0x0A, 0xFF, 0xFF};
static const uint8_t broadcast[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

static struct fdb *
create(uint32_t entries, uint64_t ageing_ns)
{
	struct fdb_params p = {.entries = entries, .ageing_ns = ageing_ns, .socket = SOCKET_ID_ANY};
	struct fdb *fdb = fdb_create(&p);

	assert_non_null(fdb);
	return fdb;
}

static void
sweep_all(struct fdb *fdb, uint32_t entries, uint64_t now_ns)
{
	for (uint32_t i = 0; i < entries; i += 256)
		fdb_sweep(fdb, now_ns);
}

TEST(key_keeps_vlan_and_address_apart)
{
	assert_true(fdb_key(0, mac_a) == 0x800002000000000Aull);
	assert_true(fdb_key(0xFFF, mac_a) == 0x8FFF02000000000Aull);
	assert_true(fdb_key_in_header(0xFFF, in_header) == 0x8FFF02000000000Aull);
	assert_true(fdb_key(FDB_MAX_DOMAINS - 1, mac_a) == 0xFFFF02000000000Aull);
	assert_int_equal(fdb_key_domain(fdb_key(FDB_MAX_DOMAINS - 1, mac_a)), FDB_MAX_DOMAINS - 1);
	assert_false(fdb_key_is_group(fdb_key(0xFFF, mac_a)));
	assert_true(fdb_key_is_group(fdb_key(0, broadcast)));
}

TEST(learned_address_is_found_in_its_vlan_only)
{
	struct fdb *fdb = create(64, AGEING_NS);

	assert_int_equal(fdb_lookup(fdb, fdb_key(0, mac_a), 0), FDB_UNKNOWN);
	fdb_learn(fdb, fdb_key(7, mac_a), 3, 0);
	assert_int_equal(fdb_lookup(fdb, fdb_key(7, mac_a), 0), 3);
	assert_int_equal(fdb_lookup(fdb, fdb_key(8, mac_a), 0), FDB_UNKNOWN);
	assert_int_equal(fdb_lookup(fdb, fdb_key(0, mac_a), 0), FDB_UNKNOWN);
	fdb_learn(fdb, fdb_key(7, mac_a), 3, 1);
	assert_int_equal(fdb_entries(fdb), 1);
	assert_int_equal(fdb_stats(fdb)->learned, 1);
	fdb_destroy(fdb);
}

TEST(address_moves_at_once)
{
	struct fdb *fdb = create(64, AGEING_NS);

	fdb_learn(fdb, fdb_key(0, mac_a), 1, 0);
	fdb_learn(fdb, fdb_key(0, mac_a), 2, 1);
	assert_int_equal(fdb_lookup(fdb, fdb_key(0, mac_a), 1), 2);
	assert_int_equal(fdb_stats(fdb)->moved, 1);
	assert_int_equal(fdb_entries(fdb), 1);
	fdb_destroy(fdb);
}

TEST(group_source_is_not_learned)
{
	struct fdb *fdb = create(64, AGEING_NS);

	assert_false(fdb_learn(fdb, fdb_key(0, broadcast), 1, 0));
	assert_int_equal(fdb_entries(fdb), 0);
	assert_int_equal(fdb_lookup(fdb, fdb_key(0, broadcast), 0), FDB_UNKNOWN);
	fdb_destroy(fdb);
}

TEST(silence_ages_an_address_and_traffic_keeps_it)
{
	static const struct {
		uint64_t at_ns;
		bool heard;
		uint16_t expected;
	} events[] = {
		{0, true, 5},
		{AGEING_NS - 1, false, 5},
		{AGEING_NS, true, 5},
		{2 * AGEING_NS, false, 5},
		/* at the latest 1/256 after the ageing time */
		{2 * AGEING_NS + AGEING_NS / 256, false, FDB_UNKNOWN},
		{3 * AGEING_NS, true, 5},
	};
	struct fdb *fdb = create(64, AGEING_NS);

	for (unsigned int i = 0; i < ARRAY_LEN(events); i++) {
		if (events[i].heard)
			fdb_learn(fdb, fdb_key(0, mac_a), 5, events[i].at_ns);
		assert_int_equal(fdb_lookup(fdb, fdb_key(0, mac_a), events[i].at_ns),
				 events[i].expected);
	}
	/* Back after ageing it is a new address, not a move. */
	assert_int_equal(fdb_stats(fdb)->learned, 2);
	assert_int_equal(fdb_stats(fdb)->moved, 0);
	fdb_destroy(fdb);
}

TEST(sweep_gives_back_aged_places_only)
{
	const uint32_t n = 1000;
	struct fdb *fdb = create(n, AGEING_NS);
	uint64_t late = AGEING_NS + AGEING_NS / 256;

	for (uint64_t i = 0; i < n; i++)
		fdb_learn(fdb, 0x020000000000ull + i, 1, i < n / 2 ? 0 : NS_PER_SEC * 10);
	sweep_all(fdb, n, late - 1);
	assert_int_equal(fdb_entries(fdb), n);
	sweep_all(fdb, n, late);
	assert_int_equal(fdb_entries(fdb), n / 2);
	assert_int_equal(fdb_stats(fdb)->aged, n / 2);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(fdb_lookup(fdb, 0x020000000000ull + i, late),
				 i < n / 2 ? FDB_UNKNOWN : 1);
	fdb_destroy(fdb);
}

TEST(steps_pass_the_table_four_times_per_ageing_time)
{
	struct fdb *fdb = create(1024, AGEING_NS);
	struct fdb *forever = create(64, 0);

	assert_true(fdb_sweep(fdb, 5) == 5 + AGEING_NS / 16);
	assert_true(fdb_sweep(forever, 5) == NEVER_NS);
	fdb_learn(forever, fdb_key(0, mac_a), 1, 0);
	assert_int_equal(fdb_lookup(forever, fdb_key(0, mac_a), NEVER_NS - 1), 1);
	fdb_destroy(fdb);
	fdb_destroy(forever);
}

/* A table asked by a memo and by fdb_lookup(): full, ageing, and with addresses that move. */
static void
recall_is_as_lookup(uint32_t entries, struct fdb_memo *memo)
{
	struct fdb *fdb = create(entries, NS_PER_SEC);
	uint64_t now_ns = 0;
	struct prng prng;

	prng_seed(&prng, entries, 0);
	for (unsigned int i = 0; i < 40000; i++) {
		uint64_t key = FDB_KEY_BIT | (2ull << 40) | prng_below(&prng, 2 * entries);
		uint16_t port = (uint16_t)prng_below(&prng, 4);
		const uint64_t *at;
		bool learned;

		now_ns += prng_below(&prng, NS_PER_SEC / 200);
		learned = i % 3 == 0 && fdb_learn(fdb, key, port, now_ns);
		at = fdb_recall(fdb, memo, key);
		assert_int_equal(at == NULL ? FDB_UNKNOWN : fdb_port_at(fdb, at, key, now_ns),
				 fdb_lookup(fdb, key, now_ns));
		if (learned)
			assert_true(at != NULL && fdb_is_fresh(fdb, at, port, now_ns));
		if (i % 64 == 0)
			fdb_sweep(fdb, now_ns);
	}
	assert_null(fdb_recall(fdb, memo, fdb_key(0, broadcast)));
	assert_true(fdb_stats(fdb)->moved > 0 && fdb_stats(fdb)->aged > 0);
	fdb_destroy(fdb);
}

TEST(an_address_is_recalled_as_it_is_looked_up)
{
	static struct fdb_memo memo;

	/* The memo of a table is used for the next, which is smaller. */
	recall_is_as_lookup(4096, &memo);
	recall_is_as_lookup(64, &memo);
	recall_is_as_lookup(512, &memo);
}

TEST(full_table_learns_nothing_and_forgets_nothing)
{
	const uint32_t n = 4096;
	struct fdb *fdb = create(n, AGEING_NS);

	for (uint64_t i = 0; i < n + 100; i++)
		assert_int_equal(fdb_learn(fdb, 0x020000000000ull + i, (uint16_t)(i % 7), 0),
				 i < n);
	/* Every configured entry is usable. */
	assert_int_equal(fdb_entries(fdb), n);
	assert_int_equal(fdb_stats(fdb)->learn_failures, 100);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(fdb_lookup(fdb, 0x020000000000ull + i, 0), i % 7);
	assert_int_equal(fdb_lookup(fdb, 0x020000000000ull + n, 0), FDB_UNKNOWN);
	fdb_destroy(fdb);
}

/* Buckets that a lookup of this key reads. */
static uint32_t
count_probes(const struct fdb *fdb, uint64_t key)
{
	uint32_t home = fdb_home(fdb, key), probes = 1;

	while (probes < fdb->probes && fdb->passed[(home + probes - 1) & fdb->mask] != 0)
		probes++;
	return probes;
}

/* The attacker has the source, and takes the table for one with the key zero; or knows the key. */
TEST(addresses_made_to_meet_are_apart_under_a_secret_key)
{
	enum { ENTRIES = 16384, MADE = 32 * FDB_MAX_PROBES };
	struct fdb_params p = {.entries = ENTRIES, .ageing_ns = AGEING_NS, .socket = SOCKET_ID_ANY};
	uint64_t victim = fdb_key(0, mac_a), made[MADE];
	struct fdb *open = fdb_create(&p), *secret;
	uint32_t n = 0;

	p.key = half_sip_key(0x243f6a8885a308d3);
	secret = fdb_create(&p);
	for (uint64_t key = 0x060000000000ull; n < MADE; key++) {
		if (fdb_home(open, key) == fdb_home(open, victim))
			made[n++] = key;
	}
	for (uint32_t i = 0; i < MADE; i++) {
		fdb_learn(open, made[i], 3, 0);
		assert_true(fdb_learn(secret, made[i], 3, 0));
	}
	/* Without a secret: all of the places are taken, and the bound on looking is what is
	 * left. */
	assert_int_equal(fdb_entries(open), FDB_SLOTS * FDB_MAX_PROBES);
	assert_int_equal(count_probes(open, victim), FDB_MAX_PROBES);
	/* With it, the victim's place is one like any other. */
	assert_int_equal(fdb_entries(secret), MADE);
	for (uint32_t i = 0; i < MADE; i++)
		assert_int_equal(count_probes(secret, made[i]), 1);
	assert_int_equal(count_probes(secret, victim), 1);
	assert_true(fdb_learn(secret, victim, 1, 0));
	assert_int_equal(fdb_lookup(secret, victim, 0), 1);
	/* Even who knows the key leaves a place to who has fewer. */
	assert_true(fdb_learn(open, victim, 1, 0));
	assert_int_equal(fdb_lookup(open, victim, 0), 1);
	assert_int_equal(fdb_stats(open)->displaced, 1);
	fdb_destroy(open);
	fdb_destroy(secret);
}

TEST(cpu_without_aes_finds_what_it_learns)
{
	struct fdb *fdb = create(1024, AGEING_NS);
	uint64_t keys[4];
	uint32_t homes[4];

	fdb->aes = false; /* empty, so nothing is lost */
	for (uint32_t i = 0; i < 4; i++) {
		keys[i] = 0x800006000000ull << 16 | i;
		assert_true(fdb_learn(fdb, keys[i], (uint16_t)i, 0));
	}
	fdb_homes(fdb, keys, homes, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(homes[i], half_sip_u64(&fdb->hash_key, keys[i]) & fdb->mask);
		assert_int_equal(fdb_lookup_at(fdb, keys[i], homes[i], 0), i);
	}
	fdb_destroy(fdb);
}

TEST(flood_of_sources_leaves_other_ports_their_share)
{
	enum { ENTRIES = 4096, HONEST = 100 };
	struct fdb *fdb = create(ENTRIES, AGEING_NS);
	uint64_t flood = 0x060000000000ull;
	uint32_t attacker = 0;

	/* Others are there before, and one comes after the table is full. */
	for (uint64_t i = 0; i < HONEST; i++)
		assert_true(fdb_learn(fdb, 0x020000000100ull + i, 1, 0));
	for (uint32_t i = 0; i < 10 * ENTRIES; i++)
		fdb_learn(fdb, flood++, 3, NS_PER_SEC);
	assert_int_equal(fdb_port_entries(fdb, 3), ENTRIES - HONEST);
	for (uint64_t i = 0; i < HONEST; i++)
		assert_true(fdb_learn(fdb, 0x020000000200ull + i, 2, NS_PER_SEC));
	for (uint32_t i = 0; i < 10 * ENTRIES; i++)
		fdb_learn(fdb, flood++, 3, NS_PER_SEC);
	for (uint64_t i = 0; i < HONEST; i++) {
		assert_int_equal(fdb_lookup(fdb, 0x020000000100ull + i, NS_PER_SEC), 1);
		assert_int_equal(fdb_lookup(fdb, 0x020000000200ull + i, NS_PER_SEC), 2);
	}
	assert_int_equal(fdb_stats(fdb)->displaced, HONEST);
	/* Two that flood come to equal shares, and do not take turns. */
	for (uint32_t i = 0; i < 20 * ENTRIES; i++) {
		fdb_learn(fdb, flood++, 3, NS_PER_SEC);
		fdb_learn(fdb, flood++, 4, NS_PER_SEC);
	}
	attacker = fdb_port_entries(fdb, 4);
	assert_in_range(fdb_port_entries(fdb, 3), attacker, attacker + 1);
	assert_int_equal(fdb_entries(fdb), ENTRIES);
	assert_int_equal(fdb_port_entries(fdb, 1) + fdb_port_entries(fdb, 2), 2 * HONEST);
	fdb_destroy(fdb);
}

TEST(address_not_heard_for_long_makes_room_for_one_of_its_port)
{
	enum { ENTRIES = FDB_MIN_ENTRIES }; /* any place is near enough */
	struct fdb *fdb = create(ENTRIES, AGEING_NS);
	uint64_t key = 0x020000000100ull, late_ns = AGEING_NS / 4;

	for (uint64_t i = 0; i < ENTRIES; i++)
		assert_true(fdb_learn(fdb, key + i, 1, 0));
	assert_int_equal(fdb_add_static(fdb, key, 1), 0);
	assert_false(fdb_learn(fdb, key + ENTRIES, 1, late_ns - 1));
	assert_int_equal(fdb_stats(fdb)->learn_failures, 1);
	/* All but one go on speaking. */
	for (uint64_t i = 0; i < ENTRIES - 1; i++)
		assert_true(fdb_learn(fdb, key + i, 1, late_ns));
	assert_true(fdb_learn(fdb, key + ENTRIES, 1, late_ns));
	assert_int_equal(fdb_lookup(fdb, key + ENTRIES - 1, late_ns), FDB_UNKNOWN);
	assert_false(fdb_learn(fdb, key + ENTRIES + 1, 1, late_ns));
	/* What has aged goes first, before it is swept. */
	assert_true(fdb_learn(fdb, key + ENTRIES + 1, 1, 3 * AGEING_NS));
	assert_int_equal(fdb_stats(fdb)->displaced, 1);
	assert_int_equal(fdb_stats(fdb)->aged, 1);
	assert_int_equal(fdb_lookup(fdb, key, 3 * AGEING_NS), 1);
	fdb_destroy(fdb);
}

/* Against a plain array: random addresses, ports, pauses and sweeps. */
TEST(random_run_equals_a_plain_table)
{
	enum { ADDRESSES = 600, PLACES = 512 };
	static struct {
		uint64_t seen_ns;
		uint16_t port;
		bool known;
	} model[ADDRESSES];
	uint64_t seed = 20, now_ns = 0;
	struct fdb *fdb = create(PLACES, 1000);
	struct prng r;

	prng_seed(&r, seed, 0);
	for (unsigned int step = 0; step < 200000; step++) {
		uint64_t i = prng_below(&r, ADDRESSES);
		uint64_t key = FDB_KEY_BIT | (i * 0x010001000100ull & 0x0FFFFEFFFFFFFFFFull);
		uint16_t port = (uint16_t)prng_below(&r, 4);
		uint64_t failures = fdb_stats(fdb)->learn_failures;
		uint16_t found;

		now_ns += prng_below(&r, 6);
		if (step % 64 == 0)
			fdb_sweep(fdb, now_ns);
		if (prng_below(&r, 3) == 0) {
			fdb_learn(fdb, key, port, now_ns);
			if (fdb_stats(fdb)->learn_failures == failures) {
				model[i].seen_ns = now_ns;
				model[i].port = port;
				model[i].known = true;
			} else {
				model[i].known = false;
			}
		}
		found = fdb_lookup(fdb, key, now_ns);
		if (!model[i].known || now_ns - model[i].seen_ns > 1000 + 4) {
			if (found != FDB_UNKNOWN)
				fail_msg("seed %llu step %u: aged or absent, found on %u",
					 (unsigned long long)seed, step, found);
		} else if (now_ns - model[i].seen_ns < 1000 && found != model[i].port) {
			fail_msg("seed %llu step %u: found on %u, heard on %u",
				 (unsigned long long)seed, step, found, model[i].port);
		}
		assert_true(fdb_entries(fdb) <= PLACES);
	}
	assert_true(fdb_stats(fdb)->aged > 1000);
	assert_int_equal(fdb_stats(fdb)->learned - fdb_stats(fdb)->aged >= fdb_entries(fdb), 1);
	fdb_destroy(fdb);
}

TEST(flood_of_sources_on_a_limited_port_evicts_nobody)
{
	struct fdb *fdb = create(64, AGEING_NS);

	fdb_set_limit(fdb, 2, 3);
	for (uint64_t i = 0; i < 10; i++)
		assert_true(fdb_learn(fdb, 0x020000000100ull + i, 1, 0));
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(fdb_learn(fdb, 0x020000000200ull + i, 2, 0), i < 3);
	/* Nor can it take what others own. */
	assert_false(fdb_learn(fdb, 0x020000000100ull, 2, 0));
	assert_int_equal(fdb_lookup(fdb, 0x020000000100ull, 0), 1);
	assert_int_equal(fdb_stats(fdb)->learn_limited, 998);
	assert_int_equal(fdb_stats(fdb)->learn_failures, 0);
	assert_int_equal(fdb_port_entries(fdb, 1), 10);
	assert_int_equal(fdb_port_entries(fdb, 2), 3);
	/* A place becomes free when an address moves away, and when one ages. */
	assert_true(fdb_learn(fdb, 0x020000000200ull, 1, 0));
	assert_true(fdb_learn(fdb, 0x020000000300ull, 2, 0));
	assert_false(fdb_learn(fdb, 0x020000000301ull, 2, 0));
	sweep_all(fdb, 64, 2 * AGEING_NS);
	assert_int_equal(fdb_port_entries(fdb, 2), 0);
	assert_true(fdb_learn(fdb, 0x020000000301ull, 2, 2 * AGEING_NS));
	fdb_destroy(fdb);
}

TEST(static_address_neither_moves_nor_ages)
{
	struct fdb *fdb = create(8, AGEING_NS);
	uint64_t key = fdb_key(7, mac_a), late_ns = 5 * AGEING_NS;

	fdb_set_limit(fdb, 3, 1);
	fdb_learn(fdb, key, 3, 0);
	assert_int_equal(fdb_add_static(fdb, key, 4), 0);
	assert_int_equal(fdb_port_entries(fdb, 3), 0);
	assert_false(fdb_learn(fdb, key, 3, 0));
	assert_true(fdb_learn(fdb, key, 4, 0));
	assert_int_equal(fdb_stats(fdb)->static_kept, 1);
	sweep_all(fdb, 8, late_ns);
	assert_int_equal(fdb_lookup(fdb, key, late_ns), 4);
	assert_int_equal(fdb_add_static(fdb, fdb_key(0, broadcast), 1), -EINVAL);
	for (uint64_t i = 0; i < 7; i++)
		assert_int_equal(fdb_add_static(fdb, 0x020000000100ull + i, 1), 0);
	assert_int_equal(fdb_add_static(fdb, 0x020000000200ull, 1), -ENOSPC);
	fdb_destroy(fdb);
}

TEST(what_is_taken_over_is_the_newest_of_both_where_its_port_still_is)
{
	uint64_t members[4] = {0, 1u << 1 | 1u << 2, 1u << 1};
	struct fdb *old = create(64, AGEING_NS), *new = create(64, 10 * NS_PER_SEC);
	uint8_t mac[6] = {2};
	uint32_t at = 0;

	for (uint8_t i = 0; i < 20; i++) {
		mac[5] = i;
		fdb_learn(old, fdb_key(1 + i % 2, mac), (uint16_t)(1 + i % 4 / 2), 5 * NS_PER_SEC);
	}
	/* Host 0 has moved since; host 4 was heard later in the old one; host 8 is given. */
	mac[5] = 0;
	fdb_learn(new, fdb_key(1, mac), 2, 6 * NS_PER_SEC);
	mac[5] = 4;
	fdb_learn(new, fdb_key(1, mac), 2, 4 * NS_PER_SEC);
	mac[5] = 8;
	assert_int_equal(fdb_add_static(new, fdb_key(1, mac), 2), 0);
	while (fdb_take_over(new, old, members, 1, &at))
		;
	for (uint8_t i = 0; i < 20; i++) {
		uint16_t port = (uint16_t)(1 + i % 4 / 2), domain = 1 + i % 2;

		mac[5] = i;
		if (i == 0 || i == 8)
			port = 2;
		else if (!(members[domain] >> port & 1))
			port = FDB_UNKNOWN;
		assert_int_equal(fdb_lookup(new, fdb_key(domain, mac), 7 * NS_PER_SEC), port);
		/* As old as it was, by the new time. */
		if (i != 0 && i != 8)
			assert_int_equal(fdb_lookup(new, fdb_key(domain, mac), 16 * NS_PER_SEC),
					 FDB_UNKNOWN);
	}
	assert_int_equal(fdb_entries(new), 15);
	assert_int_equal(fdb_port_entries(new, 1), 8);
	assert_int_equal(fdb_port_entries(new, 2), 6);
	/* Counters stay, and the table may be made anew. */
	fdb_release(old);
	assert_int_equal(fdb_entries(old), 0);
	assert_int_equal(fdb_stats(old)->learned, 20);
	assert_int_equal(fdb_reset(old, &(struct fdb_params){.entries = 7}), -EINVAL);
	assert_int_equal(
		fdb_reset(old, &(struct fdb_params){.entries = 8, .socket = SOCKET_ID_ANY}), 0);
	at = 0;
	while (fdb_take_over(old, new, members, 1, &at))
		;
	assert_int_equal(fdb_entries(old), 8);
	fdb_destroy(old);
	fdb_destroy(new);
}

TEST(burst_finds_what_single_calls_find)
{
	struct fdb *fdb = create(64, AGEING_NS);
	const uint64_t keys[] = {FDB_KEY_BIT, UINT64_MAX, fdb_key(7, mac_a), 0};
	uint32_t homes[4];

	fdb_homes(fdb, keys, homes, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(homes[i], fdb_home(fdb, keys[i]));
	assert_int_equal(fdb_entries(fdb), 0);
	assert_true(fdb_learn_at(fdb, keys[2], homes[2], 5, 0));
	assert_int_equal(fdb_lookup(fdb, keys[2], 0), 5);
	assert_int_equal(fdb_lookup_at(fdb, keys[2], homes[2], 0), 5);
	assert_int_equal(fdb_lookup_at(fdb, keys[0], homes[0], 0), FDB_UNKNOWN);
	fdb_destroy(fdb);
}

TEST(size_out_of_range_is_refused)
{
	struct fdb_params p = {.entries = 0, .socket = SOCKET_ID_ANY};

	assert_null(fdb_create(&p));
	assert_int_equal(rte_errno, EINVAL);
	p.entries = FDB_MAX_ENTRIES + 1;
	assert_null(fdb_create(&p));
}

TEST(reading_gives_every_address_once_in_bounded_steps)
{
	enum { ADDRESSES = 500, ROOM = 7 };
	struct fdb *fdb = create(1024, AGEING_NS);
	bool seen[ADDRESSES] = {false};
	struct fdb_entry out[ROOM];
	uint32_t at = 0, n, found = 0;

	for (uint32_t i = 0; i < ADDRESSES; i++) {
		const uint8_t mac[6] = {2, 0, 0, 0, (uint8_t)(i >> 8), (uint8_t)i};

		if (i % 10 == 0)
			assert_int_equal(fdb_add_static(fdb, fdb_key(5, mac), 9), 0);
		else
			fdb_learn(fdb, fdb_key(7, mac), (uint16_t)(i % 3), i);
	}
	while (at != FDB_READ_END) {
		n = fdb_read(fdb, &at, out, ROOM, 1000);
		assert_in_range(n, 0, ROOM);
		for (uint32_t i = 0; i < n; i++, found++) {
			uint32_t number = (uint32_t)out[i].mac[4] << 8 | out[i].mac[5];
			bool is_static = number % 10 == 0;

			assert_false(seen[number]);
			seen[number] = true;
			assert_int_equal(out[i].mac[0], 2);
			assert_int_equal(out[i].is_static, is_static);
			assert_int_equal(out[i].domain, is_static ? 5 : 7);
			assert_int_equal(out[i].port, is_static ? 9 : number % 3);
			assert_int_equal(out[i].age_ns, is_static ? 0 : 1000 - number);
		}
	}
	assert_int_equal(found, ADDRESSES);
	assert_int_equal(fdb_read(fdb, &at, out, ROOM, 1000), 0);
	/* Aged ones are not known, swept or not. */
	for (at = 0, found = 0; at != FDB_READ_END;)
		found += fdb_read(fdb, &at, out, ROOM, 2 * AGEING_NS);
	assert_int_equal(found, ADDRESSES / 10);
	fdb_destroy(fdb);
}

/* The time that an entry was heard has 55 bits: 416 days. */
TEST(address_that_moves_as_the_time_wraps_is_found)
{
	static const uint64_t ageings_ns[] = {0, AGEING_NS};
	const uint64_t wrap_ns = 1ull << FDB_SEEN_BITS, key = fdb_key(0, mac_a);

	for (unsigned int i = 0; i < 2; i++) {
		struct fdb *fdb = create(64, ageings_ns[i]);

		for (uint16_t port = 0; port < 8; port++)
			fdb_learn(fdb, key, port, wrap_ns - NS_PER_MS + port);
		fdb_learn(fdb, key, 8, wrap_ns + 10);
		assert_int_equal(fdb_lookup(fdb, key, wrap_ns + 11), 8);
		fdb_learn(fdb, key, 7, wrap_ns + 12);
		assert_int_equal(fdb_lookup(fdb, key, wrap_ns + 13), 7);
		assert_int_equal(fdb_stats(fdb)->moved, 9);
		sweep_all(fdb, 64, wrap_ns + AGEING_NS / 2);
		assert_int_equal(fdb_entries(fdb), 1);
		fdb_destroy(fdb);
	}
}

TEST_MAIN(.begin = start_eal)
