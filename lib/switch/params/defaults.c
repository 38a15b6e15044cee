/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of struct sw_params, and its defaults. */
#include <assert.h>
#include <string.h>

#include "base/numbers/array.h"
#include "switch/params/params.h"

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
sw_params_default(struct sw_params *p, uint16_t n_ports)
{
	int rc;

	assert(n_ports <= SW_MAX_PORTS);
	memset(p, 0, sizeof(*p));
	rc = field_sections_defaults(sw_sections, sw_sections_n, p);
	p->n_ports = n_ports;
	for (uint16_t i = 0; i < n_ports; i++)
		rc |= field_defaults(sw_port_fields, sw_port_fields_n, &p->ports[i]);
	assert(rc == 0);
	(void)rc;
}
