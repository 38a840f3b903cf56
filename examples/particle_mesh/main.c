/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Charged particles in a periodic box, by smooth particle-mesh Ewald: charges are spread to a mesh in bricks with
 * ghosts, an operator between two transforms turns charges into their potential, and forces are gathered. The first
 * transform adds ghosts to their owners, the last one fills them. The mesh has the potential of Gaussians; a sum over
 * pairs adds the rest.
 *
 * The particles move for some steps. Then the forces are compared with direct sums, and the momentum and the energy
 * with those at the start.
 */
#include "../field.h"
#include "ewald.h"
#include "mesh.h"
#include "picture.h"

static const double pi = 3.14159265358979323846;

/* At half an edge of the box, where pairs end, the mesh's Gaussians screen charges up to 10^-6, and the narrower ones
 * of the direct sums up to 10^-12. */
static const double mesh_alpha = 7, direct_alpha = 10;

/* Forces are relative to their root mean square, sums of vectors to the sum of their lengths, and the change of the
 * energy, which time steps cause, to the kinetic energy. */
static const double force_bound = 1e-3, momentum_bound = 1e-12, energy_bound = 1e-3;

struct options {
    redist_index shape[3];
    int edge, steps;
    const char *output;
    enum redist_space space;
};

struct run {
    struct options options;
    struct mesh mesh;
    struct particles particles;
    struct residents residents;
    struct times times;
    double net_force; /* of the last step, before it is taken out */
};

/* ---------------------------------------------------------------- forces */

/* Forces and energy of this rank's residents on the mesh; a Gaussian acts on its own charge too. */
static double add_mesh(struct run *run) {
    const struct sample *samples = (const struct sample *)run->residents.samples.host;
    double energy = 0;
    for (int i = 0; i < run->residents.count; i++) {
        int particle = run->residents.index[i];
        double charge = run->particles.all[particle].charge;
        energy += 0.5 * charge * samples[i].potential - mesh_alpha / sqrt(pi) * charge * charge;
        for (int axis = 0; axis < 3; axis++)
            run->particles.force[particle][axis] -= charge * samples[i].gradient[axis];
    }
    return energy;
}

/* The gradients of splines conserve energy, but momentum only up to the error of the mesh: this takes out their sum. */
static void take_out_net_force(struct run *run) {
    struct particles *particles = &run->particles;
    vector sum = {0, 0, 0};
    run->net_force = imbalance_of(particles->count, particles->force);
    for (int i = 0; i < particles->count; i++)
        for (int axis = 0; axis < 3; axis++)
            sum[axis] += particles->force[i][axis];
    for (int i = 0; i < particles->count; i++)
        for (int axis = 0; axis < 3; axis++)
            particles->force[i][axis] -= sum[axis] / particles->count;
}

