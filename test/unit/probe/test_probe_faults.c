/* SPDX-License-Identifier: BSD-3-Clause */
/* The report names faults of a NIC, here of what stands before quench's own. */
#include "base/numbers/array.h"
#include "unit/probe/probe_bed.h"
#include "wire/frame/ecn.h"
#include "wire/link/pfc_frame.h"
#include "wire/neighbour/arp.h"

static struct bed bed;

/* Only the groups that a test reads. */
static void
bed_only(struct bed *b, bool np, bool rp, bool transport, bool pfc)
{
	bed_init(b);
	b->probe.np = np;
	b->probe.rp = rp;
	b->probe.transport = transport;
	b->probe.pfc = pfc;
	b->probe.answer_ns = 100 * NS_PER_MS;
}

static void
bed_finish(struct bed *b)
{
	bed_create(b);
	bed_run(b);
	if (getenv("SHOW"))
		bed_print(b);
}

static void
expect(const struct bed *b, enum findings_line line, enum findings_verdict verdict,
       const char *text)
{
	const struct finding *f = bed_finding(b, line);

	if (f->verdict != verdict || strstr(f->text, text) == NULL) {
		bed_print(b);
		fail_msg("%s: %s, %s; expected %s, %s", findings_questions[line].id,
			 findings_verdict_word(f->verdict), f->text, findings_verdict_word(verdict),
			 text);
	}
}

/* No line but these has a fault. */
static void
expect_faults(const struct bed *b, unsigned int n)
{
	unsigned int faults = 0;

	for (unsigned int l = 0; l < FINDINGS_LINES; l++)
		faults += bed_finding(b, (enum findings_line)l)->verdict == VERDICT_FAULT;
	if (faults != n) {
		bed_print(b);
		fail_msg("%u lines with faults, expected %u", faults, n);
	}
}

static bool
is_cnp(const struct roce_view *v)
{
	return v != NULL && v->opcode == ROCE_CNP;
}

static bool
is_answer(const struct roce_view *v, unsigned int kind)
{
	return v != NULL && v->opcode == RC_ACK && v->aeth_syndrome >> 5 == kind;
}

static bool
says_cnps_late(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	if (!is_cnp(v))
		return true;
	dut_keep(d, m, d->late.frames.count == 0 ? now_ns + 80 * NS_PER_US : dut_kept_until_ns(d));
	return false;
}

TEST(names_late_cnps)
{
	bed_only(&bed, true, false, false, false);
	bed.dut.says = says_cnps_late;
	bed_finish(&bed);
	expect(&bed, LINE_NP_DELAY, VERDICT_FAULT, "late: ");
	/* An ACK may wait for a packet of data, 0.9 us. */
	assert_in_range(bed_finding(&bed, LINE_NP_DELAY)->value, 78, 82);
	expect_faults(&bed, 1);
	bed_destroy(&bed);
}

static bool
says_cnps_a_little_late(struct dut *d, struct rte_mbuf *m, const struct roce_view *v,
			uint64_t now_ns)
{
	if (!is_cnp(v))
		return true;
	dut_keep(d, m, max_u64(now_ns + 30 * NS_PER_US, dut_kept_until_ns(d)));
	return false;
}

/* The round trip is that of a NIC without data of its own: the delay is not hidden by a queue. */
TEST(measures_cnps_that_are_30_us_late)
{
	bed_only(&bed, true, false, false, false);
	bed.dut.says = says_cnps_a_little_late;
	bed_finish(&bed);
	expect(&bed, LINE_NP_DELAY, VERDICT_DIFFERS, "late: ");
	assert_in_range(bed_finding(&bed, LINE_NP_DELAY)->value, 29, 31);
	bed_destroy(&bed);
}

/* A host that stops for 8 us in 100 us: as long as two intervals of N = 4 us. */
static bool
says_stalls(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)v;
	if (d->late.frames.count == 0 && now_ns % 100000 >= 8000)
		return true;
	dut_keep(d, m,
		 d->late.frames.count == 0 ? now_ns - now_ns % 100000 + 8000
					   : dut_kept_until_ns(d));
	return false;
}

TEST(measures_no_interval_that_jitter_hides)
{
	const struct finding *f;

	bed_only(&bed, true, false, false, true);
	rp_params_default(&bed.nic.rp, RP_PROFILE_MLX);
	bed.nic.np.np_min_time_between_cnps_us = 4;
	bed.dut.says = says_stalls;
	bed_finish(&bed);
	f = bed_finding(&bed, LINE_NP_INTERVAL_QP);
	if (f->has_value && (f->value < 3.8 || f->value > 4.2)) {
		bed_print(&bed);
		fail_msg("%s", f->text);
	}
	bed_destroy(&bed);
}

TEST(names_a_cnp_for_each_mark)
{
	bed_only(&bed, true, false, false, false);
	bed.nic.np.np_min_time_between_cnps_us = 0;
	bed_finish(&bed);
	expect(&bed, LINE_NP_EACH_MARK, VERDICT_DIFFERS, "a CNP for each mark");
	expect_faults(&bed, 0);
	bed_destroy(&bed);
}

static bool
hears_no_cnps(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)m;
	(void)now_ns;
	return !is_cnp(v);
}

/* The NIC heeds a CNP of a QP in 50 us: it comes down slowly, and its floor must be waited for. */
static bool
hears_few_cnps(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	static uint64_t last_ns;

	(void)d;
	(void)m;
	if (!is_cnp(v) || v->dest_qp != BED_QPN)
		return true;
	if (now_ns - last_ns < 50 * NS_PER_US)
		return false;
	last_ns = now_ns;
	return true;
}

static void
expect_near_or_none(const struct bed *b, enum findings_line line, double expected)
{
	const struct finding *f = bed_finding(b, line);

	if (f->has_value && (f->value < 0.95 * expected || f->value > 1.05 * expected)) {
		bed_print(b);
		fail_msg("%s: %s, expected %g or no value", findings_questions[line].id, f->text,
			 expected);
	}
}

