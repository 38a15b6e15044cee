/* SPDX-License-Identifier: BSD-3-Clause */
/* The method that says what waits in a queue, and why. */
#include "quench-switch/desk/switch_desk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/output/json.h"
#include "quench-switch/config/switch_version.h"
#include "switch/control/queue_look.h"
#include "wire/bytes/be.h"
#include "wire/frame/frame.h"
#include "wire/roce/roce.h"

/* Frames with equal values are of one flow. Zeroed, so that bytes compare. */
struct look_key {
	char source[FIELD_IP_CHARS], destination[FIELD_IP_CHARS];
	uint16_t source_port, destination_port;
	uint32_t qpn;
	uint8_t protocol, dscp;
	bool is_ip, has_ports, is_roce;
};

struct look_flow {
	struct look_key key;
	uint64_t bytes;
	uint32_t packets, not_ect_packets;
};

static void
ip_text(const uint8_t *addr, uint8_t version, char text[FIELD_IP_CHARS])
{
	struct field_ip ip = {.version = version};

	memcpy(ip.addr, addr, version == 4 ? 4 : 16);
	(void)field_ip_text(&ip, text);
}

static void
read_ports(const struct sw_look_header *h, const struct frame_view *v, struct look_key *key)
{
	const uint8_t *l4 = h->data + v->l4_off;

	if (v->fragment || (key->protocol != IP_PROTO_TCP && key->protocol != IP_PROTO_UDP) ||
	    v->l4_off + 4u > h->len)
		return;
	key->has_ports = true;
	key->source_port = be16_load(l4);
	key->destination_port = be16_load(l4 + 2);
	if (key->protocol != IP_PROTO_UDP || key->destination_port != ROCE_UDP_PORT ||
	    v->l4_off + UDP_HDR_BYTES + BTH_BYTES > h->len)
		return;
	key->is_roce = true;
	key->qpn = be32_load(l4 + UDP_HDR_BYTES + 4) & 0xFFFFFFu;
}

/* @return is the frame Not-ECT? */
static bool
read_key(const struct sw_look_header *h, struct look_key *key)
{
	const uint8_t *l3;
	struct frame_view v;

	memset(key, 0, sizeof(*key));
	/* The headers end before the packet does. */
	(void)frame_parse(h->data, h->len, &v);
	l3 = h->data + v.l3_off;
	if (v.ethertype == 0x0800 && v.l3_off + 20u <= h->len) {
		v.ip_version = 4;
		v.l4_off = (uint16_t)(v.l3_off + 4 * (l3[0] & 0xF));
		v.fragment = (be16_load(l3 + 6) & 0x1FFF) != 0;
		key->protocol = l3[9];
		key->dscp = l3[1] >> 2;
		v.ecn = l3[1] & 3;
		ip_text(l3 + 12, 4, key->source);
		ip_text(l3 + 16, 4, key->destination);
	} else if (v.ethertype == 0x86DD && v.l3_off + 40u <= h->len) {
		v.ip_version = 6;
		v.l4_off = (uint16_t)(v.l3_off + 40);
		key->protocol = l3[6];
		key->dscp = (uint8_t)((be16_load(l3) >> 6) & 0x3F);
		v.ecn = be16_load(l3) >> 4 & 3;
		ip_text(l3 + 8, 6, key->source);
		ip_text(l3 + 24, 6, key->destination);
	} else {
		(void)field_mac_text(h->data + 6, key->source);
		(void)field_mac_text(h->data, key->destination);
		return true;
	}
	key->is_ip = true;
	read_ports(h, &v, key);
	return v.ecn == ECN_NOT_ECT;
}

static int
by_bytes(const void *a, const void *b)
{
	const struct look_flow *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

/* Flows of the copied frames, the largest first. @return their number. */
static uint32_t
find_flows(const struct sw_look *look, struct look_flow flows[SW_LOOK_FRAMES])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < look->n_headers; i++) {
		const struct sw_look_header *h = &look->headers[i];
		struct look_key key;
		bool not_ect = read_key(h, &key);
		uint32_t f = 0;

		while (f < n && memcmp(&flows[f].key, &key, sizeof(key)) != 0)
			f++;
		if (f == n)
			flows[n++] = (struct look_flow){.key = key};
		flows[f].bytes += h->charged_bytes;
		flows[f].packets++;
		flows[f].not_ect_packets += not_ect;
	}
	qsort(flows, n, sizeof(*flows), by_bytes);
	return n;
}

static void
walk_frames(struct walk *w, uint64_t bytes, uint32_t packets, uint32_t not_ect_packets)
{
	walk_number(w, WALK_KEY, "bytes", "charged bytes of these frames", bytes);
	walk_number(w, WALK_KEY, "packets", "number of these frames", packets);
	walk_number(w, WALK_KEY, "not_ect_packets", "those that cannot be marked: Not-ECT",
		    not_ect_packets);
}

