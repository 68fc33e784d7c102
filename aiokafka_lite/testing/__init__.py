"""Tools for users' tests of their own services: an embedded broker, a clock, pytest fixtures."""
