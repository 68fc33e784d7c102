"""What `importlib.metadata` knows of the distribution `aiokafka`. Loaded when it is asked."""

from importlib.metadata import Distribution
from pathlib import Path

from aiokafka_lite.compat.module_names import API_VERSION
from aiokafka_lite.version import __version__


class AiokafkaDistribution(Distribution):
    """The distribution whose names this package shows, in the version that has them."""

    def read_text(self, filename: str) -> str | None:
        """Return a file of the metadata; None if there is none of the name."""
        summary = f"The API of aiokafka {API_VERSION}, by aiokafka-lite {__version__}"
        return {
            "METADATA": f"Metadata-Version: 2.1\nName: aiokafka\nVersion: {API_VERSION}\n"
            f"Summary: {summary}\n",
            "top_level.txt": "aiokafka\n",
        }.get(filename)

    def locate_file(self, path: object) -> Path:
        """Return the place of a file: that of this package."""
        return Path(__file__).parents[1] / str(path)


__all__ = ["AiokafkaDistribution"]
