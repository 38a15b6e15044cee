# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of scripts/ that a test calls many times: imported once, and run in the process of the test.

A script with numpy and matplotlib takes most of a second to start, and a fork of a process that has them a tenth. What begins with
its last lines (if __name__ == "__main__") is not run: a test calls the script itself at least once.
"""
import contextlib
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
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGALRM)


class NoEnd(BaseException):
    """A command that goes on for too long."""


@contextlib.contextmanager
def own_process(what, limit_s=PATIENCE_S):
    """What a program changes of its process is afterwards as it was. A blocked signal would be blocked in programs that start later.

    Of the main thread alone. @raise NoEnd: what goes on after limit_s
    """
    def late(number, _):
        raise NoEnd(f"{what}: no end after {limit_s} s")

    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    environment, folder, argv = dict(os.environ), os.getcwd(), sys.argv
    umask = os.umask(0o22)
    os.umask(umask)
    signal.signal(signal.SIGALRM, late)
    signal.alarm(limit_s)
    try:
        yield
    finally:
        signal.alarm(0)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        sys.argv = argv
        os.umask(umask)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)


class Looks:
    """matplotlib's settings, which are global: what a script changes, the next one must not find."""
    plain = report = None

    @classmethod
    def learn(cls):
        """The settings at the start of a program, and after the import of report.plots."""
        if cls.plain is None:
            import matplotlib
            cls.plain = matplotlib.rcParams.copy()
            importlib.import_module("report.plots")
            cls.report = matplotlib.rcParams.copy()

    @staticmethod
    def set(settings):
        import matplotlib
        matplotlib.pyplot.close("all")
        dict.update(matplotlib.rcParams, settings)


class Script:
    def __init__(self, name, *modules):
        """modules: those that the script imports late, and all calls need. @raise ImportError: the script needs a package that is not there"""
        self.path = ROOT / "scripts" / name
        loader = importlib.machinery.SourceFileLoader(f"script_{name.replace('-', '_').removesuffix('.py')}", str(self.path))
        spec = importlib.util.spec_from_loader(loader.name, loader)
        self.module = importlib.util.module_from_spec(spec)
        sys.modules[loader.name] = self.module  # for its dataclasses
        with own_process(self.path):
            try:
                loader.exec_module(self.module)
            except SystemExit as end:
                raise ImportError(end.code) from end
        self.looks = None
        if any(module.startswith(("matplotlib", "report.plots")) for module in modules):
            Looks.learn()
            self.looks = Looks.report if "report.plots" in modules else Looks.plain
        for module in modules:
            importlib.import_module(module)

    def __call__(self, *args, cwd=None, env=None, timeout=PATIENCE_S):
        """@return as harness.run()"""
        args = [str(arg) for arg in args]
        with own_process(f"{self.path.name} {' '.join(args)}", timeout), tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            outputs = [os.dup(1), os.dup(2)]
            flush()
            try:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                sys.argv = [str(self.path), *args]
                if env is not None:
                    os.environ.clear()
                    os.environ.update(env)
                os.chdir(cwd or ".")
                code = self.be(args)
            finally:
                flush()
                for number, output in enumerate(outputs, 1):
                    os.dup2(output, number)
                    os.close(output)
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess([str(self.path), *args], code, out.read().decode(), err.read().decode())

    def be(self, args):
        """Run as the program would. @return its exit code"""
        signal.signal(signal.SIGTERM, end_test)
        if self.looks is not None:
            Looks.set(self.looks)
        try:
            return self.module.main(args) or 0
        except Interrupted as end:
            sys.exit(128 + end.args[0])
        except KeyboardInterrupt:
            sys.exit(130)
        except SystemExit as end:
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
            return 1 if isinstance(end.code, str) else end.code or 0
        except Exception:
            traceback.print_exc()
            return 1


class Interrupted(BaseException):
    """The test, beside which the script is."""


def end_test(number, _):
    raise Interrupted(number)


def flush():
    sys.stdout.flush()
    sys.stderr.flush()
