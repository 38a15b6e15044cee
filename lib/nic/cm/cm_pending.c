/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/cm/cm_pending.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
cm_pendings_init(struct cm_pendings *t, const struct half_sip_key *key)
{
	*t = (struct cm_pendings){.key = *key};
	t->all = calloc((size_t)CM_PENDING_SETS * CM_PENDING_WAYS, sizeof(*t->all));
	return t->all == NULL ? -ENOMEM : 0;
}

void
cm_pendings_free(struct cm_pendings *t)
{
	free(t->all);
}

static struct cm_pending *
set_of(const struct cm_pendings *t, const struct field_ip *ip, uint32_t remote_id)
{
	uint32_t words[6] = {remote_id, ip->version};

	memcpy(&words[2], ip->addr, ip->version == 4 ? 4 : 16);
	return &t->all[(size_t)(half_sip(&t->key, words, 6) % CM_PENDING_SETS) * CM_PENDING_WAYS];
}

struct cm_pending *
cm_pending_find(const struct cm_pendings *t, const struct field_ip *ip, uint32_t remote_id)
{
	struct cm_pending *set = set_of(t, ip, remote_id);

	for (unsigned int i = 0; i < CM_PENDING_WAYS; i++)
		if (set[i].number != 0 && set[i].remote_id == remote_id &&
		    cm_same_ip(&set[i].peer.ip, ip))
			return &set[i];
	return NULL;
}

struct cm_pending *
cm_pending_place(const struct cm_pendings *t, const struct field_ip *ip, uint32_t remote_id)
{
	struct cm_pending *set = set_of(t, ip, remote_id), *oldest = set;

	for (unsigned int i = 1; i < CM_PENDING_WAYS; i++)
		if (set[i].number < oldest->number)
			oldest = &set[i];
	return oldest;
}

void
cm_pending_take(struct cm_pendings *t, struct cm_pending *p)
{
	*p = (struct cm_pending){.number = ++t->numbers};
	t->used++;
}

void
cm_pending_drop(struct cm_pendings *t, struct cm_pending *p)
{
	t->used--;
	p->number = 0;
}

struct cm_pending *
cm_pending_next(struct cm_pendings *t)
{
	return &t->all[t->hand++ % (CM_PENDING_SETS * CM_PENDING_WAYS)];
}
