"""What users need to test their own services: an embedded broker, a clock, pytest fixtures."""
