"""Replaces valid but unknown runs made up by Schemathesis with an existing one, so that handlers are reached."""

import os

import schemathesis

RUN_ID = os.environ["FUZZ_RUN_ID"]


def with_known_run(values):
    # Values that break the schema on purpose stay unchanged.
    if isinstance(values, dict) and isinstance(values.get("run_id"), str):
        if 1 <= len(values["run_id"]) <= 128:
            return {**values, "run_id": RUN_ID}
    return values


@schemathesis.hook
def map_body(context, body):
    return with_known_run(body)


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    return with_known_run(path_parameters)
