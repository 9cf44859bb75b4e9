"""Runs plans: one file for each family of plans, and a registry of their runners.

Uses the planner's plans, `engine`, `results` and the store; `session` and the jobs use it.
"""
