/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Defines the names of the newest DPDK release for older releases, from 22.11 on.
 *
 * Include it after the DPDK header in question; lib/base itself uses no DPDK header. The CRC of
 * rte_net, which only benchmarks use, is in test/bench/net_crc.h.
 */
#ifndef QUENCH_BASE_DPDK_COMPAT_H
#define QUENCH_BASE_DPDK_COMPAT_H

#ifndef RTE_VERSION
#error "include <rte_version.h> before this header"
#endif

/* 23.03 renamed the functions and the constant; 25.11 removed the old functions. */
#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
#define rte_tel_data_add_dict_uint rte_tel_data_add_dict_u64
#define rte_tel_data_add_array_uint rte_tel_data_add_array_u64
#define RTE_TEL_UINT_VAL RTE_TEL_U64_VAL
#endif

/* 24.11 put the 16 bytes of an IPv6 address into a struct of alignment 1. */
#if RTE_VERSION < RTE_VERSION_NUM(24, 11, 0, 0)
#define DPDK_IPV6(bytes) (bytes)
#else
#define DPDK_IPV6(bytes) ((const struct rte_ipv6_addr *)(bytes))
#endif

#endif
