/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "ctl/config/config_compare.h"
#include "unit/config_text.h"
#include "ctl/nic_config/nic_config.h"

#define NIC "[nic]\nip = 10.0.0.1\n"
#define FRAME "header = 00112233445566778899aabbccdd\n"
#define STREAM "[frames a]\n" FRAME "rate_bps = 1G\n"
#define PEER "peer_mac = 02:00:00:00:00:02\npeer_ip = 10.0.0.2\n"

/* As a program does: read, then refuse the rest. */
static int
read_text(const char *text, struct nic_config *c, struct config_error *err)
{
	struct config *cfg = open_text(text);
	int rc = nic_config_read(cfg, NULL, c, err);

	if (rc == 0 && (rc = config_finish(cfg, err)) != 0)
		nic_config_free(c);
	config_close(cfg);
	return rc;
}

static void
read_good(const char *text, struct nic_config *c)
{
	struct config_error err = {"no error"};

	if (read_text(text, c, &err) != 0)
		fail_msg("%s", err.text);
}

TEST(an_address_is_all_that_must_be_said)
{
	struct nic_config c;

	read_good(NIC, &c);
	assert_int_equal(c.n_flows, 0);
	assert_int_equal(c.nic.ip.version, 4);
	assert_int_equal(c.nic.data_dscp, 26);
	assert_int_equal(c.nic.rp.rp_profile, RP_PROFILE_PAPER);
	assert_int_equal(c.nic.rp.rp_ai_rate_bps, 40 * MBPS);
	assert_int_equal(c.nic.np.np_min_time_between_cnps_us, 50);
	assert_int_equal(c.nic.qos.pfc_enable, 1 << 3);
	nic_config_free(&c);
}

TEST(keys_of_one_device_are_refused_where_a_program_has_many)
{
	static const char *const lines[] = {
		"mac = 02:00:00:00:00:09", "ip = 10.0.0.9",  "ipv4 = 10.0.0.9",
		"link_speed_bps = 1G",     "first_qpn = 99", "max_qps = 2",
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct config_error err;
		struct nic_params p;
		struct config *cfg;
		char text[64], expected[160];

		snprintf(text, sizeof(text), "[nic]\n%s\n", lines[i]);
		snprintf(expected, sizeof(expected),
			 "x.ini:2: [nic] %s: expected no such key here: each NIC has a value of "
			 "its own",
			 lines[i]);
		cfg = open_text(text);
		assert_int_equal(nic_config_read_common(cfg, &p, &err), -EINVAL);
		assert_string_equal(err.text, expected);
		config_close(cfg);
	}
}

TEST(the_profile_sets_defaults_wherever_its_key_stands)
{
	struct rp_params mlx;
	struct nic_config c;

	rp_params_default(&mlx, RP_PROFILE_MLX);
	read_good(NIC "[rp]\nrp_ai_rate_bps = 7M\ng = 1/128\nrp_profile = mlx\n", &c);
	assert_int_equal(c.nic.rp.rp_profile, RP_PROFILE_MLX);
	assert_int_equal(c.nic.rp.rp_ai_rate_bps, 7 * MBPS);
	assert_int_equal(c.nic.rp.rp_dce_tcp_g, 1016);
	assert_int_equal(c.nic.rp.rp_hai_rate_bps, mlx.rp_hai_rate_bps);
	assert_int_equal(c.nic.rp.rp_time_reset_us, mlx.rp_time_reset_us);
	assert_int_equal(c.nic.rp.rp_min_rate_bps, mlx.rp_min_rate_bps);
	nic_config_free(&c);
}

