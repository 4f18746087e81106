"""Check training and decoding on a GPU, in ten minutes: `make gpu-check`.

The most important stages come first. Each is timed, and one that fails does not stop the next; the
results are printed as a table and, after each stage, written to a JSON file. With --pretend, the
stages run at reduced size on a simulated CUDA device (scripts/pretend_cuda).
"""

import argparse
import json
import os
import sys
import tempfile
import textwrap
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

sys.path.insert(1, str(Path(__file__).with_name("bench")))  # its scripts import each other

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gpu_stages.setup import Findings, Setup


def stages() -> "list[Callable[[Setup], Findings]]":
    """Return all stages, in order."""
    from gpu_stages import correctness, speed

    return [
        correctness.card,
        correctness.replays_bit_for_bit,
        speed.throughput_like_multi30k,
        speed.throughput_like_wmt_base,
        correctness.resumes_bit_for_bit,
        correctness.updates_do_not_wait,
        correctness.agrees_in_float32,
        correctness.agrees_in_its_own_precision,
        speed.decoding,
        correctness.decodes_as_the_cpu,
        correctness.attention_kernels,
        correctness.masks_hide,
        correctness.agrees_compiled,
        correctness.two_processes,
    ]


def run_stages(
    setup: "Setup",
    chosen: "Sequence[Callable[[Setup], Findings]]",
    output: Path,
    minutes: float,
) -> list[dict[str, Any]]:
    """Run the stages, print a row of the table for each, and return what they found.

    output: file for the findings so far; minutes: after which no further stage starts
    """
    from gpu_stages.setup import Skipped

    found: list[dict[str, Any]] = []
    end = time.monotonic() + 60 * minutes
    for stage in chosen:
        name, start = stage.__name__.replace("_", " "), time.perf_counter()
        outcome: dict[str, Any]
        try:
            if time.monotonic() > end:
                raise Skipped("the time is up; see --minutes")
            outcome = {"result": "passed", "found": stage(setup)}
        except Skipped as reason:
            outcome = {"result": "skipped", "found": str(reason)}
        except Exception as error:  # the next stages may still be informative
            outcome = {"result": "FAILED", "found": f"{type(error).__name__}: {error}"}
        seconds = round(time.perf_counter() - start, 2)
        found.append({"stage": name, "seconds": seconds, **outcome})
        output.write_text(json.dumps(found, indent=2), encoding="utf-8")
        print(f"{name:28} {outcome['result']:8} {seconds:7.2f} s", flush=True)
        print(lines(outcome["found"]), flush=True)
    return found


def lines(found: Any) -> str:
    """Return findings as indented lines of text."""
    if not isinstance(found, dict):
        return f"    {found}"
    text = yaml.safe_dump(json.loads(json.dumps(found)), sort_keys=False, indent=4)
    return textwrap.indent(text.rstrip(), "    ")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", default="sample.yaml")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE")
    parser.add_argument("--output", type=Path, default=Path("gpu-check.json"))
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="start no further stage after this time"
    )
    parser.add_argument("--pretend", action="store_true", help="run at reduced size, without a GPU")
    options = parser.parse_args(arguments)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # before cuBLAS starts
    with tempfile.TemporaryDirectory() as folder:
        from pretend_cuda.process import pretend_here

        with pretend_here(Path(folder)) if options.pretend else nullcontext():
            import torch
            from gpu_stages.setup import Setup

            from nmt.config.yaml_files import load_config

            if not torch.cuda.is_available():
                sys.exit(
                    "no CUDA GPU here; to run the check without one: python scripts/gpu_check.py "
                    "--pretend"
                )
            config = load_config(options.config, options.set)
            setup = Setup(config, options.pretend, Path(folder))
            found = run_stages(setup, stages(), options.output, options.minutes)
    return int(any(stage["result"] == "FAILED" for stage in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
