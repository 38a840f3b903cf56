/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FFTW's MPI functions of this project against FFTW's own, in one program: the names are those of bindings/fftw3-mpi,
 * and FFTW's functions are looked up in its library. Random plans of all kinds, compared element by element.
 */
#include "fftw/both.h"

/* ---------------------------------------------------------------- problems */

enum kind { TRANSPOSE, C2C, R2C, C2R, R2R, KINDS };
enum { MOST_AXES = 4 };

static const char *const names[] = {"transpose", "c2c", "r2c", "c2r", "r2r"};

struct problem {
    enum kind kind;
    int rank;
    ptrdiff_t n[MOST_AXES];
    ptrdiff_t howmany, blocks[2];
    int sign;
    X(r2r_kind) r2r[MOST_AXES];
    unsigned flags;
    int in_place;
    int plain[2];  /* arrays of malloc, not FFTW's */
    int new_array; /* executed on other arrays than planned for */
};

static int is_complex(const struct problem *problem, int side) {
    return problem->kind == C2C || problem->kind == (side == 0 ? C2R : R2C);
}

/* Extents as local_size wants them. */
static void size_extents(const struct problem *problem, ptrdiff_t n[]) {
    memcpy(n, problem->n, sizeof problem->n);
    if (problem->kind == R2C || problem->kind == C2R)
        n[problem->rank - 1] = n[problem->rank - 1] / 2 + 1;
}

/* Which axis is split on a side. */
static int split_axis(const struct problem *problem, int side) {
    if (problem->kind == TRANSPOSE)
        return side;
    return (problem->flags & (side == 0 ? FFTW_MPI_TRANSPOSED_IN : FFTW_MPI_TRANSPOSED_OUT)) != 0;
}

/* Reals to allocate, and what this rank has of the axis that is split on each side. */
struct sizes {
    ptrdiff_t all, count[2];
};

static struct sizes find_sizes(const struct problem *problem, int own) {
    struct sizes sizes = {0};
    ptrdiff_t n[MOST_AXES];
    size_extents(problem, n);
    if (problem->rank == 1) {
        ptrdiff_t start[2];
        sizes.all = 2 * (own ? XM(local_size_many_1d) : FFTW_MPI(local_size_many_1d))(
                            n[0], problem->howmany, MPI_COMM_WORLD, problem->sign, problem->flags,
                            &sizes.count[0], &start[0], &sizes.count[1], &start[1]);
        return sizes;
    }
    __typeof__(&XM(local_size_many_transposed)) query =
        own ? XM(local_size_many_transposed) : FFTW_MPI(local_size_many_transposed);
    for (int side = 0; side < 2; side++) {
        ptrdiff_t blocks[2] = {FFTW_MPI_DEFAULT_BLOCK, FFTW_MPI_DEFAULT_BLOCK}, count[2], start[2];
        blocks[split_axis(problem, !side)] = problem->blocks[!side];
        blocks[split_axis(problem, side)] = problem->blocks[side];
        ptrdiff_t all = query(problem->rank, n, problem->howmany, blocks[0], blocks[1],
                              MPI_COMM_WORLD, &count[0], &start[0], &count[1], &start[1]);
        sizes.all = all > sizes.all ? all : sizes.all;
        sizes.count[side] = count[split_axis(problem, side)];
    }
    if (is_complex(problem, 0) || is_complex(problem, 1))
        sizes.all *= 2;
    return sizes;
}

/* ---------------------------------------------------------------- plans */

#define PLAN(function, ...) (own ? XM(function)(__VA_ARGS__) : FFTW_MPI(function)(__VA_ARGS__))

static X(plan) make(const struct problem *p, int own, real *in, real *out, unsigned flags) {
    MPI_Comm comm = MPI_COMM_WORLD;
    complex_number *cin = (complex_number *)in, *cout = (complex_number *)out;
    switch (p->kind) {
    case TRANSPOSE:
        return PLAN(plan_many_transpose, p->n[0], p->n[1], p->howmany, p->blocks[0], p->blocks[1],
                    in, out, comm, flags);
    case C2C:
        return PLAN(plan_many_dft, p->rank, p->n, p->howmany, p->blocks[0], p->blocks[1], cin, cout,
                    comm, p->sign, flags);
    case R2C:
        return PLAN(plan_many_dft_r2c, p->rank, p->n, p->howmany, p->blocks[0], p->blocks[1], in,
                    cout, comm, flags);
    case C2R:
        return PLAN(plan_many_dft_c2r, p->rank, p->n, p->howmany, p->blocks[0], p->blocks[1], cin,
                    out, comm, flags);
    default:
        return PLAN(plan_many_r2r, p->rank, p->n, p->howmany, p->blocks[0], p->blocks[1], in, out,
                    comm, p->r2r, flags);
    }
}

