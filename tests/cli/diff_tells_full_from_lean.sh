# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o full.tkb >/dev/null
tkbundle collect --profile lean cache -o lean.tkb >/dev/null
try tkbundle diff full.tkb lean.tkb
tkbundle diff lean.tkb cache | head -n 4
