/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The right-hand sides of DCQCN's fluid model for one flow: the mean rates of its cuts and
 * increases, from its sending rate and its share of marked packets.
 *
 * Source: SIGCOMM 2015 section 5, equations 5 to 9, in the form of CoNEXT 2016 "ECN or Delay":
 * marks are independent draws, there is at most one CNP in tau = N, and x packets are free of marks
 * with probability (1 - p)^x. The equations model the paper profile without hyper increase, and
 * alpha and rate change continuously instead of in steps. The mlx profile has no model: its cuts
 * wait for the end of a monitor period, and its target rate does not follow every cut.
 */
#ifndef QUENCH_FLUID_FLUID_LAW_H
#define QUENCH_FLUID_FLUID_LAW_H

#include <stdint.h>

#include "cc/points/rp.h"
#include "tm/queue/wred.h"

/* Constants of one flow's equations, in seconds, bit/s of wire bytes, and packets. */
struct fluid_law {
	double tau_s;       /* N: least time between CNPs */
	double tau_alpha_s; /* tau', K: alpha's timer */
	double time_reset_s;
	double byte_reset_packets; /* 0: off */
	unsigned int threshold;    /* F */
	double g;
	double cut_share; /* a cut takes cut_share * alpha of the rate; 1/2 in the paper */
	double most_cut;  /* largest share of the rate that a cut takes */
	double ai_bps;
	double packet_bits; /* wire */
};

/** @param packet_bytes  Wire bytes of a packet (frame + FCS + 20), at least 1. */
struct fluid_law fluid_law(const struct rp_params *rp, uint32_t np_min_time_between_cnps_us,
			   double packet_bytes);

/* Mean rates of a flow's events, per second, and the limit of alpha. */
struct fluid_events {
	double cuts;
	double increases; /* (R_T - R_C) / 2 each */
	double additive;  /* those of them that add R_AI to R_T */
	double alpha_goal;
};

/** @param mark  Share of marked packets, [0, 1]. @param rate_bps  Of the flow, at least 0. */
struct fluid_events fluid_events(const struct fluid_law *law, double mark, double rate_bps);

/** Share of the rate that a cut takes. */
double fluid_cut(const struct fluid_law *law, double alpha);

/** Equation 5, as wred_probability_q32(), for a fractional queue length. */
double fluid_mark(const struct wred_params *wred, double queue_bytes);

/* The marking curve: ecn_green_* if set, else green_*. */
struct fluid_curve {
	double min_bytes, max_bytes, most; /* most: Pmax */
};

struct fluid_curve fluid_curve(const struct wred_params *wred);

#endif
