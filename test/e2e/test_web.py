#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl web in Chromium: a switch and a NIC on a page, clicks, two viewers, changes, a foreign page, a program that ends and comes back."""
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import threading
import time

from ctl import Ctl
from harness import BUILD, check, check_equal, finish, halt, run, skip, until, work_dir
from looked_at import LONG, check_no_program, start_nic, start_switch
from desk import BASE, prefix
from web_page import Web

try:
    from selenium import webdriver
    from selenium.webdriver.common.by import By
except ImportError:
    skip("python3-selenium is not installed")


class Page:
    """A window of the one browser of this test: each further browser would cost seconds."""
    driver = None

    def __init__(self, url, width=1280):
        if Page.driver is None:
            options = webdriver.ChromeOptions()
            for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                         # A page that is not in front goes on.
                         "--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows",
                         # Nothing but this machine is there.
                         "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"):
                options.add_argument(word)
            options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
            Page.driver = webdriver.Chrome(options=options, service=webdriver.chrome.service.Service("/usr/bin/chromedriver"))
        else:
            Page.driver.switch_to.new_window("window")
        self.window = Page.driver.current_window_handle
        self.width(width)
        Page.driver.get(url)

    def width(self, pixels):
        self.front().execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": pixels, "height": 1100, "deviceScaleFactor": 1, "mobile": False})

    def front(self):
        Page.driver.switch_to.window(self.window)
        return Page.driver

    def all(self, css):
        return self.front().find_elements(By.CSS_SELECTOR, css)

    def one(self, css):
        return self.front().find_element(By.CSS_SELECTOR, css)

    def script(self, text, *args):
        return self.front().execute_script(text, *args)

    def close(self):
        self.front().close()


def wait(what, holds):
    last = ""

    def good():
        nonlocal last
        try:
            return holds()
        except Exception as error:  # an element that has just been replaced
            last = error
            return False

    return check(what, until(good), last)


def text(page, css):
    return page.one(css).text


def count(page, css):
    return len(page.all(css))


def errors():
    """But for what a program refused."""
    return [entry["message"] for entry in Page.driver.get_log("browser") if entry["level"] == "SEVERE" and "a status of 422" not in entry["message"]]


def keep(page, name):
    if os.environ.get("QUENCH_KEEP"):
        page.front().save_screenshot(f"{os.environ['QUENCH_KEEP']}/{name}.png")


def check_server(web):
    data, headers = web.get("data")
    data = json.loads(data)
    program = data["programs"][0]
    check_equal("/data: program", [program["program"], program["state"]], ["quench-switch", "live"])
    check_equal("/data: its ports", [[p["name"], p["device"], p["speed"]] for p in program["picture"]["ports"]],
                [["port 0", "net_pcap0", 1e9], ["port 1", "net_ring0", 1e10], [LONG, "net_ring1", 1e9], ["port 3", "net_null0", 1e9]])
    check("only this server's scripts run on the page", "default-src 'self'" in headers["Content-Security-Policy"])
    began, answers = time.monotonic(), [json.loads(web.get("data")[0]) for _ in range(60)]
    seen = {a["programs"][0]["elapsed_ns"] for a in answers}
    # The one before, one that was late, and those of the time.
    check("however often /data is asked, the program is asked twice a second",
          len(seen) <= 2 * (time.monotonic() - began) + 3, f"{len(seen)} readings")
    later = json.loads(web.get(f"data?since={answers[-1]['number']}")[0])
    check_equal("/data?since=N has no point twice", set(later["programs"][0]["history"]["at_ms"]) & set(answers[-1]["programs"][0]["history"]["at_ms"]), set())
    for host in ("evil.example", "127.0.0.1.evil.example", "127.evil.example"):
        check_equal(f"Host {host} is refused", web.status("data", Host=host), 403)
    check_equal("since must be a number", web.status("data?since=x"), 400)


def of(name):
    return f'[data-name="{name}"] '


