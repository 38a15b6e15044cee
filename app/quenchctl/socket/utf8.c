/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/socket/utf8.h"

#include "base/numbers/array.h"

#include <stdint.h>

/* RFC 3629, section 4: the first byte, and the range of the second. */
static const struct form {
	uint8_t first, last, least_second, most_second;
	size_t bytes;
} forms[] = {
	{0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
	{0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
	{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

size_t
utf8_char_bytes(const char *text)
{
	const uint8_t *c = (const uint8_t *)text;

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		const struct form *f = &forms[i];

		if (c[0] < f->first || c[0] > f->last)
			continue;
		if (f->bytes > 1 && (c[1] < f->least_second || c[1] > f->most_second))
			return 0;
		for (size_t k = 2; k < f->bytes; k++)
			if (c[k] < 0x80 || c[k] > 0xbf)
				return 0;
		return f->bytes;
	}
	return 0;
}

void
utf8_clean(char *text)
{
	while (*text != '\0') {
		size_t n = utf8_char_bytes(text);

		if (n == 0 || (n == 1 && ((uint8_t)*text < 0x20 || *text == 0x7f))) {
			*text = '?';
			n = 1;
		}
		text += n;
	}
}
