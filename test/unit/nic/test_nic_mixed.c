/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the NIC's features meet: single cases, and both ends of QPs of every verb, workload and
 * congestion control over a bad cable, with pauses, small pools and receivers that are not ready.
 */
#include <stdlib.h>
#include <rte_common.h>

#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "unit/chance.h"
#include "base/numbers/units.h"
#include "nic/core/core.h"
#include "nic/measure/measure.h"
#include "nic/answers/reads.h"
#include "unit/nic/nic_test.h"
#include "unit/sanitized.h"

#define QPS_MAX 12

static struct {
	struct prng r;
	uint32_t mishap_ppm; /* of each kind */
	uint32_t mark_ppm;
	uint64_t cnps_lost, cnps_doubled;
} cable;

static enum fate
watch(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	static const enum fate fates[] = {FATE_LOSE, FATE_DUPLICATE, FATE_OVERTAKEN};
	uint64_t number = prng_below(&cable.r, 1000000);

	(void)from;
	(void)n;
	if (number < 3ull * cable.mishap_ppm) {
		enum fate fate = fates[number / cable.mishap_ppm];

		/* A copy needs an mbuf; and one that is overtaken must not be the last there is. */
		if (fate != FATE_LOSE && (rte_mempool_avail_count(p->pools.control) < 64 ||
					  rte_mempool_avail_count(p->pools.data) < 64))
			return FATE_PASS;
		/* It might be held for a frame that never comes. */
		if (fate == FATE_OVERTAKEN && v->opcode == ROCE_CNP)
			return FATE_PASS;
		cable.cnps_lost += v->opcode == ROCE_CNP && fate == FATE_LOSE;
		cable.cnps_doubled += v->opcode == ROCE_CNP && fate == FATE_DUPLICATE;
		return fate;
	}
	return number >= 1000000 - cable.mark_ppm ? FATE_MARK : FATE_PASS;
}

static int
setup(void **state)
{
	(void)state;
	pair_watch(&pair, watch, &cable, sizeof(cable));
	prng_seed(&cable.r, 1, 0);
	pair.params[0].local_ack_timeout = 4;
	solo_init(&solo);
	return 0;
}

/* Going back drops a message that has begun and of which nothing was sent. */
TEST(going_back_does_not_delay_an_open_loop)
{
	struct nic_qp_params qp = nic_test_qp(0);

	cable.mishap_ppm = 30000;
	qp.arrival = WORKLOAD_PERIODIC;
	qp.message_bytes = 1000;
	qp.load_bps = 2 * GBPS;
	qp.rate_cap_bps = 3 * GBPS;
	qp.messages = 2000;
	pair.params[0].local_ack_timeout = 2;
	pair.params[0].measure_times = NIC_MEASURE_ON;
	pair_play(&pair, 512, &qp);
	assert_int_equal(pair_info(&pair, 0, 0).tx_messages, 2000);
	assert_true(nic_stats(pair.nic[0])->retransmitted_packets > 100);
	/* The last one arrives 1999 periods after the start. */
	assert_in_range(pair.now_ns, 1999 * 4000, 1999 * 4000 + 40 * NS_PER_US);
	assert_true(pair_info(&pair, 0, 0).completion_max_ns < 70 * NS_PER_US);
	pair_destroy(&pair);
}

static void
ask_read(uint32_t psn)
{
	solo_feed(&solo,
		  (struct roce_fields){.opcode = RC_READ_REQUEST, .psn = psn, .reth_dma_bytes = 8},
		  0);
}

/* A requester whose timer is shorter than the way asks again, and then all comes after all. */
TEST(reads_asked_again_too_early_make_room_for_the_next)
{
	struct nic_qp_params qp = nic_test_qp(0);
	struct roce_view v;

	solo.params.max_rd_atomic = 2;
	qp.verb = NIC_READ;
	qp.requester = false;
	solo_start(&solo, &qp);
	ask_read(0);
	ask_read(1);
	assert_true(solo_take(&solo, 10000, &v) && solo_take(&solo, 10000, &v));
	ask_read(0);
	ask_read(1);
	ask_read(2); /* 0 has come */
	ask_read(3); /* and 1 */
	for (uint32_t psn = 2; psn < 4; psn++) {
		assert_true(solo_take(&solo, 10000, &v));
		assert_int_equal(v.opcode, RC_READ_RESP_ONLY);
		assert_int_equal(v.psn, psn);
	}
	/* Nothing says so of those that were not answered yet. */
	ask_read(4);
	ask_read(5);
	ask_read(6);
	for (uint32_t psn = 4; psn < 6; psn++) {
		assert_true(solo_take(&solo, 20000, &v));
		assert_int_equal(v.psn, psn);
	}
	expect_answer(&solo, AETH_NAK_INVALID_REQUEST, 6, 6);
	solo_destroy(&solo);
}