# Of what is on the screen: what is wider than the page, texts that are cut, and those with less contrast than WCAG's 4.5 (1.4.3).
# Other programs of this machine are on the page, too: those of other tests come and go.
FAULTS = """
const numbers = colour => { const n = colour.match(/[\\d.]+/g).map(Number); return n.length > 3 ? n : [...n, 1]; };
const over = (a, b, part) => a.slice(0, 3).map((v, i) => v * part + b[i] * (1 - part));
const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const chain = e => e.parentElement ? [...chain(e.parentElement), e] : [e];
const page = numbers(getComputedStyle(document.body).backgroundColor);
const found = document.documentElement.scrollWidth > document.documentElement.clientWidth ? ["the page is wider than the screen"] : [];
const foreign = e => e !== null && !e.dataset.name.startsWith(arguments[0]);
for (const e of document.querySelectorAll("body *")) {
  const words = [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data.trim()).join("");
  if (words === "" || !e.checkVisibility() || e.closest(":disabled, option, script, template") || foreign(e.closest("[data-name]")))
    continue;
  let ground = page, shown = 1;
  for (const up of chain(e)) {
    const own = numbers(getComputedStyle(up).backgroundColor);
    shown *= getComputedStyle(up).opacity;
    ground = over(own, ground, own[3] * shown);
  }
  const ink = over(numbers(getComputedStyle(e).color), ground, shown), [high, low] = [light(ink), light(ground)].sort((a, b) => b - a);
  if ((high + 0.05) / (low + 0.05) < 4.5)
    found.push(`contrast ${((high + 0.05) / (low + 0.05)).toFixed(1)}: ${words}`);
  if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && getComputedStyle(e).display !== "inline")
    found.push(`cut: ${words}`);
}
return [...new Set(found)];"""


def faults(page):
    """In the light and in the dark."""
    found = []
    for scheme in ("light", "dark"):
        page.front().execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        found += [f"{scheme}: {fault}" for fault in page.script(FAULTS, prefix(""))]
    return found


def check_switch_page(page, other, name):
    css = of(name)
    wait("the switch is live", lambda: text(page, css + "h2") == name and text(page, css + ".state") == "live")
    wait("a card for each port, with its speed", lambda: count(page, css + ".port") == 4 and text(page, css + '[data-port="port 1"] .speed') == "10 Gb/s, shaped to 20 Mb/s")
    wait("what comes in", lambda: re.search(r"in (?=[\d.]*[1-9])[\d.]+ [kMG]?b/s", text(page, css + '[data-port="port 1"]')))
    wait("bars of queues with both WRED thresholds", lambda: count(page, css + ".bar .mark.wred") >= 4)
    wait("four charts", lambda: count(page, css + ".chart canvas") == 4)
    wait("drops and pauses are tiles", lambda: {"drops", "pauses sent", "pauses received"} <= {
        e.text for e in page.all(css + ".stat span")})
    wait("lines of both ports", lambda: f"{LONG} in" in text(page, css + ".rates") and "port 1 in" in text(page, css + ".rates"))
    keep(page, "web-switch")
    page.one(css + '[data-port="port 1"]').click()
    wait("a click on a port shows it alone", lambda: f"{LONG} in" not in text(page, css + ".rates") and "port 1 in" in text(page, css + ".rates"))
    check_equal("its card is pressed", page.one(css + '[data-port="port 1"]').get_attribute("aria-pressed"), "true")
    wait("the other viewer's page is as it was", lambda: f"{LONG} in" in text(other, css + ".rates"))
    page.one(css + '[data-port="port 1"]').click()
    wait("a second click shows all", lambda: f"{LONG} in" in text(page, css + ".rates"))
    page.one("#hold").click()
    wait("hold stops the picture", lambda: [text(page, "#state"), text(page, css + ".state")] == ["held", "held"])
    check("and no word of it is green", all("held" in page.one(state).get_attribute("class") for state in ("#state", css + ".state")))
    page.one("#hold").click()
    wait("and lets it go on", lambda: [text(page, "#state"), text(page, css + ".state")] == ["live", "live"])
    check("which is green", not any("held" in page.one(state).get_attribute("class") for state in ("#state", css + ".state")))
    check_equal("on a narrow screen nothing is cut off", faults(other), [])