TEST(measures_nothing_wrong_of_a_nic_that_coalesces_cnps)
{
	bed_only(&bed, false, true, false, false);
	rp_params_default(&bed.nic.rp, RP_PROFILE_MLX);
	bed.dut.hears = hears_few_cnps;
	bed_finish(&bed);
	expect_near_or_none(&bed, LINE_RP_FLOOR, 1);
	expect_near_or_none(&bed, LINE_RP_FAST_STEPS, 1);
	expect_near_or_none(&bed, LINE_RP_G, 5.0 / 1024);
	expect_near_or_none(&bed, LINE_RP_K, 1);
	expect_near_or_none(&bed, LINE_RP_BYTES, 2097.088);
	expect_near_or_none(&bed, LINE_RP_AI, 5);
	bed_destroy(&bed);
}

/* A NIC whose host runs 1 ms in 5, and loses what comes meanwhile. */
#define RUNS_NS NS_PER_MS
#define PERIOD_NS (5 * NS_PER_MS)

static bool
hears_while_it_runs(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)m;
	return v == NULL || now_ns % PERIOD_NS < RUNS_NS;
}

static bool
says_while_it_runs(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)v;
	if (now_ns % PERIOD_NS < RUNS_NS && d->late.frames.count == 0)
		return true;
	/* A device holds so many frames. */
	if (d->late.frames.count == 1024) {
		rte_pktmbuf_free(m);
		return false;
	}
	dut_keep(d, m, max_u64(dut_kept_until_ns(d), (now_ns / PERIOD_NS + 1) * PERIOD_NS));
	return false;
}

TEST(blames_no_nic_of_a_busy_host_for_its_back_off)
{
	bed_only(&bed, false, true, false, false);
	bed.dut.hears = hears_while_it_runs;
	bed.dut.says = says_while_it_runs;
	bed.nic.link_speed_bps = bed.probe.link_speed_bps = 1 * GBPS;
	bed.nic.local_ack_timeout = 12;
	bed.probe.settle_ns = 10 * NS_PER_MS;
	bed.probe.answer_ns = 400 * NS_PER_MS;
	bed_finish(&bed);
	expect_faults(&bed, 0);
	bed_destroy(&bed);
}

TEST(names_a_nic_that_does_not_slow_down)
{
	bed_only(&bed, false, true, false, false);
	bed.dut.hears = hears_no_cnps;
	bed_finish(&bed);
	expect(&bed, LINE_RP_BACK_OFF, VERDICT_FAULT, "no back-off");
	expect(&bed, LINE_RP_TIMER, VERDICT_NO_ANSWER, "no DCQCN");
	expect(&bed, LINE_RP_G, VERDICT_NO_ANSWER, "");
	expect_faults(&bed, 1);
	bed_destroy(&bed);
}

/* Change a byte from the BTH on, with a right ICRC. */
static bool
says_with(struct rte_mbuf *m, const struct roce_view *v, unsigned int offset, uint8_t value)
{
	rte_pktmbuf_mtod(m, uint8_t *)[v->bth_off + offset] = value;
	dut_mend_icrc(m, v);
	return true;
}

static bool
says_another_opcode(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)now_ns;
	return !is_cnp(v) || says_with(m, v, 0, 0x82);
}

TEST(names_a_wrong_opcode)
{
	bed_only(&bed, true, false, false, false);
	bed.dut.says = says_another_opcode;
	bed_finish(&bed);
	expect(&bed, LINE_NP_OPCODE, VERDICT_FAULT, "0x82");
	expect_faults(&bed, 1);
	bed_destroy(&bed);
}

static bool
says_reserved_bytes(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)now_ns;
	return !is_cnp(v) || says_with(m, v, BTH_BYTES + 3, 7);
}

TEST(names_reserved_bytes_that_are_not_zero)
{
	bed_only(&bed, true, false, false, false);
	bed.dut.says = says_reserved_bytes;
	bed_finish(&bed);
	expect(&bed, LINE_NP_RESERVED, VERDICT_DIFFERS, "not zero");
	bed_destroy(&bed);
}

static bool
says_no_becn_and_not_ect(struct dut *d, struct rte_mbuf *m, const struct roce_view *v,
			 uint64_t now_ns)
{
	uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, v == NULL ? 0 : v->ip_off);

	(void)d;
	(void)now_ns;
	if (!is_cnp(v))
		return true;
	/* ECT(0) to Not-ECT, with the checksum of the header. */
	ip[1] &= 0xFC;
	ip[11] = (uint8_t)(ip[11] + 2);
	if (ip[11] < 2)
		ip[10]++;
	return says_with(m, v, 4, 0);
}

TEST(names_ecn_bits_and_becn_of_cnps)
{
	bed_only(&bed, true, false, false, false);
	bed.dut.says = says_no_becn_and_not_ect;
	bed_finish(&bed);
	expect(&bed, LINE_NP_ECN, VERDICT_FAULT, "Not-ECT");
	expect(&bed, LINE_NP_BECN, VERDICT_FAULT, "not set");
	expect_faults(&bed, 2);
	bed_destroy(&bed);
}

/* The NIC answers a frame of its peer with another one. */
static void
answer_with(struct dut *d, struct rte_mbuf *m, const struct roce_view *v,
	    const struct roce_fields *f, uint64_t now_ns)
{
	const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *);
	struct roce_path path = {
		.ip_version = 4,
		.ecn = ECN_ECT0,
		.dscp = 48,
		.ttl = 64,
		.dest_qp = BED_QPN,
		.pkey = PKEY_DEFAULT,
	};
	struct rte_mbuf *answer = rte_pktmbuf_alloc(d->pool);

	memcpy(path.dst_mac, buf + 6, 6);
	memcpy(path.src_mac, buf, 6);
	memcpy(path.src_ip, buf + v->ip_off + 16, 4);
	memcpy(path.dst_ip, buf + v->ip_off + 12, 4);
	assert_non_null(answer);
	answer->data_len =
		(uint16_t)roce_build(rte_pktmbuf_mtod(answer, uint8_t *), 128, &path, f, NULL, 0);
	answer->pkt_len = answer->data_len;
	dut_keep(d, answer, now_ns);
}

