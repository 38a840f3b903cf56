#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Rank files for machines that hwloc is told of, and a job script run with programs that stand in for
# SLURM's and Open MPI's:
#     test_jobs.sh SOURCE_ROOT RANK_CORES
set -eu
source_root=$1
rank_cores=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset SLURM_NODEID SLURMD_NODENAME

expect() { # what, found, wanted
    [ "$2" = "$3" ] && return 0
    printf '%s:\n%s\ninstead of:\n%s\n' "$1" "$2" "$3"
    exit 1
}

lines() { # hosts and slots of each rank, from rank 0 on, separated by blanks
    rank=0
    for line in "$@"; do
        echo "rank $rank=$line"
        rank=$((rank + 1))
    done | sed 's/:/ slot=/'
}

gpus=$source_root/tests/four_gpus.xml
expect "a GPU for each rank" "$(HWLOC_XMLFILE=$gpus "$rank_cores" 4 0 n)" \
    "$(lines n:0-1 n:2-3 n:4-5 n:6-7)"
expect "two ranks on each GPU" "$(HWLOC_XMLFILE=$gpus "$rank_cores" 8 0 n)" \
    "$(lines n:0 n:1 n:4 n:5 n:2 n:3 n:6 n:7)"
expect "one GPU more in one package" "$(HWLOC_XMLFILE=$gpus "$rank_cores" 3 0 n)" \
    "$(lines n:0-1 n:2-3 n:4-7)"
expect "no GPU" "$(HWLOC_SYNTHETIC="pack:2 core:6 pu:2" "$rank_cores" 5 0 n)" \
    "$(lines n:0-1 n:2-3 n:4-6 n:7-8 n:9-11)"
expect "more ranks than cores" "$(HWLOC_SYNTHETIC="core:2 pu:1" "$rank_cores" 3 0 n)" \
    "$(lines n:0 n:1 n:0)"
expect "a task of SLURM" \
    "$(SLURM_NODEID=3 SLURMD_NODENAME=c4 HWLOC_SYNTHETIC="core:2 pu:1" "$rank_cores" 2)" \
    "rank 6=c4 slot=0
rank 7=c4 slot=1"
for bad in "" 0 x "2 -1" "2 0 n n"; do
    code=0
    # shellcheck disable=SC2086 # several arguments
    "$rank_cores" $bad >/dev/null 2>&1 || code=$?
    expect "exit code for '$bad'" $code 2
done

# srun: each node, the later one first; mpirun: its arguments
mkdir "$folder/bin" "$folder/programs"
cat >"$folder/bin/srun" <<'END'
#!/bin/sh
while case $1 in --*) true ;; *) false ;; esac; do shift; done
SLURM_NODEID=1 SLURMD_NODENAME=beta "$@"
SLURM_NODEID=0 SLURMD_NODENAME=alpha "$@"
END
cat >"$folder/bin/mpirun" <<END
#!/bin/sh
printf '%s ' "\$@" >"$folder/arguments"
END
chmod +x "$folder/bin/srun" "$folder/bin/mpirun"
ln -s "$rank_cores" "$folder/programs/rank-cores"
python3 "$source_root/tools/study/jobs.py" "$folder/jobs" --job "$source_root/tools/study/jobs/tiny.json" \
    --nodes 2,1 --ranks-per-node 4 --gpus-per-node 4 --out "$folder/rows" \
    --programs "$folder/programs" --sbatch=--partition=gpu --setup 'echo ready' >"$folder/scripts"
expect "scripts" "$(cat "$folder/scripts")" "$folder/jobs/tiny-4.sh
$folder/jobs/tiny-8.sh"
for line in '#SBATCH --nodes=2' '#SBATCH --ntasks-per-node=4' '#SBATCH --gpus-per-node=4' \
    '#SBATCH --partition=gpu' 'echo ready'; do
    grep -qxF -e "$line" "$folder/jobs/tiny-8.sh" || expect "line" "" "$line"
done
PATH=$folder/bin:$PATH HWLOC_XMLFILE=$gpus "$folder/jobs/tiny-8.sh" >/dev/null
expect "rank file" "$(cat "$folder/rows/tiny-8.rankfile")" \
    "$(lines alpha:0-1 alpha:2-3 alpha:4-5 alpha:6-7 beta:0-1 beta:2-3 beta:4-5 beta:6-7)"
expect "mpirun" "$(cut -d' ' -f1-4 "$folder/arguments")" \
    "-n 8 --rankfile $folder/rows/tiny-8.rankfile"
refuse() { # words of the message, options
    words=$1
    shift
    code=0
    python3 "$source_root/tools/study/jobs.py" "$folder/none" --ranks-per-node 4 "$@" \
        >"$folder/log" 2>&1 || code=$?
    expect "exit code of $*" $code 2
    expect "lines of $*" "$(wc -l <"$folder/log")" 1
    grep -qF -e "$words" "$folder/log" || expect "message of $*" "$(cat "$folder/log")" "$words"
}
tiny=$source_root/tools/study/jobs/tiny.json
refuse '--nodes 1,x' --job "$tiny" --nodes 1,x
refuse '--nodes 0' --job "$tiny" --nodes 0
refuse 'nosuch.json is no job' --job nosuch.json
refuse 'is no job' --job "$source_root/README.md"
refuse '--ranks-per-node' --job "$tiny" --ranks-per-node 0
refuse '--gpus-per-node' --job "$tiny" --gpus-per-node -1
echo '{"name": "two words"}' >"$folder/named.json"
refuse 'two words' --job "$folder/named.json"
echo "on 1 rank: 16 passed, 0 failed, 0 skipped"
