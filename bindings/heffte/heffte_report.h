/* SPDX-License-Identifier: BSD-3-Clause */
/** Lines about plans of heffte.h, for the environment variable FFTND_HEFFTE_REPORT. */
#ifndef HEFFTE_REPORT_H
#define HEFFTE_REPORT_H

#include "heffte_sides.h"

#include <cstdio>

namespace heffte {
namespace detail {

/* The line of one plan, which rank 0 of its communicator writes when the plan ends: to the file that
 * FFTND_HEFFTE_REPORT names, at its end, or to stderr if that is "-". */
class plan_report {
  public:
    plan_report() : wanted_(std::getenv("FFTND_HEFFTE_REPORT")) {
    }
    plan_report(const plan_report &) = delete;
    plan_report &operator=(const plan_report &) = delete;
    ~plan_report() {
        if (is_written_)
            write();
    }

    void plan(const fftnd_plan *made, const sides &of, fftnd_precision precision, int batch,
              bool in_place, double seconds) {
        is_written_ = wanted_ != nullptr && mpi::comm_rank(of.comm()) == 0;
        if (!is_written_)
            return;
        static const char *const kinds[] = {"c2c", "r2c", "r2r"};
        fftnd_plan_info info;
        check(fftnd_plan_info_init(&info, sizeof info));
        check(fftnd_plan_get_info(made, &info));
        std::ostringstream text;
        text << "fftnd-heffte: " << kinds[of.kind()] << " " << of.world().size[0] << " x "
             << of.world().size[1] << " x " << of.world().size[2] << ", "
             << (precision == FFTND_FLOAT ? "float" : "double") << ", batch " << batch
             << (in_place ? ", in place" : "") << ", "
             << (of.space() == REDIST_SPACE_HOST ? "host" : "device") << ", "
             << mpi::comm_size(of.comm()) << " ranks, " << info.ranks << " transform, grid";
        for (int i = 0; i < info.grid_ndims; i++)
            text << (i == 0 ? " " : " x ") << info.grid[i];
        text << ", " << info.nexchanges << " exchanges by " << info.method << ", planned in "
             << seconds << " s";
        line_ = text.str();
    }
    double begin() const {
        return is_written_ ? MPI_Wtime() : 0;
    }
    void end(double start) {
        executions_++;
        seconds_ += is_written_ ? MPI_Wtime() - start : 0;
    }

  private:
    void write() const {
        const bool is_stderr = std::string(wanted_) == "-";
        std::FILE *file = is_stderr ? stderr : std::fopen(wanted_, "a");
        bool done = file != nullptr;
        done = done && std::fprintf(file, "%s; %ld calls, %.6f s on rank 0\n", line_.c_str(),
                                    executions_, seconds_) > 0;
        if (file != nullptr && !is_stderr)
            done = std::fclose(file) == 0 && done;
        if (!done)
            std::fprintf(stderr,
                         "fftnd-heffte: warning: FFTND_HEFFTE_REPORT = \"%s\" cannot be written\n",
                         wanted_);
    }

    const char *wanted_;
    bool is_written_ = false;
    std::string line_;
    long executions_ = 0;
    double seconds_ = 0;
};

} // namespace detail
} // namespace heffte

#endif