/* FFTW's core functions take plans that were made here too. */
static void execute_new(const struct problem *p, X(plan) plan, real *in, real *out, int core) {
    complex_number *cin = (complex_number *)in, *cout = (complex_number *)out;
    core &= is_here(plan);
    switch (p->kind) {
    case C2C:
        core ? X(execute_dft)(plan, cin, cout) : XM(execute_dft)(plan, cin, cout);
        break;
    case R2C:
        core ? X(execute_dft_r2c)(plan, in, cout) : XM(execute_dft_r2c)(plan, in, cout);
        break;
    case C2R:
        core ? X(execute_dft_c2r)(plan, cin, out) : XM(execute_dft_c2r)(plan, cin, out);
        break;
    default:
        core ? X(execute_r2r)(plan, in, out) : XM(execute_r2r)(plan, in, out);
    }
}

/* ---------------------------------------------------------------- arrays */

/* FFTW's plans write behind what its local_size says in some cases with blocks of the user's (c2r of 22 x 1 x 9 in
 * blocks of 7 on 4 ranks), so there is more. */
enum { GUARD = 16, SLACK = 4096 };

struct array {
    real *memory;
    ptrdiff_t n;
    int plain;
};

static struct array array_make(ptrdiff_t n, int plain) {
    struct array array = {.n = n, .plain = plain};
    size_t all = (size_t)n + GUARD + SLACK;
    array.memory = plain ? malloc(all * sizeof(real)) : X(alloc_real)(all);
    for (size_t i = 0; i < all; i++)
        array.memory[i] = (real)-777.5;
    return array;
}

static void array_free(struct array *array) {
    if (array->plain)
        free(array->memory);
    else
        X(free)(array->memory);
}

static int guard_holds(const struct array *array) {
    for (ptrdiff_t i = array->n; i < array->n + GUARD; i++)
        if (array->memory[i] != (real)-777.5)
            return 0;
    return 1;
}

/* The rows of an array in memory: so many reals each, of which the first `used` count. */
struct rows {
    ptrdiff_t count, used, length;
};

static struct rows rows_of(const struct problem *problem, const struct sizes *sizes, int side) {
    int last = problem->rank - 1, padded = problem->kind == R2C || problem->kind == C2R;
    struct rows rows = {.count = 1};
    ptrdiff_t n[MOST_AXES];
    size_extents(problem, n);
    n[split_axis(problem, side)] = sizes->count[side];
    for (int axis = 0; axis < problem->rank; axis++)
        rows.count *= axis < last ? n[axis] : 1;
    rows.used = rows.length = n[last] * problem->howmany * (is_complex(problem, side) ? 2 : 1);
    if (padded && !is_complex(problem, side)) {
        rows.used = problem->n[last] * problem->howmany;
        rows.length = 2 * (problem->n[last] / 2 + 1) * problem->howmany;
    }
    return rows;
}

/* The same numbers for both libraries. */
static void fill(real *memory, ptrdiff_t n, uint64_t seed) {
    uint64_t state = seed + 77 * (uint64_t)harness_rank;
    for (ptrdiff_t i = 0; i < n; i++) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        memory[i] = (real)((double)(state >> 11) / 9007199254740992.0 - 0.5);
    }
}

/* The largest difference between two arrays where they count. */
static double difference(const struct rows *rows, const real *a, const real *b) {
    double most = 0;
    for (ptrdiff_t row = 0; row < rows->count; row++)
        for (ptrdiff_t i = row * rows->length; i < row * rows->length + rows->used; i++) {
            double d = fabs((double)(a[i] - b[i]));
            most = d > most || isnan(d) ? d : most;
        }
    return most;
}

