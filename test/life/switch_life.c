/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a switch of one to three shards between scripted ports.
 *
 *   switch ports=5 shards=1 salt=7
 *   is SECTION KEY=VALUE ...    what it begins with; a blank of a section's name is written +
 *   set SECTION KEY=VALUE ...   other params from now on, if they are not refused
 *   drop SECTION                a section less, such as route+10.2.0.0/16
 *   send P n=N to=H gap=TIME dscp=N ecn=N bytes=N kind=KIND salt=N     frames into port P
 *   pause P prios=MASK quanta=N
 *   link P up|down / hold P on|off / delay P QUANTA / brs on|off / restart / clear
 *   run TIME
 *
 * Host H has the address 02:00:00:00:00:0H and 10.0.0.H; each is on the port of its number, and
 * those above the ports are nowhere. KIND: data, flood (broadcast), routed (to the router), broken.
 */
#include "unit/switch/sw_test.h"

#include <inttypes.h>

#include "base/numbers/fixed.h"
#include "ctl/config/config_compare.h"
#include "ctl/switch_config/switch_config.h"
#include "life.h"
#include "pacer/token_bucket.h"
#include "switch/control/snapshot.h"
#include "tm/buffer/mmu.h"

#define PORTS 8
#define MOST_KEYS 400u
#define CLASSES 4
#define LARGEST_WIRE_BYTES 2100u

struct key {
	char section[64], key[64], value[160];
};

struct stream {
	bool on;
	uint16_t port;
	uint64_t n, gap_ns, next_ns, salt;
	struct frame_spec frame;
	char kind[12];
};

static struct switch_life {
	struct bench bench;
	struct node *sw;
	uint16_t n_ports;
	uint64_t now_ns, salt, calls, control_ns, digest;
	struct key key[MOST_KEYS];
	unsigned int n_keys;
	struct sw_params params; /* in force, or coming into force */
	struct sw_params before; /* whose tables are freed with the next */
	bool is_pending;
	struct stream stream[PORTS];
	uint64_t given[PORTS], given_bytes[PORTS], given_mac_control;
	uint64_t taken[PORTS], taken_bytes[PORTS], pauses[PORTS];
	bool down[PORTS], held[PORTS];
	uint64_t xoff_until_ns[PORTS][TM_CLASSES]; /* as our pause frames told the peer */
	/* a bucket of the port's shaper */
	__int128 credit[PORTS];
	uint64_t credit_ns[PORTS], shaper_bps[PORTS];
	bool paces[PORTS];
	uint32_t psn;
	struct sw_snapshot snapshot;
	bool snapshot_asked;
} life;

static struct switch_life *const s = &life;

/* ---- its configuration ---- */

static void
set_entry(struct key *keys, unsigned int *n, const char *section, const char *key,
	  const char *value)
{
	unsigned int i = 0;

	while (i < *n && (strcmp(keys[i].section, section) != 0 || strcmp(keys[i].key, key) != 0))
		i++;
	if (i == MOST_KEYS)
		return;
	if (i == *n)
		(*n)++;
	snprintf(keys[i].section, sizeof(keys[i].section), "%s", section);
	snprintf(keys[i].key, sizeof(keys[i].key), "%s", key);
	snprintf(keys[i].value, sizeof(keys[i].value), "%s", value);
}

static void
section_name(const char *word, char *out, size_t size)
{
	snprintf(out, size, "%s", word);
	for (; *out != '\0'; out++)
		if (*out == '+')
			*out = ' ';
}

static char *
text_of(const struct key *keys, unsigned int n)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	for (unsigned int i = 0; i < n; i++) {
		bool first = true;

		for (unsigned int k = 0; k < i && first; k++)
			first = strcmp(keys[k].section, keys[i].section) != 0;
		if (!first)
			continue;
		fprintf(f, "[%s]\n", keys[i].section);
		for (unsigned int k = i; k < n; k++)
			if (strcmp(keys[k].section, keys[i].section) == 0 && keys[k].key[0] != '\0')
				fprintf(f, "%s = %s\n", keys[k].key, keys[k].value);
	}
	fclose(f);
	return text;
}

