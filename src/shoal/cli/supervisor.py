# ruff: noqa: SIM105, SIM115 - contextlib is slower, streams stay open. It is longer, as it loads nothing else.
"""The entry point: a small process that watches over the one that works.

Signals reach this process, which never waits for native code: it ends the other one, removes what that had open on the
disk, and says what is true. It also survives if the other one is killed for want of memory or crashes in native code.
It loads next to nothing, so it is ready before anything else can happen.
"""

from __future__ import annotations

import os
import select
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import NoReturn

    from shoal.tables.targets.witness import Kind

__all__ = [
    "MEMORY_CURE",
    "UNTOUCHED",
    "WRITTEN",
    "is_about_memory",
    "main",
    "memory_limit",
    "say_if_interrupted",
    "say_serving",
]

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Loading the libraries makes many objects that live until the end; by default, Python would search them for garbage
# dozens of times.
GARBAGE_THRESHOLD = 1_000_000
NOISE_BYTES = 8192  # what is remembered of that which native code prints
# What libraries say if they get no memory, or no thread for want of it.
MEMORY_WORDS = (
    "memory allocation of",
    "bad_alloc",
    "bad allocation",
    "out of memory",
    "cannot allocate memory",
    "failed to allocate",
    "could not allocate",
    "unable to allocate",
    "failed to map segment",
    "pthread_create failed",
    "can't start new thread",
    "failed to spawn thread",
    "thread creation failed",
    "threadpoolbuilderror",
)
MEMORY_CURE = "Use fewer columns or a machine with more memory; --engine duckdb needs less of it."
STILL_SECONDS = 15
WORKER_TENTHS = 100  # tenths of a second in which the workers of a server end
IDLE = ("futex", "poll", "hrtimer", "nanosleep")  # where the kernel has threads wait that have nothing to do
UNTOUCHED = "nothing was written"
WRITTEN = "everything was written"

_tell = -1  # where the working process tells the supervisor; -1 if there is none


def main() -> NoReturn:
    """Run the command line in a process of its own, and end with its exit code."""
    _open_standard_streams()
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    handled = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in (*handled, signal.SIGCHLD):
        signal.signal(number, _wake_up)
    told, tell = os.pipe()
    leave, give_leave = os.pipe()
    noise, make_noise = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in handled:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        for descriptor in (wake, waker, told, give_leave, noise):
            os.close(descriptor)
        _work(tell, leave, make_noise)
    for descriptor in (tell, leave, make_noise):
        os.close(descriptor)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    Supervisor(child, wake, told, give_leave, noise).watch()


def _wake_up(number: int, frame: object) -> None:
    """Do nothing: the number of the signal is in the pipe."""


