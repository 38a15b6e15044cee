/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of single classes: of a traffic class, and of one port's priority group or queue, which name
 * their profiles, as SONiC's BUFFER_PG, BUFFER_QUEUE and QUEUE tables do.
 */
#ifndef QUENCH_SWITCH_TABLES_SW_CLASSES_H
#define QUENCH_SWITCH_TABLES_SW_CLASSES_H

#include "base/field/field.h"
#include "tm/buffer/mmu_params.h"
#include "tm/queue/mark.h"
#include "tm/queue/wred.h"

#define SW_PROFILE_NAME MMU_PROFILE_NAME
#define SW_MAX_WRED_PROFILES 32

/* Names that no profile may have; an empty name is SW_PROFILE_DEFAULT too. */
#define SW_PROFILE_DEFAULT                                                                         \
	"default"              /* that of the class; WRED: [wred] in the queues of wred_queues */
#define SW_PROFILE_NONE "none" /* WRED: off */

struct sw_queue_params {
	char wred_profile[SW_PROFILE_NAME + 1];
	int marking; /* enum mark_scheme */
	char buffer_profile[SW_PROFILE_NAME + 1];
	uint64_t min_rate_bps; /* wire bytes; served first up to this rate; 0: none */
	uint64_t max_rate_bps; /* wire bytes; 0: the port's */
	uint32_t burst_bytes;  /* burst of both rates; 0 is 1 */
};

struct sw_pg_params {
	char buffer_profile[SW_PROFILE_NAME + 1];
};

struct sw_tc_params {
	uint32_t mtu_bytes; /* payload of Ethernet; 0: only max_frame_bytes applies */
};

struct sw_wred_profile {
	char name[SW_PROFILE_NAME + 1];
	struct wred_params params;
};

FIELD_TABLE(sw_queue_fields);
FIELD_TABLE(sw_pg_fields);
FIELD_TABLE(sw_tc_fields);

#endif
