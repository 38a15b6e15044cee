/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of the connection manager from other threads. The connection manager belongs to the main
 * lcore. These functions have the main lcore make the call, and wait for the result: normally 10 ms
 * or less. An order for a connection that has ended does nothing.
 */
#ifndef QUENCH_APP_QUENCH_NIC_CONNECTIONS_CM_ORDERS_H
#define QUENCH_APP_QUENCH_NIC_CONNECTIONS_CM_ORDERS_H

#include "nic/cm/cm.h"
#include "runtime/desk/desk_mailbox.h"

struct cm_orders {
	struct mailbox *mailbox;
	struct cm *cm;
};

/* An event, and the connection's state; view is zero if the connection has ended. */
struct cm_news {
	struct cm_event event;
	struct cm_view view;
};

enum cm_order_kind {
	CM_ORDER_ACCEPT,
	CM_ORDER_REJECT,
	CM_ORDER_READY,
	CM_ORDER_PACKET,
	CM_ORDER_END
};

/* A call of cm_accept(), cm_reject(), cm_ready(), cm_on_packet() or cm_disconnect(). */
struct cm_order {
	enum cm_order_kind kind;
	uint32_t id;
	struct cm_end own;     /* of CM_ORDER_ACCEPT */
	enum cm_reason reason; /* of CM_ORDER_REJECT */
};

/** Take up to n events. @return their number. */
uint32_t cm_order_look(const struct cm_orders *o, struct cm_news *news, uint32_t n);

/** As cm_connect(). CM_NONE also if the program is about to end. */
uint32_t cm_order_connect(const struct cm_orders *o, const struct cm_peer *to,
			  const struct cm_terms *terms, const struct cm_end *own);

/** Carry out n orders, in their order. This takes as long as the main lcore is busy. */
void cm_order_all(const struct cm_orders *o, const struct cm_order *orders, uint32_t n);

#endif
