/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What congestion control and pacing cost a sender, beside DPDK's meter and timers where those do a
 * like job in the same run. Of short measurements the best round counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_meter.h>
#include <rte_timer.h>

#include "base/prng.h"
#include "cc/rp.h"
#include "pacer/timing_wheel.h"
#include "pacer/token_bucket.h"

#define ROUNDS 5
#define QPS 1024
#define PACKETS 4000000u
#define CNPS 200000u
#define TIMERS 1000000u
#define TIMERS_SPAN_NS (50 * NS_PER_MS)

static volatile uint64_t sink;

static double
wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* Prints value and, when there is a peer, how many times its cost ours is. */
static void
report(const char *name, const char *unit, double value, const char *peer, double peer_value)
{
	printf("{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"%s\", ", name, value, unit);
	if (peer != NULL)
		printf("\"peer\": \"%s\", \"peer_value\": %.2f, \"ratio\": %.3f}\n", peer,
		       peer_value, value / peer_value);
	else
		printf("\"peer\": null, \"peer_value\": null, \"ratio\": null}\n");
}

static double
best(double (*round)(void))
{
	double least = round();

	for (int i = 1; i < ROUNDS; i++) {
		double ns = round();

		least = ns < least ? ns : least;
	}
	return least;
}

static struct rp rps[QPS];
static struct rp_stats stats;
static struct rp_params params;

static void
start_qps(enum rp_profile profile)
{
	rp_params_default(&params, profile);
	params.rp_max_rate_bps = 100 * GBPS;
	for (unsigned int i = 0; i < QPS; i++) {
		rp_init(&rps[i], &params, params.rp_max_rate_bps, 0);
		rp_on_cnp(&rps[i], &params, &stats, 0);
	}
}

/* Limited QPs of which no timer is due and none reaches B: 4.3 MB each. */
static double
round_on_sent(void)
{
	double start_ns;
	uint64_t rates = 0;

	start_qps(RP_PROFILE_PAPER);
	params.rp_time_reset_us = UINT32_MAX;
	for (unsigned int i = 0; i < QPS; i++)
		rp_on_cnp(&rps[i], &params, &stats, 1);
	start_ns = wall_ns();
	for (unsigned int i = 0; i < PACKETS; i++)
		rates += rp_on_sent(&rps[i % QPS], &params, &stats, 1106, i * 5ull);
	sink += rates;
	return (wall_ns() - start_ns) / PACKETS;
}

/* 1106 B each 90 ns over the QPs: 100 Gb/s with T, B and the timers of the profile. */
static double
round_on_sent_at_100g(void)
{
	double start_ns;
	uint64_t rates = 0;

	start_qps(RP_PROFILE_MLX);
	start_ns = wall_ns();
	for (unsigned int i = 0; i < PACKETS; i++)
		rates += rp_on_sent(&rps[i % QPS], &params, &stats, 1106, i * 90ull);
	sink += rates;
	return (wall_ns() - start_ns) / PACKETS;
}

static double
cnp_round(enum rp_profile profile)
{
	double start_ns;
	uint64_t rates = 0;

	start_qps(profile);
	start_ns = wall_ns();
	/* 50 us between two CNPs of a QP. */
	for (unsigned int i = 0; i < CNPS; i++)
		rates += rp_on_cnp(&rps[i % QPS], &params, &stats, i * (50 * NS_PER_US / QPS));
	sink += rates;
	return (wall_ns() - start_ns) / CNPS;
}

static double
round_cnp_paper(void)
{
	return cnp_round(RP_PROFILE_PAPER);
}

static double
round_cnp_mlx(void)
{
	return cnp_round(RP_PROFILE_MLX);
}

static double
round_idle_hour(void)
{
	double start_ns;
	uint64_t rates = 0;

	start_qps(RP_PROFILE_MLX);
	start_ns = wall_ns();
	for (unsigned int i = 0; i < QPS; i++)
		rates += rp_update(&rps[i], &params, &stats, 3600 * NS_PER_SEC);
	sink += rates;
	return (wall_ns() - start_ns) / QPS;
}

static double
round_bucket(void)
{
	struct token_bucket tb;
	uint64_t now_ns = 0, sent = 0;
	double start_ns;

	token_bucket_init(&tb, 100 * GBPS, 9000, 0);
	start_ns = wall_ns();
	for (unsigned int i = 0; i < PACKETS; i++) {
		now_ns += 80; /* a frame takes 88.5 ns: one decision in ten says wait */
		token_bucket_update(&tb, now_ns);
		if (token_bucket_can_send(&tb)) {
			token_bucket_charge(&tb, 1106);
			sent++;
		}
	}
	sink += sent;
	return (wall_ns() - start_ns) / PACKETS;
}