/* The NIC takes a marked frame of another kind for a marked request. */
static bool
hears_marked_acks(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	static const struct roce_fields cnp = {.opcode = ROCE_CNP, .becn = true};

	if (is_answer(v, 0) && v->ecn == ECN_CE)
		answer_with(d, m, v, &cnp, now_ns);
	return true;
}

TEST(names_cnps_for_marked_acks)
{
	bed_only(&bed, true, false, false, false);
	bed.dut.hears = hears_marked_acks;
	bed_finish(&bed);
	expect(&bed, LINE_NP_MARKED_ACK, VERDICT_DIFFERS, "8 for 8 marked ACKs");
	bed_destroy(&bed);
}

TEST(finds_the_answer_to_a_lost_read_response)
{
	bed_only(&bed, false, false, true, false);
	bed.reads = true;
	bed_finish(&bed);
	expect(&bed, LINE_TR_READ_DELAY, VERDICT_OK, "");
	expect(&bed, LINE_TR_READ_FROM, VERDICT_OK, "the lost one");
	expect(&bed, LINE_TR_RECOVERY, VERDICT_OK, "go-back-N");
	expect_faults(&bed, 0);
	bed_destroy(&bed);
}

/* A READ is asked for once. */
static bool
says_no_second_read(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	static uint32_t highest;
	static bool any;

	(void)d;
	(void)now_ns;
	if (v == NULL || v->opcode != RC_READ_REQUEST)
		return true;
	if (any && psn_diff(v->psn, highest) <= 0) {
		rte_pktmbuf_free(m);
		return false;
	}
	any = true;
	highest = v->psn;
	return true;
}

TEST(names_a_read_that_is_not_asked_for_again)
{
	bed_only(&bed, false, false, true, false);
	bed.reads = true;
	bed.dut.says = says_no_second_read;
	bed_finish(&bed);
	expect(&bed, LINE_TR_READ_DELAY, VERDICT_FAULT, "never asked for again");
	bed_destroy(&bed);
}

/* ACKs with a count of credits (IBTA 9.7.7.2, table 45), as those of a QP without SRQ. */
static bool
says_credits(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)now_ns;
	return !is_answer(v, AETH_ACK >> 5) || says_with(m, v, BTH_BYTES, 0x0C);
}

TEST(takes_the_round_trip_from_acks_with_credits)
{
	bed_only(&bed, true, false, true, false);
	bed.dut.says = says_credits;
	bed_finish(&bed);
	expect_faults(&bed, 0);
	/* Two lengths of the cable. */
	assert_in_range((uint64_t)((const struct prober *)bed.prober)->rtt_ns, 2000, 3000);
	bed_destroy(&bed);
}

/* Requests are acknowledged together, long after they came. */
static bool
says_acks_in_turns(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	static unsigned int n;

	(void)d;
	(void)now_ns;
	if (!is_answer(v, AETH_ACK >> 5) || ++n % 32 == 0)
		return true;
	rte_pktmbuf_free(m);
	return false;
}

TEST(measures_no_delay_beside_a_round_trip_that_is_not_known)
{
	static const enum findings_line delays[] = {LINE_NP_DELAY, LINE_PFC_START, LINE_PFC_QUANTA};

	bed_only(&bed, true, false, false, true);
	bed.dut.says = says_acks_in_turns;
	bed_finish(&bed);
	expect_faults(&bed, 0);
	for (unsigned int i = 0; i < ARRAY_LEN(delays); i++)
		expect(&bed, delays[i], VERDICT_NOT_MEASURED, "the round trip is not known");
	bed_destroy(&bed);
}

static bool says_in_bursts(struct dut *d, struct rte_mbuf *m, const struct roce_view *v,
			   uint64_t now_ns);

static bool
says_credits_in_bursts(struct dut *d, struct rte_mbuf *m, const struct roce_view *v,
		       uint64_t now_ns)
{
	says_credits(d, m, v, now_ns);
	return says_in_bursts(d, m, v, now_ns);
}

TEST(takes_late_answers_with_credits_for_late)
{
	bed_only(&bed, true, false, true, false);
	bed.dut.says = says_credits_in_bursts;
	bed.nic.local_ack_timeout = 12;
	bed.probe.settle_ns = 10 * NS_PER_MS;
	bed.probe.answer_ns = NS_PER_SEC;
	bed_finish(&bed);
	expect_faults(&bed, 0);
	assert_false(bed_finding(&bed, LINE_NP_INTERVAL_QP)->has_value);
	bed_destroy(&bed);
}

/* The duplicate has the PSN before 0. */
TEST(knows_the_psn_of_a_duplicate_at_the_wrap)
{
	for (uint32_t before = 0; before < 40; before++) {
		bed_only(&bed, false, false, true, false);
		bed.probe.psn = PSN_MASK - before;
		bed.psn = PSN_MASK - before;
		bed_finish(&bed);
		expect(&bed, LINE_TR_DUPLICATE, VERDICT_OK, "ACK");
		bed_destroy(&bed);
	}
}

/* After a NAK only the packet that it names comes again; after a time-out all. */
static struct {
	uint32_t highest, nak_psn;
	bool any, naked;
	uint64_t nak_ns;
} selective[BED_QPS + 1];

