/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_net_crc with an algorithm of one's choice: the library falls back without a word. */
#ifndef QUENCH_BENCH_NET_CRC_H
#define QUENCH_BENCH_NET_CRC_H

#include <stdbool.h>

#include <rte_net_crc.h>
#include <rte_vect.h>

/** Choose the algorithm, if this CPU has it. @return whether it has. */
static inline bool
net_crc_use(enum rte_net_crc_alg alg)
{
	rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512);
	if (alg == RTE_NET_CRC_SSE42 && !__builtin_cpu_supports("pclmul"))
		return false;
	if (alg == RTE_NET_CRC_AVX512 &&
	    (!__builtin_cpu_supports("vpclmulqdq") || !__builtin_cpu_supports("avx512vl") ||
	     rte_vect_get_max_simd_bitwidth() < RTE_VECT_SIMD_512))
		return false;
	rte_net_crc_set_alg(alg);
	return true;
}

/** Choose the fastest algorithm that this CPU has. @return its name. */
static inline const char *
net_crc_use_best(void)
{
	if (net_crc_use(RTE_NET_CRC_AVX512))
		return "AVX-512";
	if (net_crc_use(RTE_NET_CRC_SSE42))
		return "SSE4.2";
	net_crc_use(RTE_NET_CRC_SCALAR);
	return "scalar";
}

#endif
