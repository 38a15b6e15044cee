#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""import mlnx: settings of an adapter, by all names that they have."""
import unittest

from case import Case


class Mlx5(Case):
    DIALECT, PROGRAM = "mlnx", "quench-nic"

    def test_a_listing_of_mlxconfig_becomes_a_reaction_point(self):
        self.taken(self.fixture("mlnx-mlxconfig.txt"), 2)
        self.lost("NUM_OF_VFS 8")
        self.lost("RPG_AI_RATE_P2 20: value of another port")
        self.noted("np_cnp_moderation = qp is assumed")
        self.keys("rp", rp_profile="mlx", rp_threshold="5", rp_ai_rate_bps="10M", rp_byte_reset_bytes=f"{32767 * 64}B", rp_dce_tcp_g="1019",
                  rp_clamp_tgt_rate_ati="on", rp_clamp_tgt_rate="off", rp_max_rate_bps="200G")
        self.keys("nic", link_speed_bps="200G", cc="dcqcn")
        self.keys("np", np_cnp_dscp="46", np_min_time_between_cnps_us="4us")

    def test_names_of_sysfs_and_debugfs_are_known(self):
        self.taken(self.fixture("mlnx-sysfs.txt"), 0)
        self.keys("rp", rp_ai_rate_bps="40M", rp_byte_reset_bytes="9600B", rp_min_rate_bps="10M", rp_time_reset_us="300us")
        self.keys("np", np_min_time_between_cnps_us="50us")
        self.taken("rpg_ai_rate = 7\nrp_hai_rate 70\n", 0)
        self.keys("rp", rp_ai_rate_bps="7M", rp_hai_rate_bps="70M")

    def test_of_three_columns_the_current_one_counts(self):
        self.taken("Configurations:   Default  Current  Next Boot\n* RPG_AI_RATE_P1 5 9 11\n", 0)
        self.keys("rp", rp_ai_rate_bps="9M")
        self.noted("the current value is used")

    def test_what_mlxconfig_prints_beside_its_settings(self):
        self.taken("Device #1:\n----------\n\nDevice type:    ConnectX6DX\n\nConfigurations:   Default  Current  Next Boot\n"
                   "*       RPG_AI_RATE_P1       5   9   9\nRO      RPG_HAI_RATE_P1  50 50 50\nRO      MAX_ACC_OUT_READ     44 44 44\n"
                   "*  RO   RPG_GD_P1  11  11  11\n        RPG_THRESHOLD_P1     N/A N/A N/A\n        SOME_SETTING N/A\n"
                   "The '*' shows parameters with next value different from default/current value.\n\n"
                   "The 'RO' shows parameters which are for read only and cannot be changed\n", 0)
        self.keys("rp", rp_ai_rate_bps="9M", rp_hai_rate_bps="50M", rp_threshold="1", rp_gd="11")
        self.assertEqual(self.log.aside_text(), "RO, N/A (2)")

    def test_control_is_on_for_all_priorities_or_none(self):
        self.taken("ROCE_CC_PRIO_MASK_P1 0\n", 0)
        self.keys("nic", cc="none")
        self.taken("ROCE_CC_PRIO_MASK_P1 8\n", 1)
        self.lost("1: enabled for priorities 0x08")
        self.taken("ecn/roce_rp/enable/0:0\necn/roce_rp/enable/3:1\n", 1)
        self.keys("nic", cc="dcqcn")
        self.taken("ecn/roce_rp/enable/0:0\necn/roce_rp/enable/3:0\n", 0)
        self.keys("nic", cc="none")

    def test_cnps_are_limited_by_what_the_adapter_says(self):
        self.taken("ROCE_CC_CNP_MODERATION_P1 PER_IP(2)\n", 0)
        self.keys("np", np_cnp_moderation="ip_pair")
        self.taken("ROCE_CC_CNP_MODERATION_P1 PER_PORT(3)\nnp_cnp_prio_mode:1\n", 1)
        self.keys("np", np_cnp_moderation="port")

    def test_a_second_device_stays_behind(self):
        self.taken("Device #1:\nRPG_AI_RATE_P1 5\nDevice #2:\nRPG_AI_RATE_P1 6\n", 1)
        self.keys("rp", rp_ai_rate_bps="5M")
        self.lost("4: RPG_AI_RATE_P1 6: belongs to a second device")

    def test_what_is_no_setting_is_refused_or_named(self):
        for text, words in (
                ("", "expected a listing of mlxconfig query"), ('{ "PORT": {} }\n', "expected a listing of mlxconfig query"), ("a\0b", "a zero byte"),
                ("rp_ai_rate_bps = 5M\n", "expected a listing of mlxconfig query"),  # ours
                ("rpg_ai_rate = 5M\n", "in:1: rpg_ai_rate = 5M: expected a rate"), ("rpg_ai_rate\n", "in:1: rpg_ai_rate: expected a rate"),
                ("# x\nCNP_DSCP_P1 64\n", "in:2: CNP_DSCP_P1 64: expected a whole number from 0 to 63"), ("RPG_THRESHOLD_P1 32\n", "from 0 to 31"),
                ("DCE_TCP_G_P1 -1\n", "expected parts of 1024"), ("DCE_TCP_RTT_P1 0\n", "expected a time in whole us from 1us"),
                ("ROCE_CC_PRIO_MASK_P1 256\n", "from 0 to 255"), ("ecn/roce_rp/enable/0:2\n", "from 0 to 1"),
                ("RPG_MIN_RATE_P1 400000\n", "rp_min_rate_bps"), ("RPG_MAX_RATE_P1 900000\n", "expected a rate")):
            with self.subTest(text=text):
                self.refused(text, words)
        self.taken("rpg_ai_rate:5\nT 55\nrpg_ai_rate 1 2 3 4 5\n", 2)
        self.lost("2: T 55: not a DCQCN setting")
        self.lost("expected a name and a value")


if __name__ == "__main__":
    unittest.main()
