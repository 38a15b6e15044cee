/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report on many NICs: a line that has a value is right within 5 %, and a NIC without a fault
 * is not blamed. A setting draws the speed of the link, the profile, some knobs of the reaction
 * point and of the notification point, what headers say, and what stands between the two: jitter,
 * credits in ACKs, a NIC that repeats selectively, one that heeds a CNP in a period only. What the
 * NIC has is known from its parameters, and from the rate of its QP, which is recorded.
 *
 * Other settings have all but the reaction point, and draw how the NIC answers as well: when, how
 * often, after which time-outs, to which pauses.
 *
 * QUENCH_PROBE_SETTINGS: how many settings, 2000 in the long form. QUENCH_PROBE_SETTING: the first.
 * SHOW: print the reports, and what is expected. RP: probe the reaction point alone. ANSWERS: those
 * other settings alone.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "nic/core/core.h"
#include "unit/chance.h"
#include "unit/probe/probe_bed.h"
#include "wire/frame/ecn.h"
#include "wire/link/pfc_frame.h"
#include "wire/roce/rnr_timer.h"

/* The short form: a few that are soon played, and those of which a line was wrong. */
#define FIRST 3u
#define SETTINGS 6u
static const uint64_t wrong_before[] = {15,  55,  66,   96,   105,  140,  147,  156,  187, 226, 231,
					254, 316, 336,  342,  347,  497,  533,  600,  626, 780, 806,
					822, 959, 1216, 1259, 1645, 1818, 1834, 1835, 1846};
/* Those of the other settings. */
#define ANSWERS_SETTINGS 20u
static const uint64_t wrong_answers[] = {47, 53, 64, 106, 165, 201, 249, 356, 376, 399, 597, 615};
/* A line is right within this share of the value. */
#define SHARE 0.05
/* Share of lines that have a value where nothing disturbs, or more. */
#define LEAST_MEASURED 0.6

static struct bed bed;

/* What the sweep draws beside the NIC's parameters. */
struct setting {
	uint64_t number;
	char text[512];
	uint64_t jitter_ns, stall_ns; /* each frame; all, now and then */
	uint64_t cnp_period_ns;       /* the NIC heeds one CNP in that time */
	bool credits, selective;
	bool xons; /* now and then a PFC frame whose times are 0 */
	/* how it answers */
	bool answers;                         /* this is drawn; the reaction point is not probed */
	uint32_t naks;                        /* for a gap */
	uint64_t nak_late_ns;                 /* its NAKs leave */
	uint64_t resend_late_ns;              /* it heeds NAKs */
	uint64_t rnr_late_ns;                 /* it heeds RNR NAKs */
	uint64_t stop_late_ns, start_late_ns; /* it heeds pauses, and their ends */
	double pause;                         /* share of a pause that it obeys */
	bool backs_off;                       /* a time-out takes twice as long as the one before */
};

static struct setting setting;
static struct prng wire_random;

static void
note(struct setting *s, const char *name, double value)
{
	size_t n = strlen(s->text);

	snprintf(s->text + n, sizeof(s->text) - n, " %s=%g", name, value);
}

/* Of a range, each factor as likely as another. */
static double
spread(struct prng *r, double low, double high)
{
	return low * exp(log(high / low) * (double)any(r, 0, 1000000) / 1e6);
}

/* One knob of the reaction point. */
static void
draw_rp(struct prng *r, struct setting *s, struct rp_params *rp, double line_bps)
{
	bool mlx = rp->rp_profile == RP_PROFILE_MLX;

	switch (any(r, 0, 15)) {
	case 0:
		rp->rp_time_reset_us =
			(uint32_t)(rp->rp_time_reset_us * spread(r, mlx ? 0.1 : 0.4, 4));
		note(s, "T", rp->rp_time_reset_us);
		break;
	case 1:
		rp->rp_threshold = (uint8_t)any(r, 0, 10);
		note(s, "F", rp->rp_threshold);
		break;
	case 2:
		rp->rp_dce_tcp_g = (uint16_t)(1024 - (uint16_t)spread(r, 1, 65));
		note(s, "dce_tcp_g", rp->rp_dce_tcp_g);
		break;
	case 3:
		rp->rp_dce_tcp_rtt_us = (uint32_t)(mlx ? spread(r, 1, 30) : spread(r, 10, 250));
		note(s, "K", rp->rp_dce_tcp_rtt_us);
		break;
	case 4:
		rp->rp_initial_alpha_value = (uint16_t)any(r, 400, 1024);
		note(s, "alpha", rp->rp_initial_alpha_value);
		break;
	case 5:
	case 6:
		rp->rp_byte_reset_bytes =
			chance(r, 10) ? 0 : (uint64_t)spread(r, 100e3, mlx ? 20e6 : 100e6);
		note(s, "B", (double)rp->rp_byte_reset_bytes);
		break;
	case 7:
		rp->rp_ai_rate_bps = (uint64_t)((double)rp->rp_ai_rate_bps * spread(r, 0.25, 20));
		note(s, "R_AI", (double)rp->rp_ai_rate_bps / 1e6);
		break;
	case 8:
		rp->rp_hai_rate_bps = (uint64_t)((double)rp->rp_hai_rate_bps * spread(r, 0.25, 20));
		note(s, "R_HAI", (double)rp->rp_hai_rate_bps / 1e6);
		break;
	case 9:
		rp->rp_min_rate_bps = (uint64_t)spread(r, 1e6, line_bps / 20);
		note(s, "min", (double)rp->rp_min_rate_bps / 1e6);
		break;
	case 10:
		rp->rp_max_rate_bps = (uint64_t)spread(r, line_bps / 4, line_bps);
		note(s, "max", (double)rp->rp_max_rate_bps / 1e6);
		break;
	case 11:
		rp->rp_gd = (uint8_t)any(r, 10, 12);
		note(s, "gd", rp->rp_gd);
		break;
	case 12:
		rp->rp_min_dec_fac_pct = (uint8_t)any(r, 10, 90);
		note(s, "min_dec_fac", rp->rp_min_dec_fac_pct);
		break;
	case 13:
		rp->rp_clamp_tgt_rate = !rp->rp_clamp_tgt_rate;
		rp->rp_clamp_tgt_rate_ati = chance(r, 50);
		note(s, "clamp", rp->rp_clamp_tgt_rate);
		note(s, "ati", rp->rp_clamp_tgt_rate_ati);
		break;
	case 14:
		rp->rp_hyper_by_timer = mlx;
		note(s, "hyper_by_timer", mlx);
		break;
	default:
		if (!mlx)
			return;
		rp->rp_rate_reduce_monitor_period_us = (uint32_t)spread(r, 2, 200);
		note(s, "monitor", rp->rp_rate_reduce_monitor_period_us);
		if (chance(r, 30)) {
			rp->rp_rate_to_set_on_first_cnp_bps =
				(uint64_t)spread(r, line_bps / 8, line_bps / 2);
			note(s, "first_cnp", (double)rp->rp_rate_to_set_on_first_cnp_bps / 1e6);
		}
	}
}

