# SPDX-License-Identifier: Apache-2.0
fixture inductor-2.11-llama4-h100 .
tkbundle ls .cache/torchinductor
