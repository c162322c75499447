"""A program that keeps a Python session alive in a sandbox. session.py is the side of the host.

    python3 driver.py FOLDER LIMITS    start the session in the background, print its process id and exit

The text of this file is written into the sandbox. So it needs Python 3.8 or newer on a POSIX system, and nothing but
the standard library. FOLDER/context.txt holds the text of the variable `context`. LIMITS is a JSON object.

The session has two processes. The supervisor answers the host on the Unix socket FOLDER/socket, and never runs a block
of code. The worker, which the supervisor forks, runs the blocks. A block that hangs, crashes or uses up the memory
costs at most the worker: the supervisor interrupts it, and forks another one if it must. A connection to the socket
carries one message of the host and one reply:

    message: {"turn": 7, "wait": 20, "code": "…", "left": 10}, where `left` calls of `llm` are allowed, or
             {"turn": 7, "wait": 20, "answers": [[3, "text" | null, "error" | null], …]}, or {…, "stop": true}
    reply:   {"turn": 7, "calls": [[3, "prompt"], …], "done": null | {"output", "error", "final", "lost"}}

The reply comes when there are calls of `llm`, when the block is done, or after `wait` seconds. It is JSON, compressed
and in base64, because some sandboxes pass only ASCII text through unchanged.
"""

from __future__ import annotations

import ast
import base64
import codecs
import contextlib
import itertools
import json
import linecache
import os
import queue
import selectors
import shutil
import signal
import socket
import sys
import threading
import time
import traceback
import types
import zlib
from typing import Any, Callable, Dict, Iterator, NoReturn, Optional, TextIO, Tuple  # noqa: UP035  # Python 3.8

Message = Dict[str, Any]  # noqa: UP006
Answer = Tuple[Optional[str], Optional[str]]  # noqa: UP006, UP045
"""The reply to a call of `llm`, or the error in place of one."""

LINGER = 0.02
"""Seconds to wait for the calls of other threads before a reply."""
INTERRUPTS = 5
"""Interrupts, one a second, before a worker that does not stop is killed."""
IDLE = 48 * 3600
"""Seconds without a message of the host before the session ends."""


class LLMError(RuntimeError):
    """A call of `llm` got no answer."""


class TimeLimitError(KeyboardInterrupt):
    """A block ran for too long."""