TEST(queue_of_a_qp_in_error_does_not_hold_another_queue)
{
	struct nic_qp_params qp = nic_test_qp(0);
	struct roce_view v;

	solo_create(&solo, 64);
	qp.raw = false;
	assert_true(nic_add_qp(solo.nic, &qp, 0) > 0);
	qp.has_dscp = true;
	qp.dscp = 0;
	qp.peer_qpn++;
	assert_true(nic_add_qp(solo.nic, &qp, 0) > 0);
	do
		assert_true(solo_take(&solo, 10000, &v));
	while (v.dest_qp != PAIR_QPN);
	solo_feed(&solo,
		  (struct roce_fields){
			  .opcode = RC_ACK, .psn = 0, .aeth_syndrome = AETH_NAK_INVALID_REQUEST},
		  0);
	/* solo_take() wants a frame, or a reason to wait, from each call. */
	for (unsigned int i = 0; i < 4; i++) {
		assert_true(solo_take(&solo, 10000, &v));
		assert_int_equal(v.dest_qp, PAIR_QPN + 1);
	}
	solo_destroy(&solo);
}

TEST(raw_qp_sends_nothing_again_whatever_it_hears)
{
	struct nic_qp_params qp = nic_test_qp(0);
	struct nic_qp_info info;
	struct roce_view v;

	solo_create(&solo, 64);
	qp.raw = true;
	qp.messages = 10;
	nic_add_qp(solo.nic, &qp, 0);
	for (uint32_t psn = 0; psn < 30; psn++) {
		assert_true(solo_take(&solo, NS_PER_MS, &v));
		assert_int_equal(v.psn, psn);
		solo_feed(&solo,
			  (struct roce_fields){.opcode = RC_ACK,
					       .psn = psn,
					       .aeth_syndrome = psn % 2 ? AETH_NAK_PSN_SEQ
									: AETH_RNR_NAK | 1},
			  0);
	}
	nic_qp_info(solo.nic, 0, &info);
	assert_true(info.done);
	assert_int_equal(info.retransmitted_packets, 0);
	assert_int_equal(nic_stats(solo.nic)->drops[NIC_DROP_UNEXPECTED_ACK], 30);
	solo_destroy(&solo);
}

TEST(empty_send_is_no_runt_and_spoils_no_payload)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.verb = NIC_SEND;
	qp.message_bytes = 0;
	qp.messages = 10;
	/* One mbuf: the next frame's payload lies where the zeros were. */
	pair_create(&pair, 1);
	pair_connect(&pair, &qp);
	qp.flow_id = 1;
	qp.message_bytes = 1024;
	pair_connect(&pair, &qp);
	pair_run(&pair, NEVER_NS);
	assert_int_equal(pair_info(&pair, 1, 0).rx_messages, 10);
	assert_int_equal(pair_info(&pair, 1, 0).rx_wire_bytes, 10 * 84);
	assert_int_equal(pair_info(&pair, 1, 1).rx_messages, 10);
	pair_destroy(&pair);
}

/* ---- any of it at once ---- */

/* A life that begins late: at a time, and with what a QP counts near the end of its 32 bits. */
static struct {
	uint64_t start_ns;
	bool near_end_of_counts;
} age;

#define OLD_COUNT ((1ull << 32) - 3)
#define OLD_MESSAGES ((1ull << 32) - 16) /* of which the same ones are timed */

/* What a life was: every frame with its time, counted from the start, and what was counted. */
static uint64_t digest;

