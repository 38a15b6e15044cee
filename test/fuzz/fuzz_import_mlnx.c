/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz/fuzz_import.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct import_log log = {.file = "in"};
	struct nic_config nic;

	/* What is taken has been read back by the reader of quench-nic already. */
	if (import_mlnx((const char *)data, len, &nic, &log) != 0)
		fuzz_check_refusal(&log);
	else
		nic_config_free(&nic);
	import_log_free(&log);
	return 0;
}
