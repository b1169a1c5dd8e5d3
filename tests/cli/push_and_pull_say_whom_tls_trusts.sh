# SPDX-License-Identifier: Apache-2.0
url='rediss://:s3cret@127.0.0.1:1'
cache root
export REQUESTS_CA_BUNDLE=requests.pem SSL_CERT_FILE=openssl.pem
try tkbundle pull a there -v --remote "$url"
try tkbundle pull a there --remote "$url"
try tkbundle push a root -v --remote "$url?cafile=own.pem"
try tkbundle pull a there -v --remote "$url?verify=false"
try tkbundle pull a there -v --remote redis://127.0.0.1:1
unset REQUESTS_CA_BUNDLE
try tkbundle pull a there -v --remote "near?on-error=ignore,$url"
