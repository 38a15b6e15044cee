#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl web in Chromium: the page of both programs, clicks, two viewers, a program that comes back, no other host."""
import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

from harness import BUILD, PATIENCE_S, check, check_equal, finish, skip, work_dir
from looked_at import check_no_program, start_nic, start_switch
from telemetry import prefix

try:
    from selenium import webdriver
    from selenium.webdriver.common.by import By
except ImportError:
    skip("python3-selenium is not installed")


class Web:
    def __init__(self, name, *options):
        self.process = subprocess.Popen([BUILD / "app/quenchctl/quenchctl", "-f", name, "--listen", "127.0.0.1:0", *options, "web"],
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        self.url = re.search(r"http://\S+", line).group(0) if "http" in line else None
        check("web says where it is", self.url is not None, line)

    def get(self, path, **headers):
        with urllib.request.urlopen(urllib.request.Request(self.url + path, headers=headers), timeout=PATIENCE_S) as reply:
            return reply.read().decode(), reply.headers

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S)


def browser(width=1280):
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", f"--window-size={width},1100",
                 # Nothing but the page's own server is there.
                 "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.chrome.service.Service("/usr/bin/chromedriver"))


def wait(what, holds):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            if holds():
                return check(what, True)
        except Exception as error:  # an element that has just been replaced
            last = error
        time.sleep(0.1)
    return check(what, False, locals().get("last", ""))


def text(page, css):
    return page.find_element(By.CSS_SELECTOR, css).text


def count(page, css):
    return len(page.find_elements(By.CSS_SELECTOR, css))


def errors(page):
    return [entry["message"] for entry in page.get_log("browser") if entry["level"] == "SEVERE"]


def keep(page, name):
    if os.environ.get("QUENCH_KEEP"):
        page.save_screenshot(f"{os.environ['QUENCH_KEEP']}/{name}.png")


def check_server(web):
    data, headers = web.get("data")
    data = json.loads(data)
    check_equal("/data: program", [data["program"], data["up"]], ["quench-switch", True])
    check_equal("/data: its ports", [p["device"] for p in data["replies"]["ports"]["rows"]], ["net_null0", "net_null1"])
    check("only this server's scripts run on the page", "default-src 'self'" in headers["Content-Security-Policy"])
    began = time.monotonic()
    seen = {json.loads(web.get("data")[0])["elapsed_ns"] for _ in range(60)}
    check("however often /data is asked, the program is asked four times a second",
          len(seen) <= 4 * (time.monotonic() - began) + 2, f"{len(seen)} readings")
    for host in ("evil.example", "127.0.0.1.evil.example", "127.evil.example"):
        try:
            web.get("data", Host=host)
            check(f"Host {host} is refused", False)
        except urllib.error.HTTPError as error:
            check_equal(f"Host {host} is refused", error.code, 403)


def check_switch(work):
    name = prefix("web")
    switch = start_switch(work, name)
    web = Web(name)
    check_server(web)
    page, other = browser(), browser(420)
    page.get(web.url)
    other.get(web.url)
    wait("the program's name", lambda: text(page, "#program") == "quench-switch" and text(page, "#state") == "live")
    wait("a tile for each port", lambda: count(page, ".tile") == 2)
    wait("what comes in by net_null", lambda: re.match(r"in [\d.]+ [MG]b/s", text(page, '[data-port="1"] small')))
    wait("bars of queues with both WRED thresholds", lambda: count(page, ".bar .mark.wred") >= 4)
    wait("three charts", lambda: count(page, ".chart canvas") == 3)
    wait("lines of both ports", lambda: "port 0 in" in text(page, "#rates") and "port 1 in" in text(page, "#rates"))
    keep(page, "web-switch")
    page.find_element(By.CSS_SELECTOR, '[data-port="1"]').click()
    wait("a click on a port shows it alone", lambda: "port 0 in" not in text(page, "#rates") and "port 1 in" in text(page, "#rates"))
    check_equal("its tile is pressed", page.find_element(By.CSS_SELECTOR, '[data-port="1"]').get_attribute("aria-pressed"), "true")
    wait("the other viewer's page is as it was", lambda: "port 0 in" in text(other, "#rates"))
    page.find_element(By.CSS_SELECTOR, '[data-port="1"]').click()
    wait("a second click shows all", lambda: "port 0 in" in text(page, "#rates"))
    page.find_element(By.CSS_SELECTOR, "#hold").click()
    wait("hold stops the picture", lambda: text(page, "#state") == "held")
    page.find_element(By.CSS_SELECTOR, "#hold").click()
    wait("and lets it go on", lambda: text(page, "#state") == "live")
    check("on a narrow screen nothing is cut off", other.execute_script(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"))
    keep(other, "web-narrow")
    check_equal("the switch ends", switch.stop(), 0)
    for viewer in (page, other):
        wait("both viewers are told", lambda viewer=viewer: "is gone" in text(viewer, "#state"))
    switch = start_switch(work, name)
    wait("the page goes on when it is back", lambda: text(page, "#state") == "live" and
         f"pid {switch.process.pid}" in text(page, "#facts"))
    wait("and its events say so", lambda: "is gone" in text(page, "#events") and f"runs, pid {switch.process.pid}" in text(page, "#events"))
    check_equal("no error in the browser", errors(page) + errors(other), [])
    check_equal("SIGTERM ends web", web.stop(), 0)
    wait("a page without its server says so", lambda: "does not answer" in text(page, "#state"))
    page.quit()
    other.quit()
    switch.stop()


def check_nic(work):
    name = prefix("webn")
    nic = start_nic(work, name, "<b>write</b>")
    web = Web(name)
    page = browser()
    page.get(web.url)
    wait("a NIC's page", lambda: text(page, "#program") == "quench-nic" and count(page, ".tile") == 1)
    wait("its flows; a name is text, whatever is in it", lambda: "<b>write</b>" in text(page, "#rates"))
    wait("a bar for each of its flows", lambda: text(page, ".bar span") == "<b>write</b>" and "b/s" in text(page, ".bar output"))
    wait("who points nowhere reads the newest values, in units a person reads",
         lambda: re.search(r"<b>write</b>:?\s*[\d.]+ [KMG]b/s", text(page, "#rates")) and re.search(r"[\d.]+ (m|\u00b5)s", text(page, "#depth")))
    wait("CNPs and pauses", lambda: "CNPs handled" in text(page, "#signals"))
    keep(page, "web-nic")
    check_equal("no error in the browser", errors(page), [])
    page.quit()
    web.stop()
    nic.stop()


def main():
    work = work_dir()
    check_switch(work)
    check_nic(work)
    check_no_program("web")
    finish()


main()
