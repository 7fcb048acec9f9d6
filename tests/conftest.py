"""The tests are the same on every machine: what configures Turnkeeper or OpenTelemetry there is not theirs."""

import os

os.environ["GRPC_VERBOSITY"] = "NONE"  # what gRPC thinks of connections that a test cuts is no news

for name in [name for name in os.environ if name.startswith(("TURNKEEPER_", "OTEL_"))]:
    del os.environ[name]
