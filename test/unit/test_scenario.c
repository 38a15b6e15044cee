/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/units.h"
#include "fabric/scenario.h"

static void
host_lists_come_out_sorted_and_once(void **state)
{
	static const struct {
		const char *list;
		int32_t hosts[8];
	} rows[] = {
		{ "1", { 1, 0 } },
		{ "1-4", { 1, 2, 3, 4, 0 } },
		{ "7, 1-2,2", { 1, 2, 7, 0 } },
		{ "", { -1 } },
		{ "0", { -1 } },
		{ "4-2", { -1 } },
		{ "1,", { -1 } },
		{ "1;2", { -1 } },
		{ "1-", { -1 } },
		{ "99999999999", { -1 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int32_t host = 0;

		for (unsigned int k = 0; k < 8; k++) {
			host = host_list_next(rows[i].list, (uint16_t)host);
			if (host != rows[i].hosts[k])
				fail_msg("\"%s\": item %u is %d", rows[i].list, k, host);
			if (host <= 0)
				break;
		}
	}
}

static void
set_flow(struct flow_params *flow)
{
	assert_int_equal(field_defaults(flow_fields, flow_fields_n, flow), 0);
	snprintf(flow->name, sizeof(flow->name), "f");
	snprintf(flow->src, sizeof(flow->src), "1-4");
	flow->dst = 5;
}

static void
what_no_single_key_shows_is_refused_by_name(void **state)
{
	struct flow_params flow;
	struct scenario s = { .flows = &flow, .n_flows = 1 };
	struct scenario_fault fault;

	(void)state;
	assert_int_equal(field_defaults(fabric_fields, fabric_fields_n, &s.fabric), 0);

	set_flow(&flow);
	flow.dst = 6;
	assert_int_equal(scenario_resolve(&s, &fault), -EINVAL);
	assert_string_equal(fault.section, "flow f");
	assert_string_equal(fault.key, "dst");

	set_flow(&flow);
	flow.dst = 3;
	assert_int_equal(scenario_resolve(&s, &fault), -EINVAL);
	assert_string_equal(fault.key, "src");

	set_flow(&flow);
	flow.mtu_bytes = 1000;
	assert_int_equal(scenario_resolve(&s, &fault), -EINVAL);
	assert_string_equal(fault.key, "mtu_bytes");

	set_flow(&flow);
	s.fabric.link_delay_ns = NS_PER_SEC;
	s.fabric.link_rate_bps = 400 * GBPS;
	assert_int_equal(scenario_resolve(&s, &fault), -EINVAL);
	assert_string_equal(fault.key, "link_delay_ns");
	s.fabric.link_delay_ns = 1000;

	s.fabric.measure_from_ns = s.fabric.duration_ns;
	assert_int_equal(scenario_resolve(&s, &fault), -EINVAL);
	assert_string_equal(fault.section, "fabric");
	assert_string_equal(fault.key, "measure_from_ns");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_lists_come_out_sorted_and_once),
		cmocka_unit_test(what_no_single_key_shows_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
