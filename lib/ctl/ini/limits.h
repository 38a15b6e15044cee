/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of an INI file. */
#ifndef QUENCH_CTL_INI_LIMITS_H
#define QUENCH_CTL_INI_LIMITS_H

/* Lengths are without the terminating zero. */
#define CONFIG_MAX_FILE_BYTES (1u << 20)
#define CONFIG_MAX_SECTIONS 4096
#define CONFIG_MAX_KEYS 1024 /* of one section */
#define CONFIG_MAX_NAME 63   /* section and key */
#define CONFIG_MAX_VALUE 255

#endif
