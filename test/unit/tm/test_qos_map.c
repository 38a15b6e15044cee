/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <errno.h>

#include "base/numbers/array.h"
#include "unit/cases.h"
#include "unit/refused.h"
#include "tm/classes/qos_map.h"

static struct qos_map_params
defaults(void)
{
	struct qos_map_params p;

	memset(&p, 0, sizeof(p));
	assert_int_equal(field_defaults(qos_map_fields, qos_map_fields_n, &p), 0);
	return p;
}

TEST(default_maps_know_roce_and_cnp)
{
	static const struct {
		int dscp, pcp;
		uint8_t tc, queue, pg;
	} rows[] = {
		{26, -1, 3, 3, 3}, {24, -1, 3, 3, 3}, {48, -1, 7, 7, 7}, {0, -1, 0, 0, 0},
		{46, -1, 0, 0, 0}, {63, -1, 0, 0, 0}, {3, -1, 0, 0, 0},  {26, 0, 3, 3, 3},
		{0, 3, 0, 0, 0}, /* an IP header outranks the tag */
		{-1, 3, 3, 3, 3},  {-1, 6, 7, 7, 7},  {-1, 7, 7, 7, 7},  {-1, 5, 0, 0, 0},
		{-1, -1, 0, 0, 0},
	};
	struct qos_map_params p = defaults();
	char why[256] = "";

	assert_int_equal(qos_map_params_check(&p, why, sizeof(why)), 0);
	assert_string_equal(why, "");
	assert_int_equal(p.pfc_enable, 1 << 3);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct qos_class c = qos_map_classify(&p, rows[i].dscp, rows[i].pcp);

		assert_int_equal(c.tc, rows[i].tc);
		assert_int_equal(c.queue, rows[i].queue);
		assert_int_equal(c.pg, rows[i].pg);
	}
}

TEST(trust_pcp_does_not_believe_the_dscp)
{
	struct qos_map_params p = defaults();

	p.trust = QOS_TRUST_PCP;
	assert_int_equal(qos_map_classify(&p, 26, 0).tc, 0);
	assert_int_equal(qos_map_classify(&p, 0, 3).tc, 3);
	assert_int_equal(qos_map_classify(&p, 26, -1).tc, 0);
	assert_int_equal(qos_map_classify(&p, -1, 7).tc, 7);
}

TEST(class_group_and_queue_are_three_numbers)
{
	struct qos_map_params p = defaults();
	struct qos_class c;
	char why[256];

	p.dscp_to_tc_map[10] = 5;
	p.tc_to_queue_map[5] = 2;
	p.tc_to_priority_group_map[5] = 4;
	p.pfc_priority_to_queue_map[4] = 2;
	p.pfc_enable = 1 << 3 | 1 << 4;
	assert_int_equal(qos_map_params_check(&p, why, sizeof(why)), 0);
	c = qos_map_classify(&p, 10, -1);
	assert_int_equal(c.tc, 5);
	assert_int_equal(c.queue, 2);
	assert_int_equal(c.pg, 4);
	assert_int_equal(qos_map_lossless_queues(&p), 1 << 3 | 1 << 2);
	assert_int_equal(qos_map_paused_queues(&p, 0), 0);
	assert_int_equal(qos_map_paused_queues(&p, 1 << 4), 1 << 2);
	assert_int_equal(qos_map_paused_queues(&p, 1 << 4 | 1 << 3), 1 << 2 | 1 << 3);
	assert_int_equal(qos_map_paused_queues(&p, 0xff), 0xff & ~(1 << 4));
}

TEST(a_pause_that_would_stop_another_queue_is_refused)
{
	struct qos_map_params p = defaults();
	char why[256];

	p.pfc_priority_to_queue_map[3] = 4;
	assert_refused(qos_map_params_check, &p, "pfc_priority_to_queue_map");
	p.tc_to_queue_map[3] = 4;
	assert_int_equal(qos_map_params_check(&p, why, sizeof(why)), 0);
}

TEST(a_lossless_priority_without_a_class_is_refused)
{
	struct qos_map_params p = defaults();
	char why[256];

	p.pfc_enable = 1 << 3 | 1 << 4;
	assert_refused(qos_map_params_check, &p, "pfc_enable");
	p.tc_to_priority_group_map[4] = 4;
	assert_int_equal(qos_map_params_check(&p, why, sizeof(why)), 0);
	p.pfc_enable = 0;
	assert_int_equal(qos_map_params_check(&p, why, sizeof(why)), 0);
}

TEST(values_out_of_range_are_named)
{
	struct qos_map_params p = defaults();

	p.dscp_to_tc_map[63] = 8;
	assert_refused(qos_map_params_check, &p, "dscp_to_tc_map");
	p = defaults();
	p.tc_to_priority_group_map[0] = 9;
	assert_refused(qos_map_params_check, &p, "tc_to_priority_group_map");
	p = defaults();
	p.trust = 2;
	assert_refused(qos_map_params_check, &p, "trust");
}

TEST_MAIN()