/* @return false: refused. */
static bool
read_params(const struct key *keys, unsigned int n, struct sw_params *out)
{
	struct config_error err = {{0}};
	char *text = text_of(keys, n);
	struct config *cfg = config_open_text("life", text, strlen(text), &err);
	bool good = cfg != NULL;

	memset(out, 0, sizeof(*out));
	if (good && switch_config_read(cfg, out, &err) != 0) {
		sw_tables_free(&out->tables);
		good = false;
	} else if (good && config_finish(cfg, &err) != 0) {
		sw_tables_free(&out->tables);
		good = false;
	}
	config_close(cfg);
	free(text);
	for (uint16_t port = 0; good && port < out->n_ports; port++)
		memcpy(out->ports[port].mac, (uint8_t[6]){0x02, 0, 0, 1, 0, (uint8_t)port}, 6);
	return good;
}

/* May the one become the other while it runs? */
static bool
may_become(const struct sw_params *next)
{
	struct config_rows from = {0}, to = {0};
	struct config_error err;
	struct config *cfg = config_open_text("life", "", 0, &err);
	bool good;

	switch_config_rows(&s->params, &from);
	switch_config_rows(next, &to);
	good = cfg != NULL && config_rows_refuse_fixed(cfg, &from, &to, &err) == 0 &&
	       sw_reload_fault(&s->params, next) == NULL;
	config_close(cfg);
	config_rows_free(&from);
	config_rows_free(&to);
	return good;
}

static void
settle(void)
{
	if (!s->is_pending || !sw_reload_settle(s->sw))
		return;
	s->is_pending = false;
	sw_tables_free(&s->before.tables);
	memset(&s->before, 0, sizeof(s->before));
}

static void
reload(struct key *keys, unsigned int n)
{
	static struct sw_params next;
	struct sw_forwarding *forwarding = NULL;
	char why[256];

	settle();
	/* The program refuses one before the last is in force. */
	if (s->is_pending)
		return;
	if (!read_params(keys, n, &next))
		return;
	if (!may_become(&next) ||
	    sw_reload_prepare(s->sw, &next, &forwarding, why, sizeof(why)) != 0) {
		sw_tables_free(&next.tables);
		return;
	}
	memcpy(s->key, keys, n * sizeof(*keys));
	s->n_keys = n;
	s->before = s->params;
	s->params = next;
	s->is_pending = true;
	for (uint16_t port = 0; port < s->n_ports; port++) {
		s->shaper_bps[port] =
			max_u64(s->shaper_bps[port], next.ports[port].shaper_rate_bps);
		s->held[port] = next.ports[port].tx_disabled;
	}
	sw_reload(s->sw, &s->params, forwarding, s->now_ns);
}

/* ---- what must hold ---- */

static void
check_books(void)
{
	struct sw_ledger l = sw_ledger(s->sw);
	uint64_t queued = 0, pools = 0, groups = 0;

	life_must("ledger",
		  l.in + l.copies + l.generated == l.queued + l.sent + l.dropped + l.consumed,
		  "in %" PRIu64 " copies %" PRIu64 " generated %" PRIu64 ", queued %" PRIu64
		  " sent %" PRIu64 " dropped %" PRIu64 " consumed %" PRIu64,
		  l.in, l.copies, l.generated, l.queued, l.sent, l.dropped, l.consumed);
	life_must("ledger", mmu_balanced(sw_mmu(s->sw)), "the buffer's sums do not balance");
	for (uint16_t port = 0; port < s->n_ports; port++) {
		const struct sw_port_stats *st = sw_port_stats(s->sw, port);
		uint64_t malformed = 0, queue_packets = 0;

		for (unsigned int v = 0; v < FRAME_VERDICTS; v++)
			malformed += st->malformed[v];
		life_must("count", malformed == st->drops[SW_DROP_MALFORMED],
			  "port %u: malformed frames", port);
		for (uint8_t q = 0; q < TM_CLASSES; q++) {
			struct mmu_pg_state pg = mmu_pg_state(sw_mmu(s->sw), port, q);

			life_must("ledger",
				  sw_queue_bytes(s->sw, port, q) ==
					  mmu_queue_bytes(sw_mmu(s->sw), port, q),
				  "queue %u of port %u", q, port);
			queued += sw_queue_bytes(s->sw, port, q);
			groups += pg.reserved_bytes + pg.shared_bytes + pg.headroom_bytes;
			queue_packets += st->queue[q].tx_packets;
		}
		life_must("count",
			  st->tx_packets == s->taken[port] && st->tx_bytes == s->taken_bytes[port],
			  "port %u counts %" PRIu64 " frames and %" PRIu64
			  " bytes sent, the wire %" PRIu64 " and %" PRIu64,
			  port, st->tx_packets, st->tx_bytes, s->taken[port], s->taken_bytes[port]);
		life_must("count", queue_packets <= st->tx_packets, "queues of port %u", port);
		life_must("count",
			  st->tx_pause_frames + st->tx_global_pause_frames == s->pauses[port],
			  "port %u counts %" PRIu64 " pause frames sent, the wire %" PRIu64, port,
			  st->tx_pause_frames + st->tx_global_pause_frames, s->pauses[port]);
	}
	for (int pool = 0; pool < MMU_POOLS; pool++)
		pools += pool == MMU_INGRESS_LOSSLESS || pool == MMU_INGRESS_LOSSY
				 ? mmu_pool_used_bytes(sw_mmu(s->sw), (enum mmu_pool_id)pool)
				 : 0;
	life_must("ledger", l.queued == queued, "queued is %" PRIu64 ", the queues hold %" PRIu64,
		  l.queued, queued);
	life_must("ledger", groups == mmu_used_bytes(sw_mmu(s->sw)),
		  "groups hold %" PRIu64 " bytes, the buffer says %" PRIu64, groups,
		  mmu_used_bytes(sw_mmu(s->sw)));
	(void)pools;
}

