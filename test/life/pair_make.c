/* SPDX-License-Identifier: BSD-3-Clause */
/* The random life of a pair: the script of a seed. */
#include "pair.h"

#include <inttypes.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"

/* @return false: of no use. */
static bool
write_key(struct prng *r, const char *section, const struct field *f, struct nic_params *params,
	  bool live_only, FILE *out)
{
	struct nic_params next = *params;
	char word[256], value[128];

	if ((live_only && !f->live) || life_any_value(r, f, value, sizeof(value)) == NULL)
		return false;
	if (strstr("max_qps first_qpn link_speed_bps mac ip ip6 shaper_burst_ns control_tx_queue "
		   "neigh_retrans_time_ns neigh_reachable_time_ns rp_profile local_ack_timeout",
		   f->name) != NULL)
		return false;
	snprintf(word, sizeof(word), "%s.%s=%s", section, f->name, value);
	if (!pair_set_key(&next, word, live_only))
		return false;
	/* Now and then one that is refused. */
	if (!pair_params_are_good(&next) && !chance(r, 5))
		return false;
	if (pair_params_are_good(&next))
		*params = next;
	fprintf(out, " %s", word);
	return true;
}

/* A key of any table. */
static bool
any_key(struct prng *r, bool live_only, struct nic_params *params, FILE *out)
{
	bool of_nic = chance(r, 40);
	const struct field_section *s =
		pair_section(of_nic ? NIC_DEVICE_SECTIONS : any(r, 0, PAIR_SECTIONS - 1));

	return write_key(r, s->name, &s->fields[any(r, 0, *s->n - 1)], params, live_only, out);
}

/* What each QP has a state of that a change has to bring within other bounds. */
static bool
any_bound(struct prng *r, struct nic_params *params, FILE *out)
{
	static const char *const keys[] = {"nic.qp_burst_bytes", "rp.rp_min_rate_bps",
					   "rp.rp_max_rate_bps", "dctcp.dctcp_min_rate_bps",
					   "timely.timely_min_rate_bps"};
	const char *key = keys[any(r, 0, ARRAY_LEN(keys) - 1)];
	char section[16];
	size_t offset;

	snprintf(section, sizeof(section), "%.*s", (int)strcspn(key, "."), key);
	return write_key(r, section, pair_find_key(key, &offset), params, true, out);
}

static void
make_nic(struct prng *r, unsigned int h, bool large, bool same, struct nic_params *params,
	 FILE *out)
{
	char line[1024];
	FILE *text = fmemopen(line, sizeof(line), "w");
	struct words w;

	life_write(
		r, text,
		"nic %u nic.cc={?%u:dcqcn|{none|dcqcn|dctcp|timely}} nic.local_ack_timeout={3..9}"
		" nic.window_packets={1|3|64|4096} nic.ack_every={1..20}"
		" nic.max_rd_atomic={1..8} nic.measure_times={?80:on|off}"
		" nic.measure_pacing={on|off} nic.flow_control=%s"
		" nic.shaper_burst_ns={?70:1|2000} nic.rnr_retry=7 nic.min_rnr_timer={1..10}"
		" np.np_cnp_moderation={qp|ip_pair|port} np.np_cnp_delay_ns={?30:3000|0}"
		" rp.rp_profile={?%u:mlx|paper}",
		h, large ? 80 : 20, same ? "pfc" : "{?40:pfc|pause}", large ? 80 : 50);
	fclose(text);
	words_of(line, &w);
	for (unsigned int k = 2; k < w.n; k++)
		pair_set_key(params, w.word[k], false);
	fputs(line, out);
	for (unsigned int n = (unsigned int)any(r, 0, 4); n > 0; n--)
		any_key(r, true, params, out);
	life_write(r, out,
		   "{?25: receiver.drain_rate_bps={1..20}250M receiver.buffer_bytes=65536"
		   " receiver.xoff_bytes=20000 receiver.xon_bytes=10000}\n");
}

/* More QPs than two steps of a change come to: after the call that cuts one, others are as
 * before. */
#define CROWD 140u
#define MOST_CROWD 190u

/* What the maker remembers of flows: steps that do something are worth more. */
static struct {
	unsigned int from;
	bool is_open, is_stopped;
	uint64_t bytes;
} made[FLOWS];

/* Mostly one that begins at this host: changes of the other end do nothing. */
static uint32_t
any_flow_of(struct prng *r, unsigned int h)
{
	uint32_t id = (uint32_t)any(r, 0, FLOWS - 1);

	for (unsigned int tries = 0; tries < 4 && made[id].from != h; tries++)
		id = (uint32_t)any(r, 0, FLOWS - 1);
	return id;
}

/* Of messages that come a microsecond to half a millisecond after each other. */
static uint64_t
any_load(struct prng *r, uint64_t bytes, uint64_t speed_bps)
{
	uint64_t gap_ns = any_size(r, 500, 500 * NS_PER_US);

	return min_u64(1000 + mul_div(bytes, 8 * NS_PER_SEC, gap_ns), speed_bps / 2);
}

