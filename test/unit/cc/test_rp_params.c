/* SPDX-License-Identifier: BSD-3-Clause */
/* The reaction point's parameters: defaults, the names under which they are known, rules. */
#include <errno.h>
#include <string.h>

#include "base/numbers/array.h"
#include "unit/cases.h"
#include "cc/points/rp.h"

TEST(defaults_of_the_table_are_those_of_the_paper_profile)
{
	struct rp_params from_table, paper;

	memset(&from_table, 0xff, sizeof(from_table));
	assert_int_equal(field_defaults(rp_fields, rp_fields_n, &from_table), 0);
	rp_params_default(&paper, RP_PROFILE_PAPER);
	for (unsigned int i = 0; i < rp_fields_n; i++) {
		char got[FIELD_TEXT_SIZE], want[FIELD_TEXT_SIZE];

		field_format(&rp_fields[i], &from_table, got, sizeof(got));
		field_format(&rp_fields[i], &paper, want, sizeof(want));
		assert_string_equal(got, want);
	}
}

TEST(paper_symbols_and_vendor_names_are_aliases)
{
	static const struct {
		const char *name, *value, *member, *want;
	} rows[] = {
		{"g", "1/256", "rp_dce_tcp_g", "1020"},
		{"dce_tcp_g", "1019", "rp_dce_tcp_g", "1019"},
		{"alpha0", "1", "rp_initial_alpha_value", "1024"},
		{"alpha0", "1/2", "rp_initial_alpha_value", "512"},
		{"initial_alpha_value", "1023", "rp_initial_alpha_value", "1023"},
		{"K", "50", "rp_dce_tcp_rtt_us", "50us"},
		{"T", "1500us", "rp_time_reset_us", "1500us"},
		{"F", "1", "rp_threshold", "1"},
		{"B", "150000", "rp_byte_reset_bytes", "150000"},
		{"rpg_byte_reset", "32767", "rp_byte_reset_bytes", "2097088"},
		{"rp_byte_reset", "1", "rp_byte_reset_bytes", "64"},
		{"R_AI", "40", "rp_ai_rate_bps", "40M"},
		{"R_AI", "10M", "rp_ai_rate_bps", "10M"},
		{"rpg_ai_rate", "5", "rp_ai_rate_bps", "5M"},
		{"R_HAI", "200", "rp_hai_rate_bps", "200M"},
		{"rpg_hai_rate", "50", "rp_hai_rate_bps", "50M"},
		{"rpg_min_rate", "1", "rp_min_rate_bps", "1M"},
		{"rpg_max_rate", "100000", "rp_max_rate_bps", "100G"},
		{"rate_to_set_on_first_cnp", "85000", "rp_rate_to_set_on_first_cnp_bps", "85G"},
		{"rpg_gd", "10", "rp_gd", "10"},
		{"rpg_min_dec_fac", "30", "rp_min_dec_fac_pct", "30"},
		{"clamp_tgt_rate", "1", "rp_clamp_tgt_rate", "on"},
		{"clamp_tgt_rate_after_time_inc", "0", "rp_clamp_tgt_rate_ati", "off"},
		{"rate_reduce_monitor_period", "2", "rp_rate_reduce_monitor_period_us", "2us"},
		{"rp_profile", "mlx", "rp_profile", "mlx"},
	};
	struct rp_params got, want;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct field_alias *alias;
		const struct field *f = field_find(rp_fields, rp_fields_n, rows[i].name, &alias);
		char expected[FIELD_TEXT_SIZE], a[FIELD_TEXT_SIZE], b[FIELD_TEXT_SIZE];

		assert_non_null(f);
		assert_string_equal(f->name, rows[i].member);
		assert_int_equal(
			field_parse(f, alias, rows[i].value, &got, expected, sizeof(expected)), 0);
		assert_int_equal(
			field_parse(f, NULL, rows[i].want, &want, expected, sizeof(expected)), 0);
		field_format(f, &got, a, sizeof(a));
		field_format(f, &want, b, sizeof(b));
		assert_string_equal(a, b);
	}
}

TEST(names_and_aliases_are_used_once)
{
	const char *names[200];
	size_t n = 0;

	for (unsigned int i = 0; i < rp_fields_n; i++) {
		names[n++] = rp_fields[i].name;
		for (size_t a = 0; a < FIELD_ALIASES && rp_fields[i].aliases[a].name; a++)
			names[n++] = rp_fields[i].aliases[a].name;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(names[i], names[j]);
}

TEST(broken_rules_are_named)
{
	static const struct {
		const char *key, *value, *names;
	} rows[] = {
		{"rp_min_rate_bps", "41G", "rp_min_rate_bps"},
		{"rp_rate_to_set_on_first_cnp_bps", "41G", "rp_rate_to_set_on_first_cnp_bps"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct rp_params params;
		const struct field_alias *alias;
		const struct field *f = field_find(rp_fields, rp_fields_n, rows[i].key, &alias);
		char why[256] = "";

		rp_params_default(&params, RP_PROFILE_PAPER);
		params.rp_max_rate_bps = 40 * GBPS;
		assert_int_equal(field_parse(f, alias, rows[i].value, &params, NULL, 0), 0);
		assert_int_equal(rp_params_check(&params, why, sizeof(why)), -EINVAL);
		assert_non_null(strstr(why, rows[i].names));
		/* With the port's speed still to come there is nothing to compare with. */
		params.rp_max_rate_bps = 0;
		assert_int_equal(rp_params_check(&params, why, sizeof(why)), 0);
	}
}

TEST_MAIN()
