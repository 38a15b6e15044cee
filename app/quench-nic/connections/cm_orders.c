/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/connections/cm_orders.h"

#include <errno.h>

/* The arguments of a call of the connection manager, and its results. */
struct work {
	struct cm *cm;
	uint32_t id;
	const struct cm_end *own;
	const struct cm_peer *to;
	const struct cm_terms *terms;
	const struct cm_order *orders;
	struct cm_news *news;
	uint32_t n, most;
};

static void
look(void *arg, uint64_t now_ns)
{
	struct work *w = arg;

	(void)now_ns;
	for (; w->n < w->most; w->n++) {
		struct cm_news *h = &w->news[w->n];

		*h = (struct cm_news){0};
		if (!cm_next_event(w->cm, &h->event))
			break;
		cm_read(w->cm, h->event.id, &h->view);
	}
}

static void
open_one(void *arg, uint64_t now_ns)
{
	struct work *w = arg;

	w->id = cm_connect(w->cm, w->to, w->terms, w->own, now_ns);
}

static void
do_one(struct cm *cm, const struct cm_order *order, uint64_t now_ns)
{
	switch (order->kind) {
	case CM_ORDER_ACCEPT:
		cm_accept(cm, order->id, &order->own, now_ns);
		break;
	case CM_ORDER_REJECT:
		cm_reject(cm, order->id, order->reason, now_ns);
		break;
	case CM_ORDER_READY:
		cm_ready(cm, order->id);
		break;
	case CM_ORDER_PACKET:
		cm_on_packet(cm, order->id);
		break;
	case CM_ORDER_END:
		cm_disconnect(cm, order->id, now_ns);
		break;
	}
}

static void
do_all(void *arg, uint64_t now_ns)
{
	const struct work *w = arg;

	for (uint32_t i = 0; i < w->n; i++)
		do_one(w->cm, &w->orders[i], now_ns);
}

uint32_t
cm_order_look(const struct cm_orders *o, struct cm_news *news, uint32_t n)
{
	struct work w = {.cm = o->cm, .news = news, .most = n};

	mailbox_call(o->mailbox, look, &w);
	return w.n;
}

uint32_t
cm_order_connect(const struct cm_orders *o, const struct cm_peer *to, const struct cm_terms *terms,
		 const struct cm_end *own)
{
	struct work w = {.cm = o->cm, .id = CM_NONE, .to = to, .terms = terms, .own = own};

	mailbox_call(o->mailbox, open_one, &w);
	return w.id;
}

void
cm_order_all(const struct cm_orders *o, const struct cm_order *orders, uint32_t n)
{
	struct work w = {.cm = o->cm, .orders = orders, .n = n};

	/* A connection whose order is lost would wait for ever, here and at the peer. */
	while (n > 0 && mailbox_call(o->mailbox, do_all, &w) == -ETIMEDOUT)
		;
}
