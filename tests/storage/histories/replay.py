"""Runs scripts of `script_runner`: one from a file, or thousands of random ones.

Usage: python -m tests.storage.histories.replay FILE
       python -m tests.storage.histories.replay --runs 5000 [--seed 1]
"""

import argparse
import json
from pathlib import Path

from hypothesis import Phase, given, seed, settings

from tests.storage.histories.script_strategy import scripts
from tests.storage.histories.test_store_scripts import (
    run_script,
    test_a_random_script_gives_what_the_model_says,
)


def main() -> None:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    if chosen.file:
        run_script(json.loads(Path(chosen.file).read_text()))
        print("the script gives what the model says")
        return
    body = test_a_random_script_gives_what_the_model_says.hypothesis.inner_test
    wanted = settings(
        max_examples=chosen.runs, deadline=None, database=None, print_blob=False,
        phases=[Phase.generate, Phase.shrink],
    )  # fmt: skip
    seed(chosen.seed)(wanted(given(scripts())(body)))()
    print(f"{chosen.runs} random scripts, no difference")


if __name__ == "__main__":
    main()
