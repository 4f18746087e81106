"""Compare `nmt serve` with in-process translation, and test it with many clients, some hostile.

python scripts/bench/serving.py --run runs/sample
"""

import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from measuring import options

from nmt.decoding.loading import load_translator
from nmt.runs.finding import open_run

CLIENTS = 16
HOSTILE_CLIENTS = 64
DAWDLING_CLIENTS = 20
TIMEOUT = 10  # seconds; limit for receiving a request, and for answering it
KIND = "application/json"


class Server:
    """`nmt serve` in a separate process, on a free port."""

    def __init__(self, run: Path):
        command = [sys.executable, "-m", "nmt", "serve", "--port", "0", "--run", str(run)]
        command += ["--timeout", str(TIMEOUT)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr
        for line in self.process.stderr:
            if line.startswith("open"):
                self.port = urlsplit(line.split()[1]).port or 0
                # Keep reading its output; it would block on a full pipe.
                rest = (self.process.stderr,)
                threading.Thread(target=sys.stderr.writelines, args=rest, daemon=True).start()
                return
        raise SystemExit("nmt serve exited before it was ready")

    def memory(self) -> float:
        """Return the resident memory in MB."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


class Client:
    """A persistent connection, as programs use."""

    def __init__(self, port: int):
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, body: bytes, kind: str = KIND) -> tuple[int, bytes]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        head = (
            f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await writer.drain()
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(answer.split("content-length:")[1].split()[0])
        found = await reader.readexactly(length)
        if "connection: close" in answer:
            self.close()
        return int(answer.split()[1]), found

    async def translate(self, text: str) -> str:
        body = json.dumps({"q": text, "source": "en", "target": "de"}).encode()
        status, answer = await self.post(body)
        if status != 200:
            raise ConnectionError(status)
        return str(json.loads(answer)["translatedText"])

    async def cut(self) -> None:
        """Announce a body, send half of it, and disconnect."""
        _, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{")
        await writer.drain()
        await asyncio.sleep(random.random() / 10)
        writer.close()

    async def dawdle(self) -> bool:
        """Send a request byte by byte until the server disconnects; return whether it did."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nX: ")
        answer = asyncio.ensure_future(reader.read())
        for _ in range(1000):
            writer.write(b"x")
            await asyncio.sleep(TIMEOUT / 100)
            if answer.done():
                break
        writer.close()
        return answer.done() and (answer.exception() is not None or b" 408 " in answer.result())

    def close(self) -> None:
        if self._streams:
            self._streams[1].close()
        self._streams = None


async def clients(port: int, lines: Sequence[str], count: int) -> tuple[list[str], list[float]]:
    """Translate with `count` concurrent clients; return translations and seconds per request."""
    found = [""] * len(lines)
    took: list[float] = []
    rest = iter(enumerate(lines))

    async def work() -> None:
        client = Client(port)
        for number, line in rest:
            start = time.perf_counter()
            found[number] = await client.translate(line)
            took.append(time.perf_counter() - start)
        client.close()

    await asyncio.gather(*(work() for _ in range(count)))
    return found, took


@dataclass
class Hostile:
    """Results of requests of which a tenth were hostile.

    good, bad: statuses of valid and of hostile requests; wrong: valid ones that got another
    sentence's translation; unanswered: valid ones without an answer; dawdling: clients that sent a
    request byte by byte; cut_off: those that the server disconnected
    """

    good: list[int] = field(default_factory=list)
    bad: list[int] = field(default_factory=list)
    wrong: int = 0
    unanswered: int = 0
    dawdling: int = 0
    cut_off: int = 0


