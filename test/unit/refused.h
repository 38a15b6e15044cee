/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of parameters. */
#ifndef QUENCH_TEST_UNIT_REFUSED_H
#define QUENCH_TEST_UNIT_REFUSED_H

#include <errno.h>
#include <string.h>

#include "unit/cases.h"

/* x_params_check() refuses the parameters, and names the key. */
#define assert_refused(check, params, key)                                                         \
	do {                                                                                       \
		char refused_why[256];                                                             \
                                                                                                   \
		assert_int_equal(check(params, refused_why, sizeof(refused_why)), -EINVAL);        \
		assert_non_null(strstr(refused_why, key));                                         \
	} while (0)

#endif
