/* SPDX-License-Identifier: BSD-3-Clause */
#include "visible.h"
#include <cuda_runtime_api.h>

int study_visible_gpus(int most, char addresses[][STUDY_ADDRESS_BYTES]) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess)
        return 0;
    count = count < most ? count : most;
    for (int i = 0; i < count; i++)
        if (cudaDeviceGetPCIBusId(addresses[i], STUDY_ADDRESS_BYTES, i) != cudaSuccess)
            return 0;
    return count;
}
