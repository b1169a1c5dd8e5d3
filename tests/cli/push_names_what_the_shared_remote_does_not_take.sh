# SPDX-License-Identifier: Apache-2.0
cache cache
shared='redis://127.0.0.1:1?on-error=ignore&retries=0'
# sizes are zstd's
sizes() {
	sed 's/([0-9.]* kB)/($SIZE)/'
}
try tkbundle push a cache --remote "near,$shared" --key 5DJU | sizes
try tkbundle pull a warm --remote near | sizes
