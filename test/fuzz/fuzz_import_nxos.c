/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz/fuzz_import.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	fuzz_switch(import_nxos, data, len, false);
	return 0;
}
