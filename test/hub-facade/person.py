"""What a person does with the Hub's own client: `person.py upload|read|refused`; prints its findings as JSON."""

import json
import os
import sys
from pathlib import Path

from huggingface_hub import CommitOperationDelete, HfApi, RepoFile, snapshot_download
from huggingface_hub.errors import HfHubHTTPError

api = HfApi()
dataset = {"repo_id": os.environ["REPO"], "repo_type": "dataset"}


def files_in(folder):
    root = Path(folder)
    found = (path for path in root.rglob("*") if path.is_file() and ".cache" not in path.parts)
    return {str(path.relative_to(root)): path.stat().st_size for path in sorted(found)}


def refusal(call):
    try:
        call()
    except HfHubHTTPError as error:
        return [type(error).__name__, error.response.status_code]
    return None


def upload(folder):
    url = api.create_repo(**dataset)
    repeated = api.create_repo(**dataset, exist_ok=True)
    twice = refusal(lambda: api.create_repo(**dataset))
    first = api.upload_folder(folder_path=folder, **dataset)
    same = api.upload_folder(folder_path=folder, **dataset)
    more = b'{"text": "one more"}\n'
    second = api.upload_file(path_or_fileobj=more, path_in_repo="more/train.jsonl", **dataset)
    third = api.create_commit(
        operations=[CommitOperationDelete("more/", is_folder=True)],
        commit_message="remove it",
        parent_commit=second.oid,
        **dataset,
    )
    stale = refusal(
        lambda: api.upload_file(
            path_or_fileobj=more, path_in_repo="late.jsonl", parent_commit=second.oid, **dataset
        )
    )
    names = ["a b.jsonl", ".hidden.jsonl"]
    bad = [
        refusal(lambda: api.upload_file(path_or_fileobj=more, path_in_repo=name, **dataset))
        for name in names
    ]
    return {
        "repo": [url.repo_id, str(url) == str(repeated)],
        "twice": twice,
        "commits": [first.oid, same.oid, second.oid, third.oid],
        "page": first.commit_url.endswith(f"/datasets/{dataset['repo_id']}/commit/{first.oid}"),
        "stale": stale,
        "bad": bad,
    }


def read(folder):
    info = api.dataset_info(dataset["repo_id"])
    refs = api.list_repo_refs(**dataset)
    tree = api.list_repo_tree(**dataset, recursive=True)
    known = api.get_paths_info(**dataset, paths=["train.jsonl", "sub", "none"])
    snapshot = snapshot_download(**dataset, cache_dir=folder)
    by_tag = snapshot_download(**dataset, revision="v1", cache_dir=folder)
    return {
        "who": api.whoami()["name"],
        "info": [info.sha, info.private, info.gated, [one.rfilename for one in info.siblings]],
        "refs": [[one.name for one in refs.branches], [one.name for one in refs.tags]],
        "tree": [[one.path, isinstance(one, RepoFile)] for one in tree],
        "known": [one.path for one in known],
        "files": files_in(snapshot),
        "first": files_in(by_tag),
        "missing": [
            refusal(lambda: api.dataset_info(dataset["repo_id"], revision="v99")),
            refusal(lambda: api.hf_hub_download(**dataset, filename="none.jsonl")),
        ],
    }


def refused(folder):
    return {
        "info": refusal(lambda: api.dataset_info(dataset["repo_id"])),
        "snapshot": refusal(lambda: snapshot_download(**dataset, cache_dir=folder)),
        "upload": refusal(
            lambda: api.upload_file(path_or_fileobj=b"x", path_in_repo="x.jsonl", **dataset)
        ),
    }


print(json.dumps({"upload": upload, "read": read, "refused": refused}[sys.argv[1]](sys.argv[2])))
