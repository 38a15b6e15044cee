/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits that keys and rules share. */
#ifndef QUENCH_SWITCH_TABLES_SW_LIMITS_H
#define QUENCH_SWITCH_TABLES_SW_LIMITS_H

#include "base/numbers/units.h"

#define MAX_FRAME_BYTES 16000u /* of an mbuf's data room, with headroom */
#define MAX_LINK_SPEED (1600 * GBPS)
#define MIN_LINK_SPEED (1 * MBPS)
#define SW_PORT_NAME_CHARS 31
#define SW_MAX_NEXTHOPS 256

#endif
