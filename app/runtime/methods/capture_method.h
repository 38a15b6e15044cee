/* SPDX-License-Identifier: BSD-3-Clause */
/* The method that begins a capture of a port (runtime/capture/capture.h). */
#ifndef QUENCH_APP_RUNTIME_METHODS_CAPTURE_METHOD_H
#define QUENCH_APP_RUNTIME_METHODS_CAPTURE_METHOD_H

#include "runtime/desk/desk.h"

desk_reply capture_reply;

extern const struct desk_param capture_params_of_method[];

/* A row for a program's table of methods. */
/* clang-format off */
#define CAPTURE_METHOD                                                                               \
	{"capture", capture_params_of_method, "Returns the socket of a capture of a port", capture_reply}
/* clang-format on */

#endif
