/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nodewise-simgrid: simulates flows over links with SimGrid and prints when the
 * last flow arrives. It is a separate program, because SimGrid exports MPI
 * symbols and needs GPL libraries. It is in C++, because SimGrid's C interface
 * reads a platform only from an XML file.
 *
 * It reads all of this from standard input before it answers:
 *   nodewise-simgrid 1
 *   unit SECONDS           expected duration of the exchange
 *   resolution SECONDS     arrivals closer together than this count as one
 *   links N                then N lines: BANDWIDTH in bytes/s
 *   flows M                then M lines: LATENCY BYTES N LINK... (N links)
 *   end
 * It writes to standard output:
 *   at SECONDS             now and then: simulated time reached
 *   time SECONDS           or: error SENTENCE
 *
 * A flow waits its latency, then its bytes share the links with the others by
 * max-min fairness. SimGrid would make a flow's share depend on its latency,
 * as TCP does; so its links have none, and flows start at their latency.
 */
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace s4u = simgrid::s4u;

namespace
{

/* Wrappers for functions that build a platform, whose names differ between
 * SimGrid 3 and 4. */
#if SIMGRID_VERSION >= 40000
s4u::NetZone *add_zone(s4u::Engine &engine, const char *name)
{
    return engine.get_netzone_root()->add_netzone_full(name);
}
s4u::Host *add_host(s4u::NetZone *zone, const std::string &name)
{
    return zone->add_host(name, 1.0);
}
s4u::Link *add_link(s4u::NetZone *zone, const std::string &name, double speed)
{
    return zone->add_link(name, speed);
}
void add_route(s4u::NetZone *zone, s4u::Host *from, s4u::Host *to,
               const std::vector<s4u::LinkInRoute> &route)
{
    zone->add_route(from, to, route, false);
}
template <class F>
void add_actor(s4u::Engine &engine, const char *name, s4u::Host *host, F code)
{
#if SIMGRID_VERSION >= 40100
    (void)engine;
    host->add_actor(name, std::move(code));
#else
    engine.add_actor(name, host, std::move(code));
#endif
}
#else
s4u::NetZone *add_zone(s4u::Engine &, const char *name)
{
    return s4u::create_full_zone(name);
}
s4u::Host *add_host(s4u::NetZone *zone, const std::string &name)
{
    return zone->create_host(name, 1.0);
}
s4u::Link *add_link(s4u::NetZone *zone, const std::string &name, double speed)
{
    return zone->create_link(name, speed);
}
void add_route(s4u::NetZone *zone, s4u::Host *from, s4u::Host *to,
               const std::vector<s4u::LinkInRoute> &route)
{
    zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr,
                    route, false);
}
template <class F>
void add_actor(s4u::Engine &, const char *name, s4u::Host *host, F code)
{
    s4u::Actor::create(name, host, std::move(code));
}
#endif

struct Flow {
    double latency, bytes;
    std::vector<size_t> links;
};

struct Job {
    double unit = 1, resolution = 0;
    std::vector<double> bandwidth;
    std::vector<Flow> flows;
};

/* Reads words and numbers from standard input. */
class Input
{
    std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    const char *at = text.c_str();

  public:
    double number()
    {
        char *end;
        double value = std::strtod(at, &end);

        if (end == at || !std::isfinite(value) || value < 0)
            throw std::runtime_error("a number is malformed");
        at = end;
        return value;
    }

    size_t count(size_t most)
    {
        char *end;
        unsigned long long value = std::strtoull(at, &end, 10);

        if (end == at || value > most)
            throw std::runtime_error("a count is malformed");
        at = end;
        return value;
    }

    void word(const std::string &expected)
    {
        while (*at == ' ' || *at == '\n')
            at++;
        if (std::string(at, std::min(std::char_traits<char>::length(at),
                                     expected.size())) != expected)
            throw std::runtime_error("expected '" + expected + "'");
        at += expected.size();
    }
};

Flow read_flow(Input &input, size_t links)
{
    Flow flow;

    flow.latency = input.number();
    flow.bytes = input.number();
    flow.links.resize(input.count(1u << 20));
    for (size_t &link : flow.links)
        link = input.count(links - 1);
    return flow;
}

Job read_job()
{
    Input input;
    Job job;
    size_t flows;

    input.word("nodewise-simgrid 1\nunit ");
    job.unit = input.number();
    input.word("resolution ");
    job.resolution = input.number();
    input.word("links ");
    job.bandwidth.resize(input.count(1u << 31));
    for (double &bandwidth : job.bandwidth)
        bandwidth = input.number();
    input.word("flows ");
    flows = input.count(1u << 31);
    for (size_t f = 0; f < flows; f++)
        job.flows.push_back(read_flow(input, job.bandwidth.size()));
    input.word("end");
    return job;
}

/* SimGrid gets time in units of the job's expected duration, so that its
 * absolute tolerances do no harm, and sizes as fractions of the largest one,
 * since it rounds sizes to whole bytes. */
const double largest_size = 1125899906842624.0; // 2^50

class Simulation
{
    Job job;
    double byte = 1; // one byte in SimGrid's unit of size
    size_t width = 0;
    std::vector<s4u::Host *> from, to;
    std::vector<size_t> order; // of the flows, by latency