static void
mix_in(const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		digest = (digest ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3ull;
}

/* What was connected: requesters are at host from. */
static struct {
	struct nic_qp_params qp;
	unsigned int from;
} qps[QPS_MAX];
static uint32_t n_qps;

static void
any_params(struct nic_params *p)
{
	static const uint32_t windows[] = {1, 3, 64, 4096};

	p->local_ack_timeout = (uint8_t)any(&cable.r, 3, 6);
	p->retry_cnt = chance(&cable.r, 20) ? 2 : 7;
	p->rnr_retry = chance(&cable.r, 20) ? 2 : 7;
	p->min_rnr_timer = (uint8_t)any(&cable.r, 1, 4);
	p->max_rd_atomic = (uint8_t)any(&cable.r, 1, 8);
	p->ack_every = (uint16_t)any(&cable.r, 1, 20);
	p->window_packets = windows[any(&cable.r, 0, 3)];
	/* The cable knows no INT headers. */
	do {
		p->cc = (int)any(&cable.r, CC_NONE, CC_ALGORITHMS - 1);
	} while (cc_algorithms[p->cc]->hears_hops);
	if (!cc_algorithms[p->cc]->has_window && chance(&cable.r, 30))
		p->rate_window_bytes = (uint32_t)any(&cable.r, 1, 40000);
	if (cc_algorithms[p->cc]->has_window || p->rate_window_bytes > 0)
		p->ack_every = 1;
	p->measure_times = chance(&cable.r, 50) ? NIC_MEASURE_ON : NIC_MEASURE_OFF;
	p->measure_pacing = chance(&cable.r, 50);
	p->flow_control = chance(&cable.r, 70) ? NIC_FLOW_PFC : NIC_FLOW_PAUSE;
	p->shaper_burst_ns = chance(&cable.r, 50) ? 1 : 2000;
	p->np.np_min_time_between_cnps_us = (uint32_t)any(&cable.r, 0, 1) * 4;
	p->np.np_cnp_moderation = (int)any(&cable.r, NP_PER_QP, NP_PER_PORT);
	p->np.np_cnp_delay_ns = chance(&cable.r, 30) ? 3000 : 0;
	p->np.np_min_port_cnp_interval_ns = chance(&cable.r, 30) ? 500 : 0;
	if (chance(&cable.r, 40)) {
		p->receiver.drain_rate_bps = any(&cable.r, 2, 20) * GBPS;
		p->receiver.buffer_bytes = 65536;
		p->receiver.xoff_bytes = 20000;
		p->receiver.xon_bytes = 10000;
	}
}

static struct nic_qp_params
any_qp(unsigned int from, uint32_t flow)
{
	struct nic_qp_params qp = nic_test_qp(0);
	const struct nic_params *p = &pair.params[0];
	const struct nic_params *q = &pair.params[1];

	memcpy(qp.peer_mac, pair.params[1 - from].mac, 6);
	qp.peer_ip = pair.params[1 - from].ip;
	qp.flow_id = flow;
	qp.initial_psn =
		chance(&cable.r, 50) ? PSN_MASK - 20 : (uint32_t)any(&cable.r, 0, PSN_MASK);
	qp.verb = (int)any(&cable.r, NIC_WRITE, NIC_UD_SEND);
	qp.raw = qp.verb != NIC_READ && chance(&cable.r, 10);
	qp.mtu_bytes = (uint16_t)(256u << any(&cable.r, 0, 2));
	qp.message_bytes = qp.verb == NIC_UD_SEND ? qp.mtu_bytes : any(&cable.r, 1, 6000);
	qp.message_size = chance(&cable.r, 50) ? WORKLOAD_UNIFORM : WORKLOAD_FIXED;
	qp.arrival = (int)any(&cable.r, WORKLOAD_CLOSED, WORKLOAD_INCAST);
	qp.start_ns = age.start_ns;
	if (qp.arrival == WORKLOAD_CLOSED && chance(&cable.r, 20))
		qp.start_ns += 50000;
	qp.load_bps = workload_is_open(&qp.work) ? any(&cable.r, 1, 20) * GBPS : 0;
	qp.on_ns = qp.arrival == WORKLOAD_ON_OFF ? 20000 : 0;
	qp.off_ns = qp.arrival == WORKLOAD_ON_OFF ? 30000 : 0;
	qp.depth = (uint32_t)any(&cable.r, 1,
				 p->max_rd_atomic < q->max_rd_atomic ? p->max_rd_atomic
								     : q->max_rd_atomic);
	qp.messages = any(&cable.r, 1, 60);
	if (chance(&cable.r, 20))
		qp.bytes = 50000;
	if (chance(&cable.r, 20))
		qp.stop_ns = age.start_ns + 100 * NS_PER_US;
	if (chance(&cable.r, 30)) {
		qp.max_recv_wr = (uint32_t)any(&cable.r, 1, 3);
		qp.post_recv_ns = any(&cable.r, 500, 5000);
	}
	qp.rate_cap_bps = chance(&cable.r, 30) ? any(&cable.r, 1, 10) * GBPS : 0;
	qp.has_dscp = chance(&cable.r, 30);
	return qp;
}

/*
 * Let both ends be where they would be after nearly 2^32 packets: on the wire nothing is otherwise.
 * The first PSN was another one, which the packets to come pass.
 */
static void
make_old(struct node *node, uint32_t item, uint32_t psn, uint8_t wraps)
{
	struct nic *nic = nic_of(node);
	struct nic_qp *qp = &nic->qps[item];
	uint32_t later = UINT32_MAX - PSN_MASK + psn - qp->next_seq;

	qp->next_seq += later;
	qp->acked_seq += later;
	qp->acked_end += later;
	qp->limit_seq += later;
	qp->rx_seq += ((uint64_t)wraps << 32) + later;
	qp->sent_wraps = wraps;
}

/* Counts next to each other: each of them has counted this much before. */
static void
make_old_words(void *counts, size_t bytes, uint64_t before)
{
	uint64_t *words = counts;

	for (size_t i = 0; i < bytes / sizeof(*words); i++)
		words[i] += before;
}

/*
 * Whole structs, so that a count that is added is here too. rx_messages is on the wire, modulo
 * 2^24: msn_begins_again_after_2_24_messages().
 */
static void
make_counts_old(struct node *node, uint32_t item)
{
	struct nic *nic = nic_of(node);
	struct nic_qp *qp = &nic->qps[item];
	struct qp_tally *tally = &nic->tallies[item];
	struct nic_measure *m = nic->measure;

	qp->retransmitted_packets = OLD_COUNT;
	make_old_words(&tally->rx_payload_bytes,
		       offsetof(struct qp_tally, min_rate_bps) -
			       offsetof(struct qp_tally, rx_payload_bytes),
		       OLD_COUNT);
	if (m->times != NULL) {
		make_old_words(&m->answers[item], sizeof(m->answers[item]), OLD_COUNT);
		/* These are times: the samples before were longer than any, and shorter. */
		m->answers[item].rtt_min_ns = UINT64_MAX;
		m->answers[item].rtt_max_ns = 0;
		m->times[item].completions = m->times[item].sum_ns = OLD_COUNT;
	}
	if (!nic_serves_reads(nic, qp))
		return;
	nic->reads[item].tx_messages = nic->reads[item].tx_payload_bytes = OLD_COUNT;
	nic->reads[item].received = OLD_COUNT;
	qp->next_msg = (uint32_t)OLD_COUNT;
}

/* What the NIC counts, and its rings, which are in the same places one round before 2^32. */
static void
make_nics_old(void)
{
	for (unsigned int h = 0; h < 2; h++) {
		struct nic *nic = nic_of(pair.nic[h]);

		make_old_words(&nic->stats, sizeof(nic->stats), OLD_COUNT);
		for (unsigned int i = 0; i < TM_CLASSES; i++) {
			struct qp_ring *ring = &nic->ready.ring[i];

			if (ring->items == NULL)
				continue;
			ring->head += ~ring->mask;
			ring->tail += ~ring->mask;
		}
	}
}

/* Messages that a QP had acknowledged before. Of several sizes, or of a clock's, each would be
 * another one than that of a young QP; so is what a WRITE tells with its data. */
static uint64_t
old_messages(const struct nic_qp_params *qp)
{
	return age.near_end_of_counts && qp->arrival == WORKLOAD_CLOSED &&
			       qp->message_size == WORKLOAD_FIXED && qp->bytes == 0 &&
			       qp->verb != NIC_WRITE_IMM && qp->verb != NIC_SEND_IMM
		       ? OLD_MESSAGES
		       : 0;
}

/* What a QP has done in this life. */
static struct nic_qp_info
info_of(unsigned int host, uint32_t i)
{
	struct nic_qp_info info = pair_info(&pair, host, i);
	uint64_t before = host == qps[i].from ? old_messages(&qps[i].qp) : 0;

	if (!age.near_end_of_counts)
		return info;
	info.retransmitted_packets -= OLD_COUNT;
	info.rx_payload_bytes -= OLD_COUNT;
	info.rx_wire_bytes -= OLD_COUNT;
	info.cnps_handled -= OLD_COUNT;
	info.cnps_sent -= OLD_COUNT;
	info.rate_cuts -= OLD_COUNT;
	if (nic_of(pair.nic[host])->measure->times != NULL) {
		make_old_words(&info.ce_packets,
			       offsetof(struct nic_qp_info, completion_max_ns) -
				       offsetof(struct nic_qp_info, ce_packets),
			       -OLD_COUNT);
		info.rtt_min_ns = info.rtt_samples > 0 ? info.rtt_min_ns + OLD_COUNT : 0;
		info.rtt_max_ns += OLD_COUNT;
	}
	if (host != qps[i].from && qps[i].qp.verb == NIC_READ) {
		info.tx_messages -= OLD_COUNT;
		info.tx_payload_bytes -= OLD_COUNT;
	}
	info.tx_messages -= before;
	info.tx_payload_bytes -= before * qps[i].qp.message_bytes;
	return info;
}

/* Both ends of a QP. */
static void
add_ends(unsigned int from, struct nic_qp_params a, struct nic_qp_params b)
{
	uint32_t psn = a.initial_psn;
	uint64_t before = old_messages(&a);
	struct nic_qp *qp;

	if (age.near_end_of_counts)
		a.initial_psn = b.initial_psn = (psn + 30) & PSN_MASK;
	a.messages += before;
	assert_true(nic_add_qp(pair.nic[from], &a, age.start_ns) > 0);
	assert_true(nic_add_qp(pair.nic[1 - from], &b, age.start_ns) > 0);
	if (!age.near_end_of_counts)
		return;
	make_old(pair.nic[from], n_qps, psn, 1);
	make_old(pair.nic[1 - from], n_qps, psn, 1);
	make_counts_old(pair.nic[from], n_qps);
	make_counts_old(pair.nic[1 - from], n_qps);
	qp = &nic_of(pair.nic[from])->qps[n_qps];
	qp->acked_msg += before;
	qp->next_msg += (uint32_t)before;
}

static void
connect_any(void)
{
	n_qps = 0;
	for (uint32_t flow = 0; flow < 4; flow++) {
		unsigned int from = (unsigned int)any(&cable.r, 0, 1);
		struct nic_qp_params a = any_qp(from, flow), b = a;

		b.requester = false;
		memcpy(b.peer_mac, pair.params[from].mac, 6);
		b.peer_ip = pair.params[from].ip;
		for (uint64_t i = any(&cable.r, 1, 3); i > 0; i--) {
			a.peer_qpn = b.peer_qpn = PAIR_QPN + n_qps;
			add_ends(from, a, b);
			qps[n_qps].qp = a;
			qps[n_qps++].from = from;
		}
	}
}

/* The way of a frame: pause frames are not RoCE. */
static void
carry(unsigned int from, struct rte_mbuf *m)
{
	const uint8_t *eth = rte_pktmbuf_mtod(m, const uint8_t *);
	uint64_t at_ns = pair.now_ns - age.start_ns;

	mix_in(&from, sizeof(from));
	mix_in(&at_ns, sizeof(at_ns));
	mix_in(eth, m->data_len);
	if (eth[12] == 0x88 && eth[13] == 0x08)
		cable_push(&pair.cable[from], m, pair.now_ns + PAIR_DELAY_NS + 100);
	else
		pair_carry(&pair, from, m);
}

static void
step(void)
{
	struct rte_mbuf *pkts[8];

	for (unsigned int h = 0; h < 2; h++) {
		struct cable *c = &pair.cable[h];
		struct node *to = pair.nic[1 - h];

		while (c->head != c->tail &&
		       c->ring[c->head % PAIR_IN_FLIGHT].due_ns <= pair.now_ns) {
			uint16_t n = 0;

			while (n < 8 && c->head != c->tail &&
			       c->ring[c->head % PAIR_IN_FLIGHT].due_ns <= pair.now_ns)
				pkts[n++] = c->ring[c->head++ % PAIR_IN_FLIGHT].m;
			to->ops->rx(to, 0, pkts, n, pair.now_ns);
		}
	}
	for (unsigned int h = 0; h < 2; h++) {
		struct node *nic = pair.nic[h];

		while (nic->ops->next_ns(nic, 0) <= pair.now_ns) {
			uint16_t n = nic->ops->tx(nic, 0, pkts, (uint16_t)any(&cable.r, 1, 8),
						  pair.now_ns);

			if (n == 0)
				assert_true(nic->ops->next_ns(nic, 0) > pair.now_ns);
			for (uint16_t i = 0; i < n; i++)
				carry(h, pkts[i]);
		}
	}
}

static void
pause_any(void)
{
	unsigned int h = (unsigned int)any(&cable.r, 0, 1);
	uint16_t quanta = chance(&cable.r, 30) ? 0 : (uint16_t)any(&cable.r, 1, 3000);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pair.pools.control);
	bool pfc = pair.params[h].flow_control == NIC_FLOW_PFC;

	if (m == NULL)
		return;
	nic_test_pause(m, pair.params[1 - h].mac, quanta,
		       pfc ? (int)any(&cable.r, 0, 255) : NIC_TEST_LINK_PAUSE);
	nic_test_rx(pair.nic[h], &m, pair.now_ns);
}

