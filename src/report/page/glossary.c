/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the terms that the page uses, with their text of
 * nodewise-glossary(7). */
#include "report/page/page.h"

static const struct {
    const char *term, *meaning;
} glossary_terms[] = {
    {"communication time",
     "Time of one exchange by a model: the congestion of the busiest link, and "
     "each rank's share of all other links and latencies. An exchange is the "
     "run divided by the largest number of messages of a pair of ranks."},
    {"congestion",
     "Bytes that cross one direction of a link, divided by its bandwidth: the "
     "seconds that the link is busy in the whole run. Max congestion is that "
     "of the busiest link."},
    {"default", "The placement that the launcher makes without Nodewise."},
    {"hop-bytes", "Bytes times distance, summed over all pairs of ranks."},
    {"distance",
     "Number of links on the route between two cores or GPUs, or the number "
     "that the description of the machine gives."},
    {"latency", "Number of messages times the latency of their route, summed."},
    {"simulated",
     "Time of one exchange in a simulation of every message, in which messages "
     "share the bandwidth of links."},
    {"layer",
     "Messages by their memory: the host layer is between CPUs' memory, the "
     "GPU layer between GPUs' memory."},
    {"link",
     "A connection with a bandwidth: between switches (network), of a node or "
     "its network card to a switch (nic), or inside a node."},
    {"NIC", "Network interface card: joins a node to the network."},
    {"assumed", "Mark of a bandwidth that no file and no measurement gave."},
    {"rankfile",
     "File that gives Open MPI the host and the cores of each rank."},
};

void nw_page_glossary(struct nw_text *text)
{
    nw_text_add(text, "<section id=\"glossary\"><h2>Glossary</h2>\n<dl>\n");
    for (size_t i = 0; i < sizeof glossary_terms / sizeof *glossary_terms;
         i++) {
        nw_page_element(text, "dt", "%s", glossary_terms[i].term);
        nw_page_element(text, "dd", "%s", glossary_terms[i].meaning);
        nw_text_add(text, "\n");
    }
    nw_text_add(text, "</dl>\n</section>\n");
}
