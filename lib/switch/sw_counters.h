/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of the switch's counters: reports, telemetry and the reference are loops over them.
 */
#ifndef QUENCH_SWITCH_SW_COUNTERS_H
#define QUENCH_SWITCH_SW_COUNTERS_H

#include "base/field.h"
#include "switch/sw.h"

extern const struct counter_field sw_port_counter_fields[]; /* of struct sw_port_stats */
extern const unsigned int sw_port_counter_fields_n;
extern const struct counter_field sw_queue_counter_fields[]; /* of struct sw_queue_stats */
extern const unsigned int sw_queue_counter_fields_n;
extern const struct counter_field sw_pg_counter_fields[]; /* of struct sw_pg_stats */
extern const unsigned int sw_pg_counter_fields_n;
extern const struct counter_field sw_drop_counter_fields[SW_DROPS]; /* of struct sw_port_stats */
extern const struct counter_field sw_malformed_counter_fields[];    /* of struct sw_port_stats */
extern const unsigned int sw_malformed_counter_fields_n;
extern const struct counter_field sw_router_counter_fields[]; /* of struct sw_router_stats */
extern const unsigned int sw_router_counter_fields_n;
extern const struct counter_field sw_interface_counter_fields[]; /* of struct sw_interface_stats */
extern const unsigned int sw_interface_counter_fields_n;
extern const struct counter_field sw_fdb_counter_fields[]; /* of struct fdb_stats */
extern const unsigned int sw_fdb_counter_fields_n;
extern const struct counter_field
	sw_ledger_counter_fields[]; /* of struct sw_ledger; queued is none */
extern const unsigned int sw_ledger_counter_fields_n;

#endif