static double largest(const struct rows *rows, const real *a) {
    double most = 0;
    for (ptrdiff_t row = 0; row < rows->count; row++)
        for (ptrdiff_t i = row * rows->length; i < row * rows->length + rows->used; i++)
            most = fabs((double)a[i]) > most ? fabs((double)a[i]) : most;
    return most;
}

/* ---------------------------------------------------------------- one problem */

static int here_count[KINDS], count[KINDS]; /* plans that were made here, and all */

/* The arrays of one library, planned on and executed on. */
struct side_by_side {
    struct array arrays[2][2]; /* of planning, of execution; input and output */
    X(plan) plan;
};

static void run(const struct problem *problem, int own, const struct sizes *sizes, uint64_t seed,
                struct side_by_side *it) {
    for (int set = 0; set < 2; set++)
        for (int side = 0; side < 2; side++)
            it->arrays[set][side] = array_make(sizes->all, own && problem->plain[side]);
    real *in = it->arrays[0][0].memory;
    real *out = problem->in_place ? in : it->arrays[0][1].memory;
    it->plan = make(problem, own, in, out, problem->flags | FFTW_ESTIMATE * !own);
    int new = own && problem->new_array && problem->kind != TRANSPOSE;
    if (new)
        in = it->arrays[1][0].memory, out = problem->in_place ? in : it->arrays[1][1].memory;
    for (int i = 0; i < 2 && it->plan != NULL; i++) {
        fill(in, sizes->all, seed);
        if (new)
            execute_new(problem, it->plan, in, out, i);
        else
            X(execute)(it->plan);
    }
    if (new) {
        struct array kept = it->arrays[0][0];
        it->arrays[0][0] = it->arrays[1][0];
        it->arrays[1][0] = kept;
        kept = it->arrays[0][1];
        it->arrays[0][1] = it->arrays[1][1];
        it->arrays[1][1] = kept;
    }
}

static void clean(struct side_by_side *it) {
    if (it->plan != NULL)
        X(destroy_plan)(it->plan);
    for (int i = 0; i < 4; i++)
        array_free(&it->arrays[i / 2][i % 2]);
}

static int preserves_input(const struct problem *problem) {
    return !problem->in_place && !(problem->flags & FFTW_DESTROY_INPUT) &&
           (problem->kind != C2R || problem->flags & FFTW_PRESERVE_INPUT);
}

static void compare(const struct problem *problem) {
    struct side_by_side here, there;
    struct sizes sizes = find_sizes(problem, 0), own_sizes = find_sizes(problem, 1);
    uint64_t seed = random_bits();
    check_all(memcmp(sizes.count, own_sizes.count, sizeof sizes.count) == 0, "local sizes");
    check_all(own_sizes.all >= sizes.all, "%td elements, not %td", own_sizes.all, sizes.all);
    sizes.all = own_sizes.all;
    run(problem, 0, &sizes, seed, &there);
    run(problem, 1, &sizes, seed, &here);
    int made = here.plan != NULL;
    check_all(made || there.plan == NULL, "no plan");
    count[problem->kind] += made;
    here_count[problem->kind] += is_here(here.plan);
    if (made && there.plan != NULL) {
        struct rows rows = rows_of(problem, &sizes, 1), input = rows_of(problem, &sizes, 0);
        const real *a = here.arrays[0][!problem->in_place].memory;
        const real *b = there.arrays[0][!problem->in_place].memory;
        double wrong = difference(&rows, a, b), scale = largest(&rows, b) + 1;
        check_all(wrong <= tolerance * scale, "wrong by %g of %g (%s)", wrong, scale,
                  is_here(here.plan) ? "here" : "FFTW's");
        int guards = !is_here(here.plan) ||
                     (guard_holds(&here.arrays[0][0]) && guard_holds(&here.arrays[0][1]));
        check_all(guards, "written behind an array");
        fill(there.arrays[0][0].memory, sizes.all, seed);
        check_all(!preserves_input(problem) ||
                      difference(&input, here.arrays[0][0].memory, there.arrays[0][0].memory) == 0,
                  "the input was not preserved");
    }
    clean(&here);
    clean(&there);
}

/* ---------------------------------------------------------------- random problems */

/* FFTW's own, or one that is large enough, but smaller than the axis: where one block holds all of axis 1, FFTW's
 * local_size says that several ranks have it. */