/* One knob of the notification point. */
static void
draw_np(struct prng *r, struct setting *s, struct np_params *np)
{
	switch (any(r, 0, 5)) {
	case 0:
	case 1:
		np->np_min_time_between_cnps_us = chance(r, 10) ? 0 : (uint32_t)spread(r, 1, 300);
		note(s, "N", np->np_min_time_between_cnps_us);
		break;
	case 2:
		np->np_cnp_moderation = (int)any(r, NP_PER_QP, NP_PER_PORT);
		note(s, "moderation", np->np_cnp_moderation);
		break;
	case 3:
		if (np->np_min_time_between_cnps_us == 0)
			break;
		np->np_cnp_delay_ns = (uint32_t)spread(r, 200, 120e3);
		if (np->np_cnp_delay_ns > np->np_min_time_between_cnps_us * 1000)
			np->np_cnp_delay_ns = np->np_min_time_between_cnps_us * 1000;
		note(s, "cnp_delay", np->np_cnp_delay_ns);
		break;
	case 4:
		np->np_min_port_cnp_interval_ns = (uint32_t)spread(r, 500, 20e3);
		note(s, "port_interval", np->np_min_port_cnp_interval_ns);
		break;
	default:
		np->np_cnp_dscp = (uint8_t)any(r, 0, 63);
		np->np_cnp_ecn = chance(r, 50) ? ECN_ECT0 : ECN_ECT1;
		note(s, "cnp_dscp", np->np_cnp_dscp);
	}
}

/* What stands between the NIC and the prober. */
static void
draw_wire(struct prng *r, struct setting *s)
{
	s->credits = chance(r, 30);
	s->selective = chance(r, 20);
	if (chance(r, 15))
		s->cnp_period_ns = (uint64_t)spread(r, 5e3, 150e3);
	if (chance(r, 20))
		s->jitter_ns = (uint64_t)spread(r, 100, 30e3);
	if (chance(r, 15))
		s->stall_ns = (uint64_t)spread(r, 500, 30e3);
	if (s->credits)
		note(s, "credits", 1);
	if (s->selective)
		note(s, "selective", 1);
	if (s->cnp_period_ns > 0)
		note(s, "cnp_period", (double)s->cnp_period_ns);
	if (s->jitter_ns > 0)
		note(s, "jitter", (double)s->jitter_ns);
	if (s->stall_ns > 0)
		note(s, "stall", (double)s->stall_ns);
}

/* PSNs at the beginning, at the wrap, or anywhere. */
static uint32_t
draw_psn(struct prng *r)
{
	switch (any(r, 0, 2)) {
	case 0:
		return 0;
	case 1:
		return PSN_MASK - (uint32_t)any(r, 0, 100000);
	default:
		return (uint32_t)any(r, 0, PSN_MASK);
	}
}

static struct field_ip
ip6_of(const struct field_ip *ip4)
{
	struct field_ip ip6 = {6, {0x20, 0x01, 0x0d, 0xb8}};

	ip6.addr[15] = ip4->addr[3];
	return ip6;
}