static bool
hears_selective(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	uint32_t i = v == NULL ? BED_QPS + 1 : v->dest_qp - BED_QPN;

	(void)d;
	(void)m;
	if (i <= BED_QPS && is_answer(v, 3) && v->aeth_syndrome == AETH_NAK_PSN_SEQ) {
		selective[i].naked = true;
		selective[i].nak_psn = v->psn;
		selective[i].nak_ns = now_ns;
	}
	return true;
}

static bool
says_selective(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	uint32_t i = v == NULL ? BED_QPS + 1 : v->dest_qp - BED_QPN;

	(void)d;
	if (i > BED_QPS || v->opcode > RC_WRITE_ONLY_IMM)
		return true;
	if (!selective[i].any || psn_diff(v->psn, selective[i].highest) > 0) {
		selective[i].any = true;
		selective[i].highest = v->psn;
		selective[i].naked = false;
		return true;
	}
	if (!selective[i].naked || now_ns - selective[i].nak_ns > 2 * NS_PER_MS ||
	    v->psn == selective[i].nak_psn)
		return true;
	rte_pktmbuf_free(m);
	return false;
}

TEST(works_with_a_nic_that_repeats_selectively)
{
	bed_only(&bed, false, false, true, false);
	bed.dut.hears = hears_selective;
	bed.dut.says = says_selective;
	bed_finish(&bed);
	expect(&bed, LINE_TR_RECOVERY, VERDICT_OK, "1: selective");
	expect(&bed, LINE_TR_TIMEOUT, VERDICT_MEASURED, "ms");
	expect(&bed, LINE_TR_LAST, VERDICT_MEASURED, "ms");
	expect_faults(&bed, 0);
	bed_destroy(&bed);
}

TEST(needs_reads_to_lose_their_responses)
{
	bed_only(&bed, false, false, true, false);
	bed_finish(&bed);
	expect(&bed, LINE_TR_READ_DELAY, VERDICT_NOT_RUN, "no QP of the NIC reads");
	bed_destroy(&bed);
}

static bool
hears_no_pauses(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *);

	(void)d;
	(void)v;
	(void)now_ns;
	return buf[12] != 0x88 || buf[13] != 0x08;
}

TEST(names_a_nic_that_ignores_pauses)
{
	bed_only(&bed, false, false, false, true);
	bed.dut.hears = hears_no_pauses;
	bed_finish(&bed);
	expect(&bed, LINE_PFC_STOP, VERDICT_FAULT, "ignores the pause");
	expect(&bed, LINE_PFC_QUANTA, VERDICT_NOT_RUN, "no pause");
	expect_faults(&bed, 1);
	bed_destroy(&bed);
}

TEST(tells_link_pause_from_pfc)
{
	bed_only(&bed, false, false, false, true);
	bed.nic.flow_control = NIC_FLOW_PAUSE;
	bed_finish(&bed);
	expect(&bed, LINE_PFC_STOP, VERDICT_FAULT, "ignores the pause");
	expect(&bed, LINE_PFC_LINK, VERDICT_DIFFERS, "obeyed");
	bed_destroy(&bed);
}

/* A frame that ends pauses, and none that begins one. */
static bool
says_xon(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
	static const uint16_t times[8];
	static bool sent;
	struct rte_mbuf *xon;

	(void)m;
	(void)v;
	if (sent || now_ns < NS_PER_MS)
		return true;
	sent = true;
	xon = rte_pktmbuf_alloc(d->pool);
	assert_non_null(xon);
	pfc_frame_build(rte_pktmbuf_mtod(xon, uint8_t *), mac, 0xFF, times);
	xon->data_len = PFC_FRAME_BYTES;
	xon->pkt_len = PFC_FRAME_BYTES;
	dut_keep(d, xon, now_ns);
	return true;
}

TEST(takes_no_xon_for_a_pause)
{
	bed_only(&bed, false, false, false, true);
	bed.dut.says = says_xon;
	bed_finish(&bed);
	assert_int_equal(prober_stats(bed.prober)->rx_pauses, 1);
	expect(&bed, LINE_PFC_SENT, VERDICT_OK, "0");
	bed_destroy(&bed);
}

TEST(names_pauses_by_a_slow_receiver)
{
	bed_only(&bed, false, false, false, true);
	bed.nic.receiver.drain_rate_bps = 1 * GBPS;
	bed_finish(&bed);
	expect(&bed, LINE_PFC_SENT, VERDICT_DIFFERS, "its receiver is slower");
	expect(&bed, LINE_PFC_SENT_PRIOS, VERDICT_OK, "3");
	bed_destroy(&bed);
}

/* Its pauses are for another priority too. */
static bool
says_wide_pauses(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	uint8_t *buf = rte_pktmbuf_mtod(m, uint8_t *);

	(void)d;
	(void)now_ns;
	if (v == NULL && buf[12] == 0x88 && buf[13] == 0x08) {
		buf[17] |= 1u << 5;
		memcpy(buf + 18 + 2 * 5, buf + 18 + 2 * 3, 2);
	}
	return true;
}

TEST(names_pauses_of_others)
{
	bed_only(&bed, false, false, false, true);
	bed.nic.receiver.drain_rate_bps = 1 * GBPS;
	bed.dut.says = says_wide_pauses;
	bed_finish(&bed);
	expect(&bed, LINE_PFC_SENT_PRIOS, VERDICT_DIFFERS, "3, 5: others wait");
	bed_destroy(&bed);
}

TEST(names_a_link_that_waits_for_a_receiver)
{
	bed_only(&bed, false, false, false, true);
	bed.nic.receiver.drain_rate_bps = 1 * GBPS;
	bed.nic.flow_control = NIC_FLOW_PAUSE;
	bed_finish(&bed);
	expect(&bed, LINE_PFC_SENT_PRIOS, VERDICT_DIFFERS, "the whole link");
	bed_destroy(&bed);
}

