"""Hypothesis profiles: `default` for every run, `thorough` for the long campaigns.

Choose with `pytest --hypothesis-profile=thorough`. Deadlines are off: a shared machine makes a
timed failure out of a slow neighbour.
"""

from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=1000)
settings.load_profile("default")
