/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/control/owners.h"

#include "switch/core/switch.h"

/* Waking the port has an effect only in virtual time, with one thread; a poll loop ignores it. */
void
sw_want_port(struct sw *sw, uint16_t port)
{
	sw_wake(sw, port);
	sw_post_request(&sw_owner(sw, port)->request, SW_REQUEST_PORTS);
}

bool
sw_reload_is_done(const struct node *node)
{
	const struct sw *front = sw_of_const(node);

	for (uint16_t i = 0; i < sw_shard_count(front); i++) {
		const struct sw *sw = sw_shard_at(front, i);

		if (__atomic_load_n(&sw->request.reload, __ATOMIC_ACQUIRE) != NULL)
			return false;
	}
	return true;
}
