/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/report/report.h"

#include <stdlib.h>
#include <rte_ethdev.h>

#include "base/numbers/fixed.h"
#include "runtime/device/kernel_ring.h"
#include "runtime/device/port_device.h"
#include "runtime/device/port_removal.h"
#include "runtime/run/run.h"
#include "runtime/notice/say.h"
#include "runtime/notice/wall_time.h"
#include "runtime/release/release.h"
#include "ctl/output/json.h"
#include "switch/sw.h"
#include "wire/bytes/be.h"

void
report_walk_program(struct walk *w, const char *program, uint64_t elapsed_ns)
{
	w->object = "run";
	walk_number(w, WALK_KEY, "format", "format of the keys", REPORT_FORMAT);
	walk_text(w, WALK_KEY, "program", "name of the program", program);
	walk_text(w, WALK_KEY, "version", "version of the program", release_version);
	walk_text(w, WALK_KEY, "commit", "commit of the program's build", release_commit);
	walk_number(w, WALK_GAUGE, "elapsed_ns", "run time of the program", elapsed_ns);
}

void
report_walk_started(struct walk *w, uint64_t elapsed_ns)
{
	char at[WALL_TIME_CHARS];

	WALK(text, w, KEY, "started_at", "start of the program as UTC, ISO 8601",
	     wall_time_of(0, elapsed_ns, at));
}

void
report_walk_suppressed(struct walk *w)
{
	w->object = "run";
	WALK(number, w, COUNTER, "suppressed_lines",
	     "event lines not printed, because their kind of event had reached its limit of "
	     "lines in that second",
	     say_suppressed());
}

void
report_walk_device_stats(struct walk *w, const struct run_result *result, uint16_t number)
{
	struct rte_eth_stats device = {0};

	w->object = "device";
	/* A device that has gone, or that counts nothing, has none. */
	w->optional = true;
	if (w->names_only ||
	    port_device_stats(result->loops[0].ports[number].ethdev, &device) == 0) {
		walk_number(w, WALK_COUNTER, "ipackets",
			    "frames received, as counted by the device", device.ipackets);
		walk_number(w, WALK_COUNTER, "opackets", "frames sent, as counted by the device",
			    device.opackets);
		walk_number(w, WALK_COUNTER, "imissed",
			    "frames lost because the receive ring was full, as counted by the "
			    "device",
			    device.imissed);
		walk_number(w, WALK_COUNTER, "ierrors",
			    "frames received with an error, as counted by the device",
			    device.ierrors);
		walk_number(w, WALK_COUNTER, "oerrors",
			    "frames that the device failed to send, as counted by the device",
			    device.oerrors);
		walk_number(w, WALK_COUNTER, "rx_nombuf",
			    "times that the device had no mbuf for a received frame, as counted "
			    "by the device",
			    device.rx_nombuf);
	}
	w->optional = false;
}

static uint64_t
too_long(const struct run_result *result, uint16_t number)
{
	uint64_t sum = 0;

	for (uint16_t i = 0; i < result->n_loops; i++)
		sum += counter_read(&result->loops[i].ports[number].mtu_drops);
	return sum;
}

void
report_walk_device_drops(struct walk *w, const struct report_drop_words *words,
			 const struct run_result *result, uint16_t number)
{
	uint16_t ethdev = w->names_only ? 0 : result->loops[0].ports[number].ethdev;
	struct rte_eth_stats device = {0};

	if (!w->names_only)
		(void)port_device_stats(ethdev, &device);
	w->object = "drop";
	WALK(number, w, COUNTER, words->missed, words->missed_help, device.imissed);
	WALK(number, w, COUNTER, words->cut,
	     "Longer than a slot (framesz) of net_af_packet's ring, so that the kernel cut it",
	     kernel_ring_cut(ethdev));
	WALK(number, w, COUNTER, words->mtu,
	     "To be sent through net_af_packet, and longer than the MTU of its interface; or through net_memif, and longer than its "
	     "buffers (bsize)",
	     too_long(result, number));
}