    /* Return the hosts of a flow. The network is a square of source and target
     * hosts with one flow for each pair, since SimGrid's bookkeeping is
     * quadratic in the number of flows of one actor, and in all flows for
     * transfers without actors. */
    s4u::Host *source(size_t flow) const
    {
        return from[flow / width];
    }
    s4u::Host *target(size_t flow) const
    {
        return to[flow % width];
    }

    void make_hosts(s4u::NetZone *zone)
    {
        width = (size_t)std::ceil(std::sqrt((double)job.flows.size()));
        for (size_t i = 0; i < width; i++)
            from.push_back(add_host(zone, "from" + std::to_string(i)));
        for (size_t i = 0; i < width; i++)
            to.push_back(add_host(zone, "to" + std::to_string(i)));
    }

    void make_routes(s4u::NetZone *zone)
    {
        std::vector<s4u::Link *> links;

        for (size_t i = 0; i < job.bandwidth.size(); i++)
            links.push_back(add_link(zone, std::to_string(i),
                                     job.bandwidth[i] * byte * job.unit));
        for (size_t f = 0; f < job.flows.size(); f++) {
            std::vector<s4u::LinkInRoute> route;

            for (size_t link : job.flows[f].links)
                route.emplace_back(links[link]);
            add_route(zone, source(f), target(f), route);
        }
    }

    s4u::Mailbox *mailbox(size_t flow) const
    {
        return s4u::Mailbox::by_name(std::to_string(flow));
    }

    /* Sends the flows of one source, each after its latency. */
    void send(std::vector<size_t> flows)
    {
        std::vector<s4u::CommPtr> started;

        for (size_t f : flows) {
            double begins = job.flows[f].latency / job.unit;
            double size = std::round(job.flows[f].bytes * byte);

            if (begins > s4u::Engine::get_clock())
                s4u::this_actor::sleep_until(begins);
            started.push_back(
                mailbox(f)->put_async(&job, (uint64_t)std::max(1.0, size)));
        }
        for (const s4u::CommPtr &comm : started)
            comm->wait();
    }

    /* Receives all flows of target i; called at time 0. */
    void receive(size_t i)
    {
        std::vector<s4u::CommPtr> started;
        std::vector<Job *> ignored(job.flows.size() / width + 1);

        for (size_t f = i; f < job.flows.size(); f += width)
            started.push_back(mailbox(f)->get_async<Job>(&ignored[f / width]));
        for (const s4u::CommPtr &comm : started)
            comm->wait();
    }

    void make_actors(s4u::Engine &engine)
    {
        std::vector<std::vector<size_t>> flows(width);

        for (size_t f : order)
            flows[f / width].push_back(f);
        for (size_t i = 0; i < width; i++) {
            add_actor(engine, "receive", to[i], [this, i] { receive(i); });
            add_actor(engine, "send", from[i],
                      [this, mine = flows[i]] { send(mine); });
        }
    }

    void make_order()
    {
        double largest = 0;

        for (const Flow &flow : job.flows)
            largest = std::max(largest, flow.bytes);
        if (largest > 0)
            byte = largest_size / largest;
        order.resize(job.flows.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [this](size_t a, size_t b) {
                             return job.flows[a].latency < job.flows[b].latency;
                         });
    }

  public:
    explicit Simulation(Job the_job) : job(std::move(the_job))
    {
        make_order();
    }

    double run(s4u::Engine &engine)
    {
        s4u::NetZone *zone = add_zone(engine, "machine");

        if (job.flows.empty())
            return 0;
        make_hosts(zone);
        make_routes(zone);
        zone->seal();
        make_actors(engine);
        engine.run();
        return s4u::Engine::get_clock() * job.unit;
    }
};

/* Sets plain max-min fairness: switches off the corrections that adapt
 * SimGrid's models to TCP over Ethernet. */
void configure(const Job &job)
{
    static const char *const settings[] = {
        "network/model:CM02",       "network/crosstraffic:0",
        "network/TCP-gamma:0",      "network/bandwidth-factor:1",
        "network/latency-factor:1", "network/weight-S:0",
        "contexts/stack-size:64",
    };
    char precision[64];

    for (const char *setting : settings)
        s4u::Engine::set_config(setting);
    std::snprintf(precision, sizeof precision, "surf/precision:%.17g",
                  std::max(job.resolution / job.unit, 1e-9));
    s4u::Engine::set_config(precision);
}

void tell_progress(double unit)
{
    using clock = std::chrono::steady_clock;
    static clock::time_point told = clock::now();

    if (clock::now() - told < std::chrono::milliseconds(100))
        return;
    told = clock::now();
    std::printf("at %.17g\n", s4u::Engine::get_clock() * unit);
    std::fflush(stdout);
}

} // namespace

int main()
{
    try {
        char name[] = "nodewise-simgrid";
        char quiet[] = "--log=root.thres:critical";
        char *arguments[] = {name, quiet, nullptr};
        int count = 2;
        Job job = read_job();
        double unit = job.unit;
        s4u::Engine engine(&count, arguments);

        configure(job);
        s4u::Engine::on_time_advance_cb(
            [unit](double) { tell_progress(unit); });
        std::printf("time %.17g\n", Simulation(std::move(job)).run(engine));
    } catch (const std::exception &problem) {
        std::printf("error %s\n", problem.what());
    }
    return std::fflush(stdout) ? 1 : 0;
}