def check_pieces(page):
    """The pieces of which a page is made, with values that no program here has."""
    check_equal("what comes back is in its place, not at the end", page.script("""
        const parent = element("div"), list = new Keyed(parent, item => element("i", {}, item.key));
        return ["b", "abc", "ac"].map(keys => (list.show([...keys].map(key => ({key})), () => {}), parent.textContent))"""), ["b", "abc", "ac"])
    check_equal("what was busy before the page was opened is not idle", page.script("""
        const known = [true, false].map(isSwitch => {
          const view = {isSwitch, busy: new Map()};
          View.prototype.seeBusy.call(view, {at_ms: [1000, 2000, 3000], charts: {depth: {a: [5, 7, 0], b: [0, 0, null]}, rates: {c: [null, 0, 9]}}});
          return [...view.busy];
        });
        return known"""), [[["a", 2]], [["c", 3]]])
    check_equal("idle for no longer than the page knows", page.script("""
        const since = times => View.prototype.idleSince.call({seconds: 120, history: {times, end: () => times[times.length - 1]}});
        return [since([0, 53]) === `since ${clock(0)}`, since([0, 119.5])]"""), [True, "in the last two minutes"])
    check_equal("a value between gaps is a point", page.script("return Chart.prototype.alone(arguments[0], 1)", {"data": [[], [3, None, 4, None, 5, 5, None]]}), [0, 2])
    check_equal("rates have three digits, counts all of theirs", page.script('return [rate(173.94), rate(99.94), rate(13300), count(6230), count(1234567)]'),
                ["174\u00a0/s", "99.9\u00a0/s", "13.3\u00a0k/s", "6\u202f230", "1.23\u00a0M"])
    check_equal("a narrow chart has fewer lines, where they would cover each other", page.script("""
        return [240, 460, 1400].flatMap(width => ["rates", "depth"].map(
          name => View.prototype.mostLines.call({charts: {[name]: {size: () => ({width})}}}, name)))"""), [8, 3, 8, 5, 8, 8])
    check_equal("what is left out of a chart is said", page.script("""
        const parent = element("div"), series = new Map(["a", "b"].map(name => [name, [1, 2]]));
        document.body.append(element("section", {}, parent));
        const chart = new Chart(parent, "/s", 120), said = [2, 1, 0].map(n => (chart.draw([1, 2], series, ["a", "b"], 2, [], "none", n), chart.left.textContent));
        parent.parentElement.remove();
        return said"""), ["2 with lower peaks are not drawn.", "1 with lower peaks is not drawn.", ""])


def check_nic_page(page, name):
    css = of(name)
    wait("a NIC on the same page", lambda: text(page, css + ".state") == "live" and count(page, css + ".port") == 1)
    wait("its flows; a name is text, whatever is in it", lambda: "<b>write</b>" in text(page, css + ".rates"))
    wait("a bar for each of its flows", lambda: text(page, css + ".bar span") == "<b>write</b>" and re.search(r"b/s of [\d.]+\s[kMG]b/s$", text(page, css + ".bar output")))
    wait("who points nowhere reads the newest values, in units a person reads",
         lambda: re.search(r"<b>write</b>:?\s*[\d.]+ [kMG]b/s", text(page, css + ".rates")) and
         re.search(r"[\d.]+ (m|\u00b5)s", text(page, css + ".depth")))
    wait("no CNP, no pause: words instead of lines at 0", lambda: "no CNPs in the last two minutes" in text(page, css + ".marks") and "neither in the last two minutes" in text(page, css + ".chart.pauses"))


def answered(page, css):
    """The panel is there, and its request, if it sent one, has been answered: the answer sets the fields. @return what it says"""
    until(lambda: page.one(css + ".control").is_displayed() and page.one(css + "form:not([hidden])").get_attribute("aria-busy") != "true")
    # The text of what is hidden, as while a program does not answer, is empty for a reader of the screen.
    return page.one(css + ".control output").get_property("textContent")


def fill(page, css, **values):
    answered(page, css)
    for key, value in values.items():
        page.script("arguments[0].value = arguments[1]", page.one(f"{css}[name={key}]"), value)


def press(page, css, word, outcome):
    """Press a button of a panel, and wait for the answer. A program whose lcores wait for a CPU asks for another try."""
    def says():
        answered(page, css)
        page.script("arguments[0].click()", page.one(f"{css}form:not([hidden]) button[value={word}]"))
        said.append(answered(page, css))
        return said[-1] != "" and "try again" not in said[-1]

    said = []
    until(says)
    check(f"{word}: {outcome}", re.search(outcome, said[-1]), said)