/* What headers may say without any effect on congestion control. */
static void
draw_headers(struct prng *r, struct setting *s, struct bed *b)
{
	b->psn = draw_psn(r);
	b->probe.psn = draw_psn(r);
	note(s, "psn", b->psn);
	note(s, "peer_psn", b->probe.psn);
	if (chance(r, 30)) {
		b->probe.vlan_id = (uint16_t)any(r, 1, 4094);
		b->vlan_tci = (uint16_t)(any(r, 0, 7) << 13 | b->probe.vlan_id);
		b->nic.np.np_cnp_prio = (uint8_t)any(r, 0, 7);
		note(s, "vlan", b->vlan_tci);
		note(s, "cnp_prio", b->nic.np.np_cnp_prio);
	}
	if (chance(r, 20)) {
		b->nic.ip6 = b->probe.peer_ip = ip6_of(&b->probe.peer_ip);
		b->probe.ip = ip6_of(&b->probe.ip);
		b->probe.second_ip = ip6_of(&b->probe.second_ip);
		note(s, "ip", 6);
	}
	s->xons = chance(r, 20);
	if (s->xons)
		note(s, "xons", 1);
}

#define PAUSE_QUANTA 20000.0
#define QUANTUM_BITS 512.0

static double
pause_ns(const struct bed *b)
{
	return PAUSE_QUANTA * QUANTUM_BITS * 1e9 / (double)b->nic.link_speed_bps;
}

static void
draw_transport(struct prng *r, struct setting *s, struct bed *b)
{
	switch (any(r, 0, 6)) {
	case 0:
		/* More than the distance of ACKs to a held QP. */
		b->nic.local_ack_timeout = (uint8_t)any(r, 9, 13);
		note(s, "timeout", b->nic.local_ack_timeout);
		break;
	case 1:
		s->nak_late_ns = (uint64_t)spread(r, 300, 800e3);
		note(s, "nak_late", (double)s->nak_late_ns);
		break;
	case 2:
		s->naks = (uint32_t)any(r, 2, 3);
		note(s, "naks", s->naks);
		break;
	case 3:
		s->resend_late_ns = (uint64_t)spread(r, 300, 800e3);
		note(s, "resend_late", (double)s->resend_late_ns);
		break;
	case 4:
		s->backs_off = true;
		note(s, "backs_off", 1);
		break;
	case 5:
		b->probe.verb = PROBER_SEND;
		b->max_recv_wr = (uint32_t)spread(r, 1, 2000);
		b->post_recv_ns = (uint64_t)spread(r, 100, 30e3);
		note(s, "max_recv_wr", b->max_recv_wr);
		note(s, "post_recv", (double)b->post_recv_ns);
		break;
	default:
		b->message_bytes = (uint64_t)spread(r, 64, 4e6);
		b->depth = (uint32_t)spread(r, 1, 128);
		b->nic.window_packets = (uint32_t)spread(r, 16, 4096);
		note(s, "message", (double)b->message_bytes);
		note(s, "depth", b->depth);
		note(s, "window", b->nic.window_packets);
	}
}

static void
draw_pauses(struct prng *r, struct setting *s, struct bed *b)
{
	switch (any(r, 0, 4)) {
	case 0:
		s->stop_late_ns = (uint64_t)spread(r, 200, 0.25 * pause_ns(b));
		note(s, "stop_late", (double)s->stop_late_ns);
		break;
	case 1:
		s->start_late_ns = (uint64_t)spread(r, 200, 0.15 * pause_ns(b));
		note(s, "start_late", (double)s->start_late_ns);
		break;
	case 2:
		s->pause = spread(r, 0.1, 3);
		note(s, "pause", s->pause);
		break;
	case 3:
		b->nic.flow_control = chance(r, 50) ? NIC_FLOW_OFF : NIC_FLOW_PAUSE;
		note(s, "flow_control", b->nic.flow_control);
		break;
	default:
		b->nic.receiver.drain_rate_bps = b->nic.link_speed_bps / any(r, 2, 4);
		note(s, "drain_gbps", (double)b->nic.receiver.drain_rate_bps / 1e9);
	}
}

/* Of a stream of its own, as what was drawn before this existed is drawn again. */
static void
draw_rnr(struct setting *s, struct bed *b)
{
	struct prng r;

	prng_seed(&r, s->number, 4);
	b->nic.min_rnr_timer = (uint8_t)any(&r, 0, RNR_TIMERS - 1);
	note(s, "min_rnr_timer", b->nic.min_rnr_timer);
	if (chance(&r, 30)) {
		s->rnr_late_ns = (uint64_t)spread(&r, 300, 800e3);
		note(s, "rnr_late", (double)s->rnr_late_ns);
	}
	if (chance(&r, 50) && b->max_recv_wr == 0) {
		b->max_recv_wr = (uint32_t)spread(&r, 1, 500);
		b->post_recv_ns = (uint64_t)spread(&r, 1e3, 1e9);
		note(s, "max_recv_wr", b->max_recv_wr);
		note(s, "post_recv", (double)b->post_recv_ns);
	}
}

static void
draw_answers(struct prng *r, struct setting *s, struct bed *b)
{
	s->answers = true;
	for (uint64_t n = any(r, 0, 2); n > 0; n--)
		draw_transport(r, s, b);
	for (uint64_t n = any(r, 0, 2); n > 0; n--)
		draw_pauses(r, s, b);
	if (chance(r, 30)) {
		b->probe.settle_ns = (uint64_t)spread(r, 1e6, 8e6);
		note(s, "settle", (double)b->probe.settle_ns);
	}
	if (chance(r, 20)) {
		/* Beyond usual ones. */
		b->nic.np.np_min_time_between_cnps_us =
			(uint32_t)spread(r, 100, (double)b->probe.settle_ns / 2e3);
		note(s, "N", b->nic.np.np_min_time_between_cnps_us);
	}
	draw_rnr(s, b);
	/* Time-outs must differ from the distance of ACKs to a held QP. */
	if (s->backs_off && b->nic.local_ack_timeout < 10)
		b->nic.local_ack_timeout = 10;
}

