/* SPDX-License-Identifier: BSD-3-Clause */
#include "../r2r_lines.h"
#include "rates.h"

#include <cufftXt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- measuring */

enum { ROUNDS = 3, LINES = 32 };

struct sample {
    char *array, *area; /* LINES__SAMPLE_BYTES each */
    cudaStream_t stream;
    cudaEvent_t begun, ended;
    cufftHandle handle;
    int direction;                   /* of the handle */
    struct lines__panel_plan *lines; /* instead of the handle; NULL = none */
};

static int run(const struct sample *sample) {
    static const struct lines__panel_work none;
    if (sample->lines != NULL)
        return lines__panel_plan_execute(sample->lines, &none, sample->array, sample->array,
                                         sample->stream) == REDIST_OK;
    return cufftXtExec(sample->handle, sample->array, sample->array, sample->direction) ==
           CUFFT_SUCCESS;
}

/* Milliseconds of the fastest run after the first; 0 if it fails. */
static double time_of(const struct sample *sample) {
    float best = 0.0F, now = 0.0F;
    for (int i = 0; i <= ROUNDS; i++) {
        if (cudaEventRecord(sample->begun, sample->stream) != cudaSuccess || !run(sample) ||
            cudaEventRecord(sample->ended, sample->stream) != cudaSuccess ||
            cudaEventSynchronize(sample->ended) != cudaSuccess ||
            cudaEventElapsedTime(&now, sample->begun, sample->ended) != cudaSuccess)
            return 0.0;
        if (i == 1 || now < best)
            best = now;
    }
    return (double)best;
}

static void end_sample(struct sample *sample) {
    if (sample->begun != NULL)
        (void)cudaEventDestroy(sample->begun);
    if (sample->ended != NULL)
        (void)cudaEventDestroy(sample->ended);
    (void)cudaFree(sample->array);
    (void)cudaGetLastError(); /* the user's own checks are not to find it */
}

/* Zeros take as long as other numbers. Returns 0 if there is no memory. */
static int begin_sample(struct sample *sample, cudaStream_t stream) {
    *sample = (struct sample){.stream = stream};
    if (cudaMalloc((void **)&sample->array, 2 * (size_t)LINES__SAMPLE_BYTES) == cudaSuccess &&
        cudaMemsetAsync(sample->array, 0, LINES__SAMPLE_BYTES, stream) == cudaSuccess &&
        cudaEventCreate(&sample->begun) == cudaSuccess &&
        cudaEventCreate(&sample->ended) == cudaSuccess) {
        sample->area = sample->array + LINES__SAMPLE_BYTES;
        return 1;
    }
    end_sample(sample);
    return 0;
}

/* Lines that nearly fill the sample; an odd number of them is not aligned. */
static struct lines__panel_lines sample_lines(const struct lines__rates *rates, int kind) {
    int is_aligned = kind != LINES__UNALIGNED, to_real = kind == LINES__TO_REAL,
        layout = to_real      ? LINES__REAL
                 : is_aligned ? kind
                              : LINES__STRIDED,
        along = layout != LINES__STRIDED;
    ptrdiff_t n = (ptrdiff_t)rates->n, row = layout == LINES__REAL ? n / 2 + 1 : n,
              count = LINES__SAMPLE_BYTES / (row * (rates->is_double ? 16 : 8)) / LINES * LINES -
                      !is_aligned;
    ptrdiff_t stride = along ? 1 : count, distance = along ? row : 1;
    struct lines__panel_lines lines = {.layout = layout,
                                       .is_double = rates->is_double,
                                       .direction = to_real ? REDIST_BACKWARD : REDIST_FORWARD,
                                       .may_cut = !along,
                                       .axis = {n, stride, stride},
                                       .side = {count, distance, distance}};
    if (layout == LINES__REAL && n % 2 != 0) {
        lines.is_r2r = 1;
        lines.r2r = to_real ? LINES__UNHALVED : LINES__HALVED;
        lines.layout = LINES__CONTIGUOUS;
        *(to_real ? &lines.axis.in : &lines.axis.out) = 2;
        lines.side.in = lines.side.out = 2 * row;
    }
    return lines;
}

/* Nonzero if some panel holds lines of a kind; a real-to-real transform may have no points. */
static int may_have_panels(const struct lines__rates *rates, int kind) {
    if (rates->n < LINES__PANEL_SHORTEST)
        return 0;
    const struct lines__panel_lines lines = sample_lines(rates, kind);
    return lines__panel_plan_has_variant(&lines, LINES__PANEL_GUESS);
}

/* Milliseconds of cuFFT for `batch` arrays of up to three axes, contiguous or strided, in place; the last axis is
 * complex, or of the kind REAL or TO_REAL. */
