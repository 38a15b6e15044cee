/* SPDX-License-Identifier: BSD-3-Clause */
/* Which congestion control a pair of hosts has: that of its flow, of its sender, or of [nic]. */
#include <stdio.h>
#include <string.h>

#include "base/numbers/array.h"
#include "fabric/scenario/scenario_parts.h"
#include "fabric/topology/host_list.h"

const struct field host_section_fields[] = {
	{FIELD_OF(struct host_section, hosts), .type = FIELD_STR, .min = 1, .max = FLOW_HOSTS_CHARS,
	 .help = "hosts of this section, such as 1-4 or 1,3, h1-h4, 1-64:8, T1/1-4 or T1"},
	{FIELD_OF(struct host_section, cc), .type = FIELD_ENUM, .choices = cc_choice_words,
	 .def = "default",
	 .help = "congestion control of the data that these hosts send, unless its flow or job has "
		 "a cc of its own; default: cc of [nic]"},
};
const unsigned int host_section_fields_n = ARRAY_LEN(host_section_fields);

int
scenario_give_hosts(struct scenario *s, struct scenario_fault *fault)
{
	uint32_t hosts[TOPOLOGY_MAX_HOSTS], of[TOPOLOGY_MAX_HOSTS + 1];
	char expected[FLOW_NAME_CHARS + 64];

	memset(of, 0, (s->topology->n_hosts + 1u) * sizeof(of[0]));
	for (uint32_t i = 0; i < s->n_host_sections; i++) {
		const struct host_section *h = &s->host_sections[i];
		int32_t n = host_list_parse(s->topology, h->hosts, hosts);

		if (n < 0)
			return scenario_refuse(fault, "host", h->name, "hosts",
					       "hosts of the fabric, such as 1-4 or 1,3, T1/1-4");
		for (int32_t k = 0; k < n; k++) {
			if (of[hosts[k]] > 0) {
				snprintf(expected, sizeof(expected),
					 "hosts of no other section: h%u is in [host %s]", hosts[k],
					 s->host_sections[of[hosts[k]] - 1].name);
				return scenario_refuse(fault, "host", h->name, "hosts", expected);
			}
			of[hosts[k]] = i + 1;
			s->hosts[hosts[k] - 1].cc = (uint8_t)h->cc;
		}
	}
	return 0;
}

uint32_t
scenario_sender(const struct flow_params *flow, uint32_t pair)
{
	const struct flow_pair *p = &flow->pairs[pair];

	return flow->verb == NIC_READ ? p->dst : p->src;
}

int
scenario_cc_choice(const struct scenario *s, const struct flow_params *flow, uint32_t pair)
{
	return flow->cc > 0 ? flow->cc : s->hosts[scenario_sender(flow, pair) - 1].cc;
}

uint32_t
scenario_cc_of_flows(const struct scenario *s)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < s->n_flows; i++)
		for (uint32_t k = 0; k < s->flows[i].n_pairs; k++) {
			int choice = scenario_cc_choice(s, &s->flows[i], k);

			if (choice > 0)
				mask |= 1u << cc_chosen(choice, s->nic.cc);
		}
	return mask;
}
