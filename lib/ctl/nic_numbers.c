/* SPDX-License-Identifier: BSD-3-Clause */
/* Which local numbers the QPs of each flow have. */
#include <errno.h>
#include <stdio.h>

#include "ctl/config_sections.h"
#include "ctl/nic_config.h"

int
nic_config_refuse_flow(const struct config *cfg, const struct nic_flow *flow, const char *why,
		       struct config_error *err)
{
	char section[NIC_FLOW_NAME_CHARS + 8];
	struct config_section row = {section, nic_flow_fields, &nic_flow_fields_n, 0};

	snprintf(section, sizeof(section), "flow %s", flow->name);
	return config_sections_refuse(cfg, &row, 1, flow, why, err);
}

static int
take_given(const struct config *cfg, const struct nic_params *nic, struct nic_flow *flow,
	   struct ranges *used, struct config_error *err)
{
	uint64_t end = (uint64_t)nic->first_qpn + nic->max_qps;
	int rc;

	if (flow->local_qpn < nic->first_qpn || flow->local_qpn + flow->qp_count > end)
		return nic_config_refuse_flow(
			cfg, flow,
			"local_qpn, and as many numbers as qp_count says, must be in [first_qpn, "
			"first_qpn + max_qps - 1] of [nic]",
			err);
	rc = ranges_take_at(used, flow->local_qpn - nic->first_qpn, flow->qp_count);
	if (rc == 0)
		flow->first_number = flow->local_qpn - nic->first_qpn;
	if (rc == -EEXIST)
		return nic_config_refuse_flow(
			cfg, flow,
			"local_qpn and the numbers that follow must not be another flow's, nor of "
			"one that has gone and has not come to rest",
			err);
	return rc;
}

static int
take_free(const struct config *cfg, const struct nic_params *nic, struct nic_flow *flow,
	  struct ranges *used, struct config_error *err)
{
	int64_t first = ranges_take(used, flow->qp_count, nic->max_qps);

	if (first == -ENOSPC)
		return nic_config_refuse_flow(
			cfg, flow,
			"qp_count: max_qps of [nic] leaves no such range of numbers free; a flow "
			"that has gone keeps its own until it has come to rest",
			err);
	if (first < 0)
		return (int)first;
	flow->first_number = (uint32_t)first;
	return 0;
}

int
nic_config_number(const struct config *cfg, struct nic_config *config, struct ranges *used,
		  bool (*wants)(void *arg, const struct nic_flow *flow), void *arg,
		  struct config_error *err)
{
	int rc = 0;

	/* Those that are given first, so that others keep clear of them. */
	for (unsigned int given = 2; rc == 0 && given-- > 0;) {
		for (unsigned int i = 0; rc == 0 && i < config->n_flows; i++) {
			struct nic_flow *flow = &config->flows[i];

			if ((flow->local_qpn != 0) != given || (wants != NULL && !wants(arg, flow)))
				continue;
			rc = (given ? take_given : take_free)(cfg, &config->nic, flow, used, err);
		}
	}
	if (rc == -ENOMEM)
		snprintf(err->text, sizeof(err->text), "out of memory");
	return rc;
}

const struct nic_flow *
nic_config_flow_of(const struct nic_config *config, uint32_t number, uint32_t *qp)
{
	for (unsigned int i = 0; i < config->n_flows; i++) {
		const struct nic_flow *flow = &config->flows[i];

		if (number - flow->first_number >= flow->qp_count)
			continue;
		if (qp != NULL)
			*qp = number - flow->first_number;
		return flow;
	}
	return NULL;
}

uint64_t
nic_config_qps(const struct nic_config *config)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < config->n_flows; i++)
		n += config->flows[i].qp_count;
	return n;
}
