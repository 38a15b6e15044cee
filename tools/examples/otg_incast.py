#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""An incast by snappi, the Python client of the Open Traffic Generator API (pip install snappi).

    tools/examples/otg_incast.py LOCATION [SECONDS]

LOCATION is the URL that quench-otg printed; with a token, https://otg:TOKEN@HOST:PORT. doc/otg.md starts quench-otg and the switch.
"""
import pathlib
import sys
import time

import snappi

CONFIG = pathlib.Path(__file__).resolve().parents[2] / "config" / "otg" / "incast.json"


def traffic(api, state):
    control = api.control_state()
    control.traffic.flow_transmit.state = state
    api.set_control_state(control)


def main(location, seconds="3"):
    api = snappi.api(location=location, verify=False)
    config = api.config()
    config.deserialize(CONFIG.read_text(encoding="utf-8"))
    for warning in api.set_config(config).warnings:
        print(f"warning: {warning}")
    traffic(api, "start")
    time.sleep(float(seconds))
    traffic(api, "stop")
    request = api.metrics_request()
    request.rocev2_flow.per_qp.column_names = []
    for flow in api.get_metrics(request).rocev2_flow_per_qp_metrics:
        print(f"{flow.flow_name}: {flow.message_complete_rx} messages, {flow.data_frames_rx} frames, {flow.ecn_ce_rx} marked, {flow.cnp_rx} CNPs, "
              f"{flow.data_frames_retransmitted} sent again")


if __name__ == "__main__":
    main(*sys.argv[1:])
