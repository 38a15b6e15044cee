/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration of a NIC.
 *
 *   [nic]          the node and its address
 *   [qos_map]      as of a switch
 *   [rp] [dctcp] [timely]  what cc of [nic] chooses from; rp_profile first sets the defaults of
 *                  [rp], the other keys go over them
 *   [np]           the notification point
 *   [receiver]     a slow one, and its [pfc] frames
 *   [flow NAME]    qp_count QPs to one peer (flows.h)
 *
 * No function here calls config_finish(): a program may have sections of its own.
 */
#ifndef QUENCH_CTL_NIC_CONFIG_NIC_CONFIG_H
#define QUENCH_CTL_NIC_CONFIG_NIC_CONFIG_H

#include "ctl/config/compare.h"
#include "ctl/nic_config/flows.h"

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

/**
 * A copy of now with the keys that cfg has over it, and flows that it alone has after the others;
 * checked. @return as nic_config_read().
 */
int nic_config_set(struct config *cfg, const struct nic_config *now, struct nic_config *out,
		   struct config_error *err);

/**
 * Check what nic_config_read_common() read and the program filled in.
 * @return 0, or -EINVAL with the key to blame in err.
 */
int nic_config_check_common(const struct config *cfg, const struct nic_params *params,
			    struct config_error *err);

/** Free what nic_config_read() or nic_config_set() allocated. */
void nic_config_free(struct nic_config *config);

/**
 * Print the configuration in force as a file that reads back the same; _common: what stands after
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
