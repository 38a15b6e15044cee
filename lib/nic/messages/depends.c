/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/messages/depends.h"

#include <errno.h>
#include <stdlib.h>

#include "nic/core/core.h"

#define NONE UINT32_MAX

/* By item. */
struct nic_dependencies {
	uint32_t *after; /* the QP that it depends on, or NONE */
	uint32_t *next;  /* the QP that depends on it, or NONE */
};

static int
create(struct nic *nic)
{
	uint32_t n = nic->params.max_qps;
	struct nic_dependencies *chains = calloc(1, sizeof(*chains));

	if (chains == NULL)
		return -ENOMEM;
	nic->chains = chains;
	chains->after = malloc(n * sizeof(*chains->after));
	chains->next = malloc(n * sizeof(*chains->next));
	if (chains->after == NULL || chains->next == NULL) {
		nic_depends_free(nic);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		chains->after[i] = chains->next[i] = NONE;
	return 0;
}

void
nic_depends_free(struct nic *nic)
{
	if (nic->chains == NULL)
		return;
	free(nic->chains->after);
	free(nic->chains->next);
	free(nic->chains);
	nic->chains = NULL;
}

int
nic_depends(struct node *node, uint32_t index, uint32_t after)
{
	struct nic *nic = (struct nic *)node;

	if (index >= nic->n_qps || after >= nic->n_qps || !(nic->qps[index].flags & QP_REQUESTER) ||
	    nic->qps[index].flags & QP_READS || nic->qps[after].flags & (QP_REQUESTER | QP_UD) ||
	    nic_flow_of(nic, &nic->qps[index])->params.arrival != WORKLOAD_CLOSED)
		return -EINVAL;
	if (nic->chains == NULL && create(nic) < 0)
		return -ENOMEM;
	if (nic->chains->after[index] != NONE || nic->chains->next[after] != NONE)
		return -EINVAL;
	nic->chains->after[index] = after;
	nic->chains->next[after] = index;
	return 0;
}

bool
nic_depends_may_begin(const struct nic *nic, uint32_t item, uint64_t message)
{
	uint32_t after = nic->chains->after[item];

	return after == NONE || message <= nic->tallies[after].rx_messages;
}

uint32_t
nic_depends_waiting(const struct nic *nic, uint32_t item)
{
	uint32_t next = nic->chains->next[item];

	return next != NONE && nic->qps[next].place == QP_BLOCKED ? next : QP_NONE;
}
