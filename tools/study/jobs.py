#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a job script of SLURM for each number of nodes of a study; standard library only.

The script makes a rank file on the nodes that it was given (rank-cores, with hwloc), so that each rank is
bound to the cores next to its GPU, and starts fftnd-study with Open MPI.
"""
import argparse
import json
import re
import shlex
import sys
from pathlib import Path

TEMPLATE = """#!/bin/bash
#SBATCH --job-name={name}-{ranks}
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node={ranks_per_node}
#SBATCH --exclusive
#SBATCH --time={time}
#SBATCH --output={name}-{ranks}.log
{more}set -euo pipefail
programs={programs}
job={job}
out={out}
rank_file=$out/{name}-{ranks}.rankfile
mkdir -p "$out"
{setup}
export CUDA_DEVICE_ORDER=PCI_BUS_ID
# Each node says which of its cores are next to which rank's GPU.
srun --nodes={nodes} --ntasks={nodes} --ntasks-per-node=1 "$programs/rank-cores" {ranks_per_node} |
    sort -t' ' -k2n >"$rank_file"
mpirun -n {ranks} --rankfile "$rank_file" --bind-to core:overload-allowed --report-bindings \\
    -x CUDA_DEVICE_ORDER "$programs/fftnd-study" --job "$job" --out "$out"
"""


def refuse(message):
    print(f"./dev jobs: {message}", file=sys.stderr)
    sys.exit(2)


def job_name(path):
    try:
        name = json.loads(path.read_text(encoding="utf-8")).get("name", "study")
    except (OSError, ValueError, AttributeError) as error:
        refuse(f"--job {path} is no job: {error}")
    if not re.fullmatch(r"[\w.+-]+", str(name)):  # it names files, in the shell and in lines of SLURM
        refuse(f'--job {path}: the name "{name}" has characters other than letters, digits and .+-_')
    return name


def read_nodes(text):
    numbers = text.split(",")
    if not all(number.isdecimal() and int(number) > 0 for number in numbers):
        refuse(f"--nodes {text}: numbers above 0 with commas between them")
    return sorted({int(number) for number in numbers})


def script(options, name, nodes):
    more = [f"#SBATCH --gpus-per-node={options.gpus_per_node}"] if options.gpus_per_node else []
    more += [f"#SBATCH {line}" for line in options.sbatch]
    return TEMPLATE.format(
        name=name, nodes=nodes, ranks=nodes * options.ranks_per_node,
        ranks_per_node=options.ranks_per_node, time=options.time,
        more="".join(line + "\n" for line in more),
        programs=shlex.quote(str(options.programs.resolve())),
        job=shlex.quote(str(options.job.resolve())), out=shlex.quote(str(options.out.resolve())),
        setup="\n".join(options.setup))


def read_options():
    parser = argparse.ArgumentParser(prog="./dev jobs", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the job scripts go")
    parser.add_argument("--job", type=Path, required=True, help="the study, a JSON file")
    parser.add_argument("--nodes", default="1", help="numbers of nodes, such as 1,2,4 (1)")
    parser.add_argument("--ranks-per-node", type=int, required=True, help="one for each GPU, or core")
    parser.add_argument("--gpus-per-node", type=int, default=0, help="to ask SLURM for (none)")
    parser.add_argument("--time", default="04:00:00", help="limit of each job (04:00:00)")
    parser.add_argument("--out", type=Path, default=Path("out/study"),
                        help="where the rows go (out/study)")
    parser.add_argument("--programs", type=Path, default=Path("build/tools"),
                        help="folder of fftnd-study and rank-cores (build/tools)")
    parser.add_argument("--sbatch", action="append", default=[], metavar="OPTION",
                        help="a further option of sbatch, such as --partition=gpu; any number")
    parser.add_argument("--setup", action="append", default=[], metavar="LINE",
                        help="a line before the programs start, such as 'module load mpi/openmpi'")
    return parser.parse_args()


def main():
    options = read_options()
    if options.ranks_per_node < 1:
        refuse("--ranks-per-node needs a number above 0")
    if options.gpus_per_node < 0:
        refuse("--gpus-per-node needs a number, 0 = none")
    name = job_name(options.job)
    options.folder.mkdir(parents=True, exist_ok=True)
    for nodes in read_nodes(options.nodes):
        path = options.folder / f"{name}-{nodes * options.ranks_per_node}.sh"
        path.write_text(script(options, name, nodes), encoding="utf-8")
        path.chmod(0o755)
        print(path)


if __name__ == "__main__":
    main()