/* On a VLAN, CNPs have the priority of data. */
static bool
says_prio_3_cnps(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)now_ns;
	if (is_cnp(v))
		rte_pktmbuf_mtod(m, uint8_t *)[14] = 3u << 5;
	return true;
}

TEST(tells_the_vlan_priority_of_cnps_from_that_of_data)
{
	for (unsigned int same = 0; same < 2; same++) {
		bed_only(&bed, true, false, false, false);
		bed.vlan_tci = 3u << 13 | 100;
		bed.probe.vlan_id = 100;
		bed.dut.says = same ? says_prio_3_cnps : NULL;
		bed_finish(&bed);
		expect(&bed, LINE_NP_PRIO, same ? VERDICT_DIFFERS : VERDICT_OK,
		       same ? "3; data has 3" : "6; data has 3");
		expect_faults(&bed, 0);
		bed_destroy(&bed);
	}
}

static bool
says_no_naks(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)now_ns;
	if (!is_answer(v, 3))
		return true;
	rte_pktmbuf_free(m);
	return false;
}

TEST(names_missing_naks)
{
	bed_only(&bed, false, false, true, false);
	bed.dut.says = says_no_naks;
	bed_finish(&bed);
	expect(&bed, LINE_TR_NAK_DELAY, VERDICT_FAULT, "no NAK");
	bed_destroy(&bed);
}

TEST(names_an_icrc_that_is_not_checked)
{
	bed_only(&bed, true, false, true, false);
	bed.nic.icrc_check = false;
	bed_finish(&bed);
	expect(&bed, LINE_TR_BAD_ICRC, VERDICT_FAULT, "ICRC is not checked");
	expect(&bed, LINE_NP_BAD_ICRC, VERDICT_FAULT, "for 8 marked requests");
	expect_faults(&bed, 2);
	bed_destroy(&bed);
}

/* NAKs do not reach the NIC. */
static bool
hears_no_naks(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)m;
	(void)now_ns;
	return !is_answer(v, 3);
}

TEST(names_a_requester_that_ignores_naks)
{
	bed_only(&bed, false, false, true, false);
	bed.nic.local_ack_timeout = 18; /* longer than the wait for an answer */
	bed.dut.hears = hears_no_naks;
	bed_finish(&bed);
	expect(&bed, LINE_TR_RESEND_DELAY, VERDICT_FAULT, "a NAK has no effect");
	bed_destroy(&bed);
}

/* The timer of RNR NAKs becomes the shortest one: 10 us. */
static bool
hears_short_timers(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)now_ns;
	return !is_answer(v, 1) || says_with(m, v, BTH_BYTES, AETH_RNR_NAK | 1);
}

/* All timers of RNR NAKs become one of 10.24 ms. */
static bool
hears_one_timer(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)now_ns;
	return !is_answer(v, 1) || says_with(m, v, BTH_BYTES, AETH_RNR_NAK | 20);
}

TEST(finds_the_wait_after_an_rnr_nak)
{
	bed_only(&bed, false, false, true, false);
	bed_finish(&bed);
	expect(&bed, LINE_TR_RNR_WAIT, VERDICT_OK, "with a timer of 0.64 ms 0.64");
	assert_in_range(bed_finding(&bed, LINE_TR_RNR_WAIT)->value * 1e3, 5120, 5130);
	/* Receives without end. */
	expect(&bed, LINE_TR_RNR_NAK, VERDICT_NOT_RUN, "a receive for each of 1024 SENDs");
	expect_faults(&bed, 0);
	bed_destroy(&bed);
}

TEST(names_a_nic_that_does_not_wait_after_an_rnr_nak)
{
	bed_only(&bed, false, false, true, false);
	bed.dut.hears = hears_short_timers;
	bed_finish(&bed);
	expect(&bed, LINE_TR_RNR_WAIT, VERDICT_FAULT, "though the NAK says 0.64 ms");
	expect_faults(&bed, 1);
	bed_destroy(&bed);
}

TEST(names_a_nic_that_reads_no_timer_of_an_rnr_nak)
{
	bed_only(&bed, false, false, true, false);
	bed.dut.hears = hears_one_timer;
	bed_finish(&bed);
	expect(&bed, LINE_TR_RNR_WAIT, VERDICT_DIFFERS, "10.24");
	expect_faults(&bed, 0);
	bed_destroy(&bed);
}

TEST(blames_no_qp_that_may_not_try_again_after_an_rnr_nak)
{
	bed_only(&bed, false, false, true, true);
	bed.nic.rnr_retry = 0;
	bed_finish(&bed);
	expect(&bed, LINE_TR_RNR_WAIT, VERDICT_NO_ANSWER, "rnr_retry = 0");
	/* What needs its data came before. */
	expect(&bed, LINE_PFC_QUANTA, VERDICT_OK, "");
	expect_faults(&bed, 0);
	bed_destroy(&bed);
}

/* One receive, which is posted again after a second. */
static void
bed_without_receives(struct bed *b)
{
	bed_only(b, false, false, true, false);
	b->max_recv_wr = 1;
	b->post_recv_ns = NS_PER_SEC;
	b->nic.min_rnr_timer = 14;
}

TEST(finds_the_timer_of_an_rnr_nak)
{
	bed_without_receives(&bed);
	bed_finish(&bed);
	expect(&bed, LINE_TR_RNR_NAK, VERDICT_OK, "1.28 ms: RNR NAK 0x2e");
	expect_faults(&bed, 0);
	bed_destroy(&bed);
}

static bool
says_no_rnr_naks(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)now_ns;
	if (!is_answer(v, 1))
		return true;
	rte_pktmbuf_free(m);
	return false;
}

/* A lost SEND is none that was dropped, so nobody is blamed. */
TEST(measures_no_timer_where_rnr_naks_are_lost)
{
	bed_without_receives(&bed);
	bed.dut.says = says_no_rnr_naks;
	bed_finish(&bed);
	expect(&bed, LINE_TR_RNR_NAK, VERDICT_NOT_MEASURED, "of 1024 SENDs some were lost");
	expect_faults(&bed, 0);
	bed_destroy(&bed);
}