/* What telemetry calls. */
static void
read_all(void)
{
	static struct sw_params running;

	running = s->params;
	sw_running_params(s->sw, &running);
	sw_fdb_stats(s->sw);
	sw_router_stats(s->sw);
	life_must("count",
		  sw_fdb_entries(s->sw) <= s->params.fdb_entries * s->params.shards * 2 + 64,
		  "%u addresses", sw_fdb_entries(s->sw));
	sw_big_red_switch(s->sw);
	sw_reload_is_done(s->sw);
	for (uint16_t port = 0; port < s->n_ports; port++) {
		sw_tx_disabled(s->sw, port);
		sw_pfc_delay(s->sw, port);
		sw_dcbx(s->sw, port);
		sw_fdb_port_entries(s->sw, port);
		sw_port_pfcwd(&s->params, port);
		for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
			struct pfc_rx_view v = pfc_rx_read(sw_pfc_rx(s->sw, port), prio, s->now_ns);

			life_must("times", v.duration_ns <= s->now_ns,
				  "port %u was paused for %" PRIu64 " ns", port, v.duration_ns);
			sw_pfcwd_watches(s->sw, port, prio);
			sw_pfcwd(s->sw, port, prio);
			sw_mark_accuracy(s->sw, port, prio);
			sw_mark_curve(s->sw, port, prio);
			mmu_pg_limit_bytes(sw_mmu(s->sw), port, prio);
			mmu_pg_xon_mark_bytes(sw_mmu(s->sw), port, prio);
		}
		sw_interface_stats(s->sw, port);
	}
	if (!s->snapshot_asked || sw_snapshot_is_done(&s->snapshot)) {
		s->snapshot = (struct sw_snapshot){.table = s->calls % 2 ? SW_SNAPSHOT_FDB
									 : SW_SNAPSHOT_NEIGH};
		s->snapshot_asked = true;
		sw_snapshot_ask(s->sw, &s->snapshot);
	}
}

static void
earn(uint16_t port)
{
	__int128 cap =
		(__int128)s->params.shaper_burst_ns * s->shaper_bps[port] + NANOBITS_PER_BYTE;

	s->credit[port] += (__int128)s->shaper_bps[port] * (s->now_ns - s->credit_ns[port]);
	if (s->credit[port] > cap || !s->paces[port])
		s->credit[port] = cap;
	s->paces[port] = true;
	s->credit_ns[port] = s->now_ns;
}