static double time_cufft(struct sample *sample, int is_double, int kind, int rank, long long n[],
                         long long stride, long long distance, long long batch) {
    const int to_real = kind == LINES__TO_REAL, is_real = kind == LINES__REAL || to_real;
    cudaDataType type = is_double ? CUDA_C_64F : CUDA_C_32F,
                 real = is_double ? CUDA_R_64F : CUDA_R_32F;
    cudaDataType types[2] = {is_real && !to_real ? real : type, to_real ? real : type};
    long long embeddings[2][3], distances[2] = {distance, distance};
    size_t area = 0;
    double milliseconds = 0.0;
    for (int i = 0; i < rank; i++)
        embeddings[0][i] = embeddings[1][i] = n[i];
    if (is_real) {
        embeddings[!to_real][rank - 1] = n[rank - 1] / 2 + 1;
        embeddings[to_real][rank - 1] = 2 * (n[rank - 1] / 2 + 1);
        distances[to_real] *= 2;
    }
    sample->direction = to_real ? CUFFT_INVERSE : CUFFT_FORWARD; /* the other one is an error */
    if (cufftCreate(&sample->handle) != CUFFT_SUCCESS)
        return 0.0;
    if (cufftSetAutoAllocation(sample->handle, 0) == CUFFT_SUCCESS &&
        cufftXtMakePlanMany(sample->handle, rank, n, embeddings[0], stride, distances[0], types[0],
                            embeddings[1], stride, distances[1], types[1], batch, &area,
                            type) == CUFFT_SUCCESS &&
        area <= LINES__SAMPLE_BYTES &&
        cufftSetWorkArea(sample->handle, sample->area) == CUFFT_SUCCESS &&
        cufftSetStream(sample->handle, sample->stream) == CUFFT_SUCCESS)
        milliseconds = time_of(sample);
    (void)cufftDestroy(sample->handle);
    return milliseconds;
}

static double time_panels(struct sample *sample, const struct lines__panel_lines *lines) {
    double milliseconds = 0.0;
    if (lines__panel_plan_create(lines, &sample->lines) == REDIST_OK && sample->lines != NULL)
        milliseconds = time_of(sample);
    lines__panel_plan_destroy(sample->lines);
    sample->lines = NULL;
    return milliseconds;
}

/* Returns the milliseconds of the fastest of n variants; 0 = none was timed, and *variant is unchanged. */
static double time_variants(struct sample *sample, struct lines__panel_lines *lines, int n,
                            int *variant) {
    double least = 0.0;
    for (lines->variant = 0; lines->variant < n; lines->variant++) {
        double now =
            lines__panel_plan_has_variant(lines, lines->variant) ? time_panels(sample, lines) : 0.0;
        if (now > 0.0 && (least <= 0.0 || now < least)) {
            least = now;
            *variant = lines->variant;
        }
    }
    return least;
}

/* Measures milliseconds of a full sample. */
static void measure_kind(struct sample *sample, int kind, struct lines__rates *rates) {
    struct lines__panel_lines lines = sample_lines(rates, kind);
    const int is_real = kind == LINES__REAL || kind == LINES__TO_REAL;
    const double item = rates->is_double ? 16 : 8, real = is_real ? 2 : 1,
                 samples = LINES__SAMPLE_BYTES /
                           ((double)lines.axis.n / real * item * (double)lines.side.n);
    long long n = lines.axis.n;
    rates->panels[kind] =
        samples * time_variants(sample, &lines, LINES__LINE_VARIANTS, &rates->variant[kind]);
    rates->cufft[kind] =
        samples * time_cufft(sample, rates->is_double, kind, 1, &n,
                             lines.is_r2r ? 1 : lines.axis.in,
                             lines.is_r2r ? lines.side.in / 2 : lines.side.in, lines.side.n);
}

static int measure(struct lines__rates *rates, cudaStream_t stream) {
    struct sample sample;
    if (rates->n > LINES__SAMPLE_BYTES / 16 / LINES || !begin_sample(&sample, stream))
        return 0;
    for (int kind = 0; kind < LINES__RATES; kind++)
        measure_kind(&sample, kind, rates);
    end_sample(&sample);
    return 1;
}

/* Returns nonzero if the rates are known now. */
static int find_rates(struct lines__rates *rates, cudaStream_t stream) {
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess)
        return 0;
    if (lines__rates_find(device, rates))
        return 1;
    int is_measured = measure(rates, stream);
    if (is_measured)
        lines__rates_keep(device, rates);
    return is_measured;
}

/* Sets equal rates. */
static void guess(struct lines__rates *rates) {
    for (int i = 0; i < LINES__RATES; i++) {
        rates->cufft[i] = rates->panels[i] = 0.08;
        rates->variant[i] = LINES__PANEL_GUESS;
    }
}