def _open_standard_streams() -> None:
    """Open what the caller closed, so that no file of ours is taken for a standard stream."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))


class Supervisor:
    """Watches over the working process; the descriptors are those of the pipes between the two."""

    def __init__(self, child: int, wake: int, told: int, leave: int, noise: int) -> None:
        self.child = child
        self._wake = wake
        self._told = told
        self._leave = leave
        self._noise = noise
        self._unread = b""
        self._printed = b""
        self._open: dict[bytes, bytes] = {}  # by path, what kind of thing the working process has open
        # "?" while files move to their places, "!" once they are there, "~" on standard output, "^" while serving
        self._state = ""
        self._remark = ""
        self._has_ended = False  # whether the working process has said all it had to say
        self._signal = 0
        # Under a limit, libraries may wait for threads that they could not start.
        self._pause = 1 if memory_limit() else None
        self._limited = f"the memory of a process is limited to {memory_limit() >> 20:,} MB (ulimit -v)"
        self._cpu = (0, 0.0)  # what the working process has used, and since when it uses no more

    def watch(self) -> NoReturn:
        """Wait until the working process ends or a signal arrives; end this process."""
        while True:
            ready = select.select([self._wake, self._told, self._noise], [], [], self._pause)[0]
            if self._told in ready and not self._listen():
                break
            if self._noise in ready:
                self._hear_noise()
            for number in os.read(self._wake, 64) if self._wake in ready else b"":
                self._signal = self._signal or (0 if number == signal.SIGCHLD else number)
            ended, status = os.waitpid(self.child, os.WNOHANG)
            if ended:
                self._listen_to_the_end()
                self._finish(status)
            if self._signal and self._state != "?":
                self._interrupt()
            if self._pause is not None and self._state != "?" and self._stands_still():
                os.kill(self.child, signal.SIGKILL)
                os.waitpid(self.child, 0)
                self._listen_to_the_end()
                self._clean_up()
                reason = f"not enough memory: {self._limited}, and a library waits for ever"
                self._end(6, f"{reason}; {UNTOUCHED}. {MEMORY_CURE}")
        _, status = os.waitpid(self.child, 0)
        self._finish(status)

    def _listen(self) -> bool:
        """Take what the working process tells; return False at the end."""
        block = os.read(self._told, 65536)
        *messages, self._unread = (self._unread + block).split(b"\0")
        for message in messages:
            kind, rest = message[:1], message[1:]
            if kind == b"-":
                self._open.pop(rest, None)
            elif kind == b"?":
                if not self._signal:  # otherwise the process waits for leave until it is ended
                    self._state = "?"
                    os.write(self._leave, b"y")
            elif kind in b"!~=^":
                self._state = "" if kind == b"=" else kind.decode()
            elif kind == b".":
                self._has_ended = True
            elif kind == b"#":
                self._remark = rest.decode(errors="replace")
            else:
                self._open[rest] = kind
        return bool(block)

    def _listen_to_the_end(self) -> None:
        os.set_blocking(self._told, False)
        try:
            while self._listen():
                pass
        except BlockingIOError:  # a process of the working one still has the pipe
            pass

    def _hear_noise(self) -> None:
        block = os.read(self._noise, 65536)
        self._printed = (self._printed + block)[-NOISE_BYTES:]
        if block and "--debug" in sys.argv:
            os.write(2, block)
        if not block:
            self._noise = self._wake

    def _hear_to_the_end(self) -> None:
        os.set_blocking(self._noise, False)
        try:
            while self._noise != self._wake:
                self._hear_noise()
        except BlockingIOError:  # a process of the working one still has the pipe
            pass

    def _interrupt(self) -> NoReturn:
        """End the working process after a signal."""
        os.kill(self.child, signal.SIGKILL)
        _, status = os.waitpid(self.child, 0)
        self._listen_to_the_end()
        if self._has_ended and not os.WIFSIGNALED(status):  # before the signal
            self._finish(status)
        self._clean_up()
        if self._state == "!":
            self._end(0, f"interrupted while the result was printed; {WRITTEN}.")
        if self._state == "^":
            self._end_server()
        outcome = "standard output has only a part of the release" if self._state == "~" else UNTOUCHED
        if self._signal == signal.SIGHUP:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGHUP)
        self._end(128 + self._signal, f"interrupted; {outcome}." + (f" {self._remark}" if self._remark else ""))

    def _end_server(self) -> NoReturn:
        """End this process after a server."""
        fate = "is deleted"
        if any(os.path.exists(path) for path in self._open):
            fate = "could not be deleted yet: the next shoal serve in the same folder does it"
        self._end(0, f"the workbench is closed; data that was not to be kept {fate}.")

    def _finish(self, status: int) -> NoReturn:
        """End this process as the working one ended."""
        self._clean_up()  # also after an orderly end: for want of memory, even cleaning up may fail there
        if self._has_ended and not os.WIFSIGNALED(status):
            os._exit(os.WEXITSTATUS(status))
        number = os.WTERMSIG(status)  # 0 if a library ended the process
        name = signal.Signals(number).name if number else f"exit code {os.WEXITSTATUS(status)}"
        if self._state == "!":
            self._end(0, f"{WRITTEN}, but the result was not printed: the process was ended by {name}.")
        outcome = UNTOUCHED
        if self._state == "?":
            outcome = "it was moving files to their places, so compare the release with its manifest"
        if number in (signal.SIGKILL, signal.SIGXCPU):
            cause = "for want of memory, or" if number == signal.SIGKILL else "because its time was up,"
            self._end(6, f"the process was ended {cause} by someone else ({name}); {outcome}. {MEMORY_CURE}")
        if memory_limit():
            self._end(6, f"not enough memory ({name}): {self._limited}; {outcome}. {MEMORY_CURE}")
        self._hear_to_the_end()
        if is_about_memory(self._printed.decode(errors="replace")):
            self._end(6, f"not enough memory ({name}); {outcome}. {MEMORY_CURE}")
        place = "in native code" if number else "without a word"
        self._end(1, f"{name} {place}. This is a bug in shoal or in a library; {outcome}. Please report it.")

    def _stands_still(self) -> bool:
        """Return whether the working process has waited for its own threads for long, and for nothing else."""
        import time

        tasks = f"/proc/{self.child}/task"
        try:
            with open(f"/proc/{self.child}/stat", "rb") as file:
                used = sum(map(int, file.read().rpartition(b")")[2].split()[11:15]))
            if used != self._cpu[0] or not self._cpu[1]:
                self._cpu = (used, time.monotonic())
            if time.monotonic() - self._cpu[1] < STILL_SECONDS:
                return False
            waits = {}
            for task in os.listdir(tasks):
                with open(f"{tasks}/{task}/wchan") as file:
                    waits[int(task)] = file.read()
        except (OSError, ValueError):  # a system that does not tell, or a process that has just ended
            return False
        return "futex" in waits[self.child] and all(any(w in wait for w in IDLE) for wait in waits.values())

    def _clean_up(self) -> None:
        """Remove what the working process had open, the newest first."""
        if not self._open:
            return
        import time
        from pathlib import Path

        from shoal.tables.targets.folders import remove_leftover
        from shoal.tables.targets.witness import Kind

        # The workers of a server may write on until they notice that it is gone.
        for _ in range(WORKER_TENTHS if self._state == "^" else 1):
            for path, kind in reversed(self._open.items()):
                remove_leftover(Kind(kind.decode()), Path(os.fsdecode(path)))
            if not any(os.path.exists(path) for path in self._open):
                break
            time.sleep(0.1)

    def _end(self, code: int, words: str) -> NoReturn:
        if os.isatty(2):
            os.write(2, b"\x1b[?25h\r\x1b[K")  # a progress bar hides the cursor
        try:
            os.write(2, f"shoal: {words}\n".encode())
        except OSError:
            pass
        os._exit(code)


def memory_limit() -> int:
    """Return the limit of the memory of a process in bytes (ulimit -v); 0 if there is none."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return 0 if limit == resource.RLIM_INFINITY else limit


