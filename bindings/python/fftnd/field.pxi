# SPDX-License-Identifier: BSD-3-Clause
# Arrays of plans in files.

_SIDES = {"physical": FFTND_PHYSICAL, "spectral": FFTND_SPECTRAL}


cdef class _PlanField(Field):
    """The array of one side of a plan, for files."""
    cdef Plan plan
    cdef object side

    def __init__(self, plan, array, side, selection):
        Field.__init__(self, array, selection=selection)
        self.plan, self.side = plan, side

    cdef int fill(self, redist_field *field, str prefix, bint writable, list held) except -1:
        cdef fftnd_plan *plan = self.plan._plan()
        cdef int side = choice(f"{prefix}side", self.side, _SIDES)
        cdef View view = self.plan._view(self.array, &self.plan.side[side], f"{prefix}array", writable)
        held.append(view)
        if self.plan.kept and self.plan.stream > 2:  # the plan's work may not be done; 1 and 2 are no pointers
            _streams.synchronize(self.plan.stream)
        check(fftnd_plan_field(plan, <fftnd_side>side, view.data, field))
        return self.select(field, prefix)

    def __repr__(self):
        return f"<fftnd field of {_arguments.shown(self.array)}, {self.side} side of {self.plan}>"
