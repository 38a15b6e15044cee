/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration of a NIC.
 *
 *   [nic]          the node and its address
 *   [qos_map]      as of a switch
 *   [rp] [dctcp] [timely]  what cc of [nic] chooses from; rp_profile first sets the defaults of
 * [rp], the other keys go over them [np]           the notification point [receiver]     a slow
 * one, and its [pfc] frames [flow NAME]    qp_count QPs to one peer
 *
 * A flow's QPs have local numbers side by side, from local_qpn on if that is given; the other
 * flows, in the order of the file, have the lowest that are free then: without any local_qpn, from
 * first_qpn on one after the other. QP i of a flow talks to QP peer_qpn + i of the peer. So two
 * files that list their flows in the same order agree when each peer_qpn is what the other's order
 * gives.
 *
 * No function here calls config_finish(): a program may have sections of its own.
 */
#ifndef QUENCH_CTL_NIC_CONFIG_H
#define QUENCH_CTL_NIC_CONFIG_H

#include "base/ranges.h"
#include "ctl/config_compare.h"
#include "nic/measure/trace.h"
#include "nic/nic.h"

#define NIC_FLOW_NAME_CHARS 32

/* One [flow NAME]. */
struct nic_flow {
	char name[NIC_FLOW_NAME_CHARS + 1];
	struct nic_qp_params qp; /* of the first QP; its vlan_tci is vlan_pcp and vlan_id */
	uint32_t qp_count;
	uint32_t local_qpn;    /* of the first QP, as given; 0: not given */
	uint32_t first_number; /* the same, found, and counted from first_qpn */
	/* given by the program */
	uint32_t id;        /* flow_id */
	uint64_t came_ns;   /* when it came into force */
	uint16_t trace_qps; /* the first ones */
	uint16_t vlan_id;
	uint8_t vlan_pcp;
	int8_t dscp; /* -1: data_dscp */
};

extern const struct field nic_flow_fields[];
extern const unsigned int nic_flow_fields_n;

struct nic_config {
	struct nic_params nic;
	struct nic_flow *flows; /* in file order; owned */
	unsigned int n_flows;
};

/**
 * Everything but the flows, unchecked: for a program that makes up flows and addresses of its own.
 * @return 0, -EINVAL or -ENOMEM with err filled in.
 */
int nic_config_read_common(struct config *cfg, struct nic_params *out, struct config_error *err);

/**
 * Everything, checked. mac may be left zero: the program puts in that of the device.
 *
 * @param now  In force: its flows have their message_cdf, which is not read again. NULL: none.
 * @return     0; or -EINVAL or -ENOMEM with err filled in and nothing to free.
 */
int nic_config_read(struct config *cfg, const struct nic_config *now, struct nic_config *out,
		    struct config_error *err);

/** What nic_config_read() checks, of a copy in which keys were set. @return 0, or as that. */
int nic_config_check(const struct config *cfg, struct nic_config *config, struct config_error *err);

/** A copy of its own. @return 0 or -ENOMEM; nic_config_free() in both cases. */
int nic_config_copy(const struct nic_config *from, struct nic_config *out);

/**
 * Check what nic_config_read_common() read and the program filled in.
 * @return 0, or -EINVAL with the key to blame in err.
 */
int nic_config_check_common(const struct config *cfg, const struct nic_params *params,
			    struct config_error *err);

/** Free what nic_config_read() allocated. */
void nic_config_free(struct nic_config *config);

/** The flow that has a number, which may lie in none, and which of its QPs it is. @return NULL:
 * none. */
const struct nic_flow *nic_config_flow_of(const struct nic_config *config, uint32_t number,
					  uint32_t *qp);

/** QPs of all flows. */
uint64_t nic_config_qps(const struct nic_config *config);

/**
 * Why a flow's numbers cannot be had: as config_sections_refuse().
 * @param why  A clause that begins with local_qpn or qp_count.
 */
int nic_config_refuse_flow(const struct config *cfg, const struct nic_flow *flow, const char *why,
			   struct config_error *err);

/**
 * Take the numbers of the flows for which wants(arg, flow) holds. @param used  Numbers that others
 * have; those taken are added, also when it fails.
 * @return 0; or -EINVAL or -ENOMEM with err filled in.
 */
int nic_config_number(const struct config *cfg, struct nic_config *config, struct ranges *used,
		      bool (*wants)(void *arg, const struct nic_flow *flow), void *arg,
		      struct config_error *err);

/** Parameters of QP i of a flow, i < qp_count. */
struct nic_qp_params nic_flow_qp(const struct nic_flow *flow, uint32_t i);

/**
 * Print the configuration in force as a file that reads back the same; _common: what stands behind
 * switch_config_print_common(), so without flows and without [qos_map], which both roles share.
 */
void nic_config_print(FILE *out, const struct nic_config *config);
void nic_config_print_common(FILE *out, const struct nic_params *params);

/** All of it as rows to compare; _common: as of nic_config_print_common(). */
void nic_config_rows_common(const struct nic_params *params, struct config_rows *rows);
void nic_config_rows(const struct nic_config *config, struct config_rows *rows);

/** Print every key, in Markdown; _common: without flows and without [qos_map]. */
void nic_config_print_reference(FILE *out);
void nic_config_print_reference_common(FILE *out);

#endif
