/* SPDX-License-Identifier: BSD-3-Clause */
/* Prefetches the lines that a NIC with few QPs uses for nearly every frame, before its turn. */
#ifndef QUENCH_NIC_IO_FETCH_H
#define QUENCH_NIC_IO_FETCH_H

#include "node/node.h"

void nic_fetch(const struct node *node);

#endif