static void
check_frame(uint16_t port, const struct rte_mbuf *m)
{
	struct mac_control mc;

	s->digest = digest_add(s->digest, s->now_ns << 16 ^ (uint64_t)m->pkt_len << 4 ^ port);
	earn(port);
	if (m->data_len == PFC_FRAME_BYTES && rte_pktmbuf_mtod(m, uint8_t *)[12] == 0x88 &&
	    rte_pktmbuf_mtod(m, uint8_t *)[13] == 0x08) {
		enum mac_control_kind kind =
			mac_control_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &mc);

		s->pauses[port]++;
		s->credit[port] -= (__int128)wire_bytes(m->pkt_len) * NANOBITS_PER_BYTE;
		for (unsigned int i = 0; i < TM_CLASSES; i++) {
			uint8_t bit = (uint8_t)(1u << i);
			uint64_t quanta = mc.quanta[kind == MAC_CONTROL_PFC ? i : 0];

			if (kind != MAC_CONTROL_PFC || mc.enable & bit)
				s->xoff_until_ns[port][i] =
					s->now_ns + quanta * (512 * NS_PER_SEC /
							      s->params.ports[port].link_speed_bps);
		}
		return;
	}
	s->taken[port]++;
	s->taken_bytes[port] += frame_bytes(m->pkt_len);
	life_must("frame", m->pkt_len >= 60 && m->nb_segs <= 2, "a frame of %u bytes", m->pkt_len);
	life_must("pace", s->credit[port] >= 0,
		  "port %u sends a frame of %u bytes too early: at %" PRIu64
		  " bit/s its token bucket is %" PRId64 " bits short",
		  port, m->pkt_len, s->shaper_bps[port],
		  (int64_t)(-s->credit[port] / (int64_t)NS_PER_SEC));
	s->credit[port] -= (__int128)wire_bytes(m->pkt_len) * NANOBITS_PER_BYTE;
}

/* ---- frames in ---- */

static struct rte_mbuf *
make(struct stream *st)
{
	uint64_t chance_ = draw(st->salt, st->n);
	struct frame_spec frame = st->frame;
	struct rte_mbuf *m;

	if (rte_mempool_avail_count(s->bench.arrivals) < 16)
		return NULL;
	frame.psn = s->psn++ & 0xFFFFFF;
	if (frame.payload_bytes == 0)
		frame.payload_bytes = (uint16_t)(4 * (1 + chance_ % 400));
	if (strcmp(st->kind, "flood") == 0)
		frame.dst = BROADCAST_HOST;
	m = make_frame(&s->bench, &frame);
	if (strcmp(st->kind, "routed") == 0) {
		uint8_t *eth = rte_pktmbuf_mtod(m, uint8_t *);

		memcpy(eth, s->params.router.router_mac, 6);
	}
	if (strcmp(st->kind, "broken") == 0)
		rte_pktmbuf_mtod(m, uint8_t *)[chance_ % 34] ^= (uint8_t)(1 + chance_ / 64 % 255);
	return m;
}

static void
give_in(uint16_t port, struct rte_mbuf *m)
{
	if (s->down[port]) {
		rte_pktmbuf_free(m);
		return;
	}
	s->given[port]++;
	s->given_bytes[port] += frame_bytes(m->pkt_len);
	give(&s->bench, port, m, s->now_ns);
	s->calls++;
}

static void
give_streams(void)
{
	for (uint16_t port = 0; port < s->n_ports; port++) {
		struct stream *st = &s->stream[port];

		while (st->on && st->next_ns <= s->now_ns) {
			struct rte_mbuf *m = make(st);

			if (m != NULL)
				give_in(port, m);
			st->next_ns += st->gap_ns;
			st->on = --st->n > 0;
		}
	}
}

/* ---- time ---- */

static void
take_from(uint16_t port)
{
	unsigned int turns = 0;

	while (next_ns(&s->bench, port) <= s->now_ns) {
		struct rte_mbuf *m[8];
		uint16_t max_pkts = (uint16_t)(1 + draw(s->salt, s->calls++) % 8), n;

		n = s->sw->ops->tx(s->sw, port, m, max_pkts, s->now_ns);
		for (uint16_t i = 0; i < n; i++) {
			check_frame(port, m[i]);
			rte_pktmbuf_free(m[i]);
		}
		if (n == 0 && s->params.shards <= 1 && !s->is_pending)
			life_must("next_ns", next_ns(&s->bench, port) > s->now_ns,
				  "tx() of port %u gave nothing, and next_ns() is %" PRIu64, port,
				  next_ns(&s->bench, port));
		if (n == 0)
			break;
		life_must("standstill", ++turns < 100000, "port %u sends without an end", port);
	}
}

