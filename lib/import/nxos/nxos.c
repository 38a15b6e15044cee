// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reads a running-config: the policies of system qos, the watchdog, and then the parts of parts.h.
 */
#include "import/nxos/nxos.h"
#include "import/nxos/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "tm/buffer/thresholds.h"

/* Typical shared buffer of such hardware. */
#define ASSUMED_BUFFER 40000000u
#define XON_OFFSET 20000u

static int
read_system(struct nxos *x)
{
	int rc = 0;

	for (int s = nx_next(&x->nx, NX_TOP, -1); s >= 0; s = nx_next(&x->nx, NX_TOP, s)) {
		if (!nx_is(&x->nx.lines[s], "system qos", NULL))
			continue;
		nx_use(&x->nx, s);
		for (int i = nx_next(&x->nx, s, -1); rc == 0 && i >= 0; i = nx_next(&x->nx, s, i))
			rc = nxos_service(x, i, &x->system);
	}
	return rc;
}

/* Read the watchdog's switch-wide lines. */
static int
read_watchdog(struct nxos *x)
{
	static const struct {
		const char *pattern;
		uint16_t max;
		size_t offset;
	} numbers[] = {
		{"priority-flow-control watch-dog shutdown-multiplier %", 1000,
		 offsetof(struct pfcwd_params, shutdown_multiplier)},
		{"priority-flow-control auto-restore multiplier %", 1000,
		 offsetof(struct pfcwd_params, auto_restore_multiplier)},
		{"priority-flow-control fixed-restore multiplier %", 1000,
		 offsetof(struct pfcwd_params, fixed_restore_multiplier)},
	};
	struct pfcwd_params *wd = &x->out->sw.pfcwd;
	struct nx_args a;
	uint64_t value;
	int rc = 0;

	for (int i = nx_next(&x->nx, NX_TOP, -1); rc == 0 && i >= 0;
	     i = nx_next(&x->nx, NX_TOP, i)) {
		const struct nx_line *l = &x->nx.lines[i];

		if (nx_is(l, "priority-flow-control watch-dog-interval on", NULL)) {
			wd->pfcwd = PFCWD_NXOS;
			nx_use(&x->nx, i);
		} else if (nx_is(l, "priority-flow-control watch-dog-interval off", NULL)) {
			wd->pfcwd = PFCWD_OFF;
			nx_use(&x->nx, i);
		} else if (nx_is(l, "priority-flow-control watch-dog interval %", &a)) {
			rc = nx_number(&x->nx, i, a.word[0], 1, 60000, &value);
			wd->watch_dog_interval_ns = value * NS_PER_MS;
			nx_use(&x->nx, i);
		}
		for (unsigned int k = 0; rc == 0 && k < ARRAY_LEN(numbers); k++) {
			if (!nx_is(l, numbers[k].pattern, &a))
				continue;
			rc = nx_number(&x->nx, i, a.word[0], k == 0 ? 1 : 0, numbers[k].max,
				       &value);
			*(uint16_t *)((char *)wd + numbers[k].offset) = (uint16_t)value;
			nx_use(&x->nx, i);
		}
	}
	return rc;
}

/* Read the switch-wide lines, then the ports that use them. */
static int
read_bindings(struct nxos *x)
{
	int rc = read_system(x);

	if (rc == 0)
		rc = read_watchdog(x);
	if (rc == 0)
		rc = nxos_ports(x);
	if (rc == 0)
		rc = nxos_switchports(x);
	return rc == 0 ? nxos_ip(x) : rc;
}

/* Mode auto negotiates by LLDP. */
static void
set_lldp(struct nxos *x)
{
	struct sw_params *sw = &x->out->sw;

	for (uint16_t i = 0; i < sw->n_ports; i++)
		if (sw->ports[i].flow_control == SW_FLOW_AUTO)
			sw->lldp.lldp = true;
	for (int i = nx_next(&x->nx, NX_TOP, -1); i >= 0; i = nx_next(&x->nx, NX_TOP, i))
		if (nx_is(&x->nx.lines[i], "feature lldp", NULL)) {
			sw->lldp.lldp = true;
			nx_use(&x->nx, i);
		}
}

/* Assume headroom by the formula, and a buffer of at least twice its sum. */
static void
assume_buffer(struct nxos *x)
{
	struct sw_params *sw = &x->out->sw;
	struct mmu_budget budget;
	uint64_t least, xoff = 0;
	const struct sw_port_params *farthest = &sw->ports[0];

	sw_params_resolve(sw);
	sw->mmu.lossless.xon_offset_bytes = XON_OFFSET;
	for (uint16_t i = 0; x->no_drop != 0 && i < sw->n_ports; i++) {
		uint64_t needed = sw_port_headroom(sw, i).total_bytes;

		if (needed > xoff)
			farthest = &sw->ports[i];
		xoff = max_u64(xoff, needed);
	}
	if (x->no_drop != 0) {
		sw->mmu.lossless.xoff_bytes = (xoff + 999) / 1000 * 1000;
		import_note(x->log,
			    " the file does not give the headroom: %" PRIu64
			    " bytes per port and class are assumed, for %" PRIu64
			    "G and %u m of cable",
			    sw->mmu.lossless.xoff_bytes, farthest->link_speed_bps / GBPS,
			    farthest->cable_length_m);
	}
	budget = mmu_params_budget(&sw->mmu);
	least = 2 * max_u64(budget.reserved_bytes + budget.headroom_bytes,
			    budget.egress_reserved_bytes);
	sw->mmu.buffer_bytes = max_u64(ASSUMED_BUFFER, (least + MBPS - 1) / MBPS * MBPS);
	import_note(
		x->log,
		" the file does not give the size of the platform's buffer: buffer_bytes = %" PRIu64
		" is assumed",
		sw->mmu.buffer_bytes);
}

/* Log as lost the policies and class-maps to which no active policy or interface refers. */
static void
blame_unbound(struct nxos *x)
{
	for (int i = nx_next(&x->nx, NX_TOP, -1); i >= 0; i = nx_next(&x->nx, NX_TOP, i)) {
		if (nx_is(&x->nx.lines[i], "policy-map ...", NULL))
			nx_lose_block(&x->nx, i,
				      "neither system qos nor a port of the switch applies it");
		else if (nx_is(&x->nx.lines[i], "class-map ...", NULL))
			nx_lose_block(&x->nx, i, "no applied policy has this class");
	}
}

int
import_nxos(const char *text, size_t size, struct import_switch *out, struct import_log *log)
{
	struct nxos x = {.out = out, .log = log, .network_policy = NX_NO_POLICY};
	int rc;

	import_switch_begin(out);
	rc = nx_lines_read(&x.nx, text, size, log);
	if (rc == 0)
		rc = read_bindings(&x);
	if (rc == 0)
		rc = nxos_qos(&x);
	if (rc == 0)
		rc = nxos_network(&x);
	if (rc == 0)
		rc = nxos_output(&x);
	if (rc == 0)
		rc = nxos_input(&x);
	if (rc == 0) {
		nxos_maps(&x);
		set_lldp(&x);
		assume_buffer(&x);
		blame_unbound(&x);
		nx_report(&x.nx);
		rc = import_switch_finish(out, log);
	}
	nx_lines_free(&x.nx);
	if (rc != 0)
		import_switch_free(out);
	return rc;
}
