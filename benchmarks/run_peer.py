"""One measured run of one client in a process of its own; prints its figures as one JSON line.

python -m benchmarks.run_peer ours getmany '{"bootstrap_servers": ..., "topic": ..., ...}'
"""

import importlib
import json
import sys

from benchmarks.peers.job import Job


def main() -> None:
    """Run the path named on the command line and print what it cost."""
    peer, path, described = sys.argv[1:]
    job = Job(**json.loads(described))
    getattr(importlib.import_module(f"benchmarks.peers.{peer}"), path)(job)
    if job.done < job.records:
        raise SystemExit(f"{peer} {path}: {job.done} of {job.records} records")
    figures = {"cpu_s": job.cpu_s, "wall_s": job.wall_s, "records": job.done}
    print(json.dumps({**figures, "returned": job.returned} if job.returned else figures))


if __name__ == "__main__":
    main()
