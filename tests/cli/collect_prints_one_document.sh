# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect --json cache -o a.tkb | json
tkbundle collect --json -n cache | json