static uint64_t
first_ns(void)
{
	uint64_t first = s->control_ns;

	for (uint16_t port = 0; port < s->n_ports; port++) {
		first = min_u64(first, next_ns(&s->bench, port));
		if (s->stream[port].on)
			first = min_u64(first, s->stream[port].next_ns);
	}
	return first;
}

static void
run(uint64_t until_ns)
{
	unsigned int still = 0;
	uint64_t at_ns;

	while ((at_ns = first_ns()) <= until_ns) {
		still = at_ns > s->now_ns ? 0 : still + 1;
		life_must("standstill", still < 10000, "the time does not pass");
		s->now_ns = max_u64(s->now_ns, at_ns);
		/* Shards hand over in calls of their own. */
		if (still > 4 * PORTS)
			s->now_ns++;
		life_now_ns = s->now_ns;
		if (s->control_ns <= s->now_ns)
			s->control_ns =
				max_u64(s->sw->ops->control(s->sw, s->now_ns), s->now_ns + 1);
		give_streams();
		for (uint16_t port = 0; port < s->n_ports; port++)
			take_from(port);
		settle();
		if (s->calls % 16 == 0)
			check_books();
	}
	s->now_ns = max_u64(s->now_ns, until_ns);
	life_now_ns = s->now_ns;
}

/* ---- steps ---- */

static void
do_send(const struct words *w, uint16_t port)
{
	struct stream *st = &s->stream[port];
	const char *kind = words_value(w, "kind");

	*st = (struct stream){
		.on = true,
		.port = port,
		.n = min_u64(words_number(w, "n", 1), 3000),
		.gap_ns = words_number(w, "gap", 100),
		.next_ns = s->now_ns,
		.salt = words_number(w, "salt", 1),
		.frame =
			{
				.src = (uint8_t)words_number(w, "from", port),
				.dst = (uint8_t)words_number(w, "to", 1),
				.dscp = (uint8_t)(words_number(w, "dscp", 26) & 63),
				.ecn = (uint8_t)(words_number(w, "ecn", 2) & 3),
				.ip_version = (uint8_t)words_number(w, "ip", 4),
				.tagged = words_value(w, "vlan") != NULL,
				.vlan_tci = (uint16_t)words_number(w, "vlan", 0),
				.payload_bytes =
					(uint16_t)(min_u64(words_number(w, "bytes", 1024), 1900) &
						   ~3ull),
			},
	};
	st->on = st->n > 0;
	snprintf(st->kind, sizeof(st->kind), "%s", kind == NULL ? "data" : kind);
}

static void
do_change(const struct words *w, bool drop)
{
	static struct key keys[MOST_KEYS];
	unsigned int n = s->n_keys;
	char section[64];

	if (w->n < 2)
		return;
	memcpy(keys, s->key, sizeof(keys));
	section_name(w->word[1], section, sizeof(section));
	if (drop) {
		n = 0;
		for (unsigned int i = 0; i < s->n_keys; i++)
			if (strcmp(s->key[i].section, section) != 0)
				keys[n++] = s->key[i];
	}
	for (unsigned int i = 2; i < w->n && !drop; i++) {
		char *value = strchr(w->word[i], '=');

		if (value == NULL)
			continue;
		*value++ = '\0';
		set_entry(keys, &n, section, w->word[i], value);
	}
	reload(keys, n);
}

static bool
says(const struct words *w, unsigned int i, const char *word)
{
	return i < w->n && strcmp(w->word[i], word) == 0;
}

static void
do_pause(const struct words *w, uint16_t port)
{
	uint16_t quanta = (uint16_t)words_number(w, "quanta", 1000);

	if (s->down[port] || rte_mempool_avail_count(s->bench.arrivals) < 16)
		return;
	give_pfc(&s->bench, port, (uint8_t)words_number(w, "prios", 0xFF), quanta, s->now_ns);
}

