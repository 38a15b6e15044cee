/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HPCC: the load of the most loaded link of the path, as its switches report it, sets a window.
 *
 * Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, section 3 and algorithm 1.
 * Each ACK echoes the queue, the bytes sent, the time and the rate of each hop (struct cc_hop). For
 * each hop u = min(queue now, queue before) / (B T) + bytes sent since / (B time since); U is the
 * moving average of the largest u, with weight tau / T of a sample over the time tau.
 *
 * While U >= eta, or after maxStage additive rounds, the window is W = Wc / (U / eta) + W_AI; else
 * W = Wc + W_AI. The reference window Wc follows W once in a round trip, that is when a packet sent
 * after the last change is acknowledged. So the ACKs of one round trip do not add up.
 * The rate is W / T.
 *
 * The first ACK of a path (Figure 7: another number of hops, or another path ID), or after a
 * silence in which the counters of a hop may have wrapped, only gives the numbers to compare with.
 *
 * A hop for which the header had no slot counts as fully used (u = 1): a flow that cannot see its
 * bottleneck yields to those that do, and its window falls to W_AI / (1 - eta).
 *
 * Invariant: hpcc_min_rate T <= W <= port's speed x T, and likewise the rate.
 */
#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/threads/counter.h"
#include "cc/algorithms/cc_ops.h"

#define PPM 1000000u
/* Bytes are bit/s x ns over this. */
#define BYTE_NS (8 * NS_PER_SEC)
#define HALF_WRAP (UINT64_C(1) << 31)
/* A load above 2^20 counts as this. */
#define MOST_U (Q32_ONE << 20)

struct hpcc_params {
	uint64_t hpcc_base_rtt_ns; /* T */
	uint64_t hpcc_min_rate_bps;
	uint32_t hpcc_eta_ppm;
	uint32_t hpcc_w_ai_bytes;
	uint8_t hpcc_max_stage;
};

struct hpcc_stats {
	uint64_t hpcc_samples;
	uint64_t hpcc_new_paths;
	uint64_t hpcc_missing;
	uint64_t hpcc_full;
	uint64_t hpcc_increases;
	uint64_t hpcc_cuts;
};

struct hpcc {
	struct cc_head head;
	uint32_t reference_bytes; /* Wc */
	uint32_t next_update_seq; /* lastUpdateSeq: Wc changes when this packet is acknowledged */
	struct cc_hop *hops;      /* of the last ACK */
	uint64_t u_q32;
	uint64_t heard_ns; /* when */
	uint16_t path_id;
	uint8_t n_hops;
	uint8_t stage; /* incStage */
};
CC_FITS(struct hpcc, struct hpcc_params, struct hpcc_stats);

