/* SPDX-License-Identifier: BSD-3-Clause */
/* Control work of the whole switch: ageing, watermarks, PFC watchdog, LLDP. */
#ifndef QUENCH_SWITCH_MONITOR_WORK_H
#define QUENCH_SWITCH_MONITOR_WORK_H

#include <stdint.h>

struct sw;

/** Takes the front. @return when to call again. */
uint64_t sw_control_work(struct sw *sw, uint64_t now_ns);

#endif
