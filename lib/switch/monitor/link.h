/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests to a port: link state, tx_disabled, PFC delay. From any thread, but each function from
 * one thread at a time. The owner puts them in force before its next frame.
 *
 * Invariant: readers return the last request, even if it is still pending.
 */
#ifndef QUENCH_SWITCH_MONITOR_LINK_H
#define QUENCH_SWITCH_MONITOR_LINK_H

#include <stdbool.h>
#include <stdint.h>

struct node;

/**
 * Report the state of the port's link, as of a poll. Ports are created up. In the thread that calls
 * control().
 */
void sw_set_link(struct node *node, uint16_t port, bool up, uint64_t now_ns);
/** Treat the port as one without a link, whatever polls report. As sw_set_link(). */
void sw_set_shutdown(struct node *node, uint16_t port, bool shutdown, uint64_t now_ns);
/** Hold all data of the port. MAC control frames still leave, so that its peer can be paused. */
void sw_set_tx_disabled(struct node *node, uint16_t port, bool disabled);
/** Delay the effect of pause frames received from now on by this many quanta. */
void sw_set_pfc_delay(struct node *node, uint16_t port, uint16_t quanta);

/* The last request, or else the configured value; from any thread. */
bool sw_tx_disabled(const struct node *node, uint16_t port);
uint16_t sw_pfc_delay(const struct node *node, uint16_t port);

#endif