/* The histograms of all loops that poll the port, one after the other. */
static void
walk_poll_gap(struct walk *w, const struct run_result *result, uint16_t number)
{
	struct hist *gap_ns = w->names_only ? NULL : calloc(1, sizeof(*gap_ns));

	for (uint16_t i = 0; gap_ns != NULL && i < result->n_loops; i++)
		if (poll_loop_polls(&result->loops[i], number))
			hist_merge(gap_ns, &result->loops[i].gap.gap_ns);
	walk_number(w, WALK_GAUGE, "poll_gap_p50_ns",
		    "time between two polls of the port, median since the start",
		    gap_ns == NULL ? 0 : hist_quantile(gap_ns, 50));
	walk_number(w, WALK_GAUGE, "poll_gap_p99_ns",
		    "time between two polls of the port, 99th percentile since the start",
		    gap_ns == NULL ? 0 : hist_quantile(gap_ns, 99));
	walk_number(w, WALK_GAUGE, "poll_gap_max_ns",
		    "time between two polls of the port, maximum since the start",
		    gap_ns == NULL ? 0 : gap_ns->max);
	free(gap_ns);
}

void
report_walk_port(struct walk *w, const struct run_result *result, uint16_t number,
		 uint64_t link_speed_bps)
{
	const struct poll_port *port = w->names_only ? NULL : &result->loops[0].ports[number];
	uint64_t held = 0, refusals = 0, lost = 0, late_ns = 0;

	for (uint16_t i = 0; !w->names_only && i < result->n_loops; i++) {
		held += poll_port_read_held(&result->loops[i].ports[number]);
		refusals += poll_port_refusals(&result->loops[i].ports[number]);
		lost += counter_read(&result->loops[i].ports[number].removal_drops);
		if (poll_loop_polls(&result->loops[i], number))
			late_ns += counter_read(&result->loops[i].gap.lost_ns);
	}
	w->object = "port";
	WALK(text, w, KEY, "device", "name of the device", port_name(port->ethdev));
	walk_number(w, WALK_GAUGE, "link_speed_bps", "speed of the link, from the configuration",
		    link_speed_bps);
	walk_number(w, WALK_GAUGE, "held",
		    "frames that wait for room in the device's transmit ring", held);
	walk_number(w, WALK_COUNTER, "refusals",
		    "times that the device did not take all frames offered; each further attempt "
		    "counts again",
		    refusals);
	WALK(number, w, COUNTER, "link_down_events_phy", "times that the link went down",
	     counter_read(&result->links[number].down_events));
	WALK(number, w, COUNTER, "link_down_ns", "total time during which the link was down",
	     counter_read(&result->links[number].down_ns));
	WALK(number, w, COUNTER, "device_removals",
	     "1 if the device was removed while the program ran",
	     port_removal_requested(port->ethdev));
	walk_number(w, WALK_COUNTER, "device_removal_drops",
		    "frames dropped because the device was removed before it took them", lost);
	walk_number(
		w, WALK_COUNTER, "poll_late_ns",
		"time beyond shaper_burst_ns by which polls that moved frames were late, so that "
		"a shaped port lost it",
		late_ns);
	walk_poll_gap(w, result, number);
}

void
report_walk_link(struct walk *w, const struct run_result *result, uint16_t number)
{
	w->object = "port";
	WALK(text, w, GAUGE, "link", "whether the link is up",
	     port_link_is_down(&result->links[number]) ? "down" : "up");
}

static void
walk_mac(struct walk *w, const char *name, const char *help, uint64_t mac)
{
	uint8_t bytes[6];
	char text[FIELD_MAC_CHARS];

	be48_store(bytes, mac);
	walk_text(w, WALK_KEY, name, help, mac == 0 ? "" : field_mac_text(bytes, text));
}

void
report_walk_macs(struct walk *w, uint64_t own, uint64_t pause_source)
{
	walk_mac(w, "mac", "MAC address of the port, which its pause frames come from", own);
	walk_mac(w, "pause_source",
		 "MAC address that sent the last pause frame; empty: none has arrived",
		 pause_source);
}

