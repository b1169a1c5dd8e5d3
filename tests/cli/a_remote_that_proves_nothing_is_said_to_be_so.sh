# SPDX-License-Identifier: Apache-2.0
url='rediss://:secret@127.0.0.1:1?verify=false'
try tkbundle pull a --remote "$url"
try tkbundle pull a --remote "remote,$url"
try env "TKBUNDLE_REMOTE=$url" tkbundle config
