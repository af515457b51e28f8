"""Uploads a folder as a model with the Hub's own client, changes it, and reads it back; prints its findings as JSON."""

import hashlib
import json
import os
import sys
from pathlib import Path

from huggingface_hub import CommitOperationDelete, HfApi, snapshot_download
from huggingface_hub.errors import HfHubHTTPError

api = HfApi()
repo = os.environ["REPO"]
folder, cache = sys.argv[1:]


def refusal(call):
    try:
        call()
    except HfHubHTTPError as error:
        return [type(error).__name__, error.response.status_code]
    return None


def read(revision):
    found = Path(snapshot_download(repo, revision=revision, cache_dir=cache))
    files = (path for path in sorted(found.rglob("*")) if path.is_file())
    return {
        str(path.relative_to(found)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }


url = api.create_repo(repo)
again = api.create_repo(repo, exist_ok=True)
first = api.upload_folder(folder_path=folder, repo_id=repo, commit_message="The weights")
same = api.upload_folder(folder_path=folder, repo_id=repo)
second = api.create_commit(
    repo_id=repo,
    operations=[CommitOperationDelete("tokenizer/", is_folder=True)],
    commit_message="Without a tokenizer",
    parent_commit=first.oid,
)
stale = refusal(
    lambda: api.upload_file(
        path_or_fileobj=b"x", path_in_repo="x", repo_id=repo, parent_commit=first.oid
    )
)
tree = sorted(entry.path for entry in api.list_repo_tree(repo, revision=first.oid))
print(
    json.dumps(
        {
            "repo": [url.repo_id, str(url) == str(again)],
            "commits": [first.oid, same.oid, second.oid],
            "stale": stale,
            "tree": tree,
            "files": [read(first.oid), read(second.oid)],
        }
    )
)
