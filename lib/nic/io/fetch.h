/* SPDX-License-Identifier: BSD-3-Clause */
/* What a NIC of few QPs reads and writes for nearly every frame, fetched when its turn comes. */
#ifndef QUENCH_NIC_IO_FETCH_H
#define QUENCH_NIC_IO_FETCH_H

#include "node/node.h"

void nic_fetch(const struct node *node);

#endif
