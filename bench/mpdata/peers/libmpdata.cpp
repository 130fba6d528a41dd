// SPDX-License-Identifier: BSD-3-Clause
// libmpdata++ timed: libmpdata N M L; a line in, a step, its ns a cell out.
// One thread.
// Limited, h of cells, periodic, two passes. A program of its own: libmpdata++
// is GPL and no part of ours. Build: see README.md beside.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <libmpdata++/concurr/serial.hpp>
#include <libmpdata++/solvers/mpdata.hpp>

using namespace libmpdataxx;

struct options : ct_params_default_t {
    using real_t = double;
    enum { n_dims = 3 };
    enum { n_eqns = 1 };
    enum { opts = opts::nug | opts::fct };
};

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    typename solvers::mpdata<options>::rt_params_t p;
    for (int a = 0; a < 3; a++)
        p.grid_size[a] = std::atoi(argv[1 + a]) + 1; // first node is the last
    p.n_iters = 2;
    concurr::serial<solvers::mpdata<options>, bcond::cyclic, bcond::cyclic,
                    bcond::cyclic, bcond::cyclic, bcond::cyclic, bcond::cyclic>
        run(p);
    blitz::firstIndex i;
    blitz::secondIndex j;
    blitz::thirdIndex k;
    run.advectee() = 1.5 + 0.5 * sin(0.1 * i) * sin(0.1 * j) * sin(0.1 * k);
    run.g_factor() = 1.5 + 0.25 * sin(0.05 * i) * cos(0.1 * j + 0.1 * k);
    for (int a = 0; a < 3; a++)
        run.advector(a) = 0.1;
    run.advance(1);
    double cells = std::atof(argv[1]) * std::atof(argv[2]) * std::atof(argv[3]);
    while (std::getchar() == '\n') {
        auto start = std::chrono::steady_clock::now();
        run.advance(1);
        std::chrono::duration<double> d =
            std::chrono::steady_clock::now() - start;
        std::printf("ns %.2f\n", d.count() * 1e9 / cells);
        std::fflush(stdout);
    }
    return 0;
}