static void
make_flow(struct prng *r, uint32_t id, uint32_t least_qps, uint64_t speed_bps,
	  const struct nic_params *params, FILE *out)
{
	static const char *const verbs[] = {"write", "write_imm", "send", "read", "ud_send"};
	static const char *const arrivals[] = {"closed",   "poisson", "poisson", "periodic",
					       "periodic", "on_off",  "incast"};
	const char *verb = verbs[any(r, 0, 4)];
	const char *arrival = arrivals[any(r, 0, 6)];
	bool ud = strcmp(verb, "ud_send") == 0;
	uint32_t mtu = 256u << any(r, 0, 3);
	uint64_t depth = min_u64(params[0].max_rd_atomic, params[1].max_rd_atomic);

	made[id].from = (unsigned int)any(r, 0, 1);
	made[id].is_open = arrival[0] == 'p';
	made[id].bytes = ud ? any(r, 1, mtu) : any_size(r, 1, 20000);
	made[id].is_stopped = chance(r, least_qps > 1 ? 5 : 20);
	life_write(r, out,
		   "add %u from=%u qp_count={~%u..%u} verb=%s mtu_bytes=%u"
		   " message_bytes=%" PRIu64 " arrival=%s depth={1..%" PRIu64 "}"
		   "{?40: message_size=uniform}%s",
		   id, made[id].from, least_qps, least_qps > 1 ? MOST_CROWD : 5u, verb, mtu,
		   made[id].bytes, arrival, min_u64(depth, 6),
		   made[id].is_stopped ? " stopped=on" : "");
	if (made[id].is_open)
		life_write(r, out, " load_bps=%" PRIu64 " seed={1..9}",
			   any_load(r, made[id].bytes, speed_bps));
	if (strcmp(arrival, "on_off") == 0)
		life_write(r, out, " on_ns={1..60000} off_ns={0..200000}");
	if (strcmp(verb, "read") != 0)
		life_write(r, out, "{?10: raw=on}");
	life_write(r, out,
		   "{?30: messages={1..60}}{?15: bytes={1..100000}}{?15: start_ns={~1..2000000}}"
		   "{?10: stop_ns={~1..4000000}}{?%u: rate_cap_bps={~1000000..%" PRIu64 "}}"
		   "{?25: max_recv_wr={1..3} post_recv_ns={500..5000}}"
		   "{?30: initial_psn={0|%u}}{?20: dscp={0..63}}{?15: ask=1}{?15: ipv6=1}"
		   "{?15: tagged=on vlan_id={0..10} vlan_pcp={0..7}}\n",
		   least_qps > 1 ? 5 : 25, 1000000 + speed_bps, PSN_MASK - 20);
}

static void
make_set(struct prng *r, struct nic_params *params, uint64_t speed_bps, FILE *out)
{
	unsigned int h = (unsigned int)any(r, 0, 1);

	fprintf(out, "set %u", h);
	if (chance(r, 40))
		any_bound(r, &params[h], out);
	for (unsigned int n = (unsigned int)any(r, 0, 3); n > 0; n--)
		for (unsigned int tries = 0; tries < 8 && !any_key(r, true, &params[h], out);)
			tries++;
	for (unsigned int n = (unsigned int)any(r, 0, 2); n > 0; n--) {
		uint32_t id = any_flow_of(r, h);

		if (chance(r, made[id].is_stopped ? 60 : 25)) {
			made[id].is_stopped = !made[id].is_stopped;
			fprintf(out, " flow%u.stopped=%s", id, made[id].is_stopped ? "on" : "off");
		} else if (!made[id].is_open || chance(r, 30)) {
			life_write(r, out, " flow%u.rate_cap_bps={?40:0|{~1000000..%" PRIu64 "}}",
				   id, 1000000 + speed_bps);
		} else {
			fprintf(out, " flow%u.load_bps=%" PRIu64, id,
				any_load(r, made[id].bytes, speed_bps));
		}
	}
	/* CNPs at the same instant, when some QPs know of the change and others do not. */
	life_write(
		r, out,
		"\n{?30:cnp %u flow={0..%u} qp={0..%u} n=1\ncnp %u flow={0..%u} qp={0..%u} n=1\n}",
		h, FLOWS / 2, MOST_QPS, h, FLOWS / 2, MOST_QPS);
}

/* Other bounds than the rate that a QP was cut to, and more CNPs before it knows of them. */
static void
make_bounds(struct prng *r, uint32_t id, bool large, uint64_t speed_bps, FILE *out)
{
	unsigned int qp = (unsigned int)any(r, large ? 128 : 0, large ? MOST_CROWD - 1 : MOST_QPS);
	unsigned int h = made[id].from;

	life_write(r, out,
		   "cnp %u flow=%u qp=%u n={1..5}\nrun {?%u:{1000..200000}|{~1..100000}}\n"
		   "set %u {?60:rp.rp_min_rate_bps={%" PRIu64 "..%" PRIu64
		   "}|rp.rp_max_rate_bps={%" PRIu64 "..%" PRIu64 "}}\n"
		   "{?%u:poll %u 1\n}cnp %u flow=%u qp=%u n={1..2}\n"
		   "cnp %u flow=%u qp={128..%u} n=1\n",
		   h, id, qp, large ? 100 : 30, h, speed_bps / 64, speed_bps / 4, speed_bps / 4,
		   speed_bps, large ? 90 : 20, h, h, id, qp, h, id, MOST_CROWD - 1);
}

