; SPDX-License-Identifier: BSD-3-Clause
; A square lattice of dielectric rods for MIT's mpb: the lowest bands at two points.
(set! geometry-lattice (make lattice (size 1 1 no-size)))
(set! geometry (list (make cylinder (center 0 0 0) (radius 0.2) (height infinity)
                           (material (make dielectric (epsilon 11.56))))))
(set! k-points (list (vector3 0.5 0 0) (vector3 0.5 0.5 0)))
(set! resolution 32)
(set! num-bands 4)
(run-tm)
