/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a port's link is up: looked at by the control thread now and then, said in a line when it
 * changes, and counted. While it is down a poll loop that waits for its link does not call tx():
 * frames stay in the node, and its retransmission timers stand still. What other threads ask of the
 * node is done all the same.
 */
#ifndef QUENCH_APP_RUNTIME_PORT_PORT_LINK_H
#define QUENCH_APP_RUNTIME_PORT_PORT_LINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised state is up. */
struct port_link {
	atomic_bool down;
	/* of the control thread */
	uint64_t down_events;
	uint64_t down_ns; /* as of looked_ns */
	uint64_t looked_ns;
};

/**
 * Look at the device's link. A device that cannot tell counts as up.
 *
 * @param port   Its number, for the line.
 * @param waits  What the port sends waits for the link, for the line.
 */
void port_link_look(struct port_link *link, uint16_t port, uint16_t ethdev, bool waits,
		    uint64_t now_ns);

/** What port_link_look() does with what it sees. @return true: that is a change. */
bool port_link_saw(struct port_link *link, bool up, uint64_t now_ns);

static inline bool
port_link_is_down(const struct port_link *link)
{
	return atomic_load_explicit(&link->down, memory_order_relaxed);
}

#endif
