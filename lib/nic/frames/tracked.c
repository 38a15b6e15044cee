/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/frames/tracked.h"

#include <errno.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "base/threads/pages.h"
#include "base/threads/seq.h"
#include "nic/core/core.h"
#include "nic/frames/signature.h"
#include "wire/bytes/be.h"
#include "wire/bytes/headers.h"

#define WINDOW_WORDS (NIC_TRACKED_WINDOW / 64)

struct slot {
	uint32_t seq; /* of info */
	bool has_window;
	uint8_t start;
	uint32_t highest;            /* number of the window's last frame */
	uint64_t sent_ns;            /* of it */
	uint64_t seen[WINDOW_WORDS]; /* by number modulo NIC_TRACKED_WINDOW */
	struct nic_tracked_info info;
};

struct nic_tracked {
	uint32_t n; /* a power of two */
	struct slot slots[];
};

/* As counter_add(), for a value that is set. */
static void
put(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static size_t
size_of(uint32_t n)
{
	return sizeof(struct nic_tracked) + n * sizeof(struct slot);
}

int
nic_tracked_init(struct nic *nic)
{
	uint32_t n = nic->params.signatures;

	if (n == 0)
		return 0;
	nic->tracked = pages_alloc(size_of(n));
	if (nic->tracked == NULL)
		return -ENOMEM;
	nic->tracked->n = n;
	return 0;
}

void
nic_tracked_free(struct nic *nic)
{
	if (nic->tracked != NULL)
		pages_free(nic->tracked, size_of(nic->tracked->n));
	nic->tracked = NULL;
}

static bool
saw(const struct slot *s, uint32_t number)
{
	uint32_t bit = number % NIC_TRACKED_WINDOW;

	return s->seen[bit / 64] >> bit % 64 & 1;
}

static void
set_seen(struct slot *s, uint32_t number, bool seen)
{
	uint32_t bit = number % NIC_TRACKED_WINDOW;
	uint64_t mask = 1ull << bit % 64;

	s->seen[bit / 64] = seen ? s->seen[bit / 64] | mask : s->seen[bit / 64] & ~mask;
}

static void
begin_window(struct slot *s, const struct signature *sig, uint64_t sent_ns)
{
	s->has_window = true;
	s->start = sig->start;
	s->highest = sig->number;
	s->sent_ns = sent_ns;
	memset(s->seen, 0, sizeof(s->seen));
	set_seen(s, sig->number, true);
	counter_add(&s->info.lost, sig->number);
}

static void
move_window(struct slot *s, uint32_t number, uint64_t sent_ns)
{
	uint32_t by = number - s->highest;

	if (by >= NIC_TRACKED_WINDOW)
		memset(s->seen, 0, sizeof(s->seen));
	else
		for (uint32_t i = 1; i < by; i++)
			set_seen(s, s->highest + i, false);
	set_seen(s, number, true);
	counter_add(&s->info.lost, by - 1);
	s->highest = number;
	s->sent_ns = sent_ns;
}

/*
 * Is the frame of a later start than the window? It has another start number and left later. A new
 * program may by chance have the same start number: then it has an earlier frame number, and left
 * later.
 */
static bool
is_new_start(const struct slot *s, const struct signature *sig, uint64_t sent_ns)
{
	if (!s->has_window)
		return true;
	if (sig->start != s->start)
		return sent_ns >= s->sent_ns;
	return (int32_t)(sig->number - s->highest) <= 0 && sent_ns > s->sent_ns;
}

static void
follow(struct slot *s, const struct signature *sig, uint64_t sent_ns)
{
	uint32_t back = s->highest - sig->number;

	if (is_new_start(s, sig, sent_ns)) {
		begin_window(s, sig, sent_ns);
	} else if (sig->start != s->start) {
		counter_inc(&s->info.old);
	} else if ((int32_t)back < 0) {
		move_window(s, sig->number, sent_ns);
	} else if (back >= NIC_TRACKED_WINDOW || back > s->highest) {
		counter_inc(&s->info.old);
	} else if (saw(s, sig->number)) {
		counter_inc(&s->info.duplicates);
	} else {
		set_seen(s, sig->number, true);
		counter_inc(&s->info.reordered);
		counter_add(&s->info.lost, (uint64_t)-1);
	}
}

static void
time_frame(const struct nic *nic, struct nic_tracked_info *info, const struct signature *sig,
	   uint32_t bytes, uint64_t age_ns)
{
	if (!sig->cut_through)
		age_ns = sub_sat(age_ns, serialization_ns(bytes, nic->params.link_speed_bps));
	counter_inc(&info->timed);
	counter_add(&info->latency_sum_ns, age_ns);
	if (info->timed == 1 || age_ns < info->latency_min_ns)
		put(&info->latency_min_ns, age_ns);
	if (age_ns > info->latency_max_ns)
		put(&info->latency_max_ns, age_ns);
}

/* Give the slot to a later id. @return false: the id is an earlier one. */
static bool
take_slot(struct slot *s, const struct signature *sig, uint64_t sent_ns)
{
	if (s->info.rx_packets > 0 && sent_ns < s->info.last_ns)
		return false;
	words_write(&s->info, &(struct nic_tracked_info){.id = sig->id}, sizeof(s->info));
	s->has_window = false;
	return true;
}

static void
count(const struct nic *nic, struct slot *s, const struct signature *sig, uint32_t bytes,
      uint64_t at_ns)
{
	/* Half of the range and more: it left after it arrived, since clocks of cores differ. */
	uint64_t age_ns = (at_ns - sig->time_ns) % SIGNATURE_TIME_NS;
	uint64_t sent_ns;

	if (sig->is_short || age_ns >= SIGNATURE_TIME_NS / 2)
		age_ns = 0;
	sent_ns = at_ns - age_ns;
	seq_begin(&s->seq);
	if (s->info.id == sig->id || take_slot(s, sig, sent_ns)) {
		if (s->info.rx_packets == 0)
			put(&s->info.first_ns, at_ns);
		put(&s->info.last_ns, at_ns);
		counter_inc(&s->info.rx_packets);
		counter_add(&s->info.rx_bytes, bytes);
		put(&s->info.numbered, !sig->is_short);
		if (!sig->is_short) {
			follow(s, sig, sent_ns);
			time_frame(nic, &s->info, sig, bytes, age_ns);
		}
	}
	seq_end(&s->seq);
}

/*
 * Length of a frame of minimum size without its padding. A device that removes a tag pads a frame
 * after its signature.
 */
static uint32_t
unpadded(const uint8_t *frame, uint32_t len)
{
	uint32_t at = ETH_HDR_BYTES, end = len;

	if (be16_load(frame + 12) == ETHERTYPE_VLAN)
		at += 4;
	if (be16_load(frame + at - 2) == ETHERTYPE_IPV4)
		end = at + be16_load(frame + at + 2);
	else if (be16_load(frame + at - 2) == ETHERTYPE_IPV6)
		end = at + IPV6_HDR_BYTES + be16_load(frame + at + 4);
	return end < len ? end : len;
}

void
nic_tracked_burst(struct nic *nic, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	const struct half_sip_key key = half_sip_key(nic->params.signature_key);
	struct nic_tracked *t = nic->tracked;

	for (uint16_t i = 0; i < n; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(pkts[i], const uint8_t *);
		uint32_t len = pkts[i]->data_len;
		struct signature sig;

		if (pkts[i]->nb_segs != 1)
			continue;
		if (!signature_read(frame + len, len, &key, &sig)) {
			if (len != MIN_FRAME_BYTES - FCS_BYTES)
				continue;
			len = unpadded(frame, len);
			if (!signature_read(frame + len, len, &key, &sig))
				continue;
		}
		count(nic, &t->slots[sig.id & (t->n - 1)], &sig, frame_bytes(pkts[i]->pkt_len),
		      now_ns + nic->epoch_ns);
	}
}

struct nic_tracked_info
nic_tracked_info(const struct node *node, uint32_t slot)
{
	const struct nic_tracked *t = nic_of_const(node)->tracked;
	struct nic_tracked_info info = {0};
	const struct slot *s;
	uint32_t before;

	if (t == NULL || slot >= t->n)
		return info;
	s = &t->slots[slot];
	do {
		before = seq_read(&s->seq);
		words_read(&info, &s->info, sizeof(info));
	} while (seq_changed(&s->seq, before));
	return info;
}
