#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl web in Chromium: a switch and a NIC on a page, clicks, two viewers, a program that ends and comes back, no other host."""
import json
import os
import re
import signal
import time

from harness import PATIENCE_S, check, check_equal, finish, skip, work_dir
from looked_at import check_no_program, start_nic, start_switch
from telemetry import prefix
from web_page import Web

try:
    from selenium import webdriver
    from selenium.webdriver.common.by import By
except ImportError:
    skip("python3-selenium is not installed")


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
    program = data["programs"][0]
    check_equal("/data: program", [program["program"], program["state"]], ["quench-switch", "live"])
    check_equal("/data: its ports", [[p["name"], p["device"], p["speed"]] for p in program["picture"]["ports"]],
                [["port 0", "net_null0", 1e9], ["port 1", "net_null1", 1e10]])
    check("only this server's scripts run on the page", "default-src 'self'" in headers["Content-Security-Policy"])
    began, answers = time.monotonic(), [json.loads(web.get("data")[0]) for _ in range(60)]
    seen = {a["programs"][0]["elapsed_ns"] for a in answers}
    check("however often /data is asked, the program is asked twice a second",
          len(seen) <= 2 * (time.monotonic() - began) + 2, f"{len(seen)} readings")
    later = json.loads(web.get(f"data?since={answers[-1]['number']}")[0])
    check("/data?since=N has no point twice", len(later["programs"][0]["history"]["at_ms"]) < len(answers[-1]["programs"][0]["history"]["at_ms"]))
    for host in ("evil.example", "127.0.0.1.evil.example", "127.evil.example"):
        check_equal(f"Host {host} is refused", web.status("data", Host=host), 403)
    check_equal("since must be a number", web.status("data?since=x"), 400)


def opened(url, width=1280):
    page = browser(width)
    page.get(url)
    return page


def of(name):
    return f'[data-name="{name}"] '


def check_switch_page(page, other, name):
    css = of(name)
    wait("the switch is live", lambda: text(page, css + "h2") == name and text(page, css + ".state") == "live")
    wait("a card for each port, with its speed", lambda: count(page, css + ".port") == 2 and text(page, css + '[data-port="port 1"] .speed') == "10 Gb/s")
    wait("what comes in by net_null", lambda: re.search(r"in [\d.]+ [MG]b/s", text(page, css + '[data-port="port 1"]')))
    wait("bars of queues with both WRED thresholds", lambda: count(page, css + ".bar .mark.wred") >= 4)
    wait("three charts", lambda: count(page, css + ".chart canvas") == 3)
    wait("drops and pauses are tiles", lambda: {"drops", "pauses sent", "pauses received"} <= {
        e.text for e in page.find_elements(By.CSS_SELECTOR, css + ".stat span")})
    wait("lines of both ports", lambda: "port 0 in" in text(page, css + ".rates") and "port 1 in" in text(page, css + ".rates"))
    keep(page, "web-switch")
    page.find_element(By.CSS_SELECTOR, css + '[data-port="port 1"]').click()
    wait("a click on a port shows it alone", lambda: "port 0 in" not in text(page, css + ".rates") and "port 1 in" in text(page, css + ".rates"))
    check_equal("its card is pressed", page.find_element(By.CSS_SELECTOR, css + '[data-port="port 1"]').get_attribute("aria-pressed"), "true")
    wait("the other viewer's page is as it was", lambda: "port 0 in" in text(other, css + ".rates"))
    page.find_element(By.CSS_SELECTOR, css + '[data-port="port 1"]').click()
    wait("a second click shows all", lambda: "port 0 in" in text(page, css + ".rates"))
    page.find_element(By.CSS_SELECTOR, "#hold").click()
    wait("hold stops the picture", lambda: text(page, "#state") == "held")
    page.find_element(By.CSS_SELECTOR, "#hold").click()
    wait("and lets it go on", lambda: text(page, "#state") == "live")
    check("on a narrow screen nothing is cut off", other.execute_script(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"))


def check_nic_page(page, name):
    css = of(name)
    wait("a NIC on the same page", lambda: text(page, css + ".state") == "live" and count(page, css + ".port") == 1)
    wait("its flows; a name is text, whatever is in it", lambda: "<b>write</b>" in text(page, css + ".rates"))
    wait("a bar for each of its flows", lambda: text(page, css + ".bar span") == "<b>write</b>" and "b/s" in text(page, css + ".bar output"))
    wait("who points nowhere reads the newest values, in units a person reads",
         lambda: re.search(r"<b>write</b>:?\s*[\d.]+ [kMG]b/s", text(page, css + ".rates")) and
         re.search(r"[\d.]+ (m|\u00b5)s", text(page, css + ".depth")))
    wait("CNPs and pauses", lambda: "CNPs handled" in text(page, css + ".signals"))


def points(page, name):
    return page.execute_script("return views.get(arguments[0]).history.times", name)


def check_page(work):
    name, nic_name = prefix("web"), prefix("webn")
    switch, nic = start_switch(work, name), start_nic(work, nic_name, "<b>write</b>")
    web = Web()  # all programs
    page = opened(web.url)
    wait("both programs", lambda: {name, nic_name} <= {e.text for e in page.find_elements(By.CSS_SELECTOR, "h2")})
    wait("some history", lambda: len(points(page, name)) >= 6)
    other = opened(web.url, 420)
    wait("a second viewer has what the first one saw before", lambda: points(other, name)[:6] == points(page, name)[:6])
    check_switch_page(page, other, name)
    check_nic_page(page, nic_name)
    keep(other, "web-narrow")
    check_equal("the switch ends", switch.stop(), 0)
    for viewer in (page, other):
        wait("both viewers are told, and when", lambda viewer=viewer: re.match(r"ended at \d\d:\d\d:\d\d", text(viewer, of(name) + ".state")))
    check("its last picture stays", "in " in text(page, of(name) + '[data-port="port 1"]') and "port 1 in" in text(page, of(name) + ".rates"))
    check_equal("the NIC goes on", text(page, of(nic_name) + ".state"), "live")
    keep(page, "web-ended")
    third = opened(web.url)
    wait("a viewer who comes later sees the last picture, too", lambda: "in " in text(third, of(name) + '[data-port="port 1"]'))
    third.quit()
    switch = start_switch(work, name)
    wait("the page goes on when it is back", lambda: text(page, of(name) + ".state") == "live" and
         f"pid {switch.process.pid}" in text(page, of(name) + ".facts"))
    wait("and its events say so", lambda: "has ended" in text(page, "#events") and f"runs, pid {switch.process.pid}" in text(page, "#events"))
    check_equal("no error in the browser", errors(page) + errors(other), [])
    check_equal("SIGTERM ends web", web.stop(), 0)
    wait("a page without its server says so", lambda: "does not answer" in text(page, "#state"))
    page.quit()
    other.quit()
    switch.stop()
    nic.stop()


def check_one(work):
    name = prefix("web1")
    switch = start_switch(work, name)
    web = Web("-f", name)
    wait("-f NAME: the program is live", lambda: [p["state"] for p in json.loads(web.get("data")[0])["programs"]] == ["live"])
    check_equal("-f NAME: it alone", [p["name"] for p in json.loads(web.get("data")[0])["programs"]], [name])
    check_server(web)
    web.stop()
    switch.stop()


def main():
    work = work_dir()
    check_page(work)
    check_one(work)
    check_no_program("web")
    finish()


main()
