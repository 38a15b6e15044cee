/* SPDX-License-Identifier: BSD-3-Clause */
/* Before a NIC's turn, prefetches the lines that a NIC with few QPs uses for nearly every frame. */
#ifndef QUENCH_NIC_IO_FETCH_H
#define QUENCH_NIC_IO_FETCH_H

#include "node/node.h"

void nic_fetch(const struct node *node);

#endif
