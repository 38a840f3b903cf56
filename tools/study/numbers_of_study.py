# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of a report: confidence bands, power laws, operations of a transform."""
import math
import statistics


def probability_within(t, freedom):
    """The probability that a variable of Student's distribution lies between -t and t.

    The finite series for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4).
    """
    angle = math.atan(t / math.sqrt(freedom))
    cosine = math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = 0.0
    for power in range(1 if odd else 0, freedom - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    if odd:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total


def student_quantile(confidence, freedom):
    """The t within which such a variable lies with that probability."""
    low, high = 0.0, 1.0
    while probability_within(high, freedom) < confidence:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        if probability_within(middle, freedom) < confidence:
            low = middle
        else:
            high = middle
    return high


def band(samples, confidence=0.99):
    """Half the width of the confidence interval of the mean; 0 for a single sample."""
    if len(samples) < 2:
        return 0.0
    deviation = statistics.stdev(samples)
    return student_quantile(confidence, len(samples) - 1) * deviation / math.sqrt(len(samples))


def power_law(xs, ys):
    """Fits y = c x^-exponent by least squares of logarithms: exponent, its standard error, c.

    The error is None for two points; without two different x there is no fit, and it returns None.
    """
    points = [(math.log(x), math.log(y)) for x, y in zip(xs, ys) if x > 0 and y > 0]
    if len({x for x, _ in points}) < 2:
        return None
    mean_x = statistics.fmean(x for x, _ in points)
    mean_y = statistics.fmean(y for _, y in points)
    square = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / square
    constant = mean_y - slope * mean_x
    error = None
    if len(points) > 2:
        rest = sum((y - constant - slope * x) ** 2 for x, y in points)
        error = math.sqrt(rest / (len(points) - 2) / square)
    return -slope, error, math.exp(constant)


def operations_of_pair(size):
    """Floating point operations of a forward and a backward transform, 2 x 5 N log2 N for N points.

    Verma et al., section 4, who count real transforms like complex ones; a size is a list of extents.
    """
    points = math.prod(size)
    return 10 * points * math.log2(points) if points > 1 else 0.0
