"""Writes a boot log of a gigabyte, lints it in a process of its own, and prints what that took.

python scripts/stream_a_gigabyte.py [MEGABYTES]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_BOOT = """\
[2026-02-03 09:00:00] server_args=ServerArgs(model_path='m', tp_size=1, mem_fraction_static=0.88)
[2026-02-03 09:00:13] Load weight begin. avail mem=94.00 GB
[2026-02-03 09:03:44] Load weight end. elapsed=211.02 s, type=M, dtype=torch.bfloat16, avail mem=21.70 GB, mem usage=72.30 GB.
[2026-02-03 09:03:50] Memory pool end. avail mem=9.18 GB
[2026-02-03 09:04:24] The server is fired up and ready to roll!
"""
_TRAFFIC = (
    b"[2026-02-03 09:10:00] Decode batch. #running-req: 12, #token: 48123, token usage: 0.31, gen throughput (token/s): 512.33\n"
)
_LINT = """\
import resource, sys
from preflight.cli import main
code = main(["lint", sys.argv[1]])
usage = resource.getrusage(resource.RUSAGE_SELF)
print(f"exit code {code}, {usage.ru_utime + usage.ru_stime:.1f} s of CPU, peak {usage.ru_maxrss / 1024:.1f} MiB")
"""


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "boot.log"
        block = _TRAFFIC * (1_000_000 // len(_TRAFFIC))
        with path.open("wb") as file:
            file.write(_BOOT.encode())
            while file.tell() < megabytes * 1_000_000:
                file.write(block)
        started = time.monotonic()
        subprocess.run([sys.executable, "-c", _LINT, str(path)], cwd=ROOT, check=True)
        print(f"{path.stat().st_size / 1e6:.0f} MB in {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()
