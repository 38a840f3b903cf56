/* SPDX-License-Identifier: BSD-3-Clause */
/** Plans of fftnd behind one of heffte.h: one for each precision, batch and scaling of calls, in place or not, made at
 * the first of these calls. */
#ifndef HEFFTE_TRANSFORMS_H
#define HEFFTE_TRANSFORMS_H

#include "heffte_report.h"
#include "heffte_sides.h"

#include <cstring>
#include <functional>
#include <memory>

namespace heffte {
namespace detail {

/* A transform that a call wants. */
struct request {
    redist_direction direction;
    fftnd_precision precision;
    int batch;
    scale factor;
    const void *in;
    void *out;
    std::size_t bytes[2]; /* of both arrays, all fields */
    void *workspace;      /* or nullptr */
    const char *refusal;  /* why this rank cannot take part; nullptr = it does */
};

/* Returns whether the arrays of a call share memory. */
inline bool overlaps(const request &wanted) {
    const char *a = static_cast<const char *>(wanted.in), *b = static_cast<char *>(wanted.out);
    return std::less<const char *>()(a, b + wanted.bytes[1]) &&
           std::less<const char *>()(b, a + wanted.bytes[0]);
}

/* A plan of fftnd. */
class member {
  public:
    member(const sides &of, fftnd_precision precision, int batch, fftnd_scaling scaling,
           bool in_place)
        : precision_(precision), batch_(batch), scaling_(scaling), in_place_(in_place) {
        const double start = MPI_Wtime();
        fftnd_options options = of.options(batch, scaling, in_place);
        std::array<redist_box, 2> boxes = of.boxes(in_place);
        options.box[FFTND_PHYSICAL] = &boxes[0];
        options.box[FFTND_SPECTRAL] = &boxes[1];
        check(fftnd_plan_create(of.comm(), of.ndims(), of.sizes(), of.kind(), precision, &options,
                                &plan_));
        report_.plan(plan_, of, precision, batch, in_place, MPI_Wtime() - start);
    }
    member(const member &) = delete;
    member &operator=(const member &) = delete;
    ~member() {
        (void)fftnd_plan_free(&plan_);
    }

    bool suits(const request &wanted, bool in_place) const {
        return precision_ == wanted.precision && batch_ == wanted.batch && in_place_ == in_place &&
               factor(wanted.direction) == wanted.factor;
    }
    /* Whether this plan serves all that another one has been used for. */
    bool replaces(const member &other) const {
        bool same = precision_ == other.precision_ && batch_ == other.batch_ &&
                    in_place_ == other.in_place_;
        for (int i = 0; i < 2; i++) {
            const redist_direction direction = i == 0 ? REDIST_FORWARD : REDIST_BACKWARD;
            same = same && (!other.used_[i] || factor(direction) == other.factor(direction));
        }
        return same;
    }
    /* Says that this direction is used: another plan replaces this one only if it has the same factor. */
    void keep(redist_direction direction) {
        used_[direction] = true;
    }
    int run(const request &wanted, const void *from, void *to) {
        void *in =
            const_cast<void *>(from); /* which fftnd leaves unchanged unless it is in place */
        keep(wanted.direction);
        const double start = report_.begin();
        if (wanted.refusal != nullptr) {
            redist_refuse(wanted.refusal);
            in = to = nullptr;
        }
        const int code =
            (wanted.direction == REDIST_FORWARD ? fftnd_forward : fftnd_backward)(plan_, in, to);
        redist_refuse(nullptr); /* if nobody took it */
        if (code == REDIST_OK)
            report_.end(start);
        return code;
    }

    /* Takes part in an agreement in which all ranks refuse: REDIST_ERR_ARGUMENT, unless a rank has freed the plan after
     * a failure. */
    int refuse() {
        redist_refuse("heffte: another plan is next");
        const int code = fftnd_forward(plan_, nullptr, nullptr);
        redist_refuse(nullptr);
        return code;
    }

    /* Returns the code of this rank's first failure, whose message is the last one. */
    int failure() const {
        return fftnd_plan_query(plan_);
    }

    /* The scaling of a plan with these factors; -1 = none has them. */
    static int scaling_of(scale forward, scale backward) {
        for (int i = FFTND_SCALE_NONE; i <= FFTND_SCALE_UNITARY; i++)
            if (factors(i)[0] == forward && factors(i)[1] == backward)
                return i;
        return -1;
    }

