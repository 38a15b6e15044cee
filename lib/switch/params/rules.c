/* SPDX-License-Identifier: BSD-3-Clause */
/* Values derived from the keys of a switch, and the rules across them. */
#include <string.h>

#include "switch/tables/sw_limits.h"
#include "switch/params/sw_params.h"
#include "switch/params/port_names.h"
#include "wire/frame/frame.h"
#include "wire/link/pfc_frame.h"

void
sw_params_resolve(struct sw_params *params)
{
	if (params->n_ports <= SW_MAX_PORTS)
		sw_params_use_rows(params, params->n_ports);
	for (uint16_t i = 0; i < params->n_ports && i < SW_MAX_PORTS; i++) {
		if (params->ports[i].shaper_rate_bps == 0)
			params->ports[i].shaper_rate_bps = params->ports[i].link_speed_bps;
	}
	params->mmu.n_ports = params->n_ports;
	for (uint16_t i = 0; i < params->n_ports && i < SW_MAX_PORTS; i++) {
		struct qos_map_params qos = sw_port_qos(params, i);

		params->mmu.lossless_pgs[i] = params->pfc_generate ? qos.pfc_enable : 0;
		params->mmu.lossless_queues[i] =
			params->pfc_generate ? qos_map_lossless_queues(&qos) : 0;
	}
	sw_class_resolve(params);
	sw_headroom_resolve(params);
}

static const char *
port_fault(const struct sw_port_params *p)
{
	static const uint8_t zero[6];

	/*
	 * PFC testers send pause frames with a zero source, and ports obey them. Our own frames
	 * need a unicast source.
	 */
	if (memcmp(p->mac, zero, sizeof(zero)) == 0 || p->mac[0] & 1)
		return "mac is not a unicast address";
	if (p->pfc_asymmetric && p->flow_control != SW_FLOW_PFC && p->flow_control != SW_FLOW_AUTO)
		return "pfc_asymmetric is for flow_control = pfc or auto";
	if (p->shaper_rate_bps > p->link_speed_bps)
		return "shaper_rate_bps is above link_speed_bps";
	return NULL;
}

static const char *
vlan_fault(const struct sw_params *params, const struct sw_port_params *p)
{
	struct vlan_set set;

	if (vlan_set_parse(p->tagged_vlans, &set) < 0)
		return "tagged_vlans is neither none nor numbers from 1 to 4094 such as 10,20-29";
	if (!params->vlan_filtering)
		return p->access_vlan > 1 || !vlan_set_is_empty(&set)
			       ? "access_vlan or tagged_vlans without vlan_filtering = on"
			       : NULL;
	if (p->access_vlan != 0 && vlan_set_has(&set, p->access_vlan))
		return "tagged_vlans includes access_vlan";
	return NULL;
}

void
sw_shards_deal(const struct sw_params *params, uint8_t shard_of_port[])
{
	uint16_t n = params->shards > 0 ? params->shards : 1, turn = 0;

	for (uint16_t i = 0; i < params->n_ports; i++) {
		uint16_t given = params->ports[i].shard;

		shard_of_port[i] = (uint8_t)(given > 0 ? given - 1 : turn++ % n);
	}
}

const char *
sw_shards_fault(const struct sw_params *p)
{
	if (p->shards > 1 && p->n_ports > SW_DEVICE_PORTS)
		return "shards is above 1; a switch with more than 64 ports has one shard";
	/* shards 0: the program does not know the number yet. */
	if (p->shards > p->n_ports)
		return "shards is above the number of ports; each shard needs a port";
	for (uint16_t i = 0; i < p->n_ports; i++) {
		if (p->shards > 0 && p->ports[i].shard > p->shards)
			return "shard of a port is above shards";
	}
	return NULL;
}

