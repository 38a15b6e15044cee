/* SPDX-License-Identifier: BSD-3-Clause */
/* Warnings about values of a configuration that are probably mistakes. */
#ifndef QUENCH_APP_RUNTIME_NOTICE_DOUBTS_H
#define QUENCH_APP_RUNTIME_NOTICE_DOUBTS_H

#include "ctl/config/config.h"

/** Print each config_doubt() as a warning. */
void say_doubts(const struct config *cfg);

#endif
