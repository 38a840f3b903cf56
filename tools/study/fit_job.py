#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a job as one machine can run it.

usage: fit_job.py JOB RESULT usual|aware SPACE

JOB     a file of fftnd-study --job
RESULT  the same, with arrays in the memory SPACE; with an MPI that does not take device memory (usual)
        without the staging `aware`
"""
import json
import sys
from pathlib import Path


def fit(job, mpi, space):
    job["spaces"] = [space]
    stagings = job.get("stagings", ["auto"])
    stagings = [stagings] if isinstance(stagings, str) else stagings
    if mpi == "usual":
        job["stagings"] = [word for word in stagings if word != "aware"] or ["staged"]
    return job


def main():
    path, result, mpi, space = sys.argv[1:]
    job = json.loads(Path(path).read_text(encoding="utf-8"))
    job.setdefault("name", "study")
    Path(result).write_text(json.dumps(fit(job, mpi, space), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
