/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/switch_config/class_kinds.h"

const struct switch_class_kind switch_class_kinds[] = {
	{"pg", sw_pg_fields, &sw_pg_fields_n, offsetof(struct sw_params, pgs),
	 sizeof(struct sw_pg_params)},
	{"queue", sw_queue_fields, &sw_queue_fields_n, offsetof(struct sw_params, queues),
	 sizeof(struct sw_queue_params)},
};
