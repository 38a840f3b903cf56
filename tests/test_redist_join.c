/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles that method direct copies as one (libredist/methods/direct_tiles.c): those that an array was cut into are
 * one again, whatever the cuts; what is joined addresses the same elements as before; what leaves a gap, lies
 * elsewhere or has other partitions stays apart.
 */
#include <string.h>

#include "../libredist/methods/direct.h"
#include "harness.h"
#include "random.h"

enum { MOST_NDIMS = 4, MOST_TILES = 9 };

/* An array of numbers, and tiles of it in their order along one axis */
static struct {
    int ndims, extent[MOST_NDIMS], axis, ntiles;
    struct redist__put tiles[MOST_TILES];
    char memory[4096];
} all;

static void cut(void) {
    ptrdiff_t stride[MOST_NDIMS], step = random_between(1, 3);
    all.ndims = random_between(1, MOST_NDIMS);
    all.axis = random_between(0, all.ndims - 1);
    for (int i = all.ndims - 1; i >= 0; i--) {
        all.extent[i] = i == all.axis ? random_between(2, 9) : random_between(1, 4);
        stride[i] = step;
        step *= all.extent[i] + random_between(0, 1);
    }
    int from = 0;
    for (all.ntiles = 0; from < all.extent[all.axis]; all.ntiles++) {
        struct redist__put *tile = &all.tiles[all.ntiles];
        int to = random_between(from + 1, all.extent[all.axis]);
        *tile = (struct redist__put){.first = 1, .last = 3};
        for (int i = 0; i < all.ndims; i++) {
            tile->tile.start[i] = i == all.axis ? from : 5;
            tile->tile.count[i] = i == all.axis ? to - from : all.extent[i];
            tile->tile.stride[i] = stride[i];
        }
        tile->tile.data = all.memory + from * stride[all.axis];
        from = to;
    }
}

static int is_whole(const struct redist__put *put) {
    int whole = put->tile.data == all.memory && put->first == 1 && put->last == 3;
    for (int i = 0; i < all.ndims; i++)
        whole &= put->tile.start[i] == (i == all.axis ? 0 : 5) &&
                 put->tile.count[i] == all.extent[i] &&
                 put->tile.stride[i] == all.tiles[0].tile.stride[i];
    return whole;
}

START_TEST(what_was_cut) {
    for (int i = 0; harness_another(i, 12); i++) {
        cut();
        struct redist__put put = all.tiles[0];
        int joined = 1;
        for (int k = 1; k < all.ntiles; k++)
            joined &= redist__direct_join(&put, &all.tiles[k], all.ndims);
        harness_case("%d tiles of %d dimensions along axis %d", all.ntiles, all.ndims, all.axis);
        check_all(joined && is_whole(&put), "they are not one");
    }
}
END_TEST

/* Changes one thing of a tile. */
static void spoil(struct redist__put *tile, int how) {
    int axis = random_between(0, all.ndims - 1);
    switch (how) {
    case 0:
        tile->tile.start[axis]++;
        break;
    case 1:
        tile->tile.data++;
        break;
    case 2:
        tile->tile.stride[axis]++;
        break;
    case 3:
        tile->first++;
        break;
    case 4:
        tile->last--;
        break;
    default:
        tile->tile.count[(all.axis + 1) % all.ndims]++;
    }
}

START_TEST(what_does_not_fit) {
    for (int i = 0; harness_another(i, 12); i++) {
        int how = i % 6;
        do
            cut();
        while (all.ntiles < 2 || (how == 5 && all.ndims == 1));
        struct redist__put put = all.tiles[0], before = put, next = all.tiles[1];
        spoil(&next, how);
        harness_case("change %d, %d dimensions, along axis %d", how, all.ndims, all.axis);
        check_all(!redist__direct_join(&put, &next, all.ndims), "joined");
        check_all(memcmp(&put, &before, sizeof put) == 0, "changed");
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {what_was_cut, what_does_not_fit, NULL};
    return harness_run(argc, argv, "test_redist_join", tests);
}
