"""Compare `nmt serve` with in-process translation, and test it with many clients, some hostile.

python scripts/bench/serving.py --run runs/sample
"""

import asyncio
import json
import random
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from decoding import one_sentence
from measuring import memory, options, seconds, table

from nmt.decoding.loading import load_translator
from nmt.runs.finding import open_run

CLIENTS = 16
HOSTILE_CLIENTS = 64
DAWDLING_CLIENTS = 20
TIMEOUT = 10  # seconds; limit for receiving a request, and for answering it


@contextmanager
def serving(run: Path) -> Iterator[tuple[int, int]]:
    """Run `nmt serve` on a free port; yield the port and the number of its process."""
    command = [sys.executable, "-m", "nmt", "serve", "--port", "0", "--run", str(run)]
    command += ["--timeout", str(TIMEOUT)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        address = next((line.split()[1] for line in process.stderr if line.startswith("open")), "")
        if not address:
            raise SystemExit("nmt serve exited before it was ready")
        # Keep reading its output; it would block on a full pipe.
        rest = (process.stderr,)
        threading.Thread(target=sys.stderr.writelines, args=rest, daemon=True).start()
        try:
            yield urlsplit(address).port or 0, process.pid
        finally:
            process.terminate()


class Client:
    """A persistent connection, as programs use."""

    def __init__(self, port: int):
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, body: bytes) -> tuple[int, bytes]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        head = (
            "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
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
        status, answer = await self.post(as_json(text))
        if status != 200:
            raise ConnectionError(status)
        return translation(answer)

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


def as_json(text: str) -> bytes:
    return json.dumps({"q": text, "source": "en", "target": "de"}).encode()


def translation(answer: bytes) -> str:
    return str(json.loads(answer)["translatedText"])


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


async def attack(port: int, lines: Sequence[str], right: Sequence[str], count: int) -> Counter[str]:
    """Send requests, a tenth of them hostile, alongside slow clients, and count what happens.

    server error: statuses from 500 except 503, also for hostile requests; of valid requests: busy,
    that is 503; rejected, with another status; unanswered; wrong, with another sentence's
    translation; dawdling: clients that sent a request byte by byte; cut off: those of them that the
    server disconnected
    """
    found = Counter[str]()
    numbers = iter(range(count))
    bodies = [b"x" * 5_000_000, b'{"q": ', b"[]", b'{"q": "\xff", "source": "en", "target": "de"}']
    done = asyncio.Event()

    async def work() -> None:
        client = Client(port)
        for number in numbers:
            if number % 50 == 0:
                await client.cut()
                continue
            valid, row = number % 10 > 0, number % len(lines)
            body = as_json(lines[row]) if valid else bodies[number // 10 % 4]
            try:
                status, answer = await client.post(body)
            except (ConnectionError, asyncio.IncompleteReadError):
                client.close()  # a body that is too large is not read to its end
                found["unanswered"] += valid
                continue
            found["server error"] += status >= 500 and status != 503
            if valid:
                found["busy"] += status == 503
                found["rejected"] += status not in (200, 503)
                found["wrong"] += status == 200 and translation(answer) != right[row]
        client.close()

    async def dawdle() -> None:
        while not done.is_set():
            found["dawdling"] += 1
            cut_off = await Client(port).dawdle()
            found["cut off"] += cut_off

    dawdling = asyncio.gather(*(dawdle() for _ in range(DAWDLING_CLIENTS)))
    await asyncio.gather(*(work() for _ in range(HOSTILE_CLIENTS)))
    done.set()
    await dawdling
    return found


def main() -> None:
    parser = options(__doc__, "--run", "--rounds")
    parser.add_argument("--requests", type=int, default=10_000)
    arguments = parser.parse_args()
    run = open_run(arguments.run)
    lines = [example.source for example in run.examples("test")]
    some = lines[:200]
    crowds, shares = [], []
    start = time.perf_counter()
    with serving(arguments.run) as (port, process):
        asyncio.run(Client(port).translate(lines[0]))
        first = time.perf_counter() - start
        translate = load_translator(run).translate
        right = [each.text for each in translate(lines)]
        for _ in range(arguments.rounds):
            offline = seconds(lambda: translate(lines))
            start = time.perf_counter()
            many, _ = asyncio.run(clients(port, lines, CLIENTS))
            taken = time.perf_counter() - start
            crowds.append(len(lines) / taken)
            shares.append(offline / taken)
        one, took = asyncio.run(clients(port, some, 1))
        extra = 1000 * (statistics.median(took) - one_sentence(translate, some)())
        before = memory(process, "VmRSS")
        found = asyncio.run(attack(port, lines, right, arguments.requests))
        after = memory(process, "VmRSS")
    wrong = sum(a != b for a, b in zip(one + many, right[:200] + right, strict=True))
    several = statistics.median(crowds) / (len(some) / sum(took))
    attacks = f"{arguments.requests:,} requests, a tenth hostile"
    lost = found["unanswered"] + found["rejected"]
    cut_off = f"{found['cut off']} of {found['dawdling']}"
    rows = [
        ("from nmt serve to the first answer", f"{first:.2f} s", "≤ 1 s"),
        ("median overhead per sentence vs. in-process", f"{extra:.2f} ms", "≤ 2 ms"),
        ("sentences per second: 16 clients vs. one", f"{several:.2f} ×", "≥ 5 ×"),
        ("16 clients vs. one call with all lines", f"{statistics.median(shares):.2f} ×", "≥ 0.8 ×"),
        ("answers that differ from nmt translate", f"{wrong}", "0"),
        (f"{attacks}: 5xx except 503", f"{found['server error']}", "0"),
        ("… valid requests that got another sentence's answer", f"{found['wrong']}", "0"),
        ("… valid requests without an answer, or rejected", f"{lost}", "0"),
        ("… valid requests answered with 503", f"{found['busy']}", ""),
        ("… clients that send byte by byte, cut off", cut_off, "all"),
        ("… memory before and after", f"{before:.0f}, {after:.0f} MiB", "flat"),
    ]
    print(table(("", "measured", "target"), rows))


if __name__ == "__main__":
    main()
