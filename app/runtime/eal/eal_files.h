/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUENCH_APP_RUNTIME_EAL_EAL_FILES_H
#define QUENCH_APP_RUNTIME_EAL_EAL_FILES_H

#include <stdbool.h>

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
