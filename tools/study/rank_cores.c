/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank-cores: a rank file of Open MPI for one node, which binds each rank to its share of the cores next to
 * its GPU; where there is no GPU, to its share of all cores.
 */
#include "redist_support.h"
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_GPUS = 64, NAME_BYTES = 256, ADDRESS_BYTES = 32 };

/* Vendors of accelerators, whose display controllers count as such; those of others draw pictures. */
enum { NVIDIA = 0x10de, AMD = 0x1002, INTEL = 0x8086, DISPLAY = 0x03, CONTROLLER_3D = 0x0302 };

static const char help[] =
    "rank-cores: lines of an Open MPI rank file for this node\n\n"
    "usage: rank-cores RANKS [FIRST [HOST]]\n\n"
    "  RANKS  ranks on the node; they take its GPUs in turn: those that CUDA shows programs, in "
    "its\n"
    "         order, or without CUDA all, in the order of the PCI bus\n"
    "  FIRST  number of the first rank (0; in a task of SLURM, the task's node times RANKS)\n"
    "  HOST   name of the node in the file (in SLURM its name there, else the host's)\n\n"
    "Each rank gets its share of the cores next to its GPU, or of all cores where there is none;\n"
    "with more ranks than cores, ranks share them. HWLOC_XMLFILE and HWLOC_SYNTHETIC of hwloc\n"
    "describe other machines than this one.\n";

/* Where the ranks with one GPU, or with none, may run. */
struct gpus {
    int count;
    hwloc_const_cpuset_t cores[MOST_GPUS];
};

static int is_gpu(hwloc_obj_t device) {
    const struct hwloc_pcidev_attr_s *pci = &device->attr->pcidev;
    if (pci->class_id >> 8 != DISPLAY)
        return 0;
    return pci->vendor_id == NVIDIA || pci->vendor_id == AMD ||
           (pci->vendor_id == INTEL && pci->class_id != 0x0300) || pci->class_id == CONTROLLER_3D;
}

/* A GPU that hwloc does not find may be next to any core. */
static hwloc_const_cpuset_t cores_next_to(hwloc_topology_t topology, const char *address) {
    hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology, address);
    return device ? hwloc_get_non_io_ancestor_obj(topology, device)->cpuset
                  : hwloc_topology_get_topology_cpuset(topology);
}

/* The GPUs that programs see, which may be some of the machine's only, and in another order. */
static struct gpus visible_gpus(hwloc_topology_t topology) {
    const redist__space *space = redist_space_at(REDIST_SPACE_CUDA);
    struct gpus gpus = {0, {NULL}};
    char address[ADDRESS_BYTES];
    while (space != NULL && gpus.count < MOST_GPUS &&
           space->find_address(gpus.count, sizeof address, address))
        gpus.cores[gpus.count++] = cores_next_to(topology, address);
    return gpus;
}

static struct gpus all_gpus(hwloc_topology_t topology) {
    struct gpus gpus = {0, {NULL}};
    hwloc_obj_t device = NULL;
    while ((device = hwloc_get_next_pcidev(topology, device)) != NULL)
        if (is_gpu(device) && gpus.count < MOST_GPUS)
            gpus.cores[gpus.count++] = hwloc_get_non_io_ancestor_obj(topology, device)->cpuset;
    return gpus;
}

/* CUDA sees this machine, not one that is described to hwloc. */
static struct gpus find_gpus(hwloc_topology_t topology) {
    struct gpus gpus = {0, {NULL}};
    if (hwloc_topology_is_thissystem(topology))
        gpus = visible_gpus(topology);
    return gpus.count > 0 ? gpus : all_gpus(topology);
}

/* Where a rank may run. */
static hwloc_const_cpuset_t place_of(hwloc_topology_t topology, const struct gpus *gpus, int rank) {
    return gpus->count > 0 ? gpus->cores[rank % gpus->count]
                           : hwloc_topology_get_topology_cpuset(topology);
}