# Two presses of a button, the second before the answer to the first.
TWICE = """
const [form, button] = arguments, real = window.fetch;
let requests = 0;
window.fetch = (...all) => { requests++; return real(...all); };
for (let i = 0; i < 2; i++)
  form.dispatchEvent(new SubmitEvent("submit", {submitter: button, cancelable: true}));
window.fetch = real;
return requests;"""


def check_twice(page, css):
    """A program that is slow to answer is asked once."""
    answered(page, css)
    form = page.one(css + "form:not([hidden])")
    check_equal("a button pressed twice: one request", page.script(TWICE, form, page.one(f"{css}form:not([hidden]) button[value=reset]")), 1)
    said = answered(page, css)
    check("and one answer", said.startswith("4 QPs reset"), said)


def check_control(work, web, page, other, name, nic_name, nic_process):
    switch, nic = Ctl(work, "-f", name), Ctl(work, "-f", nic_name)

    def curves():
        return [[row[key] for key in ("green_min_threshold_bytes", "green_max_threshold_bytes", "green_drop_probability_ppm")]
                for row in switch.json("show ecn")["rows"]]

    css = of(name)
    check("the token has left the address", "#" not in page.front().current_url)
    check("who has no token sees no panel", not other.one(css + ".control").is_displayed() and "no token" in text(other, "#facts"))
    for own in (css, of(nic_name)):
        page.one(own + ".control summary").click()
        wait("the values in force", lambda own=own: page.one(own + "form:not([hidden]) input").get_attribute("value"))
    before = curves()
    fill(page, css, target=f"{LONG} queue 3", Kmin="20KB", Kmax="9GB")
    press(page, css, "set", r"green_max_threshold_bytes = 9GB: expected a size in whole bytes from 0 to 2GiB")
    check_equal("what the program refuses changes nothing", curves(), before)
    fill(page, css, Kmax="400KB", Pmax="5%")
    press(page, css, "set", r"wred_profile: default . web-2-3")
    check_equal("one queue has the new curve, all three values as one change", curves(), [*before[:2], [20000, 400000, 50000], before[3]])
    fill(page, css, Kmin="5")
    press(page, css, "set", r"green_min_threshold_bytes: 20KB . 5B?\. Warning: .*5 bytes, since no unit such as KB follows")
    fill(page, css, Kmin="20KB")
    press(page, css, "set", r"green_min_threshold_bytes: 5B? . 20KB$")
    page.script("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))", page.one(css + "select"), "port 0 queue 3")
    wait("the other queue's values", lambda: page.one(css + "[name=Kmin]").get_attribute("value") == "5KB")
    keep(page, "web-control")
    for width in (400, 1280):
        page.width(width)
        # The charts follow the width with the next answer.
        wait(f"nothing is cut off with the panels, at {width} pixels", lambda: faults(page) == [])
    check_foreign(web, page, name, curves)
    check_own_profile(web, name, switch, curves)
    check_frozen(web, name, nic_name, nic_process, nic)
    css = of(nic_name)
    fill(page, css, cap="5M")
    press(page, css, "set", "rate_cap_bps: 10M . 5M")
    check_equal("the cap of each of 4 QPs", nic.json("show flows")["rows"][0]["configured_rate_bps"], 20_000_000)
    press(page, css, "stop", "stopped: off . on")
    check("the flow is stopped", ("flow <b>write</b>", "stopped", "on") in [(r["section"], r["key"], r["value"]) for r in nic.json("show config")["rows"]])
    press(page, css, "start", "stopped: on . off")
    press(page, css, "reset", "4 QPs reset")
    check_twice(page, css)


# What a page of another origin can do: requests without a preflight, one with it, a form, our page in a frame.
FOREIGN = """<!doctype html><title>foreign</title><iframe name="frame"></iframe>
<form method="post" enctype="text/plain" target="frame" action="URLcontrol"><input name='BODY'></form>
<script>
const post = (headers, mode) => fetch("URLcontrol", {method: "POST", mode, headers, body: 'BODY', credentials: "include"})
  .then(r => r.type + r.status, e => e.name);
Promise.all([post({"Content-Type": "text/plain"}, "no-cors"), post({"Content-Type": "application/json", "X-Quench-Token": "TOKEN"}, "no-cors"),
  post({"Content-Type": "application/json", "X-Quench-Token": "TOKEN"}, "cors"), fetch("URLdata").then(r => r.type, e => e.name)])
  .then(all => { document.forms[0].submit(); document.title = all.join(" "); });
</script>"""


