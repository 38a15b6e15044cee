/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as messages of perftest's exchange: a message that is read is written as it came. */
#include <string.h>
#include <strings.h>

#include "fuzz/fuzz.h"
#include "quenchctl/perftest/perftest_wire.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t text[PERFTEST_END_BYTES + 1] = {0}, again[PERFTEST_END_BYTES + 1] = {0};
	struct perftest_end end;
	uint16_t mtu_bytes;

	memcpy(text, data, len < PERFTEST_END_BYTES ? len : PERFTEST_END_BYTES);
	if (perftest_get_end(text, &end)) {
		perftest_put_end(&end, again);
		FUZZ_CHECK(strcasecmp((const char *)text, (const char *)again) == 0);
	}
	mtu_bytes = perftest_mtu(text);
	if (mtu_bytes != 0) {
		perftest_put_mtu(mtu_bytes, again);
		FUZZ_CHECK(memcmp(text, again, PERFTEST_MTU_BYTES) == 0);
	}
	FUZZ_CHECK(perftest_version(text) < 10000000);
	return 0;
}