TEST(alpha_timer_at_or_below_the_interval_of_cnps_is_doubted)
{
	static const struct {
		const char *keys, *doubt; /* NULL: none */
	} rows[] = {
		{"", NULL},
		{"[rp]\nK = 51us\n", NULL},
		{"[rp]\nK = 50us\n",
		 "x.ini:4: [rp] K = 50us: expected more than the 50 us of N in [np]"},
		{"[np]\nN = 54us\n", NULL},
		{"[np]\nN = 55us\n",
		 "x.ini:4: [np] N = 55us: expected less than the 55 us of K in [rp]"},
		{"[rp]\nK = 50us\nrp_profile = mlx\n", NULL},
		{"cc = dctcp\n[rp]\nK = 50us\n", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct config_error err = {"no error"};
		struct nic_config c;
		struct config *cfg;
		char text[128];

		snprintf(text, sizeof(text), NIC "%s", rows[i].keys);
		cfg = open_text(text);
		if (nic_config_read(cfg, NULL, &c, &err) != 0)
			fail_msg("%s", err.text);
		assert_int_equal(nic_config_doubt_cc(cfg, &c.nic, &err), rows[i].doubt != NULL);
		if (rows[i].doubt != NULL)
			assert_memory_equal(err.text, rows[i].doubt, strlen(rows[i].doubt));
		nic_config_free(&c);
		config_close(cfg);
	}
}

/* The files of message sizes that are shipped, as flows of a file beside them. */
TEST(shipped_distributions_are_read_and_have_their_means)
{
	static const struct {
		const char *file;
		uint64_t least, most; /* of the mean, bytes */
	} rows[] = {
		{"websearch", 1711250, 1711252},
		{"hadoop", 120419, 120422},
		{"alistorage", 40868, 40871},
		{"%s/storage.cdf", 1250000, 1300000},
	};
	const char *dir = getenv("QUENCH_CONFIG_DIR");

	if (!dir) {
		print_message("QUENCH_CONFIG_DIR is not set: no flow size distributions\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct nic_config c;
		char path[256], text[1024];

		snprintf(path, sizeof(path), rows[i].file, dir);
		snprintf(text, sizeof(text),
			 NIC "[flow a]\n" PEER "message_size = cdf\nmessage_cdf = %s\n", path);
		read_good(text, &c);
		assert_non_null(c.flows[0].qp.cdf);
		assert_in_range(c.flows[0].qp.cdf->mean_bytes_q32 >> 32, rows[i].least,
				rows[i].most);
		nic_config_free(&c);
	}
}

/* A key of the algorithm in force, as a number. */
static uint64_t
cc_key(const struct nic_config *c, const char *name)
{
	const struct cc_ops *ops = cc_algorithms[c->nic.cc];
	const struct field_alias *alias;
	const struct field *field = field_find(ops->fields, *ops->n_fields, name, &alias);

	return field_number(field, &c->nic.cc_params.of[CC_SLOT(c->nic.cc)]);
}

TEST(each_algorithm_has_its_word_and_section)
{
	struct nic_config c;

	read_good(NIC, &c);
	assert_int_equal(c.nic.cc, CC_DCQCN);
	nic_config_free(&c);
	for (int i = CC_NONE; i < CC_ALGORITHMS; i++) {
		char text[512];

		snprintf(text, sizeof(text), NIC "ack_every = 1\ncc = %s\n", cc_words[i]);
		read_good(text, &c);
		assert_int_equal(c.nic.cc, i);
		nic_config_free(&c);
	}
	read_good(NIC "cc = dctcp\n", &c);
	assert_int_equal(cc_key(&c, "dctcp_g"), 64);
	nic_config_free(&c);
	read_good(NIC "cc = dctcp\n[dctcp]\ng = 1/8\nalpha0 = 0.5\n", &c);
	assert_int_equal(c.nic.cc, CC_DCTCP);
	assert_int_equal(cc_key(&c, "dctcp_g"), 128);
	assert_int_equal(cc_key(&c, "dctcp_initial_alpha"), 512);
	nic_config_free(&c);
	read_good(NIC "cc = timely\n[timely]\nT_low = 20us\nbeta = 0.25\ndelta = 5M\n", &c);
	assert_int_equal(c.nic.cc, CC_TIMELY);
	assert_int_equal(cc_key(&c, "timely_t_low_ns"), 20000);
	assert_int_equal(cc_key(&c, "timely_beta_ppm"), 250000);
	assert_int_equal(cc_key(&c, "timely_ai_rate_bps"), 5 * MBPS);
	nic_config_free(&c);
}

/* Vendors and papers weigh alpha the other way round: the file that is printed says how ours
 * goes. */
TEST(formula_of_alpha_is_printed_with_its_numbers)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{NIC, "a = rp_dce_tcp_g / 1024 = 1020/1024"},
		{NIC, "every 55 us without a CNP: alpha = a alpha"},
		{NIC "[rp]\nrp_profile = mlx\n", "a = rp_dce_tcp_g / 1024 = 1019/1024"},
		{NIC "[rp]\nrp_profile = mlx\n",
		 "every such slot with one: alpha = a alpha + (1 - a)"},
		{NIC "[rp]\nrpg_gd = 10\n", "rate (1 - alpha x 1024 / 2^10)"},
		{NIC, "rp_max_rate_bps in force: 100000000000 bit/s"},
		{NIC "[rp]\nrpg_max_rate = 40000\n", "rp_max_rate_bps in force: 40000000000 bit/s"},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct nic_config c;
		char *text = NULL;
		size_t n = 0;
		FILE *out = open_memstream(&text, &n);

		assert_non_null(out);
		read_good(rows[i].text, &c);
		nic_config_print(out, &c);
		fclose(out);
		assert_non_null(strstr(text, rows[i].want));
		free(text);
		nic_config_free(&c);
	}
}

static char *
printed(const struct nic_config *c)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	nic_config_print(f, c);
	fclose(f);
	return text;
}

/* As their users know them: names of sysfs and debugfs, and values that these would show. */
TEST(knobs_are_printed_under_the_names_of_mlx5_and_of_the_paper)
{
	static const char *const wants[] = {
		"# clamp_tgt_rate = off\n",
		"# clamp_tgt_rate_after_time_inc = on\n",
		"# T = 300, rpg_time_reset = 300, rp_time_reset = 300\n",
		"# B = 2097088, rpg_byte_reset = 32767, rp_byte_reset = 32767\n",
		"# F = 1, rpg_threshold = 1\n",
		"# rpg_max_rate = 0, rp_max_rate = 0\n",
		"# R_AI = 5, rpg_ai_rate = 5, rp_ai_rate = 5\n",
		"# R_HAI = 50, rpg_hai_rate = 50, rp_hai_rate = 50\n",
		"# rpg_gd = 11\n",
		"# rpg_min_dec_fac = 50, rp_min_dec_fac = 50\n",
		"# rpg_min_rate = 1, rp_min_rate = 1\n",
		"# rate_to_set_on_first_cnp = 0, rp_rate_to_set_on_first_cnp = 0\n",
		"# dce_tcp_g = 1019, g = 5/1024\n",
		"# K = 1, dce_tcp_rtt = 1, rp_dce_tcp_rtt = 1\n",
		"# rate_reduce_monitor_period = 4, rp_rate_reduce_monitor_period = 4\n",
		"# initial_alpha_value = 1023, alpha0 = 0.9990234375\n",
		"# N = 50, min_time_between_cnps = 50, np_min_time_between_cnps = 50\n",
		"# cnp_dscp = 48\n",
		"# cnp_802p_prio = 6, np_cnp_802p_prio = 6\n",
	};
	struct nic_config c;
	char *text;

	read_good(NIC "[rp]\nrp_profile = mlx\n", &c);
	text = printed(&c);
	for (unsigned int i = 0; i < ARRAY_LEN(wants); i++) {
		if (strstr(text, wants[i]) == NULL)
			fail_msg("not printed: %s", wants[i]);
	}
	free(text);
	nic_config_free(&c);
}