class Foreign:
    """A server of another origin, for a page."""

    def __init__(self, page):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(page.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"


def change(web, **members):
    headers = {"Host": web.host, "Origin": web.url[:-1], "Content-Type": "application/json", "X-Quench-Token": web.token}
    return web.raw("POST", "control", headers, json.dumps(members))


def check_own_profile(web, name, switch, curves):
    """The name that its profile would have is another queue's, too."""
    check_equal("set", run(*switch.command, "set", "queue 3|3.wred_profile=web-2-3", env=switch.env).returncode, 0)
    before = curves()
    check_equal("two queues have web-2-3", before[3], before[2])
    code, reply, _ = change(web, program=name, do="curve", port=2, queue=3, only=True, Kmin="30KB")
    check("a queue of its own gets a name that is free", code == 200 and "web-2-3-2" in reply, (code, reply))
    check_equal("and no other queue changes", curves(), [*before[:2], [30000, *before[2][1:]], before[3]])


def connections(name):
    """To the desk of a program, those included that it has not taken yet."""
    path = str(BASE / name / "quench.sock")
    return pathlib.Path("/proc/net/unix").read_text().count(path)


def is_open(web, port):
    """Whether web holds a connection that came from this port."""
    ends = f":{int(web.host.rpartition(':')[2]):04X}", f":{port:04X}"
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any((row[1][8:], row[2][8:]) == ends for row in rows)


def check_frozen(web, name, nic_name, process, nic):
    """A program that does not answer, for less than the 6 s of a reply."""
    def cap():
        return nic.json("show flows")["rows"][0]["configured_rate_bps"]

    def show(of_name):
        return change(web, program=of_name, do="show")[:2]

    def freeze(target):
        """The program stops, and a request has its turn with it."""
        halt(process)
        others = connections(nic_name)
        thread = threading.Thread(target=target)
        thread.start()
        check("a request waits for the frozen program", until(lambda: connections(nic_name) > others))
        return thread

    before, replies = cap(), []
    first = freeze(lambda: replies.append(show(nic_name)))
    body = json.dumps({"program": nic_name, "do": "cap", "flow": "<b>write</b>", "cap": "3M"})
    with socket.create_connection(web.host.split(":")) as gone:
        gone.sendall(f"POST /control HTTP/1.1\r\nHost: {web.host}\r\nOrigin: {web.url[:-1]}\r\nContent-Type: application/json\r\n"
                     f"X-Quench-Token: {web.token}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        port = gone.getsockname()[1]
    check_equal("another program is not kept waiting", (show(name)[0], first.is_alive()), (200, True))
    process.send_signal(signal.SIGCONT)
    first.join()
    check_equal("a program that was frozen answers", replies[0][0], 200)
    check("the request whose client has gone was looked at", until(lambda: not is_open(web, port)))
    check_equal("it changes nothing", cap(), before)

    first = freeze(lambda: show(nic_name))
    code, reply = show(nic_name)
    check("a request that waits too long for its program gets 503", code == 503 and "busy" in reply, (code, reply))
    process.send_signal(signal.SIGCONT)
    first.join()
    wait("the frozen program is live again", lambda: all(p["state"] == "live" for p in json.loads(web.get("data")[0])["programs"] if p["name"] in (name, nic_name)))


def check_foreign(web, page, name, curves):
    before = curves()
    change = {"program": name, "do": "curve", "port": 0, "queue": 3, "only": False, "Kmin": "1KB"}
    good = {"Host": web.host, "Origin": web.url[:-1], "Content-Type": "application/json", "X-Quench-Token": web.token}
    show = json.dumps({"program": name, "do": "show"})
    body = json.dumps(change)

    def status(headers, method="POST", content=body):
        return web.raw(method, "control", {k: v for k, v in {**good, **headers}.items() if v is not None}, content)

    for what, expected, about, *request in (
            ("no token", 401, "open the URL that quenchctl printed", {"X-Quench-Token": None}),
            ("a wrong token", 401, "wrong", {"X-Quench-Token": web.token[:-1] + ("0" if web.token[-1] != "0" else "1")}),
            ("a token that is too long", 401, "wrong", {"X-Quench-Token": web.token + 200 * "0"}),
            ("the token as a cookie", 401, "missing", {"X-Quench-Token": None, "Cookie": f"token={web.token}"}),
            ("a foreign Origin", 403, "Origin", {"Origin": "http://evil.example"}),
            ("another port's Origin", 403, "Origin", {"Origin": "http://127.0.0.1:1"}),
            ("no Origin", 403, "Origin", {"Origin": None}),
            ("Origin null, a frame's or a file's", 403, "Origin", {"Origin": "null"}),
            ("a cross-site fetch", 403, "Origin", {"Sec-Fetch-Site": "cross-site"}),
            ("a foreign Host, as by DNS rebinding", 403, "Host", {"Host": "evil.example", "Origin": "http://evil.example"}),
            ("an empty Host", 403, "Host", {"Host": "", "Origin": "http://"}),
            ("a form", 415, "application/json", {"Content-Type": "application/x-www-form-urlencoded"}),
            ("text", 415, "application/json", {"Content-Type": "text/plain;application/json"}),
            ("GET", 405, "POST", {}, "GET", None),
            ("OPTIONS, the preflight", 405, "POST", {}, "OPTIONS", None),
            ("PUT", 405, "POST", {}, "PUT"),
            ("too much", 413, "4096", {}, "POST", body + 5000 * " "),
            ("no JSON", 400, "JSON", {}, "POST", "{"), ("an array", 400, "JSON", {}, "POST", "[]"), ("nothing", 400, "JSON", {}, "POST", ""),
            ("a deep array", 400, "JSON", {}, "POST", 4000 * "["),
            ("a member twice", 400, "JSON", {}, "POST", body[:-1] + ', "Kmin": "2KB"}'),
            ("an unknown member", 400, "members", {}, "POST", json.dumps({**change, "buffer_bytes": "1"})),
            ("a number as text", 400, "whole numbers", {}, "POST", json.dumps({**change, "port": "0"})),
            ("nothing to do", 400, "do", {}, "POST", json.dumps({**change, "do": "reload"})),
            ("another key in a value", 400, "control character", {}, "POST", json.dumps({**change, "Kmin": "1KB\nwred.Kmax=2KB"})),
            ("an unknown program", 404, "program", {}, "POST", json.dumps({**change, "program": "../x"})),
            ("an unknown queue", 422, "port 9 queue 3", {}, "POST", json.dumps({**change, "port": 9})),
            ("a port that is 0 in 32 bits", 422, "port 4294967296 queue 3", {}, "POST", json.dumps({**change, "port": 1 << 32})),
            ("a queue that is 3 in 32 bits", 422, "port 0 queue 4294967299", {}, "POST", json.dumps({**change, "queue": 3 + (1 << 32)})),
            ("a port below 0 that is 1 in 32 bits", 400, "expected port", {}, "POST", json.dumps({**change, "port": 1 - (1 << 32)})),
            ("a value out of range", 422, "from 0 to 2GiB", {}, "POST", json.dumps({**change, "Kmin": "3GiB"}))):
        code, reply, headers = status(*request)
        check(f"{what} is refused, in a line", code == expected and about in reply and reply.count("\n") == 1 and
              "Access-Control-Allow-Origin" not in headers, (code, reply))
    check_equal("who has no token is refused while its body has not come",
                web.raw("POST", "control", {**good, "X-Quench-Token": "x"}, "{", 4000)[0], 401)
    check_equal("with all that is right it is answered", status({}, content=show)[0], 200)

    server = Foreign(FOREIGN.replace("URL", web.url).replace("TOKEN", web.token).replace("BODY", body))
    foreign = Page(server.url)
    wait("a foreign page, even with the token, sees no answer",
         lambda: foreign.script("return document.title") == "TypeError TypeError TypeError TypeError")
    foreign.script("document.querySelector('iframe').src = arguments[0]", web.url)
    seen = []
    wait("nor has it our page in a frame", lambda: seen.extend(errors()) or any("frame-ancestors" in line for line in seen))
    foreign.close()
    server.server.shutdown()
    check_equal("what a foreign page tries changes nothing", curves(), before)


def points(page, name):
    return page.script("return views.get(arguments[0]).history.times", name)


def check_page(work):
    name, nic_name = prefix("web"), prefix("webn")
    switch, nic = start_switch(work, name), start_nic(work, nic_name, "<b>write</b>")
    web = Web("--control")  # all programs
    page = Page(web.url + "#token=" + web.token)
    wait("both programs", lambda: {name, nic_name} <= {e.text for e in page.all("h2")})
    wait("some history", lambda: len(points(page, name)) >= 6)
    other = Page(web.url, 420)
    wait("a second viewer has what the first one saw before", lambda: points(other, name)[:6] == points(page, name)[:6])
    check_switch_page(page, other, name)
    check_nic_page(page, nic_name)
    check_pieces(page)
    keep(other, "web-narrow")
    check_control(work, web, page, other, name, nic_name, nic.process)
    check_equal("the switch ends", switch.stop(), 0)
    for viewer in (page, other):
        wait("both viewers are told, and when", lambda viewer=viewer: re.match(r"ended at \d\d:\d\d:\d\d", text(viewer, of(name) + ".state")))
    check("its last picture stays", "in " in text(page, of(name) + '[data-port="port 1"]') and "port 1 in" in text(page, of(name) + ".rates"))
    check_equal("the NIC goes on", text(page, of(nic_name) + ".state"), "live")
    keep(page, "web-ended")
    check_equal("and can be read", faults(page), [])
    third = Page(web.url)
    wait("a viewer who comes later sees the last picture, too", lambda: "in " in text(third, of(name) + '[data-port="port 1"]'))
    third.close()
    switch = start_switch(work, name)
    wait("the page goes on when it is back", lambda: text(page, of(name) + ".state") == "live" and
         f"pid {switch.process.pid}" in text(page, of(name) + ".facts"))
    wait("and its events say so", lambda: "has ended" in text(page, "#events") and f"runs, pid {switch.process.pid}" in text(page, "#events"))
    # The browser may say twice that it framed nothing.
    check_equal("no error in the browser", [line for line in errors() if "frame-ancestors" not in line], [])
    check_equal("SIGTERM ends web", web.stop(), 0)
    wait("a page without its server says so", lambda: "does not answer" in text(page, "#state"))
    Page.driver.quit()
    switch.stop()
    nic.stop()


def check_token_file(work, name):
    file = work / "token"

    def refused(what, *about):
        done = run(BUILD / "app/quenchctl/quenchctl", "-f", name, "--listen", "127.0.0.1:0", f"--control={file}", "web")
        check(f"{what} is refused", done.returncode == 2 and len(done.stderr.splitlines()) == 1 and all(a in done.stderr for a in about), done.stderr)

    refused("no file", "No such file")
    file.write_text("0123456789abcdef\n")
    file.chmod(0o644)
    refused("a file that others can read", "chmod 600")
    file.chmod(0o600)
    for bad in ("short", "a" * 129, "0123456789 abcdef"):
        file.write_text(bad)
        refused(f"{bad[:20]}...", "token:1: expected a token of 16 to 128 letters, digits and -._~")
    file.write_text("0123456789abcdef\n")
    web = Web("-f", name, f"--control={file}")
    check_equal("the token of a file is not printed", web.token, None)
    headers = {"Host": web.host, "Origin": web.url[:-1], "Content-Type": "application/json", "X-Quench-Token": "0123456789abcdef"}
    wait("but taken", lambda: web.raw("POST", "control", headers, json.dumps({"program": name, "do": "show"}))[0] == 200)
    web.stop()


def check_one(work):
    name = prefix("web1")
    switch = start_switch(work, name)
    web = Web("-f", name)
    wait("-f NAME: the program is live", lambda: [p["state"] for p in json.loads(web.get("data")[0])["programs"]] == ["live"])
    check_equal("-f NAME: it alone", [p["name"] for p in json.loads(web.get("data")[0])["programs"]], [name])
    check_server(web)
    check_equal("without --control there is no way to change anything", [web.raw(method, "control", {"Host": web.host}, "{}")[0] for method in ("POST", "GET")], [405, 404])
    check_equal("a POST is refused while its body has not come", web.raw("POST", "control", {"Host": web.host}, "{", 4000)[0], 405)
    check("and the page knows", json.loads(web.get("data")[0])["control"] is False)
    web.stop()
    check_token_file(work, name)
    switch.stop()


def main():
    work = work_dir()
    check_page(work)
    check_one(work)
    check_no_program("web")
    finish()


main()
