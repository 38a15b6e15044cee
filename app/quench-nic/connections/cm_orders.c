/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/connections/cm_orders.h"

/* The arguments of a call of the connection manager, and its results. */
struct work {
	struct cm *cm;
	uint32_t id;
	const struct cm_end *own;
	const struct cm_peer *to;
	const struct cm_terms *terms;
	enum cm_reason reason;
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
accept_one(void *arg, uint64_t now_ns)
{
	const struct work *w = arg;

	cm_accept(w->cm, w->id, w->own, now_ns);
}

static void
reject_one(void *arg, uint64_t now_ns)
{
	const struct work *w = arg;

	(void)now_ns;
	cm_reject(w->cm, w->id, w->reason);
}

static void
make_ready(void *arg, uint64_t now_ns)
{
	const struct work *w = arg;

	(void)now_ns;
	cm_ready(w->cm, w->id);
}

static void
note_packet(void *arg, uint64_t now_ns)
{
	const struct work *w = arg;

	(void)now_ns;
	cm_on_packet(w->cm, w->id);
}

static void
end_one(void *arg, uint64_t now_ns)
{
	const struct work *w = arg;

	cm_disconnect(w->cm, w->id, now_ns);
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
cm_order_accept(const struct cm_orders *o, uint32_t id, const struct cm_end *own)
{
	struct work w = {.cm = o->cm, .id = id, .own = own};

	mailbox_call(o->mailbox, accept_one, &w);
}

void
cm_order_reject(const struct cm_orders *o, uint32_t id, enum cm_reason reason)
{
	struct work w = {.cm = o->cm, .id = id, .reason = reason};

	mailbox_call(o->mailbox, reject_one, &w);
}

void
cm_order_ready(const struct cm_orders *o, uint32_t id)
{
	struct work w = {.cm = o->cm, .id = id};

	mailbox_call(o->mailbox, make_ready, &w);
}

void
cm_order_packet(const struct cm_orders *o, uint32_t id)
{
	struct work w = {.cm = o->cm, .id = id};

	mailbox_call(o->mailbox, note_packet, &w);
}

void
cm_order_end(const struct cm_orders *o, uint32_t id)
{
	struct work w = {.cm = o->cm, .id = id};

	mailbox_call(o->mailbox, end_one, &w);
}
