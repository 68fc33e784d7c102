"""The command line, on the roof of the house: `aiokafka-lite` and `python -m aiokafka_lite`."""