static void
expect_aliases_read_back(const struct field *fields, unsigned int n, const void *object,
			 size_t size)
{
	for (unsigned int i = 0; i < n; i++) {
		for (int a = 0; a < FIELD_ALIASES && fields[i].aliases[a].name != NULL; a++) {
			char text[FIELD_TEXT_SIZE], copy[512];

			assert_true(size <= sizeof(copy));
			memset(copy, 0xA5, sizeof(copy));
			field_format_alias(&fields[i], &fields[i].aliases[a], object, text,
					   sizeof(text));
			memcpy(copy, object, size);
			memset(copy + fields[i].offset, 0, 1);
			assert_int_equal(
				field_parse(&fields[i], &fields[i].aliases[a], text, copy, NULL, 0),
				0);
			assert_memory_equal(copy, object, size);
		}
	}
}

TEST(values_under_other_names_read_back_to_the_same)
{
	struct nic_config c;

	read_good(NIC "[rp]\nrp_ai_rate_bps = 1234567\nrp_byte_reset_bytes = 100001\ng = 7\n"
		      "[dctcp]\ng = 1/8\n",
		  &c);
	expect_aliases_read_back(rp_fields, rp_fields_n, &c.nic.rp, sizeof(c.nic.rp));
	expect_aliases_read_back(np_fields, np_fields_n, &c.nic.np, sizeof(c.nic.np));
	for (int i = CC_NONE + 1; i < CC_ALGORITHMS; i++)
		expect_aliases_read_back(cc_algorithms[i]->fields, *cc_algorithms[i]->n_fields,
					 &c.nic.cc_params.of[CC_SLOT(i)], sizeof(union cc_keys));
	nic_config_free(&c);
}

TEST(flows_come_in_file_order_with_their_qps)
{
	struct nic_config c;
	struct nic_qp_params qp;

	read_good(NIC "[flow z]\n" PEER "qp_count = 3\npeer_qpn = 100\nmtu_bytes = 4096\n"
		      "[flow a b]\n" PEER
		      "requester = off\ntagged = on\nvlan_id = 5\nvlan_pcp = 3\n"
		      "start_ns = 1ms\nstop_ns = 2s\nrate_cap_bps = 5G\ndepth = 4\nmessages = 9\n"
		      "message_bytes = 64KiB\ninitial_psn = 0xfffffe\n",
		  &c);
	assert_int_equal(c.n_flows, 2);
	assert_string_equal(c.flows[0].name, "z");
	assert_string_equal(c.flows[1].name, "a b");
	qp = nic_flow_qp(&c.flows[0], 2);
	assert_int_equal(qp.peer_qpn, 102);
	assert_int_equal(qp.peer_mac[5], 2);
	assert_int_equal(qp.peer_ip.addr[3], 2);
	assert_int_equal(qp.mtu_bytes, 4096);
	assert_true(qp.requester);
	assert_false(qp.tagged);
	assert_int_equal(qp.stop_ns, NEVER_NS);
	qp = nic_flow_qp(&c.flows[1], 0);
	assert_int_equal(qp.peer_qpn, 17); /* first_qpn of a peer by default */
	assert_false(qp.requester);
	assert_true(qp.tagged);
	assert_int_equal(qp.vlan_tci, 3 << 13 | 5);
	assert_int_equal(qp.start_ns, NS_PER_MS);
	assert_int_equal(qp.stop_ns, 2 * NS_PER_SEC);
	assert_int_equal(qp.rate_cap_bps, 5 * GBPS);
	assert_int_equal(qp.depth, 4);
	assert_int_equal(qp.messages, 9);
	assert_int_equal(qp.message_bytes, 65536);
	assert_int_equal(qp.initial_psn, 0xfffffe);
	nic_config_free(&c);
}

