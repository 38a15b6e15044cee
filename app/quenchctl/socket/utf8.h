/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts from outside: file names, and replies of programs. */
#ifndef QUENCH_APP_QUENCHCTL_SOCKET_UTF8_H
#define QUENCH_APP_QUENCHCTL_SOCKET_UTF8_H

#include <stddef.h>

/** @return bytes of the character at text, 1 to 4; 0: not UTF-8 (RFC 3629), or the text ends. */
size_t utf8_char_bytes(const char *text);

/** Replace each control character and each byte that is not UTF-8 by '?'. */
void utf8_clean(char *text);

#endif
