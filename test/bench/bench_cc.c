/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What congestion control and pacing cost a sender, beside the reaction point as a plain event loop
 * (the reference of the unit tests), and DPDK's meter and timers where those do a like job.
 */
#include <rte_cycles.h>
#include <rte_meter.h>
#include <rte_timer.h>

#include "../unit/cc/rp_reference.h"
#include "base/numbers/prng.h"
#include "bench.h"
#include "cc/cc.h"
#include "pacer/timing_wheel.h"
#include "pacer/token_bucket.h"

#define ROUNDS 7
#define TIMER_ROUNDS 3 /* of half a second each */
#define QPS 1024
#define PACKETS 2000000u
#define CNPS 200000u
#define TIMERS 1000000u
#define TIMERS_SPAN_NS (50 * NS_PER_MS)
#define FRAME_BYTES 1106 /* on the wire: MTU 1024 */

static volatile uint64_t sink;

static struct ref refs[QPS];
static struct cc ccs[QPS];
static struct cc_node node;
static struct cc_stats stats;
static struct cc_params keys;
static struct rp_params *const params = &keys.of[CC_SLOT(CC_DCQCN)].rp;

/* Both kinds of reaction points, each cut once at time 0. */
static void
start_qps(enum rp_profile profile)
{
	const struct cc_setup setup = {.algorithm = CC_DCQCN,
				       .max_rate_bps = 100 * GBPS,
				       .params = &keys,
				       .stats = &stats};

	rp_params_default(params, profile);
	params->rp_max_rate_bps = 100 * GBPS;
	cc_init(&node, &setup);
	for (unsigned int i = 0; i < QPS; i++) {
		cc_on_start(&ccs[i], &node, &(struct cc_begin){.rate_bps = params->rp_max_rate_bps},
			    0);
		cc_on_cnp(&ccs[i], &node, &(struct cc_cnp){.next_seq = 0}, 0);
		ref_init(&refs[i], params, params->rp_max_rate_bps, 0);
		ref_cnp(&refs[i], 0);
	}
}

/* How often something happens to the QPs in turn. */
struct pace {
	enum rp_profile profile;
	uint64_t gap_ns;
	bool no_timer; /* and at few bytes a QP, no event at all */
};

static void
start_pace(const struct pace *pace)
{
	start_qps(pace->profile);
	if (pace->no_timer) {
		params->rp_time_reset_us = UINT32_MAX;
		params->rp_dce_tcp_rtt_us = UINT32_MAX;
		for (unsigned int i = 0; i < QPS; i++) {
			cc_on_cnp(&ccs[i], &node, &(struct cc_cnp){.next_seq = 0}, 1);
			ref_cnp(&refs[i], 1);
		}
	}
}

/* What one event of packet or CNP i costs. It is inlined, so that step() is no call. */
static inline __attribute__((always_inline)) double
time_steps(const struct pace *pace, unsigned int n,
	   uint64_t (*step)(unsigned int i, uint64_t now_ns))
{
	double start_ns;
	uint64_t rates = 0;

	start_pace(pace);
	start_ns = bench_clock_ns();
	for (unsigned int i = 0; i < n; i++)
		rates += step(i, i * pace->gap_ns);
	sink += rates;
	return (bench_clock_ns() - start_ns) / n;
}

static inline uint64_t
sent(unsigned int i, uint64_t now_ns)
{
	struct cc *cc = &ccs[i % QPS];

	return cc_on_sent(cc, &node, FRAME_BYTES, now_ns) + cc->head.rate_bps;
}

static double
round_sent(void *arg)
{
	return time_steps(arg, PACKETS, sent);
}

static inline uint64_t
sent_ref(unsigned int i, uint64_t now_ns)
{
	ref_sent(&refs[i % QPS], FRAME_BYTES, now_ns);
	return refs[i % QPS].rate;
}

static double
round_sent_ref(void *arg)
{
	return time_steps(arg, PACKETS, sent_ref);
}

static inline uint64_t
cnp(unsigned int i, uint64_t now_ns)
{
	return cc_on_cnp(&ccs[i % QPS], &node, &(struct cc_cnp){.next_seq = 0}, now_ns);
}

static double
round_cnp(void *arg)
{
	return time_steps(arg, CNPS, cnp);
}

static inline uint64_t
cnp_ref(unsigned int i, uint64_t now_ns)
{
	ref_cnp(&refs[i % QPS], now_ns);
	return refs[i % QPS].rate;
}

static double
round_cnp_ref(void *arg)
{
	return time_steps(arg, CNPS, cnp_ref);
}

static inline uint64_t
idle_hour(unsigned int i, uint64_t now_ns)
{
	(void)now_ns;
	return cc_on_timer(&ccs[i], &node, 3600 * NS_PER_SEC);
}

static double
round_idle_hour(void *arg)
{
	return time_steps(arg, QPS, idle_hour);
}

static inline uint64_t
idle_hour_ref(unsigned int i, uint64_t now_ns)
{
	(void)now_ns;
	ref_run(&refs[i], 3600 * NS_PER_SEC);
	return refs[i].rate;
}

static double
round_idle_hour_ref(void *arg)
{
	return time_steps(arg, QPS, idle_hour_ref);
}

static double
round_bucket(void *arg)
{
	struct token_bucket tb;
	uint64_t now_ns = 0, sent = 0;
	double start_ns;

	(void)arg;
	token_bucket_init(&tb, 100 * GBPS, 9000, 0);
	start_ns = bench_clock_ns();
	for (unsigned int i = 0; i < PACKETS; i++) {
		now_ns += 80; /* a frame takes 88.5 ns: one decision in ten says wait */
		token_bucket_update(&tb, now_ns);
		if (token_bucket_can_send(&tb)) {
			token_bucket_charge(&tb, FRAME_BYTES);
			sent++;
		}
	}
	sink += sent;
	return (bench_clock_ns() - start_ns) / PACKETS;
}

