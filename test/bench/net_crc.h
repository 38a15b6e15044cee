/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_net_crc with an algorithm of one's choice: the library falls back without a word. */
#ifndef QUENCH_TEST_BENCH_NET_CRC_H
#define QUENCH_TEST_BENCH_NET_CRC_H

#include <stdbool.h>

#include <stddef.h>
#include <stdint.h>

#include <rte_net_crc.h>
#include <rte_vect.h>
#include <rte_version.h>

#if RTE_VERSION >= RTE_VERSION_NUM(25, 3, 0, 0)
/* An algorithm has a context of its own, one for each file that includes this. */
static struct rte_net_crc *net_crc_context;
#endif

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
#if RTE_VERSION >= RTE_VERSION_NUM(25, 3, 0, 0)
	rte_net_crc_free(net_crc_context);
	net_crc_context = rte_net_crc_set_alg(alg, RTE_NET_CRC32_ETH);
	return net_crc_context != NULL;
#else
	rte_net_crc_set_alg(alg);
	return true;
#endif
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

/** CRC-32 of Ethernet with the algorithm in use. */
static inline uint32_t
net_crc(const void *data, uint32_t n)
{
#if RTE_VERSION >= RTE_VERSION_NUM(25, 3, 0, 0)
	if (net_crc_context == NULL)
		net_crc_use_best();
	return rte_net_crc_calc(net_crc_context, data, n);
#else
	return rte_net_crc_calc(data, n, RTE_NET_CRC32_ETH);
#endif
}

#endif
