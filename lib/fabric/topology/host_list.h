/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host lists: items between commas, each
 *
 *   3  h3         host 3
 *   1-4  h1-h4    hosts 1 to 4
 *   1-64:8        every eighth of them: hosts 1, 9, 17, ... 57
 *   T1/2  T1/1-4  the second host of switch T1; its first four
 *   T1            all hosts of switch T1
 *   all           all hosts; only alone in the list
 */
#ifndef QUENCH_FABRIC_TOPOLOGY_HOST_LIST_H
#define QUENCH_FABRIC_TOPOLOGY_HOST_LIST_H

#include <stdint.h>

#include "fabric/topology/topology.h"

/**
 * @param out  Host numbers, ascending and unique; room for all hosts of the graph.
 * @return     Number of hosts; -EINVAL: malformed; -ERANGE: no such host or switch, or a switch
 *             without hosts.
 */
int32_t host_list_parse(const struct topology *t, const char *list, uint32_t *out);

#endif
