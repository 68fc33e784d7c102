"""The command line: `aiokafka-lite` and `python -m aiokafka_lite`."""
