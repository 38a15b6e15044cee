/* SPDX-License-Identifier: BSD-3-Clause */
/* Defaults of a switch without configuration. */
#include <assert.h>
#include <string.h>

#include "switch/params/params.h"

void
sw_params_default(struct sw_params *p, uint16_t n_ports)
{
	int rc = 0;

	assert(n_ports <= SW_MAX_PORTS);
	memset(p, 0, sizeof(*p));
	rc |= field_defaults(sw_fields, sw_fields_n, p);
	rc |= field_defaults(qos_map_fields, qos_map_fields_n, &p->qos);
	rc |= field_defaults(wred_fields, wred_fields_n, &p->wred);
	rc |= field_defaults(sched_fields, sched_fields_n, &p->sched);
	rc |= field_defaults(pfc_fields, pfc_fields_n, &p->pfc);
	rc |= field_defaults(pfcwd_fields, pfcwd_fields_n, &p->pfcwd);
	rc |= field_defaults(lldp_fields, lldp_fields_n, &p->lldp);
	rc |= field_defaults(sw_router_fields, sw_router_fields_n, &p->router);
	mmu_params_default(&p->mmu);
	p->n_ports = n_ports;
	for (uint16_t i = 0; i < n_ports; i++)
		rc |= field_defaults(sw_port_fields, sw_port_fields_n, &p->ports[i]);
	assert(rc == 0);
}
