/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of struct sw_params, and its defaults. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/numbers/array.h"
#include "switch/params/sw_params.h"

#define SECTION(name, table, member) FIELD_SECTION(name, table, struct sw_params, member)

const struct field_section sw_sections[] = {
	{"switch", sw_device_fields, &sw_device_fields_n, 0},
	{"switch", sw_fields, &sw_fields_n, 0},
	SECTION("switch", mmu_fields, mmu),
	SECTION("qos_map", qos_map_fields, qos),
	SECTION("wred", wred_fields, wred),
#define MARK(id, word) SECTION(#word, word##_fields, marking.of[MARK_SLOT(MARK_##id)]),
#include "tm/queue/mark_table.h"
#undef MARK
	SECTION("buffer_profile lossless", buffer_profile_fields, mmu.lossless),
	SECTION("buffer_profile lossy", buffer_profile_lossy_fields, mmu.lossy),
	SECTION("buffer_profile egress_lossless", buffer_profile_egress_lossless_fields,
		mmu.egress_lossless),
	SECTION("buffer_profile egress_lossy", buffer_profile_egress_lossy_fields,
		mmu.egress_lossy),
	SECTION("scheduler", sched_fields, sched),
	SECTION("pfc", pfc_fields, pfc),
	SECTION("router", sw_router_fields, router),
	SECTION("pfcwd", pfcwd_fields, pfcwd),
	SECTION("lldp", lldp_fields, lldp),
};
const unsigned int sw_sections_n = ARRAY_LEN(sw_sections);

void
sw_params_use_rows(struct sw_params *p, uint16_t n)
{
	for (; p->n_rows < n; p->n_rows++) {
		p->ports[p->n_rows] = (struct sw_port_params){0};
		memcpy(p->pgs[p->n_rows], p->every_pg, sizeof(p->every_pg));
		memcpy(p->queues[p->n_rows], p->every_queue, sizeof(p->every_queue));
	}
}

void
sw_params_copy(const struct sw_params *from, struct sw_params *to)
{
	memcpy(to, from, offsetof(struct sw_params, ports));
	memcpy(to->ports, from->ports, from->n_rows * sizeof(from->ports[0]));
	memcpy(to->pgs, from->pgs, from->n_rows * sizeof(from->pgs[0]));
	memcpy(to->queues, from->queues, from->n_rows * sizeof(from->queues[0]));
}

void
sw_params_default_zeroed(struct sw_params *p, uint16_t n_ports)
{
	int rc;

	assert(n_ports <= SW_MAX_PORTS);
	rc = field_sections_defaults(sw_sections, sw_sections_n, p);
	p->n_ports = n_ports;
	sw_params_use_rows(p, n_ports);
	for (uint16_t i = 0; i < n_ports; i++)
		rc |= field_defaults(sw_port_fields, sw_port_fields_n, &p->ports[i]);
	assert(rc == 0);
	(void)rc;
}

void
sw_params_default(struct sw_params *p, uint16_t n_ports)
{
	memset(p, 0, sizeof(*p));
	sw_params_default_zeroed(p, n_ports);
}
