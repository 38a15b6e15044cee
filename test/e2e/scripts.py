# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of scripts/ that a test calls many times: imported once, each call in a process of its own.

A script with numpy and matplotlib takes most of a second to start. What begins with its last lines (if __name__ == "__main__") is not run;
a test calls the script itself at least once.
"""
import gc
import importlib.machinery
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import traceback

from harness import PATIENCE_S

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Script:
    def __init__(self, name, *modules):
        """modules: those that the script imports late, and all calls need. @raise ImportError: the script needs a package that is not there"""
        self.path = ROOT / "scripts" / name
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        loader = importlib.machinery.SourceFileLoader(f"script_{name.replace('-', '_').removesuffix('.py')}", str(self.path))
        spec = importlib.util.spec_from_loader(loader.name, loader)
        self.module = importlib.util.module_from_spec(spec)
        sys.modules[loader.name] = self.module  # for its dataclasses
        try:
            loader.exec_module(self.module)
        except SystemExit as end:
            raise ImportError(end.code) from end
        for module in modules:
            importlib.import_module(module)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        gc.freeze()

    def __call__(self, *args, cwd=None, env=None, timeout=PATIENCE_S):
        """@return as harness.run()"""
        args = [str(arg) for arg in args]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                self.be(args, cwd, dict(os.environ if env is None else env), timeout, out.fileno(), err.fileno())
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess([str(self.path), *args], code, out.read().decode(), err.read().decode())

    def be(self, args, cwd, env, timeout, out, err):
        """The child: end without what the test does at its end."""
        code = 1
        try:
            gc.disable()  # a collection would copy pages of the test
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.alarm(timeout)
            os.dup2(out, 1)
            os.dup2(err, 2)
            os.environ.clear()
            os.environ.update(env)
            os.chdir(cwd or ".")
            sys.argv = [str(self.path), *args]
            code = self.module.main(args)
        except SystemExit as end:
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
            code = 1 if isinstance(end.code, str) else end.code
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code or 0)