static void
draw(struct bed *b, struct setting *s, uint64_t number, bool answers)
{
	static const uint64_t gbps[] = {10, 25, 40, 50, 100, 200, 400, 800};
	struct prng r, headers, others;

	prng_seed(&r, number, 0);
	prng_seed(&headers, number, 2);
	prng_seed(&others, number, 3);
	bed_init(b);
	memset(s, 0, sizeof(*s));
	s->pause = 1;
	s->naks = 1;
	s->number = number;
	b->nic.link_speed_bps = b->probe.link_speed_bps =
		gbps[any(&r, 0, ARRAY_LEN(gbps) - 1)] * GBPS;
	if (chance(&r, 60)) {
		rp_params_default(&b->nic.rp, RP_PROFILE_MLX);
		b->nic.np.np_min_time_between_cnps_us = 4;
	}
	note(s, "gbps", (double)b->nic.link_speed_bps / 1e9);
	note(s, "mlx", b->nic.rp.rp_profile == RP_PROFILE_MLX);
	for (uint64_t n = any(&r, 0, 3); n > 0; n--)
		draw_rp(&r, s, &b->nic.rp, (double)b->nic.link_speed_bps);
	/* More is refused. */
	if (b->nic.rp.rp_max_rate_bps > 0)
		b->nic.rp.rp_rate_to_set_on_first_cnp_bps = min_u64(
			b->nic.rp.rp_rate_to_set_on_first_cnp_bps, b->nic.rp.rp_max_rate_bps);
	for (uint64_t n = any(&r, 0, 2); n > 0; n--)
		draw_np(&r, s, &b->nic.np);
	/* A CNP that waits stands for all marks until it leaves: that is an interval. */
	if (b->nic.np.np_min_time_between_cnps_us == 0)
		b->nic.np.np_cnp_delay_ns = 0;
	if (chance(&r, 50))
		draw_wire(&r, s);
	b->probe.answer_ns = 200 * NS_PER_MS;
	/* As such links have it; and fewer packets to play. */
	if (b->nic.link_speed_bps > 50 * GBPS)
		b->mtu_bytes = b->probe.mtu_bytes = 4096;
	else if (chance(&headers, 30))
		b->mtu_bytes = b->probe.mtu_bytes = (uint16_t)(512u << any(&headers, 0, 3));
	if (chance(&headers, 50))
		draw_headers(&headers, s, b);
	/* Departures to the ns, or in slots. */
	b->nic.exact_pacing = chance(&headers, 50);
	note(s, "exact", b->nic.exact_pacing);
	b->reads = chance(&r, 30);
	if (answers)
		draw_answers(&others, s, b);
}

static bool
is_undisturbed(const struct setting *s)
{
	return s->jitter_ns == 0 && s->stall_ns == 0 && s->cnp_period_ns == 0;
}

/* The rate of QP 0, and what the prober did meanwhile. */
#define MOST_CHANGES (1u << 20)

struct change {
	uint64_t at_ns;
	double bps;
};

struct record {
	struct change *changes;
	uint32_t n;
	double lowest_bps[4]; /* after 1, 2, 10 and 100 CNPs, until the next one */
	uint32_t n_cnps;      /* of QP 0, heard so far */
	uint32_t n_many;      /* of them, in rp_many */
	int burst;            /* index of lowest_bps */
	uint64_t first_cnp_ns;
	uint64_t last_cnp_ns[PROBER_MAX_QPS]; /* heeded */
	/* selective repeat */
	uint32_t highest_psn[PROBER_MAX_QPS], nak_psn[PROBER_MAX_QPS];
	bool any_psn[PROBER_MAX_QPS], naked[PROBER_MAX_QPS];
	uint64_t nak_ns[PROBER_MAX_QPS];
	uint64_t next_xon_ns;
	/* time-outs */
	uint32_t said_psn[PROBER_MAX_QPS];
	uint32_t timeouts[PROBER_MAX_QPS]; /* without progress */
	bool is_over[PROBER_MAX_QPS];      /* the current one is not seen */
	uint32_t n_pauses;
	bool is_past_pauses;
};

static struct record rec;

static double
rate_now(const struct dut *d)
{
	return (double)nic_of_const(d->nic)->qps[0].bucket.rate_bps;
}

static void
watches(struct dut *d, uint64_t now_ns)
{
	double bps = rate_now(d);

	if (rec.burst >= 0 && (rec.lowest_bps[rec.burst] == 0 || bps < rec.lowest_bps[rec.burst]))
		rec.lowest_bps[rec.burst] = bps;
	if (rec.n > 0 && rec.changes[rec.n - 1].bps == bps)
		return;
	if (rec.n < MOST_CHANGES)
		rec.changes[rec.n++] = (struct change){now_ns, bps};
}

/* The CNPs of rp_many are 2, 10 and 100. */
static void
count_cnp(uint64_t now_ns)
{
	static const uint32_t ends[] = {2, 12, 112};

	rec.n_cnps++;
	if (rec.first_cnp_ns == 0)
		rec.first_cnp_ns = now_ns;
	if (strcmp(prober_experiment(bed.prober), "rp_many") != 0) {
		rec.burst = rec.n_cnps == 1 ? 0 : -1;
		return;
	}
	rec.n_many++;
	for (unsigned int i = 0; i < ARRAY_LEN(ends); i++)
		if (rec.n_many <= ends[i]) {
			rec.burst = 1 + (int)i;
			return;
		}
	rec.burst = -1;
}

