/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUENCH_APP_RUNTIME_EAL_EAL_START_H
#define QUENCH_APP_RUNTIME_EAL_EAL_START_H

#include <stdbool.h>

/**
 * rte_eal_init() that loads only the drivers that the options name, if they name all devices.
 *
 * EAL loads the hundred libraries of its plugin folder at each start: most of the CPU time of a
 * start, and 6 MB of memory. With --no-pci, the options name all devices (--vdev), and a device's
 * name begins with that of its driver. Only these drivers are loaded then, and the ring of packet
 * pools.
 *
 * EAL loads its whole folder, as usual, without --no-pci, with an option that might name a driver
 * or a device in another way (-a, -d, --mbuf-pool-ops-name, or one that is not known here), with a
 * device whose arguments name another one, and if the driver of a device is not found by its name.
 * It also does so without --no-shconf: processes that share memory know an implementation of pools
 * by its number, so they must load the same ones.
 *
 * @param argc, argv  EAL's options, those of rte_eal_init().
 * @return            As rte_eal_init().
 */
int eal_init(int argc, char **argv);

/**
 * May this process open all files that EAL needs at start-up? Without a descriptor for the pipe of
 * an lcore or for the interrupt thread, EAL ends the process with a panic and a stack trace.
 *
 * @param lcores  Maximum number of lcores that EAL starts; 0: one on each CPU that this process
 *                may use.
 * @return        false after an error line.
 */
bool eal_has_files(unsigned int lcores);

#endif