/* Until nothing happens any more. */
static void
run(uint32_t pause_pct)
{
	uint64_t next_ns;

	while ((next_ns = pair_next_ns(&pair)) != NEVER_NS) {
		pair.now_ns = next_ns > pair.now_ns ? next_ns : pair.now_ns;
		if (pair.now_ns - age.start_ns > 10 * NS_PER_SEC) {
			for (uint32_t i = 0; i < n_qps; i++) {
				struct nic_qp_info a = pair_info(&pair, qps[i].from, i),
						   b = pair_info(&pair, 1 - qps[i].from, i);
				print_message("qp %u from %u verb %d raw %d arr %d size %d msgs %u "
					      "recv_wr %u psn %x done %d err %d tx %u pk %u rt %u "
					      "rate %u stop %ju bytes %ju| rx %u rate %u\n",
					      i, qps[i].from, qps[i].qp.verb, qps[i].qp.raw,
					      qps[i].qp.arrival, qps[i].qp.message_size,
					      (unsigned)qps[i].qp.messages, qps[i].qp.max_recv_wr,
					      qps[i].qp.initial_psn, a.done, a.error,
					      (unsigned)a.tx_messages, (unsigned)a.tx_packets,
					      (unsigned)a.retransmitted_packets,
					      (unsigned)(a.rate_bps / 1000), qps[i].qp.stop_ns,
					      qps[i].qp.bytes, (unsigned)b.rx_messages,
					      (unsigned)(b.rate_bps / 1000));
			}
			for (unsigned int h = 0; h < 2; h++) {
				const struct nic_params *p = &pair.params[h];
				const struct nic_stats *s = nic_stats(pair.nic[h]);
				print_message("host %u cc %d fc %d slow %ju ack_every %u win %u "
					      "retry %u rnr %u npi %u no_mbuf %ju timeouts %ju "
					      "rnrs %ju next %ju now %ju pausetx %ju\n",
					      h, p->cc, p->flow_control, p->receiver.drain_rate_bps,
					      p->ack_every, p->window_packets, p->retry_cnt,
					      p->rnr_retry, p->np.np_min_time_between_cnps_us,
					      s->no_mbuf, s->local_ack_timeout_err,
					      s->rnr_naks_received,
					      pair.nic[h]->ops->next_ns(pair.nic[h], 0),
					      pair.now_ns, s->tx_pause_frames);
				for (int d = 0; d < NIC_DROPS; d++)
					if (s->drops[d])
						print_message("  drop %s %ju\n", nic_drop_name(d),
							      s->drops[d]);
			}
			fail_msg("still busy after 10 s");
		}
		step();
		if (pair.now_ns - age.start_ns < 300 * NS_PER_US &&
		    prng_below(&cable.r, 1000) < pause_pct)
			pause_any();
	}
}

