/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes from the page (web --control): POST /control with a JSON object.
 *
 * Who may change has the token: random, printed at start, or from a file. The page sends it in a
 * header, and a foreign page does not know it. A cookie would not do: a browser adds cookies to the
 * requests of foreign pages too. http.h says which requests come here at all.
 */
#ifndef QUENCH_APP_QUENCHCTL_WEB_WEB_CONTROL_H
#define QUENCH_APP_QUENCHCTL_WEB_WEB_CONTROL_H

#include "quenchctl/socket/http.h"
#include "quenchctl/web/web_programs.h"

struct web_control;

/**
 * @param file  Read the token from this file; NULL: a random one.
 * @return      0, or an exit code after an error line.
 */
int web_control_open(const char *file, struct web_programs *programs, struct web_control **opened);
/** NULL is allowed. */
void web_control_close(struct web_control *w);

/** The token if it is random, for the URL; NULL: it is from a file. */
const char *web_control_token(const struct web_control *w);

/** Has a POST the token? @return false: no, and the answer is 401. */
bool web_control_accept(const struct web_control *w, const struct http_request *r,
			struct http_answer *answer);

/**
 * Answer a POST that has the token. The body is an object with "program", its name on the page,
 * and "do":
 *
 * | do | other members |
 * | show | |
 * | curve | port, queue, only (a boolean), and of Kmin, Kmax, Pmax those that change |
 * | cap | flow, cap |
 * | start, stop, reset | flow |
 *
 * New values are texts as in a configuration file. The answer is {"done", "settings"}: the reply of
 * the program, null for show, and web_settings() read after it. An error is one line of text, with
 * 400 for another body, 404 for an unknown program, 422 for what the program refuses, 502 if it is
 * gone and 504 if it is silent. Each program has one request at a time: one that has waited for 5 s
 * gets 503, and one whose client has gone while it waited changes nothing.
 */
void web_control_answer(struct web_control *w, const struct http_request *r,
			struct http_answer *answer);

#endif
