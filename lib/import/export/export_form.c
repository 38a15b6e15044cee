// SPDX-License-Identifier: BSD-3-Clause
#include "import/export/export_form.h"
#include "import/conversion/import_memory.h"

#include "base/numbers/decimal.h"
#include "base/numbers/fixed.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/conversion/import_classes.h"
#include "import/conversion/import_log.h"
#include "import/sonic/sonic.h"
#include "switch/params/port_names.h"

/*
 * Names for the curve of [wred]. The second name is used if another curve of the file has the
 * first.
 */
static const char *const curve_names[] = {"AZURE_LOSSLESS", "quench_wred"};

static bool
has_curve(const struct sw_params *sw, const char *name)
{
	for (unsigned int i = 0; i < sw->n_wred_profiles; i++)
		if (strcmp(sw->wred_profiles[i].name, name) == 0)
			return true;
	return false;
}

/* Name the curve of [wred], and set the name of its curve in each queue. */
static void
name_curves(struct sw_params *sw, const struct sw_params *defaults)
{
	const char *name = curve_names[has_curve(sw, curve_names[0])];
	bool is_used = false;

	for (uint16_t port = 0; port < sw->n_ports; port++) {
		for (uint8_t q = 0; q < TM_CLASSES; q++) {
			struct sw_queue_params *queue = &sw->queues[port][q];
			const struct wred_params *curve = sw_queue_wred(sw, port, q);
			bool is_shared = curve == &sw->wred;

			is_used |= is_shared;
			if (curve == NULL || is_shared)
				snprintf(queue->wred_profile, sizeof(queue->wred_profile), "%s",
					 is_shared ? name : SW_PROFILE_DEFAULT);
		}
	}
	if (is_used && sw->n_wred_profiles < SW_MAX_WRED_PROFILES && !has_curve(sw, name)) {
		struct sw_wred_profile *own = &sw->wred_profiles[sw->n_wred_profiles++];

		snprintf(own->name, sizeof(own->name), "%s", name);
		own->params = sw->wred;
	}
	sw->wred_queues = 0;
	sw->wred = defaults->wred;
}

/* [pfcwd] gets the first watched port's values; without a watchdog ports have their defaults. */
static void
join_watches(struct sw_params *sw)
{
	struct pfcwd_params first = sw->pfcwd;
	bool found = false;

	for (uint16_t i = 0; i < sw->n_ports; i++) {
		if (sw->pfcwd.pfcwd != PFCWD_SONIC)
			sw->ports[i].pfcwd = true;
		if (sw->ports[i].pfcwd && !found) {
			first = sw_port_pfcwd(sw, i);
			found = true;
		}
	}
	for (uint16_t i = 0; found && i < sw->n_ports; i++) {
		const struct pfcwd_params own = sw_port_pfcwd(sw, i);
		struct sw_port_params *p = &sw->ports[i];

		p->pfcwd_action = 0;
		p->pfcwd_detection_time_ns = p->pfcwd_restoration_time_ns = 0;
		if (!p->pfcwd)
			continue;
		if (own.action != first.action)
			p->pfcwd_action = 1 + own.action;
		if (own.detection_time_ns != first.detection_time_ns)
			p->pfcwd_detection_time_ns = own.detection_time_ns;
		if (own.restoration_time_ns != first.restoration_time_ns)
			p->pfcwd_restoration_time_ns = own.restoration_time_ns;
	}
	sw->pfcwd.action = first.action;
	sw->pfcwd.detection_time_ns = first.detection_time_ns;
	sw->pfcwd.restoration_time_ns = first.restoration_time_ns;
}

int
export_find_lost(const char *json, const struct import_switch *sw, struct import_log *log)
{
	struct import_switch *back = import_alloc(1, sizeof(*back));
	struct import_log back_log = {.file = "config_db.json"};
	char *was, *is;
	int rc;

	rc = import_sonic(json, strlen(json), back, &back_log);
	if (rc != 0) {
		import_refuse(log, " makes tables that SONiC cannot have: %s", back_log.error);
	} else {
		was = import_switch_text(&sw->sw);
		is = import_switch_text(&back->sw);
		import_lose_changed(log, was, is, "no counterpart in SONiC's tables");
		if (sw->pool.backing_frame_bytes != back->pool.backing_frame_bytes)
			import_lost(log,
				    " [pool] backing_frame_bytes = %u: no counterpart in "
				    "SONiC's tables",
				    sw->pool.backing_frame_bytes);
		free(was);
		free(is);
		import_switch_free(back);
	}
	import_log_free(&back_log);
	free(back);
	return rc;
}

/* The number of one of SONiC's names, such as Ethernet12, or -1. */
static long
sonic_number(const char *name)
{
	static const char word[] = "Ethernet";
	uint64_t number;

	if (strncmp(name, word, strlen(word)) != 0 ||
	    !decimal_parse(name + strlen(word), 0, INT32_MAX, &number))
		return -1;
	return (long)number;
}

/*
 * Ports have SONiC's names, if those are in the order in which SONiC lists them. Otherwise they get
 * the names of a platform with four lanes a port.
 */
static void
name_ports(struct sw_params *sw, struct import_log *log)
{
	bool has_names = true, any = false;
	long before = -1;

	for (uint16_t i = 0; i < sw->n_ports; i++) {
		long number = sonic_number(sw->ports[i].name);

		any |= sw_port_has_name(&sw->ports[i]);
		has_names &= number > before;
		before = number;
	}
	if (has_names)
		return;
	for (uint16_t i = 0; i < sw->n_ports; i++)
		snprintf(sw->ports[i].name, sizeof(sw->ports[i].name), "Ethernet%u", 4u * i);
	import_note(log, " ports are named Ethernet0, Ethernet4 and so on%s",
		    any ? ": their own names are their alias" : "");
}

/* What most ports have is [qos_map] and [scheduler], as the importer chooses. */
static void
share_classes(struct sw_params *sw)
{
	struct qos_map_params qos[SW_DEVICE_PORTS];
	struct sched_params sched[SW_DEVICE_PORTS];

	for (uint16_t i = 0; i < sw->n_ports; i++) {
		qos[i] = sw_port_qos(sw, i);
		sched[i] = sw_port_sched(sw, i);
	}
	import_set_qos(sw, qos);
	import_set_sched(sw, sched);
}

/* The most that a group of this profile has. */
static uint64_t
most_headroom(const struct mmu_params *mmu, const struct buffer_profile *b)
{
	uint64_t most = 0;

	for (uint16_t port = 0; port < mmu->n_ports; port++)
		for (uint8_t pg = 0; pg < TM_CLASSES; pg++)
			if (mmu_pg_profile(mmu, port, pg) == b)
				most = max_u64(most, mmu_pg_headroom(mmu, port, pg));
	return most;
}

/* SONiC's profiles have the headroom as a number. */
static void
fix_headroom(struct mmu_params *mmu)
{
	struct buffer_profile *profiles[MMU_MAX_PROFILES + 1] = {&mmu->lossless};

	for (unsigned int i = 0; i < mmu->n_profiles; i++)
		profiles[1 + i] = &mmu->profiles[i];
	for (unsigned int i = 0; i <= mmu->n_profiles; i++)
		if (profiles[i]->xoff_bytes == MMU_XOFF_AUTO)
			profiles[i]->xoff_bytes = most_headroom(mmu, profiles[i]);
}

void
export_form(struct sw_params *sw, const struct sw_params *defaults, struct import_log *log)
{
	name_ports(sw, log);
	fix_headroom(&sw->mmu);
	share_classes(sw);
	name_curves(sw, defaults);
	join_watches(sw);
}
