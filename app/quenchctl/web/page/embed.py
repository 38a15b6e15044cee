#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write files as C arrays: embed.py OUT.h NAME=CONTENT-TYPE=FILE..."""
import pathlib
import sys

out, *files = sys.argv[1:]
lines = ["/* Made by app/quenchctl/web/page/embed.py. */",
         "#include <stddef.h>",
         "struct web_file { const char *content_type; const unsigned char *data; size_t bytes; };"]
for name, rest in (f.split("=", 1) for f in files):
    content_type, path = rest.rsplit("=", 1)
    data = pathlib.Path(path).read_bytes()
    lines.append(f"static const unsigned char web_{name}_data[] = {{{','.join(map(str, data))}}};")
    lines.append(f'static const struct web_file web_{name} = {{"{content_type}", web_{name}_data, sizeof(web_{name}_data)}};')
pathlib.Path(out).write_text("\n".join(lines) + "\n", encoding="ascii")
