/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUENCH_BASE_NUMBERS_ARRAY_H
#define QUENCH_BASE_NUMBERS_ARRAY_H

/** Number of elements of an array. For a pointer the compiler warns (-Wsizeof-pointer-div). */
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