/* More comes than may leave; then packets are lost, and less comes while they are sent again. */
static void
make_backlog(struct prng *r, uint32_t id, uint64_t speed_bps, FILE *out)
{
	unsigned int h = made[id].from;
	uint64_t load_bps = any(r, speed_bps / 64, speed_bps / 4);

	life_write(r, out,
		   "set %u flow%u.load_bps=%" PRIu64 " flow%u.rate_cap_bps=%" PRIu64
		   "\nrun {~10000..200000}\ncable %u lose={10000..200000} salt={1..1000}\n"
		   "run {~1000..50000}\nset %u flow%u.load_bps=%" PRIu64
		   "\nrun {20000..1000000}\ncable %u salt=1\n",
		   h, id, load_bps, id, load_bps - load_bps / 4, h, h, id, load_bps / 64, h);
}

static void
make_step(struct prng *r, struct nic_params *params, bool large, uint64_t speed_bps, FILE *out)
{
	unsigned int what = (unsigned int)any(r, 0, 99);
	unsigned int h = (unsigned int)any(r, 0, 1);
	uint32_t id = (uint32_t)any(r, 0, FLOWS - 1);

	if (what < 12)
		make_flow(r, id, large && id == 0 ? CROWD : 1, speed_bps, params, out);
	else if (what < 20)
		life_write(r, out, "{?90:remove|cut} %u\n", id);
	else if (what < 46)
		make_set(r, params, speed_bps, out);
	else if (what < 49)
		life_write(r, out, "poll %u {1..3}\n", h);
	else if (what < 58)
		life_write(r, out,
			   "cable %u lose={0|{~1000..60000}} twice={0|{~1000..60000}}"
			   " late={0|{~1000..60000}} by={1..20000} mark={0|{~1000..90000}}"
			   " salt={1..1000}\n",
			   h);
	else if (what < 66)
		life_write(r, out, "pause %u prios={1..255} quanta={?25:0|{~1..65535}}\n", h);
	else if (what < 74)
		life_write(r, out, "cnp %u flow=%u qp={0..%u} n={1..5}\n", h, id, MOST_QPS);
	else if (what < 77)
		life_write(r, out, "drain %u {?40:0|{~1000000..%" PRIu64 "}}\n", h, speed_bps);
	else if (what < 78)
		life_write(r, out, "storm %u {on|off}\n", h);
	else if (what < 83)
		life_write(r, out, "trace %u flow=%u qp={0..%u} slot={0..3}\n", h, id, MOST_QPS);
	else if (what < 85)
		life_write(r, out, "link {down|silent}\nrun {~1..1000000}\nlink up\n");
	else if (what < 92)
		make_bounds(r, large ? 0 : id, large, speed_bps, out);
	else if (what < 98 && made[id].is_open)
		make_backlog(r, id, speed_bps, out);
	else
		life_write(r, out, "read\n");
	life_write(r, out, "{?60:run {~1..2000000}\n}");
}

void
pair_make(struct prng *r, FILE *out)
{
	struct nic_params params[HOSTS];
	bool large = chance(r, 25);
	bool same = chance(r, 60);
	uint64_t speed_bps = any(r, 1, 40) * GBPS;

	memset(made, 0, sizeof(made));
	if (chance(r, 20))
		speed_bps = 100 * MBPS;
	life_write(r, out,
		   "pair nodes={?%u:1|{2..3}} qps=%u speed=%" PRIu64 " delay={~100..10000}"
		   " mbufs={?20:{4..16}|256} budget=%u salt={1..1000000}\n",
		   large ? 90 : 75, large ? 250 : 24, speed_bps, large ? 5000 : 12000);
	for (unsigned int h = 0; h < HOSTS; h++) {
		nic_test_params(&params[h], h);
		params[h].link_speed_bps = speed_bps;
		make_nic(r, h, large, same, &params[h], out);
	}
	for (uint32_t id = 0; id < FLOWS / 2; id++)
		make_flow(r, id, large && id == 0 ? CROWD : 1, speed_bps, params, out);
	/* Before the crowd has used up the calls of this life. */
	for (unsigned int n = large ? 6 : 0; n > 0; n--)
		make_bounds(r, 0, large, speed_bps, out);
	for (uint32_t id = 0; id < FLOWS / 2 && !large; id++)
		if (made[id].is_open && !made[id].is_stopped)
			make_backlog(r, id, speed_bps, out);
	for (unsigned int n = (unsigned int)any_size(r, 5, 80); n > 0; n--)
		make_step(r, params, large, speed_bps, out);
}
