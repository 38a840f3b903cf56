/* SPDX-License-Identifier: BSD-3-Clause */
/* heFFTe's functions for C: a plan is one of the classes of heffte.h, whose exceptions become codes. */
#include "heffte.h"

#include "heffte_c.h"
#include "redist_process.h"
#include "redist_support.h"

#include <limits>
#include <memory>
#include <new>
#include <string>
#include <variant>

using host = heffte::backend::fftw;
using device = heffte::backend::cufft;

struct heffte_fft_plan {
    int backend;
    int is_r2c;
    std::variant<std::monostate, heffte::fft3d<host>, heffte::fft3d_r2c<host>,
                 heffte::fft3d<device>, heffte::fft3d_r2c<device>>
        fft;
};

namespace {

template <class Object> struct is_r2c : std::false_type {};
template <class Tag, class index> struct is_r2c<heffte::fft3d_r2c<Tag, index>> : std::true_type {};

/* Calls a function. Returns Heffte_SUCCESS, or the code of its exception, whose text is this thread's message. */
template <class Function> int guard(Function function) {
    int code = REDIST_ERR_MPI;
    try {
        function();
        return Heffte_SUCCESS;
    } catch (const heffte::detail::coded<std::invalid_argument> &error) {
        code = error.code;
        redist_set_message(error.what());
    } catch (const heffte::detail::coded<std::runtime_error> &error) {
        code = error.code;
        redist_set_message(error.what());
    } catch (const std::invalid_argument &error) {
        code = REDIST_ERR_ARGUMENT;
        redist_set_message(error.what());
    } catch (const std::bad_alloc &) {
        code = REDIST_ERR_MEMORY;
        redist_set_message("heffte: out of memory");
    } catch (const std::exception &error) {
        redist_set_message(error.what());
    }
    return code;
}

/* ---------------------------------------------------------------- arguments */

void expect(bool holds, const std::string &text) {
    if (!holds)
        throw std::invalid_argument("heffte: " + text);
}

void expect_given(const void *pointer, const std::string &name) {
    if (pointer == nullptr)
        throw heffte::detail::coded<std::invalid_argument>(REDIST_ERR_NULL,
                                                           "heffte: " + name + " is NULL");
}

bool is_device(int backend) {
    return backend == Heffte_BACKEND_CUFFT;
}

void expect_backend(int backend) {
    expect(is_device(backend) || (backend >= Heffte_BACKEND_STOCK && backend <= Heffte_BACKEND_MKL),
           "backend = " + std::to_string(backend) + " is none of Heffte_BACKEND_*");
}

/* A box of the user. */
struct corners {
    const char *name;
    const int *low, *high, *order;

    void check() const {
        expect_given(low, std::string(name) + "_low");
        expect_given(high, std::string(name) + "_high");
    }
    heffte::box3d<> box() const {
        static const int usual[3] = {0, 1, 2};
        const int *memory = order != nullptr ? order : usual;
        return heffte::box3d<>({{low[0], low[1], low[2]}}, {{high[0], high[1], high[2]}},
                               {{memory[0], memory[1], memory[2]}});
    }
};

/* ---------------------------------------------------------------- plans */

template <class Tag>
void open(heffte_plan plan, const corners &in, const corners &out, int direction, MPI_Comm comm,
          const heffte::plan_options &options) {
    if (plan->is_r2c)
        plan->fft.emplace<heffte::fft3d_r2c<Tag>>(in.box(), out.box(), direction, comm, options);
    else
        plan->fft.emplace<heffte::fft3d<Tag>>(in.box(), out.box(), comm, options);
}

heffte_plan_options options_of(const heffte::plan_options &options) {
    return {options.use_reorder, static_cast<int>(options.algorithm), options.use_pencils,
            options.use_gpu_aware};
}

/* Arguments are checked on each rank and agreed on, since what comes next is collective. direction: -1 = not r2c. */
int create(int backend, const corners &in, const corners &out, int is_r2c, int direction,
           MPI_Comm comm, heffte_plan *plan) {
    if (plan != nullptr)
        *plan = nullptr;
    std::unique_ptr<heffte_fft_plan> made;
    int code = guard([&] {
        expect_given(plan, "plan");
        expect_backend(backend);
        in.check();
        out.check();
        made.reset(new heffte_fft_plan{backend, is_r2c, {}});
    });
    if (comm == MPI_COMM_NULL)
        return guard([] { expect(false, "comm = MPI_COMM_NULL"); });
    code = redist_agree(comm, code);
    if (code != REDIST_OK)
        return code;
    code = guard([&] {
        (is_device(backend) ? open<device> : open<host>)(made.get(), in, out, direction, comm,
                                                         heffte::default_options<host>());
    });
    if (code == Heffte_SUCCESS)
        *plan = made.release();
    return code;
}

/* A property of a plan's object, or -1. */
template <class Function> int ask(heffte_plan plan, Function function) {
    std::size_t size = 0;
    if (plan == nullptr)
        return -1;
    std::visit(
        [&](const auto &fft) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(fft)>, std::monostate>)
                size = static_cast<std::size_t>(function(fft));
        },
        plan->fft);
    return size <= std::size_t(std::numeric_limits<int>::max()) ? static_cast<int>(size) : -1;
}

