/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of an operator to a port, from any thread; the owner puts them in force before its next
 * frame. One caller for each function. */
#ifndef QUENCH_SWITCH_CONTROL_LINK_H
#define QUENCH_SWITCH_CONTROL_LINK_H

#include <stdbool.h>
#include <stdint.h>

struct node;

/**
 * The port's link is down or up, whenever it was looked at. Ports are created up. Called where
 * control() is.
 */
void sw_set_link(struct node *node, uint16_t port, bool up, uint64_t now_ns);
/** Hold all data of the port; MAC control frames still leave, so that its peer can be held. */
void sw_set_tx_disabled(struct node *node, uint16_t port, bool disabled);
/** Delay the effect of pause frames that come from now on by this many quanta. */
void sw_set_pfc_delay(struct node *node, uint16_t port, uint16_t quanta);

/* The last request, or the configuration; from any thread. */
bool sw_tx_disabled(const struct node *node, uint16_t port);
uint16_t sw_pfc_delay(const struct node *node, uint16_t port);

#endif
