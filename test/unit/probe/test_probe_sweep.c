/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report on many NICs: a line that has a value is right within 5 %, and a NIC without a fault
 * is not blamed. A setting draws the speed of the link, the profile, some knobs of the reaction
 * point and of the notification point, what headers say, and what stands between the two: jitter,
 * credits in ACKs, a NIC that repeats selectively, one that heeds a CNP in a period only. What the
 * NIC has is known from its parameters, and from the rate of its QP, which is recorded.
 *
 * QUENCH_PROBE_SETTINGS: how many settings, 2000 in the long form. QUENCH_PROBE_SETTING: the first.
 * SHOW: print the reports, and what is expected. RP: probe the reaction point alone.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/numbers/array.h"
#include "nic/core/core.h"
#include "unit/chance.h"
#include "unit/probe/probe_bed.h"
#include "wire/frame/ecn.h"
#include "wire/link/pfc_frame.h"

/* The short form: a few that are soon played, and those of which a line was wrong. */
#define FIRST 3u
#define SETTINGS 6u
static const uint64_t wrong_before[] = {15,  55,  66,  96,  105, 140, 147, 156,
					187, 226, 231, 254, 336, 342, 347, 497};
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

static void
draw(struct bed *b, struct setting *s, uint64_t number)
{
	static const uint64_t gbps[] = {10, 25, 40, 50, 100, 200, 400, 800};
	struct prng r, headers;

	prng_seed(&r, number, 0);
	prng_seed(&headers, number, 2);
	bed_init(b);
	memset(s, 0, sizeof(*s));
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

static bool
hears(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	uint32_t i = v == NULL ? PROBER_MAX_QPS : v->dest_qp - BED_QPN;

	(void)d;
	(void)m;
	if (i >= PROBER_MAX_QPS)
		return true;
	if (v->opcode == RC_ACK && v->aeth_syndrome == AETH_NAK_PSN_SEQ) {
		rec.naked[i] = true;
		rec.nak_psn[i] = v->psn;
		rec.nak_ns[i] = now_ns;
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

/* After a NAK only the packet that it names comes again, after a time-out all. */
static bool
is_swallowed(const struct roce_view *v, uint64_t now_ns)
{
	uint32_t i = v->dest_qp - BED_QPN;

	if (!setting.selective || v->opcode > RC_WRITE_ONLY_IMM || i >= PROBER_MAX_QPS)
		return false;
	if (!rec.any_psn[i] || psn_diff(v->psn, rec.highest_psn[i]) > 0) {
		rec.any_psn[i] = true;
		rec.highest_psn[i] = v->psn;
		rec.naked[i] = false;
		return false;
	}
	return rec.naked[i] && now_ns - rec.nak_ns[i] < 2 * NS_PER_MS && v->psn != rec.nak_psn[i];
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
	if (until_ns == now_ns && d->late.count == 0)
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
	double frame_us = (bed.mtu_bytes + 100) * 8e6 / (double)bed.nic.link_speed_bps;
	bool qp = np->np_cnp_moderation == NP_PER_QP && np->np_min_port_cnp_interval_ns == 0;

	judge(LINE_NP_DELAY, np->np_cnp_delay_ns / 1e3, 2 * frame_us);
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
judge_others(void)
{
	double frame_us = (bed.mtu_bytes + 100) * 8e6 / (double)bed.nic.link_speed_bps;
	/* 4.096 us x 2^10, and up to four times that (IBTA 9.7.6.1.3). */
	double least_ms = 4.096 * 1.024;

	judge(LINE_TR_NAK_DELAY, 0, 2 * frame_us);
	judge_text(LINE_TR_RECOVERY, setting.selective ? "1: selective" : "go-back-N");
	judge(LINE_TR_LOST_ACK, 0, 0);
	/* The NIC's timer has steps. */
	judge(LINE_TR_BACK_OFF, 1, 0.1);
	judge(LINE_TR_TIMEOUT, 2.5 * least_ms, 1.5 * least_ms);
	judge(LINE_TR_LAST, 2.5 * least_ms, 1.5 * least_ms);
	judge(LINE_PFC_QUANTA, 20000, 0);
	judge(LINE_PFC_SENT, 0, 0);
	judge(LINE_PIT_MTU, bed.mtu_bytes, 0);
}

/* No line has a fault, but late CNPs. */
static void
judge_faults(void)
{
	for (unsigned int l = 0; l < FINDINGS_LINES; l++)
		if (bed_finding(&bed, (enum findings_line)l)->verdict == VERDICT_FAULT &&
		    (l != LINE_NP_DELAY || bed.nic.np.np_cnp_delay_ns < 50000))
			blame((enum findings_line)l, "no fault");
}

static void
play(uint64_t number)
{
	draw(&bed, &setting, number);
	prng_seed(&wire_random, number, 1);
	bed.dut.hears = hears;
	bed.dut.says = says;
	bed.dut.watches = watches;
	rec = (struct record){.changes = rec.changes, .burst = -1};
	if (getenv("RP"))
		bed.probe.np = bed.probe.transport = bed.probe.pfc = false;
	bed_create(&bed);
	bed_run(&bed);
	if (getenv("SHOW")) {
		printf("setting %" PRIu64 ":%s\n", number, setting.text);
		bed_print(&bed);
	}
	judge_rp();
	judge_np();
	judge_others();
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

TEST(a_line_is_right_within_5_percent_or_not_measured)
{
	uint64_t n = number_of("QUENCH_PROBE_SETTINGS", SETTINGS);
	uint64_t first = number_of("QUENCH_PROBE_SETTING", FIRST);
	uint32_t measured = 0, silent = 0;

	rec.changes = calloc(MOST_CHANGES, sizeof(*rec.changes));
	assert_non_null(rec.changes);
	for (uint64_t i = 0; i < n; i++)
		play(first + i);
	for (unsigned int i = 0; first == FIRST && i < ARRAY_LEN(wrong_before); i++)
		play(wrong_before[i]);
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

TEST_MAIN(.begin = start_eal)