static uint64_t
payload_sum(const struct nic_qp_params *qp, uint32_t qpn, uint64_t messages)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < messages; i++)
		sum += workload_message_bytes(&qp->work, qpn, i);
	return sum;
}

/* @return 1 if it is in error. */
static uint64_t
expect_end_of(uint32_t i)
{
	const struct nic_qp_params *qp = &qps[i].qp;
	struct nic_qp_info a = info_of(qps[i].from, i);
	struct nic_qp_info b = info_of(1 - qps[i].from, i);
	const struct nic_qp_info *to = qp->verb == NIC_READ ? &a : &b;
	bool unreliable = qp->raw || qp->verb == NIC_UD_SEND;
	uint64_t bytes = payload_sum(qp, PAIR_QPN + i, a.tx_messages);

	assert_true(a.done != a.error);
	assert_true(a.tx_messages <= qp->messages);
	assert_int_equal(a.tx_payload_bytes, bytes);
	if (a.done && qp->stop_ns == NEVER_NS && qp->bytes == 0)
		assert_int_equal(a.tx_messages, qp->messages);
	if (a.done && qp->stop_ns == NEVER_NS && qp->bytes > 0 && a.tx_messages < qp->messages)
		assert_true(bytes >= qp->bytes);
	if (qp->bytes > 0 && a.tx_messages > 0)
		assert_true(payload_sum(qp, PAIR_QPN + i, a.tx_messages - 1) < qp->bytes);
	if (unreliable) {
		assert_false(a.error);
		assert_int_equal(a.retransmitted_packets, 0);
		return 0;
	}
	/* In order and once. */
	if (a.done) {
		assert_int_equal(to->rx_messages, a.tx_messages);
		assert_int_equal(to->rx_payload_bytes, bytes);
	} else {
		assert_true(to->rx_messages >= a.tx_messages);
	}
	return a.error;
}

