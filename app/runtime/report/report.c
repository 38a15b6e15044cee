/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <rte_ethdev.h>

#include "base/numbers/units.h"
#include "runtime/device/kernel_ring.h"
#include "runtime/device/port_device.h"
#include "runtime/device/port_removal.h"
#include "runtime/run/run.h"
#include "runtime/notice/say.h"
#include "ctl/output/json.h"
#include "switch/sw.h"
#include "switch/params/sw_counters.h"

json_t *
report_program(const char *program, uint64_t elapsed_ns)
{
	json_t *o = json_object();

	report_set_u64(o, "format", REPORT_FORMAT);
	json_object_set_new(o, "program", json_string(program));
	json_object_set_new(o, "version", json_string(QUENCH_VERSION));
	report_set_u64(o, "elapsed_ns", elapsed_ns);
	return o;
}

json_t *
report_device_stats(const struct run_result *result, uint16_t number)
{
	struct rte_eth_stats device;
	json_t *o = json_object();

	if (port_device_stats(result->loops[0].ports[number].ethdev, &device) != 0)
		return o;
	report_set_u64(o, "ipackets", device.ipackets);
	report_set_u64(o, "opackets", device.opackets);
	report_set_u64(o, "imissed", device.imissed);
	report_set_u64(o, "ierrors", device.ierrors);
	report_set_u64(o, "oerrors", device.oerrors);
	report_set_u64(o, "rx_nombuf", device.rx_nombuf);
	return o;
}

void
report_set_device_drops(json_t *object, const char *prefix, const struct run_result *result,
			uint16_t number)
{
	uint16_t ethdev = result->loops[0].ports[number].ethdev;
	struct rte_eth_stats device = {0};
	uint64_t too_long = 0;
	char key[64];

	(void)port_device_stats(ethdev, &device);
	snprintf(key, sizeof(key), "%sdevice_missed", prefix);
	report_set_u64(object, key, device.imissed);
	snprintf(key, sizeof(key), "%sdevice_cut", prefix);
	report_set_u64(object, key, kernel_ring_cut(ethdev));
	for (uint16_t i = 0; i < result->n_loops; i++)
		too_long += counter_read(&result->loops[i].ports[number].mtu_drops);
	snprintf(key, sizeof(key), "%sdevice_mtu", prefix);
	report_set_u64(object, key, too_long);
}

/* The histograms of all loops that poll the port, one after the other. */
static void
set_poll_gap(json_t *o, const struct run_result *result, uint16_t number)
{
	struct hist *gap_ns = calloc(1, sizeof(*gap_ns));

	for (uint16_t i = 0; gap_ns != NULL && i < result->n_loops; i++)
		if (poll_loop_polls(&result->loops[i], number))
			hist_merge(gap_ns, &result->loops[i].gap.gap_ns);
	report_set_u64(o, "poll_gap_p50_ns", gap_ns == NULL ? 0 : hist_quantile(gap_ns, 50));
	report_set_u64(o, "poll_gap_p99_ns", gap_ns == NULL ? 0 : hist_quantile(gap_ns, 99));
	report_set_u64(o, "poll_gap_max_ns", gap_ns == NULL ? 0 : gap_ns->max);
	free(gap_ns);
}

json_t *
report_port(const struct run_result *result, uint16_t number, uint64_t link_speed_bps)
{
	const struct poll_loop *loops = result->loops;
	const struct poll_port *port = &loops[0].ports[number];
	uint64_t held = 0, refusals = 0, lost = 0;
	json_t *o = json_object();

	for (uint16_t i = 0; i < result->n_loops; i++) {
		held += poll_port_read_held(&loops[i].ports[number]);
		refusals += poll_port_refusals(&loops[i].ports[number]);
		lost += counter_read(&loops[i].ports[number].removal_drops);
	}
	report_set_u64(o, "port", number);
	json_object_set_new(o, "device", json_string(port_name(port->ethdev)));
	report_set_u64(o, "link_speed_bps", link_speed_bps);
	report_set_u64(o, "held", held);
	report_set_u64(o, "refusals", refusals);
	report_set_u64(o, "link_down_events_phy", counter_read(&result->links[number].down_events));
	report_set_u64(o, "link_down_ns", counter_read(&result->links[number].down_ns));
	report_set_u64(o, "device_removals", port_removal_requested(port->ethdev));
	report_set_u64(o, "device_removal_drops", lost);
	set_poll_gap(o, result, number);
	json_object_set_new(o, "device_stats", report_device_stats(result, number));
	return o;
}

