"""The gRPC front: services, listeners, limits, the status table, health."""
