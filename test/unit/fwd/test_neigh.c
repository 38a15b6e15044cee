/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours in virtual time: who is asked when, and what an answer changes. */
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "fwd/neigh.h"

#define RETRANS NS_PER_SEC
#define REACHABLE (30 * NS_PER_SEC)

static const struct neigh_params params = {.retrans_ns = RETRANS, .reachable_ns = REACHABLE};
static const uint8_t mac[6] = {2, 0, 0, 0, 0, 7}, other_mac[6] = {2, 0, 0, 0, 0, 8};
static struct neigh_table *t;
static struct neigh_stats stats;
static struct neigh_claim_stats claims;

static int
setup(void **state)
{
	(void)state;
	memset(&stats, 0, sizeof(stats));
	memset(&claims, 0, sizeof(claims));
	t = neigh_table_create(&params);
	return t == NULL;
}

static int
teardown(void **state)
{
	(void)state;
	neigh_table_destroy(t);
	return 0;
}

static struct neigh_key
key(uint32_t number)
{
	return (struct neigh_key){
		{4, {10, (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number}}, 0};
}

static uint32_t
add(uint32_t number, uint64_t now_ns)
{
	struct neigh_key k = key(number);

	return (uint32_t)neigh_add(t, &k, now_ns);
}

/* Is exactly this neighbour asked at this time, and nobody before? In which state is it then? */
static void
expect_ask(uint64_t at_ns, uint32_t index, enum neigh_state state)
{
	assert_int_equal(neigh_next_ns(t), at_ns);
	neigh_run(t, &stats, at_ns - 1);
	assert_false(neigh_has_ask(t));
	neigh_run(t, &stats, at_ns);
	assert_int_equal(neigh_get(t, index)->state, state);
	assert_int_equal(neigh_pop_ask(t), index);
	assert_int_equal(neigh_pop_ask(t), NEIGH_NONE);
}

TEST(silent_neighbour_is_asked_thrice_then_rarely)
{
	uint32_t i = add(1, 5);

	expect_ask(5, i, NEIGH_INCOMPLETE);
	expect_ask(5 + RETRANS, i, NEIGH_INCOMPLETE);
	expect_ask(5 + 2 * RETRANS, i, NEIGH_INCOMPLETE);
	assert_int_equal(stats.neigh_failed, 0);
	expect_ask(5 + 3 * RETRANS, i, NEIGH_FAILED);
	assert_int_equal(stats.neigh_failed, 1);
	expect_ask(5 + 13 * RETRANS, i, NEIGH_FAILED);
	expect_ask(5 + 23 * RETRANS, i, NEIGH_FAILED);
	assert_int_equal(stats.neigh_failed, 1);
	assert_int_equal(neigh_unresolved(t), 1);
	assert_true(neigh_on_learnt(t, &stats, i, mac, 24 * RETRANS));
	assert_int_equal(neigh_get(t, i)->state, NEIGH_REACHABLE);
	assert_int_equal(neigh_unresolved(t), 0);
}

TEST(answer_holds_for_its_time_then_the_known_address_is_probed)
{
	uint32_t i = add(1, 0);

	neigh_run(t, &stats, 0);
	neigh_pop_ask(t);
	assert_true(neigh_on_learnt(t, &stats, i, mac, 100));
	assert_int_equal(stats.neigh_learnt, 1);
	/* What was due before the answer is looked at and found put off. */
	neigh_run(t, &stats, RETRANS);
	assert_false(neigh_has_ask(t));
	expect_ask(100 + REACHABLE, i, NEIGH_PROBE);
	expect_ask(100 + REACHABLE + RETRANS, i, NEIGH_PROBE);
	assert_false(neigh_on_learnt(t, &stats, i, mac, 100 + REACHABLE + RETRANS + 7));
	neigh_run(t, &stats, 100 + REACHABLE + 2 * RETRANS);
	assert_false(neigh_has_ask(t));
	assert_int_equal(stats.neigh_changed, 0);
	expect_ask(100 + 2 * REACHABLE + RETRANS + 7, i, NEIGH_PROBE);
}

TEST(lost_neighbour_keeps_its_address_while_all_are_asked)
{
	uint64_t at = REACHABLE;
	uint32_t i = add(1, 0);

	neigh_on_learnt(t, &stats, i, mac, 0);
	neigh_run(t, &stats, 0);
	for (unsigned int n = 0; n < NEIGH_TRIES; n++, at += RETRANS)
		expect_ask(at, i, NEIGH_PROBE);
	for (unsigned int n = 0; n < NEIGH_TRIES; n++, at += RETRANS)
		expect_ask(at, i, NEIGH_INCOMPLETE);
	expect_ask(at, i, NEIGH_FAILED);
	assert_true(neigh_get(t, i)->has_mac);
	assert_memory_equal(neigh_get(t, i)->mac, mac, 6);
	assert_true(neigh_on_learnt(t, &stats, i, other_mac, at + 1));
	assert_int_equal(stats.neigh_changed, 1);
	assert_int_equal(stats.neigh_learnt, 1);
}

TEST(claimed_address_is_believed_when_the_known_one_is_silent)
{
	uint64_t at = 5 * RETRANS;
	uint32_t i = add(1, 0);

	neigh_run(t, &stats, 0);
	neigh_pop_ask(t);
	assert_true(neigh_on_claimed(t, &stats, i, mac, 100));
	neigh_run(t, &stats, RETRANS);
	/* At most a question in retrans_ns, whatever is claimed. */
	for (uint64_t now_ns = 200; now_ns < 300; now_ns++)
		assert_false(neigh_on_claimed(t, &stats, i, other_mac, RETRANS - now_ns));
	expect_ask(100 + RETRANS, i, NEIGH_PROBE);
	assert_false(neigh_on_claimed(t, &stats, i, other_mac, 110 + RETRANS));
	assert_false(neigh_on_claimed(t, &stats, i, mac, 120 + RETRANS));
	assert_int_equal(neigh_get(t, i)->state, NEIGH_REACHABLE);
	assert_int_equal(stats.neigh_contested, 101);
	assert_int_equal(stats.neigh_changed, 0);
	neigh_run(t, &stats, 3 * RETRANS);
	/* The neighbour has moved: its old address does not answer. */
	assert_false(neigh_on_claimed(t, &stats, i, other_mac, at));
	for (unsigned int n = 0; n < NEIGH_TRIES; n++, at += RETRANS) {
		expect_ask(at, i, NEIGH_PROBE);
		assert_false(neigh_on_claimed(t, &stats, i, other_mac, at));
		assert_memory_equal(neigh_get(t, i)->mac, mac, 6);
	}
	expect_ask(at, i, NEIGH_INCOMPLETE);
	assert_true(neigh_on_claimed(t, &stats, i, other_mac, at));
	assert_memory_equal(neigh_get(t, i)->mac, other_mac, 6);
	assert_int_equal(stats.neigh_changed, 1);
}

TEST(never_means_that_nobody_is_asked_again)
{
	struct neigh_params once = {.retrans_ns = RETRANS, .reachable_ns = NEVER_NS};

	neigh_table_destroy(t);
	t = neigh_table_create(&once);
	add(1, 0);
	neigh_run(t, &stats, 0);
	neigh_pop_ask(t);
	neigh_on_learnt(t, &stats, 0, mac, 1);
	neigh_run(t, &stats, RETRANS);
	assert_false(neigh_has_ask(t));
	assert_int_equal(neigh_next_ns(t), NEVER_NS);
}

TEST(neighbours_are_told_apart_by_version_address_and_vlan)
{
	struct neigh_key keys[] = {
		{{4, {10, 0, 0, 1}}, 0}, {{4, {10, 0, 0, 2}}, 0},           {{4, {10, 0, 0, 1}}, 5},
		{{6, {10, 0, 0, 1}}, 0}, {{6, {10, 0, 0, 1, [15] = 1}}, 0},
	};

	for (unsigned int i = 0; i < 5; i++) {
		assert_int_equal(neigh_find(t, &keys[i]), NEIGH_NONE);
		assert_int_equal(neigh_add(t, &keys[i], 0), i);
	}
	for (unsigned int i = 0; i < 5; i++) {
		assert_int_equal(neigh_find(t, &keys[i]), i);
		assert_int_equal(neigh_add(t, &keys[i], 0), i);
	}
	assert_int_equal(neigh_count(t), 5);
}

TEST(thousands_are_found_again)
{
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(add(i * 7, 0), i);
	for (uint32_t i = 0; i < 5000; i++) {
		struct neigh_key k = key(i * 7), absent = key(i * 7 + 1);

		assert_int_equal(neigh_find(t, &k), i);
		assert_int_equal(neigh_find(t, &absent), NEIGH_NONE);
	}
}

/* Answers come at random, or not: nobody is asked twice within the time between two questions. */
TEST(nobody_is_asked_too_often)
{
	uint64_t asked_ns[20], now_ns = 0;
	struct prng r;

	prng_seed(&r, 11, 0);
	for (uint32_t i = 0; i < 20; i++) {
		add(i, 0);
		asked_ns[i] = NEVER_NS;
	}
	for (unsigned int step = 0; step < 20000; step++) {
		uint32_t i;

		now_ns += prng_below(&r, RETRANS / 4);
		neigh_run(t, &stats, now_ns);
		while ((i = neigh_pop_ask(t)) != NEIGH_NONE) {
			assert_true(asked_ns[i] == NEVER_NS || now_ns - asked_ns[i] >= RETRANS);
			asked_ns[i] = now_ns;
		}
		if (prng_below(&r, 20) == 0)
			neigh_on_learnt(t, &stats, (uint32_t)prng_below(&r, 20),
					prng_below(&r, 2) ? mac : other_mac, now_ns);
	}
}

/* A router asks only for whom it wants to send to. */
TEST(touched_neighbour_is_asked_and_no_other)
{
	uint32_t a = add(1, 0), b = add(2, 0);
	uint64_t now_ns = 5 * NS_PER_SEC;

	assert_false(neigh_touch(t, &stats, b, now_ns));
	assert_int_equal(neigh_pop_ask(t), b);
	assert_int_equal(neigh_pop_ask(t), NEIGH_NONE);
	assert_false(neigh_touch(t, &stats, b, now_ns + RETRANS - 1));
	assert_false(neigh_has_ask(t));
	assert_false(neigh_touch(t, &stats, b, now_ns + RETRANS));
	assert_int_equal(neigh_pop_ask(t), b);
	neigh_on_learnt(t, &stats, b, mac, now_ns + RETRANS);
	assert_true(neigh_touch(t, &stats, b, now_ns + RETRANS + REACHABLE - 1));
	assert_false(neigh_has_ask(t));
	/* In use while it is asked again, and no more when it has failed. */
	now_ns += RETRANS + REACHABLE;
	for (unsigned int i = 0; i < 2 * NEIGH_TRIES; i++, now_ns += RETRANS) {
		assert_true(neigh_touch(t, &stats, b, now_ns));
		assert_int_equal(neigh_pop_ask(t), b);
	}
	assert_false(neigh_touch(t, &stats, b, now_ns));
	assert_int_equal(stats.neigh_failed, 1);
	assert_int_equal(neigh_get(t, a)->tries, 0);
}

TEST(fixed_neighbour_is_used_never_asked_and_never_changed)
{
	struct neigh_key k = key(9);
	int64_t index = neigh_add_fixed(t, &k, mac);

	assert_true(index >= 0);
	assert_int_equal(neigh_unresolved(t), 0);
	assert_true(neigh_touch(t, &stats, (uint32_t)index, 1000 * REACHABLE));
	assert_false(neigh_has_ask(t));
	assert_false(neigh_on_learnt(t, &stats, (uint32_t)index, other_mac, 0));
	assert_memory_equal(neigh_get(t, (uint32_t)index)->mac, mac, 6);
	assert_string_equal(neigh_state_text(neigh_get(t, (uint32_t)index)), "permanent");
	neigh_unfix(t, (uint32_t)index, 0);
	assert_string_equal(neigh_state_text(neigh_get(t, (uint32_t)index)), "reachable");
}

/* Neighbour i at place i. */
static void
fill_places(uint32_t *number, uint32_t n)
{
	assert_int_equal(neigh_reserve(t, n), 0);
	for (uint32_t i = 0; i < n; i++) {
		number[i] = i;
		assert_int_equal(add(i, 0), i);
	}
}

/* Whatever stood where, each one that is left is found, and nobody else. */
TEST(replaced_neighbours_leave_the_others_to_be_found)
{
	enum { PLACES = 64 };
	uint32_t number[PLACES], next = PLACES;
	struct prng r;

	prng_seed(&r, 5, 0);
	fill_places(number, PLACES);
	for (unsigned int step = 0; step < 5000; step++) {
		uint32_t at = (uint32_t)prng_below(&r, PLACES);
		struct neigh_key k = key(next), old = key(number[at]);

		if (step % 3 == 0)
			neigh_on_learnt(t, &stats, at, mac, 0);
		neigh_remove(t, at);
		assert_int_equal(neigh_add(t, &k, 0), at);
		number[at] = next++;
		assert_int_equal(neigh_find(t, &old), NEIGH_NONE);
		assert_false(neigh_get(t, at)->has_mac);
		for (uint32_t i = 0; step % 100 == 0 && i < PLACES; i++) {
			k = key(number[i]);
			assert_int_equal(neigh_find(t, &k), i);
		}
	}
	assert_int_equal(neigh_count(t), PLACES);
	assert_int_equal(neigh_unresolved(t), PLACES);
}

/* Who holds an index goes on finding its neighbour there, whatever is given back around it. */
TEST(places_are_given_back_and_taken_again_and_pinned_ones_stay)
{
	enum { PLACES = 32 };
	uint32_t number[PLACES], next = PLACES, gone = 0;
	struct prng r;

	prng_seed(&r, 6, 0);
	fill_places(number, PLACES);
	neigh_pin(t, 0, true);
	for (unsigned int step = 0; step < 5000; step++) {
		uint32_t at = 1 + (uint32_t)prng_below(&r, PLACES - 1);
		bool there = neigh_get(t, at)->key.ip.version != 0;
		struct neigh_key k = key(number[at]);

		if (there) {
			neigh_on_learnt(t, &stats, at, mac, 0);
			neigh_remove(t, at);
			gone++;
			assert_int_equal(neigh_find(t, &k), NEIGH_NONE);
		} else {
			uint32_t index = (uint32_t)add(next, 0);

			assert_true(index < PLACES);
			assert_int_equal(neigh_get(t, index)->key.ip.version, 4);
			number[index] = next++;
			gone--;
		}
		assert_int_equal(t->n_freed, gone);
		for (uint32_t i = 0; step % 50 == 0 && i < PLACES; i++) {
			k = key(number[i]);
			assert_true(neigh_find(t, &k) == i || neigh_get(t, i)->key.ip.version == 0);
		}
	}
	assert_true(neigh_get(t, 0)->pinned);
	assert_int_equal(neigh_count(t), PLACES);
	/* Nobody asks for one that is not there. */
	neigh_run(t, &stats, NS_PER_SEC);
	while (neigh_has_ask(t))
		assert_int_equal(neigh_get(t, neigh_pop_ask(t))->key.ip.version, 4);
}

static uint64_t
answered(uint32_t index, uint64_t now_ns)
{
	neigh_touch(t, &stats, index, now_ns);
	while (neigh_pop_ask(t) != NEIGH_NONE)
		;
	return neigh_on_learnt(t, &stats, index, mac, now_ns);
}

static struct neigh_key
key_in(uint16_t interface, uint32_t number)
{
	struct neigh_key k = key(number);

	k.vlan_id = interface;
	return k;
}

static uint32_t
claim(uint16_t interface, uint32_t number, struct neigh_claim why, uint64_t now_ns)
{
	struct neigh_key k = key_in(interface, number);

	return neigh_claim(t, &claims, &k, why, now_ns);
}

static const struct neigh_claim heard = {.heard = true};

/* RFC 4861 7.2.3: whoever speaks to us is known, but not that it can be reached. */
TEST(neighbour_that_is_heard_is_used_at_once_and_asked)
{
	uint32_t i = add(1, 0);

	assert_true(neigh_on_heard(t, &stats, i, mac, 100));
	assert_int_equal(neigh_get(t, i)->state, NEIGH_STALE);
	assert_false(neigh_has_ask(t));
	assert_true(neigh_touch(t, &stats, i, 200));
	assert_int_equal(neigh_pop_ask(t), i);
	assert_int_equal(neigh_get(t, i)->state, NEIGH_PROBE);
	neigh_on_learnt(t, &stats, i, mac, 300);
	/* The same address again proves nothing, another one has to be proved. */
	assert_false(neigh_on_heard(t, &stats, i, mac, 400));
	assert_int_equal(neigh_get(t, i)->state, NEIGH_REACHABLE);
	assert_true(neigh_on_heard(t, &stats, i, other_mac, 500));
	assert_int_equal(neigh_get(t, i)->state, NEIGH_STALE);
	assert_int_equal(stats.neigh_changed, 1);
}

/* The attacker has the source, and takes the table for one with the key zero; or knows the key. */
TEST(addresses_made_to_meet_are_apart_under_a_secret_key)
{
	enum { ENTRIES = 1024, MADE = 2 * NEIGH_MAX_PROBES };
	struct neigh_params secret = params;
	struct neigh_table *other;
	struct neigh_key made[MADE];
	uint32_t n = 0;

	secret.key = half_sip_key(0x243f6a8885a308d3);
	other = neigh_table_create(&secret);
	assert_int_equal(neigh_limit(t, ENTRIES, 2, 1), 0);
	assert_int_equal(neigh_limit(other, ENTRIES, 2, 1), 0);
	for (uint32_t number = 0; n < MADE; number++) {
		uint32_t words[2] = {1u << 8 | 4};

		made[n] = key_in(1, number);
		memcpy(&words[1], made[n].ip.addr, 4);
		if ((half_sip(&t->key, words, 2) & t->mask) == 77)
			n++;
	}
	for (n = 0; n < MADE; n++) {
		neigh_claim(t, &claims, &made[n], heard, 0);
		assert_int_not_equal(neigh_claim(other, &claims, &made[n], heard, 0), NEIGH_NONE);
	}
	/* Slots that a look-up reads: bounded for who knows the key, and few for who does not. */
	assert_int_equal(neigh_count(t), NEIGH_MAX_PROBES);
	assert_int_equal(t->longest_probe, NEIGH_MAX_PROBES - 1);
	assert_int_equal(claims.neigh_table_full, MADE - NEIGH_MAX_PROBES);
	assert_in_range(other->longest_probe, 0, 3);
	neigh_table_destroy(other);
}

/* Neighbours of an interface that somebody makes up, answers for and sends to leave places for
 * others. */
TEST(interfaces_leave_each_other_places)
{
	enum { ENTRIES = 1024 };
	uint32_t i;

	assert_int_equal(neigh_limit(t, ENTRIES, 4, 2), 0);
	for (uint32_t number = 0; number < 10 * ENTRIES; number++) {
		i = claim(1, number, heard, 0);
		if (i != NEIGH_NONE)
			answered(i, 0);
	}
	assert_int_equal(neigh_count(t), ENTRIES / 2);
	for (uint32_t number = 0; number < 10 * ENTRIES; number++) {
		i = claim(2, number, heard, 0);
		if (i != NEIGH_NONE)
			answered(i, 0);
	}
	/* All are in use, and stay: none was displaced. There is room for a third, heard or
	 * wanted. */
	assert_int_equal(claims.neigh_displaced, 0);
	for (uint32_t number = 0; number < 100; number++)
		assert_int_not_equal(claim(3, number, heard, 0), NEIGH_NONE);
	assert_int_not_equal(claim(3, 100, (struct neigh_claim){.port = 1}, 0), NEIGH_NONE);
	for (uint32_t number = 0; number < ENTRIES / 2; number++) {
		struct neigh_key k = key_in(1, number);

		assert_int_not_equal(neigh_find(t, &k), NEIGH_NONE);
	}
}

TEST(idle_neighbours_make_room_and_those_in_use_do_not)
{
	enum { ENTRIES = 64, USED = 8 };
	uint64_t now_ns = NS_PER_SEC;

	assert_int_equal(neigh_limit(t, ENTRIES, 2, 1), 0);
	for (uint32_t number = 0; number < USED; number++)
		answered(claim(1, number, (struct neigh_claim){.port = 0}, now_ns), now_ns);
	/* Strangers that only speak, without end: they displace each other. */
	for (uint32_t number = 1000; number < 3000; number++, now_ns += NS_PER_MS) {
		uint32_t i = claim(1, number, heard, now_ns);

		assert_int_not_equal(i, NEIGH_NONE);
		neigh_on_heard(t, &stats, i, mac, now_ns);
	}
	for (uint32_t number = 0; number < USED; number++) {
		struct neigh_key k = key_in(1, number);

		assert_true(neigh_touch(t, &stats, neigh_find(t, &k), now_ns));
	}
	assert_true(claims.neigh_displaced > 1900);
	/* Nobody sends to them any longer: they go, too. */
	now_ns += NEIGH_IDLE_NS;
	while (neigh_pop_ask(t) != NEIGH_NONE)
		;
	for (uint32_t number = 4000; number < 4000 + ENTRIES; number++) {
		uint32_t i = claim(1, number, heard, now_ns);

		neigh_on_heard(t, &stats, i, mac, now_ns);
	}
	for (uint32_t number = 0; number < USED; number++) {
		struct neigh_key k = key_in(1, number);

		assert_int_equal(neigh_find(t, &k), NEIGH_NONE);
	}
}

/* A scan by one port: others ask for new neighbours all the while, and whoever is known stays. */
TEST(those_who_do_not_answer_displace_their_own_kind_only)
{
	enum { ENTRIES = 1024 };
	uint64_t now_ns = NS_PER_SEC;
	uint32_t i, known = 0;

	assert_int_equal(neigh_limit(t, ENTRIES, 2, 2), 0);
	for (uint32_t number = 0; number < 5000; number++) {
		i = claim(1, 0x10000 + number, (struct neigh_claim){.port = 0}, now_ns);
		if (i != NEIGH_NONE)
			neigh_touch(t, &stats, i, now_ns);
		while (neigh_pop_ask(t) != NEIGH_NONE)
			;
		now_ns += RETRANS / 1000;
		if (number % 50 != 0)
			continue;
		i = claim(1, number, (struct neigh_claim){.port = 1}, now_ns);
		assert_int_not_equal(i, NEIGH_NONE);
		answered(i, now_ns);
		known++;
	}
	assert_true(claims.neigh_unresolved_full > 1000);
	assert_true(claims.neigh_displaced > 500);
	for (uint32_t number = 0; number < 5000; number += 50) {
		struct neigh_key k = key_in(1, number);

		i = neigh_find(t, &k);
		assert_int_not_equal(i, NEIGH_NONE);
		assert_true(neigh_get(t, i)->has_mac);
	}
	assert_int_equal(known, 100);
	assert_in_range(neigh_unresolved(t), ENTRIES / 10, ENTRIES / 5 + 2);
}

/* Whatever happens, each neighbour is in the list that it belongs to, and in no other. */
TEST(lists_hold_all_neighbours_that_may_go)
{
	enum { ENTRIES = 64, INTERFACES = 3, PORTS = 2 };
	struct prng r;
	uint64_t now_ns = 0;

	prng_seed(&r, 12, 0);
	assert_int_equal(neigh_limit(t, ENTRIES, INTERFACES, PORTS), 0);
	for (unsigned int step = 0; step < 20000; step++) {
		uint16_t interface = (uint16_t)prng_below(&r, INTERFACES);
		uint32_t listed = 0, free_to_go = 0, i;

		now_ns += prng_below(&r, RETRANS / 8);
		i = claim(interface, (uint32_t)prng_below(&r, 200),
			  (struct neigh_claim){.heard = prng_below(&r, 2) == 0,
					       .port = (uint16_t)prng_below(&r, PORTS)},
			  now_ns);
		if (i == NEIGH_NONE)
			continue;
		if (prng_below(&r, 4) == 0)
			neigh_on_heard(t, &stats, i, mac, now_ns);
		if (prng_below(&r, 4) == 0)
			neigh_touch(t, &stats, i, now_ns);
		if (prng_below(&r, 8) == 0)
			neigh_on_learnt(t, &stats, i, other_mac, now_ns);
		if (prng_below(&r, 16) == 0)
			neigh_pin(t, i, !neigh_get(t, i)->pinned);
		if (prng_below(&r, 16) == 0 && !neigh_get(t, i)->pinned)
			neigh_remove(t, i);
		if (prng_below(&r, 500) == 0)
			neigh_forget_learned(t, now_ns);
		while (prng_below(&r, 2) == 0 && neigh_pop_ask(t) != NEIGH_NONE)
			;
		for (i = 0; i < neigh_count(t); i++) {
			const struct neigh *e = neigh_get(t, i);

			free_to_go += e->key.ip.version != 0 && !e->pinned;
		}
		for (uint32_t k = 0; k < INTERFACES + PORTS + 1; k++) {
			bool is_known = k < INTERFACES;
			const struct neigh_list *list =
				is_known ? &t->known[k] : &t->wanted[k - INTERFACES];
			uint32_t n = 0;

			i = list->n == 0 ? NEIGH_NONE : list->first;
			for (; i != NEIGH_NONE; i = neigh_get(t, i)->next, n++) {
				const struct neigh *e = neigh_get(t, i);

				assert_int_equal(e->has_mac, is_known);
				assert_int_equal(is_known ? e->key.vlan_id : e->port,
						 is_known ? k : k - INTERFACES);
			}
			assert_int_equal(n, list->n);
			listed += n;
		}
		assert_int_equal(listed, free_to_go);
		assert_true(neigh_count(t) <= ENTRIES);
	}
	assert_true(claims.neigh_displaced > 100);
}

TEST(an_address_that_is_given_no_more_is_used_and_asked_for)
{
	struct neigh_key given = key(2);
	uint32_t index = (uint32_t)neigh_add_fixed(t, &given, mac);

	neigh_run(t, &stats, 100);
	assert_int_equal(neigh_pop_ask(t), NEIGH_NONE);
	neigh_unfix(t, index, 200);
	assert_true(neigh_touch(t, &stats, index, 200));
	assert_int_equal(neigh_pop_ask(t), index);
	assert_int_equal(neigh_get(t, index)->state, NEIGH_PROBE);
	assert_true(neigh_get(t, index)->has_mac);
}

/* As after a loss of power: what was given for good is configuration. */
TEST(what_was_learnt_is_forgotten_and_asked_for_anew)
{
	struct neigh_key given = key(2);
	int64_t fixed = neigh_add_fixed(t, &given, mac);

	assert_int_equal(add(1, 0), 1);
	neigh_run(t, &stats, 0);
	assert_int_equal(neigh_pop_ask(t), 1);
	neigh_on_learnt(t, &stats, 1, mac, 0);
	assert_int_equal(neigh_unresolved(t), 0);
	neigh_forget_learned(t, 100);
	assert_int_equal(neigh_unresolved(t), 1);
	assert_false(neigh_get(t, 1)->has_mac);
	assert_true(neigh_get(t, (uint32_t)fixed)->has_mac);
	assert_int_equal(neigh_next_ns(t), 100);
	neigh_run(t, &stats, 100);
	assert_int_equal(neigh_pop_ask(t), 1);
	assert_int_equal(neigh_pop_ask(t), NEIGH_NONE);
}

TEST_MAIN(.before_each = setup, .after_each = teardown)