class Worker:
    """The process that runs the blocks. Two threads carry lines of JSON from and to the supervisor."""

    def __init__(self, line: socket.socket, out: int, context: str, limits: Message) -> None:
        self.line, self.out, self.limits = line, out, limits
        self.pid = os.getpid()
        self.numbers = itertools.count(1)
        self.slots: dict[int, queue.SimpleQueue[Answer]] = {}
        """The calls of `llm` that wait for an answer."""
        self.blocks: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self.outbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self.running = False
        self.final: str | None = None
        self.left: Iterator[int] = iter(())
        """One element for each call of `llm` that is left. Threads can share it without a lock."""
        main = sys.modules["__main__"] = types.ModuleType("__main__")  # pickle and dataclasses look names up there
        main.__dict__.update(context=context, llm=self.llm, FINAL=self.FINAL, LLMError=LLMError)
        self.names = main.__dict__

    def llm(self, prompt: str) -> str:
        """Ask the language model, and return its reply. Threads may call it at the same time."""
        if not isinstance(prompt, str):
            raise TypeError("llm() takes one string")
        if len(prompt) > self.limits["prompt"]:
            raise ValueError("a prompt has at most {:,} characters".format(self.limits["prompt"]))
        if os.getpid() != self.pid:
            raise RuntimeError("llm() works in threads, not in other processes")
        if next(self.left, None) is None:
            raise LLMError("no more calls of llm(): the limit is {}".format(self.limits["calls"]))
        number = next(self.numbers)
        slot: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self.slots[number] = slot
        self.outbox.put({"call": number, "prompt": prompt})
        text, error = slot.get()
        if text is None:
            raise LLMError(error)
        return text

    def FINAL(self, answer: object) -> None:
        """Give the final answer."""
        text = str(answer)
        if len(text) > self.limits["answer"]:
            raise ValueError("an answer has at most {:,} characters".format(self.limits["answer"]))
        self.final = text

    def run(self) -> NoReturn:
        threading.Thread(target=self.receive, daemon=True).start()
        threading.Thread(target=self.send, daemon=True).start()
        while True:
            with contextlib.suppress(KeyboardInterrupt):  # it came as the block ended
                self.outbox.put(self.execute(self.blocks.get()))

    def receive(self) -> NoReturn:
        """Take the messages of the supervisor. The worker ends with it."""
        try:
            with self.line.makefile("rb") as lines:
                for line in lines:
                    self.take(json.loads(line))
        finally:
            os._exit(0)

    def take(self, message: Message) -> None:
        if "code" in message:
            self.blocks.put(message)
            return
        number, text, error = message["answer"]
        slot = self.slots.pop(number, None)
        if slot:
            slot.put((text, error))

    def send(self) -> NoReturn:
        try:
            while True:
                self.line.sendall(encode(self.outbox.get()))
        finally:
            os._exit(0)

    def interrupt(self, number: int, frame: object) -> None:
        if self.running:
            raise TimeLimitError(
                "the block ran for more than {} seconds; variables are kept".format(self.limits["seconds"])
            )

    def execute(self, message: Message) -> Message:
        """Run a block, and return the message for the supervisor. The output goes through a pipe."""
        code, name = message["code"], "<block {}>".format(message["block"])
        self.final, self.left, error = None, iter(range(message["left"])), None
        # An earlier block may have closed or replaced any of these.
        os.dup2(self.out, 1)
        os.dup2(self.out, 2)
        stdout = sys.stdout = sys.stderr = open_writer(1)
        signal.signal(signal.SIGINT, self.interrupt)
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        lines = self.run_code(code, name)
        if os.getpid() != self.pid:
            os._exit(0)  # the block forked, and this is the child
        for file in (stdout, sys.stdout):
            with contextlib.suppress(Exception):  # the block closed it, or put something else there
                file.flush()
        if lines:
            error = lines[-1].strip()
            with open_writer(self.out) as file:
                file.write("".join(lines))
        return {"done": message["block"], "error": error, "final": self.final}

    def run_code(self, code: str, name: str) -> list[str]:
        """Run code as a notebook does, and return the lines of the traceback if it raises."""
        try:
            body = ast.parse(code, name).body
            last = [body.pop()] if body and isinstance(body[-1], ast.Expr) else []
            block = compile(ast.Module(body, []), name, "exec", dont_inherit=True)
            shown = compile(ast.Interactive(last), name, "single", dont_inherit=True)  # it shows the value
            self.running = True
            exec(block, self.names)
            exec(shown, self.names)
            self.running = False
        except BaseException as raised:
            self.running = False
            frames = raised.__traceback__.tb_next if raised.__traceback__ else None  # without this method
            if isinstance(raised, SyntaxError):
                frames = None  # nor the parser
            return traceback.format_exception(type(raised), raised, frames)
        return []