static double
round_meter(void *arg)
{
	struct rte_meter_srtcm_params config = {.cir = 100 * GBPS / 8, .cbs = 9000, .ebs = 9000};
	struct rte_meter_srtcm_profile profile;
	struct rte_meter_srtcm meter;
	uint64_t now_cycles = rte_rdtsc(), step_cycles = rte_get_tsc_hz() * 80 / NS_PER_SEC;
	uint64_t sent = 0;
	double start_ns;

	(void)arg;
	rte_meter_srtcm_profile_config(&profile, &config);
	rte_meter_srtcm_config(&meter, &profile);
	start_ns = bench_clock_ns();
	for (unsigned int i = 0; i < PACKETS; i++) {
		now_cycles += step_cycles;
		sent += rte_meter_srtcm_color_blind_check(&meter, &profile, now_cycles,
							  FRAME_BYTES) == RTE_COLOR_GREEN;
	}
	sink += sent;
	return (bench_clock_ns() - start_ns) / PACKETS;
}

/* All items go in at random deadlines, time runs over them in steps of 4 us, all come out. */
static double
round_wheel(void *arg)
{
	struct timing_wheel *w = timing_wheel_create(TIMERS, 65536, 1024);
	uint32_t items[64], out = 0;
	struct prng rnd;
	double start_ns;

	(void)arg;
	bench_check(w != NULL, "timing_wheel_create");
	prng_seed(&rnd, 1, 0);
	start_ns = bench_clock_ns();
	for (uint32_t i = 0; i < TIMERS; i++) {
		uint64_t deadline_ns = prng_below(&rnd, TIMERS_SPAN_NS);

		timing_wheel_insert_burst(w, &i, &deadline_ns, 1);
	}
	for (uint64_t now_ns = 0; out < TIMERS; now_ns += 4096) {
		uint32_t n;

		do {
			n = timing_wheel_advance(w, items, 64, now_ns);
			out += n;
		} while (n == 64);
	}
	start_ns = bench_clock_ns() - start_ns;
	timing_wheel_destroy(w);
	return start_ns / TIMERS;
}

static void
timer_fired(struct rte_timer *timer, void *arg)
{
	(void)timer;
	++*(uint32_t *)arg;
}

static double
round_rte_timer(void *arg)
{
	struct rte_timer *timers = calloc(TIMERS, sizeof(*timers));
	uint64_t span_cycles = rte_get_timer_hz() * TIMERS_SPAN_NS / NS_PER_SEC;
	struct prng rnd;
	uint32_t out = 0;
	double start_ns;

	(void)arg;
	bench_check(timers != NULL, "memory for timers");
	prng_seed(&rnd, 1, 0);
	for (uint32_t i = 0; i < TIMERS; i++)
		rte_timer_init(&timers[i]);
	start_ns = bench_clock_ns();
	for (uint32_t i = 0; i < TIMERS; i++)
		rte_timer_reset(&timers[i], prng_below(&rnd, span_cycles), SINGLE, rte_lcore_id(),
				timer_fired, &out);
	while (out < TIMERS)
		rte_timer_manage();
	start_ns = bench_clock_ns() - start_ns;
	free(timers);
	return start_ns / TIMERS;
}

int
main(void)
{
	/* 50 us between two CNPs of a QP; 100 Gb/s over all of them. */
	static struct pace quiet = {RP_PROFILE_PAPER, 5, true};
	static struct pace line = {RP_PROFILE_MLX, 90, false};
	static struct pace idle = {.profile = RP_PROFILE_MLX};
	static struct pace cnp[] = {{RP_PROFILE_PAPER, 50 * NS_PER_US / QPS, false},
				    {RP_PROFILE_MLX, 50 * NS_PER_US / QPS, false}};
	static const char reference[] = "reference: event by event";

	bench_eal(64);
	bench_check(rte_timer_subsystem_init() == 0, "rte_timer_subsystem_init");
	bench_compare((struct bench_side){"cc_on_sent, no event due", round_sent, &quiet},
		      (struct bench_side){reference, round_sent_ref, &quiet}, "ns/packet", ROUNDS);
	bench_compare((struct bench_side){"cc_on_sent, mlx, 1024 QPs at 100G", round_sent, &line},
		      (struct bench_side){reference, round_sent_ref, &line}, "ns/packet", ROUNDS);
	bench_compare((struct bench_side){"cc_on_cnp, paper, 1024 QPs", round_cnp, &cnp[0]},
		      (struct bench_side){reference, round_cnp_ref, &cnp[0]}, "ns/CNP", ROUNDS);
	bench_compare((struct bench_side){"cc_on_cnp, mlx, 1024 QPs", round_cnp, &cnp[1]},
		      (struct bench_side){reference, round_cnp_ref, &cnp[1]}, "ns/CNP", ROUNDS);
	bench_compare(
		(struct bench_side){"cc_on_timer after an idle hour, mlx", round_idle_hour, &idle},
		(struct bench_side){reference, round_idle_hour_ref, &idle}, "ns/call", ROUNDS);
	bench_compare((struct bench_side){"token bucket: update, ask, charge", round_bucket, NULL},
		      (struct bench_side){"rte_meter_srtcm_color_blind_check", round_meter, NULL},
		      "ns/frame", ROUNDS);
	bench_compare((struct bench_side){"timing wheel: 1M items in and out", round_wheel, NULL},
		      (struct bench_side){"rte_timer_reset and _manage", round_rte_timer, NULL},
		      "ns/item", TIMER_ROUNDS);
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