async def hostile(port: int, lines: Sequence[str], right: Sequence[str], count: int) -> Hostile:
    """Send requests, a tenth of them hostile, alongside slow clients."""
    found = Hostile()
    numbers = iter(range(count))
    bodies = [b"x" * 5_000_000, b'{"q": ', b"[]", b'{"q": "\xff", "source": "en", "target": "de"}']
    done = asyncio.Event()

    async def work() -> None:
        client = Client(port)
        for number in numbers:
            if number % 10:
                await ask(client, number % len(lines))
            elif number % 50:
                try:
                    found.bad.append((await client.post(bodies[number // 10 % 4]))[0])
                except (ConnectionError, asyncio.IncompleteReadError):
                    client.close()  # a body that is too large is not read to its end
            else:
                await client.cut()
        client.close()

    async def ask(client: Client, row: int) -> None:
        body = json.dumps({"q": lines[row], "source": "en", "target": "de"}).encode()
        try:
            status, answer = await client.post(body)
        except (ConnectionError, asyncio.IncompleteReadError):
            found.unanswered += 1
            client.close()
            return
        found.good.append(status)
        found.wrong += status == 200 and json.loads(answer)["translatedText"] != right[row]

    async def dawdle() -> None:
        while not done.is_set():
            found.dawdling += 1
            cut_off = await Client(port).dawdle()
            found.cut_off += cut_off

    dawdling = asyncio.gather(*(dawdle() for _ in range(DAWDLING_CLIENTS)))
    await asyncio.gather(*(work() for _ in range(HOSTILE_CLIENTS)))
    done.set()
    await dawdling
    return found


def timed(
    work: Coroutine[Any, Any, tuple[list[str], list[float]]],
) -> tuple[float, list[str], list[float]]:
    start = time.perf_counter()
    found, took = asyncio.run(work)
    return time.perf_counter() - start, found, took


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--run", type=Path, required=True, help="run folder that nmt train wrote")
    parser.add_argument("--requests", type=int, default=10_000)
    arguments = parser.parse_args()
    run = open_run(arguments.run)
    lines = [example.source for example in run.examples("test")]
    start = time.perf_counter()
    server = Server(arguments.run)
    asyncio.run(Client(server.port).translate(lines[0]))
    first = time.perf_counter() - start
    translator = load_translator(run)
    right = [each.text for each in translator.translate(lines)]
    alone = []
    for line in lines[:200]:
        start = time.perf_counter()
        translator.translate([line])
        alone.append(time.perf_counter() - start)
    crowds, shares = [], []
    for _ in range(arguments.rounds):
        start = time.perf_counter()
        translator.translate(lines)
        offline = len(lines) / (time.perf_counter() - start)
        seconds, many, _ = timed(clients(server.port, lines, CLIENTS))
        crowds.append(len(lines) / seconds)
        shares.append(crowds[-1] / offline)
    seconds, one, took = timed(clients(server.port, lines[:200], 1))
    crowd, share, single = statistics.median(crowds), statistics.median(shares), len(one) / seconds
    extra = 1000 * (statistics.median(took) - statistics.median(alone))
    before = server.memory()
    under_attack = asyncio.run(hostile(server.port, lines, right, arguments.requests))
    after = server.memory()
    wrong = sum(a != b for a, b in zip(one + many, right[:200] + right, strict=True))
    good, statuses = under_attack.good, under_attack.good + under_attack.bad
    failed = sum(status >= 500 and status != 503 for status in statuses)
    refused = sum(status not in (200, 503) for status in good)
    rows = [
        ("from nmt serve to the first answer", f"{first:.2f} s", "≤ 1 s"),
        ("median overhead per sentence vs. in-process", f"{extra:.2f} ms", "≤ 2 ms"),
        ("sentences per second: 16 clients vs. one", f"{crowd / single:.2f} ×", "≥ 5 ×"),
        ("16 clients vs. one call with all lines", f"{share:.2f} ×", "≥ 0.8 ×"),
        ("answers that differ from nmt translate", str(wrong), "0"),
        (f"{arguments.requests:,} requests, a tenth hostile: 5xx except 503", str(failed), "0"),
        ("… valid requests that got another sentence's answer", str(under_attack.wrong), "0"),
        (
            "… valid requests without an answer, or rejected",
            str(under_attack.unanswered + refused),
            "0",
        ),
        ("… valid requests answered with 503", str(good.count(503)), ""),
        (
            "… clients that send byte by byte, cut off",
            f"{under_attack.cut_off} of {under_attack.dawdling}",
            "all",
        ),
        ("… memory before and after", f"{before:.0f}, {after:.0f} MB", "flat"),
    ]
    server.stop()
    print("| | measured | target |\n| --- | --- | --- |")
    for row in rows:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
