/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/import/import_test.h"

#include "base/numbers/array.h"
#include "base/numbers/units.h"

static struct nic_config nic;

static int
take_nic(const char *text, size_t size, struct import_switch *unused, struct import_log *log)
{
	(void)unused;
	nic_config_free(&nic);
	memset(&nic, 0, sizeof(nic));
	return import_mlnx(text, size, &nic, log);
}

TEST(a_listing_of_mlxconfig_becomes_a_reaction_point)
{
	const struct rp_params *rp = &nic.nic.rp;

	taken(take_nic, fixture("mlnx-mlxconfig.txt"), 2);
	lost("NUM_OF_VFS 8");
	lost("RPG_AI_RATE_P2 20: value of another port");
	noted("np_cnp_moderation = qp is assumed");
	assert_int_equal(rp->rp_profile, RP_PROFILE_MLX);
	assert_int_equal(rp->rp_threshold, 5); /* the other profile's default */
	assert_int_equal(rp->rp_ai_rate_bps, 10 * MBPS);
	assert_int_equal(rp->rp_byte_reset_bytes, 32767 * 64);
	assert_int_equal(rp->rp_dce_tcp_g, 1019);
	assert_true(rp->rp_clamp_tgt_rate_ati);
	assert_false(rp->rp_clamp_tgt_rate);
	assert_int_equal(rp->rp_max_rate_bps, 200 * GBPS);
	assert_int_equal(nic.nic.link_speed_bps, 200 * GBPS);
	assert_int_equal(nic.nic.np.np_cnp_dscp, 46);
	assert_int_equal(nic.nic.np.np_min_time_between_cnps_us, 4);
	assert_int_equal(nic.nic.cc, CC_DCQCN);
}

TEST(names_of_sysfs_and_debugfs_are_known)
{
	taken(take_nic, fixture("mlnx-sysfs.txt"), 0);
	assert_int_equal(nic.nic.rp.rp_ai_rate_bps, 40 * MBPS);
	assert_int_equal(nic.nic.rp.rp_byte_reset_bytes, 9600);
	assert_int_equal(nic.nic.rp.rp_min_rate_bps, 10 * MBPS);
	assert_int_equal(nic.nic.rp.rp_time_reset_us, 300);
	assert_int_equal(nic.nic.np.np_min_time_between_cnps_us, 50);
	taken(take_nic, "rpg_ai_rate = 7\nrp_hai_rate 70\n", 0);
	assert_int_equal(nic.nic.rp.rp_ai_rate_bps, 7 * MBPS);
	assert_int_equal(nic.nic.rp.rp_hai_rate_bps, 70 * MBPS);
}

TEST(of_three_columns_the_current_one_counts)
{
	taken(take_nic, "Configurations:   Default  Current  Next Boot\n* RPG_AI_RATE_P1 5 9 11\n",
	      0);
	assert_int_equal(nic.nic.rp.rp_ai_rate_bps, 9 * MBPS);
	noted("the current value is used");
}

TEST(control_is_on_for_all_priorities_or_none)
{
	taken(take_nic, "ROCE_CC_PRIO_MASK_P1 0\n", 0);
	assert_int_equal(nic.nic.cc, CC_NONE);
	taken(take_nic, "ROCE_CC_PRIO_MASK_P1 8\n", 1);
	lost("1: enabled for priorities 0x08");
	taken(take_nic, "ecn/roce_rp/enable/0:0\necn/roce_rp/enable/3:1\n", 1);
	assert_int_equal(nic.nic.cc, CC_DCQCN);
	taken(take_nic, "ecn/roce_rp/enable/0:0\necn/roce_rp/enable/3:0\n", 0);
	assert_int_equal(nic.nic.cc, CC_NONE);
}

TEST(cnps_are_limited_by_what_the_adapter_says)
{
	taken(take_nic, "ROCE_CC_CNP_MODERATION_P1 PER_IP(2)\n", 0);
	assert_int_equal(nic.nic.np.np_cnp_moderation, NP_PER_IP_PAIR);
	taken(take_nic, "ROCE_CC_CNP_MODERATION_P1 PER_PORT(3)\nnp_cnp_prio_mode:1\n", 1);
	assert_int_equal(nic.nic.np.np_cnp_moderation, NP_PER_PORT);
}

TEST(a_second_device_stays_behind)
{
	taken(take_nic, "Device #1:\nRPG_AI_RATE_P1 5\nDevice #2:\nRPG_AI_RATE_P1 6\n", 1);
	assert_int_equal(nic.nic.rp.rp_ai_rate_bps, 5 * MBPS);
	lost("4: RPG_AI_RATE_P1 6: belongs to a second device");
}

TEST(what_is_no_setting_is_refused_or_named)
{
	static const struct refusal table[] = {
		{"", "expected a listing of mlxconfig query"},
		{"{ \"PORT\": {} }\n", "expected a listing of mlxconfig query"},
		{"rp_ai_rate_bps = 5M\n", "expected a listing of mlxconfig query"}, /* ours */
		{"rpg_ai_rate = 5M\n", "in:1: rpg_ai_rate = 5M: expected a rate"},
		{"rpg_ai_rate\n", "in:1: rpg_ai_rate: expected a rate"},
		{"# x\nCNP_DSCP_P1 64\n",
		 "in:2: CNP_DSCP_P1 64: expected a whole number from 0 to 63"},
		{"RPG_THRESHOLD_P1 32\n", "from 0 to 31"},
		{"DCE_TCP_G_P1 -1\n", "expected parts of 1024"},
		{"DCE_TCP_RTT_P1 0\n", "expected a time in whole us from 1us"},
		{"ROCE_CC_PRIO_MASK_P1 256\n", "from 0 to 255"},
		{"ecn/roce_rp/enable/0:2\n", "from 0 to 1"},
		{"RPG_MIN_RATE_P1 400000\n", "rp_min_rate_bps"},
	};

	refused_each(take_nic, table, ARRAY_LEN(table));
	assert_true(import_mlnx("a\0b", 3, &nic, &log_of) != 0);
	taken(take_nic, "rpg_ai_rate:5\nT 55\nrpg_ai_rate 1 2 3 4 5\n", 2);
	lost("2: T 55: not a DCQCN setting");
	lost("expected a name and a value");
	nic_config_free(&nic);
	import_log_free(&log_of);
}

TEST_MAIN()