static void
expect_end(void)
{
	uint64_t errors = 0, sent = 0, heard = 0;

	for (uint32_t i = 0; i < n_qps; i++)
		errors += expect_end_of(i);
	for (unsigned int h = 0; h < 2; h++) {
		const struct nic_stats *s = nic_stats(pair.nic[h]);

		assert_true(nic_done(pair.nic[h]));
		errors -= s->qp_errors;
		sent += s->np.np_cnp_sent;
		heard += s->rp.rp_cnp_handled + s->rp.rp_cnp_ignored +
			 s->drops[NIC_DROP_NO_BUFFER] * UINT32_MAX;
		assert_true(s->np.np_cnp_sent <= s->np.np_ecn_marked_roce_packets);
		assert_int_equal(s->drops[NIC_DROP_BAD_ICRC] + s->drops[NIC_DROP_MALFORMED] +
					 s->drops[NIC_DROP_UNKNOWN_QP] +
					 s->drops[NIC_DROP_WRONG_PEER] +
					 s->drops[NIC_DROP_BAD_ROCE],
				 0);
	}
	assert_int_equal(errors, 0);
	/* Unless the slow receiver's buffer took some: it holds xoff and a window beyond. */
	if (heard < UINT32_MAX)
		assert_int_equal(heard + cable.cnps_lost, sent + cable.cnps_doubled);
}

