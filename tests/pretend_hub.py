"""A minimal local Hugging Face Hub, which the libraries reach through HF_ENDPOINT.

It answers those requests of `datasets` and `huggingface_hub` that read a dataset or that create,
fill and read a model, from a folder with `datasets/USER/NAME` and `models/USER/NAME`.
"""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

FORBIDDEN = ".forbidden"  # ending of a file whose neighbour is refused
CUT = ".cut"  # ending of a file whose neighbour is sent only in part


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    root: Path

    def do_GET(self) -> None:
        """Answer according to the request path."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.split("?")[0]
        file = re.fullmatch(r"/(?:(datasets)/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        call = re.fullmatch(r"/api/(models|datasets)/([^/]+/[^/]+)/?([^/]*)/?[^/]*/?(.*)", path)
        if file:
            self._file(self.root / (file[1] or "models") / file[2], file[3], file[4])
        elif path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}"
            (self.root / "models" / name).mkdir(parents=True, exist_ok=True)
            self._json({"url": f"http://{self.headers['Host']}/{name}"})
        elif path == "/api/validate-yaml":
            self._json({"errors": [], "warnings": []})
        elif call and (folder := self.root / call[1] / call[2]).is_dir():
            self._call(folder, call[2], call[3], call[4], body)
        else:
            self._send(404, {"X-Error-Code": "RepoNotFound"})

    do_HEAD = do_POST = do_GET  # noqa: N815

    def _call(self, folder: Path, name: str, call: str, below: str, body: bytes) -> None:
        if call in ("", "revision"):
            entries = [_entry(folder, path) for path in _files(folder)]
            siblings = [{"rfilename": each["path"], "size": each["size"]} for each in entries]
            self._json({"id": name, "sha": _commit(folder), "private": True, "siblings": siblings})
        elif call == "tree":
            inside = sorted((folder / below).rglob("*"))
            self._json([_entry(folder, path) for path in inside])
        elif call == "preupload":
            files = [file["path"] for file in json.loads(body)["files"]]
            modes = {"uploadMode": "regular", "shouldIgnore": False}
            self._json({"files": [{"path": path, **modes} for path in files]})
        elif call == "commit":
            address = f"http://{self.headers['Host']}/{name}"
            for line in map(json.loads, body.splitlines()):
                path = folder / line["value"].get("path", "")
                if line["key"] == "deletedFile":
                    path.unlink()
                elif line["key"] == "file":
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(base64.b64decode(line["value"]["content"]))
            commit = _commit(folder)
            self._json({"commitUrl": f"{address}/commit/{commit}", "commitOid": commit})

    def _file(self, folder: Path, revision: str, name: str) -> None:
        if (folder / f"{name}{FORBIDDEN}").exists():
            self._send(403, {})
            return
        if not (folder / name).is_file():
            missing = "EntryNotFound" if folder.is_dir() else "RepoNotFound"
            self._send(404, {"X-Error-Code": missing})
            return
        content = (folder / name).read_bytes()
        etag = f'"{hashlib.sha1(content).hexdigest()}"'
        commit = revision if len(revision) == 40 else _commit(folder)
        self._send(
            *(200, {"ETag": etag, "X-Repo-Commit": commit}, content),
            cut=(folder / f"{name}{CUT}").exists(),
        )

    def _json(self, answer: object) -> None:
        self._send(200, {"Content-Type": "application/json"}, json.dumps(answer).encode())

    def _send(
        self, status: int, headers: dict[str, str], content: bytes = b"", cut: bool = False
    ) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[: len(content) // 2] if cut else content)
            self.close_connection = cut

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


def _files(folder: Path) -> list[Path]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in paths if path.suffix not in (FORBIDDEN, CUT)]


def _commit(folder: Path) -> str:
    """Return an identifier that changes with the files."""
    return hashlib.sha1(b"".join(path.read_bytes() for path in _files(folder))).hexdigest()


def forbid(path: Path) -> None:
    """Answer requests for a file with an error from now on."""
    path.with_name(path.name + FORBIDDEN).touch()


@contextmanager
def cut_off(path: Path) -> Iterator[None]:
    """End each transfer of a file in the middle, within the context."""
    marker = path.with_name(path.name + CUT)
    marker.touch()
    yield
    marker.unlink()


def _entry(folder: Path, path: Path) -> dict[str, object]:
    kind = "file" if path.is_file() else "directory"
    size = path.stat().st_size
    return {"type": kind, "path": path.relative_to(folder).as_posix(), "size": size, "oid": "0"}


@contextmanager
def pretend_hub(root: Path) -> Iterator[str]:
    """Serve a folder as a hub; yield its address."""
    handler = type("Handler", (_Handler,), {"root": root})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def nmt_with_hub(
    address: str, home: Path, *arguments: object, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Call nmt in a new process: the libraries read the address when they are imported.

    home: the folder of all caches
    """
    variables = {
        "HF_ENDPOINT": address,
        "HF_HOME": str(home / "huggingface"),
        "HF_TOKEN": "hf_pretended",
        "HF_HUB_DISABLE_XET": "1",
        "XDG_CACHE_HOME": str(home),
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }
    return subprocess.run(
        [sys.executable, "-m", "nmt", *map(str, arguments)],
        env={**os.environ, **variables, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