struct pfcwd_params
sw_port_pfcwd(const struct sw_params *params, uint16_t port)
{
	const struct sw_port_params *p = &params->ports[port];
	struct pfcwd_params merged = params->pfcwd;

	if (p->pfcwd_action != 0)
		merged.action = p->pfcwd_action - 1;
	if (p->pfcwd_detection_time_ns != 0)
		merged.detection_time_ns = p->pfcwd_detection_time_ns;
	if (p->pfcwd_restoration_time_ns != 0)
		merged.restoration_time_ns = p->pfcwd_restoration_time_ns;
	if (p->pfcwd_interface_multiplier != 0)
		merged.shutdown_multiplier = p->pfcwd_interface_multiplier;
	return merged;
}

/*
 * A port that spends all its time on PFC refreshes sends no data; if all ports do, no buffer is
 * ever freed and no XOFF ends. At least half of the time must be left for other frames.
 */
static bool
refresh_starves(const struct sw_params *params, const struct sw_port_params *port)
{
	uint64_t pause_ns = pfc_quanta_ns(params->pfc.pfc_xoff_quanta, port->link_speed_bps);
	uint64_t frame_ns = serialization_ns(wire_bytes(PFC_FRAME_BYTES), port->shaper_rate_bps);

	return pause_ns * params->pfc.pfc_refresh_pct / 100 < 2 * frame_ns;
}

static int
port_check(const struct sw_params *params, uint16_t port, char *why, unsigned int why_size)
{
	const struct sw_port_params *p = &params->ports[port];
	const struct pfcwd_params pfcwd = sw_port_pfcwd(params, port);
	const struct qos_map_params qos = sw_port_qos(params, port);
	const char *fault;
	char clause[512];

	if (fields_check(sw_port_fields, sw_port_fields_n, p, clause, sizeof(clause)) != 0)
		fault = clause;
	else if ((fault = port_fault(p)) == NULL &&
		 (fault = sw_port_name_fault(params, port)) == NULL &&
		 (fault = vlan_fault(params, p)) == NULL && pfcwd.pfcwd != PFCWD_OFF &&
		 pfcwd_params_check(&pfcwd, clause, sizeof(clause)) != 0)
		fault = clause;
	if (fault == NULL && qos_map_params_check(&qos, clause, sizeof(clause)) != 0)
		fault = clause;
	if (fault == NULL && p->flow_control == SW_FLOW_AUTO && !params->lldp.lldp)
		fault = "flow_control = auto without lldp = on";
	if (fault != NULL)
		return params_refuse(why, why_size, "port %u: %s", port, fault);
	if (params->pfc_generate && refresh_starves(params, p))
		return params_refuse(
			why, why_size,
			"pfc_xoff_quanta x pfc_refresh_pct is less than the time of two pause "
			"frames at shaper_rate_bps: the port would have no time for data");
	return 0;
}

int
sw_params_check(const struct sw_params *params, char *why, unsigned int why_size)
{
	int rc = field_sections_check(sw_sections, sw_sections_n, params, why, why_size);

	if (params->n_ports == 0 || params->n_ports > SW_MAX_PORTS)
		return params_refuse(why, why_size, "a switch has 1 to 512 ports");
	if (rc == 0 && sw_shards_fault(params) != NULL)
		rc = params_refuse(why, why_size, "%s", sw_shards_fault(params));
	if (rc == 0)
		rc = qos_map_params_check(&params->qos, why, why_size);
	if (rc == 0)
		rc = wred_params_check(&params->wred, why, why_size);
	if (rc == 0)
		rc = mark_params_check(&params->marking, why, why_size);
	if (rc == 0)
		rc = pfcwd_params_check(&params->pfcwd, why, why_size);
	for (uint16_t i = 0; rc == 0 && i < params->n_ports; i++)
		rc = port_check(params, i, why, why_size);
	if (rc == 0)
		rc = sw_tables_check(params, why, why_size);
	if (rc == 0)
		rc = sw_class_check(params, why, why_size);
	return rc == 0 ? mmu_params_check(&params->mmu, why, why_size) : rc;
}
