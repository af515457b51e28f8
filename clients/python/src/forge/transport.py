"""One keep-alive connection to the ingest routes. Used by one thread at a time.

Heavy modules are imported on first use: that is on the sending thread, and `import forge` stays cheap.
"""

from __future__ import annotations

import base64
import time
import zlib
from typing import Any, Dict, Mapping, NamedTuple, Optional
from urllib.parse import unquote, urlsplit

from .points import BLOCK_TYPE

TIMEOUT_S = 15.0

# Smaller bodies fit in one packet anyway.
_GZIP_FROM_BYTES = 1024

_GZIP_WINDOW_BITS = 31

# Far larger than any response of an ingest route.
_MAX_ANSWER_BYTES = 1024 * 1024


class Reply(NamedTuple):
    status: int
    headers: Any  # a mapping that ignores case, as `http.client` makes it
    body: bytes


class Unreachable(Exception):
    """No response: refused, timed out, or cut off. Whether the server accepted the request is unknown."""


class Transport:
    """`header` is the name of the header with the token: `Authorization` for a person's."""

    def __init__(self, endpoint: str, token: str, timeout_s: float = TIMEOUT_S, header: str = "X-Service-Token"):
        self._url = urlsplit(endpoint)
        self._credential = {header: "Bearer " + token if header == "Authorization" else token}
        self._timeout_s = timeout_s
        self._connection: Any = None
        self._target_prefix = self._url.path
        self._proxy_headers: Dict[str, Any] = {}
        self.gzip = True

    def post(self, route: str, body: bytes) -> Reply:
        headers = {"Content-Type": "application/json"}
        if self.gzip and len(body) >= _GZIP_FROM_BYTES:
            body = gzipped(body)
            headers["Content-Encoding"] = "gzip"
        return self.request("POST", "/" + route, body, headers)

    def post_block(self, block: bytes) -> Reply:
        """Metric points in binary form, which hardly compress."""
        return self.request("POST", "/metrics", block, {"Content-Type": BLOCK_TYPE})

    def request(self, method: str, path: str, body: Optional[bytes], headers: Mapping[str, str]) -> Reply:
        """`path` is below the endpoint. Reconnects once if the server has closed the kept connection meanwhile."""
        fresh = self._connection is None
        try:
            return self._exchange(method, path, body, headers)
        except Unreachable:
            if fresh:
                raise
        return self._exchange(method, path, body, headers)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _exchange(self, method: str, path: str, body: Optional[bytes], headers: Mapping[str, str]) -> Reply:
        import http.client

        sent = {"User-Agent": "forge-client-python", **self._credential, **headers}
        try:
            connection = self._connection = self._connection or self._connect()
            sent.update(self._proxy_headers)
            connection.request(method, self._target_prefix + path, body=body, headers=sent)
            response = connection.getresponse()
            answer = response.read(_MAX_ANSWER_BYTES)
            if response.will_close or not response.isclosed():
                self.close()
            return Reply(response.status, response.headers, answer)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            why = "%s: %s" % (type(error).__name__, error)
            if "WRONG_VERSION_NUMBER" in why:
                why += "; the service speaks http there, not https"
            raise Unreachable(why) from error

    def _connect(self) -> Any:
        import http.client

        host = self._url.hostname or ""
        secure = self._url.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        proxy = _proxy_for(self._url.scheme, host)
        if proxy is None:
            return kind(host, self._url.port, timeout=self._timeout_s)
        connection = kind(proxy.hostname or "", proxy.port or 80, timeout=self._timeout_s)
        if secure:
            connection.set_tunnel(host, self._url.port or 443, headers=_credentials(proxy))
        else:
            self._target_prefix = "%s://%s%s" % (self._url.scheme, self._url.netloc, self._url.path)
            self._proxy_headers = _credentials(proxy)
        return connection


def gzipped(body: bytes) -> bytes:
    """Level 1: a third of the work of level 6 for 10% more bytes, measured on metric points."""
    compressor = zlib.compressobj(1, zlib.DEFLATED, _GZIP_WINDOW_BITS)
    return compressor.compress(body) + compressor.flush()


def retry_after_s(headers: Mapping[str, str]) -> Optional[float]:
    """Seconds, or a date (RFC 9110 section 10.2.3)."""
    value = headers.get("Retry-After")
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        from email.utils import mktime_tz, parsedate_tz

        date = parsedate_tz(value)
        return max(0.0, mktime_tz(date) - time.time()) if date else None


def _proxy_for(scheme: str, host: str) -> Any:
    """The proxy that the environment names for this host (`http_proxy`, `https_proxy`, `no_proxy`).

    Never for this machine itself: the proxy's `localhost` is another machine, and `no_proxy` is easily left unset.
    """
    from urllib.request import getproxies, proxy_bypass

    address = getproxies().get(scheme)
    if not address or host in ("localhost", "::1") or host.startswith("127.") or proxy_bypass(host):
        return None
    return urlsplit(address if "://" in address else "http://" + address)


def _credentials(proxy: Any) -> Dict[str, Any]:
    if not proxy.username:
        return {}
    pair = "%s:%s" % (unquote(proxy.username), unquote(proxy.password or ""))
    return {"Proxy-Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}
