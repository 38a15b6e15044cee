/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of a switch's configuration: text read as the program reads its file. */
#ifndef QUENCH_TEST_UNIT_CTL_SWITCH_TEXT_H
#define QUENCH_TEST_UNIT_CTL_SWITCH_TEXT_H

#include "unit/config_text.h"
#include "ctl/switch_config/switch_config.h"

#define TWO_PORTS "[port]\nlink_speed_bps = 40G\n[port 0]\n[port 1]\n"

/* Read, then refuse the rest. */
static inline int
read_text(const char *text, struct sw_params *p, struct config_error *err)
{
	struct config *cfg = open_text(text);
	int rc = switch_config_read(cfg, p, err);

	if (rc == 0)
		rc = config_finish(cfg, err);
	config_close(cfg);
	return rc;
}

/* Refused in one line, which begins so. */
static inline void
is_refused(const char *text, const char *error)
{
	struct config_error err = {"no error"};
	struct sw_params p;

	if (read_text(text, &p, &err) != -EINVAL)
		fail_msg("accepted: %s", text);
	if (strncmp(err.text, error, strlen(error)) != 0)
		assert_string_equal(err.text, error);
	assert_null(strchr(err.text, '\n'));
}

#endif
