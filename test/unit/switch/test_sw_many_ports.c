/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch of 300 ports: sets of several words, and bits of the wake mask that two ports share. */
#include "unit/switch/sw_test.h"

#include "node/port_set.h"
#include "switch/control/event_log.h"
#include "switch/monitor/link.h"

#define PORTS 300
#define PRIO 3

static struct bench *
bench_of(void)
{
	bench_defaults(&bench.params, PORTS);
	bench.params.mmu.buffer_bytes = 200000000;
	return &bench;
}

TEST(a_set_of_ports_is_visited_in_order)
{
	static const uint16_t members[] = {0, 63, 64, 200, 511};
	struct port_set s = {0}, t;
	uint16_t port = port_set_next(&s, 0);

	assert_int_equal(port, PORT_NONE);
	assert_true(port_set_is_empty(&s));
	for (size_t i = 0; i < 5; i++)
		port_set_add(&s, members[i]);
	assert_int_equal(port_set_count(&s), 5);
	port = port_set_next(&s, 0);
	for (size_t i = 0; i < 5; i++, port = port_set_next(&s, (uint16_t)(port + 1)))
		assert_int_equal(port, members[i]);
	assert_int_equal(port, PORT_NONE);
	t = s;
	assert_true(port_set_equal(&s, &t));
	port_set_remove(&t, 200);
	assert_false(port_set_equal(&s, &t));
	assert_false(port_set_has(&t, 200));
	assert_int_equal(port_set_next(&t, 65), 511);
	assert_int_equal(port_words(64), 1);
	assert_int_equal(port_words(65), 2);
}

TEST(a_flood_reaches_each_other_port_once_but_not_one_without_a_link)
{
	struct bench *b = bench_of();

	bench_start(b);
	sw_set_link(b->sw, 170, false, 0);
	sw_set_link(b->sw, 2, false, 0);
	for (uint64_t now_ns = 0; now_ns < 2; now_ns++)
		assert_null(take(b, 0, now_ns));
	give(b, 260, make_data(b, 1, 2, 7), 1000);
	/* Ports 4 and 260 share a bit. */
	assert_true(b->sw->wake[0] >> 5 & 1);
	for (uint16_t port = 0; port < PORTS; port++) {
		struct rte_mbuf *m = take(b, port, 1000);

		if (port == 260 || port == 170 || port == 2) {
			assert_null(m);
			continue;
		}
		assert_int_equal(roce_of(m).psn, 7);
		sent(m);
		assert_null(take(b, port, 1000000));
	}
	/* The answer goes to the port where the address was learned. */
	give(b, 299, make_data(b, 2, 1, 8), 2000000);
	assert_null(take(b, 4, 2000000));
	sent(take(b, 260, 2000000));
	bench_stop(b);
}

TEST(vlans_end_at_their_ports)
{
	struct bench *b = bench_of();

	b->params.vlan_filtering = true;
	for (uint16_t port = 0; port < PORTS; port++)
		b->params.ports[port].access_vlan = 10 + port % 3;
	bench_start(b);
	give(b, 100, make_data(b, 1, 2, 7), 0);
	for (uint16_t port = 0; port < PORTS; port++) {
		struct rte_mbuf *m = take(b, port, 0);

		if (port != 100 && port % 3 == 100 % 3)
			sent(m);
		else
			assert_null(m);
	}
	bench_stop(b);
}

TEST(a_storm_at_a_high_port_is_detected_there)
{
	struct bench *b = bench_of();
	struct sw_event e;

	b->params.pfcwd.pfcwd = PFCWD_SONIC;
	b->params.pfcwd.action = PFCWD_ALERT;
	b->params.pfcwd.poll_interval_ns = NS_PER_MS;
	b->params.pfcwd.detection_time_ns = 2 * NS_PER_MS;
	b->params.pfcwd.restoration_time_ns = 3 * NS_PER_MS;
	for (uint16_t port = 0; port < PORTS; port++)
		b->params.ports[port].pfcwd = port >= 256;
	bench_start(b);
	b->sw->ops->control(b->sw, 0);
	for (uint64_t us = 100; us <= 4000; us += 100) {
		/* Port 3, which shares a bit with 259, is not watched. */
		if (us % 400 == 100) {
			give_pfc(b, 259, 1u << PRIO, 65535, us * NS_PER_US);
			give_pfc(b, 3, 1u << PRIO, 65535, us * NS_PER_US);
		}
		if (us % 1000 == 0)
			b->sw->ops->control(b->sw, us * NS_PER_US);
	}
	assert_true(sw_event_next(b->sw, &e));
	assert_int_equal(e.kind, SW_EVENT_STORM_DETECTED);
	assert_int_equal(e.port, 259);
	assert_false(sw_event_next(b->sw, &e));
	bench_stop(b);
}

TEST(shards_are_for_64_ports)
{
	struct bench *b = bench_of();
	char why[256];

	b->params.shards = 2;
	sw_params_resolve(&b->params);
	assert_int_equal(sw_params_check(&b->params, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "more than 64 ports"));
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