const struct field hpcc_fields[] = {
	{FIELD_OF(struct hpcc_params, hpcc_base_rtt_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = 100, .max = NS_PER_SEC, .def = "10us", .live = true, .aliases = {{.name = "T"}},
	 .help = "T: longest round-trip time between two hosts of the idle network"},
	{FIELD_OF(struct hpcc_params, hpcc_eta_ppm), .type = FIELD_U32, .unit = UNIT_PPM,
	 .min = 10000, .max = 1000000, .def = "95%", .live = true,
	 .aliases = {{.name = "eta", .scale = 1000000}}, .help = "eta: target load of a link"},
	{FIELD_OF(struct hpcc_params, hpcc_max_stage), .type = FIELD_U8, .max = 255, .def = "5",
	 .live = true, .aliases = {{.name = "maxStage"}},
	 .help = "maxStage: additive rounds before the next multiplicative one"},
	{FIELD_OF(struct hpcc_params, hpcc_w_ai_bytes), .type = FIELD_U32, .unit = UNIT_BYTES,
	 .max = 1000000, .def = "80", .live = true, .aliases = {{.name = "W_AI"}},
	 .help = "W_AI: additive increase of the window. At most port's speed x T x (1 - eta) / N "
		 "for N flows on a link keeps its queue empty"},
	{FIELD_OF(struct hpcc_params, hpcc_min_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .min = 1, .max = 1600 * GBPS, .def = "10M", .live = true,
	 .help = "lowest rate that a cut can reach"},
};
const unsigned int hpcc_fields_n = ARRAY_LEN(hpcc_fields);

const struct counter_field hpcc_counters[] = {
	COUNTER_FIELD(struct hpcc_stats, hpcc_samples, "ACKs with in-band telemetry"),
	COUNTER_FIELD(struct hpcc_stats, hpcc_new_paths,
		      "ACKs that were the first of a path, or the first after a long silence"),
	COUNTER_FIELD(struct hpcc_stats, hpcc_missing, "ACKs without in-band telemetry"),
	COUNTER_FIELD(struct hpcc_stats, hpcc_full,
		      "ACKs of paths with more hops than int_slots: the others counted as full"),
	COUNTER_FIELD(struct hpcc_stats, hpcc_increases, "increases of the reference window"),
	COUNTER_FIELD(struct hpcc_stats, hpcc_cuts, "cuts of the reference window"),
};
const unsigned int hpcc_counters_n = ARRAY_LEN(hpcc_counters);

/* A window for a rate, and back. */
static uint64_t
window_of(uint64_t rate_bps, const struct hpcc_params *params)
{
	return max_u64(1, mul_div(rate_bps, params->hpcc_base_rtt_ns, BYTE_NS));
}

static void
set_window(struct hpcc *h, const struct cc_node *node, uint64_t window_bytes)
{
	const struct hpcc_params *params = node->params;
	uint64_t most = min_u64(window_of(node->max_rate_bps, params), UINT32_MAX);
	uint64_t least = min_u64(window_of(node->min_rate_bps, params), most);
	uint64_t rate_bps;

	h->head.window_bytes = (uint32_t)min_u64(max_u64(window_bytes, least), most);
	rate_bps = mul_div(h->head.window_bytes, BYTE_NS, params->hpcc_base_rtt_ns);
	h->head.rate_bps = min_u64(max_u64(rate_bps, node->min_rate_bps), node->max_rate_bps);
}

static void
start(struct cc *cc, const struct cc_node *node, const struct cc_begin *begin, uint64_t now_ns)
{
	struct hpcc *h = (struct hpcc *)cc;

	(void)now_ns;
	h->hops = begin->more;
	h->u_q32 = Q32_ONE;
	set_window(h, node, window_of(begin->rate_bps, node->params));
	h->reference_bytes = h->head.window_bytes;
}

/* Bytes as a share of what a link sends in a time. */
static uint64_t
load_q32(uint64_t bytes, uint64_t rate_bps, uint64_t ns)
{
	unsigned __int128 load = (unsigned __int128)bytes * BYTE_NS * Q32_ONE;

	load /= (unsigned __int128)rate_bps * ns;
	return load < MOST_U ? (uint64_t)load : MOST_U;
}

/* u of one hop, and the time that it covers. Times and bytes are modulo 2^32. */
static uint64_t
hop_u_q32(const struct cc_hop *before, const struct cc_hop *now, uint64_t base_rtt_ns,
	  uint32_t *tau_ns)
{
	uint64_t queue = min_u64(before->queue_bytes, now->queue_bytes);
	uint32_t sent = now->tx_bytes - before->tx_bytes;

	*tau_ns = now->time_ns - before->time_ns;
	if (*tau_ns == 0 || now->rate_bps == 0)
		return 0;
	return load_q32(queue, now->rate_bps, base_rtt_ns) + load_q32(sent, now->rate_bps, *tau_ns);
}

/* MeasureInflight() of algorithm 1. */
static void
measure(struct hpcc *h, const struct hpcc_params *params, const struct cc_ack *ack)
{
	uint64_t most_q32 = 0, tau_ns = 0, weight_q32;

	for (unsigned int i = 0; i < ack->n_hops; i++) {
		uint32_t hop_ns;
		uint64_t u_q32 =
			hop_u_q32(&h->hops[i], &ack->hops[i], params->hpcc_base_rtt_ns, &hop_ns);

		if (hop_ns > 0 && u_q32 >= most_q32) {
			most_q32 = u_q32;
			tau_ns = hop_ns;
		}
	}
	if (ack->is_full)
		most_q32 = max_u64(most_q32, Q32_ONE);
	tau_ns = min_u64(tau_ns, params->hpcc_base_rtt_ns);
	weight_q32 = mul_div(tau_ns, Q32_ONE, params->hpcc_base_rtt_ns);
	h->u_q32 = mul_q32(h->u_q32, Q32_ONE - weight_q32) + mul_q32(most_q32, weight_q32);
}

/* ComputeWind() of algorithm 1. */
static uint32_t
compute_window(struct hpcc *h, const struct cc_node *node, bool update)
{
	const struct hpcc_params *params = node->params;
	struct hpcc_stats *stats = node->stats;
	uint64_t eta_q32 = mul_div(params->hpcc_eta_ppm, Q32_ONE, PPM);
	bool additive = h->u_q32 < eta_q32 && h->stage < params->hpcc_max_stage;
	uint64_t window = h->reference_bytes;

	if (!additive)
		window = mul_div(window, eta_q32, max_u64(h->u_q32, 1));
	set_window(h, node, min_u64(window, UINT32_MAX) + params->hpcc_w_ai_bytes);
	if (!update)
		return 0;
	h->stage = additive ? (uint8_t)(h->stage + 1) : 0;
	window = h->reference_bytes;
	h->reference_bytes = h->head.window_bytes;
	if (h->reference_bytes == window)
		return 0;
	counter_inc(h->reference_bytes < window ? &stats->hpcc_cuts : &stats->hpcc_increases);
	return h->reference_bytes < window ? CC_DID_CUT : CC_DID_RAISE;
}

/* May a hop have sent 2^31 bytes, or its clock have advanced by 2^31 ns? Both wrap at 2^32. */
static bool
may_wrap(const struct hpcc *h, uint64_t silence_ns)
{
	uint64_t fastest_bps = 1;

	for (unsigned int i = 0; i < h->n_hops; i++)
		fastest_bps = max_u64(fastest_bps, h->hops[i].rate_bps);
	return silence_ns >= min_u64(HALF_WRAP, HALF_WRAP * BYTE_NS / fastest_bps);
}

static bool
is_comparable(const struct hpcc *h, const struct cc_ack *ack, uint64_t now_ns)
{
	return ack->n_hops == h->n_hops && ack->path_id == h->path_id &&
	       !may_wrap(h, now_ns - h->heard_ns);
}

static uint32_t
on_ack(struct cc *cc, const struct cc_node *node, const struct cc_ack *ack, uint64_t now_ns)
{
	struct hpcc *h = (struct hpcc *)cc;
	struct hpcc_stats *stats = node->stats;
	uint32_t did = 0;
	bool update;

	if (ack->n_hops == 0) {
		counter_inc(&stats->hpcc_missing);
		return 0;
	}
	counter_inc(&stats->hpcc_samples);
	if (ack->is_full)
		counter_inc(&stats->hpcc_full);
	if (!is_comparable(h, ack, now_ns)) {
		counter_inc(&stats->hpcc_new_paths);
		h->n_hops = (uint8_t)ack->n_hops;
		h->path_id = ack->path_id;
		h->next_update_seq = ack->next_seq;
	} else {
		update = (int32_t)(ack->acked_seq - h->next_update_seq) > 0;
		measure(h, node->params, ack);
		did = compute_window(h, node, update);
		if (update)
			h->next_update_seq = ack->next_seq;
	}
	for (unsigned int i = 0; i < ack->n_hops; i++)
		h->hops[i] = ack->hops[i];
	h->heard_ns = now_ns;
	return CC_DID_INT | did;
}

static uint32_t
on_params(struct cc *cc, const struct cc_node *node)
{
	struct hpcc *h = (struct hpcc *)cc;
	uint64_t before_bps = h->head.rate_bps;

	set_window(h, node, h->head.window_bytes);
	h->reference_bytes = h->head.window_bytes;
	return h->head.rate_bps != before_bps ? CC_DID_RELOAD : 0;
}

static void
read(const struct cc *cc, const struct cc_node *node, struct cc_view *out, uint64_t now_ns)
{
	const struct hpcc *h = (const struct hpcc *)cc;
	const struct hpcc_params *params = node->params;

	(void)now_ns;
	out->target_rate_bps = mul_div(h->reference_bytes, BYTE_NS, params->hpcc_base_rtt_ns);
}

static uint64_t
longest_trip_ns(const void *params)
{
	return ((const struct hpcc_params *)params)->hpcc_base_rtt_ns;
}

const struct cc_ops cc_hpcc = {
	CC_TABLES(hpcc),
	.longest_trip_ns = longest_trip_ns,
	.trip_key = "hpcc_base_rtt_ns",
	.min_rate_key = "hpcc_min_rate_bps",
	.hears_hops = true,
	.has_window = true,
	.more_bytes = CC_MAX_HOPS * sizeof(struct cc_hop),
	.start = start,
	.ack = on_ack,
	.params = on_params,
	.read = read,
};
