/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the final report that quench-nic and quench-switch share (doc/interface.md). */
#ifndef QUENCH_APP_RUNTIME_REPORT_REPORT_H
#define QUENCH_APP_RUNTIME_REPORT_REPORT_H

#include <inttypes.h>
#include <jansson.h>

#include "runtime/poll/poll_loop.h"
#include "tm/queue/mark_accuracy.h"
#include "tm/pfc/pfc_rx.h"
#include "tm/pfc/pfc_tx.h"

struct node;
struct sw_ledger;

#define REPORT_FORMAT 2

static inline void
report_set_u64(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

/** New object with format, program, version and run time. */
json_t *report_program(const char *program, uint64_t elapsed_ns);

struct run_result;

/** New object with a port's counters, of the poll loops and of the device. */
json_t *report_port(const struct run_result *result, uint16_t number, uint64_t link_speed_bps);

/** New object with the device's own counters; empty if it has none. */
json_t *report_device_stats(const struct run_result *result, uint16_t number);

/**
 * Set PREFIXdevice_missed to the frames that the device lost because its receive ring was full, and
 * PREFIXdevice_cut to those that were longer than a slot of net_af_packet's ring, and
 * PREFIXdevice_mtu to those that its interface does not send.
 */
void report_set_device_drops(json_t *object, const char *prefix, const struct run_result *result,
			     uint16_t number);

/** "up" or "down": state of the port's link at the last look. */
const char *report_link_word(const struct run_result *result, uint16_t number);

/** Write a report and free it. @return 0, or APP_FAILED after an error line. */
int report_write(json_t *report, const char *path);

/** Add rx_prioN_pause, _pause_transition and _pause_duration_us for each priority. */
void report_set_pfc_rx(json_t *object, const struct pfc_rx *pfc, uint64_t now_ns);
/**
 * Add mark_accuracy: for each bin of queue lengths that has packets, the measured share of marked
 * packets and the share expected from the curve. Adds nothing if accuracy is NULL.
 */
void report_set_mark_accuracy(json_t *object, const struct mark_accuracy *accuracy,
			      const struct wred_curve *curve);
/** Add ledger, the balance of a switch's charged bytes. */
void report_set_ledger(json_t *object, const struct sw_ledger *ledger);
/**
 * New list of the latest pauses of a port, received and sent: prio, way, start_ns, duration_ns,
 * lasts.
 *
 * @param link  The port uses 802.3x: priority 0 stands for the link.
 */
json_t *report_pauses(const struct pfc_rx *rx, const struct pfc_tx *tx, bool link, uint64_t now_ns);
/** Add tx_prioN_pause, _pause_transition and _pause_duration_us for each priority. */
void report_set_pfc_tx(json_t *object, const struct pfc_tx *pfc, uint64_t now_ns);

#endif
