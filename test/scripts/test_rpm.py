#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""share/rpm/quench.spec has the packages of share/debian, with their lists of files. scripts/package-rpm builds them."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/e2e"))
from harness import check, check_equal, finish, skip  # noqa: E402


def rpmspec(*arguments):
    done = subprocess.run(["rpmspec", *arguments], capture_output=True, text=True, check=False)
    check_equal(f"rpmspec {arguments[0]}: exit code, {done.stderr}", (done.returncode, done.stderr), (0, ""))
    return done.stdout


def main():
    if not shutil.which("rpmspec"):
        skip("no rpmspec: scripts/install-deps rpm")
    with tempfile.TemporaryDirectory() as folder:
        spec = pathlib.Path(folder) / "quench.spec"
        # as scripts/package-rpm
        spec.write_text((ROOT / "share/rpm/quench.spec").read_text(encoding="utf-8").replace("@version@", "1.2.3"), encoding="utf-8")
        parsed = rpmspec("-P", spec)
        packages = set(rpmspec("-q", "--queryformat", "%{NAME} %{VERSION}\n", spec).splitlines())

    control = (ROOT / "share/debian/control").read_text(encoding="utf-8")
    names = set(re.findall(r"^Package: (.*)", control, re.M))
    check_equal("packages", packages, {f"{name} 1.2.3" for name in names})
    check_equal("lists of files", {path.stem for path in (ROOT / "share/debian").glob("*.install")}, names)
    check_equal("%files of these lists", set(re.findall(r"^%files .*-f (.*)\.files$", parsed, re.M)), names)
    loop = re.search(r"^for package in (.*); do\n(.*?)^done", parsed, re.M | re.S)
    check_equal("%install writes these lists", set(loop.group(1).split()), names)
    check("... of what is in share/debian", "share/debian/$package.install >$package.files" in loop.group(2), loop.group(2))

    # What the removal of the package stops.
    prerm = (ROOT / "share/debian/quench.prerm").read_text(encoding="utf-8")
    check_equal("services that it stops", re.findall(r"systemctl stop (.*service)", parsed), re.findall(r"systemctl stop (.*service)", prerm))


main()
finish()
