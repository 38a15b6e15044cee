/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection manager belongs to the main lcore. These functions let the main lcore call it, and
 * wait for that: some 10 ms at most. An ID of a connection that is no more does nothing.
 */
#ifndef QUENCH_APP_QUENCH_NIC_CONNECTIONS_CM_ORDERS_H
#define QUENCH_APP_QUENCH_NIC_CONNECTIONS_CM_ORDERS_H

#include "nic/cm/cm.h"
#include "runtime/telemetry/mailbox.h"

struct cm_orders {
	struct mailbox *mailbox;
	struct cm *cm;
};

/* An event, and the connection at that time; view is zero if the connection is no more. */
struct cm_news {
	struct cm_event event;
	struct cm_view view;
};

/** Take up to n events. @return their number. */
uint32_t cm_order_look(const struct cm_orders *o, struct cm_news *news, uint32_t n);

/** As cm_connect(). CM_NONE also if the program is about to end. */
uint32_t cm_order_connect(const struct cm_orders *o, const struct cm_peer *to,
			  const struct cm_terms *terms, const struct cm_end *own);

void cm_order_accept(const struct cm_orders *o, uint32_t id, const struct cm_end *own);
void cm_order_reject(const struct cm_orders *o, uint32_t id, enum cm_reason reason);
void cm_order_ready(const struct cm_orders *o, uint32_t id);
void cm_order_packet(const struct cm_orders *o, uint32_t id);
void cm_order_end(const struct cm_orders *o, uint32_t id);

#endif
