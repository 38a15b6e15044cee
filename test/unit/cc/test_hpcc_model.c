/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HPCC beside a model of algorithm 1 of Li et al., SIGCOMM 2019, whose hops count without wrapping.
 * Choices of ours: U begins at 1, rates and windows have a floor and the port as their ceiling,
 * hops without a slot count as full, and nothing is compared over a silence in which a counter of
 * 32 bits may have wrapped by half.
 */
#include "unit/cc/differential.h"

static struct {
	double base_rtt, eta, w_ai, least;
	unsigned int max_stage;
	double window, reference, u;
	double u_error; /* of roundings to parts of 2^32 */
	unsigned int stage;
	bool in_doubt; /* stage may be another */
	uint32_t last_update_seq;
	/* the link state L: of the last ACK with hops */
	unsigned int n_hops;
	uint16_t path_id;
	double queue[CC_MAX_HOPS], sent[CC_MAX_HOPS], heard_ns;
} h;

static void
draw(struct differential *d)
{
	h.base_rtt = diff_draw(d, "hpcc_base_rtt_ns", 500, NS_PER_MS);
	h.eta = diff_draw(d, "hpcc_eta_ppm", 500000, 1000000) / 1e6;
	h.max_stage = (unsigned int)diff_draw(d, "hpcc_max_stage", 0, 255);
	h.w_ai = diff_draw(d, "hpcc_w_ai_bytes", 0, 5000);
	h.least = diff_draw(d, "hpcc_min_rate_bps", 1, GBPS);
}

static double
clamped(double window)
{
	double most = fmax(1, floor((double)LINE_BPS * h.base_rtt / 8e9));
	double least = fmax(1, floor(h.least * h.base_rtt / 8e9));

	return fmin(fmax(window, least), most);
}

/* The rate is that of the window; a window of few bytes is one of a rate below the floor. */
static void
check_rate(const struct differential *d)
{
	double rate = fmin(fmax(h.window * 8e9 / h.base_rtt, h.least), (double)LINE_BPS);

	diff_expect(d, "rate", (double)d->bed.cc.head.rate_bps, rate - 1, rate + 1);
}

static void
start(struct differential *d)
{
	double start = clamped(fmax((double)d->start_bps, h.least) * h.base_rtt / 8e9);

	h.window = d->bed.cc.head.window_bytes;
	diff_expect(d, "start window", h.window, start - 1, start);
	h.reference = h.window;
	h.u = 1;
	h.u_error = 0;
	h.stage = 0;
	h.in_doubt = false;
	h.n_hops = 0;
	check_rate(d);
}

/* MeasureInflight(). */
static void
measure(const struct differential *d, const struct cc_ack *a)
{
	double most = 0, tau = 0, ns = (double)d->now_ns - h.heard_ns;

	for (unsigned int i = 0; i < a->n_hops && ns > 0; i++) {
		double rate = (double)a->hops[i].rate_bps / 8e9;
		double tx_rate = (d->sent_bytes[i] - h.sent[i]) / ns;
		double queue = fmin(a->hops[i].queue_bytes, h.queue[i]);

		most = fmax(most, queue / (rate * h.base_rtt) + tx_rate / rate);
		tau = fmin(ns, h.base_rtt);
	}
	most = fmin(most, 1 << 20);
	if (a->is_full)
		most = fmax(most, 1);
	h.u_error = (1 - tau / h.base_rtt) * h.u_error + 1e-9 * (1 + fmax(h.u, most));
	h.u = (1 - tau / h.base_rtt) * h.u + tau / h.base_rtt * most;
}

static double
computed(double u, bool additive)
{
	return clamped((additive ? h.reference : h.reference * h.eta / fmax(u, 1e-12)) + h.w_ai);
}

/* ComputeWind() */
static void
compute(struct differential *d, bool update)
{
	double slack = h.u_error, is = d->bed.cc.head.window_bytes;
	bool additive = h.u < h.eta && h.stage < h.max_stage;
	bool near = fabs(h.u - h.eta) < slack && h.max_stage > 0;

	if (near || (h.in_doubt && h.u < h.eta))
		additive = fabs(is - computed(h.u, true)) <= fabs(is - computed(h.u, false));
	if (additive)
		diff_expect(d, "window", is, computed(h.u, true) - 1, computed(h.u, true));
	else
		diff_expect(d, "window", is, computed(h.u + slack, false) * (1 - 1e-6) - 2,
			    computed(fmax(0, h.u - slack), false) * (1 + 1e-6) + 1);
	h.window = is;
	if (!update)
		return;
	if (near && fabs(computed(h.u, true) - computed(h.u, false)) < 3)
		h.in_doubt = true;
	else if (h.u >= h.eta)
		h.in_doubt = false;
	h.stage = additive ? h.stage + 1 : 0;
	h.reference = h.window;
}

/* May a counter have wrapped by half? In doubt, either is right: the model follows. */
static bool
is_silence(const struct cc_ack *a, double ns)
{
	for (unsigned int i = 0; i < a->n_hops; i++)
		if (ns >= 2147483648. || ns * (double)a->hops[i].rate_bps / 8e9 >= 2147483648.)
			return true;
	return false;
}

static void
ack(struct differential *d, const struct cc_ack *a, uint32_t did)
{
	bool same = a->n_hops == h.n_hops && a->path_id == h.path_id &&
		    !is_silence(a, (double)d->now_ns - h.heard_ns);
	bool update = (int32_t)(a->acked_seq - h.last_update_seq) > 0;

	assert_int_equal((did & CC_DID_INT) != 0, a->n_hops > 0);
	if (a->n_hops == 0 || !same) {
		diff_expect(d, "window", d->bed.cc.head.window_bytes, h.window, h.window);
	} else {
		measure(d, a);
		compute(d, update);
	}
	check_rate(d);
	if (a->n_hops == 0)
		return;
	if (!same || update)
		h.last_update_seq = a->next_seq;
	h.n_hops = a->n_hops;
	h.path_id = a->path_id;
	h.heard_ns = (double)d->now_ns;
	for (unsigned int i = 0; i < a->n_hops; i++) {
		h.queue[i] = a->hops[i].queue_bytes;
		h.sent[i] = d->sent_bytes[i];
	}
}

TEST(hpcc_does_what_its_paper_says)
{
	diff_run(&(struct diff_model){
		.algorithm = CC_HPCC, .draw = draw, .start = start, .ack = ack});
}

TEST_MAIN()
