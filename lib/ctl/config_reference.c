/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/config_reference.h"

#include "ctl/nic_config.h"
#include "ctl/switch_config.h"

void
config_reference_print(FILE *out)
{
	fputs("# Parameters\n\n"
	      "Generated from the tables that the programs read. A bare number counts the unit in "
	      "the\n"
	      "key's name; a suffix of the same kind converts (40G, 55us, 12MB, 12MiB, 1%), and "
	      "what\n"
	      "does not come out whole is refused. `#` and `;` at the start of a line or after a "
	      "blank\n"
	      "begin a comment. A key or section that nobody knows is an error.\n\n"
	      "# quench-switch\n\n",
	      out);
	switch_config_print_reference(out);
	fputs("# quench-nic\n\n", out);
	nic_config_print_reference(out);
}
