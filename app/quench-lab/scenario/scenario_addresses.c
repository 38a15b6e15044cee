/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/scenario/scenario_addresses.h"

#include <stdlib.h>

/* Hosts, and pairs of hosts, that are listed. */
#define SHOWN 64u

static void
print_hosts(FILE *out, const struct scenario *s)
{
	uint32_t n = s->topology->n_hosts;

	for (uint16_t h = 1; h <= n && h <= SHOWN; h++) {
		struct field_ip ip = scenario_host_ip(s, h);
		char text[FIELD_IP_CHARS];
		uint8_t mac[6];

		scenario_host_mac(h, mac);
		fprintf(out, "#   h%u: %s, %02x:%02x:%02x:%02x:%02x:%02x\n", h,
			field_ip_text(&ip, text), mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
	}
	if (n > SHOWN)
		fprintf(out, "#   and %u more\n", n - SHOWN);
}

/* "0x100", or "0x100 to 0x103". */
static void
print_numbers(FILE *out, uint32_t first, uint32_t n)
{
	fprintf(out, n > 1 ? "0x%x to 0x%x" : "0x%x", first, first + n - 1);
}

/* used: by host, QPs so far. */
static void
print_pair(FILE *out, const struct flow_params *flow, uint32_t pair, const uint32_t *used)
{
	const struct flow_pair *p = &flow->pairs[pair];
	char title[FLOW_TITLE_CHARS + 1];

	fprintf(out, "#   %s: ", scenario_flow_title(flow, pair, title));
	print_numbers(out, SCENARIO_FIRST_QPN + used[p->src], scenario_pair_qps(flow, pair));
	fprintf(out, " at h%u, ", p->src);
	print_numbers(out, SCENARIO_FIRST_QPN + used[p->dst], scenario_pair_qps(flow, pair));
	fprintf(out, " at h%u\n", p->dst);
}

void
scenario_print_addresses(FILE *out, const struct scenario *s)
{
	uint32_t *used = calloc(s->topology->n_hosts + 1ull, sizeof(*used)), n = 0;

	fputs("# Addresses of the hosts:\n", out);
	print_hosts(out, s);
	fprintf(out,
		"# QP numbers: each host numbers its QPs from 0x%x on, in the order of the flows. A "
		"CNP to\n# the sender of data has the sender's QP number, and comes from the "
		"receiver's address:\n",
		SCENARIO_FIRST_QPN);
	for (uint32_t i = 0; used != NULL && i < s->n_flows; i++) {
		const struct flow_params *flow = &s->flows[i];

		for (uint32_t k = 0; k < flow->n_pairs; k++) {
			if (n++ < SHOWN)
				print_pair(out, flow, k, used);
			used[flow->pairs[k].src] += scenario_pair_qps(flow, k);
			used[flow->pairs[k].dst] += scenario_pair_qps(flow, k);
		}
	}
	if (n > SHOWN)
		fprintf(out, "#   and %u more\n", n - SHOWN);
	free(used);
}
