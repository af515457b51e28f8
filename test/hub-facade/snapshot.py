"""Downloads a repository at a revision with the Hub's client; prints the SHA-256 of its files as JSON."""

import hashlib
import json
import os
import sys
from pathlib import Path

from huggingface_hub import snapshot_download

folder = Path(
    snapshot_download(
        os.environ["REPO"],
        repo_type=os.environ["TYPE"],
        revision=os.environ["REVISION"],
        cache_dir=sys.argv[1],
    )
)
files = (path for path in sorted(folder.rglob("*")) if path.is_file())
digests = {
    str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
}
print(json.dumps(digests))
