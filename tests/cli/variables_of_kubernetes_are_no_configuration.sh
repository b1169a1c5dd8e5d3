# SPDX-License-Identifier: Apache-2.0
# What the kubelet sets for Services tkbundle, tkbundle-remote, tkbundle-ref.
for name in TKBUNDLE TKBUNDLE_REMOTE TKBUNDLE_REF TKBUNDLE_A_B; do
	export "${name}_SERVICE_HOST=10.0.0.1"
	export "${name}_SERVICE_PORT=6379"
	export "${name}_SERVICE_PORT_REDIS=6379"
	export "${name}_PORT=tcp://10.0.0.1:6379"
	for protocol in TCP UDP SCTP; do
		export "${name}_PORT_6379_$protocol=tcp://10.0.0.1:6379"
		export "${name}_PORT_6379_${protocol}_PROTO=tcp"
		export "${name}_PORT_6379_${protocol}_PORT=6379"
		export "${name}_PORT_6379_${protocol}_ADDR=10.0.0.1"
	done
done
env | grep -c ^TKBUNDLE_
try tkbundle config
try tkbundle pull a
try tkbundle pull --remote remote
# These it does not set.
export TKBUNDLE_REMOTES=a TKBUNDLE_=b TKBUNDLE_PORTS=c TKBUNDLE_PORT_X_TCP=d
export TKBUNDLE_PORT_1_TCP_X=e TKBUNDLE_SERVICE=f TKBUNDLE_SERVICE_PORT_=g
export TKBUNDLE_PORT__TCP=h TKBUNDLEPORT=i TKBUNDLE_MYPORT=j TKBUNDLE_PORT_1=k
export LIBTKBUNDLE_REMOTES=l
try_line 'tkbundle config 2>&1 | grep unknown | sort'
try_line 'tkbundle config --json 2>words | json | grep -A99 unknown | tr -d , | sort'
