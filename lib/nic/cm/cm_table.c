/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/cm/cm_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/units.h"

/* Slots that are looked at for one that is not promised. */
#define NEAR_SLOTS 16u

int
cm_table_init(struct cm_table *t, uint32_t n, const struct half_sip_key *key)
{
	uint32_t chains = 1;

	while (chains < n)
		chains *= 2;
	*t = (struct cm_table){.key = *key, .n = n, .free_head = 0, .mask = chains - 1};
	t->all = calloc(n, sizeof(*t->all));
	t->by_id = malloc(chains * sizeof(*t->by_id));
	t->by_qpn = malloc(chains * sizeof(*t->by_qpn));
	if (t->all == NULL || t->by_id == NULL || t->by_qpn == NULL)
		return -ENOMEM;
	memset(t->by_id, 0xFF, chains * sizeof(*t->by_id));
	memset(t->by_qpn, 0xFF, chains * sizeof(*t->by_qpn));
	for (uint32_t i = 0; i < n; i++) {
		t->all[i].due_ns = NEVER_NS;
		t->all[i].next_free = i + 1 < n ? i + 1 : CM_NONE;
	}
	return 0;
}

void
cm_table_free(struct cm_table *t)
{
	free(t->all);
	free(t->by_id);
	free(t->by_qpn);
}

/*
 * A keyed permutation of 20 bits: four Feistel rounds of 10. Who knows the IDs of his own
 * connections does not know those of others, and the IDs of a slot come in turn.
 */
static uint32_t
scrambled(const struct cm_table *t, uint32_t slot, uint32_t serial)
{
	uint32_t left = serial >> 10 & 0x3FF, right = serial & 0x3FF;

	for (uint32_t round = 0; round < 4; round++) {
		const uint32_t words[3] = {round, slot, right};
		uint32_t next = left ^ (half_sip(&t->key, words, 3) & 0x3FF);

		left = right;
		right = next;
	}
	return left << 10 | right;
}

uint32_t
cm_table_next_id(struct cm_table *t, uint32_t slot)
{
	uint32_t *serial = &t->all[slot].serial, id;

	/* 0 stands for no ID in a REJ. */
	do
		id = scrambled(t, slot, ++*serial) << CM_SLOT_BITS | slot;
	while (id == 0);
	return id;
}

static void
begin(struct cm_table *t, uint32_t slot, uint32_t local_id)
{
	struct cm_connection *c = &t->all[slot];
	uint32_t serial = c->serial, promises = c->promises;

	t->used++;
	memset(c, 0, sizeof(*c));
	c->due_ns = NEVER_NS;
	c->serial = serial;
	c->promises = promises;
	c->view.local_id = local_id;
}

uint32_t
cm_table_take(struct cm_table *t)
{
	uint32_t *link = &t->free_head, i;

	for (uint32_t n = 0; n < NEAR_SLOTS && *link != CM_NONE && t->all[*link].promises > 0; n++)
		link = &t->all[*link].next_free;
	if (*link == CM_NONE)
		link = &t->free_head;
	i = *link;
	if (i == CM_NONE)
		return CM_NONE;
	*link = t->all[i].next_free;
	begin(t, i, cm_table_next_id(t, i));
	return i;
}

static bool
is_free(const struct cm_table *t, uint32_t slot)
{
	return t->all[slot].view.local_id == 0;
}

bool
cm_table_take_slot(struct cm_table *t, uint32_t local_id)
{
	uint32_t slot = cm_slot(local_id), *link = &t->free_head;

	if (!is_free(t, slot))
		return false;
	while (*link != slot)
		link = &t->all[*link].next_free;
	*link = t->all[slot].next_free;
	begin(t, slot, local_id);
	return true;
}

uint32_t
cm_table_free_slot(const struct cm_table *t, uint32_t near)
{
	uint32_t best = t->free_head;

	for (uint32_t i = 0; i < NEAR_SLOTS; i++) {
		uint32_t slot = (near + i) % t->n;

		if (is_free(t, slot) && t->all[slot].promises == 0)
			return slot;
		if (is_free(t, slot) && t->all[slot].promises < t->all[best].promises)
			best = slot;
	}
	return best;
}

static uint32_t
hash(const struct cm_table *t, const struct field_ip *ip, uint32_t number)
{
	uint32_t words[6] = {number, ip->version};

	memcpy(&words[2], ip->addr, ip->version == 4 ? 4 : 16);
	return half_sip(&t->key, words, 6) & t->mask;
}

static void
leave(struct cm_table *t, uint32_t *head, uint32_t i, bool by_id)
{
	while (*head != i)
		head = by_id ? &t->all[*head].next_by_id : &t->all[*head].next_by_qpn;
	*head = by_id ? t->all[i].next_by_id : t->all[i].next_by_qpn;
}

void
cm_table_give(struct cm_table *t, uint32_t connection)
{
	struct cm_connection *c = &t->all[connection];
	const struct field_ip *ip = &c->view.peer.ip;

	if (c->is_by_id)
		leave(t, &t->by_id[hash(t, ip, c->view.remote_id)], connection, true);
	if (c->is_by_qpn)
		leave(t, &t->by_qpn[hash(t, ip, c->view.other.qpn)], connection, false);
	c->is_by_id = c->is_by_qpn = false;
	c->view.state = CM_FREE;
	c->view.local_id = 0;
	c->due_ns = NEVER_NS;
	c->next_free = t->free_head;
	t->free_head = connection;
	t->used--;
}

uint32_t
cm_table_by_local_id(const struct cm_table *t, uint32_t local_id)
{
	uint32_t i = cm_slot(local_id);

	return i < t->n && t->all[i].view.state != CM_FREE && t->all[i].view.local_id == local_id
		       ? i
		       : CM_NONE;
}

uint32_t
cm_table_by_remote_id(const struct cm_table *t, const struct field_ip *ip, uint32_t id)
{
	uint32_t i = t->by_id[hash(t, ip, id)];

	while (i != CM_NONE &&
	       !(t->all[i].view.remote_id == id && cm_same_ip(&t->all[i].view.peer.ip, ip)))
		i = t->all[i].next_by_id;
	return i;
}

uint32_t
cm_table_by_remote_qpn(const struct cm_table *t, const struct field_ip *ip, uint32_t qpn)
{
	uint32_t i = t->by_qpn[hash(t, ip, qpn)];

	while (i != CM_NONE &&
	       !(t->all[i].view.other.qpn == qpn && cm_same_ip(&t->all[i].view.peer.ip, ip)))
		i = t->all[i].next_by_qpn;
	return i;
}

bool
cm_table_enter_id(struct cm_table *t, uint32_t connection)
{
	struct cm_connection *c = &t->all[connection];
	uint32_t *head = &t->by_id[hash(t, &c->view.peer.ip, c->view.remote_id)], n = 0;

	for (uint32_t i = *head; i != CM_NONE; i = t->all[i].next_by_id)
		n++;
	if (n == CM_CHAIN)
		return false;
	c->next_by_id = *head;
	*head = connection;
	c->is_by_id = true;
	return true;
}

bool
cm_table_enter_qpn(struct cm_table *t, uint32_t connection)
{
	struct cm_connection *c = &t->all[connection];
	uint32_t *head = &t->by_qpn[hash(t, &c->view.peer.ip, c->view.other.qpn)], n = 0;

	for (uint32_t i = *head; i != CM_NONE; i = t->all[i].next_by_qpn)
		n++;
	if (n == CM_CHAIN)
		return false;
	c->next_by_qpn = *head;
	*head = connection;
	c->is_by_qpn = true;
	return true;
}
