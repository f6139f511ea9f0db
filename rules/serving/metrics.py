"""Metrics settings miss their other half.

## What it does
Finds metrics and event settings that need another flag.

## Why
Metrics are exported to a directory that must be given; labels of a caller come in a header that must have a name; load is
published beside KV events, whose configuration routers read. SGLang checks each before it starts.

## Fix
Unsafe: the missing half has to be chosen.

## Source
sglang 0.5.9 srt/server_args.py check_server_args; 0.5.23 srt/arg_groups/validation_hook.py.
"""

from preflight.engines.steps import REFUSES, Row, Set, Topic

TOPIC = Topic("FLG042", "metrics-settings", "sglang", "checks")

_SOURCE = "srt/arg_groups/validation_hook.py"

ROWS = (
    Row(
        "N11",
        REFUSES,
        when=lambda s: s.export_metrics_to_file and s.export_metrics_to_file_dir is None,
        versions="0.5.5..",
        says="export-metrics-to-file needs export-metrics-to-file-dir. Give a directory.",
        at="export-metrics-to-file",
        fix=(Set("export-metrics-to-file", None),),
        source=_SOURCE,
        order=78,
        bad="--export-metrics-to-file @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--export-metrics-to-file-dir /tmp/metrics",
    ),
    Row(
        "N11",
        REFUSES,
        when=lambda s: bool(s.tokenizer_metrics_allowed_custom_labels) and not s.tokenizer_metrics_custom_labels_header,
        versions="0.5.5..",
        says="tokenizer-metrics-allowed-custom-labels needs a name in "
        "tokenizer-metrics-custom-labels-header. Leave the header out "
        "for its default.",
        at="tokenizer-metrics-allowed-custom-labels",
        fix=(Set("tokenizer-metrics-custom-labels-header", None),),
        source=_SOURCE,
        order=76,
    ),
    Row(
        "N14",
        REFUSES,
        when=lambda s: (s.load_publish_endpoint or "off").strip().lower() not in ("", "off") and not s.kv_events_config,
        versions="0.5.20..",
        says="load-publish-endpoint needs kv-events-config. Give it, or leave the endpoint out.",
        at="load-publish-endpoint",
        fix=(Set("load-publish-endpoint", None),),
        source=_SOURCE,
        order=96,
        bad="--load-publish-endpoint tcp://*:5600 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:load-publish-endpoint",
    ),
)
