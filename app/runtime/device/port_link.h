/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of a port's link. The control thread polls it, reports changes in a line and counts them.
 * While the link is down, a poll loop that waits for it does not call tx(): frames stay in the
 * node, and its retransmission timers stand still. The node still serves requests of other threads.
 */
#ifndef QUENCH_APP_RUNTIME_DEVICE_PORT_LINK_H
#define QUENCH_APP_RUNTIME_DEVICE_PORT_LINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised state is up. */
struct port_link {
	atomic_bool down;
	/*
	 * Longest frame, without FCS and tag, that the device sends; 0: any. The kernel drops
	 * longer ones of net_af_packet, and counts none; net_memif: device_memif_frame().
	 */
	atomic_uint most_bytes;
	/* control thread only */
	uint64_t down_events;
	uint64_t down_ns; /* as of looked_ns */
	uint64_t looked_ns;
};

/**
 * Read the state of the device's link, and report a change in a line. If the device cannot report
 * its link, the last state stays; at first it is up.
 *
 * @param port   Number of the port, for the line.
 * @param waits  Do frames to send wait for the link? For the line.
 */
void port_link_look(struct port_link *link, uint16_t port, uint16_t ethdev, bool waits,
		    uint64_t now_ns);

/** Record the state that port_link_look() saw. @return true: it has changed. */
bool port_link_saw(struct port_link *link, bool up, uint64_t now_ns);

static inline bool
port_link_is_down(const struct port_link *link)
{
	return atomic_load_explicit(&link->down, memory_order_relaxed);
}

static inline uint32_t
port_link_most_bytes(const struct port_link *link)
{
	return atomic_load_explicit(&link->most_bytes, memory_order_relaxed);
}

#endif