static void
do_link(const struct words *w, uint16_t port)
{
	bool up = says(w, 2, "up");

	if (s->down[port] == !up)
		return;
	s->down[port] = !up;
	memset(s->xoff_until_ns[port], 0, sizeof(s->xoff_until_ns[port]));
	sw_set_link(s->sw, port, up, s->now_ns);
	s->control_ns = min_u64(s->control_ns, s->now_ns);
}

static void
do_step(const char *line)
{
	struct words w;
	uint16_t port;

	words_of(line, &w);
	port = (uint16_t)(words_at(&w, 1) % s->n_ports);
	if (says(&w, 0, "run"))
		run(s->now_ns + words_at(&w, 1));
	else if (says(&w, 0, "set") || says(&w, 0, "drop"))
		do_change(&w, says(&w, 0, "drop"));
	else if (says(&w, 0, "send"))
		do_send(&w, port);
	else if (says(&w, 0, "pause"))
		do_pause(&w, port);
	else if (says(&w, 0, "link"))
		do_link(&w, port);
	else if (says(&w, 0, "hold")) {
		s->held[port] = says(&w, 2, "on");
		sw_set_tx_disabled(s->sw, port, s->held[port]);
	} else if (says(&w, 0, "delay"))
		sw_set_pfc_delay(s->sw, port, (uint16_t)words_at(&w, 2));
	else if (says(&w, 0, "brs"))
		sw_set_big_red_switch(s->sw, says(&w, 1, "on"));
	else if (says(&w, 0, "clear"))
		sw_clear_watermarks(s->sw, (uint32_t)words_at(&w, 1));
	else if (says(&w, 0, "restart"))
		sw_restart(s->sw, s->now_ns);
	check_books();
	read_all();
}

static void
end(void)
{
	uint64_t until_ns;

	life_line = "(the end)";
	sw_set_big_red_switch(s->sw, false);
	for (uint16_t port = 0; port < s->n_ports; port++) {
		s->stream[port].on = false;
		sw_set_tx_disabled(s->sw, port, false);
		if (s->down[port])
			sw_set_link(s->sw, port, true, s->now_ns);
		s->down[port] = false;
		sw_set_pfc_delay(s->sw, port, 0);
		/* Its peers let it go. */
		give_pfc(&s->bench, port, 0xFF, 0, s->now_ns);
	}
	s->control_ns = s->now_ns;
	/* A full buffer at the slowest shaper that is made here, and a pause of its peers. */
	until_ns = s->now_ns + 20 * NS_PER_SEC;
	while (s->now_ns < until_ns && sw_ledger(s->sw).queued > 0)
		run(s->now_ns + 10 * NS_PER_MS);
	run(s->now_ns + 10 * NS_PER_MS);
	check_books();
	life_must("rest", sw_ledger(s->sw).queued == 0,
		  "%" PRIu64 " bytes still wait after 20 s without a pause",
		  sw_ledger(s->sw).queued);
	life_must("rest", mmu_used_bytes(sw_mmu(s->sw)) == 0, "%" PRIu64 " bytes are still charged",
		  mmu_used_bytes(sw_mmu(s->sw)));
	/* A restart says no XON: the longest pause has passed. */
	for (uint16_t port = 0; port < s->n_ports; port++)
		for (unsigned int i = 0; i < TM_CLASSES; i++)
			life_must("rest", s->xoff_until_ns[port][i] <= s->now_ns,
				  "priority %u of the peer of port %u is held, the buffer is empty",
				  i, port);
	life_must("mbufs", rte_mempool_avail_count(s->bench.arrivals) == BENCH_FRAMES,
		  "%u mbufs are still in the switch",
		  BENCH_FRAMES - rte_mempool_avail_count(s->bench.arrivals));
}

