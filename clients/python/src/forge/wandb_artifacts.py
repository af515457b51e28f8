"""W&B's artifacts, as files and folders in the store of Forge."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import IO, Any, Dict, Iterator, List, Mapping, Optional, Union

from .config import ForgeError
from .notices import say
from .run import Run as _Run
from .temporary import temporary_folder

# Kinds of Forge by the types that are usual in W&B; others are files to look at later.
_KINDS = {"model": "checkpoint", "checkpoint": "checkpoint", "weights": "checkpoint"}
_OTHER_KIND = "eval_report"

# By name, what this process logged: `use_artifact` finds it again.
_logged: Dict[str, "Artifact"] = {}


class Artifact:
    """Files under a name. They stay where they are; logging copies them to the store."""

    def __init__(
        self, name: str, type: str, description: Optional[str] = None, metadata: Optional[Mapping[str, Any]] = None, **_: Any
    ):
        self.name, self.type, self.description = name, type, description
        self.metadata = dict(metadata or {})
        self.aliases: List[str] = []
        self.version, self.id = "v0", None
        self._files: Dict[str, str] = {}  # name in the artifact, path here
        self._whole: Optional[str] = None  # the folder of which it is an unmodified copy
        self._folder: Optional[str] = None  # where `download` finds everything

    def add_file(self, local_path: Any, name: Optional[str] = None, is_tmp: Any = None, **_: Any) -> "Artifact":
        path = os.fsdecode(local_path)
        if not os.path.isfile(path):
            raise ValueError("no such file: %s" % path)
        self._add(path, name or os.path.basename(path))
        return self

    def add_dir(self, local_path: Any, name: Optional[str] = None, **_: Any) -> None:
        path = os.fsdecode(local_path)
        if not os.path.isdir(path):
            raise ValueError("no such folder: %s" % path)
        whole = not self._files and not name
        for folder, folders, files in os.walk(path):
            # A link to a folder is left out, so the artifact differs from the folder.
            whole = whole and not any(os.path.islink(os.path.join(folder, one)) for one in folders)
            for file in files:
                at = os.path.join(folder, file)
                self._add(at, os.path.join(name or "", os.path.relpath(at, path)))
        self._whole = path if whole else None

    def _add(self, path: str, name: str) -> None:
        """A name is relative to the artifact and cannot leave it; the last file of a name counts."""
        self._files[os.path.normpath(os.sep + name).lstrip(os.sep)] = path
        self._whole = self._folder = None

    def add_reference(self, uri: Any, *_: Any, **__: Any) -> List[Any]:
        """A path on this machine is added; an address elsewhere stays where it is, and is not part of the artifact."""
        path = str(uri)[7:] if str(uri).startswith("file://") else str(uri)
        if os.path.isdir(path):
            self.add_dir(path)
        elif os.path.isfile(path):
            self.add_file(path)
        else:
            say("forge: warning: artifact %s: the reference %s is left out; only files are stored" % (self.name, uri))
        return []

    def add(self, obj: Any, name: str, *_: Any, **__: Any) -> Any:
        """Adds nothing: `forge.wandb` has no files for pictures and tables."""
        say("forge: warning: artifact %s: %s is left out; only files are stored" % (self.name, name))
        return obj

    @contextlib.contextmanager
    def new_file(self, name: str, mode: str = "w", encoding: Optional[str] = None) -> Iterator[IO[Any]]:
        path = os.path.join(temporary_folder("forge-artifact-", owner=self), os.path.basename(name))
        with open(path, mode, encoding=encoding or (None if "b" in mode else "utf-8")) as file:
            yield file
        self._add(path, name)

    def wait(self, timeout: Any = None) -> "Artifact":
        return self

    def save(self, *_: Any, **__: Any) -> None:
        """Does nothing: `log_artifact` stores it."""

    def get_path(self, name: str) -> "_Entry":
        return _Entry(self, name)

    get_entry = get_path

    def file(self, root: Any = None) -> str:
        """The only file."""
        folder = self.download(root)
        return os.path.join(folder, *self._files) if len(self._files) == 1 else folder

    def download(self, root: Any = None, *_: Any, **__: Any) -> str:
        """A folder with copies of its files; without `root` one that ends with the process."""
        if root is None and self._folder is not None:
            return self._folder
        folder = os.fsdecode(root) if root is not None else temporary_folder("forge-artifact-")
        for name, path in self._files.items():
            at = os.path.join(folder, name)
            os.makedirs(os.path.dirname(at) or ".", exist_ok=True)
            shutil.copy2(path, at)
        if root is None:
            self._folder = folder
        return folder

    checkout = download

    @property
    def is_empty(self) -> bool:
        return not self._files

    @contextlib.contextmanager
    def to_store(self) -> Iterator[str]:
        """The file or folder to upload; several files are links in a folder that exists only meanwhile."""
        (name, path), *others = self._files.items()
        if self._whole is not None:
            yield self._whole
        elif not others and os.path.basename(path) == name:
            yield path
        else:
            folder = temporary_folder("forge-artifact-", owner=self)
            try:
                for name, path in self._files.items():
                    _link(path, os.path.join(folder, name))
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)


def _link(path: str, at: str) -> None:
    os.makedirs(os.path.dirname(at), exist_ok=True)
    try:
        os.symlink(os.path.abspath(path), at)
    except FileExistsError:
        raise  # two names that are one for this file system: copying would write into the file linked first
    except OSError:
        shutil.copy2(path, at)  # Windows permits links only to some


class _Entry:
    def __init__(self, artifact: Artifact, name: str):
        self._artifact, self._name = artifact, name

    def download(self, root: Any = None) -> str:
        return os.path.join(self._artifact.download(root), self._name)


class _Given(Artifact):
    """Files that are here already, such as what the job starts from."""

    def __init__(self, name: str, path: str):
        super().__init__(name, "model")
        self._folder = path

    def download(self, root: Any = None, *_: Any, **__: Any) -> str:
        if root is None or not os.path.isdir(str(self._folder)):
            return str(self._folder)
        return str(shutil.copytree(str(self._folder), os.fsdecode(root), dirs_exist_ok=True))


def log_artifact(
    run: _Run,
    step: int,
    artifact_or_path: Union[Artifact, str, "os.PathLike[str]"],
    name: Optional[str] = None,
    type: Optional[str] = None,
    aliases: Any = None,
) -> Artifact:
    """Copies it to the store, and registers it with the run. A failure is a warning, and ends no training."""
    try:
        artifact = _artifact_of(artifact_or_path, name, type)
        artifact.aliases = [aliases] if isinstance(aliases, str) else list(aliases or [])
        if artifact.is_empty:
            raise ValueError("it holds no files")
        if run.enabled:
            with artifact.to_store() as path:
                run.log_artifact(_KINDS.get(artifact.type, _OTHER_KIND), path, _format_of(path), step, upload=True)
        _logged[artifact.name] = artifact
        return artifact
    except (ForgeError, OSError, TypeError, ValueError) as error:
        say("forge: warning: artifact not logged: %s" % error)
        return artifact_or_path if isinstance(artifact_or_path, Artifact) else Artifact(name or "artifact", type or "")


def _format_of(path: str) -> str:
    return "folder" if os.path.isdir(path) else os.path.splitext(path)[1].lstrip(".") or "file"


def _artifact_of(given: Any, name: Optional[str], type: Optional[str]) -> Artifact:
    if isinstance(given, Artifact):
        return given
    path = os.fsdecode(given)
    artifact = Artifact(name or os.path.basename(os.path.normpath(path)), type or "unspecified")
    if os.path.isdir(path):
        artifact.add_dir(path)
    else:
        artifact.add_file(path)
    return artifact


def use_artifact(artifact_or_name: Any, *_: Any, **__: Any) -> Artifact:
    """What this process logged under the name, else what the job starts from (`init_from`); else an empty one, with a warning."""
    if isinstance(artifact_or_name, Artifact):
        return artifact_or_name
    name = str(artifact_or_name).rsplit("/", 1)[-1].split(":", 1)[0]
    if name in _logged:
        return _logged[name]
    given = os.environ.get("FORGE_INIT_FROM")
    if given and os.path.exists(given):
        return _Given(name, given)
    say(
        "forge: warning: wandb.use_artifact(%r) found nothing and is empty: only what this process logged, or what the job "
        "starts from (spec.init_from), is here" % (str(artifact_or_name),)
    )
    return Artifact(name, "")