/* The line must begin so; the rest is the clause of the module that owns the rule. */
TEST(a_wrong_nic_is_refused_with_section_key_and_value)
{
	static const struct {
		const char *text;
		const char *error;
	} rows[] = {
		{"", "x.ini: [nic] ip = none: "},
		{"[nic]\nip4 = 10.0.0.1\n", "x.ini: [nic] ip4 = 10.0.0.1: expected a known key"},
		{NIC "[flow a]\npeer_mc = 02:00:00:00:00:02\npeer_ip = 10.0.0.2\n",
		 "x.ini: [flow a] peer_mc = 02:00:00:00:00:02: expected a known key, such as "
		 "peer_mac"},
		{"[nic]\nip = fd00::1\n",
		 "x.ini: [nic] ip = fd00::1: expected an IPv4 address such as 10.0.0.1, or none"},
		{"[nic]\nip6 = 10.0.0.1\n",
		 "x.ini: [nic] ip6 = 10.0.0.1: expected an IPv6 address such as fd00::1, or none"},
		{"[nic]\nip = 10.0.0.1\nmac = 01:00:00:00:00:00\n",
		 "x.ini: [nic] mac = 01:00:00:00:00:00: "},
		{NIC "initial_rate = value\n", "x.ini: [nic] initial_rate"},
		{NIC "[flow a]\npeer_ip = 10.0.0.2\nimm_timestamp = on\n",
		 "x.ini: [flow a] imm_timestamp = on: imm_timestamp needs verb = write_imm"},
		{NIC "[flow a]\npeer_ip = 10.0.0.2\nverb = write_imm\nimm_data = 7\n"
		     "imm_timestamp = on\n",
		 "x.ini: [flow a] imm_timestamp = on: imm_timestamp needs verb = write_imm"},
		{NIC "link_speed_bps = 10G\n[rp]\nrp_max_rate_bps = 40G\n",
		 "x.ini: [rp] rp_max_rate_bps = 40G: "},
		{NIC "[rp]\nrp_min_rate_bps = 2G\nrp_max_rate_bps = 1G\n",
		 "x.ini: [rp] rp_min_rate_bps = 2G: "},
		{NIC "[rp]\ng = 1/1000\n", "x.ini: [rp] g = 1/1000: expected parts of 1024"},
		{NIC "[rp]\nrp_ai_rate_bp = 1M\n",
		 "x.ini: [rp] rp_ai_rate_bp = 1M: expected a known key, such as rp_ai_rate_bps"},
		{NIC "[qos_map]\npfc_enable = 5\n", "x.ini: [qos_map] pfc_enable = 5: "},
		{NIC "[flow]\n" PEER,
		 "x.ini: [flow]: expected [flow NAME] with a name of 1 to 32 characters"},
		{NIC "[flow 123456789012345678901234567890123]\n" PEER,
		 "x.ini: [flow 123456789012345678901234567890123]: expected [flow NAME]"},
		{NIC "[flow a]\npeer_mac = 02:00:00:00:00:02\n",
		 "x.ini: [flow a] peer_ip is missing: expected an IPv4 or IPv6 address"},
		{NIC "[flow a]\npeer_mac = 02:00:00:00:00:02\npeer_ip = none\n",
		 "x.ini: [flow a] peer_ip = none: expected an IPv4 or IPv6 address"},
		{NIC "[flow a]\npeer_mac = 03:00:00:00:00:02\npeer_ip = 10.0.0.2\n",
		 "x.ini: [flow a] peer_mac = 03:00:00:00:00:02: peer_mac must be a unicast"},
		{NIC "[flow a]\npeer_mac = 02:00:00:00:00:02\npeer_ip = fd00::2\n",
		 "x.ini: [flow a] peer_ip = fd00::2: peer_ip is IPv6, but ip6 of [nic] is none"},
		{NIC "[flow a]\n" PEER "mtu_bytes = 1500\n", "x.ini: [flow a] mtu_bytes = 1500B: "},
		{NIC "[flow a]\n" PEER "peer_qpn = 0xffffff\nqp_count = 2\n",
		 "x.ini: [flow a] peer_qpn = 16777215: peer_qpn + qp_count - 1 must not exceed "},
		{NIC "[flow a]\n" PEER "remote_addr = 0xffffffffffffff00\nqp_count = 2\n"
		     "remote_addr_stride = 256\n",
		 "x.ini: [flow a] remote_addr = 18446744073709551360: remote_addr of the last QP"},
		{NIC "[flow a]\n" PEER "local_addr = 0xffffffffffffff00\nlocal_bytes = 256\n",
		 "x.ini: [flow a] local_addr = 18446744073709551360: local_addr + local_bytes"},
		{NIC "[flow a]\n" PEER "local_rkey = 7\n",
		 "x.ini: [flow a] local_rkey = 7: local_bytes must not be 0 with"},
		{NIC "[flow a]\n" PEER "verb = send\nremote_addr_stride = 64\n",
		 "x.ini: [flow a] remote_addr_stride = 64B: remote_addr_stride must be 0 with verb"},
		{NIC "[flow a]\n" PEER "verb = send\nrkey = 7\n",
		 "x.ini: [flow a] rkey = 7: rkey must be 0 with verb = send, send_imm or ud_send"},
		{NIC "max_qps = 4\n[flow a]\n" PEER "qp_count = 3\n[flow b]\n" PEER
		     "qp_count = 2\n",
		 "x.ini: [flow b] qp_count = 2: qp_count of all flows up to this one must not "},
		{NIC "[flow a]\n" PEER "local_qpn = 16\n",
		 "x.ini: [flow a] local_qpn = 16: local_qpn to local_qpn + qp_count - 1 must be in"},
		{NIC "max_qps = 4\n[flow a]\n" PEER "local_qpn = 19\nqp_count = 3\n",
		 "x.ini: [flow a] local_qpn = 19: local_qpn to local_qpn + qp_count - 1 must be in"},
		{NIC "[flow a]\n" PEER "local_qpn = 20\nqp_count = 3\n[flow b]\n" PEER
		     "local_qpn = 22\n",
		 "x.ini: [flow b] local_qpn = 22: local_qpn to local_qpn + qp_count - 1 must not"},
		{NIC "max_qps = 4\n[flow a]\n" PEER "local_qpn = 18\n[flow b]\n" PEER
		     "qp_count = 3\n",
		 "x.ini: [flow b] qp_count = 3: qp_count: max_qps of [nic] leaves no such"},
		{NIC "[flow a]\n" PEER "vlan_id = 7\n",
		 "x.ini: [flow a] vlan_id = 7: vlan_id and vlan_pcp need tagged = on"},
		{NIC "[flow a]\n" PEER "vlan_pcp = 7\n",
		 "x.ini: [flow a] vlan_pcp = 7: vlan_id and vlan_pcp need tagged = on"},
		{NIC "[flow a]\n" PEER "load_bps = 1G\n",
		 "x.ini: [flow a] load_bps = 1G: load_bps needs arrival = poisson, lognormal or "
		 "periodic"},
		{NIC "[flow a]\n" PEER "off_ns = 1ms\n",
		 "x.ini: [flow a] off_ns = 1ms: on_ns and off_ns need arrival = on_off"},
		{NIC "[flow a]\n" PEER "message_cdf = /nowhere\n",
		 "x.ini: [flow a] message_cdf = /nowhere: message_cdf needs message_size = cdf"},
		{NIC "[flow a]\n" PEER "qp_count = 40\ntrace_qps = 64\n[flow b]\n" PEER
		     "qp_count = 100\ntrace_qps = 25\n",
		 "x.ini: [flow b] trace_qps = 25: trace_qps of all flows up to this one must not"},
		{NIC "[flow a]\n" PEER "message_size = cdf\nmessage_cdf = /nowhere\n",
		 "x.ini: [flow a] message_cdf = /nowhere: expected websearch, hadoop or alistorage, "
		 "or a file that can be read"},
		{NIC "[flow a]\n" PEER "message_size = cdf\nmessage_cdf = /dev/null\n",
		 "x.ini: [flow a] message_cdf = /dev/null: expected websearch, hadoop or alistorage, "
		 "or a file that can be read (no regular file)"},
		{NIC "[flow a]\n" PEER "arrival = poisson\n",
		 "x.ini: [flow a] arrival = poisson: load_bps must not be 0 with arrival"},
		{NIC "[flow a]\n" PEER "color = red\n",
		 "x.ini: [flow a] color = red: expected a known key"},
		{NIC "[port 0]\n", "x.ini: [port 0]: expected a known section"},
		{NIC "[frames a]\n" FRAME, "x.ini: [frames a] rate_bps: expected either"},
		{NIC STREAM "rate_pps = 1\n", "x.ini: [frames a] rate_bps = "},
		{NIC "[frames a]\nrate_bps = 1G\n", "x.ini: [frames a] header is missing"},
		{NIC "[frames a]\nrate_bps = 1G\nheader = 00112233445566778899aabbccg\n",
		 "x.ini: [frames a] header = 00112233445566778899aabbccg: expected"},
		{NIC "[frames a]\nrate_bps = 1G\nheader = 00112233445566778899aabbccddf\n",
		 "x.ini: [frames a] header = 00112233445566778899aabbccddf: expected pairs of"},
		{NIC STREAM "frame_bytes = 9217\n",
		 "x.ini: [frames a] frame_bytes = 9217: expected"},
		{NIC STREAM "patterns = 112/1:0,1\n", "x.ini: [frames a] patterns = 112/1:0,1: "},
		{NIC STREAM "patterns = 0/0:1\n", "x.ini: [frames a] patterns = 0/0:1: "},
		{NIC STREAM "patterns = 0/65:1\n", "x.ini: [frames a] patterns = 0/65:1: "},
		{NIC STREAM "patterns = 0/2:4\n", "x.ini: [frames a] patterns = 0/2:4: "},
		{NIC STREAM "patterns = 0/2:\n", "x.ini: [frames a] patterns = 0/2:: "},
		{NIC STREAM "patterns = 0/2:1,\n", "x.ini: [frames a] patterns = 0/2:1,: "},
		{NIC STREAM "patterns = 0/2:1+1*0\n", "x.ini: [frames a] patterns = 0/2:1+1*0: "},
		{NIC STREAM "patterns = 0/2:1+1\n", "x.ini: [frames a] patterns = 0/2:1+1: "},
		{NIC STREAM "patterns = 0/8:-1\n", "x.ini: [frames a] patterns = 0/8:-1: "},
		{NIC STREAM "patterns = 0/8:1~0*1@1\n", "x.ini: [frames a] patterns = 0/8:1~0"},
		{NIC STREAM "patterns = 0/8:1~2*0@1\n", "x.ini: [frames a] patterns = 0/8:1~2"},
		{NIC STREAM "patterns = 0/8:1~2*1\n", "x.ini: [frames a] patterns = 0/8:1~2*1"},
		{NIC STREAM "patterns = 0/16:len-61\n", "x.ini: [frames a] patterns = 0/16:len"},
		{NIC STREAM "sizes = 64-63/1\n", "x.ini: [frames a] sizes = 64-63/1: expected"},
		{NIC STREAM "sizes = 64-64/0\n", "x.ini: [frames a] sizes = 64-64/0: expected"},
		{NIC STREAM "sizes = 64-65/1\n", "x.ini: [frames a] sizes = 64-65/1: expected"},
		{NIC STREAM "sizes = 63~64\n", "x.ini: [frames a] sizes = 63~64: expected"},
		{NIC STREAM "sizes = 64\n", "x.ini: [frames a] sizes = 64: expected"},
		{NIC STREAM "sizes = 64:0\n", "x.ini: [frames a] sizes = 64:0: expected"},
		{NIC STREAM "sizes = 64:1,\n", "x.ini: [frames a] sizes = 64:1,: expected"},
		{NIC STREAM "sizes = 64:4294967295,64:1\n", "x.ini: [frames a] sizes = 64:4"},
		{NIC STREAM "checksums = ipv4@14\n", "x.ini: [frames a] checksums = ipv4@14: "},
		{NIC STREAM "checksums = udp@14\n", "x.ini: [frames a] checksums = udp@14: "},
		{NIC STREAM "checksums = icmp@10-4\n", "x.ini: [frames a] checksums = icmp@10-4"},
		{NIC STREAM "checksums = ipv4@14-4\n", "x.ini: [frames a] checksums = ipv4@14-4"},
		{NIC STREAM "checksums = sctp@14\n", "x.ini: [frames a] checksums = sctp@14: "},
		{NIC STREAM "checksums = icmp@99999999999\n", "x.ini: [frames a] checksums = icmp"},
		{NIC STREAM "latency = no\n", "x.ini: [frames a] latency = no: expected"},
		{NIC STREAM "signature = 65536\n", "x.ini: [frames a] signature = 65536: "},
		{NIC "signatures = 3\n",
		 "x.ini: [nic] signatures = 3: signatures must be 0 or a power"},
		{NIC STREAM "queue = 8\n", "x.ini: [frames a] queue = 8: expected"},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct config_error err = {"no error"};
		struct nic_config c;

		if (read_text(rows[i].text, &c, &err) != -EINVAL)
			fail_msg("accepted: %s", rows[i].text);
		if (strncmp(without_line(&err), rows[i].error, strlen(rows[i].error)) != 0)
			assert_string_equal(err.text, rows[i].error);
		assert_null(c.flows);
		assert_null(c.streams);
		assert_null(strchr(err.text, '\n'));
	}
}

