"""Exports what clients observe of their own work: to Prometheus and to OpenTelemetry."""
