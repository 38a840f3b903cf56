# SPDX-License-Identifier: BSD-3-Clause
"""The rows of a study: read from the files that fftnd-study wrote, and grouped."""
import csv
import math
import statistics

from numbers_of_study import band

PHASES = ["transform", "pack", "first_message", "communicate", "unpack", "own_part", "rest"]
EXCHANGE = ["pack", "first_message", "communicate", "unpack", "own_part"]
KEY = ["ranks", "nodes", "size", "decomposition", "grid", "layout", "space", "staging", "fusion",
       "method", "direction", "kind", "precision", "threads"]


class Result:
    """All runs of one configuration; times in milliseconds."""

    def __init__(self, key, rows):
        self.key = key
        self.size = tuple(int(extent) for extent in key["size"].split("x"))
        self.points = math.prod(self.size)
        self.ranks = int(key["ranks"])
        samples = [float(row["total_ms"]) for row in rows]
        self.runs = len(samples)
        self.total = statistics.fmean(samples)
        self.band = band(samples)
        self.phases = {name: statistics.fmean(float(row[name + "_ms"]) for row in rows)
                       for name in PHASES}
        self.error = max(float(row["validation_error"]) for row in rows)
        self.predicted = statistics.fmean(float(row["predicted_ms"]) for row in rows)
        self.used_grid = rows[0]["chosen_grid"]
        self.used_method = rows[0]["chosen_method"].partition(":")[0]

    @property
    def exchange(self):
        return sum(self.phases[name] for name in EXCHANGE)

    @property
    def communication(self):
        """What Verma et al. call communication: transmission, not the copies around it."""
        return self.phases["first_message"] + self.phases["communicate"]

    @property
    def staging(self):
        """How MPI got the arrays; none where it got none, whatever the job said."""
        alone = self.used_method == "hier" and self.key["nodes"] == "1"
        return "none" if alone or self.used_method in ("direct", "nccl") else self.key["staging"]

    @property
    def configuration(self):
        """Grid, layout and staging in words, for people."""
        words = [self.key["grid"] if self.key["decomposition"] in ("pencil", "higher")
                 else self.key["decomposition"]]
        if self.key["layout"] != "default":
            words.append(self.key["layout"])
        if self.key["fusion"] != "never":
            words.append("fusion " + self.key["fusion"])
        if self.staging not in ("none", "auto"):
            words.append(self.staging)
        return " ".join(words)


def size_text(size):
    """128^3, 128^2 x 256."""
    parts = []
    for extent in size:
        if parts and parts[-1][0] == extent:
            parts[-1][1] += 1
        else:
            parts.append([extent, 1])
    return " x ".join(f"{extent}^{count}" if count > 1 else str(extent) for extent, count in parts)


def read_file(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def study_files(folder):
    return sorted(path for path in folder.glob("*.csv")
                  if not path.name.endswith((".model.csv", ".placement.csv")))


def read_results(folder):
    """One result for each configuration in any file of the folder; a row cut short is left out."""
    groups = {}
    for path in study_files(folder):
        for row in read_file(path):
            if None in row.values() or None in row:
                continue
            groups.setdefault(tuple(row[name] for name in KEY), []).append(row)
    return [Result(dict(zip(KEY, key)), rows) for key, rows in groups.items()]


def read_models(folder):
    """The links of all studies, the last where a job was started several times."""
    models = {}
    for path in sorted(folder.glob("*.model.csv")):
        name = path.name.removesuffix(".model.csv")
        for row in read_file(path):
            if None not in row.values() and None not in row:
                key = (name, row["space"], row["staging"], row["method"], row["link"])
                models[key] = dict(row, file=name)
    return list(models.values())


def group(results, key):
    """Lists with the same key, in the order of the keys."""
    groups = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return dict(sorted(groups.items(), key=lambda item: item[0]))


def case_key(result):
    """What has to be alike for times to be compared, without the number of ranks."""
    names = ("kind", "precision", "space", "threads")
    return tuple(result.key[name] for name in names)


def size_key(result):
    return (result.points, result.size)


def best(results):
    return min(results, key=lambda result: result.total)