class Output:
    """The start and the end of a text of any length."""

    def __init__(self, limit: int) -> None:
        self.limit, self.size, self.head, self.tail = limit, 0, "", ""
        self.decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def add(self, data: bytes) -> None:
        text = self.decode(data)
        self.size += len(text)
        room = self.limit // 2 - len(self.head)
        self.head += text[:room]
        self.tail = (self.tail + text[room:])[-(self.limit - self.limit // 2) :]

    def __str__(self) -> str:
        left_out = self.size - len(self.head) - len(self.tail)
        between = f"\n[… {left_out:,} characters left out …]\n" if left_out else ""
        return self.head + between + self.tail


class Supervisor:
    """The process that answers the host and watches the worker. It has one thread, so that it can fork."""

    def __init__(self, listener: socket.socket, home: str, context: str, limits: Message) -> None:
        self.listener, self.home, self.context, self.limits = listener, home, context, limits
        self.selector = selectors.DefaultSelector()
        self.selector.register(listener, selectors.EVENT_READ, self.accept)
        self.client: socket.socket | None = None
        self.turn, self.last_reply = 0, b""
        self.until = self.used = self.called = 0.0
        """The time at which the host wants a reply, the seconds of the block so far, and the time of its last call."""
        self.block = self.workers = self.interrupts = 0
        self.lost = self.stopped = False
        self.start_worker()

    def start_worker(self) -> None:
        """Fork a worker, which knows nothing but the context."""
        self.workers += 1
        self.line, far = socket.socketpair()
        self.pipe, write = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            try:
                self.become_worker(far, write)
            finally:
                os._exit(1)
        far.close()
        os.close(write)
        self.line.settimeout(10)
        os.set_blocking(self.pipe, False)
        self.selector.register(self.line, selectors.EVENT_READ, self.receive)
        self.selector.register(self.pipe, selectors.EVENT_READ, self.read_output)
        self.buffer = b""
        self.calls: list[list[Any]] = []
        """The calls of `llm` that the host has not been sent."""
        self.open: set[int] = set()
        """The calls of `llm` without an answer."""
        self.running = False
        self.done: Message | None = None
        self.output = Output(self.limits["output"])

    def become_worker(self, line: socket.socket, out: int) -> None:
        os.setsid()
        self.selector.close()
        self.listener.close()
        self.line.close()
        os.close(self.pipe)
        if self.client:
            self.client.close()
        os.chdir(self.home)
        sys.path[0] = ""
        Worker(line, out, self.context, self.limits).run()

    def kill_worker(self) -> None:
        kills: list[Callable[[int, int], None]] = [os.killpg, os.kill]  # it may not lead a group yet
        for kill in kills:
            with contextlib.suppress(OSError):
                kill(self.pid, signal.SIGKILL)

    def replace_worker(self, reason: str) -> None:
        """Start another worker, and say in the block's result why."""
        self.kill_worker()
        os.waitpid(self.pid, 0)
        self.read_output()
        self.selector.unregister(self.line)
        self.selector.unregister(self.pipe)
        self.line.close()
        os.close(self.pipe)
        running, output = self.running, str(self.output)
        self.lost = True
        self.start_worker()
        if running:
            self.done = {"output": output, "error": reason, "final": None}

    def run(self) -> None:
        now = self.heard = time.monotonic()
        # The files of a sandbox that is cleaned up are gone, which ends the session.
        while not self.stopped and os.path.exists("socket") and now < self.heard + IDLE:
            events = self.selector.select(self.pause())
            before, now = now, time.monotonic()
            if self.running and not self.open:
                self.used += now - before
            worker = self.workers
            for key, _ in events:
                if self.workers == worker:  # else the event may be one of the worker that was replaced
                    key.data()
            self.check_time()
            if self.client and self.has_news(now):
                self.reply()
        self.kill_worker()

    def pause(self) -> float:
        if self.client and (self.calls or self.done):
            return LINGER
        return 0.2 if self.running else 1

    def has_news(self, now: float) -> bool:
        return bool(self.done) or now >= self.until or (bool(self.calls) and now >= self.called + LINGER)

    def check_time(self) -> None:
        """Interrupt a block that has run for too long, and replace its worker in the end."""
        if not self.running or self.used <= self.limits["seconds"] + self.interrupts:
            return
        self.interrupts += 1
        if self.interrupts > INTERRUPTS:
            self.replace_worker(
                "TimeLimitError: the block did not stop after {} seconds".format(self.limits["seconds"])
            )
        else:
            os.kill(self.pid, signal.SIGINT)

    def accept(self) -> None:
        """Take a message of the host."""
        client, _ = self.listener.accept()
        client.settimeout(10)
        try:
            with client.makefile("rb") as file:
                message = json.loads(file.read())
            turn, wait = int(message["turn"]), float(message["wait"])
        except Exception:  # not the host
            client.close()
            return
        self.heard = time.monotonic()
        is_repeated = turn == self.turn  # the host lost its connection, before the reply or after it
        is_answered = is_repeated and not self.client
        self.close_client()
        self.client, self.until = client, time.monotonic() + wait
        if is_answered:
            self.send_reply()
        elif not is_repeated:
            self.turn = turn
            self.obey(message)

    def obey(self, message: Message) -> None:
        if message.get("stop"):
            self.stopped, self.until = True, 0.0
        answers = message.get("answers") or []
        if "code" in message:
            answers = [[number, None, "the block that asked has ended"] for number in self.open]
            self.calls = []
        for answer in answers:
            self.open.discard(answer[0])
            self.send({"answer": answer})
        if "code" in message:
            self.block += 1
            self.running, self.done, self.used, self.interrupts = True, None, 0.0, 0
            self.output = Output(self.limits["output"])
            self.send({"code": message["code"], "left": message["left"], "block": self.block})

    def send(self, message: Message) -> None:
        try:
            self.line.sendall(encode(message))
        except OSError:
            self.replace_worker("the Python process stopped listening")

    def receive(self) -> None:
        """Take what the worker sent. A block can send anything, because it runs in the same process."""
        try:
            data = self.line.recv(1 << 20)
        except OSError:
            data = b""
        if not data or len(self.buffer) > 20 * self.limits["prompt"] + (1 << 20):
            self.replace_worker("the Python process ended")
            return
        *lines, self.buffer = (self.buffer + data).split(b"\n")
        for line in lines:
            with contextlib.suppress(Exception):  # it is not what a worker sends
                self.take(json.loads(line))

    def take(self, message: Message) -> None:
        if "call" in message:
            self.calls.append([int(message["call"]), str(message["prompt"])])
            self.open.add(self.calls[-1][0])
            self.called = time.monotonic()
        elif message["done"] == self.block and self.running:
            self.read_output()
            self.running = False
            self.done = {"output": str(self.output), "error": message["error"], "final": message["final"]}

    def read_output(self) -> None:
        for _ in range(32):  # more than a pipe holds
            try:
                data = os.read(self.pipe, 65536)
            except OSError:
                return
            if not data:
                return
            self.output.add(data)

    def reply(self) -> None:
        """Send the calls of `llm`, as many as the host takes at a time, or else the result of the block."""
        calls: list[list[Any]] = []
        size, done = 0, None
        while self.calls and (not calls or size + len(self.calls[0][1]) <= self.limits["prompt"]):
            calls.append(self.calls.pop(0))
            size += len(calls[-1][1])
        if self.done and not self.calls:
            done, self.done = dict(self.done, lost=self.lost), None
            self.lost = False
        self.last_reply = base64.b64encode(zlib.compress(encode({"turn": self.turn, "calls": calls, "done": done}), 1))
        self.send_reply()

    def send_reply(self) -> None:
        if self.client:
            with contextlib.suppress(OSError):  # the host asks again
                self.client.sendall(self.last_reply)
        self.close_client()

    def close_client(self) -> None:
        if self.client:
            with contextlib.suppress(OSError):
                self.client.shutdown(socket.SHUT_RDWR)  # a worker may have inherited it
            self.client.close()
            self.client = None


def encode(message: Message) -> bytes:
    """Return a message as a line of JSON."""
    return json.dumps(message).encode() + b"\n"


def open_writer(number: int) -> TextIO:
    """Return a text file that writes to a file descriptor, line by line."""
    return open(number, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)


def detach() -> None:
    """Leave the session of the process that started this one, and its files."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)


def main() -> None:
    folder, limits = sys.argv[1], json.loads(sys.argv[2])
    home = os.getcwd()
    os.chdir(folder)
    folder = os.getcwd()
    with open("context.txt", encoding="utf-8", errors="surrogatepass", newline="") as file:
        context = file.read()
    os.unlink("context.txt")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("socket")
    listener.listen(16)
    pid = os.fork()
    if pid:
        print(pid)
        return
    detach()
    Supervisor(listener, home, context, limits).run()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


if __name__ == "__main__":
    main()
