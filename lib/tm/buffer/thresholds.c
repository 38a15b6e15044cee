// SPDX-License-Identifier: BSD-3-Clause
#include "tm/buffer/thresholds.h"

#include <assert.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"

#define QUANTUM_BYTES 64u
#define FREE_FACTOR_BITS 8

/*
 * 802.3 31B.3.7, in quanta of 512 bit times. A speed between two of the table has the response time
 * of the higher one.
 */
static uint32_t
response_quanta(uint64_t link_speed_bps)
{
	static const struct {
		uint64_t speed_bps;
		uint32_t quanta;
	} rows[] = {
		{100 * MBPS, 1},  {1 * GBPS, 2},    {10 * GBPS, 67},   {25 * GBPS, 80},
		{40 * GBPS, 118}, {50 * GBPS, 147}, {100 * GBPS, 394}, {200 * GBPS, 453},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		if (link_speed_bps <= rows[i].speed_bps)
			return rows[i].quanta;
	}
	return 905;
}

static uint64_t
whole_cells(uint64_t bytes, uint16_t cell_bytes)
{
	return cell_bytes == 0 ? bytes : (bytes + cell_bytes - 1) / cell_bytes * cell_bytes;
}

/*
 * Most bytes that are charged for frames which take so many bytes of the wire. The worst frame is
 * the shortest one, or the shortest one that is a byte longer than its cells: charged bytes per
 * byte of the wire fall with the number of cells, because a cell is longer than a gap.
 */
static uint64_t
most_charged(uint64_t wire_bytes, uint32_t longest_bytes, uint16_t cell_bytes)
{
	uint64_t shortest = MIN_FRAME_BYTES, charged = whole_cells(shortest, cell_bytes);
	uint64_t next = charged + 1;
	uint64_t most = wire_bytes; /* shorter cells waste less than the gaps */

	if (cell_bytes == 0)
		return most;
	most = max_u64(most, mul_div(wire_bytes, charged, shortest + GAP_BYTES) + 1);
	if (next <= longest_bytes)
		most = max_u64(most,
			       mul_div(wire_bytes, charged + cell_bytes, next + GAP_BYTES) + 1);
	return most;
}

static uint64_t
bytes_in(uint64_t ns, uint64_t speed_bps)
{
	return (mul_div(ns, speed_bps, NS_PER_SEC) + 7) / 8;
}

struct pfc_headroom
pfc_headroom(const struct pfc_link *link)
{
	uint64_t response_ns = link->peer_response_ns, wire_bytes;
	struct pfc_headroom h = {
		.frames_bytes = (uint64_t)link->own_frame_bytes +
				2 * (uint64_t)link->peer_frame_bytes + 2 * GAP_BYTES,
		.pause_bytes = MIN_FRAME_BYTES + GAP_BYTES,
		.cable_bits = mul_div(2 * link->cable_delay_ns, link->link_speed_bps, NS_PER_SEC),
		.response_bytes = (uint64_t)response_quanta(link->link_speed_bps) * QUANTUM_BYTES,
	};

	if (response_ns > 0)
		h.response_bytes = bytes_in(response_ns, link->link_speed_bps);
	h.response_bytes =
		max_u64(h.response_bytes, bytes_in(link->peer_delay_ns, link->link_speed_bps));
	/* On the wire until the peer stops, but for its last frame. */
	wire_bytes = link->own_frame_bytes + 2 * GAP_BYTES + h.pause_bytes +
		     (h.cable_bits + 7) / 8 + h.response_bytes;
	h.total_bytes = most_charged(wire_bytes, link->peer_frame_bytes, link->cell_bytes) +
			2 * whole_cells(link->peer_frame_bytes, link->cell_bytes);
	h.cells_bytes = h.total_bytes - wire_bytes - 2 * (uint64_t)link->peer_frame_bytes;
	return h;
}

static uint64_t
nearest(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint64_t)(((unsigned __int128)a * b + c / 2) / c);
}

struct thresholds
thresholds(uint64_t shared_bytes, uint16_t n_ports, uint8_t n_prios, int8_t dynamic_th)
{
	uint64_t free_factor_q8 = 1ull << (dynamic_th + FREE_FACTOR_BITS);
	uint64_t groups = (uint64_t)n_ports * n_prios;

	assert(n_ports > 0 && n_prios > 0 && dynamic_th >= -8 && dynamic_th <= 7);
	return (struct thresholds){
		.static_pfc_bytes = nearest(shared_bytes, 1, groups),
		.static_ecn_bytes = nearest(shared_bytes, 1, groups * n_ports),
		.dynamic_pfc_bytes = nearest(shared_bytes, free_factor_q8, 1 << FREE_FACTOR_BITS),
		.dynamic_ecn_bytes =
			nearest(shared_bytes, free_factor_q8,
				n_ports * ((1ull << FREE_FACTOR_BITS) + free_factor_q8 * n_prios)),
	};
}
