# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium without a network, for tests of pages. It runs as root, in a container, and on loaded cores."""
import json
import os
import time

from harness import PATIENCE_S, skip

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
except ImportError:
    skip("python3-selenium is not installed")

DRIVER = "/usr/bin/chromedriver"
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-default-apps", "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1400,1000")
# what a browser asks for by itself, and a page may hold
INSIDE = ("data:", "about:", "chrome:", "chrome-untrusted:", "devtools:", "blob:")


class Browser:
    def __init__(self, folder):
        if not os.path.exists(DRIVER):
            skip("chromium-driver is not installed")
        options = Options()
        for option in (*OPTIONS, f"--user-data-dir={folder}"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.driver.set_page_load_timeout(PATIENCE_S)
        self.driver.set_script_timeout(PATIENCE_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def width(self, pixels):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": pixels, "height": 1000, "deviceScaleFactor": 1, "mobile": False})

    def open(self, path):
        """@return what the page complained about on the console, and the addresses that it asked for beside itself."""
        self.logs()
        self.driver.get(path.resolve().as_uri())
        self.settle()
        return self.logs(path.resolve().as_uri())

    def logs(self, own=""):
        # The first tab is a page of the browser, which complains of the network that is not there.
        errors = [entry["message"] for entry in self.driver.get_log("browser") if not entry["message"].startswith(INSIDE[2:5])]
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        return errors, [url for url in asked if url != own and not url.startswith(INSIDE)]

    def settle(self):
        """Two frames: what was asked for is drawn."""
        self.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));")

    def run(self, script, *args):
        return self.driver.execute_script(script, *args)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def wait(self, script, *args):
        """Until the script's value is true. @return whether it came to be."""
        end = time.monotonic() + PATIENCE_S
        while not self.run(script, *args):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def drag(self, selector, start, end):
        """With the mouse, over these parts of an element's width, at half of its height."""
        element = self.one(selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        wide = element.size["width"]
        move = [round((part - 0.5) * wide) for part in (start, end)]
        ActionChains(self.driver, duration=50).move_to_element_with_offset(element, move[0], 0).click_and_hold() \
            .move_to_element_with_offset(element, move[1], 0).release().perform()
        self.settle()

    def double_click(self, selector):
        ActionChains(self.driver).double_click(self.one(selector)).perform()
        self.settle()