def is_about_memory(text: str) -> bool:
    """Return whether a message says that there is not enough memory."""
    lower = text.lower()
    return any(words in lower for words in MEMORY_WORDS)


def say_if_interrupted(words: str) -> None:
    """Have the supervisor add a remark if the command is interrupted."""
    if _tell >= 0:
        os.write(_tell, b"#" + words.encode() + b"\0")


def say_serving() -> None:
    """Tell the supervisor that the command serves until a signal ends it."""
    if _tell >= 0:
        os.write(_tell, b"^\0")


def _work(tell: int, leave: int, noise: int) -> NoReturn:
    """Run the command line in this process; end it without delay."""
    global _tell
    _tell = tell
    code = -1
    try:
        # What native code prints may contain cells, and is of no use: the supervisor says what happened.
        words = os.dup(2)
        os.dup2(noise, 2)
        sys.stderr = open(words, "w", buffering=1, encoding=sys.stderr.encoding, errors="backslashreplace")
        _prepare()
        from shoal.cli.quick import use_light_dataclasses

        use_light_dataclasses()
        _appoint(tell, leave)
        from shoal.cli.main import run

        run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        if "--debug" in sys.argv:
            sys.excepthook(*sys.exc_info())
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                pass
        if code >= 0:
            os.write(tell, b".\0")  # the exit code is ours, not that of a library that ended the process
        os._exit(abs(code))


def _prepare() -> None:
    """Forbid core dumps, which contain cells; have libraries take no more than the limits allow."""
    import gc
    import resource

    gc.set_threshold(GARBAGE_THRESHOLD)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory_limit():
        # OpenBLAS waits for ever for threads that it cannot start, and OpenMP ends the process.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        os.environ.setdefault("OMP_NUM_THREADS", "1")


def _appoint(tell: int, leave: int) -> None:
    """Have everything that the library opens and publishes told to the supervisor."""
    import threading

    from shoal.tables.targets import witness
    from shoal.tables.targets.folders import remove_leftover

    class Reporter(witness.Witness):
        """Tells the supervisor, and asks it for leave to publish."""

        def __init__(self) -> None:
            self._open: dict[Path, Kind] = {}

        def opened(self, kind: Kind, path: Path) -> None:
            path = path.absolute()
            self._open[path] = kind
            os.write(tell, kind.value.encode() + os.fsencode(path) + b"\0")

        def closed(self, path: Path) -> None:
            path = path.absolute()
            self._open.pop(path, None)
            os.write(tell, b"-" + os.fsencode(path) + b"\0")

        def committing(self) -> None:
            os.write(tell, b"?\0")
            if not os.read(leave, 1):
                self.abandon()

        def committed(self) -> None:
            super().committed()
            os.write(tell, b"!\0")

        def withdrawn(self) -> None:
            os.write(tell, b"=\0")

        def streaming(self) -> None:
            os.write(tell, b"~\0")

        def abandon(self) -> NoReturn:
            """Clean up and end: the supervisor is gone."""
            for path, kind in list(reversed(self._open.items())):
                remove_leftover(kind, path)
            os._exit(1)

    reporter = Reporter()
    witness.appoint(reporter)

    def wait_for_the_end() -> None:
        poll = select.poll()
        poll.register(tell, 0)
        poll.poll()  # returns once the supervisor no longer listens
        reporter.abandon()

    try:
        threading.Thread(target=wait_for_the_end, daemon=True).start()
    except RuntimeError:  # no memory for a thread
        pass