static double
round_meter(void)
{
	struct rte_meter_srtcm_params config = {.cir = 100 * GBPS / 8, .cbs = 9000, .ebs = 9000};
	struct rte_meter_srtcm_profile profile;
	struct rte_meter_srtcm meter;
	uint64_t now_cycles = rte_rdtsc(), step_cycles = rte_get_tsc_hz() * 80 / NS_PER_SEC;
	uint64_t sent = 0;
	double start_ns;

	rte_meter_srtcm_profile_config(&profile, &config);
	rte_meter_srtcm_config(&meter, &profile);
	start_ns = wall_ns();
	for (unsigned int i = 0; i < PACKETS; i++) {
		now_cycles += step_cycles;
		sent += rte_meter_srtcm_color_blind_check(&meter, &profile, now_cycles, 1106) ==
			RTE_COLOR_GREEN;
	}
	sink += sent;
	return (wall_ns() - start_ns) / PACKETS;
}

/* All items go in at random deadlines, time runs over them in steps of 4 us, all come out. */
static double
round_wheel(void)
{
	struct timing_wheel *w = timing_wheel_create(TIMERS, 65536, 1024);
	uint32_t items[64], out = 0;
	struct prng rnd;
	double start_ns;

	if (w == NULL)
		exit(1);
	prng_seed(&rnd, 1, 0);
	start_ns = wall_ns();
	for (uint32_t i = 0; i < TIMERS; i++)
		timing_wheel_insert(w, i, prng_below(&rnd, TIMERS_SPAN_NS));
	for (uint64_t now_ns = 0; out < TIMERS; now_ns += 4096) {
		uint32_t n;

		do {
			n = timing_wheel_advance(w, items, 64, now_ns);
			out += n;
		} while (n == 64);
	}
	start_ns = wall_ns() - start_ns;
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
round_rte_timer(void)
{
	struct rte_timer *timers = calloc(TIMERS, sizeof(*timers));
	uint64_t span_cycles = rte_get_timer_hz() * TIMERS_SPAN_NS / NS_PER_SEC;
	struct prng rnd;
	uint32_t out = 0;
	double start_ns;

	if (timers == NULL)
		exit(1);
	prng_seed(&rnd, 1, 0);
	for (uint32_t i = 0; i < TIMERS; i++)
		rte_timer_init(&timers[i]);
	start_ns = wall_ns();
	for (uint32_t i = 0; i < TIMERS; i++)
		rte_timer_reset(&timers[i], prng_below(&rnd, span_cycles), SINGLE, rte_lcore_id(),
				timer_fired, &out);
	while (out < TIMERS)
		rte_timer_manage();
	start_ns = wall_ns() - start_ns;
	free(timers);
	return start_ns / TIMERS;
}

int
main(void)
{
	char *args[] = {(char *)(uintptr_t) "bench_cc",
			(char *)(uintptr_t) "--no-huge",
			(char *)(uintptr_t) "--no-shconf",
			(char *)(uintptr_t) "--no-pci",
			(char *)(uintptr_t) "--no-telemetry",
			(char *)(uintptr_t) "--log-level=4",
			(char *)(uintptr_t) "-m64"};
	double wheel_ns, timer_ns, bucket_ns, meter_ns;

	if (rte_eal_init((int)(sizeof(args) / sizeof(args[0])), args) < 0 ||
	    rte_timer_subsystem_init() < 0)
		return 1;
	report("rp_on_sent, no event due", "ns/packet", best(round_on_sent), NULL, 0);
	report("rp_on_sent, mlx, 1024 QPs at 100G", "ns/packet", best(round_on_sent_at_100g), NULL,
	       0);
	report("rp_on_cnp, paper, 1024 QPs", "ns/CNP", best(round_cnp_paper), NULL, 0);
	report("rp_on_cnp, mlx, 1024 QPs", "ns/CNP", best(round_cnp_mlx), NULL, 0);
	report("rp_update after an idle hour, mlx", "ns/call", best(round_idle_hour), NULL, 0);
	bucket_ns = best(round_bucket);
	meter_ns = best(round_meter);
	report("token bucket: update, ask, charge", "ns/frame", bucket_ns,
	       "rte_meter_srtcm_color_blind_check", meter_ns);
	wheel_ns = round_wheel();
	timer_ns = round_rte_timer();
	wheel_ns = (wheel_ns + round_wheel()) / 2;
	report("timing wheel: insert and expire, 1M items", "ns/item", wheel_ns,
	       "rte_timer_reset and _manage", timer_ns);
	rte_eal_cleanup();
	return 0;
}
