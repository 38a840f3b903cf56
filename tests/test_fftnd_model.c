/* SPDX-License-Identifier: BSD-3-Clause */
/* The communication model: its formulas beside the thesis', fits to known numbers and to this machine. */
#include <math.h>
#include <stdlib.h>

#include "../libfftnd/planner/planner.h"
#include "../libredist/planner/planner.h"
#include "fftnd.h"
#include "harness.h"
#include "redist_support.h"

static int is_near(double a, double b) {
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* One link for all pairs of ranks. */
static redist_model flat_model(double latency, double bandwidth) {
    redist_model model = REDIST_MODEL_DEFAULT;
    model.ranks_per_node = 1 << 20;
    model.node = (redist_link){0, latency, bandwidth};
    return model;
}

static double predict(const redist_model *model, int n, int p1, int p2) {
    const redist_index sizes[3] = {n, n, n};
    const int grid[2] = {p1, p2};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    double seconds = -1;
    options.grid_ndims = p2 > 1 ? 2 : 1;
    options.grid = grid;
    check_ok(fftnd_predict(model, p1 * p2, 3, sizes, FFTND_C2C, FFTND_DOUBLE, &options, &seconds));
    return seconds;
}

/* Egger, section 2.5.3: T_S and T_P, with s = 8 for double precision. */
START_TEST(formulas) {
    const double latency = 2e-5, bandwidth = 25e9;
    const redist_model model = flat_model(latency, bandwidth);
    for (int n = 64; n <= 256; n += 64) {
        double bytes = 2.0 * 8 * n * n * n, p = 16;
        double slab = (p - 1) * bytes / (p * p * bandwidth) + (p - 1) * latency;
        check_all(is_near(predict(&model, n, 16, 1), slab), "slab of %d", n);
        for (int p1 = 2; p1 < 16; p1 *= 2) {
            int p2 = 16 / p1;
            double pencil = slab + (p1 - 1) * (p2 - 1) * (bytes / (p * p * bandwidth) - latency);
            check_all(is_near(predict(&model, n, p1, p2), pencil), "%d x %d of %d: %g, not %g", p1,
                      p2, n, predict(&model, n, p1, p2), pencil);
        }
    }
    /* its example: with these numbers pencils are faster below N = 200 */
    check_all(predict(&model, 192, 4, 4) < predict(&model, 192, 16, 1), "pencil at 192");
    check_all(predict(&model, 208, 4, 4) > predict(&model, 208, 16, 1), "slab at 208");
}
END_TEST

/* Eight ranks on nodes of four: messages of neighbours stay in the node. */
START_TEST(nodes) {
    redist_model model = flat_model(1, 100);
    model.ranks_per_node = 4;
    model.network = (redist_link){0, 10, 10};
    double near = 1 + 8.0 / 100, far = 10 + 8.0 / 10;
    check_all(is_near(redist_model_seconds(&model, 8, 8, 1, 64), 3 * near + 4 * far), "8 of 8");
    check_all(is_near(redist_model_seconds(&model, 8, 4, 1, 32), 3 * near), "4 neighbours");
    check_all(is_near(redist_model_seconds(&model, 8, 2, 4, 16), far), "one of each node");
    check_all(is_near(redist_model_seconds(&model, 8, 4, 2, 32), near + 2 * far), "every other");
    model.ranks_per_node = 3; /* nodes 0-2, 3-5, 6-7: rank 7 shares its node with one */
    check_all(is_near(redist_model_seconds(&model, 8, 8, 1, 64), near + 6 * far), "8 on 3 nodes");
    check_all(is_near(redist_model_seconds(&model, 8, 4, 2, 32), 3 * far), "1, 3, 5, 7");
    model.ranks_per_node = 4;
    model.network.bandwidth = 0; /* not measured: the other link stands for it */
    check_all(is_near(redist_model_seconds(&model, 8, 2, 4, 16), near), "no network");
    model.node.start = 5; /* once for each exchange */
    check_all(is_near(redist_model_seconds(&model, 8, 8, 1, 64), 5 + 7 * near), "start");
    check_all(redist_model_seconds(&model, 8, 1, 1, 64) == 0, "no exchange, no start");
    check_all(redist_model_seconds(&model, 8, 3, 1, 16) == 0, "no such subgroup");
    check_all(redist_model_seconds(NULL, 8, 2, 1, 16) == 0, "no model");
}
END_TEST

START_TEST(fits) {
    const double bytes[5] = {64, 512, 4096, 32768, 262144};
    double seconds[5];
    for (int i = 0; i < 5; i++)
        seconds[i] = 3e-6 + bytes[i] / 2e9;
    redist_link link = redist__fit_link(5, bytes, seconds);
    check_all(is_near(link.latency, 3e-6) && is_near(link.bandwidth, 2e9), "%g s, %g B/s",
              link.latency, link.bandwidth);
    for (int i = 0; i < 5; i++) /* seven peers, and 7 us besides */
        seconds[i] = 3e-6 + 7e-6 / 7 + bytes[i] / 2e9;
    link = redist__fit_link(5, bytes, seconds);
    redist__part_latency(&link, 7, 64, 7e-6 + 3e-6 + 64 / 2e9);
    check_all(fabs(link.start - 7e-6) < 1e-12 && fabs(link.latency - 3e-6) < 1e-12,
              "start %g, latency %g", link.start, link.latency);
    redist__part_latency(&link, 7, 64, 1e-9); /* one message takes less than each of several */
    check_all(link.start >= 0 && link.latency >= 0, "start %g, latency %g", link.start,
              link.latency);
    for (int i = 1; i <= 1000; i++) { /* all of it is the start: nothing is left, rounded or not */
        link = (redist_link){0, i * 1.7e-8, 2e9};
        redist__part_latency(&link, 11, 64, 1);
        check_all(link.latency >= 0, "latency %g of %g", link.latency, i * 1.7e-8);
    }
    for (int i = 0; i < 5; i++)
        seconds[i] = bytes[i] / 2e9 * (i == 0 ? 0.5 : 1); /* a line would begin below 0 */
    link = redist__fit_link(5, bytes, seconds);
    check_all(link.latency == 0 && link.bandwidth > 1e9 && link.bandwidth < 5e9, "%g s, %g B/s",
              link.latency, link.bandwidth);
    for (int i = 0; i < 5; i++)
        seconds[i] = 1e-5 - 1e-6 * i; /* a line would fall */
    link = redist__fit_link(5, bytes, seconds);
    check_all(link.latency > 0 && link.bandwidth > 0 && isfinite(link.bandwidth), "%g s, %g B/s",
              link.latency, link.bandwidth);
}
END_TEST

/* On this machine: positive, finite, and the same on all ranks. */
START_TEST(measures) {
    redist_model model = REDIST_MODEL_DEFAULT;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    static const char *const methods[] = {NULL, "p2p", "direct"};
    for (int i = 0; i < 3; i++) {
        options.method = methods[i];
        check_ok(redist_model_fit(MPI_COMM_WORLD, &options, &model));
        const redist_link *link = &model.node;
        int is_link = link->start >= 0 && link->latency >= 0 && link->bandwidth > 0 &&
                      isfinite(link->bandwidth);
        check_all(is_link == (harness_nranks > 1), "%g s, %g B/s", link->latency, link->bandwidth);
        check_all(model.network.bandwidth == 0, "a network within a node");
        check_all(model.ranks_per_node == harness_nranks, "%d ranks a node", model.ranks_per_node);
        double first[2] = {link->latency, link->bandwidth};
        MPI_Bcast(first, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        check_all(first[0] == link->latency && first[1] == link->bandwidth,
                  "another model than rank 0's");
    }
}
END_TEST

/* ---------------------------------------------------------------- what the planner tries */

static const redist_index usual[3] = {24, 24, 24}, uneven[3] = {11, 25, 14},
                          thin[3] = {2, 200, 200};

/* Lists the grids of a c2c transform on nodes of so many ranks. */
static void find_grids(const redist_index sizes[3], const char *node_size,
                       struct fftnd__grids *grids) {
    static const struct fftnd__configuration configuration = {.order = {0, 1, 2}};
    MPI_Comm comm;
    struct fftnd__request request = {
        .nranks = harness_nranks,
        .precision = FFTND_DOUBLE,
        .shape = {.ndims = 3,
                  .halved = -1,
                  .axes = {FFTND_AXIS_COMPLEX, FFTND_AXIS_COMPLEX, FFTND_AXIS_COMPLEX}},
        .settings = {.batch = 1}};
    for (int axis = 0; axis < 3; axis++)
        request.shape.points[axis] = request.shape.filled[axis] = request.shape.modes[axis] =
            sizes[axis];
    setenv("REDIST_NODE_SIZE", node_size, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    request.user_comm = comm;
    check_ok(redist_private_comm(comm, &request.comm));
    check_ok(fftnd__grids_find(&request, &configuration, 0, grids));
    MPI_Comm_free(&comm);
    unsetenv("REDIST_NODE_SIZE");
}

static int is_slab(const struct fftnd__grid *grid) {
    int above = 0;
    for (int i = 0; i < grid->ndims; i++)
        above += grid->dims[i] > 1;
    return above < 2;
}

/* Ways to write the number of ranks as a product of two numbers, 1 among them. */
static int count_products(void) {
    int count = 0;
    for (int i = 1; i <= harness_nranks; i++)
        count += harness_nranks % i == 0;
    return count;
}

static redist_index part_of(redist_index extent, int nparts, int part) {
    return extent / nparts + (part < extent % nparts);
}

/* Complex numbers of 16 bytes to and from all others, or the nodes of others, counted part by part. */
static unsigned long long count_sent(const redist_index n[3], const struct fftnd__grid *grid,
                                     int rank, int node_size) {
    int rows = grid->dims[0], columns = grid->ndims > 1 ? grid->dims[1] : 1;
    int row = rank / columns, column = rank % columns;
    redist_index sum = 0;
    for (int i = 0; i < columns; i++)
        if (i != column && (row * columns + i) / node_size != rank / node_size)
            sum += part_of(n[0], rows, row) * part_of(n[1], columns, column) *
                   part_of(n[2], columns, i);
    for (int i = 0; i < rows; i++)
        if (i != row && (i * columns + column) / node_size != rank / node_size)
            sum +=
                part_of(n[0], rows, row) * part_of(n[1], rows, i) * part_of(n[2], columns, column);
    return 16 * (unsigned long long)sum;
}

static void check_grids(const redist_index sizes[3], int node_size,
                        const struct fftnd__grids *grids) {
    const struct fftnd__grid *list = grids->list;
    check_all(grids->count > 0, "no grids");
    for (int i = 0; i < grids->count; i++) {
        unsigned long long most = 0, far = 0;
        for (int rank = 0; rank < harness_nranks; rank++) {
            unsigned long long bytes = count_sent(sizes, &list[i], rank, 1);
            most = bytes > most ? bytes : most;
            far += count_sent(sizes, &list[i], rank, node_size);
        }
        check_all(list[i].bytes == most && list[i].far_bytes == far,
                  "grid %d sends %llu bytes, %llu to other nodes; not %llu and %llu", i,
                  (unsigned long long)list[i].bytes, (unsigned long long)list[i].far_bytes, most,
                  far);
        int falls =
            i > 0 &&
            (list[i].far_bytes < list[i - 1].far_bytes ||
             (list[i].far_bytes == list[i - 1].far_bytes && list[i].bytes < list[i - 1].bytes));
        check_all(!falls, "grid %d is better than the one before", i);
    }
}

/* Slabs send least, and grids that send more than twice as much are left out. */
START_TEST(grids_by_bytes) {
    struct fftnd__grids grids;
    find_grids(usual, "1000", &grids);
    check_grids(usual, 1000, &grids);
    check_all(is_slab(&grids.list[0]), "pencils come first");
    check_all(grids.count == count_products(), "%d grids", grids.count);
    find_grids(uneven, "1000", &grids);
    check_grids(uneven, 1000, &grids);
    find_grids(thin, "1000", &grids);
    check_grids(thin, 1000, &grids);
    for (int i = 0; i < grids.count; i++)
        check_all(harness_nranks < 12 || grids.list[i].ndims > 1, "most ranks have nothing");
}
END_TEST

/* Of pencils those whose rows are within nodes come first: like slabs they send two thirds to the two other nodes. */
START_TEST(grids_by_node) {
    struct fftnd__grids grids;
    int pencil = 0;
    find_grids(uneven, "4", &grids);
    check_grids(uneven, 4, &grids);
    find_grids(usual, "4", &grids);
    check_grids(usual, 4, &grids);
    while (pencil < grids.count && is_slab(&grids.list[pencil]))
        pencil++;
    check_all(harness_nranks < 12 || grids.list[pencil].far_bytes == 16 * 24 * 24 * 24 / 3 * 2,
              "%d x %d comes first", grids.list[pencil].dims[0], grids.list[pencil].dims[1]);
}
END_TEST

START_TEST(refused) {
    redist_model model = REDIST_MODEL_DEFAULT, wrong = {0};
    redist_options options = REDIST_OPTIONS_DEFAULT;
    check_code(redist_model_fit(MPI_COMM_WORLD, NULL, NULL), REDIST_ERR_NULL);
    check_code(redist_model_fit(MPI_COMM_WORLD, NULL, &wrong), REDIST_ERR_ARGUMENT);
    check_code(redist_model_fit(MPI_COMM_NULL, NULL, &model), REDIST_ERR_COMM);
    options.method = "pigeon";
    int code = harness_nranks > 1 ? REDIST_ERR_METHOD : REDIST_OK; /* alone, nothing is measured */
    check_code(redist_model_fit(MPI_COMM_WORLD, &options, &model), code);

    const redist_index sizes[2] = {4, 4};
    const int grid[1] = {3};
    fftnd_options grids = FFTND_OPTIONS_DEFAULT;
    double seconds;
    check_code(fftnd_predict(&model, 1, 2, sizes, FFTND_C2C, FFTND_DOUBLE, NULL, &seconds),
               REDIST_ERR_NULL);
    check_code(fftnd_predict(&model, 4, 2, sizes, FFTND_C2C, FFTND_DOUBLE, &grids, &seconds),
               REDIST_ERR_GRID);
    grids.grid_ndims = 1;
    grids.grid = grid;
    check_code(fftnd_predict(&model, 4, 2, sizes, FFTND_C2C, FFTND_DOUBLE, &grids, &seconds),
               REDIST_ERR_GRID);
    check_ok(fftnd_predict(&model, 3, 2, sizes, FFTND_C2C, FFTND_DOUBLE, &grids, &seconds));
    grids.halved_axis = 2;
    check_code(fftnd_predict(&model, 3, 2, sizes, FFTND_R2C, FFTND_DOUBLE, &grids, &seconds),
               REDIST_ERR_AXIS);
    const redist_index none[2] = {4, 0};
    check_code(fftnd_predict(&model, 3, 2, none, FFTND_C2C, FFTND_DOUBLE, &grids, &seconds),
               REDIST_ERR_SIZE);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {formulas,       nodes,         fits,    measures,
                                  grids_by_bytes, grids_by_node, refused, NULL};
    return harness_run(argc, argv, "test_fftnd_model", tests);
}