  private:
    static const scale *factors(int scaling) {
        static const scale table[][2] = {{scale::none, scale::none},
                                         {scale::none, scale::full},
                                         {scale::full, scale::none},
                                         {scale::symmetric, scale::symmetric}};
        return table[scaling];
    }
    scale factor(redist_direction direction) const {
        return factors(scaling_)[direction];
    }

    fftnd_precision precision_;
    int batch_;
    fftnd_scaling scaling_;
    bool in_place_;
    bool used_[2] = {false, false};
    fftnd_plan *plan_ = nullptr;
    plan_report report_;
};

/* The plans of one object of heffte.h. All calls are collective. */
class transforms {
  public:
    explicit transforms(sides of) : sides_(std::move(of)) {
    }
    const sides &of() const noexcept {
        return sides_;
    }

    /* Makes the plan of calls with these factors, if it is not there yet. */
    void prepare(fftnd_precision precision, int batch, scale forward, scale backward,
                 bool in_place) {
        request wanted{REDIST_FORWARD, precision, batch,   forward, nullptr,
                       nullptr,        {0, 0},    nullptr, nullptr};
        const int scaling = member::scaling_of(forward, backward);
        leave_latest(look_up(wanted, in_place));
        find(wanted, in_place, scaling).keep(REDIST_FORWARD);
        wanted.direction = REDIST_BACKWARD;
        wanted.factor = backward;
        find(wanted, in_place, scaling).keep(REDIST_BACKWARD);
        redist_refuse(nullptr); /* if no plan was made */
    }

    /* Transforms. Whether all ranks pass one array for input and output is known to none of them: the plan of the last
     * call answers on all ranks alike that it needs two or one, before anything is touched. */
    void run(const request &wanted) {
        expect_part(wanted.refusal);
        const bool is_single =
            wanted.batch == 1; /* fields of a batch would meet their neighbours */
        leave_latest(look_up(wanted, in_place_ && is_single));
        if (is_single)
            guess_arrays(wanted);
        const bool in_place = in_place_ && is_single;
        if (sides_
                .is_asynchronous()) /* other plans are for all ranks, which do not know of this one's arrays */
            return check(in_place ? run_with(wanted, true) : run_copied(wanted));
        int code = run_with(wanted, in_place);
        if (is_single && is_about_arrays(code)) {
            code = run_with(wanted, !in_place);
            in_place_ = is_about_arrays(code) ? in_place : !in_place; /* on all ranks alike */
        }
        if (is_about_arrays(code))
            code = run_copied(wanted);
        check(code);
    }

    /* Memory of at least so many bytes that lasts until the next call; nullptr if there is none. */
    void *scratch(std::size_t bytes) {
        if (scratch_bytes_ < bytes) {
            release();
            if (redist_alloc_in(MPI_COMM_SELF, sides_.space(), bytes, &scratch_) == REDIST_OK)
                scratch_bytes_ = bytes;
        }
        return scratch_;
    }
    void release() {
        (void)redist_free(&scratch_);
        scratch_bytes_ = 0;
    }
    transforms(const transforms &) = delete;
    transforms &operator=(const transforms &) = delete;
    /* The plan that was used last goes first, on all ranks: others may wait for it to end after a failure, while ranks
     * that free plans of devices wait for each other. */
    ~transforms() {
        for (std::unique_ptr<member> &one : members_)
            if (one.get() == latest_)
                one.reset();
        members_.clear();
        release();
    }

  private:
    static bool is_about_arrays(int code) {
        return code == REDIST_ERR_OVERLAP || code == REDIST_ERR_ARGUMENT;
    }

    /* Throws the reason why this rank takes no part, if no agreement passes it on. */
    void expect_part(const char *refusal) const {
        if (refusal != nullptr && (sides_.is_asynchronous() || mpi::comm_size(sides_.comm()) == 1))
            throw std::invalid_argument(std::string(refusal) + " (rank " +
                                        std::to_string(mpi::comm_rank(sides_.comm())) + ")");
    }