/* Times of a PFC frame, and the time of an 802.3x PAUSE (802.3 annexes 31B, 31D). */
#define OPCODE_AT 14u
#define OPCODE_PAUSE 0x0001u
#define PAUSE_TIME_AT 16u
#define PFC_TIMES_AT 18u

/* The NIC obeys it late, or a share of it. @return as hears(). */
static bool
hears_pause(struct dut *d, struct rte_mbuf *m, uint64_t now_ns)
{
	uint8_t *buf = rte_pktmbuf_mtod(m, uint8_t *);
	bool whole = be16_load(buf + OPCODE_AT) == OPCODE_PAUSE;
	unsigned int most = 0;
	uint64_t late_ns;

	for (unsigned int i = 0; i < (whole ? 1 : 8); i++) {
		uint8_t *at = buf + (whole ? PAUSE_TIME_AT : PFC_TIMES_AT + 2 * i);
		unsigned int quanta = be16_load(at);

		most = quanta > most ? quanta : most;
		be16_store(at, (uint16_t)(quanta * setting.pause));
	}
	late_ns = most > 0 ? setting.stop_late_ns : setting.start_late_ns;
	if (late_ns == 0 && d->unread.frames.count == 0)
		return true;
	dut_hear_later(d, m, now_ns + late_ns);
	return false;
}

static bool
is_mac_control(const struct rte_mbuf *m)
{
	return be16_load(rte_pktmbuf_mtod(m, const uint8_t *) + 12) == ETHERTYPE_MAC_CONTROL;
}

static bool
hears(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	uint32_t i = v == NULL ? PROBER_MAX_QPS : v->dest_qp - BED_QPN;

	if (v == NULL && is_mac_control(m))
		return hears_pause(d, m, now_ns);
	if (i >= PROBER_MAX_QPS)
		return true;
	if (v->opcode == RC_ACK && v->aeth_syndrome >> 5 == 0) {
		rec.timeouts[i] = 0;
		rec.is_over[i] = false;
	}
	if (v->opcode == RC_ACK && v->aeth_syndrome == AETH_NAK_PSN_SEQ) {
		rec.naked[i] = true;
		rec.nak_psn[i] = v->psn;
		rec.nak_ns[i] = now_ns + setting.resend_late_ns;
		if (setting.resend_late_ns == 0)
			return true;
		dut_hear_later(d, m, rec.nak_ns[i]);
		return false;
	}
	if (v->opcode == RC_ACK && v->aeth_syndrome >> 5 == AETH_RNR_NAK >> 5 &&
	    setting.rnr_late_ns > 0) {
		dut_hear_later(d, m, now_ns + setting.rnr_late_ns);
		return false;
	}
	if (v->opcode != ROCE_CNP)
		return true;
	if (i == 0)
		count_cnp(now_ns);
	if (setting.cnp_period_ns > 0) {
		if (rec.last_cnp_ns[i] != 0 && now_ns - rec.last_cnp_ns[i] < setting.cnp_period_ns)
			return false;
		rec.last_cnp_ns[i] = now_ns;
	}
	return true;
}

/* Is it a packet of data that the NIC has not sent before? */
static bool
is_news(uint32_t i, uint32_t psn, uint64_t now_ns)
{
	if (rec.any_psn[i] && psn_diff(psn, rec.highest_psn[i]) <= 0)
		return false;
	rec.any_psn[i] = true;
	rec.highest_psn[i] = psn;
	if (now_ns >= rec.nak_ns[i])
		rec.naked[i] = false;
	return true;
}

/* Has the NIC heeded a NAK not long ago? */
static bool
is_naked(uint32_t i, uint64_t now_ns)
{
	return rec.naked[i] && now_ns >= rec.nak_ns[i] && now_ns - rec.nak_ns[i] < 2 * NS_PER_MS;
}

/* Of the time-outs without progress only the 1st, 3rd, 7th, ... are seen. */
static bool
is_seen(uint32_t i, bool goes_back)
{
	uint32_t n;

	if (goes_back) {
		n = ++rec.timeouts[i] + 1;
		rec.is_over[i] = (n & (n - 1)) != 0;
	}
	return !rec.is_over[i];
}

/* After a NAK only the packet that it names comes again, after a time-out all. */
static bool
is_swallowed(const struct roce_view *v, uint64_t now_ns)
{
	uint32_t i = v->dest_qp - BED_QPN;
	bool goes_back;

	if (v->opcode > RC_WRITE_ONLY_IMM || i >= PROBER_MAX_QPS)
		return false;
	goes_back = rec.any_psn[i] && psn_diff(v->psn, rec.said_psn[i]) <= 0;
	rec.said_psn[i] = v->psn;
	if (is_news(i, v->psn, now_ns))
		return false;
	if (is_naked(i, now_ns))
		return setting.selective && v->psn != rec.nak_psn[i];
	return setting.backs_off && !is_seen(i, goes_back);
}

