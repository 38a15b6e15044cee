/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/mad/mad.h"

#include <string.h>

#include "wire/bytes/be.h"

bool
mad_parse(const uint8_t *buf, size_t len, struct mad *out)
{
	if (len != MAD_BYTES || buf[0] != MAD_BASE_VERSION)
		return false;
	*out = (struct mad){
		.class = buf[1],
		.class_version = buf[2],
		.method = buf[3],
		.status = be16_load(buf + 4),
		.transaction_id = be64_load(buf + 8),
		.attribute = be16_load(buf + 16),
	};
	return true;
}

void
mad_build(uint8_t *buf, const struct mad *mad)
{
	memset(buf, 0, MAD_BYTES);
	buf[0] = MAD_BASE_VERSION;
	buf[1] = mad->class;
	buf[2] = mad->class_version;
	buf[3] = mad->method;
	be16_store(buf + 4, mad->status);
	be64_store(buf + 8, mad->transaction_id);
	be16_store(buf + 16, mad->attribute);
}
