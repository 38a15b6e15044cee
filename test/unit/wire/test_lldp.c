/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "unit/cases.h"
#include "wire/link/lldp.h"

static struct lldp_info
an_info(void)
{
	return (struct lldp_info){
		.src_mac = {2, 0, 0, 1, 0, 3},
		.chassis = {.subtype = LLDP_CHASSIS_MAC, .len = 6, .id = {2, 0, 0, 1, 0, 0}},
		.port = {.subtype = LLDP_PORT_IFNAME, .len = 5, .id = "port3"},
		.ttl_s = 120,
		.port_description = {.len = 1, .text = "3"},
		.system_name = {.len = 4, .text = "leaf"},
		.system_description = {.len = 2, .text = "sw"},
		.capabilities = LLDP_BRIDGE | LLDP_ROUTER,
		.enabled = LLDP_BRIDGE,
		.dcbx =
			{
				.present = 1u << DCBX_ETS_CONF | 1u << DCBX_ETS_RECO |
					   1u << DCBX_PFC | 1u << DCBX_APP,
				.ets_conf = {.willing = true,
					     .max_tcs = 8,
					     .prio_tc = {0, 0, 0, 3, 0, 0, 0, 7},
					     .tc_pct = {50, 0, 0, 50, 0, 0, 0, 0},
					     .tc_tsa = {2, 2, 2, 2, 2, 2, 2, 0}},
				.ets_reco = {.max_tcs = 8, .prio_tc = {0, 1, 2, 3, 4, 5, 6, 7}},
				.pfc = {.willing = true, .capability = 8, .enable = 0x08},
				.n_apps = 2,
				.apps = {{3, DCBX_UDP, 4791}, {3, DCBX_DSCP, 26}},
			},
	};
}

/* clang-format off */
/* Laid out by hand from 802.1AB clause 8 and 802.1Q annex D.2. */
static const uint8_t by_hand[] = {
	0x01, 0x80, 0xC2, 0x00, 0x00, 0x0E, 0x02, 0x00, 0x00, 0x01, 0x00, 0x03, 0x88, 0xCC,
	0x02, 0x07, 0x04, 0x02, 0x00, 0x00, 0x01, 0x00, 0x00,
	0x04, 0x06, 0x05, 'p', 'o', 'r', 't', '3',
	0x06, 0x02, 0x00, 0x78,
	0x08, 0x01, '3', 0x0A, 0x04, 'l', 'e', 'a', 'f', 0x0C, 0x02, 's', 'w',
	0x0E, 0x04, 0x00, 0x14, 0x00, 0x04,
	0xFE, 0x19, 0x00, 0x80, 0xC2, 0x09, 0x80, 0x00, 0x03, 0x00, 0x07,
	50, 0, 0, 50, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 0,
	0xFE, 0x19, 0x00, 0x80, 0xC2, 0x0A, 0x00, 0x01, 0x23, 0x45, 0x67,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0xFE, 0x06, 0x00, 0x80, 0xC2, 0x0B, 0x88, 0x08,
	0xFE, 0x0B, 0x00, 0x80, 0xC2, 0x0C, 0x00, 0x63, 0x12, 0xB7, 0x65, 0x00, 0x1A,
	0x00, 0x00,
};
/* clang-format on */

TEST(frame_is_the_one_laid_out_by_hand)
{
	struct lldp_info info = an_info();
	uint8_t buf[LLDP_MAX_BYTES];

	assert_int_equal(lldp_build(buf, &info), sizeof(by_hand));
	assert_memory_equal(buf, by_hand, sizeof(by_hand));
}

TEST(what_was_built_is_read_back)
{
	struct lldp_info in = an_info(), out;

	assert_int_equal(lldp_parse(by_hand, sizeof(by_hand), &out), LLDP_OK);
	assert_memory_equal(&in, &out, sizeof(in));
}

/* 802.1AB 7.1: the nearest bridge's address is not those of the other agents. */
TEST(frame_to_another_agent_is_none_of_ours)
{
	static const uint8_t others[] = {0x00, 0x03};
	uint8_t buf[sizeof(by_hand)];
	struct lldp_info out;

	memcpy(buf, by_hand, sizeof(buf));
	for (unsigned int i = 0; i < sizeof(others); i++) {
		buf[5] = others[i];
		assert_int_equal(lldp_parse(buf, sizeof(buf), &out), LLDP_NOT);
	}
}