/* A frame that ends pauses, and none has begun. */
static void
say_xon(struct dut *d, uint64_t now_ns)
{
	static const uint16_t times[8];
	struct rte_mbuf *xon = rte_pktmbuf_alloc(d->pool);

	assert_non_null(xon);
	pfc_frame_build(rte_pktmbuf_mtod(xon, uint8_t *), bed.nic.mac, 0xFF, times);
	xon->data_len = PFC_FRAME_BYTES;
	xon->pkt_len = PFC_FRAME_BYTES;
	dut_keep(d, xon, max_u64(now_ns, dut_kept_until_ns(d)));
}

/* Does the NIC begin or prolong a pause? */
static bool
is_pause(const struct rte_mbuf *m)
{
	struct mac_control c;
	enum mac_control_kind kind;
	bool begins = false;

	if (!is_mac_control(m))
		return false;
	kind = mac_control_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &c);
	for (unsigned int i = 0; i < 8; i++)
		begins |= kind == MAC_CONTROL_PFC && c.enable >> i & 1 && c.quanta[i] > 0;
	return begins || (kind == MAC_CONTROL_PAUSE && c.quanta[0] > 0);
}

#define XON_NS (3 * NS_PER_MS)

static bool
says(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	uint64_t until_ns = now_ns;

	if (setting.xons && now_ns >= rec.next_xon_ns) {
		rec.next_xon_ns = now_ns + XON_NS;
		say_xon(d, now_ns);
	}

	if (v != NULL && is_swallowed(v, now_ns)) {
		rte_pktmbuf_free(m);
		return false;
	}
	/* SENDs for RNR NAKs, which come after the line on pauses, may cause some more. */
	rec.is_past_pauses |= strcmp(prober_experiment(bed.prober), "tr_rnr") == 0;
	rec.n_pauses += v == NULL && !rec.is_past_pauses && is_pause(m);
	if (v != NULL && v->opcode == RC_ACK && v->aeth_syndrome == AETH_NAK_PSN_SEQ) {
		until_ns = max_u64(now_ns + setting.nak_late_ns, dut_kept_until_ns(d));
		for (uint32_t i = 1; i < setting.naks; i++)
			dut_keep(d, dut_copy(d, m), until_ns);
	}
	if (setting.credits && v != NULL && v->opcode == RC_ACK && v->aeth_syndrome == AETH_ACK) {
		*rte_pktmbuf_mtod_offset(m, uint8_t *, v->ext_off) =
			(uint8_t)any(&wire_random, 0, 0x1f);
		dut_mend_icrc(m, v);
	}
	if (setting.jitter_ns > 0)
		until_ns += any(&wire_random, 0, setting.jitter_ns);
	/* Stalls come 7 % of the time. */
	if (setting.stall_ns > 0 && now_ns % (14 * setting.stall_ns) < setting.stall_ns)
		until_ns = max_u64(until_ns,
				   now_ns - now_ns % (14 * setting.stall_ns) + setting.stall_ns);
	until_ns = max_u64(until_ns, dut_kept_until_ns(d));
	if (until_ns == now_ns && d->late.frames.count == 0)
		return true;
	dut_keep(d, m, until_ns);
	return false;
}

/* How often lines had a value, and which. */
struct tally {
	uint32_t right, wrong, silent, clear_right, clear_silent;
};

static struct tally tallies[FINDINGS_LINES];
static unsigned int wrong;

static void
blame(enum findings_line line, const char *expected)
{
	const struct finding *f = bed_finding(&bed, line);

	wrong++;
	tallies[line].wrong++;
	printf("WRONG %-16s %s: %s; expected %s | setting %" PRIu64 ":%s\n",
	       findings_questions[line].id, findings_verdict_word(f->verdict), f->text, expected,
	       setting.number, setting.text);
	fflush(stdout);
}

/* A value, or none. slack: of its unit, beside the share. */
static void
judge(enum findings_line line, double expected, double slack)
{
	const struct finding *f = bed_finding(&bed, line);
	struct tally *t = &tallies[line];
	char text[32];

	if (getenv("SHOW"))
		printf("expected %-18s %.5g\n", findings_questions[line].id, expected);
	if (f->verdict < VERDICT_MEASURED || !f->has_value) {
		t->silent++;
		t->clear_silent += is_undisturbed(&setting);
	} else if (fabs(f->value - expected) <= SHARE * fabs(expected) + slack) {
		t->right++;
		t->clear_right += is_undisturbed(&setting);
	} else {
		snprintf(text, sizeof(text), "%.5g", expected);
		blame(line, text);
	}
}

/* A line that is said has these words. */
static void
judge_text(enum findings_line line, const char *expected)
{
	const struct finding *f = bed_finding(&bed, line);

	if (f->verdict >= VERDICT_MEASURED && strstr(f->text, expected) == NULL)
		blame(line, expected);
	else if (f->verdict >= VERDICT_MEASURED)
		tallies[line].right++;
	else
		tallies[line].silent++;
}

/* Time from the first CNP until the rate is 95 % of the highest one. */
static double
recovery_us(double line_bps)
{
	bool fell = false;

	for (uint32_t i = 0; i < rec.n; i++) {
		if (rec.changes[i].at_ns < rec.first_cnp_ns)
			continue;
		if (rec.changes[i].bps < 0.95 * line_bps)
			fell = true;
		else if (fell)
			return (double)(rec.changes[i].at_ns - rec.first_cnp_ns) / 1e3;
	}
	return 0;
}