const char *
report_link_word(const struct run_result *result, uint16_t number)
{
	return port_link_is_down(&result->links[number]) ? "down" : "up";
}

static void
set_prio(json_t *o, const char *way, unsigned int prio, const char *what, uint64_t value)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_prio%u_pause%s", way, prio, what);
	report_set_u64(o, key, value);
}

void
report_set_pfc_rx(json_t *o, const struct pfc_rx *pfc, uint64_t now_ns)
{
	for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
		set_prio(o, "rx", prio, "", counter_read(&pfc->stats.rx_pause[prio]));
		set_prio(o, "rx", prio, "_transition",
			 counter_read(&pfc->stats.rx_pause_transition[prio]));
		set_prio(o, "rx", prio, "_duration_us",
			 pfc_rx_duration_ns(pfc, prio, now_ns) / NS_PER_US);
	}
}

void
report_set_pfc_tx(json_t *o, const struct pfc_tx *pfc, uint64_t now_ns)
{
	for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
		set_prio(o, "tx", prio, "", counter_read(&pfc->stats.tx_pause[prio]));
		set_prio(o, "tx", prio, "_transition",
			 counter_read(&pfc->stats.tx_pause_transition[prio]));
		set_prio(o, "tx", prio, "_duration_us",
			 pfc_tx_duration_ns(pfc, prio, now_ns) / NS_PER_US);
	}
}

static void
add_pauses(json_t *list, const char *way, const struct pause_view *v, unsigned int n, bool link)
{
	for (unsigned int i = 0; i < n; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "prio",
				    link ? json_string("link") : json_integer(v[i].prio));
		json_object_set_new(o, "way", json_string(way));
		report_set_u64(o, "start_ns", v[i].start_ns);
		report_set_u64(o, "duration_ns", v[i].duration_ns);
		json_object_set_new(o, "lasts", json_boolean(v[i].lasts));
		json_array_append_new(list, o);
	}
}

json_t *
report_pauses(const struct pfc_rx *rx, const struct pfc_tx *tx, bool link, uint64_t now_ns)
{
	struct pause_view v[PAUSE_LOG_MOST];
	json_t *list = json_array();

	add_pauses(list, "rx", v, pfc_rx_pauses(rx, v, now_ns), link);
	add_pauses(list, "tx", v, pfc_tx_pauses(tx, v, now_ns), link);
	return list;
}

static json_t *
mark_bin_object(const struct mark_bin *bin, uint64_t upper_bytes)
{
	/*
	 * The data path counts the packet before the mark. Read in the opposite order, so that
	 * marked <= packets.
	 */
	uint64_t expected_q32 = counter_read(&bin->expected_q32);
	uint64_t marked = __atomic_load_n(&bin->marked, __ATOMIC_ACQUIRE);
	uint64_t packets = counter_read(&bin->packets);
	json_t *o = json_object();

	if (upper_bytes == UINT64_MAX)
		json_object_set_new(o, "up_to_bytes", json_null());
	else
		report_set_u64(o, "up_to_bytes", upper_bytes);
	report_set_u64(o, "packets", packets);
	report_set_u64(o, "marked", marked);
	json_object_set_new(o, "measured", json_real((double)marked / (double)packets));
	json_object_set_new(o, "expected",
			    json_real((double)expected_q32 / (double)Q32_ONE / (double)packets));
	return o;
}

void
report_set_mark_accuracy(json_t *object, const struct mark_accuracy *accuracy,
			 const struct wred_curve *curve)
{
	json_t *bins = accuracy != NULL ? json_array() : NULL;

	for (unsigned int i = 0; accuracy != NULL && i < MARK_BINS; i++) {
		if (counter_read(&accuracy->bins[i].packets) > 0)
			json_array_append_new(bins,
					      mark_bin_object(&accuracy->bins[i],
							      mark_bin_upper_bytes(curve, i)));
	}
	if (bins != NULL)
		json_object_set_new(object, "mark_accuracy", bins);
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

void
report_set_ledger(json_t *object, const struct sw_ledger *ledger)
{
	const struct sw_ledger l = *ledger;
	json_t *o = json_object();

	json_set_counters(o, sw_ledger_counter_fields, sw_ledger_counter_fields_n, &l);
	report_set_u64(o, "queued", l.queued);
	json_object_set_new(object, "ledger", o);
}
