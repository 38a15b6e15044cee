/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shuts EAL down. Programs use this instead of calling rte_eal_cleanup().
 *
 * rte_eal_cleanup() unmaps all memory of DPDK, but stops neither EAL's interrupt thread nor the
 * threads that answer telemetry. The interrupt thread reads its sources at any event, and the
 * handles of memif's sources are in that memory (net_memif never unregisters its listener). DPDK's
 * own telemetry commands read devices and pools, which are in that memory too. On a busy machine,
 * either thread may read the memory after it was unmapped, and the program faults.
 *
 * So both are stopped first: telemetry clients are disconnected, and the interrupt thread is parked
 * in a callback for good. If either does not stop, the program ends without rte_eal_cleanup(); EAL
 * removes the files that this leaves at the next start with the same --file-prefix.
 *
 * Memory and its locks are shared with secondary processes, such as dpdk-proc-info. One that is
 * killed while it holds a lock leaves it locked, and freeing memory then blocks forever. Reports
 * are written before the shutdown begins, so a program whose shutdown takes too long exits in the
 * middle of it, with its normal exit code.
 *
 * Invariant: rte_eal_cleanup() runs only while the interrupt thread is parked and no thread serves
 * a telemetry client.
 */
#ifndef QUENCH_APP_RUNTIME_EAL_EAL_END_H
#define QUENCH_APP_RUNTIME_EAL_EAL_END_H

/**
 * Begin the shutdown, before devices are closed: stop captures and telemetry, including replies in
 * progress.
 *
 * @param code  Exit code if eal_end() has not returned after EAL_END_PATIENCE_S; SIGALRM then ends
 *              the program, with a line on standard error.
 */
void eal_quiet(int code);

/**
 * Run work(arg) on the interrupt thread, then park that thread.
 *
 * Returns after work(). If the interrupt thread cannot be parked, or is parked already, work() runs
 * on the caller's thread.
 */
void eal_park_interrupts(void (*work)(void *arg), void *arg);

/** Finish the shutdown, after devices are closed and pools are freed. */
void eal_end(void);

#endif
