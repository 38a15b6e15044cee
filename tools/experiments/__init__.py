# SPDX-License-Identifier: BSD-3-Clause
"""Parts of scripts/experiments: frame (the definition of an experiment, and its runs), page and paper_page (the HTML files), and the
experiments, a file for each source. A new file goes into SOURCES, a new experiment into its file's EXPERIMENTS, and what the paper has
beside it into the file's FIGURES and into ORDER."""
from experiments import (cascade, conext_stability, dcqcn_plus, deadlock, guides, jobs_cc, live, one_switch, rail_timeline, sigcomm_benchmark, sigcomm_bottlenecks, sigcomm_convergence,
                         sigcomm_loss, sigcomm_model, sigcomm_parameters, sigcomm_pfc, sigcomm_queue, sigcomm_thresholds, simai_ring)

SOURCES = (sigcomm_pfc, sigcomm_thresholds, sigcomm_model, sigcomm_parameters, sigcomm_convergence, sigcomm_queue, sigcomm_benchmark, sigcomm_bottlenecks,
           sigcomm_loss, conext_stability, guides, deadlock, rail_timeline, one_switch, cascade, jobs_cc, simai_ring, live, dcqcn_plus)
EXPERIMENTS = {experiment.name: experiment for source in SOURCES for experiment in source.EXPERIMENTS}

# As the paper has them.
ORDER = ("Figure 3", "Figure 4", "Section 3.1", "Figure 8", "Figure 9", "Section 4", "Figure 10", "Figure 11", "Figure 12", "Figure 13", "Figure 14",
         "Section 6.1", "Figure 15", "Figure 16", "Figure 17", "Figure 18", "Figure 19", "Figure 20", "Section 7", "CoNEXT 2016")
FIGURES = tuple(sorted((figure for source in SOURCES for figure in getattr(source, "FIGURES", ())), key=lambda figure: ORDER.index(figure.number)))
