/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as an LLDP frame: what is understood, and built again, is understood as the same.
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "wire/link/lldp.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct lldp_info info, again;
	uint8_t buf[LLDP_MAX_BYTES];

	if (lldp_parse(data, len, &info) != LLDP_OK)
		return 0;
	FUZZ_CHECK(info.chassis.len > 0 && info.port.len > 0);
	FUZZ_CHECK((info.dcbx.present & info.dcbx.bad) == 0);
	FUZZ_CHECK(info.dcbx.n_apps <= DCBX_MAX_APPS);
	if (info.chassis.len > 64 || info.port.len > 64)
		return 0;
	FUZZ_CHECK(lldp_parse(buf, lldp_build(buf, &info), &again) == LLDP_OK);
	FUZZ_CHECK(again.dcbx.present == info.dcbx.present && again.dcbx.bad == 0);
	FUZZ_CHECK(again.ttl_s == info.ttl_s);
	FUZZ_CHECK(memcmp(&again.chassis, &info.chassis, sizeof(info.chassis)) == 0);
	if (dcbx_has(&info.dcbx, DCBX_PFC))
		FUZZ_CHECK(memcmp(&again.dcbx.pfc, &info.dcbx.pfc, sizeof(info.dcbx.pfc)) == 0);
	return 0;
}