/* The longest frame that can be built fits, and its texts are cut. */
TEST(a_full_frame_is_built_and_read_back)
{
	uint8_t buf[LLDP_MAX_BYTES], text[300];
	struct lldp_info in, out;

	/* Its padding, too, which compilers need not copy. */
	memset(&in, 0, sizeof(in));
	assert_int_equal(lldp_parse(by_hand, sizeof(by_hand), &in), LLDP_OK);
	memset(text, 'x', sizeof(text));
	memcpy(in.chassis.id, text, 64);
	memcpy(in.port.id, text, 64);
	in.chassis.len = in.port.len = 64;
	lldp_set_text(&in.port_description, text, sizeof(text));
	lldp_set_text(&in.system_name, text, sizeof(text));
	lldp_set_text(&in.system_description, text, LLDP_TEXT_BYTES + 1);
	assert_int_equal(in.system_description.len, LLDP_TEXT_BYTES);
	for (in.dcbx.n_apps = 0; in.dcbx.n_apps < DCBX_MAX_APPS; in.dcbx.n_apps++)
		in.dcbx.apps[in.dcbx.n_apps] = (struct dcbx_app){3, DCBX_DSCP, in.dcbx.n_apps};
	assert_int_equal(lldp_parse(buf, lldp_build(buf, &in), &out), LLDP_OK);
	assert_memory_equal(&in, &out, sizeof(in));
}

TEST(frame_without_dcbx_is_padded_and_says_nothing_of_it)
{
	struct lldp_info in = an_info(), out;
	uint8_t buf[LLDP_MAX_BYTES];

	in.dcbx = (struct dcbx_tlvs){0};
	in.port_description.len = in.system_name.len = in.system_description.len = 0;
	in.capabilities = 0;
	assert_int_equal(lldp_build(buf, &in), 60);
	assert_int_equal(lldp_parse(buf, 60, &out), LLDP_OK);
	assert_int_equal(out.dcbx.present | out.dcbx.bad, 0);
}

/* Each prefix: none is read beyond its end (the sanitizers look), and none but the whole is taken
 * for more than it is. */
TEST(cut_frames_are_malformed_or_end_between_tlvs)
{
	struct lldp_info out;
	unsigned int whole = 0;

	for (size_t n = 0; n < sizeof(by_hand); n++) {
		uint8_t copy[sizeof(by_hand)];

		memcpy(copy, by_hand, n);
		whole += lldp_parse(copy, n, &out) == LLDP_OK;
	}
	/* After TTL and each of the eight others. */
	assert_int_equal(whole, 9);
}

TEST(mandatory_tlvs_come_once_and_in_order)
{
	uint8_t buf[sizeof(by_hand)];
	struct lldp_info out;

	memcpy(buf, by_hand, sizeof(buf));
	buf[14] = 0x04; /* port in the place of chassis */
	assert_int_equal(lldp_parse(buf, sizeof(buf), &out), LLDP_MALFORMED);
	memcpy(buf, by_hand, sizeof(buf));
	buf[35] = 0x02; /* a second chassis */
	assert_int_equal(lldp_parse(buf, sizeof(buf), &out), LLDP_MALFORMED);
	memcpy(buf, by_hand, sizeof(buf));
	buf[5] = 0x01; /* another address */
	assert_int_equal(lldp_parse(buf, sizeof(buf), &out), LLDP_NOT);
}

TEST(kind_that_is_twice_or_malformed_is_not_used)
{
	static const uint8_t pfc[] = {DCBX_PFC, 0x08, 0x08}, longer[] = {DCBX_ETS_CONF, 0, 0};
	static const uint8_t app[] = {DCBX_APP, 0, 0x63, 0x12};
	struct dcbx_tlvs t = {0};

	dcbx_parse(&t, pfc, sizeof(pfc));
	assert_true(dcbx_has(&t, DCBX_PFC));
	dcbx_parse(&t, pfc, sizeof(pfc));
	dcbx_parse(&t, longer, sizeof(longer));
	dcbx_parse(&t, app, sizeof(app));
	assert_int_equal(t.present, 0);
	assert_int_equal(t.bad, 1u << DCBX_PFC | 1u << DCBX_ETS_CONF | 1u << DCBX_APP);
	dcbx_parse(&t, pfc, 0);
	assert_int_equal(t.bad, 1u << DCBX_PFC | 1u << DCBX_ETS_CONF | 1u << DCBX_APP);
}

TEST_MAIN()
