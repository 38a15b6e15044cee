/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/nodes/totals.h"

#include "base/threads/counter.h"

/* Add the counters that a table names. */
static void
add_counters(void *total, const void *part, const struct counter_field *fields, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		uint64_t *to = (uint64_t *)((char *)total + fields[i].offset);

		*to += counter_read((const uint64_t *)((const char *)part + fields[i].offset));
	}
}

struct nic_stats
nic_total_stats(const struct run_app *app)
{
	struct nic_stats total = {0};

	for (uint16_t i = 0; i < app->n_nodes; i++) {
		const struct nic_stats *s = nic_stats(app->nodes[i]);

		add_counters(&total, s, nic_counters, nic_counters_n);
		counters_add(&s->cc, &total.cc, sizeof(total.cc));
		add_counters(&total.np, &s->np, np_counters, np_counters_n);
	}
	return total;
}
