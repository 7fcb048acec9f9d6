"""The observing process: everything that OpenTelemetry and Prometheus are told, off the decision path."""
