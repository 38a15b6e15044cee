/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of unknown origin: names of files, and what a program says. */
#ifndef QUENCH_APP_QUENCHCTL_SOCKET_UTF8_H
#define QUENCH_APP_QUENCHCTL_SOCKET_UTF8_H

#include <stddef.h>

/** @return bytes of the character at text, 1 to 4; 0: it is none (RFC 3629), or the text ends
 * here. */
size_t utf8_char_bytes(const char *text);

/** Put '?' in place of each control character and each byte that is no UTF-8. */
void utf8_clean(char *text);

#endif
