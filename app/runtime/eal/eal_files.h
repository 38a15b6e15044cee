/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUENCH_APP_RUNTIME_EAL_EAL_FILES_H
#define QUENCH_APP_RUNTIME_EAL_EAL_FILES_H

#include <stdbool.h>

/**
 * May this process open as many files as EAL does when it starts? EAL ends the process with a panic
 * and a stack where it finds none for a pipe to a lcore, or for its interrupt thread.
 *
 * @param lcores  That EAL is to start, at most; 0: one on each CPU that this process may use.
 * @return        false: it has said so.
 */
bool eal_has_files(unsigned int lcores);

#endif