void
report_walk_pauses(struct walk *w, const struct pfc_rx *rx, const struct pfc_tx *tx, bool link,
		   uint64_t now_ns)
{
	static const char *const ways[] = {"rx", "tx"};
	struct pause_view v[PAUSE_LOG_MOST] = {{0}};
	char at[WALL_TIME_CHARS];

	walk_list(w, "pauses");
	for (unsigned int way = 0; way < 2; way++) {
		unsigned int n = w->names_only ? 1
				 : way == 0    ? pfc_rx_pauses(rx, v, now_ns)
					       : pfc_tx_pauses(tx, v, now_ns);

		for (unsigned int i = 0; i < n; i++) {
			walk_item(w, "pauses");
			walk_limit(w, WALK_KEY, "prio", "the priority; link: 802.3x", v[i].prio,
				   link ? "link" : NULL);
			walk_text(w, WALK_KEY, "way", "rx or tx", ways[way]);
			walk_number(w, WALK_KEY, "start_ns", "since the start", v[i].start_ns);
			WALK(text, w, KEY, "start_at", "the same as UTC, ISO 8601",
			     wall_time_of(v[i].start_ns, now_ns, at));
			walk_number(w, WALK_KEY, "duration_ns", "until now if it lasts",
				    v[i].duration_ns);
			walk_flag(w, WALK_KEY, "lasts", "whether it is in force", v[i].lasts);
			walk_leave(w);
		}
	}
}

/* @param bin  NULL with names_only. */
static void
walk_mark_bin(struct walk *w, const struct mark_bin *bin, uint64_t upper_bytes)
{
	/*
	 * The data path counts the packet before the mark. Read in the opposite order, so that
	 * marked <= packets.
	 */
	uint64_t expected_q32 = bin == NULL ? 0 : counter_read(&bin->expected_q32);
	uint64_t marked = bin == NULL ? 0 : __atomic_load_n(&bin->marked, __ATOMIC_ACQUIRE);
	uint64_t packets = bin == NULL ? 1 : counter_read(&bin->packets);

	walk_maybe(w, WALK_KEY, "up_to_bytes",
		   "upper end of a range of queue lengths; null: all above the curve", upper_bytes,
		   upper_bytes == UINT64_MAX);
	walk_number(w, WALK_KEY, "packets", "ECT packets that met a queue of this length", packets);
	walk_number(w, WALK_KEY, "marked", "those of them that were marked", marked);
	walk_real(w, WALK_KEY, "measured", "marked / packets", (double)marked / (double)packets);
	walk_real(w, WALK_KEY, "expected", "mean of the curve at the lengths that they met",
		  (double)expected_q32 / (double)Q32_ONE / (double)packets);
}

void
report_walk_marks(struct walk *w, const struct mark_accuracy *accuracy,
		  const struct wred_curve *curve)
{
	walk_list(w, "mark_accuracy");
	for (unsigned int i = 0; i < (w->names_only ? 1 : MARK_BINS); i++) {
		if (!w->names_only && counter_read(&accuracy->bins[i].packets) == 0)
			continue;
		walk_item(w, "mark_accuracy");
		walk_mark_bin(w, w->names_only ? NULL : &accuracy->bins[i],
			      w->names_only ? 0 : mark_bin_upper_bytes(curve, i));
		walk_leave(w);
	}
}

void
report_walk_mark_accuracy(struct walk *w, const struct node *sw, uint16_t port, uint8_t queue)
{
	if (w->names_only)
		report_walk_marks(w, NULL, NULL);
	else if (sw_mark_accuracy(sw, port, queue) != NULL)
		report_walk_marks(w, sw_mark_accuracy(sw, port, queue),
				  sw_mark_curve(sw, port, queue));
}

int
report_write(json_t *report, const char *path)
{
	int rc = json_write(report, path);

	json_decref(report);
	if (rc == 0)
		return APP_DONE;
	say_unwritten(path, -rc);
	return APP_FAILED;
}
