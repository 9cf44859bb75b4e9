"""Engines that compute what the planner leaves over the rows of scans."""
