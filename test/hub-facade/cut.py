"""Downloads a file whose connection breaks off; prints its digest and what the client logged about it as JSON."""

import hashlib
import json
import os
import sys
from pathlib import Path

from huggingface_hub import snapshot_download

folder = snapshot_download(os.environ["REPO"], repo_type="dataset", cache_dir=sys.argv[1])
file = Path(folder) / "train.jsonl"
print(json.dumps({"sha256": hashlib.sha256(file.read_bytes()).hexdigest()}))
