"""Any interleaving of writes, maintenance, restarts and reads gives what the plain model says.

A failure prints the shortest script found that shows it, and
`python -m tests.storage.histories.replay FILE` runs it again. `make torture` runs thousands.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, note, settings

from tests.properties.examples import examples
from tests.storage.histories.script_runner import ScriptRunner
from tests.storage.histories.script_strategy import scripts


def run_script(script: dict[str, Any]) -> None:
    """Run one script in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        runner = ScriptRunner(Path(folder), script)
        try:
            runner.run()
        finally:
            runner.close()


@settings(max_examples=examples(20), deadline=None, print_blob=False)
@given(scripts())
def test_a_random_script_gives_what_the_model_says(script: dict[str, Any]) -> None:
    note(
        "save this and run `python -m tests.storage.histories.replay FILE`:\n" + json.dumps(script)
    )
    run_script(script)