static void sum_over_ranks(int n, double values[]) {
    MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void find_forces(struct run *run) {
    struct particles *particles = &run->particles;
    struct residents *residents = &run->residents;
    memset(particles->force, 0, (size_t)particles->count * sizeof(vector));
    residents_find(residents, &run->mesh, particles->count, particles->all);
    mesh_solve(&run->mesh, residents, &run->times);
    mesh_gather(&run->mesh, residents);
    particles->potential_energy = add_mesh(run);
    end_part(&run->times, GATHER);
    particles->potential_energy +=
        add_pairs(particles, residents->count, residents->index, mesh_alpha, particles->force);
    end_part(&run->times, PAIRS);
    sum_over_ranks(1, &particles->potential_energy);
    sum_over_ranks(3 * particles->count, particles->force[0]);
    take_out_net_force(run);
}

/* ---------------------------------------------------------------- steps */

/* Verlet's method. All steps together move particles by some hundredths of the distance of neighbours. */
static void move_particles(struct run *run) {
    const double step = 0.2 / run->options.steps * pow(run->options.edge, -1.5);
    run->times = (struct times){0}; /* without the plans' first executions, which take longer */
    for (int i = 0; i < run->options.steps; i++) {
        particles_accelerate(&run->particles, step / 2);
        particles_move(&run->particles, step);
        find_forces(run);
        particles_accelerate(&run->particles, step / 2);
    }
}

/* The times of the slowest rank. */
static void print_times(struct run *run) {
    static const char *const names[PARTS] = {"spread", "accumulate, transforms, operator, fill",
                                             "gather", "pairs"};
    double seconds[PARTS + 2];
    for (int part = 0; part < PARTS; part++)
        seconds[part] = run->times.seconds[part] / run->options.steps;
    for (int twice = 0; twice < 2; twice++) /* the first execution of a plan takes longer */
        mesh_time_transforms(&run->mesh, &seconds[PARTS]);
    MPI_Allreduce(MPI_IN_PLACE, seconds, PARTS + 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (my_rank() != 0)
        return;
    for (int part = 0; part < PARTS; part++)
        printf("%-42s %.3f ms\n", names[part], 1e3 * seconds[part]);
    printf("%-42s %.3f and %.3f ms\n", "forward that adds, backward that fills",
           1e3 * seconds[PARTS], 1e3 * seconds[PARTS + 1]);
}

/* ---------------------------------------------------------------- checks */

/* Returns the error of the forces against direct sums, relative to the root mean square of these. */
static double force_error(const struct run *run) {
    const struct particles *particles = &run->particles;
    const struct residents *residents = &run->residents;
    vector *direct = calloc((size_t)particles->count, sizeof(vector));
    if (direct == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    add_pairs(particles, residents->count, residents->index, direct_alpha, direct);
    add_waves(particles, residents->count, residents->index, direct_alpha, direct);
    double squares[2] = {0, 0};
    for (int i = 0; i < residents->count; i++)
        for (int axis = 0; axis < 3; axis++) {
            int particle = residents->index[i];
            squares[0] += pow(particles->force[particle][axis] - direct[particle][axis], 2);
            squares[1] += pow(direct[particle][axis], 2);
        }
    free(direct);
    sum_over_ranks(2, squares);
    return sqrt(squares[0] / squares[1]);
}

/* Prints one line of the result; returns 1 if the error is too large. */
static int report(const char *what, double error, double bound) {
    int is_right = error <= bound;
    if (my_rank() == 0)
        printf("%-42s %.1e, at most %.0e allowed%s\n", what, error, bound,
               is_right ? "" : ": WRONG");
    return !is_right;
}

static int judge(const struct run *run, double energy_at_start) {
    const struct particles *particles = &run->particles;
    double kinetic = particles_kinetic_energy(particles);
    double change = kinetic + particles->potential_energy - energy_at_start;
    int wrong = report("error of forces, relative to their rms:", force_error(run), force_bound);
    wrong += report("net force, relative, taken out:", run->net_force, force_bound);
    wrong += report("momentum, relative:", imbalance_of(particles->count, particles->velocity),
                    momentum_bound);
    wrong +=
        report("change of energy, relative to the kinetic:", fabs(change) / kinetic, energy_bound);
    return wrong > 0;
}

/* ---------------------------------------------------------------- the program */

static void print_start(const struct run *run) {
    const char *method;
    int dims[3];
    check(fftnd_plan_get_method(run->mesh.transform, &method));
    check(redist_grid_get(run->mesh.grid, NULL, dims, NULL));
    if (my_rank() == 0)
        printf("%d particles, mesh %lld x %lld x %lld in %d x %d x %d bricks in %s memory, "
               "exchanges by %s, %d steps\n",
               run->particles.count, (long long)run->options.shape[0],
               (long long)run->options.shape[1], (long long)run->options.shape[2], dims[0], dims[1],
               dims[2], run->options.space == REDIST_SPACE_CUDA ? "CUDA" : "host", method,
               run->options.steps);
}

static int compute(struct run *run) {
    const struct options *options = &run->options;
    particles_create(&run->particles, options->edge);
    mesh_create(&run->mesh, options->space == REDIST_SPACE_CUDA ? &space_cuda : &space_host,
                options->shape, mesh_alpha);
    residents_create(&run->residents, &run->mesh, run->particles.count);
    print_start(run);
    find_forces(run);
    double energy_at_start = run->particles.potential_energy;
    move_particles(run);
    int wrong = judge(run, energy_at_start);
    if (options->output != NULL)
        wrong += draw_potential(&run->mesh, options->output);
    print_times(run);
    residents_free(&run->residents);
    mesh_free(&run->mesh);
    particles_free(&run->particles);
    return wrong > 0;
}

static const char usage[] =
    "usage: 10_particle_mesh [options]\n"
    "Charged particles in a periodic box by smooth particle-mesh Ewald, on any number of ranks.\n"
    "  --shape N0,N1,N2  mesh points along each axis, at least 8 (32,32,32)\n"
    "  --edge N          N^3 particles, N even (8)\n"
    "  --steps N         steps in which they move (20)\n"
    "  --output FOLDER   for potential.dat, which draw.gp draws (none)\n"
    "  --space SPACE     host, or cuda: the mesh lives on devices, which ranks take in turn "
    "(host)\n"
    "  --help            print this and stop\n"
    "The exit status is 1 if forces, momentum or energy are wrong; a coarse mesh has large "
    "errors.\n";

/* Takes one option; returns 0 if its value makes no sense. */
static int take(void *data, int letter, const char *value) {
    struct options *options = data;
    switch (letter) {
    case 's':
        return read_shape(value, options->shape) && options->shape[0] >= 8 &&
               options->shape[1] >= 8 && options->shape[2] >= 8;
    case 'e':
        return read_integer(value, &options->edge) && options->edge >= 2 && options->edge <= 100 &&
               options->edge % 2 == 0;
    case 't':
        return read_integer(value, &options->steps) && options->steps > 0;
    case 'o':
        options->output = value;
        return 1;
    case 'w':
        return read_space(value, &options->space);
    default:
        return 0;
    }
}

/* The options are read first, since a device has to be chosen before MPI_Init. */
int main(int argc, char *argv[]) {
    static const struct option known[] = {{"shape", required_argument, NULL, 's'},
                                          {"edge", required_argument, NULL, 'e'},
                                          {"steps", required_argument, NULL, 't'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"space", required_argument, NULL, 'w'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    const char *refused;
    struct run run = {.options = {.shape = {32, 32, 32}, .edge = 8, .steps = 20}};
    run.options.space = REDIST_SPACE_HOST;
    int status = read_options(argc, argv, known, take, &run.options, &refused);
    if (run.options.space == REDIST_SPACE_CUDA)
        (void)choose_device();
    MPI_Init(&argc, &argv);
    if (status != -1 && my_rank() == 0)
        fputs(usage, status == 0 ? stdout : stderr);
    if (status == -1)
        status = has_space(run.options.space) ? compute(&run) : 1;
    MPI_Finalize();
    return status;
}
