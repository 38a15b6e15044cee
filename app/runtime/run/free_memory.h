/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that a program can still take. Memory in regions of its own is mapped without a check by
 * the kernel, which kills a process later, when it touches more than there is.
 */
#ifndef QUENCH_APP_RUNTIME_RUN_FREE_MEMORY_H
#define QUENCH_APP_RUNTIME_RUN_FREE_MEMORY_H

#include <stdint.h>

/**
 * Bytes that are free on the machine, or below the limits of the process's control groups (version
 * 2), whichever is less.
 *
 * @param root  "", or in tests a folder that has proc/ and sys/.
 * @return      UINT64_MAX if the kernel does not say.
 */
uint64_t free_memory_bytes(const char *root);

#endif
