/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUENCH_BASE_ARRAY_H
#define QUENCH_BASE_ARRAY_H

/** Elements of an array; a pointer is an error of the compiler (-Wsizeof-pointer-div). */
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
