/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/core/skipped.h"

#include <errno.h>

#include "base/threads/pages.h"
#include "nic/core/core.h"

int
nic_skipped_reserve(struct nic *nic)
{
	struct nic_skipped *skipped;

	if (nic->skipped != NULL)
		return 0;
	skipped = pages_alloc(nic->params.max_qps * sizeof(*skipped));
	if (skipped == NULL)
		return -ENOMEM;
	__atomic_store_n(&nic->skipped, skipped, __ATOMIC_RELEASE);
	return 0;
}