TEST(streams_have_bytes_and_patterns_of_their_texts)
{
	struct config_error err = {"no error"};
	struct nic_config c, next;
	struct config *cfg;

	read_good(NIC STREAM "patterns = 0/64:1+18446744073709551615*3  111/1:0,1\nqueue = 3\n"
			     "[frames b]\n" FRAME "rate_bps = 1M\nframe_bytes = 9216\n",
		  &c);
	assert_int_equal(c.n_streams, 2);
	assert_int_equal(c.streams[0].params.template.header_bytes, 14);
	assert_memory_equal(c.streams[0].params.template.header, "\0\x11\x22\x33", 4);
	assert_int_equal(c.streams[0].params.template.n_patterns, 2);
	assert_int_equal(c.streams[0].params.template.patterns[0].step, UINT64_MAX);
	assert_int_equal(c.streams[0].params.template.patterns[1].values, NIC_FRAMES_LIST);
	assert_int_equal(c.streams[0].params.template.patterns[1].n, 2);
	assert_int_equal(c.streams[0].params.template.values[1], 1);
	assert_int_equal(c.streams[1].params.queue, -1);
	/* A change of a copy: the rest of the stream stays. */
	cfg = config_open_text("running", "", 0, &err);
	assert_int_equal(config_set(cfg, "frames b.stopped=on", &err), 0);
	assert_int_equal(nic_config_set(cfg, &c, &next, &err), 0);
	config_close(cfg);
	assert_false(c.streams[1].stopped);
	assert_true(next.streams[1].stopped);
	assert_int_equal(next.streams[1].params.template.frame_bytes, 9216);
	nic_config_free(&next);
	/* The texts are read again, and rules across keys hold. */
	cfg = config_open_text("running", "", 0, &err);
	assert_int_equal(config_set(cfg, "frames a.patterns=8/8:7", &err), 0);
	assert_int_equal(nic_config_set(cfg, &c, &next, &err), 0);
	config_close(cfg);
	assert_int_equal(next.streams[0].params.template.n_patterns, 1);
	assert_int_equal(next.streams[0].params.template.patterns[0].bit, 8);
	nic_config_free(&next);
	cfg = config_open_text("running", "", 0, &err);
	assert_int_equal(config_set(cfg, "frames a.checksums=ipv4@14", &err), 0);
	assert_int_equal(nic_config_set(cfg, &c, &next, &err), -EINVAL);
	config_close(cfg);
	nic_config_free(&c);
}

