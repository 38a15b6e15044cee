/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/switch_config/switch_class_kinds.h"

const struct switch_class_kind switch_class_kinds[] = {
	{"pg", sw_pg_fields, &sw_pg_fields_n, offsetof(struct sw_params, every_pg),
	 offsetof(struct sw_params, pgs), sizeof(struct sw_pg_params)},
	{"queue", sw_queue_fields, &sw_queue_fields_n, offsetof(struct sw_params, every_queue),
	 offsetof(struct sw_params, queues), sizeof(struct sw_queue_params)},
};

const struct switch_profile_kind switch_profile_kinds[] = {
	{"wred", wred_fields, &wred_fields_n, offsetof(struct sw_params, wred_profiles[0].name),
	 sizeof(struct sw_wred_profile), offsetof(struct sw_params, wred_profiles[0].params),
	 sizeof(struct sw_wred_profile), offsetof(struct sw_params, n_wred_profiles),
	 SW_MAX_WRED_PROFILES},
	{"buffer_profile", buffer_profile_named_fields, &buffer_profile_named_fields_n,
	 offsetof(struct sw_params, mmu.profile_names), MMU_PROFILE_NAME + 1,
	 offsetof(struct sw_params, mmu.profiles), sizeof(struct buffer_profile),
	 offsetof(struct sw_params, mmu.n_profiles), MMU_MAX_PROFILES},
};
