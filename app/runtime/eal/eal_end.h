/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of EAL in a program, in place of rte_eal_cleanup() alone.
 *
 * rte_eal_cleanup() unmaps all memory of DPDK, but stops neither EAL's interrupt thread nor the
 * threads that answer telemetry. The interrupt thread walks its sources at any event, and handles
 * of memif live in that memory (net_memif never unregisters its listener); a telemetry command of
 * DPDK itself reads devices and pools. On a busy machine they do so late, and the program faults.
 *
 * So both are brought to rest first: telemetry clients are hung up on, and the interrupt thread is
 * kept in a callback for good. If one of them does not come to rest, the program ends without
 * rte_eal_cleanup(): EAL removes what that leaves on disk when a program starts with the same
 * --file-prefix.
 *
 * Memory and its locks are shared with secondary processes, such as dpdk-dumpcap. One that is
 * killed while it holds a lock leaves it locked, and freeing memory then blocks for ever. Reports
 * are written before the end begins, so a program whose end takes too long exits in the middle of
 * it, with the exit code that it would have had.
 */
#ifndef QUENCH_APP_RUNTIME_EAL_EAL_END_H
#define QUENCH_APP_RUNTIME_EAL_EAL_END_H

/**
 * The end begins, before devices are closed: no more captures, no more telemetry, none in progress.
 *
 * @param code  With it the program exits, by SIGALRM and a line on standard error, if eal_end() has
 *              not returned after EAL_END_PATIENCE_S.
 */
void eal_quiet(int code);

/**
 * Run work(arg) on the interrupt thread and keep that thread from then on.
 *
 * Returns when work() has. If the interrupt thread cannot be had, the caller runs it.
 */
void eal_park_interrupts(void (*work)(void *arg), void *arg);

/** After devices are closed and pools are freed: the end of EAL. */
void eal_end(void);

#endif