static ptrdiff_t random_block(ptrdiff_t n) {
    ptrdiff_t least = (n + harness_nranks - 1) / harness_nranks;
    ptrdiff_t block = least + random_between(0, 3);
    return block >= n || random_chance(60) ? FFTW_MPI_DEFAULT_BLOCK : block;
}

static void choose_flags(struct problem *problem) {
    static const unsigned efforts[] = {FFTW_ESTIMATE, FFTW_ESTIMATE, FFTW_ESTIMATE, FFTW_MEASURE};
    problem->flags = efforts[random_between(0, 3)];
    if (random_chance(30))
        problem->flags |= random_chance(50) ? FFTW_DESTROY_INPUT : FFTW_PRESERVE_INPUT;
    if (random_chance(40))
        problem->flags |= FFTW_MPI_TRANSPOSED_OUT;
    if (random_chance(40))
        problem->flags |= FFTW_MPI_TRANSPOSED_IN;
}

/* FFTW says which blocks there are: of a prime one rank has all. An axis of one element is not compared: several fields
 * of it let FFTW-MPI 3.3.10 write before a block of its own. */
static struct problem random_axis(void) {
    struct problem problem = {.kind = C2C, .rank = 1, .n = {random_between(2, 3000)}};
    problem.howmany = random_chance(60) ? 1 : random_between(2, 5);
    problem.sign = random_chance(50) ? FFTW_FORWARD : FFTW_BACKWARD;
    choose_flags(&problem);
    problem.flags &= ~(unsigned)(FFTW_MPI_TRANSPOSED_IN | FFTW_MPI_TRANSPOSED_OUT);
    problem.in_place = random_chance(50);
    problem.plain[0] = random_chance(30);
    problem.plain[1] = random_chance(30);
    problem.new_array = random_chance(30);
    return problem;
}

static const X(r2r_kind) r2r_kinds[] = {FFTW_REDFT00, FFTW_REDFT10, FFTW_REDFT01, FFTW_REDFT11,
                                        FFTW_RODFT00, FFTW_RODFT10, FFTW_RODFT01, FFTW_RODFT11,
                                        FFTW_R2HC,    FFTW_HC2R,    FFTW_DHT};
enum { R2R_KINDS = sizeof r2r_kinds / sizeof *r2r_kinds };

static struct problem random_problem(enum kind kind) {
    struct problem problem = {.kind = kind, .rank = random_between(2, MOST_AXES)};
    static const int most[] = {0, 0, 60, 24, 10};
    if (kind == TRANSPOSE)
        problem.rank = 2;
    for (int axis = 0; axis < problem.rank; axis++) {
        problem.n[axis] =
            random_between(kind == R2R ? 2 : 1, kind == TRANSPOSE ? 200 : most[problem.rank]);
        problem.r2r[axis] = r2r_kinds[random_between(0, R2R_KINDS - 1)];
    }
    /* FFTW 3.3.10 is wrong with 4 x 1 x 2 on 2 ranks if the input is transposed, with 1 x 7 x 10 x 2 on one rank if
     * both sides are */
    for (int axis = 0; axis < 2 && kind != TRANSPOSE; axis++)
        problem.n[axis] += problem.n[axis] == 1;
    problem.howmany = random_chance(60) ? 1 : random_between(2, 5);
    problem.sign = random_chance(50) ? FFTW_FORWARD : FFTW_BACKWARD;
    choose_flags(&problem);
    ptrdiff_t n[MOST_AXES];
    size_extents(&problem, n);
    for (int side = 0; side < 2; side++)
        problem.blocks[side] = random_block(n[split_axis(&problem, side)]);
    if (split_axis(&problem, 0) == split_axis(&problem, 1)) /* FFTW crashes where they differ */
        problem.blocks[1] = problem.blocks[0];
    problem.in_place = random_chance(50);
    problem.plain[0] = random_chance(30);
    problem.plain[1] = random_chance(30);
    problem.new_array = random_chance(30);
    return problem;
}

static void describe(const struct problem *p) {
    char n[80] = "";
    for (int axis = 0; axis < p->rank; axis++)
        snprintf(n + strlen(n), sizeof n - strlen(n), "%s%td", axis > 0 ? "x" : "", p->n[axis]);
    harness_case("%s %s x %td, blocks %td %td, sign %d, flags %#x, %s, memory %d %d, new arrays %d",
                 names[p->kind], n, p->howmany, p->blocks[0], p->blocks[1], p->sign, p->flags,
                 p->in_place ? "in place" : "out of place", p->plain[0], p->plain[1], p->new_array);
}