static void
walk_flow(struct walk *w, const struct look_flow *f)
{
	const struct look_key *k = &f->key;

	walk_item(w, "flows");
	walk_text(w, WALK_KEY, "source", "IP address; of a frame without IP: MAC address",
		  k->source);
	walk_text(w, WALK_KEY, "destination", "the same of the receiver", k->destination);
	walk_maybe(w, WALK_KEY, "protocol", "IP protocol, such as 17 for UDP; null: not IP",
		   k->protocol, !k->is_ip);
	walk_maybe(w, WALK_KEY, "source_port", "port of TCP or UDP", k->source_port, !k->has_ports);
	walk_maybe(w, WALK_KEY, "destination_port", "port of TCP or UDP", k->destination_port,
		   !k->has_ports);
	walk_maybe(w, WALK_KEY, "qpn", "destination QP; null: not RoCEv2", k->qpn, !k->is_roce);
	walk_number(w, WALK_KEY, "dscp", "DSCP of its frames", k->dscp);
	walk_frames(w, f->bytes, f->packets, f->not_ect_packets);
	walk_leave(w);
}

static void
walk_from(struct walk *w, const struct sw_view *v, uint16_t group, const struct sw_look_frames *f)
{
	walk_item(w, "from");
	sw_walk_port_key(w, v, group / TM_CLASSES);
	walk_number(w, WALK_KEY, "pg", "priority group", group % TM_CLASSES);
	walk_frames(w, f->bytes, f->packets, f->not_ect_packets);
	walk_leave(w);
}

/* The members of a mask, as "2,3". */
static const char *
mask_text(uint8_t mask, char text[2 * TM_CLASSES + 1])
{
	size_t at = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < TM_CLASSES; i++)
		if (mask >> i & 1)
			at += (size_t)snprintf(text + at, 2 * TM_CLASSES + 1 - at, "%s%u",
					       at > 0 ? "," : "", i);
	return text;
}

/* @param look  All 0 with names_only. */
static void
walk_look(struct walk *w, const struct sw_view *v, const struct sw_look *look)
{
	char behind[2 * TM_CLASSES + 1], paused[2 * TM_CLASSES + 1];

	sw_walk_port_key(w, v, look->port);
	sw_walk_queue_counters(w, v, look->port, look->queue);
	walk_number(w, WALK_KEY, "looked_at_ns", "time of the look, since the program's start",
		    look->now_ns);
	walk_number(w, WALK_KEY, "waiting_bytes", "charged bytes in the queue at that time",
		    look->queue_bytes);
	walk_number(w, WALK_KEY, "read_packets",
		    "frames that were read: the oldest, 4096 at most; from covers them",
		    look->read.packets);
	walk_number(w, WALK_KEY, "read_bytes", "their charged bytes", look->read.bytes);
	walk_number(w, WALK_KEY, "sampled_packets",
		    "of these, frames whose headers were read, 64 at most; flows covers them",
		    look->n_headers);
	walk_text(
		w, WALK_KEY, "hold",
		"what keeps the oldest frame: empty (there is none), link, disabled, storm, pause, "
		"max_rate, strict, weights, shaper, or wire: only the speed of the link",
		sw_hold_words[look->hold]);
	walk_text(w, WALK_KEY, "behind", "queues that strict or weights is about, such as 5,7",
		  mask_text(look->behind, behind));
	walk_text(w, WALK_KEY, "paused_prios", "priorities whose pause holds the queue",
		  mask_text(look->paused_prios, paused));
	walk_number(w, WALK_KEY, "paused_for_ns", "age of the oldest of these pauses",
		    look->paused_prios != 0 ? look->now_ns - look->since_ns : 0);
}

static void
walk_lists(struct walk *w, const struct sw_view *v, const struct sw_look *look)
{
	struct look_flow flows[SW_LOOK_FRAMES];
	uint32_t n = find_flows(look, flows);

	walk_list(w, "from");
	for (uint16_t group = 0; group < v->params->n_ports * TM_CLASSES; group++)
		if (look->group[group].packets > 0)
			walk_from(w, v, group, &look->group[group]);
	walk_list(w, "flows");
	for (uint32_t i = 0; i < n; i++)
		walk_flow(w, &flows[i]);
}

void
switch_look_result(struct walk *w)
{
	static const struct sw_look none;
	const struct sw_view v = {0};

	walk_look(w, &v, &none);
	walk_from(w, &v, 0, &none.read);
	walk_flow(w, &(struct look_flow){0});
}

json_t *
switch_look_reply(struct desk_call *call)
{
	const struct sw_view v = {switch_of(call)->node, switch_of(call)->params,
				  desk_now_ns(call)};
	struct sw_snapshot s = {.table = SW_SNAPSHOT_LOOK};
	struct json_walk j = json_walk(json_object());
	uint64_t queue = 0;
	uint16_t port;

	if (!switch_port_param(call, &port) ||
	    !desk_number(call, "queue", 0, TM_CLASSES - 1, &queue)) {
		json_decref(j.at);
		return NULL;
	}
	s.look = calloc(1, sizeof(*s.look));
	if (s.look == NULL) {
		json_decref(j.at);
		return desk_refuse(call, "", "no memory");
	}
	s.look->port = port;
	s.look->queue = (uint8_t)queue;
	if (switch_take(call, &s)) {
		walk_look(&j.walk, &v, s.look);
		walk_lists(&j.walk, &v, s.look);
	} else {
		json_decref(j.at);
		j.at = NULL;
	}
	free(s.look);
	return j.at;
}
