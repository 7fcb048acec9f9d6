"""The tests are the same on every machine: what configures Turnkeeper or OpenTelemetry there is not theirs."""

import os

for name in [name for name in os.environ if name.startswith(("TURNKEEPER_", "OTEL_"))]:
    del os.environ[name]
