"""Run in `clients/python`: `python3 -m unittest discover` (no installation needed)."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "src"))
