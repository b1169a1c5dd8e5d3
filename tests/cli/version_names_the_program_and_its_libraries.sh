# SPDX-License-Identifier: Apache-2.0
tkbundle --version | sed 's/[0-9][0-9.]*/N/'
tkbundle --version --verbose | sed 's/[0-9][0-9.]*[0-9]\( [^,]*\)*/N/g'
try tkbundle --version --json | sed 's/; see .*//'
try tkbundle --version ls | sed 's/; see .*//'