/* But for numbers of packets since the first PSN, which is another one in an old QP. */
static void
mix_in_counts(void)
{
	for (unsigned int h = 0; h < 2; h++) {
		mix_in(nic_stats(pair.nic[h]), sizeof(struct nic_stats));
		for (uint32_t i = 0; i < n_qps; i++) {
			struct nic_qp_info info = info_of(h, i);

			info.tx_packets = info.rx_packets = 0;
			mix_in(&info, offsetof(struct nic_qp_info, error));
		}
	}
}

static void
run_seed(uint64_t seed)
{
	setup(NULL);
	digest = 0xcbf29ce484222325ull;
	pair.now_ns = age.start_ns;
	prng_seed(&cable.r, seed, 0);
	any_params(&pair.params[0]);
	any_params(&pair.params[1]);
	cable.mishap_ppm = chance(&cable.r, 60) ? (uint32_t)any(&cable.r, 1, 20000) : 1;
	cable.mark_ppm = chance(&cable.r, 60) ? (uint32_t)any(&cable.r, 0, 100000) : 0;
	nic_test_pools(&pair.pools, (uint32_t)(chance(&cable.r, 30) ? any(&cable.r, 1, 8) : 512),
		       (uint32_t)(chance(&cable.r, 30) ? any(&cable.r, 8, 20) : 256));
	for (unsigned int h = 0; h < 2; h++) {
		pair.nic[h] = nic_create(&pair.params[h], &pair.pools);
		assert_non_null(pair.nic[h]);
	}
	connect_any();
	if (age.near_end_of_counts)
		make_nics_old();
	run((uint32_t)any(&cable.r, 0, 20));
	for (unsigned int h = 0; h < 2; h++) {
		rte_pktmbuf_free(pair.cable[h].overtaken);
		pair.cable[h].overtaken = NULL;
	}
	assert_int_equal(rte_mempool_in_use_count(pair.pools.data), 0);
	assert_int_equal(rte_mempool_in_use_count(pair.pools.control), 0);
	if (age.near_end_of_counts)
		for (unsigned int h = 0; h < 2; h++)
			make_old_words(&nic_of(pair.nic[h])->stats, sizeof(struct nic_stats),
				       -OLD_COUNT);
	expect_end();
	mix_in_counts();
	pair_destroy(&pair);
}

/* Dates at which something in 64 bits begins again, or might: 2^32 ns, milliseconds in 32 bits, a
 * year, the 55 bits of an FDB entry, 2^56 ns, and the last that a timing wheel takes. All are
 * multiples of what time is rounded to. */
static const uint64_t dates_ns[] = {
	(1ull << 32) - (1 << 19),    (1ull << 42) - (1 << 19), 31536000ull * NS_PER_SEC >> 20 << 20,
	(1ull << 55) - (1 << 19),    (1ull << 56) - (1 << 19), (1ull << 59) + (1ull << 40),
	(1ull << 63) - (1ull << 35),
};

/* An ACK that comes twice says nothing new, also when the packets since the first PSN were 2^32. */
TEST(late_ack_is_no_surprise_after_2_32_packets)
{
	struct nic_qp_params qp = nic_test_qp(0);
	struct nic_qp_info info;
	struct roce_view v;

	solo_create(&solo, 64);
	qp.initial_psn = 3;
	qp.messages = 4;
	assert_int_equal(nic_add_qp(solo.nic, &qp, 0), PAIR_QPN);
	make_old(solo.nic, 0, PSN_MASK - 1, UINT8_MAX);
	for (uint32_t i = 0; i < 6; i++) {
		assert_true(solo_take(&solo, NS_PER_MS, &v));
		assert_int_equal(v.psn, (PSN_MASK - 1 + i) & PSN_MASK);
	}
	/* PSN 3 is the sixth, and the second message's last. */
	solo_feed(&solo, (struct roce_fields){.opcode = RC_ACK, .psn = 3}, 0);
	solo_feed(&solo, (struct roce_fields){.opcode = RC_ACK, .psn = 0}, 0);
	assert_int_equal(nic_stats(solo.nic)->drops[NIC_DROP_UNEXPECTED_ACK], 0);
	assert_int_equal(nic_stats(solo.nic)->acks_received, 2);
	nic_qp_info(solo.nic, 0, &info);
	assert_true(info.tx_packets == (1ull << 40) + 4 - 3);
	solo_destroy(&solo);
}

