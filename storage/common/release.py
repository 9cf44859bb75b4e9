"""Which release this is. The one place that says it; pyproject.toml is tested against it."""

VERSION = "0.1.0"
