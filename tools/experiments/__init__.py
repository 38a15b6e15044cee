# SPDX-License-Identifier: BSD-3-Clause
"""Parts of scripts/experiments: frame (the definition of an experiment, and its runs), page (the HTML file), and the experiments,
a file for each source. A new file goes into SOURCES, a new experiment into its file's EXPERIMENTS."""
from experiments import (cascade, deadlock, guides, live, one_switch, rail_timeline, sigcomm_benchmark, sigcomm_loss, sigcomm_model,
                           sigcomm_parameters, sigcomm_pfc, sigcomm_thresholds)

SOURCES = (sigcomm_pfc, sigcomm_thresholds, sigcomm_model, sigcomm_parameters, sigcomm_benchmark, sigcomm_loss, guides, deadlock,
           rail_timeline, one_switch, cascade, live)
EXPERIMENTS = {experiment.name: experiment for source in SOURCES for experiment in source.EXPERIMENTS}
