/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as a MAC Control frame: what is understood, and built again, is understood as the same.
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "wire/link/pfc_frame.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mac_control m, again;
	uint8_t buf[PFC_FRAME_BYTES];
	enum mac_control_kind kind = mac_control_parse(data, len, &m);

	switch (kind) {
	case MAC_CONTROL_PFC:
		FUZZ_CHECK(len >= PFC_MIN_BYTES);
		for (unsigned int prio = 0; prio < 8; prio++)
			FUZZ_CHECK((m.enable >> prio & 1) || m.quanta[prio] == 0);
		pfc_frame_build(buf, data + 6, m.enable, m.quanta);
		break;
	case MAC_CONTROL_PAUSE:
		FUZZ_CHECK(len >= PAUSE_MIN_BYTES && m.enable == 0);
		pause_frame_build(buf, data + 6, m.quanta[0]);
		FUZZ_CHECK(memcmp(buf + 12, data + 12, 6) == 0);
		break;
	case MAC_CONTROL_UNKNOWN:
		FUZZ_CHECK(len >= 16);
		return 0;
	case MAC_CONTROL_MALFORMED:
		FUZZ_CHECK(len < PFC_MIN_BYTES || be16_load(data + 12) != ETHERTYPE_MAC_CONTROL);
		return 0;
	}
	FUZZ_CHECK(mac_control_parse(buf, sizeof(buf), &again) == kind);
	FUZZ_CHECK(memcmp(&again, &m, sizeof(m)) == 0);
	return 0;
}
