"""Launches in systemd units, in Helm and Jinja templates, and in Terraform here-documents."""

import pytest

from preflight.readers import reader_for
from tests.readers.launches import deleted, inserted, line, only, replaced, sites, words

UNIT = """[Unit]
Description=vllm serve of x
[Service]
Environment="A=1" B=2
Environment=TP=2
EnvironmentFile=/etc/x
ExecStart=/opt/venv/bin/vllm serve m \\
    --tp ${TP} \\
    # a comment in between
    --j '{"a": 1}' $EXTRA_ARGS
ExecStop=/bin/kill vllm serve
"""


def test_a_unit_is_its_start_line_and_environment() -> None:
    site = only("units", UNIT)
    assert (site.kind, line(site), site.complete) == ("systemd", 7, False)
    assert [(token.text, token.state) for token in site.argv] == [
        ("m", "known"),
        ("--tp", "known"),
        ("2", "known"),
        ("--j", "known"),
        ('{"a": 1}', "known"),
        ("$EXTRA_ARGS", "opaque"),
    ]
    assert [(variable.name, variable.token.value) for variable in site.env] == [("A", "1"), ("B", "2"), ("TP", "2")]


def test_edits_of_a_unit_keep_its_lines() -> None:
    unit = "[Service]\nExecStart=/x/vllm serve m \\\n  --tp 2\n"
    assert inserted("units", unit, "--x", "1") == unit.replace("--tp 2", "--tp 2 --x 1")
    assert deleted("units", unit, 1, 2) == "[Service]\nExecStart=/x/vllm serve m\n"
    assert replaced("units", unit, "2", "4") == unit.replace("2", "4")


HELM = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "x.name" . }}
spec:
  template:
    spec:
      {{- with .Values.sel }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .Chart.Name }}
          image: "{{ .Values.image }}:{{ .Values.tag }}"
          command:
            - python3
            - -m
            - sglang.launch_server
            - --tp
            - {{ .Values.tp | quote }}
            - --name={{ .Values.name }}-x
            {{- if .Values.port }}
            - --port
            - "1"
            {{- end }}
            - --host
            - {{ include "x.host" . | quote }}
            EXTRA
          ports: []
"""


def test_a_template_gives_its_spelled_out_flags() -> None:
    text = HELM.replace("            EXTRA\n", "")
    site = only("manifest", text, "templates/x.yaml")
    assert [(token.text, token.value is None, token.conditional) for token in site.argv] == [
        ("--tp", False, False),
        ("${tp}", True, False),
        ("--name=${name}-x", True, False),
        ("--port", False, True),
        ("1", False, True),
        ("--host", False, False),
        ("${host}", True, False),
    ]
    assert site.editor.insert("--x", []) is None
    assert not site.complete


@pytest.mark.parametrize(
    "action",
    ["{{- toYaml .Values.args | nindent 12 }}", "{{- range .Values.args }}\n            - {{ . }}\n            {{- end }}"],
)
def test_an_action_that_may_add_flags_makes_the_launch_incomplete(action: str) -> None:
    text = (
        HELM.replace("EXTRA", action)
        .replace("            {{- if .Values.port }}\n", "")
        .replace('"1"\n            {{- end }}', '"1"')
    )
    site = only("manifest", text, "templates/x.yaml")
    assert not site.complete
    assert words(site)[-1] in ("${host}", "${}")


def test_a_jinja_unit_is_a_unit() -> None:
    text = (
        "[Service]\nUser={{ user }}\nExecStart={{ venv }}/bin/vllm serve {{ model }} --port {{ port }}"
        "{% if q %} --quantization {{ q }}{% endif %} --x\n"
    )
    assert reader_for("vllm.service.j2", text) == "preflight.readers.template"
    site = only("template", text)
    assert [(token.text, token.conditional) for token in site.argv] == [
        ("${model}", False),
        ("--port", False),
        ("${port}", False),
        ("--quantization", True),
        ("${q}", True),
        ("--x", False),
    ]


def test_a_template_of_a_script_is_a_script() -> None:
    site = only("template", "#!/bin/bash\nTP={{ format_tp }}\nvllm serve m --tp $TP --x {{ extra_args }}\n")
    assert [(token.text, token.state) for token in site.argv] == [
        ("m", "known"),
        ("--tp", "known"),
        ("${format_tp}", "unknown"),
        ("--x", "known"),
        ("${extra_args}", "opaque"),
    ]


def test_templates_are_no_syntax_errors() -> None:
    text = "spec:\n  {{- if .x }}\n  - a: {{ .y }}\n {{ toYaml .z }}\n# vllm\n"
    assert sites("manifest", text, "templates/x.yaml") == ()


def test_terraform_holds_manifests_and_scripts() -> None:
    text = """resource "x" "y" {
  yaml = <<-YAML
    spec:
      containers:
        - image: vllm/vllm-openai:v0.9.0
          command: [vllm, serve, "${var.model}", --tp, "2"]
  YAML
  user_data = <<EOF
#!/bin/bash
export A=$${B}
vllm serve m --port ${local.port}
EOF
}
"""
    first, second = sites("hcl", text)
    assert (words(first), words(second)) == (["${model}", "--tp", "2"], ["m", "--port", "${port}"])
    assert (line(first), line(second)) == (6, 11)