/* The value of FFTND_LINES, and its variant, -1 = none. */
enum lines { MEASURED, CUFFT, PANELS, PLANES, NONSENSE };
struct choice {
    enum lines lines;
    long long variant;
};

static struct choice dictated_lines(void) {
    static const struct {
        const char *name;
        enum lines lines;
        int variants;
    } choices[] = {{"cufft", CUFFT, 0},
                   {"panels", PANELS, LINES__PANEL_VARIANTS},
                   {"planes", PLANES, LINES__PLANES_VARIANTS}};
    const char *text = getenv("FFTND_LINES");
    struct choice choice = {MEASURED, -1};
    if (text == NULL || text[0] == '\0')
        return choice;
    choice.lines = NONSENSE;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        size_t length = strlen(choices[i].name);
        if (strncmp(text, choices[i].name, length) == 0 &&
            (text[length] == '\0' ||
             redist_read_number(text + length, 0, choices[i].variants - 1, &choice.variant)))
            choice.lines = choices[i].lines;
    }
    return choice;
}

int lines__rates_are_dictated(void) {
    return dictated_lines().lines != MEASURED;
}

int lines__rates_check(const char *function) {
    if (dictated_lines().lines != NONSENSE)
        return REDIST_OK;
    return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                          "the environment variable FFTND_LINES = \"%.40s\" is none of cufft, "
                          "panels, panels0..panels%d, planes, planes0..planes%d: set it to one, or "
                          "unset it",
                          getenv("FFTND_LINES"), LINES__PANEL_VARIANTS - 1,
                          LINES__PLANES_VARIANTS - 1);
}

/* Returns 0 if nothing is dictated. */
static int dictate(struct lines__rates *rates) {
    const struct choice dictated = dictated_lines();
    if (dictated.lines == MEASURED)
        return 0;
    guess(rates);
    for (int i = 0; i < LINES__RATES; i++) {
        rates->panels[i] = dictated.lines != CUFFT ? 1e-6 : 0.0;
        if (dictated.lines == PANELS && dictated.variant >= 0)
            rates->variant[i] = (int)dictated.variant;
    }
    if (dictated.lines == PLANES && dictated.variant >= 0)
        rates->variant[LINES__STRIDED] = rates->variant[LINES__UNALIGNED] =
            LINES__PANEL_VARIANTS + (int)dictated.variant;
    return 1;
}

struct lines__rates lines__rates_of_lines(const struct lines__problem *problem, redist_index n,
                                          int measures) {
    struct lines__rates rates = {.n = n, .is_double = problem->precision == FFTND_DOUBLE};
    if (!dictate(&rates) && !(measures && find_rates(&rates, problem->stream)))
        guess(&rates);
    for (int i = 0; i < LINES__RATES; i++) {
        if (rates.cufft[i] <= 0.0)
            rates.cufft[i] = 1.0; /* cuFFT needs more scratch memory than the sample has */
        if (!may_have_panels(&rates, i))
            rates.panels[i] = 0.0;
    }
    return rates;
}

/* Measures cuFFT along all axes of a group at once. */
static void measure_group(struct sample *sample, struct lines__group_rate *rate) {
    long long n[3], count = 1, modes = 1;
    int rank = 0;
    for (int i = 0; i < 3; i++)
        if (rate->n[i] > 1)
            n[rank++] = rate->n[i];
    for (int i = 0; i < rank; i++) {
        int halves = rate->is_real && i == rank - 1;
        count *= n[i];
        modes *= halves ? n[i] / 2 + 1 : n[i];
    }
    const double item = rate->is_double ? 16 : 8, real = rate->is_real ? 2 : 1;
    const int kind = rate->to_real   ? LINES__TO_REAL
                     : rate->is_real ? LINES__REAL
                                     : LINES__CONTIGUOUS;
    long long batch = LINES__SAMPLE_BYTES / ((long long)item * modes);
    rate->cufft = LINES__SAMPLE_BYTES / ((double)count / real * item * (double)batch) *
                  time_cufft(sample, rate->is_double, kind, rank, n, 1, modes, batch);
}

static int may_have_planes(const struct lines__group_rate *rate) {
    return !rate->is_real && rate->n[0] > 1 && rate->n[1] > 1 && rate->n[2] == 1;
}

