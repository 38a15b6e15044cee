/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the final report that quench-nic and quench-switch share (doc/interface.md). */
#ifndef QUENCH_APP_RUNTIME_REPORT_REPORT_H
#define QUENCH_APP_RUNTIME_REPORT_REPORT_H

#include <inttypes.h>
#include <jansson.h>

#include "base/field/walk.h"
#include "runtime/poll/poll_loop.h"
#include "tm/queue/mark_accuracy.h"
#include "tm/pfc/pfc_rx.h"
#include "tm/pfc/pfc_tx.h"

#define REPORT_FORMAT 2

static inline void
report_set_u64(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

struct node;
struct run_result;

/** Format, program, version and run time. */
void report_walk_program(struct walk *w, const char *program, uint64_t elapsed_ns);
/** Event lines that were not printed. */
void report_walk_suppressed(struct walk *w);

/** When the program started, by the time of day. @param elapsed_ns  now, since the start */
void report_walk_started(struct walk *w, uint64_t elapsed_ns);

/** A port's counters, of the poll loops; without its number. */
void report_walk_port(struct walk *w, const struct run_result *result, uint16_t number,
		      uint64_t link_speed_bps);

/** The device's own counters; nothing if it has none. */
void report_walk_device_stats(struct walk *w, const struct run_result *result, uint16_t number);

/* Names of what a device loses: drops of a switch, counters of a NIC. */
struct report_drop_words {
	const char *missed, *missed_help; /* its receive ring was full */
	const char *cut;                  /* longer than a slot of net_af_packet's ring */
	const char *mtu;                  /* its interface does not send frames of this size */
};

void report_walk_device_drops(struct walk *w, const struct report_drop_words *words,
			      const struct run_result *result, uint16_t number);

/** link, "up" or "down": the state at the last look. */
void report_walk_link(struct walk *w, const struct run_result *result, uint16_t number);

/** Write a report and free it. @return 0, or APP_FAILED after an error line. */
int report_write(json_t *report, const char *path);

/**
 * The list mark_accuracy of a switch's queue: for each range of queue lengths that has packets, the
 * measured share of marked packets and the share expected from the curve. Nothing if the queue does
 * not count them.
 */
void report_walk_mark_accuracy(struct walk *w, const struct node *sw, uint16_t port, uint8_t queue);
/** The same list, of these counts. */
void report_walk_marks(struct walk *w, const struct mark_accuracy *accuracy,
		       const struct wred_curve *curve);
/** Who is at the two ends of a link, for the pauses of several programs: 0 is no address. */
void report_walk_macs(struct walk *w, uint64_t own, uint64_t pause_source);

/**
 * The list pauses: the latest pauses of a port, received and sent.
 *
 * @param link  The port uses 802.3x: priority 0 stands for the link.
 */
void report_walk_pauses(struct walk *w, const struct pfc_rx *rx, const struct pfc_tx *tx, bool link,
			uint64_t now_ns);

#endif