    /* Finds out whether input and output are one array: with all ranks where a plan is to be made; in each call that
     * agrees on nothing, by this rank, or with all if some have no elements, which tell nothing. */
    void guess_arrays(const request &wanted) {
        const bool is_empty = wanted.bytes[0] == 0 || wanted.bytes[1] == 0;
        const bool is_alone = sides_.is_asynchronous() && !sides_.has_empty();
        int is_one = wanted.in == wanted.out || is_empty;
        if (!sides_.is_asynchronous() && look_up(wanted, in_place_) != nullptr)
            return;
        if (!is_alone)
            MPI_Allreduce(MPI_IN_PLACE, &is_one, 1, MPI_INT, MPI_LAND, sides_.comm());
        in_place_ = is_one;
    }

    /* Transforms with a plan for two arrays or one. In place fftnd expects an array of each rank, for which those
     * without elements pass another address. */
    int run_with(const request &wanted, bool in_place) {
        const void *from = wanted.in;
        void *to = wanted.out;
        if (in_place && wanted.bytes[1] == 0)
            to = wanted.bytes[0] == 0 ? scratch(1) : const_cast<void *>(wanted.in);
        if (in_place && wanted.bytes[0] == 0)
            from = to;
        return find(wanted, in_place).run(wanted, from, to);
    }

    /* Transforms a copy of the input where input and output share memory. */
    int run_copied(const request &given) {
        request wanted = given;
        const void *from = wanted.in;
        if (wanted.refusal == nullptr && overlaps(wanted)) {
            void *copy = wanted.workspace != nullptr ? wanted.workspace : scratch(wanted.bytes[0]);
            if (copy == nullptr)
                wanted.refusal = "heffte: no memory to copy an input that overlaps the output";
            else if (!sides_.where().copy(copy, wanted.in, wanted.bytes[0]))
                wanted.refusal = "heffte: input and output overlap; on a device that needs CUDA's "
                                 "header before heffte.h here";
            from = copy;
            expect_part(wanted.refusal);
        }
        return find(wanted, false).run(wanted, from, wanted.out);
    }

    member *look_up(const request &wanted, bool in_place) {
        for (std::unique_ptr<member> &one : members_)
            if (one->suits(wanted, in_place))
                return one.get();
        return nullptr;
    }
    member &find(const request &wanted, bool in_place, int preferred = -1) {
        member *found = look_up(wanted, in_place);
        latest_ = found != nullptr ? found : &make(wanted, in_place, preferred);
        return *latest_;
    }

    /* Before another plan than the last one is made or used, which knows nothing of a failure with that: throws if a
     * rank has ended the last plan after one, as that rank takes part in nothing more; has the next agreement pass on a
     * failure of this rank. */
    void leave_latest(const member *next) {
        if (latest_ == nullptr || latest_ == next || sides_.is_asynchronous() ||
            mpi::comm_size(sides_.comm()) == 1)
            return;
        const int code = latest_->refuse();
        if (code != REDIST_ERR_ARGUMENT)
            check(code);
        if (latest_->failure() != REDIST_OK)
            redist_refuse(redist_error_message());
    }

    member &make(const request &wanted, bool in_place, int scaling) {
        const bool is_forward = wanted.direction == REDIST_FORWARD;
        if (scaling < 0 && wanted.factor == scale::symmetric)
            scaling = FFTND_SCALE_UNITARY;
        else if (scaling < 0)
            scaling = member::scaling_of(is_forward ? wanted.factor : scale::none,
                                         is_forward ? scale::none : wanted.factor);
        std::unique_ptr<member> made(new member(sides_, wanted.precision, wanted.batch,
                                                static_cast<fftnd_scaling>(scaling), in_place));
        std::vector<std::unique_ptr<member>> kept;
        for (std::unique_ptr<member> &one : members_)
            if (!made->replaces(*one))
                kept.push_back(std::move(one));
        kept.push_back(std::move(made));
        members_.swap(kept);
        return *members_.back();
    }

    sides sides_;
    std::vector<std::unique_ptr<member>> members_;
    member *latest_ = nullptr; /* that was used last; the same on all ranks */
    bool in_place_ = false;    /* as the last call; the same on all ranks */
    void *scratch_ = nullptr;
    std::size_t scratch_bytes_ = 0;
};

} // namespace detail
} // namespace heffte

#endif