static bool
is_send(const struct roce_view *v)
{
	return v != NULL && v->opcode == RC_SEND_ONLY;
}

static bool
hears_no_sends(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)m;
	(void)now_ns;
	return !is_send(v);
}

TEST(names_a_nic_that_is_silent_without_a_receive)
{
	bed_only(&bed, false, false, true, false);
	bed.dut.hears = hears_no_sends;
	bed_finish(&bed);
	expect(&bed, LINE_TR_RNR_NAK, VERDICT_FAULT, "no answer");
	expect_faults(&bed, 1);
	bed_destroy(&bed);
}

static uint8_t answer_to_sends;

static bool
hears_sends_in_vain(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	const struct roce_fields nak = {
		.opcode = RC_ACK,
		.psn = v == NULL ? 0 : v->psn,
		.aeth_syndrome = answer_to_sends,
	};

	if (!is_send(v))
		return true;
	answer_with(d, m, v, &nak, now_ns);
	return false;
}

/* A host that expects WRITEs posts no receive. */
TEST(finds_the_timer_of_a_queue_that_is_always_empty)
{
	static const struct {
		uint8_t answer;
		enum findings_verdict verdict;
		const char *text;
	} answers[] = {{AETH_RNR_NAK, VERDICT_OK, "655.36 ms: RNR NAK 0x20"},
		       {AETH_RNR_NAK | 31, VERDICT_OK, "491.52 ms: RNR NAK 0x3f"},
		       {AETH_NAK_INVALID_REQUEST, VERDICT_DIFFERS, "NAK 0x61"}};

	for (unsigned int i = 0; i < ARRAY_LEN(answers); i++) {
		bed_only(&bed, false, false, true, false);
		bed.dut.hears = hears_sends_in_vain;
		answer_to_sends = answers[i].answer;
		bed_finish(&bed);
		expect(&bed, LINE_TR_RNR_NAK, answers[i].verdict, answers[i].text);
		expect(&bed, LINE_PIT_MTU_LONG, VERDICT_OK, "NAK");
		expect_faults(&bed, 0);
		bed_destroy(&bed);
	}
}

/* All QPs have one source port. */
static bool
says_one_sport(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	uint8_t *udp;

	(void)d;
	(void)now_ns;
	if (v == NULL)
		return true;
	udp = rte_pktmbuf_mtod_offset(m, uint8_t *, v->bth_off - UDP_HDR_BYTES);
	udp[0] = 0x12;
	udp[1] = 0xB7;
	dut_mend_icrc(m, v);
	return true;
}

TEST(names_source_ports_without_entropy)
{
	bed_only(&bed, false, false, false, true);
	bed.dut.says = says_one_sport;
	bed_finish(&bed);
	expect(&bed, LINE_PIT_SPORT_QP, VERDICT_FAULT, "no entropy");
	expect(&bed, LINE_PIT_SPORT_RANGE, VERDICT_DIFFERS, "4791");
	bed_destroy(&bed);
}

TEST(names_an_mtu_that_differs)
{
	bed_only(&bed, false, false, false, true);
	bed.probe.mtu_bytes = 2048;
	bed_finish(&bed);
	expect(&bed, LINE_PIT_MTU, VERDICT_FAULT, "1024: the prober has 2048");
	bed_destroy(&bed);
}

/* CNPs to any QP slow down all. */
static bool
hears_cnps_twice(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	struct rte_mbuf *copy;
	struct roce_view same;

	if (!is_cnp(v) || v->dest_qp != BED_QPN)
		return true;
	copy = rte_pktmbuf_copy(m, d->pool, 0, UINT32_MAX);
	assert_non_null(copy);
	assert_true(dut_view(copy, &same));
	says_with(copy, &same, 7, BED_QPN + 1);
	d->nic->ops->rx(d->nic, 0, &copy, 1, now_ns);
	return true;
}

TEST(names_cnps_that_slow_down_other_qps)
{
	bed_only(&bed, false, true, false, false);
	bed.dut.hears = hears_cnps_twice;
	bed_finish(&bed);
	expect(&bed, LINE_RP_OTHERS, VERDICT_FAULT, "slow down another");
	expect_faults(&bed, 1);
	bed_destroy(&bed);
}

static bool
says_no_cnps(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)now_ns;
	if (!is_cnp(v))
		return true;
	rte_pktmbuf_free(m);
	return false;
}

/* No mark has an effect, so nothing is known about marks that should have none. */
TEST(judges_no_cnps_of_a_nic_without_them)
{
	bed_only(&bed, true, false, false, false);
	bed.dut.says = says_no_cnps;
	bed_finish(&bed);
	expect(&bed, LINE_NP_DELAY, VERDICT_NO_ANSWER, "no DCQCN");
	for (unsigned int l = LINE_NP_OPCODE; l <= LINE_NP_BAD_ICRC; l++)
		expect(&bed, (enum findings_line)l, VERDICT_NOT_RUN, "no CNPs");
	bed_destroy(&bed);
}

/* As a virtual device on a busy machine: frames leave in bursts, 0.1 to 3 ms apart. */
static bool
says_in_bursts(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	static uint64_t random = 1, until_ns;

	(void)v;
	if (d->late.frames.count == 0) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		until_ns = now_ns + 100 * NS_PER_US + (random >> 33) % (2900 * NS_PER_US);
	}
	dut_keep(d, m, until_ns);
	return false;
}

