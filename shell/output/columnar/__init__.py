"""Results as texts for programs, a column of a batch at a time.

Cells become texts by Arrow's kernels, not one by one, so a million rows take about a second.
"""