TEST(long_texts_are_printed_and_compared_to_their_end)
{
	static char text[4096], printed[3 * 8192];
	struct config_error err = {"no error"};
	size_t used = (size_t)snprintf(text, sizeof(text), NIC STREAM "patterns = 0/16:1000");
	struct nic_config c, other;
	FILE *out;

	for (int i = 1; i < 400; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, ",%d", 1000 + i);
	assert_int_equal(read_text(text, &c, &err), 0);
	assert_int_equal(c.streams[0].params.template.n_values, 400);
	assert_int_equal(c.streams[0].params.template.values[399], 1399);
	text[used - 1] = '8';
	assert_int_equal(read_text(text, &other, &err), 0);
	assert_true(config_objects_differ(nic_stream_fields, nic_stream_fields_n, &c.streams[0],
					  &other.streams[0]));
	out = fmemopen(printed, sizeof(printed), "w");
	config_print_keys(out, nic_stream_fields, nic_stream_fields_n, &other.streams[0]);
	fclose(out);
	assert_non_null(strstr(printed, ",1398\n"));
	nic_config_free(&c);
	nic_config_free(&other);
}

TEST(the_printed_configuration_reads_back_to_the_same)
{
	struct nic_config c, d;
	char *text, *again;

	read_good(NIC "ip6 = fd00::1\n[rp]\nrp_profile = mlx\nrp_time_reset_us = 333\n"
		      "[flow a]\n" PEER "tagged = on\nvlan_pcp = 3\nstop_ns = 12345ns\n"
		      "[flow b]\npeer_mac = 02:00:00:00:00:03\npeer_ip = fd00::3\n" STREAM
		      "patterns = 0/8:1,2 8/16:3+4*5\n",
		  &c);
	text = printed(&c);
	read_good(text, &d);
	again = printed(&d);
	assert_string_equal(text, again);
	assert_non_null(strstr(text, "rp_profile = mlx\n"));
	assert_non_null(strstr(text, "rp_time_reset_us = 333us "));
	assert_non_null(strstr(text, "stop_ns = never\n"));
	free(text);
	free(again);
	nic_config_free(&c);
	nic_config_free(&d);
}

