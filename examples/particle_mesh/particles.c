/* SPDX-License-Identifier: BSD-3-Clause */
#include "particles.h"
#include "../example.h"
#include <stdint.h>
#include <stdlib.h>

/* Between -1 and 1: the same sequence on all ranks. */
static double next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static void *allocate_zeros(int n, size_t bytes) {
    void *memory = calloc((size_t)n, bytes);
    if (memory == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

void particles_create(struct particles *particles, int edge) {
    const int count = edge * edge * edge;
    uint64_t state = 1;
    particles->count = count;
    particles->all = allocate_zeros(count, sizeof(struct particle));
    particles->velocity = allocate_zeros(count, sizeof(vector));
    particles->force = allocate_zeros(count, sizeof(vector));
    for (int i = 0; i < count; i++) {
        const int cell[3] = {i / edge / edge, i / edge % edge, i % edge};
        for (int axis = 0; axis < 3; axis++)
            particles->all[i].position[axis] =
                (cell[axis] + 0.5 + 0.2 * next_random(&state)) / edge;
        particles->all[i].charge = (cell[0] + cell[1] + cell[2]) % 2 == 0 ? 1 : -1;
    }
}

void particles_free(struct particles *particles) {
    free(particles->all);
    free(particles->velocity);
    free(particles->force);
}

void particles_accelerate(struct particles *particles, double time) {
    for (int i = 0; i < particles->count; i++)
        for (int axis = 0; axis < 3; axis++)
            particles->velocity[i][axis] += time * particles->force[i][axis];
}

void particles_move(struct particles *particles, double time) {
    for (int i = 0; i < particles->count; i++)
        for (int axis = 0; axis < 3; axis++) {
            double *x = &particles->all[i].position[axis];
            *x += time * particles->velocity[i][axis];
            *x -= floor(*x);
        }
}

double particles_kinetic_energy(const struct particles *particles) {
    double energy = 0;
    for (int i = 0; i < particles->count; i++)
        for (int axis = 0; axis < 3; axis++)
            energy += 0.5 * particles->velocity[i][axis] * particles->velocity[i][axis];
    return energy;
}

static double length_of(const vector v) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

double imbalance_of(int n, vector vectors[]) {
    vector sum = {0, 0, 0};
    double lengths = 0;
    for (int i = 0; i < n; i++) {
        lengths += length_of(vectors[i]);
        for (int axis = 0; axis < 3; axis++)
            sum[axis] += vectors[i][axis];
    }
    return length_of(sum) / lengths;
}