TEST(blames_no_nic_whose_frames_are_late)
{
	static const enum findings_line formats[] = {
		LINE_NP_OPCODE,    LINE_NP_BECN,      LINE_NP_ECN,       LINE_TR_NAK_PSN,
		LINE_TR_NAK_ONCE,  LINE_TR_REORDER_1, LINE_TR_REORDER_2, LINE_TR_REORDER_8,
		LINE_TR_DUPLICATE, LINE_TR_BAD_ICRC,  LINE_TR_RECOVERY,  LINE_PIT_MTU_LONG};
	static const enum findings_line times[] = {
		LINE_NP_DELAY,     LINE_NP_INTERVAL_QP,  LINE_RP_BEFORE, LINE_RP_AFTER_10,
		LINE_TR_NAK_DELAY, LINE_TR_RESEND_DELAY, LINE_PFC_STOP,  LINE_PFC_QUANTA};

	bed_only(&bed, true, true, true, true);
	bed.dut.says = says_in_bursts;
	/* Longer than the delay. */
	bed.nic.local_ack_timeout = 12;
	bed.probe.settle_ns = 10 * NS_PER_MS;
	bed.probe.answer_ns = NS_PER_SEC;
	bed_finish(&bed);
	expect_faults(&bed, 0);
	for (unsigned int i = 0; i < ARRAY_LEN(formats); i++)
		expect(&bed, formats[i], VERDICT_OK, "");
	for (unsigned int i = 0; i < ARRAY_LEN(times); i++)
		expect(&bed, times[i], VERDICT_NOT_MEASURED, "");
	bed_destroy(&bed);
}

/* The NIC takes no ACK for all but the last packet of its messages of 64. */
static bool
hears_no_parts(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)m;
	(void)now_ns;
	return !is_answer(v, AETH_ACK >> 5) || v->psn % 64 != 62;
}

TEST(names_what_comes_twice_after_the_loss_of_a_last_packet)
{
	bed_only(&bed, false, false, true, false);
	bed.dut.hears = hears_no_parts;
	bed_finish(&bed);
	expect(&bed, LINE_TR_LAST, VERDICT_MEASURED, "ms");
	expect(&bed, LINE_TR_LAST_FROM, VERDICT_DIFFERS, "before it");
	bed_destroy(&bed);
}

static bool
hears_nothing(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)m;
	(void)v;
	(void)now_ns;
	return false;
}

TEST(ends_without_an_answer)
{
	bed_only(&bed, true, true, true, true);
	bed.probe.answer_ns = bed.probe.wait_ns = 10 * NS_PER_MS;
	bed.dut.hears = hears_nothing;
	bed_finish(&bed);
	assert_null(prober_trouble(bed.prober));
	expect(&bed, LINE_NP_DELAY, VERDICT_NO_ANSWER, "");
	expect(&bed, LINE_TR_DUPLICATE, VERDICT_NO_ANSWER, "");
	expect(&bed, LINE_TR_TIMEOUT, VERDICT_NO_ANSWER, "");
	expect(&bed, LINE_TR_LAST, VERDICT_NO_ANSWER, "");
	expect(&bed, LINE_PFC_STOP, VERDICT_NO_ANSWER, "");
	assert_true(bed.end_ns < NS_PER_SEC);
	bed_destroy(&bed);
}

/* Mistakes of whoever runs it: the report says which, and nothing of the NIC. */
static void
expect_trouble(const char *text)
{
	bed_finish(&bed);
	if (prober_trouble(bed.prober) == NULL || strstr(prober_trouble(bed.prober), text) == NULL)
		fail_msg("%s, expected %s", prober_trouble(bed.prober), text);
	for (unsigned int l = 0; l < FINDINGS_LINES; l++)
		expect(&bed, (enum findings_line)l, VERDICT_NOT_RUN, text);
	assert_true(bed.end_ns < NS_PER_SEC);
	bed_destroy(&bed);
}

static void
bed_mistaken(struct bed *b)
{
	bed_only(b, true, true, true, true);
	b->probe.answer_ns = b->probe.wait_ns = 10 * NS_PER_MS;
}

TEST(says_that_nothing_comes)
{
	bed_mistaken(&bed);
	bed.silent = true;
	bed.dut.hears = hears_nothing;
	expect_trouble("sends nothing to the prober");
}

TEST(says_that_frames_are_for_another_qp)
{
	bed_mistaken(&bed);
	bed.probe.local_qpn = 40;
	expect_trouble("sends to QP 1");
}

TEST(says_that_frames_come_from_another_address)
{
	bed_mistaken(&bed);
	bed.probe.peer_ip.addr[3] = 77;
	expect_trouble("none from peer_ip");
}

/* The NIC has an answer of this kind to each request. */
static bool
says_syndrome(struct rte_mbuf *m, const struct roce_view *v, uint8_t syndrome)
{
	return v == NULL || v->opcode != RC_ACK || says_with(m, v, BTH_BYTES, syndrome);
}

static bool
says_access_error(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)now_ns;
	return says_syndrome(m, v, AETH_NAK_REMOTE_ACCESS);
}

TEST(says_that_the_key_is_wrong)
{
	bed_mistaken(&bed);
	bed.dut.says = says_access_error;
	expect_trouble("NAK 0x62, remote access error: see remote_addr and rkey");
}

static bool
says_not_ready(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	(void)d;
	(void)now_ns;
	return says_syndrome(m, v, AETH_RNR_NAK);
}

TEST(says_that_no_receive_is_posted)
{
	bed_mistaken(&bed);
	bed.dut.says = says_not_ready;
	expect_trouble("post receives");
}

static uint64_t lie;

