# SPDX-License-Identifier: Apache-2.0
cache cache
mkdir -p remote
tkbundle push a cache --remote remote >said
# Found out early, and after the document was begun.
try tkbundle verify cache --repair --json
try tkbundle verify remote --json
try tkbundle verify - --trust policy --json
try tkbundle ls --remote - --json
