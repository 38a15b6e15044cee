/* SPDX-License-Identifier: BSD-3-Clause */
/* The error line of a configuration, and the limits of an INI file. */
#ifndef QUENCH_CTL_INI_CONFIG_ERROR_H
#define QUENCH_CTL_INI_CONFIG_ERROR_H

/* Lengths are without the terminating zero. */
#define CONFIG_MAX_FILE_BYTES (1u << 20)
#define CONFIG_MAX_SECTIONS 4096
#define CONFIG_MAX_KEYS 1024 /* of one section */
#define CONFIG_MAX_NAME 63   /* section and key */
#define CONFIG_MAX_VALUE 12287

struct config_error {
	char text[1024]; /* without a newline */
};

/** Fill err like printf, after the path; a long path is cut at its start. */
__attribute__((format(printf, 3, 4))) void
config_error_set(struct config_error *err, const char *path, const char *format, ...);

/** The same after "path:line:", or after "path:" if line is 0. */
__attribute__((format(printf, 4, 5))) void config_error_at(struct config_error *err,
							   const char *path, unsigned int line,
							   const char *format, ...);

#endif