/* Every other frame says something else than the NIC meant, and is valid. */
static bool
says_lies(struct dut *d, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns)
{
	static const uint8_t opcodes[] = {RC_ACK,         ROCE_CNP,      RC_READ_REQUEST,
					  RC_WRITE_FIRST, RC_WRITE_LAST, RC_SEND_MIDDLE,
					  RC_SEND_ONLY,   RC_FETCH_ADD,  RC_READ_RESP_MIDDLE,
					  UD_SEND_ONLY,   RC_WRITE_ONLY, 0xFF};
	uint64_t random;
	uint8_t *bth;

	(void)d;
	(void)now_ns;
	lie = random = lie * 6364136223846793005u + 1442695040888963407u;
	if (v == NULL || random >> 63 == 0)
		return true;
	bth = rte_pktmbuf_mtod_offset(m, uint8_t *, v->bth_off);
	if (random >> 62 & 1)
		bth[0] = opcodes[(random >> 40) % ARRAY_LEN(opcodes)];
	if (random >> 61 & 1)
		bth[7] = (uint8_t)(BED_QPN + (random >> 20 & 3));
	if (random >> 60 & 1)
		memcpy(bth + 9, &random, 3);
	if (random >> 59 & 1)
		memcpy(bth + 12, &random, 8);
	dut_mend_icrc(m, v);
	return true;
}

#define LIARS 4u

TEST(outlives_a_peer_that_lies)
{
	for (uint64_t seed = 1; seed <= LIARS; seed++) {
		bed_only(&bed, true, true, true, true);
		bed.probe.answer_ns = bed.probe.wait_ns = 20 * NS_PER_MS;
		bed.dut.says = says_lies;
		bed.reads = seed % 2;
		lie = seed;
		bed_finish(&bed);
		for (unsigned int l = 0; l < FINDINGS_LINES; l++)
			assert_in_range(strlen(bed_finding(&bed, (enum findings_line)l)->text), 1,
					FINDINGS_TEXT - 1);
		assert_true(bed.end_ns < 5 * NS_PER_SEC);
		bed_destroy(&bed);
	}
}

/* Requests for its address come faster than its link takes the replies. */
TEST(keeps_memory_in_a_flood_of_requests_for_its_address)
{
	static const uint8_t peer[6] = {2, 0, 0, 0, 0, 1};
	struct l2 l2 = {.dst_mac = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};
	struct arp arp = {.op = ARP_REQUEST, .sender_ip = {10, 0, 0, 1}};

	bed_only(&bed, true, false, false, false);
	bed_create(&bed);
	memcpy(l2.src_mac, peer, 6);
	memcpy(arp.sender_mac, peer, 6);
	memcpy(arp.target_ip, bed.probe.ip.addr, 4);
	for (unsigned int i = 0; i < 10000; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(bed.probe_pool);

		assert_non_null(m);
		m->data_len = (uint16_t)arp_build(rte_pktmbuf_mtod(m, uint8_t *), &l2, &arp);
		m->pkt_len = m->data_len;
		bed.prober->ops->rx(bed.prober, 0, &m, 1, 0);
	}
	assert_int_equal(prober_stats(bed.prober)->rx_neighbour, 10000);
	assert_in_range(prober_stats(bed.prober)->tx_full, 10000 - 2048, 10001 - 2048);
	bed_run(&bed);
	expect(&bed, LINE_NP_OPCODE, VERDICT_OK, "0x81");
	bed_destroy(&bed);
}

/* What a hostile NIC sends is counted by its name, and the run goes on. */
TEST(counts_malformed_frames)
{
	static const struct {
		unsigned int cut; /* bytes that are left */
		unsigned int offset;
		uint8_t value;
	} frames[] = {
		{10, 0, 2},     /* no Ethernet header */
		{60, 14, 0x55}, /* IP version */
		{60, 36, 0},    /* another UDP port */
		{60, 42, 0x1F}, /* unknown opcode */
		{60, 43, 0x0F}, /* BTH version; length */
		{60, 59, 0x77}, /* ICRC */
	};
	struct roce_path path = {.ip_version = 4, .ttl = 64, .dest_qp = 99, .pkey = PKEY_DEFAULT};
	struct roce_fields ack = {.opcode = RC_ACK};
	const struct prober_stats *s;
	struct rte_mbuf *m;

	bed_only(&bed, true, false, false, false);
	bed_create(&bed);
	memcpy(path.src_ip, bed.nic.ip.addr, 4);
	for (unsigned int i = 0; i < 2 + ARRAY_LEN(frames); i++) {
		uint8_t *buf;
		size_t n;

		m = rte_pktmbuf_alloc(bed.probe_pool);
		buf = rte_pktmbuf_mtod(m, uint8_t *);
		path.src_ip[3] = i == 1 ? 77 : bed.nic.ip.addr[3];
		n = roce_build(buf, 128, &path, &ack, NULL, 0);
		if (i >= 2) {
			buf[frames[i - 2].offset] = frames[i - 2].value;
			n = frames[i - 2].cut < n ? frames[i - 2].cut : n;
		}
		m->data_len = (uint16_t)n;
		m->pkt_len = m->data_len;
		bed.prober->ops->rx(bed.prober, 0, &m, 1, 0);
	}
	m = rte_pktmbuf_alloc(bed.probe_pool);
	memset(rte_pktmbuf_append(m, 20), 0x88, 20);
	rte_pktmbuf_mtod(m, uint8_t *)[13] = 0x08;
	bed.prober->ops->rx(bed.prober, 0, &m, 1, 0);
	s = prober_stats(bed.prober);
	assert_int_equal(s->rx_packets, 9);
	assert_int_equal(s->rx_unknown_qp, 1);
	assert_int_equal(s->rx_wrong_peer, 1);
	assert_int_equal(s->rx_bad_pause, 1);
	assert_int_equal(s->rx_bad_frame + s->rx_not_roce + s->rx_bad_roce + s->rx_unknown_opcode +
				 s->rx_bad_icrc,
			 6);
	assert_true(s->rx_bad_frame >= 2);
	bed_run(&bed);
	expect(&bed, LINE_NP_OPCODE, VERDICT_OK, "0x81");
	bed_destroy(&bed);
}

TEST_MAIN(.begin = start_eal)
