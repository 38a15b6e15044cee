/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Headroom required for a pause, and marking thresholds that take effect before it.
 *
 * Headroom (t_flight) after IEEE 802.1Qbb Annex O, and a frame more: the frame that no longer fits
 * below the limit goes whole into headroom, and with it comes the decision to send XOFF. The bytes
 * that arrive after the decision: our frame before the pause frame, the pause frame, the cable both
 * ways, the peer's response (802.3 31B.3.7), and the frame that the peer is sending. With cells,
 * these may be frames of the length that wastes most of its cells.
 *
 * Thresholds after SIGCOMM 2015 section 4, for p lossless priorities (the paper: 8) and n ports. B
 * is the buffer shared by priority groups: buffer_bytes less reserved bytes and headroom. The t_PFC
 * bytes of an ingress may be spread over all n egress queues, so marking certainly comes first only
 * if n t_ECN < t_PFC. With a dynamic threshold, that must be true while each of the n p egress
 * queues holds t_ECN.
 *
 *   static   t_PFC <= B / (p n)        t_ECN < t_PFC / n
 *   dynamic  t_PFC = a (B - s)         t_ECN < a B / (n (1 + a p))
 *
 * s is the number of bytes in use and a = 2^dynamic_th; the paper's beta is 8 a. The paper's
 * example: B = 12 MB less 8 x 32 x 22.4 KB gives 24.475 KB and, at beta 8, 21.756 KB.
 */
#ifndef QUENCH_TM_BUFFER_THRESHOLDS_H
#define QUENCH_TM_BUFFER_THRESHOLDS_H

#include <stdint.h>

/** Bytes that arrive after the decision to pause, for one priority of one port. */
struct pfc_headroom {
	/*
	 * the frame beyond the limit; our frame before the pause frame, and the peer's last, with
	 * gaps
	 */
	uint64_t frames_bytes;
	uint64_t pause_bytes;    /* the pause frame */
	uint64_t cable_bits;     /* both ways */
	uint64_t response_bytes; /* sent by the peer until it responds */
	uint64_t cells_bytes;    /* charged beyond all these, for whole cells */
	uint64_t total_bytes;    /* rounded up */
};

struct pfc_link {
	uint64_t link_speed_bps;
	uint64_t cable_delay_ns;   /* one way */
	uint64_t peer_response_ns; /* 0: what 802.3 31B.3.7 allows at this speed */
	uint64_t peer_delay_ns;    /* the peer responds no earlier */
	uint32_t own_frame_bytes;  /* longest frame that we may be sending, with FCS */
	uint32_t peer_frame_bytes; /* longest frame of the paused priority */
	uint16_t cell_bytes;       /* frames are charged in whole cells; 0: by the byte */
};

/** Valid for delays and responses up to 40 s, and speeds up to 1600 Gb/s. */
struct pfc_headroom pfc_headroom(const struct pfc_link *link);

/* Rounded to the nearest byte. */
struct thresholds {
	uint64_t static_pfc_bytes; /* largest fair share of a group */
	uint64_t static_ecn_bytes;
	uint64_t dynamic_pfc_bytes; /* with an empty buffer */
	uint64_t dynamic_ecn_bytes;
};

/**
 * @param shared_bytes  B: the buffer less reserved bytes and headroom, below 2^40.
 * @param n_ports       At least 1.
 * @param n_prios       Lossless priorities, 1 to 8.
 * @param dynamic_th    -8 to 7.
 */
struct thresholds thresholds(uint64_t shared_bytes, uint16_t n_ports, uint8_t n_prios,
			     int8_t dynamic_th);

#endif