/* Planes that nearly fill the sample, neighbours or one behind the other. */
static struct lines__panel_lines sample_planes(const struct lines__group_rate *rate) {
    ptrdiff_t rows = (ptrdiff_t)rate->n[0], columns = (ptrdiff_t)rate->n[1],
              count = LINES__SAMPLE_BYTES / (rows * columns * (rate->is_double ? 16 : 8)),
              step = rate->is_strided ? count : 1, distance = rate->is_strided ? 1 : rows * columns;
    return (struct lines__panel_lines){.layout =
                                           rate->is_strided ? LINES__STRIDED : LINES__CONTIGUOUS,
                                       .is_double = rate->is_double,
                                       .direction = REDIST_FORWARD,
                                       .axis = {columns, step, step},
                                       .rows = {rows, columns * step, columns * step},
                                       .side = {count, distance, distance}};
}

static void measure_planes(struct sample *sample, struct lines__group_rate *rate) {
    struct lines__panel_lines lines = sample_planes(rate);
    const double samples =
        LINES__SAMPLE_BYTES /
        ((double)(lines.rows.n * lines.axis.n * lines.side.n) * (rate->is_double ? 16 : 8));
    rate->planes =
        samples * time_variants(sample, &lines, lines__planes_count_variants(), &rate->variant);
}

static void dictate_planes(struct choice dictated, struct lines__group_rate *rate) {
    if (dictated.lines != PLANES || !may_have_planes(rate))
        return;
    struct lines__panel_lines lines = sample_planes(rate);
    rate->variant = dictated.variant < 0 ? LINES__PANEL_GUESS : (int)dictated.variant;
    if (lines__panel_plan_has_variant(&lines, LINES__PANEL_GUESS))
        rate->planes = 1e-6;
}

void lines__rates_of_group(struct lines__group_rate *rate, void *stream) {
    const struct choice dictated = dictated_lines();
    struct sample sample;
    double bytes = rate->is_double ? 16 : 8;
    int device = 0;
    rate->cufft = rate->planes = 0.0;
    for (int i = 0; i < 3; i++)
        bytes *= (double)rate->n[i];
    if (dictated.lines != MEASURED) {
        dictate_planes(dictated, rate);
        return;
    }
    if (2 * bytes > LINES__SAMPLE_BYTES || cudaGetDevice(&device) != cudaSuccess ||
        lines__rates_find_group(device, rate) || !begin_sample(&sample, stream))
        return;
    if (!rate->is_strided)
        measure_group(&sample, rate);
    if (may_have_planes(rate))
        measure_planes(&sample, rate);
    end_sample(&sample);
    lines__rates_keep_group(device, rate);
}

/* ---------------------------------------------------------------- the wisdom file */

/* Sets the name of the current device, in one word; "" without one. */
static void name_device(size_t bytes, char name[]) {
    struct cudaDeviceProp properties;
    int device = 0;
    name[0] = '\0';
    if (cudaGetDevice(&device) == cudaSuccess &&
        cudaGetDeviceProperties(&properties, device) == cudaSuccess)
        (void)snprintf(name, bytes, "%.*s", (int)bytes - 1, properties.name);
    (void)cudaGetLastError();
    for (char *at = name; *at != '\0'; at++)
        *at = *at == ' ' ? '_' : *at;
}

/* Learns one length. A process whose device is another one than the wisdom's measures its own. */
static int learn_length(const struct lines__wisdom *wisdom, const char *name,
                        struct lines__rates *rates) {
    char key[REDIST_WISDOM_BYTES], text[REDIST_WISDOM_BYTES] = "";
    int device = 0;
    (void)snprintf(key, sizeof key, "lines/device=%s/n=%lld/precision=%d", name, rates->n,
                   rates->is_double ? FFTND_DOUBLE : FFTND_FLOAT);
    int code = wisdom->find(wisdom, key, sizeof text, text);
    if (code != REDIST_OK || cudaGetDevice(&device) != cudaSuccess)
        return code;
    struct lines__rates known = *rates;
    if (lines__rates_scan(text, name, rates)) {
        if (!lines__rates_find(device, &known))
            lines__rates_keep(device, rates);
        return REDIST_OK;
    }
    if (!find_rates(rates, NULL))
        return REDIST_OK;
    lines__rates_print(rates, name, sizeof text, text);
    return wisdom->store(wisdom, key, text);
}

int lines__rates_learn(const struct lines__wisdom *wisdom, int nlengths,
                       const redist_index lengths[], enum fftnd_precision precision) {
    char name[REDIST_WISDOM_BYTES / 4];
    int code = REDIST_OK;
    double bytes = precision == FFTND_DOUBLE ? 16 : 8;
    for (int i = 0; i < nlengths; i++)
        bytes *= (double)lengths[i];
    name_device(sizeof name, name);
    for (int i = 0; i < nlengths && bytes >= LINES__MEASURED_BYTES && code == REDIST_OK; i++) {
        struct lines__rates rates = {.n = lengths[i], .is_double = precision == FFTND_DOUBLE};
        if (rates.n > 1)
            code = learn_length(wisdom, name, &rates);
    }
    return code;
}
