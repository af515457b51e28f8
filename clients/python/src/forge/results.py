"""Results of a run besides numbers: validation samples, and artifacts. The functions are methods of `Run`."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Mapping, Optional

from .samples import sample_rounds


def log_samples(
    self: Any,
    step: int,
    samples: Iterable[Mapping[str, Any]],
    avg_reward: Any = None,
    accuracy: Any = None,
) -> None:
    """Logs a validation round: the samples generated at this step, and their quality.

    samples               dictionaries of `user`, `assistant`, `env`, `reward`, `extra`, to which other fields are
                          added; large rounds are split
    avg_reward, accuracy  one number each for the round
    """
    if not self._speaks or self._ended:
        return self._say_ended()
    try:
        for round_part, piece in sample_rounds(step, samples, avg_reward, accuracy):
            self._post_soon("validation", round_part, samples=piece)
    except Exception as error:
        self._refuse("samples not logged", [str(error)])


def log_artifact(
    self: Any,
    kind: str,
    path: str,
    format: str,
    step: Optional[int] = None,
    *,
    size_bytes: Optional[int] = None,
    metrics: Optional[Mapping[str, Any]] = None,
    upload: bool = False,
) -> Optional[Dict[str, Any]]:
    """Registers an output of the run: `forge.log_artifact("checkpoint", "out/step-100.pt", "torch", step=100)`.

    kind        `checkpoint`, `hf_export`, `eval_report` or `merged_model`
    path        where others find it: a path here, which is registered as the absolute one, or the address of an
                object (`s3://…`), which a container executor needs
    format      the format of the file, e.g. `safetensors`
    size_bytes  taken from the file if left out
    metrics     numbers at that step, by which the best artifact is found
    upload      first copies the local file or folder `path` to the object store of the service

    Registers at once and returns the service's reply. Raises `forge.ForgeError` if the service refuses it or cannot
    be reached for a minute. A mistake in the call (another kind, no such file, `upload=True` where the service has
    no store) is reported on stderr and returns None; it raises only with `strict`.
    """
    if self._config is None or not self._speaks or self._ended:
        self._say_ended()
        return None
    from . import artifacts

    try:
        artifact = artifacts.artifact_of(kind, path, format, step, size_bytes, metrics, upload)
        address = self._reporter.address
        if address is not None:
            return artifacts.register(self._config, address, artifact, upload)
        self._post_soon("artifact", artifacts.body_for_later(self._config, artifact, upload))
    except (TypeError, ValueError, OSError, artifacts.ArtifactError) as error:
        self._tell_at_once("artifact not registered: %s" % error)
    return None