static void
begin(const struct script *script)
{
	struct sw_pools pools;
	struct words w;
	char text[64];
	uint16_t n_ports;

	words_of(script->line[0], &w);
	memset(s, 0, sizeof(*s));
	n_ports = (uint16_t)min_u64(max_u64(words_number(&w, "ports", 5), 2), PORTS);
	s->salt = words_number(&w, "salt", 1);
	set_entry(s->key, &s->n_keys, "switch", "fdb_entries", "64");
	set_entry(s->key, &s->n_keys, "switch", "buffer_bytes", "200000");
	set_entry(s->key, &s->n_keys, "switch", "shaper_burst_ns", "1");
	snprintf(text, sizeof(text), "%" PRIu64,
		 min_u64(max_u64(words_number(&w, "shards", 1), 1), n_ports));
	set_entry(s->key, &s->n_keys, "switch", "shards", text);
	for (uint16_t port = 0; port < n_ports; port++) {
		char section[16];

		snprintf(section, sizeof(section), "port %u", port);
		snprintf(text, sizeof(text), "net_null%u", port);
		set_entry(s->key, &s->n_keys, section, "device", text);
		set_entry(s->key, &s->n_keys, section, "link_speed_bps", "10G");
	}
	for (unsigned int i = 1; i < script->n; i++) {
		static struct key keys[MOST_KEYS];
		unsigned int n = s->n_keys;
		char section[64];

		words_of(script->line[i], &w);
		if (!says(&w, 0, "is") || w.n < 2)
			continue;
		memcpy(keys, s->key, sizeof(keys));
		section_name(w.word[1], section, sizeof(section));
		for (unsigned int k = 2; k < w.n; k++) {
			char *value = strchr(w.word[k], '=');

			if (value == NULL)
				continue;
			*value++ = '\0';
			set_entry(keys, &n, section, w.word[k], value);
		}
		if (read_params(keys, n, &s->params)) {
			sw_tables_free(&s->params.tables);
			memcpy(s->key, keys, n * sizeof(*keys));
			s->n_keys = n;
		}
	}
	life_must("harness", read_params(s->key, s->n_keys, &s->params), "the first configuration");
	s->n_ports = s->params.n_ports;
	s->bench.frames = bench_pool("frames", BENCH_FRAMES, 2048);
	s->bench.clones = bench_pool("clones", BENCH_CLONES, 0);
	s->bench.arrivals = bench_pool("arrivals", BENCH_FRAMES, 2048);
	pools = (struct sw_pools){
		.frames = s->bench.frames, .clones = s->bench.clones, .mbufs = 2 * BENCH_FRAMES};
	s->sw = s->bench.sw = sw_create(&s->params, &pools);
	life_must("memory", s->sw != NULL, "no switch");
	for (uint16_t port = 0; port < s->n_ports; port++)
		s->shaper_bps[port] = s->params.ports[port].shaper_rate_bps;
}

static uint64_t
live(const struct script *script)
{
	begin(script);
	life_take_steps(script, do_step);
	end();
	settle();
	sw_destroy(s->sw);
	sw_tables_free(&s->params.tables);
	sw_tables_free(&s->before.tables);
	bench_sees_full_pools(&s->bench);
	pkt_pool_destroy(s->bench.frames);
	pkt_pool_destroy(s->bench.clones);
	pkt_pool_destroy(s->bench.arrivals);
	return s->digest;
}

/* ---- a random one ---- */

static void
write_section(const char *name, FILE *out)
{
	for (; *name != '\0'; name++)
		fputc(*name == ' ' ? '+' : *name, out);
}

/* A key of a section that a switch of default params has. */
static void
any_key(struct prng *r, const struct config_rows *rows, const char *verb, bool live_only, FILE *out)
{
	for (unsigned int tries = 0; tries < 30; tries++) {
		const struct config_row *row = &rows->rows[any(r, 0, rows->n - 1)];
		const struct field *f = &row->fields[any(r, 0, row->n - 1)];
		char value[128];

		if ((live_only && !f->live) || life_any_value(r, f, value, sizeof(value)) == NULL ||
		    strcmp(f->name, "link_speed_bps") == 0 || strcmp(f->name, "shards") == 0 ||
		    strcmp(f->name, "shard") == 0 || strcmp(f->name, "fdb_entries") == 0 ||
		    strcmp(f->name, "neighbor_entries") == 0 ||
		    strcmp(f->name, "shaper_burst_ns") == 0)
			continue;
		/* Slow shapers would make the end long. */
		if (strcmp(f->name, "shaper_rate_bps") == 0 || strcmp(f->name, "max_rate_bps") == 0)
			snprintf(value, sizeof(value), "%" PRIu64 "M", any(r, 10, 10000));
		fprintf(out, "%s ", verb);
		write_section(row->section, out);
		fprintf(out, " %s=%s\n", f->name, value);
		return;
	}
}