static void
judge_rp(void)
{
	const struct rp_params *rp = &bed.nic.rp;
	double line_bps = (double)bed.nic.link_speed_bps, g = 1 - rp->rp_dce_tcp_g / 1024.0, alpha;

	if (rp->rp_max_rate_bps > 0 && (double)rp->rp_max_rate_bps < line_bps)
		line_bps = (double)rp->rp_max_rate_bps;
	judge(LINE_RP_BEFORE, line_bps / 1e9, 0);
	for (unsigned int i = 0; i < ARRAY_LEN(rec.lowest_bps); i++)
		judge((enum findings_line)(LINE_RP_AFTER_1 + i), rec.lowest_bps[i] / 1e9, 0);
	judge(LINE_RP_RECOVERY, recovery_us(line_bps), 0);
	/* That of a cut by alpha / 2: another rp_gd is not seen, nor the least share of a cut. */
	alpha = fmin(rp->rp_initial_alpha_value / 1024.0 * exp2(11 - rp->rp_gd),
		     2 - rp->rp_min_dec_fac_pct / 50.0);
	judge(LINE_RP_ALPHA, alpha, 0);
	judge(LINE_RP_TIMER, rp->rp_time_reset_us, 0);
	judge(LINE_RP_FAST_STEPS, rp->rp_threshold, 0);
	judge(LINE_RP_AI, (double)rp->rp_ai_rate_bps / 1e6, 0);
	judge(LINE_RP_BYTES, (double)rp->rp_byte_reset_bytes / 1e3, 0);
	judge(LINE_RP_HAI, (double)rp->rp_hai_rate_bps / 1e6, 0);
	judge(LINE_RP_FLOOR, (double)rp->rp_min_rate_bps / 1e6, 0);
	judge(LINE_RP_DECAY, rp->rp_dce_tcp_rtt_us / -log(1 - g), 0);
	if (rp->rp_gd == 11) {
		judge(LINE_RP_G, g, 0);
		judge(LINE_RP_K, rp->rp_dce_tcp_rtt_us, 0);
	}
}

static void
judge_np(void)
{
	static const char *const scopes[] = {"by QP", "by IP pair", "by port"};
	const struct np_params *np = &bed.nic.np;
	double port_us = np->np_min_port_cnp_interval_ns / 1e3;
	double n_us = fmax(np->np_min_time_between_cnps_us, port_us);
	bool qp = np->np_cnp_moderation == NP_PER_QP && np->np_min_port_cnp_interval_ns == 0;

	judge(LINE_NP_DELAY, np->np_cnp_delay_ns / 1e3, 0);
	judge(LINE_NP_DSCP, np->np_cnp_dscp, 0);
	if (bed.vlan_tci != 0)
		judge(LINE_NP_PRIO, np->np_cnp_prio, 0);
	judge(LINE_NP_INTERVAL_QP, n_us, 0);
	judge(LINE_NP_SECOND_MARK, n_us, 0);
	judge(LINE_NP_EACH_MARK, 100 / fmax(n_us, 1), 0);
	if (qp)
		judge_text(LINE_NP_SCOPE, scopes[NP_PER_QP]);
	else if (np->np_min_port_cnp_interval_ns == 0)
		judge_text(LINE_NP_SCOPE, scopes[np->np_cnp_moderation]);
	/* CNPs of QPs apart have the port's limit in common. */
	judge(LINE_NP_INTERVAL_PAIR,
	      np->np_cnp_moderation == NP_PER_QP ? fmax(n_us / 2, port_us) : n_us, 0);
	judge(LINE_NP_INTERVAL_PORT,
	      np->np_cnp_moderation == NP_PER_PORT ? n_us : fmax(n_us / 2, port_us), 0);
	judge(LINE_NP_UNMARKED, 0, 0);
	judge(LINE_NP_MARKED_ACK, 0, 0);
	judge(LINE_NP_MARKED_CNP, 0, 0);
	judge(LINE_NP_BAD_ICRC, 0, 0);
}

static void
judge_transport(void)
{
	double frame_us = (bed.mtu_bytes + 100) * 8e6 / (double)bed.nic.link_speed_bps;
	/* 4.096 us x 2^n, and up to four times that (IBTA 9.7.6.1.3). */
	double least_ms = 4.096e-3 * (double)(1u << bed.nic.local_ack_timeout);

	judge(LINE_TR_NAK_DELAY, (double)setting.nak_late_ns / 1e3, 0);
	judge(LINE_TR_NAK_ONCE, setting.naks, 0);
	judge(LINE_TR_RESEND_DELAY, (double)setting.resend_late_ns / 1e3, 3 * frame_us);
	judge_text(LINE_TR_RECOVERY, setting.selective ? "1: selective" : "go-back-N");
	judge(LINE_TR_LOST_ACK, 0, 0);
	/* The NIC's timer has steps. */
	judge(LINE_TR_BACK_OFF, setting.backs_off ? 2 : 1, 0.1);
	judge(LINE_TR_TIMEOUT, 2.5 * least_ms, 1.5 * least_ms);
	judge(LINE_TR_LAST, 2.5 * least_ms, 1.5 * least_ms);
	judge(LINE_TR_LAST_FROM, 0, 0);
	judge(LINE_TR_RNR_WAIT, 5.12 + (double)setting.rnr_late_ns / 1e6, 0);
	judge(LINE_TR_RNR_NAK, rnr_timer_us[bed.nic.min_rnr_timer] / 1e3, 0);
}

