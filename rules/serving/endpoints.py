"""The TLS, HTTP/2 or gRPC settings do not go together.

## What it does
Finds a TLS key without its certificate, HTTP/2 settings out of range, and gRPC ports that collide or exclude other settings.

## Why
SGLang checks its listeners before it loads anything: a key and a certificate come in pairs, HTTP/2 cannot reload certificates, a
gRPC port is its own and lies between 1 and 65535, and the native gRPC server has no keys, no Ray and one tokenizer worker.
Whether a key file exists can only be seen on the machine.

## Fix
Unsafe: what a server listens to is a decision.

## Source
sglang 0.5.10.post1 to 0.5.18 srt/server_args.py; 0.5.23 srt/arg_groups/serving_hook.py, validation_hook.py.
"""

from preflight.engines.sglang.facts import at_least
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("FLG041", "listener-settings", "sglang", "serving")

_SOURCE = "srt/arg_groups/serving_hook.py"


def _legacy(s: State) -> bool:
    return bool(s.smg_grpc_mode or s.grpc_mode)


def _native(s: State) -> bool:
    return s.grpc_port is not None and not _legacy(s)


def _native_fault(s: State) -> str | None:
    if not _native(s):
        return None
    if s.use_ray:
        return "use-ray"
    if s.encoder_only:
        return "encoder-only"
    if (s.tokenizer_worker_num or 1) > 1:
        return f"tokenizer-worker-num {s.tokenizer_worker_num}"
    return "api-key" if s.api_key or s.admin_api_key else None


def _http2_fault(s: State) -> str | None:
    if not s.enable_http2:
        return None
    streams, window = s.http2_max_concurrent_streams, s.http2_initial_connection_window_size
    if streams is not None and not 0 < streams < 1 << 32:
        return f"does not take http2-max-concurrent-streams {streams}"
    if window is not None and not 1024 <= window < 1 << 31:
        return f"does not take http2-initial-connection-window-size {window}"
    if s.enable_ssl_refresh:
        return "does not work with enable-ssl-refresh"
    if not at_least(s, "0.5.15") and (s.tokenizer_worker_num or 1) > 1:
        return "needs tokenizer-worker-num 1 in this release"
    return None


ROWS = (
    Row(
        "N7",
        REFUSES,
        when=lambda s: bool(s.ssl_keyfile) != bool(s.ssl_certfile),
        versions="0.5.10..",
        says=lambda s: f"{'ssl-keyfile' if s.ssl_keyfile else 'ssl-certfile'} needs the other of the pair. Give both.",
        at="ssl-keyfile",
        fix=(Set("ssl-keyfile", None), Set("ssl-certfile", None)),
        source=_SOURCE,
        order=20,
        bad="--ssl-keyfile key.pem @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--ssl-certfile cert.pem",
    ),
    Row(
        "N7",
        REFUSES,
        when=lambda s: (
            bool(s.ssl_ca_certs or s.ssl_keyfile_password or s.enable_ssl_refresh) and not (s.ssl_keyfile or s.ssl_certfile)
        ),
        versions="0.5.10..",
        says="TLS settings without ssl-keyfile and ssl-certfile are refused. Give both, or leave them out.",
        at="ssl-ca-certs",
        fix=(Set("ssl-ca-certs", None), Set("ssl-keyfile-password", None), Set("enable-ssl-refresh", None)),
        source=_SOURCE,
        order=21,
    ),
    Row(
        "N8",
        REFUSES,
        when=lambda s: _http2_fault(s) is not None,
        versions="0.5.12..",
        says=lambda s: f"enable-http2 {_http2_fault(s)}.",
        at="enable-http2",
        fix=(Set("enable-http2", None),),
        source=_SOURCE,
        order=22,
        bad="--enable-http2 --http2-max-concurrent-streams 0 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--http2-max-concurrent-streams 100",
    ),
    Row(
        "N9",
        REFUSES,
        when=lambda s: s.grpc_port is not None and not 1 <= s.grpc_port <= 65535,
        versions="0.5.18..",
        says="grpc-port {grpc_port} is no port. Use 1 to 65535.",
        at="grpc-port",
        fix=(Set("grpc-port", None),),
        source=_SOURCE,
        order=30,
        bad="--grpc-port 70000 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--grpc-port 40000",
    ),
    Row(
        "N9",
        REFUSES,
        when=lambda s: _native_fault(s) is not None,
        versions="0.5.18..",
        says=lambda s: f"grpc-port does not work with {_native_fault(s)}. Leave one of the two out.",
        at="grpc-port",
        fix=(Set("grpc-port", None),),
        source=_SOURCE,
        order=32,
    ),
    Row(
        "N9",
        REFUSES,
        when=lambda s: _native(s) and s.grpc_port == s.port,
        versions="0.5.18..",
        says="grpc-port and port are both {port}. Use different ports.",
        at="grpc-port",
        fix=(Set("grpc-port", lambda s: s.port + 1),),
        source="srt/arg_groups/validation_hook.py",
        step="checks",
        order=90,
    ),
    Row(
        "N10",
        REFUSES,
        when=lambda s: (
            (s.sidecar is not None and (s.grpc_port is None or _legacy(s)) and s.env("SGLANG_GRPC_PORT") is None)
            or (s.sidecar_args is not None and s.sidecar is None)
        ),
        versions="0.5.18..",
        says="A sidecar needs the native gRPC server. Give grpc-port and sidecar.",
        at="sidecar",
        fix=(Set("sidecar", None), Set("sidecar-args", None)),
        source=_SOURCE,
        order=34,
        bad="--sidecar helper @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--grpc-port 40000",
    ),
)