/* ---------------------------------------------------------------- transforms */

/* Transforms elements of these types. */
template <class Points, class Modes>
int transform(heffte_plan plan, redist_direction direction, const void *input, void *output,
              void *workspace, int scale) {
    return guard([&] {
        expect_given(plan, "plan");
        expect(scale >= Heffte_SCALE_NONE && scale <= Heffte_SCALE_SYMMETRIC,
               "scale = " + std::to_string(scale) + " is none of Heffte_SCALE_*");
        std::visit(
            [&](const auto &fft) {
                using type = std::decay_t<decltype(fft)>;
                const heffte::scale factor = static_cast<heffte::scale>(scale);
                if constexpr (std::is_same_v<type, std::monostate>)
                    return;
                else if constexpr (is_r2c<type>::value && std::is_same_v<Points, Modes>)
                    expect(false, "plan is of heffte_plan_create_r2c: its points are real numbers");
                else if (direction == REDIST_FORWARD)
                    fft.forward(static_cast<const Points *>(input), static_cast<Modes *>(output),
                                static_cast<Modes *>(workspace), factor);
                else
                    fft.backward(static_cast<const Modes *>(input), static_cast<Points *>(output),
                                 static_cast<Modes *>(workspace), factor);
            },
            plan->fft);
    });
}

} // namespace

/* ---------------------------------------------------------------- the functions of heffte_c.h */

int heffte_set_default_options(int backend, heffte_plan_options *options) {
    return guard([&] {
        expect_backend(backend);
        expect_given(options, "options");
        *options = options_of(heffte::default_options<host>());
    });
}

int heffte_plan_create(int backend, const int inbox_low[3], const int inbox_high[3],
                       const int *inbox_order, const int outbox_low[3], const int outbox_high[3],
                       const int *outbox_order, MPI_Comm comm, const heffte_plan_options *,
                       heffte_plan *plan) {
    return create(backend, {"inbox", inbox_low, inbox_high, inbox_order},
                  {"outbox", outbox_low, outbox_high, outbox_order}, 0, -1, comm, plan);
}

int heffte_plan_create_r2c(int backend, const int inbox_low[3], const int inbox_high[3],
                           const int *inbox_order, const int outbox_low[3],
                           const int outbox_high[3], const int *outbox_order, int r2c_direction,
                           MPI_Comm comm, const heffte_plan_options *, heffte_plan *plan) {
    return create(backend, {"inbox", inbox_low, inbox_high, inbox_order},
                  {"outbox", outbox_low, outbox_high, outbox_order}, 1, r2c_direction, comm, plan);
}

int heffte_plan_destroy(heffte_plan plan) {
    delete plan;
    return Heffte_SUCCESS;
}

int heffte_size_inbox(heffte_plan plan) {
    return ask(plan, [](const auto &fft) { return fft.size_inbox(); });
}

int heffte_size_outbox(heffte_plan plan) {
    return ask(plan, [](const auto &fft) { return fft.size_outbox(); });
}

int heffte_size_workspace(heffte_plan plan) {
    return ask(plan, [](const auto &fft) { return fft.size_workspace(); });
}

int heffte_get_backend(heffte_plan plan) {
    return plan != nullptr ? plan->backend : -1;
}

int heffte_is_r2c(heffte_plan plan) {
    return plan != nullptr ? plan->is_r2c : -1;
}

#define FORWARD(name, in, points, modes)                                                           \
    int heffte_forward_##name(heffte_plan plan, const in *input, void *output, int scale) {        \
        return transform<points, modes>(plan, REDIST_FORWARD, input, output, nullptr, scale);      \
    }                                                                                              \
    int heffte_forward_##name##_buffered(heffte_plan plan, const in *input, void *output,          \
                                         void *workspace, int scale) {                             \
        return transform<points, modes>(plan, REDIST_FORWARD, input, output, workspace, scale);    \
    }
#define BACKWARD(name, out, points, modes)                                                         \
    int heffte_backward_##name(heffte_plan plan, const void *input, out *output, int scale) {      \
        return transform<points, modes>(plan, REDIST_BACKWARD, input, output, nullptr, scale);     \
    }                                                                                              \
    int heffte_backward_##name##_buffered(heffte_plan plan, const void *input, out *output,        \
                                          void *workspace, int scale) {                            \
        return transform<points, modes>(plan, REDIST_BACKWARD, input, output, workspace, scale);   \
    }

FORWARD(s2c, float, float, std::complex<float>)
FORWARD(c2c, void, std::complex<float>, std::complex<float>)
FORWARD(d2z, double, double, std::complex<double>)
FORWARD(z2z, void, std::complex<double>, std::complex<double>)
BACKWARD(c2s, float, float, std::complex<float>)
BACKWARD(c2c, void, std::complex<float>, std::complex<float>)
BACKWARD(z2d, double, double, std::complex<double>)
BACKWARD(z2z, void, std::complex<double>, std::complex<double>)
