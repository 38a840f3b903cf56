#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lets clang read the C files for CUDA of a build folder of gcc, with that folder's options.

    tools/test/clang_cuda.py BUILD_FOLDER

The build with clang leaves CUDA out, since nvcc would compile the kernels once more.
"""
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

CUDA = re.compile(r"(cuda|cufft|nccl|panels|rates)[a-z_]*\.c$")


def main(folder):
    files = [entry for entry in json.loads(Path(folder, "compile_commands.json").read_text())
             if re.search(r"/lib(redist|fftnd)/", entry["file"]) and CUDA.search(entry["file"])]
    failed = 0
    for entry in {entry["file"]: entry for entry in files}.values():
        words = shlex.split(entry["command"])
        first = next(i for i, word in enumerate(words) if word.startswith("-"))
        failed += subprocess.run(["clang", *words[first:], "-fsyntax-only"], cwd=entry["directory"],
                                 check=False).returncode != 0
    print(f"{len(files)} files, {failed} refused")
    return failed != 0


sys.exit(main(sys.argv[1]))
