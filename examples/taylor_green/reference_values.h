/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of the reference run at Reynolds number 1600: the spectral computation on 512^3 points of
 * W. M. van Rees, A. Leonard, D. I. Pullin, P. Koumoutsakos: "A comparison of vortex and
 * pseudo-spectral methods for the simulation of periodic vortical flows at high Reynolds numbers",
 * J. Comput. Phys. 230 (2011), as handed out by the International Workshop on High-Order CFD
 * Methods for its Taylor-Green case. Each 0.5 time units; the dissipation is -d(energy)/dt.
 */
#ifndef REFERENCE_VALUES_H
#define REFERENCE_VALUES_H

struct reference_value {
    double time, energy, dissipation;
};

static const struct reference_value reference_values[] = {
    {0.0, 0.125, 0.00046874284},        {0.5, 0.124763795, 0.00048024611},
    {1.0, 0.124515267, 0.000518820935}, {1.5, 0.124239364, 0.00059118405},
    {2.0, 0.123916766, 0.00070756353},  {2.5, 0.123522321, 0.0008808951},
    {3.0, 0.123023879, 0.00112651667},  {3.5, 0.12237883, 0.00147698172},
    {4.0, 0.121508194, 0.00206623649},  {4.5, 0.120240669, 0.00306119969},
    {5.0, 0.118435751, 0.00412709733},  {5.5, 0.116171479, 0.00487154051},
    {6.0, 0.113581113, 0.0055309863},   {6.5, 0.110562814, 0.00662506948},
    {7.0, 0.107024732, 0.00736477023},  {7.5, 0.103042894, 0.00872999235},
    {8.0, 0.0982898834, 0.0103728951},  {8.5, 0.0927022037, 0.0119207077},
    {9.0, 0.0864038582, 0.0128545395},  {9.5, 0.080231334, 0.0117293375},
    {10.0, 0.0744791682, 0.0112720545},
};

enum { REFERENCE_COUNT = sizeof(reference_values) / sizeof(reference_values[0]) };

#endif
