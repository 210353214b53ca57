#!/usr/bin/env python3
"""Runs a command as the foreground job of a small shell on a fresh pseudo terminal.

    pty_drive.py [--ready FILE:TEXT] [--keys T:STR] [--kill T:SIG] [--winch T:RxC] [--hup T:]
                 [--fg T:] ... -- CMD ARGS

The clock starts once FILE (- for the job's output) holds TEXT, if that is given. At the given seconds it types keys (\\x03 is Ctrl-C, \\x1a Ctrl-Z), sends signals to the command's
own pid, resizes, hangs up, or brings the stopped job back (--fg). Prints one JSON line: exit
status, the stop signals that the shell saw (-1 for continued), whether the terminal settings were
put back, what is left in the session, and the output. Compare a plain run with one under perfwatch.
"""

import codecs
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

LIMIT_SECONDS = 30
STARTED, CHANGED = 0, 1  # what the shell reports: (kind, pid or wait status)
JOB_SIGNALS = (signal.SIGTTOU, signal.SIGINT, signal.SIGTSTP, signal.SIGQUIT, signal.SIGHUP)


def parse(arguments):
    """The events in order of time, what to wait for first, and the command."""
    split = arguments.index("--")
    options, command = arguments[:split], arguments[split + 1 :]
    events, ready = [], None
    for name, value in zip(options[::2], options[1::2]):
        at, _, what = value.partition(":")
        if name == "--ready":
            ready = (at, what)
        else:
            events.append((float(at), name, what))
    return sorted(events), ready, command


def run_job(terminal, command, unwanted):
    """The job's process: own group, foreground, default signals, then the command."""
    os.setpgid(0, 0)
    os.tcsetpgrp(terminal, os.getpid())
    for number in JOB_SIGNALS + (signal.SIGPIPE,):
        signal.signal(number, signal.SIG_DFL)
    for descriptor in (0, 1, 2):
        os.dup2(terminal, descriptor)
    for descriptor in (terminal, *unwanted):
        os.close(descriptor)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, str(error).encode())
        os._exit(127)


def run_shell(terminal, command, reports, orders):
    """The small shell: starts the job, reports its changes, and continues it on request."""
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for number in JOB_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        run_job(terminal, command, (reports, orders))

    def hang_up(*_):  # what a login shell does
        os.killpg(job, signal.SIGHUP)
        os.killpg(job, signal.SIGCONT)

    signal.signal(signal.SIGHUP, hang_up)
    os.write(reports, struct.pack("ii", STARTED, job))
    os.set_blocking(orders, False)
    while True:
        try:
            if os.read(orders, 1):
                os.tcsetpgrp(terminal, job)
                os.killpg(job, signal.SIGCONT)
        except OSError:
            pass
        pid, status = os.waitpid(job, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
        if pid == job:
            os.write(reports, struct.pack("ii", CHANGED, status))
            if os.WIFSTOPPED(status):
                try:
                    os.tcsetpgrp(terminal, os.getpgrp())
                except OSError:
                    pass
            elif not os.WIFCONTINUED(status):
                os._exit(0)
        time.sleep(0.005)


class Drive:
    """The other end of the terminal: makes the events happen and collects what comes back."""

    def __init__(self, events, ready, command):
        self.events = events
        self.ready = ready
        self.master, self.slave = pty.openpty()
        self.settings = termios.tcgetattr(self.slave)
        self.reports, reports = os.pipe()
        orders, self.orders = os.pipe()
        self.shell = os.fork()
        if self.shell == 0:
            for descriptor in (self.master, self.reports, self.orders):
                os.close(descriptor)
            run_shell(self.slave, command, reports, orders)
        os.close(reports)
        os.close(orders)
        self.start = time.monotonic()
        self.output = b""
        self.stops = []
        self.status = None
        self.is_closed = False
        self.pid = 0

    def elapsed(self):
        return time.monotonic() - self.start

    def is_ready(self):
        """Whether the clock of the events runs; it is set to zero when it starts."""
        if self.ready is None:
            return True
        path, text = self.ready
        if path == "-":
            content = self.output.decode("latin1")
        else:
            try:
                with open(path, encoding="utf-8") as file:
                    content = file.read()
            except OSError:
                return False
        if text not in content:
            return False
        self.ready = None
        self.start = time.monotonic()
        return True

    def do(self, name, what):
        if name == "--keys":
            os.write(self.master, codecs.decode(what, "unicode_escape").encode("latin1"))
        elif name == "--kill":
            os.kill(self.pid, int(what) if what.isdigit() else getattr(signal, "SIG" + what))
        elif name == "--winch":
            rows, columns = what.split("x")
            size = struct.pack("HHHH", int(rows), int(columns), 0, 0)
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)
        elif name == "--fg":
            os.write(self.orders, b"f")
        elif name == "--hup":
            os.close(self.slave)
            os.close(self.master)
            self.is_closed = True

    def do_what_is_due(self):
        while self.pid and self.events and self.is_ready() and self.elapsed() >= self.events[0][0]:
            _, name, what = self.events.pop(0)
            try:
                self.do(name, what)
            except OSError as error:
                self.output += repr(error).encode()

    def read_output(self):
        try:
            self.output += os.read(self.master, 65536)
        except OSError:
            pass

    def read_report(self):
        """False when the shell is gone."""
        report = os.read(self.reports, 8)
        if len(report) < 8:
            return False
        kind, value = struct.unpack("ii", report)
        if kind == STARTED:
            self.pid = value
        elif os.WIFSTOPPED(value):
            self.stops.append(os.WSTOPSIG(value))
        elif os.WIFCONTINUED(value):
            self.stops.append(-1)
        else:
            self.status = value
        return True

    def run(self):
        while self.status is None and self.elapsed() < LIMIT_SECONDS:
            self.do_what_is_due()
            sources = [self.reports] + ([] if self.is_closed else [self.master])
            ready, _, _ = select.select(sources, [], [], 0.02)
            if self.master in ready and not self.is_closed:
                self.read_output()
            if self.reports in ready and not self.read_report():
                break
        if not self.is_closed and select.select([self.master], [], [], 0.05)[0]:
            self.read_output()

    def left_in_session(self):
        left = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat", "rb") as file:
                    fields = file.read().rsplit(b")", 1)[1].split()
            except (OSError, IndexError):
                continue
            if int(fields[3]) == self.shell and fields[0] != b"Z" and int(pid) != self.shell:
                left.append(int(pid))
        return left

    def result(self):
        code = None if self.status is None else os.waitstatus_to_exitcode(self.status)
        after = None if self.is_closed else termios.tcgetattr(self.slave)
        return {
            "exit": code,
            "timeout": self.status is None,
            "secs": round(self.elapsed(), 2),
            "stops": self.stops,
            "tty_restored": after == self.settings if after else None,
            "left_in_session": self.left_in_session(),
            "out": self.output.decode("latin1")[-1500:],
        }


def main():
    drive = Drive(*parse(sys.argv[1:]))
    drive.run()
    print(json.dumps(drive.result()))
    if drive.status is None and drive.pid:
        os.kill(drive.pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
