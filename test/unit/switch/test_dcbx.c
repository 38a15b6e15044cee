/* SPDX-License-Identifier: BSD-3-Clause */
/* LLDP and DCBX of one port, to the second. */
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "switch/control/dcbx_port.h"

#define S NS_PER_SEC

static struct lldp_params params;

static struct lldp_info
end(uint8_t last, uint8_t prios, bool willing)
{
	return (struct lldp_info){
		.src_mac = {2, 0, 0, 0, 0, last},
		.chassis = {.subtype = LLDP_CHASSIS_MAC, .len = 6, .id = {2, 0, 0, 0, 0, last}},
		.port = {.subtype = LLDP_PORT_IFNAME, .len = 4, .id = "eth0"},
		.ttl_s = 121,
		.dcbx = {.present = 1u << DCBX_PFC,
			 .pfc = {.willing = willing, .capability = 8, .enable = prios}},
	};
}

static void
start(struct dcbx_port *p, uint8_t prios, bool willing)
{
	struct lldp_info local = end(5, prios, willing);

	assert_int_equal(field_defaults(lldp_fields, lldp_fields_n, &params), 0);
	dcbx_port_init(p, &local);
}

static void
hear(struct dcbx_port *p, const struct lldp_info *peer, uint64_t now_ns)
{
	uint8_t buf[LLDP_MAX_BYTES];

	dcbx_port_rx(p, &params, buf, lldp_build(buf, peer), now_ns);
}

TEST(pfc_is_in_force_where_both_agree)
{
	static const struct {
		uint8_t mine, theirs;
		bool me_willing, they_willing;
		uint8_t their_mac;
		enum dcbx_pfc_state state;
		uint8_t prios;
	} cases[] = {
		{0x08, 0x08, false, false, 9, DCBX_AGREED, 0x08},
		{0x08, 0x18, false, false, 9, DCBX_MISMATCH, 0x00},
		{0x08, 0x00, false, false, 9, DCBX_MISMATCH, 0x00},
		{0x08, 0x00, false, true, 9, DCBX_AGREED, 0x08},
		{0x18, 0x08, true, false, 9, DCBX_AGREED, 0x08},
		{0x08, 0x18, true, false, 9, DCBX_MISMATCH, 0x08},
		/* The lower address gives way: ours is 5. */
		{0x18, 0x08, true, true, 9, DCBX_AGREED, 0x08},
		{0x18, 0x08, true, true, 1, DCBX_AGREED, 0x18},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(cases); i++) {
		struct lldp_info peer =
			end(cases[i].their_mac, cases[i].theirs, cases[i].they_willing);
		struct dcbx_port p;

		start(&p, cases[i].mine, cases[i].me_willing);
		hear(&p, &peer, S);
		assert_int_equal(p.pfc_state, cases[i].state);
		assert_int_equal(p.pfc_prios, cases[i].prios);
		assert_int_equal(p.stats.pfc_mismatches, cases[i].state == DCBX_MISMATCH);
	}
}

TEST(peer_ends_with_its_time_to_live_or_when_it_says_so)
{
	struct lldp_info peer = end(9, 0x08, false);
	struct dcbx_port p;

	start(&p, 0x08, false);
	hear(&p, &peer, 10 * S);
	dcbx_port_poll(&p, 131 * S - 1);
	assert_int_equal(p.pfc_state, DCBX_AGREED);
	dcbx_port_poll(&p, 131 * S);
	assert_int_equal(p.pfc_state, DCBX_NO_NEIGHBOUR);
	assert_int_equal(p.pfc_prios, 0);
	hear(&p, &peer, 140 * S);
	peer.ttl_s = 0;
	hear(&p, &peer, 141 * S);
	assert_int_equal(p.pfc_state, DCBX_NO_NEIGHBOUR);
	assert_int_equal(p.stats.rx_ageouts, 2);
}

TEST(frames_come_every_interval_and_fast_for_a_new_neighbour)
{
	struct lldp_info peer = end(9, 0x08, false), sent;
	uint64_t at_s[16];
	uint8_t buf[LLDP_MAX_BYTES];
	unsigned int n = 0;
	struct dcbx_port p;
	size_t len = 0;

	start(&p, 0x08, false);
	for (uint64_t s = 0; s < 100; s++) {
		if (s == 40)
			hear(&p, &peer, s * S);
		if (dcbx_port_poll(&p, s * S)) {
			len = dcbx_port_tx(&p, &params, buf, s * S);
			at_s[n++] = s;
		}
	}
	assert_int_equal(n, 7);
	assert_memory_equal(at_s, ((const uint64_t[]){0, 30, 40, 41, 42, 43, 73}), 7 * 8);
	assert_int_equal(lldp_parse(buf, len, &sent), LLDP_OK);
	assert_int_equal(sent.ttl_s, 121);
}

TEST(two_neighbours_agree_on_nothing)
{
	struct lldp_info peer = end(9, 0x08, false), other = end(10, 0x08, false);
	struct dcbx_port p;

	start(&p, 0x08, false);
	hear(&p, &peer, S);
	other.ttl_s = 10;
	hear(&p, &other, S);
	assert_int_equal(p.pfc_state, DCBX_SEVERAL);
	assert_int_equal(p.pfc_prios, 0);
	dcbx_port_poll(&p, 11 * S);
	assert_int_equal(p.pfc_state, DCBX_AGREED);
}

TEST(bad_pfc_tlv_is_none)
{
	struct lldp_info peer = end(9, 0x08, false);
	uint8_t buf[LLDP_MAX_BYTES];
	struct dcbx_port p;
	size_t len;

	start(&p, 0x08, false);
	len = lldp_build(buf, &peer);
	/* The PFC TLV stands behind chassis, port and TTL; its length says one byte too many. */
	buf[14 + 9 + 7 + 4 + 1] = 7;
	buf[14 + 9 + 7 + 4 + 9] = 0;
	dcbx_port_rx(&p, &params, buf, len, S);
	assert_int_equal(p.stats.rx_bad_tlvs, 1);
	assert_int_equal(p.pfc_state, DCBX_NO_PFC_TLV);
	dcbx_port_rx(&p, &params, buf, 20, S);
	assert_int_equal(p.stats.rx_malformed, 1);
}

TEST_MAIN()