#define TRIP_US 2.0

static void
judge_pauses(void)
{
	double frame_us = (bed.mtu_bytes + 100) * 8e6 / (double)bed.nic.link_speed_bps;
	double quantum_ns = pause_ns(&bed) / PAUSE_QUANTA;

	if (bed.nic.flow_control == NIC_FLOW_PFC) {
		judge(LINE_PFC_STOP, (double)setting.stop_late_ns / 1e3 + TRIP_US, 3 * frame_us);
		judge(LINE_PFC_START, (double)setting.start_late_ns / 1e3, 3 * frame_us);
		/* From its arrival on. */
		judge(LINE_PFC_QUANTA,
		      PAUSE_QUANTA * setting.pause + (double)setting.stop_late_ns / quantum_ns, 0);
	} else {
		judge_text(LINE_PFC_STOP, "ignores");
	}
	judge_text(LINE_PFC_PRIORITY, "data goes on");
	judge_text(LINE_PFC_LINK, bed.nic.flow_control == NIC_FLOW_PAUSE ? "obeyed" : "ignored");
	judge(LINE_PFC_SENT, rec.n_pauses, 0);
	judge(LINE_PIT_MTU, bed.mtu_bytes, 0);
}

/* What may have a fault: late CNPs, and pauses that are ignored. */
static bool
is_at_fault(enum findings_line line)
{
	return (line == LINE_NP_DELAY && bed.nic.np.np_cnp_delay_ns >= 50000) ||
	       (line == LINE_PFC_STOP && bed.nic.flow_control != NIC_FLOW_PFC);
}

static void
judge_faults(void)
{
	for (unsigned int l = 0; l < FINDINGS_LINES; l++)
		if (bed_finding(&bed, (enum findings_line)l)->verdict == VERDICT_FAULT &&
		    !is_at_fault((enum findings_line)l))
			blame((enum findings_line)l, "no fault");
}

static void
play(uint64_t number, bool answers)
{
	draw(&bed, &setting, number, answers);
	prng_seed(&wire_random, number, 1);
	bed.dut.hears = hears;
	bed.dut.says = says;
	bed.dut.watches = watches;
	rec = (struct record){.changes = rec.changes, .burst = -1};
	if (getenv("RP"))
		bed.probe.np = bed.probe.transport = bed.probe.pfc = false;
	bed.probe.rp = !answers;
	bed_create(&bed);
	bed_run(&bed);
	if (getenv("SHOW")) {
		printf("setting %" PRIu64 ":%s\n", number, setting.text);
		bed_print(&bed);
	}
	if (bed.probe.rp)
		judge_rp();
	if (bed.probe.np)
		judge_np();
	if (bed.probe.transport)
		judge_transport();
	if (bed.probe.pfc)
		judge_pauses();
	judge_faults();
	fflush(stdout);
	bed_destroy(&bed);
}

static uint64_t
number_of(const char *name, uint64_t otherwise)
{
	const char *n = getenv(name);

	return n == NULL ? otherwise : strtoull(n, NULL, 0);
}

static void
print_tallies(void)
{
	printf("%-18s %6s %6s %6s | undisturbed: %6s %6s\n", "line", "right", "wrong", "silent",
	       "right", "silent");
	for (unsigned int l = 0; l < FINDINGS_LINES; l++) {
		const struct tally *t = &tallies[l];

		if (t->right + t->wrong + t->silent > 0)
			printf("%-18s %6u %6u %6u | %19u %6u\n", findings_questions[l].id, t->right,
			       t->wrong, t->silent, t->clear_right, t->clear_silent);
	}
}

/* All settings of a sweep. */
static void
sweep(uint64_t settings, const uint64_t *again, size_t n_wrong, bool answers)
{
	uint64_t n = number_of("QUENCH_PROBE_SETTINGS", settings);
	uint64_t first = number_of("QUENCH_PROBE_SETTING", FIRST);
	uint32_t measured = 0, silent = 0;

	wrong = 0;
	memset(tallies, 0, sizeof(tallies));
	rec.changes = calloc(MOST_CHANGES, sizeof(*rec.changes));
	assert_non_null(rec.changes);
	for (uint64_t i = 0; i < n; i++)
		play(first + i, answers);
	for (size_t i = 0; first == FIRST && i < n_wrong; i++)
		play(again[i], answers);
	free(rec.changes);
	print_tallies();
	for (unsigned int l = 0; l < FINDINGS_LINES; l++) {
		measured += tallies[l].clear_right;
		silent += tallies[l].clear_silent;
	}
	assert_int_equal(wrong, 0);
	/* It is easy to say nothing. */
	assert_true(measured > LEAST_MEASURED * (measured + silent));
}

TEST(a_line_is_right_within_5_percent_or_not_measured)
{
	if (getenv("ANSWERS") == NULL)
		sweep(SETTINGS, wrong_before, ARRAY_LEN(wrong_before), false);
}

TEST(lines_are_right_whenever_and_however_the_nic_answers)
{
	if (getenv("RP") == NULL)
		sweep(ANSWERS_SETTINGS, wrong_answers, ARRAY_LEN(wrong_answers), true);
}

TEST_MAIN(.begin = start_eal)
