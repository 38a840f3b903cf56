/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Fault injection: a chosen call of this rank fails. MPI calls fail through MPI's profiling interface
 * (faults.c defines MPI_Isend and its like, which call PMPI_Isend), allocations through counters.h, serial
 * transforms through the libfftnd of test_fftnd_faults. A call that fails does nothing: it leaves its requests
 * and results as they are, and returns MPI_ERR_OTHER, NULL or REDIST_ERR_SERIAL.
 */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

/** What fails. */
enum fault {
    FAULT_NONE, /**< nothing: calls are counted only */
    FAULT_CALL, /**< an MPI call that communicates or completes, but those of FAULT_POLL */
    FAULT_POLL, /**< MPI_Test and its kin, MPI_Iprobe: how often they are called is up to chance */
    FAULT_MEMORY,  /**< an allocation of the libraries' own heap memory */
    FAULT_SERIAL,  /**< a serial transform, or the scaling of an array */
    FAULT_DEVICE,  /**< a call of CUDA's runtime, cuFFT or NCCL (tests/gpu/device_faults.c) */
    FAULT_DEATH,   /**< the process ends by SIGKILL in an MPI call, numbered as for FAULT_CALL */
    FAULT_SILENCE, /**< that MPI call and all later ones, and polls, for as long as the rank lives */
    FAULTS
};

/** "MPI call", "poll" and so on. */
const char *faults_name(enum fault fault);

/** The k-th call of this kind from now on (k >= 1) fails on this rank, and no other; counts anew. */
void faults_arm(enum fault fault, int k);

/** That one and those behind it, `length` calls in all. */
void faults_arm_several(enum fault fault, int k, int length);

/** Nothing fails from now on, and nothing is counted. */
void faults_disarm(void);

/** How many calls of this kind were made between faults_arm and faults_disarm. */
int faults_count(enum fault fault);

/** The name of the function that was made to fail since faults_arm, NULL = none was. */
const char *faults_struck(void);

/** Nonzero if this serial transform is to fail; counts it. Any thread. */
int faults_serial_fails(void);

/** Nonzero if this call of a device's library is to fail; counts it. */
int faults_device_fails(const char *function);

/** Counts what is taken of a device (+1) and given back (-1): memory, events, streams, mappings; how much is
 * taken. */
void faults_device_take(int difference);
int faults_device_taken(void);

/** Requests of this rank that were begun and are not completed. */
int faults_active_requests(void);

/** Memory of the library's that this process maps together with others; MPI's own grows when it likes. */
int faults_mappings(void);

#endif