static void
any_table(struct prng *r, unsigned int ports, const char *verb, FILE *out)
{
	switch (any(r, 0, 4)) {
	case 0:
		life_write(r, out, "%s fdb+host{0..3} mac=02:00:00:00:00:0{0..%u} port={0..%u}\n",
			   verb, ports + 1, ports - 1);
		break;
	case 1:
		life_write(r, out, "%s interface+vlan+{1..3} ip=10.{0..3}.0.254/24\n", verb);
		break;
	case 2:
		life_write(r, out, "%s route+10.{0..5}.0.0/16 nexthop={?30:blackhole|10.0.0.1}\n",
			   verb);
		break;
	case 3:
		life_write(r, out, "%s neighbor+10.0.0.{0..5} mac=02:00:00:00:00:0{0..%u}\n", verb,
			   ports);
		break;
	default:
		life_write(
			r, out,
			"%s port+{0..%u} access_vlan={0..3} tagged_vlans={none|none|1-3|2,5-9}\n",
			verb, ports - 1);
	}
}

/* Often to one host from several, so that there is something to queue. */
static void
make_sends(struct prng *r, unsigned int ports, FILE *out)
{
	unsigned int to = (unsigned int)any(r, 0, ports + 1);

	for (unsigned int n = (unsigned int)any(r, 1, 4); n > 0; n--)
		life_write(r, out,
			   "send {0..%u} n={~1..1500} to=%u gap={~1..3000}"
			   " dscp={0|26|26|26|48|10} ecn={0..3} bytes={0|{1..1800}}"
			   " kind={data|data|data|flood|routed|broken} salt={1..100000}"
			   "{?15: vlan=2|{?20: ip=6}}\n",
			   ports - 1, to);
}

static void
make_step(struct prng *r, unsigned int ports, const struct config_rows *rows, FILE *out)
{
	unsigned int what = (unsigned int)any(r, 0, 99);
	unsigned int port = (unsigned int)any(r, 0, ports - 1);

	if (what < 40)
		make_sends(r, ports, out);
	else if (what < 62)
		any_key(r, rows, "set", true, out);
	else if (what < 70)
		any_table(r, ports, "set", out);
	else if (what < 73)
		life_write(r, out, "drop route+10.{0..5}.0.0/16\n");
	else if (what < 74)
		life_write(r, out, "drop fdb+host{0..3}\n");
	else if (what < 84)
		life_write(r, out, "pause %u prios={0..255} quanta={?25:0|{~1..65535}}\n", port);
	else if (what < 90)
		life_write(r, out, "link %u {up|down}\n", port);
	else if (what < 92)
		life_write(r, out, "hold %u {?60:off|on}\n", port);
	else if (what < 94)
		life_write(r, out, "delay %u {~0..1000}\n", port);
	else if (what < 96)
		life_write(r, out, "brs {?30:on|off}\n");
	else if (what < 98)
		life_write(r, out, "clear {0..255}\n");
	else if (what < 99)
		life_write(r, out, "restart\n");
	life_write(r, out, "{?70:run {~1..300000}\n}");
}

static void
make_script(struct prng *r, FILE *out)
{
	static struct sw_params params;
	unsigned int ports = (unsigned int)any(r, 2, 6);
	struct config_rows rows = {0};

	sw_params_default(&params, (uint16_t)ports);
	switch_config_rows(&params, &rows);
	life_write(r, out,
		   "switch ports=%u shards={1..3} salt={1..1000000}\n"
		   "is switch buffer_bytes={~150000..3000000}\n"
		   "{?40:is router router_mac=02:00:00:00:ff:01\n}"
		   "{?30:is switch vlan_filtering=on\n}",
		   ports);
	for (unsigned int n = (unsigned int)any(r, 0, 12); n > 0; n--)
		any_key(r, &rows, "is", false, out);
	for (unsigned int n = (unsigned int)any(r, 0, 5); n > 0; n--)
		any_table(r, ports, "is", out);
	for (unsigned int n = (unsigned int)any_size(r, 10, 90); n > 0; n--)
		make_step(r, ports, &rows, out);
	config_rows_free(&rows);
}

const struct life_kind life_switch = {
	.name = "switch",
	.help = "a switch of one to three shards between scripted ports",
	.make = make_script,
	.live = live,
};
