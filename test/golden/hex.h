/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames in hexadecimal text files: any number of lines, two digits a byte.
 */
#ifndef QUENCH_TEST_GOLDEN_HEX_H
#define QUENCH_TEST_GOLDEN_HEX_H

#include <stdint.h>
#include <stdio.h>

/** @return bytes read, 0 if the file cannot be read or holds anything else. */
static inline size_t
hex_read(const char *dir, const char *name, uint8_t *buf, size_t max_pkts)
{
	char path[1024];
	unsigned int byte;
	size_t n = 0;
	FILE *file;
	int got;

	snprintf(path, sizeof(path), "%s/%s.hex", dir, name);
	file = fopen(path, "r");
	if (file == NULL)
		return 0;
	while (n < max_pkts && (got = fscanf(file, " %2x", &byte)) == 1)
		buf[n++] = (uint8_t)byte;
	if (n < max_pkts && got != EOF)
		n = 0;
	fclose(file);
	return n;
}

#endif