/* 24 bits on the wire, of 64 here. */
TEST(msn_begins_again_after_2_24_messages)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.requester = false;
	solo_start(&solo, &qp);
	nic_of(solo.nic)->tallies[0].rx_messages = (1 << 24) - 2;
	for (uint32_t psn = 0; psn < 4; psn++) {
		struct roce_view v;

		solo_feed(&solo,
			  (struct roce_fields){.opcode = RC_SEND_ONLY, .psn = psn, .ack_req = true},
			  0);
		assert_true(solo_take(&solo, 10000, &v));
		assert_int_equal(v.aeth_msn, ((1 << 24) - 1 + psn) & PSN_MASK);
	}
	assert_int_equal(pair_info(&(struct pair){.nic = {solo.nic}}, 0, 0).rx_messages,
			 (1 << 24) + 2);
	solo_destroy(&solo);
}

/* After 2^52 messages their number begins again; the packets go on. */
TEST(messages_go_on_past_2_52)
{
	for (int verb = NIC_WRITE; verb <= NIC_UD_SEND; verb++) {
		struct nic_qp_params qp = nic_test_qp(0);
		struct nic_qp *old;

		setup(NULL);
		cable.mishap_ppm = 3000;
		qp.verb = verb;
		qp.messages = 0;
		qp.mtu_bytes = 256;
		qp.message_bytes = verb == NIC_UD_SEND ? 256 : 1000;
		qp.stop_ns = NS_PER_MS;
		pair.params[0].local_ack_timeout = 2;
		pair.params[0].measure_times = NIC_MEASURE_ON;
		pair_create(&pair, 512);
		pair_connect(&pair, &qp);
		old = &nic_of(pair.nic[0])->qps[0];
		old->acked_msg = (1ull << 52) - 100;
		old->next_msg = (uint32_t)old->acked_msg;
		pair_run(&pair, NEVER_NS);
		assert_true(pair_info(&pair, 0, 0).done);
		assert_in_range(pair_info(&pair, 0, 0).tx_messages, 100, 1000000);
		if (verb != NIC_UD_SEND)
			assert_int_equal(verb == NIC_READ ? pair_info(&pair, 0, 0).rx_messages
							  : pair_info(&pair, 1, 0).rx_messages,
					 pair_info(&pair, 0, 0).tx_messages + 100);
		pair_destroy(&pair);
	}
}

TEST(a_life_that_begins_late_is_the_same)
{
	const char *n = getenv("QUENCH_NIC_SEEDS"), *first = getenv("QUENCH_NIC_SEED");
	uint64_t seed = first != NULL ? strtoull(first, NULL, 10) : 1001;

	/* What differs late are numbers, which no sanitizer judges. */
	for (uint64_t end = seed + (n != NULL   ? strtoull(n, NULL, 10)
				    : SANITIZED ? 2
						: 12);
	     seed < end; seed++) {
		uint64_t young;

		/* At 0 a NIC is asked once more for nothing, which draws a number. */
		age.start_ns = 1ull << 30;
		age.near_end_of_counts = false;
		run_seed(seed);
		young = digest;
		for (unsigned int i = 0; i < ARRAY_LEN(dates_ns); i++) {
			age.start_ns = dates_ns[i];
			run_seed(seed);
			if (digest != young)
				fail_msg("seed %ju: not the same from %ju ns on", (uintmax_t)seed,
					 (uintmax_t)dates_ns[i]);
		}
		age.start_ns = 1ull << 30;
		age.near_end_of_counts = true;
		run_seed(seed);
		if (digest != young)
			fail_msg("seed %ju: not the same after 2^32 of all that it counts",
				 (uintmax_t)seed);
	}
	memset(&age, 0, sizeof(age));
}

/* QUENCH_NIC_SEEDS: so many, from QUENCH_NIC_SEED on. */
TEST(anything_at_once_ends_with_everything_accounted_for)
{
	const char *n = getenv("QUENCH_NIC_SEEDS"), *first = getenv("QUENCH_NIC_SEED");
	uint64_t seed = first != NULL ? strtoull(first, NULL, 10) : 1;

	for (uint64_t end = seed + (n != NULL ? strtoull(n, NULL, 10) : 30); seed < end; seed++) {
		if (n != NULL)
			print_message("seed %ju\n", (uintmax_t)seed);
		run_seed(seed);
	}
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