TEST(the_shipped_example_is_taken)
{
	struct config *cfg = open_shipped("nic.ini");
	struct config_error err;
	struct nic_config c;

	if (nic_config_read(cfg, NULL, &c, &err) != 0 || config_finish(cfg, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(c.n_flows, 2);
	assert_int_equal(c.flows[0].qp_count, 2);
	nic_config_free(&c);
	config_close(cfg);
}

TEST(numbers_are_as_given_then_the_lowest_free)
{
	static const char text[] =
		NIC "[flow a]\n" PEER "qp_count = 2\n[flow b]\n" PEER
		    "qp_count = 3\n[flow c]\n" PEER "local_qpn = 20\nqp_count = 4\n[flow d]\n" PEER
		    "[flow e]\n" PEER "local_qpn = 1000\n";
	static const uint32_t first[] = {0, 7, 3, 2, 983};
	struct config_error err;
	struct nic_config c;
	uint32_t qp = 9;

	assert_int_equal(read_text(text, &c, &err), 0);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(c.flows[i].first_number, first[i]);
	assert_int_equal(nic_config_qps(&c), 11);
	assert_ptr_equal(nic_config_flow_of(&c, 6, &qp), &c.flows[2]);
	assert_int_equal(qp, 3);
	assert_ptr_equal(nic_config_flow_of(&c, 9, &qp), &c.flows[1]);
	assert_null(nic_config_flow_of(&c, 10, &qp));
	nic_config_free(&c);
}

/* Keys over what is in force, as a program does it that runs. */
TEST(a_flow_is_changed_or_added_in_a_copy)
{
	static const struct {
		const char *set, *error;
	} rows[] = {
		{"flow a.rate_cap_bps=1G", NULL},
		{"flow b.peer_ip=10.0.0.3", NULL},
		{"rp.rp_ai_rate_bps=50M", NULL},
		{"flow b.qp_count=2", "running: [flow b] peer_ip is missing"},
		{"flow a.peer_ip=fd00::1", "running: [flow a] peer_ip = fd00::1: peer_ip is IPv6"},
		{"flaw a.qp_count=2", "running: [flaw a]: expected a known section"},
	};
	struct nic_config now;

	read_good(NIC "[flow a]\n" PEER "qp_count = 3\n", &now);
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct config_error err = {"no error"};
		struct config *cfg = config_open_text("running", "", 0, &err);
		struct nic_config next;
		int rc;

		assert_int_equal(config_set(cfg, rows[i].set, &err), 0);
		rc = nic_config_set(cfg, &now, &next, &err);
		if (rc == 0 && (rc = config_finish(cfg, &err)) != 0)
			nic_config_free(&next);
		config_close(cfg);
		if ((rc == 0) != (rows[i].error == NULL) ||
		    (rc != 0 &&
		     strncmp(without_line(&err), rows[i].error, strlen(rows[i].error)) != 0))
			fail_msg("%s: %s", rows[i].set, err.text);
		/* What is in force stays as it is. */
		assert_int_equal(now.n_flows, 1);
		assert_int_equal(now.flows[0].qp.rate_cap_bps, 0);
		if (rc != 0)
			continue;
		assert_int_equal(next.flows[0].qp.rate_cap_bps, i == 0 ? GBPS : 0);
		assert_int_equal(next.nic.rp.rp_ai_rate_bps, (i == 2 ? 50 : 40) * MBPS);
		assert_int_equal(next.n_flows, i == 1 ? 2 : 1);
		if (i == 1)
			assert_int_equal(next.flows[1].first_number, 3);
		nic_config_free(&next);
	}
	nic_config_free(&now);
}

/* Both are fixed, and ack_every comes first. */
TEST(a_refusal_of_a_change_names_the_key_that_was_given)
{
	struct config_rows from = {0}, to = {0};
	struct config_error err = {"no error"};
	struct config *cfg = config_open_text("running", "", 0, &err);
	struct nic_config now, next;

	read_good(NIC "[flow a]\n" PEER, &now);
	assert_int_equal(now.nic.ack_every, 16);
	assert_int_equal(config_set(cfg, "nic.rate_window_bytes=100KB", &err), 0);
	assert_int_equal(nic_config_set(cfg, &now, &next, &err), 0);
	assert_int_equal(next.nic.ack_every, 1);
	nic_config_rows(&now, &from);
	nic_config_rows(&next, &to);
	assert_int_equal(config_rows_refuse_fixed(cfg, &from, &to, &err), -EINVAL);
	assert_string_equal(err.text, "running: [nic] rate_window_bytes = 100KB: cannot change "
				      "while the program runs; it is 0");
	config_rows_free(&from);
	config_rows_free(&to);
	config_close(cfg);
	nic_config_free(&next);
	nic_config_free(&now);
}

#define PATTERN "[flow cm]\nconnect = cm\n" PEER "verb = send\n"

TEST(sections_with_connect_are_patterns_and_no_flows)
{
	struct config_rows rows = {0};
	struct nic_config c;

	read_good(NIC PATTERN "qp_count = 3\n[flow b]\n" PEER "[flow in]\nconnect = listen\n" PEER
			      "[flow d]\n" PEER,
		  &c);
	assert_int_equal(c.n_flows, 2);
	assert_int_equal(c.n_patterns, 2);
	assert_string_equal(c.flows[0].name, "b");
	assert_string_equal(c.flows[1].name, "d");
	assert_string_equal(c.flows[2].name, "cm");
	assert_string_equal(c.flows[3].name, "in");
	/* They have no QPs, and are compared and printed like flows. */
	assert_int_equal(nic_config_qps(&c), 2);
	assert_null(nic_config_find(&c, "cm"));
	assert_ptr_equal(nic_config_find(&c, "d"), &c.flows[1]);
	nic_config_rows(&c, &rows);
	assert_string_equal(rows.rows[rows.n - 1].section, "flow in");
	config_rows_free(&rows);
	nic_config_free(&c);
}

TEST(pattern_refuses_what_each_connection_has_of_its_own)
{
	static const char *const lines[] = {
		"local_qpn = 20",  "initial_psn = 1", "peer_psn = 1",   "remote_addr_stride = 1KB",
		"qp_count = 1025", "raw = on",        "verb = ud_send", "cm_port = 0"};
	static const char *const others[] = {
		NIC "[flow in]\nconnect = listen\nqp_count = 2\n" PEER,
		NIC "[flow cm]\nconnect = cm\npeer_ip = 0.0.0.0\n",
		NIC "[flow cm]\nconnect = cm\npeer_ip = 224.0.0.1\n",
		NIC "[flow cm]\nconnect = cm\npeer_ip = 255.255.255.255\n",
		NIC "ip6 = fd00::1\n[flow cm]\nconnect = cm\npeer_ip = ff02::1\n",
		NIC "[flow a-name-of-22-characters]\nconnect = cm\n" PEER,
		NIC "[flow a@1]\n" PEER,
		NIC "[flow a]\nconnect = listen\n" PEER "[flow b]\nconnect = listen\n" PEER,
		NIC
		"[flow a]\nconnect = listen\npeer_ip = 0.0.0.0\n[flow b]\nconnect = listen\n" PEER,
		NIC "max_qps = 2\n" PATTERN "qp_count = 3\n",
	};
	struct config_error err;
	struct nic_config c;

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		char text[512], key[32];

		/* The verb that PATTERN has is given here. */
		snprintf(text, sizeof(text),
			 NIC "max_qps = 4096\n[flow cm]\nconnect = cm\n" PEER "%s\n", lines[i]);
		snprintf(key, sizeof(key), "%.*s", (int)strcspn(lines[i], " "), lines[i]);
		assert_int_equal(read_text(text, &c, &err), -EINVAL);
		assert_non_null(strstr(err.text, "[flow cm]"));
		assert_non_null(strstr(err.text, key));
	}
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_int_equal(read_text(others[i], &c, &err), -EINVAL);
	/* The section of one peer before that of all. */
	read_good(NIC "[flow b]\nconnect = listen\n" PEER "[flow a]\nconnect = listen\n"
		      "peer_ip = 0.0.0.0\n[flow c]\nconnect = listen\ncm_port = 9\n" PEER,
		  &c);
	nic_config_free(&c);
}

