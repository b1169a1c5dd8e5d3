# SPDX-License-Identifier: Apache-2.0
fixture inductor-2.11-llama4-h100 unpacked
tkbundle stats --paths unpacked/.cache/torchinductor
tkbundle stats --json --paths unpacked/.cache/torchinductor >document
json <document | grep -c '"name": '
json <document | grep -c '"path": '
