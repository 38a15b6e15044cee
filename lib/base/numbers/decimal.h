/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUENCH_BASE_NUMBERS_DECIMAL_H
#define QUENCH_BASE_NUMBERS_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Parse a whole text as a decimal number: digits only, which strtoull() alone does not check.
 *
 * @return false: it is none, or not in [min, max]; *out is unchanged.
 */
bool decimal_parse(const char *text, uint64_t min, uint64_t max, uint64_t *out);

#endif