/* Set lines "section.key=value" over a configuration. */
static int
set_lines(const struct nic_config *now, const char *const lines[], unsigned int n,
	  struct nic_config *out)
{
	struct config *cfg = open_text("");
	struct config_error err;
	int rc = 0;

	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(config_set(cfg, lines[i], &err), 0);
	rc = nic_config_set(cfg, now, out, &err);
	config_close(cfg);
	return rc;
}

TEST(flow_of_a_connection_outlives_a_reload_until_it_is_removed)
{
	static const char text[] = NIC PATTERN "[flow b]\n" PEER;
	static const char *const add[] = {"flow cm@1.peer_ip=10.0.0.2", "flow cm@1.peer_psn=7"};
	static const char *const stop[] = {"flow cm.stopped=on"};
	struct config *cfg = open_text(text);
	struct config_error err;
	struct nic_config first, now, reloaded, stopped, removed;

	read_good(text, &first);
	assert_int_equal(set_lines(&first, add, 2, &now), 0);
	assert_int_equal(now.n_flows, 2);
	assert_int_equal(now.n_patterns, 1);
	assert_int_equal(nic_config_find(&now, "cm@1")->qp.peer_psn, 7);
	assert_int_equal(nic_config_read(cfg, &now, &reloaded, &err), 0);
	assert_int_equal(reloaded.n_flows, 2);
	assert_int_equal(reloaded.n_patterns, 1);
	assert_int_equal(nic_config_find(&reloaded, "cm@1")->qp.peer_psn, 7);
	/* A key of a pattern is the pattern's. */
	assert_int_equal(set_lines(&reloaded, stop, 1, &stopped), 0);
	assert_int_equal(stopped.n_flows, 2);
	assert_true(stopped.flows[2].qp.stopped);
	assert_int_equal(nic_config_remove(cfg, &stopped, "cm@1", &removed, &err), 0);
	assert_int_equal(removed.n_flows, 1);
	assert_int_equal(removed.n_patterns, 1);
	nic_config_free(&removed);
	assert_int_equal(nic_config_remove(cfg, &stopped, "cm", &removed, &err), -EINVAL);
	assert_non_null(strstr(err.text, "there is no [flow cm]"));
	nic_config_free(&stopped);
	nic_config_free(&reloaded);
	nic_config_free(&now);
	nic_config_free(&first);
	config_close(cfg);
}

TEST(several_flows_are_removed_together_or_none)
{
	static const char text[] = NIC "[flow a]\n" PEER "[flow ab]\n" PEER "[flow c]\n" PEER;
	struct config *cfg = open_text(text);
	struct config_error err;
	struct nic_config now, removed;

	read_good(text, &now);
	assert_int_equal(nic_config_remove(cfg, &now, "c\na\n", &removed, &err), 0);
	assert_int_equal(removed.n_flows, 1);
	assert_non_null(nic_config_find(&removed, "ab"));
	nic_config_free(&removed);
	assert_int_equal(nic_config_remove(cfg, &now, "c\nb\n", &removed, &err), -EINVAL);
	assert_non_null(strstr(err.text, "there is no [flow b]"));
	assert_int_equal(nic_config_remove(cfg, &now, "a\na", &removed, &err), -EINVAL);
	assert_int_equal(nic_config_remove(cfg, &now, "", &removed, &err), -EINVAL);
	nic_config_free(&now);
	config_close(cfg);
}

TEST_MAIN(.begin = enter_folder, .end = leave_folder)
