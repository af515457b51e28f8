"""`python -m forge sync [RUN_ID…]`"""

from __future__ import annotations

import argparse
import os
import sys

from .sync import sync


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m forge", description="Forge reporting client")
    commands = parser.add_subparsers(dest="command", required=True)
    sync_command = commands.add_parser("sync", help="send reports which are waiting on this machine's disk")
    sync_command.add_argument("run_id", nargs="*", help="only these runs")
    arguments = parser.parse_args()
    return sync(arguments.run_id, os.environ, lambda text: print(text, flush=True))


if __name__ == "__main__":
    sys.exit(main())
