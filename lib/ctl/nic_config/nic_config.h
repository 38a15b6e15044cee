/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration of a NIC.
 *
 *   [nic]          the node and its address
 *   [qos_map]      as for a switch
 *   [rp] ...       the algorithms that cc of [nic] may select (cc/cc_table.h); rp_profile sets
 *                  the defaults of [rp], which the other keys override
 *   [np]           the notification point
 *   [receiver]     a slow receiver, and [pfc], its pause frames
 *   [flow NAME]    qp_count QPs to one peer (nic_flow.h)
 *   [frames NAME]  a stream of frames from a template (frame_streams.h)
 *   [job NAME]     ranks of a job, and the flows between them (nic_job.h)
 *
 * No function here calls config_finish(): a program may have sections of its own.
 */
#ifndef QUENCH_CTL_NIC_CONFIG_NIC_CONFIG_H
#define QUENCH_CTL_NIC_CONFIG_NIC_CONFIG_H

#include "ctl/config/config_compare.h"
#include "ctl/nic_config/nic_flow.h"

/**
 * Read everything but the flows and the keys of NIC_DEVICE_SECTIONS, which it refuses, without a
 * check of rules. For a program that creates its own flows and addresses.
 * @return 0, -EINVAL or -ENOMEM with err filled in.
 */
int nic_config_read_common(struct config *cfg, struct nic_params *out, struct config_error *err);

/** Set what algorithms need of keys that the file does not give; p->cc_of_flows is known. */
void nic_config_follow_flows(const struct config *cfg, struct nic_params *p);

/**
 * Does a key with which the algorithm cannot work as it should have a value of the file?
 * @return true, with err filled in: a warning.
 */
bool nic_config_doubt_cc(const struct config *cfg, const struct nic_params *p,
			 struct config_error *err);

/**
 * Read everything and check it. mac may be zero: the program replaces it by the device's.
 *
 * @param now  Active configuration: its message_cdf are shared instead of read again. NULL: none.
 * @return     0; or -EINVAL or -ENOMEM with err filled in and nothing to free.
 */
int nic_config_read(struct config *cfg, const struct nic_config *now, struct nic_config *out,
		    struct config_error *err);

/**
 * Copy `now` to `out`, replace the keys that cfg sets, append the flows that only cfg has, and
 * check the result. @return as nic_config_read().
 */
int nic_config_set(struct config *cfg, const struct nic_config *now, struct nic_config *out,
		   struct config_error *err);

/**
 * Copy `now` without some flows.
 * @param names  One on each line.
 * @return 0; or -EINVAL (there is no such flow) or -ENOMEM with err filled in and nothing to free.
 */
int nic_config_remove(struct config *cfg, const struct nic_config *now, const char *names,
		      struct nic_config *out, struct config_error *err);

/**
 * Check what nic_config_read_common() read and the program filled in.
 * @return 0, or -EINVAL with the key to blame in err.
 */
int nic_config_check_common(const struct config *cfg, const struct nic_params *params,
			    struct config_error *err);

/** Free what nic_config_read() or nic_config_set() allocated. */
void nic_config_free(struct nic_config *config);

/**
 * Print the configuration in force as a file, which reads back the same. _common: without flows and
 * NIC_DEVICE_SECTIONS, and without the sections that switch_config_print_common() has printed.
 */
void nic_config_print(FILE *out, const struct nic_config *config);
void nic_config_print_common(FILE *out, const struct nic_params *params);

/** List all keys as rows to compare; _common: those of nic_config_print_common(). */
void nic_config_rows_common(const struct nic_params *params, struct config_rows *rows);
void nic_config_rows(const struct nic_config *config, struct config_rows *rows);

/** Print every key, in Markdown; _common: those of nic_config_print_common(). */
void nic_config_print_reference(FILE *out);
void nic_config_print_reference_common(FILE *out);

#endif
