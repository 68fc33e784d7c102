"""streamgate: its modules for Kafka import."""

import importlib

for name in ("streamgate", "streamgate.consumer", "streamgate.ingest", "streamgate.transport"):
    module = importlib.import_module(name)
    print(name, len([each for each in dir(module) if not each.startswith("_")]))