static void try_kind(enum kind kind) {
    for (int i = 0; harness_another(i, 40); i++) {
        struct problem problem = random_problem(kind);
        describe(&problem);
        compare(&problem);
    }
}

START_TEST(transpositions) {
    try_kind(TRANSPOSE);
    check_all(here_count[TRANSPOSE] == count[TRANSPOSE], "FFTW made %d of %d plans",
              count[TRANSPOSE] - here_count[TRANSPOSE], count[TRANSPOSE]);
}
END_TEST

START_TEST(complex_transforms) {
    try_kind(C2C);
}
END_TEST

START_TEST(one_axis) {
    count[C2C] = here_count[C2C] = 0;
    for (int i = 0; harness_another(i, 20); i++) {
        struct problem problem = random_axis();
        describe(&problem);
        compare(&problem);
    }
    check_all(here_count[C2C] == count[C2C], "FFTW made %d of %d plans",
              count[C2C] - here_count[C2C], count[C2C]);
}
END_TEST

/* What FFTW's own plans cannot be asked for: each field is its only mode. */
START_TEST(axis_of_one_element) {
    for (int i = 0; harness_another(i, 20); i++) {
        struct problem problem = random_axis();
        problem.n[0] = 1;
        describe(&problem);
        struct sizes sizes = find_sizes(&problem, 1);
        struct side_by_side here;
        uint64_t seed = random_bits();
        run(&problem, 1, &sizes, seed, &here);
        check_all(is_here(here.plan), "no plan of this project's");
        real *expected = malloc((size_t)(sizes.all + 1) * sizeof(real));
        fill(expected, sizes.all, seed);
        struct rows rows = {1, 2 * sizes.count[1] * problem.howmany, 0};
        double wrong = difference(&rows, here.arrays[0][!problem.in_place].memory, expected);
        check_all(wrong == 0, "wrong by %g", wrong);
        free(expected);
        clean(&here);
    }
}
END_TEST

START_TEST(real_transforms) {
    try_kind(R2C);
    try_kind(C2R);
}
END_TEST

START_TEST(real_to_real_transforms) {
    try_kind(R2R);
}
END_TEST

/* Unlike c2r, each kind leaves its input as it is out of place, FFTW_HC2R among them. */
START_TEST(inputs_of_each_kind) {
    for (int kind = 0; kind < R2R_KINDS; kind++) {
        struct problem problem = {.kind = R2R, .rank = 3, .n = {9, 8, 11}, .howmany = 1};
        for (int axis = 0; axis < problem.rank; axis++)
            problem.r2r[axis] = r2r_kinds[kind];
        problem.flags = kind % 2 ? FFTW_MEASURE : FFTW_ESTIMATE;
        describe(&problem);
        compare(&problem);
    }
}
END_TEST

/* As FFTW: no plan, and no signal. */
START_TEST(impossible_sizes) {
    static const ptrdiff_t rows[2] = {2, 8};
    check_all(XM(plan_many_dft)(2, rows, 1, -1, -1, NULL, NULL, MPI_COMM_WORLD, FFTW_FORWARD,
                                FFTW_ESTIMATE) == NULL,
              "a plan of negative blocks");
    for (ptrdiff_t n = -1; n <= 0; n++) {
        check_all(XM(plan_dft_1d)(n, NULL, NULL, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE) ==
                      NULL,
                  "a plan of %td elements", n);
        check_all(XM(plan_dft_2d)(n, 8, NULL, NULL, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE) ==
                      NULL,
                  "a plan of %td rows", n);
        check_all(XM(plan_dft_r2c_2d)(8, n, NULL, NULL, MPI_COMM_WORLD, FFTW_ESTIMATE) == NULL,
                  "a plan of %td columns", n);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {transpositions,      complex_transforms, one_axis,
                                  axis_of_one_element, real_transforms,    real_to_real_transforms,
                                  inputs_of_each_kind, impossible_sizes,   NULL};
    MPI_Init(&argc, &argv);
    XM(init)();
    int status = harness_run(argc, argv, "test_fftw_mpi", tests);
    return status;
}
