"""The contents of requests, checked and with defaults filled in. Texts and shapes are those of the OpenAI API."""

from typing import Any, Dict, List, NamedTuple, Optional

MOST_CHOICES = 16
MOST_STOPS = 4
MOST_INPUTS = 2048


class Refused(Exception):
    def __init__(self, status, message, param=None, code=None):
        super().__init__(message)
        self.status, self.param, self.code = status, param, code

    def body(self) -> Dict[str, Any]:
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {"error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}}


class Limits(NamedTuple):
    names: List[str]
    max_tokens: int
    default_tokens: int
    temperature: float


class Wanted(NamedTuple):
    """The options that chat and completions share."""

    model: str
    prompts: List[str]
    n: int
    max_tokens: int
    temperature: float
    top_p: float
    stops: List[str]
    seed: Optional[int]
    stream: bool
    include_usage: bool


def wanted_of(body, prompts, limits: Limits) -> Wanted:
    refuse_unsupported(body)
    most = "max_completion_tokens" if body.get("max_completion_tokens") is not None else "max_tokens"
    stream = body.get("stream") or False
    options = body.get("stream_options") or {}
    if not isinstance(stream, bool):
        raise Refused(400, "stream must be true or false", "stream")
    if not isinstance(options, dict) or (options and not stream):
        raise Refused(400, "stream_options must be an object, and is only for streams", "stream_options")
    return Wanted(
        model=model_of(body, limits.names),
        prompts=prompts,
        n=whole(body, "n", 1, 1, MOST_CHOICES),
        max_tokens=whole(body, most, limits.default_tokens, 1, limits.max_tokens),
        temperature=number(body, "temperature", limits.temperature, 0, 5),
        top_p=number(body, "top_p", 1.0, 0, 1),
        stops=stops_of(body),
        seed=None if body.get("seed") is None else whole(body, "seed", 0, -(2**63), 2**64 - 1),
        stream=stream,
        include_usage=bool(options.get("include_usage")),
    )


def model_of(body, names) -> str:
    model = body.get("model")
    if not isinstance(model, str):
        raise Refused(400, "model is missing: send the name of a model that GET /v1/models lists", "model")
    if model not in names:
        raise Refused(404, "The model `%s` does not exist; there is %s" % (model, ", ".join(names)), "model", "model_not_found")
    return model


def refuse_unsupported(body) -> None:
    """Options that would change the meaning of a response are refused rather than ignored."""
    for name in ("logprobs", "echo", "suffix", "tools", "functions"):
        if body.get(name):
            raise Refused(400, "%s is not supported by this engine" % name, name, "unsupported_parameter")
    kind = (body.get("response_format") or {"type": "text"}).get("type") if isinstance(body.get("response_format") or {}, dict) else None
    if kind != "text":
        raise Refused(400, "response_format is not supported by this engine", "response_format", "unsupported_parameter")


def whole(body, name, default, low, high) -> int:
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise Refused(400, "%s must be a whole number from %d to %d" % (name, low, high), name)
    return value


def number(body, name, default, low, high) -> float:
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise Refused(400, "%s must be a number from %g to %g" % (name, low, high), name)
    return float(value)


def stops_of(body) -> List[str]:
    stop = body.get("stop")
    stops = [] if stop is None else [stop] if isinstance(stop, str) else stop
    fits = isinstance(stops, list) and len(stops) <= MOST_STOPS and all(isinstance(one, str) and one for one in stops)
    if not fits:
        raise Refused(400, "stop must be a string, or up to %d strings" % MOST_STOPS, "stop")
    return stops


def chat_prompt(body) -> List[str]:
    """The messages, one below the other: the model has no roles."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Refused(400, "messages must be a list of at least one message", "messages")
    return ["".join(text_of(message, index) + "\n" for index, message in enumerate(messages))]


def text_of(message, index) -> str:
    name = "messages[%d]" % index
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise Refused(400, "%s must be an object with a role" % name, name)
    content = message.get("content")
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise Refused(400, "%s.content must be a string or a list of parts" % name, name)
    for part in content:
        if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
            raise Refused(400, "%s.content: this model reads text only" % name, name)
    return "".join(part["text"] for part in content)


def texts_of(body, name) -> List[str]:
    """The texts of `prompt` and `input`."""
    given = body.get(name)
    texts = [given] if isinstance(given, str) else given
    fits = isinstance(texts, list) and 0 < len(texts) <= MOST_INPUTS and all(isinstance(text, str) for text in texts)
    if not fits:
        raise Refused(400, "%s must be a string, or a list of up to %d strings" % (name, MOST_INPUTS), name)
    return texts
