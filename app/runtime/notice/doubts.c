/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/notice/doubts.h"

#include "runtime/notice/say.h"

void
say_doubts(const struct config *cfg)
{
	const char *line;

	for (unsigned int i = 0; (line = config_doubt(cfg, i)) != NULL; i++)
		say_warning("%s", line);
}