/* How many of the first `ranks` ranks may run just where `rank` may. */
static int count_alike(hwloc_topology_t topology, const struct gpus *gpus, int rank, int ranks) {
    hwloc_const_cpuset_t place = place_of(topology, gpus, rank);
    int count = 0;
    for (int i = 0; i < ranks; i++)
        count += hwloc_bitmap_isequal(place_of(topology, gpus, i), place);
    return count;
}

/* "2-5" or "2,4": cores `first` to `first + count` of those in the place, by their logical numbers. */
static void print_cores(hwloc_topology_t topology, hwloc_const_cpuset_t place, int first,
                        int count) {
    int run = -1, last = -1;
    for (int i = first; i < first + count; i++) {
        hwloc_obj_t core =
            hwloc_get_obj_inside_cpuset_by_type(topology, place, HWLOC_OBJ_CORE, (unsigned)i);
        int number = (int)core->logical_index;
        if (run >= 0 && number == last + 1) {
            last = number;
            continue;
        }
        if (last > run)
            printf("-%d", last);
        printf("%s%d", run >= 0 ? "," : "", number);
        run = last = number;
    }
    if (last > run)
        printf("-%d", last);
}

static void print_rank(hwloc_topology_t topology, const struct gpus *gpus, int rank, int ranks) {
    hwloc_const_cpuset_t place = place_of(topology, gpus, rank);
    int cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology, place, HWLOC_OBJ_CORE);
    int sharing = count_alike(topology, gpus, rank, ranks);
    int before = count_alike(topology, gpus, rank, rank);
    int first = before * cores / sharing, behind = (before + 1) * cores / sharing;
    if (sharing > cores)
        print_cores(topology, place, before % cores, 1);
    else
        print_cores(topology, place, first, behind - first);
}

static int print_file(hwloc_topology_t topology, int ranks, long first, const char *host) {
    const struct gpus gpus = find_gpus(topology);
    for (int rank = 0; rank < ranks; rank++) {
        hwloc_const_cpuset_t place = place_of(topology, &gpus, rank);
        if (hwloc_get_nbobjs_inside_cpuset_by_type(topology, place, HWLOC_OBJ_CORE) < 1) {
            fprintf(stderr, "rank-cores: hwloc sees no cores for rank %d\n", rank);
            return 1;
        }
        printf("rank %ld=%s slot=", first + rank, host);
        print_rank(topology, &gpus, rank, ranks);
        printf("\n");
    }
    return 0;
}

static int load(hwloc_topology_t *topology) {
    return hwloc_topology_init(topology) == 0 &&
           hwloc_topology_set_io_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
           hwloc_topology_load(*topology) == 0;
}

/* A whole number of at least `least`; -1 for another text. */
static long read_number(const char *text, long least) {
    char *end;
    long value = strtol(text, &end, 10);
    return *text != '\0' && *end == '\0' && value >= least && value < 1 << 24 ? value : -1;
}

static const char *find_host(char name[NAME_BYTES]) {
    const char *node = getenv("SLURMD_NODENAME");
    if (node)
        return node;
    return gethostname(name, NAME_BYTES - 1) == 0 ? name : "localhost";
}

int main(int argc, char **argv) {
    char name[NAME_BYTES] = "";
    const char *task_node = getenv("SLURM_NODEID");
    long ranks = argc > 1 && argc < 5 ? read_number(argv[1], 1) : -1;
    long node = task_node ? read_number(task_node, 0) : 0;
    long first = argc > 2 ? read_number(argv[2], 0) : (node > 0 ? node : 0) * ranks;
    if (ranks < 0 || first < 0) {
        fputs(help, argc == 2 && strcmp(argv[1], "--help") == 0 ? stdout : stderr);
        return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
    }
    hwloc_topology_t topology;
    if (!load(&topology)) {
        fprintf(stderr, "rank-cores: hwloc cannot describe this machine\n");
        return 1;
    }
    int code = print_file(topology, (int)ranks, first, argc > 3 ? argv[3] : find_host(name));
    hwloc_topology_destroy(topology);
    return code;
}
