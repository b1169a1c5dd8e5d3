# SPDX-License-Identifier: Apache-2.0
# Completion of tkbundle for fish; tests/program/completions.sh holds it against
# the program.

# Is the verb one of $argv?
function __tkbundle_verb
	set -l words (commandline -opc)
	test (count $words) -gt 1
	and contains -- $words[2] $argv
end

function __tkbundle_no_verb
	test (count (commandline -opc)) -eq 1
end

# Bundles, and folders on the way to one.
function __tkbundle_bundles
	set -l word (commandline -ct | string replace -r '^-[^=]*=' '')
	for path in $word*.tkb $word*/
		test -e $path
		and echo $path
	end
end

# The engines that the program has a profile of.
function __tkbundle_engines
	set -l program (command -s tkbundle | string replace -r '/[^/]*$' '')
	set -l settings $HOME/.config
	set -q XDG_CONFIG_HOME
	and set settings $XDG_CONFIG_HOME
	for path in $TKBUNDLE_ENGINES/*.json $settings/tkbundle/engines/*.json \
		$program/../share/tkbundle/engines/*.json
		string replace -r '^.*/(.*)[.]json$' '$1' -- $path
	end
end

# NAME=PATH
function __tkbundle_trees
	set -l word (commandline -ct | string replace -r '^--tree=' '')
	set -l parts (string split -m 1 = -- $word)
	if test (count $parts) -eq 2
		for path in $parts[2]*/
			echo $parts[1]=$path
		end
	end
end

complete -c tkbundle -f
complete -c tkbundle -n __tkbundle_no_verb -s h -l help -d 'explain a verb, or list them all'
complete -c tkbundle -n __tkbundle_no_verb -l version -d 'print the version'
complete -c tkbundle -n __tkbundle_no_verb -a attest -d 'compile again what a ref holds, and sign what is the same'
complete -c tkbundle -n __tkbundle_no_verb -a collect -d 'pack a cache into a bundle'
complete -c tkbundle -n __tkbundle_no_verb -a compile -d 'compile IR, PTX, CUDA C or Triton kernels to entries'
complete -c tkbundle -n __tkbundle_no_verb -a config -d 'show what is configured, and where'
complete -c tkbundle -n __tkbundle_no_verb -a diff -d 'compare two bundles or caches'
complete -c tkbundle -n __tkbundle_no_verb -a doctor -d 'say whether a start here will be warm, and if not, why'
complete -c tkbundle -n __tkbundle_no_verb -a emit -d 'put a bundle\'s entries where compilers find them'
complete -c tkbundle -n __tkbundle_no_verb -a export -d 'make an archive for other tools from a bundle'
complete -c tkbundle -n __tkbundle_no_verb -a fleet -d 'show how warm the starts of a fleet were, and why not'
complete -c tkbundle -n __tkbundle_no_verb -a gc -d 'remove unused entries from a cache or a remote'
complete -c tkbundle -n __tkbundle_no_verb -a help -d 'explain a verb, or list them all'
complete -c tkbundle -n __tkbundle_no_verb -a import -d 'make a bundle from the archive of another tool'
complete -c tkbundle -n __tkbundle_no_verb -a key -d 'make a key that signs, or look at one'
complete -c tkbundle -n __tkbundle_no_verb -a launcher -d 'write C that starts a kernel'
complete -c tkbundle -n __tkbundle_no_verb -a ls -d 'list the entries of a bundle, a cache or a ref'
complete -c tkbundle -n __tkbundle_no_verb -a merge -d 'combine several bundles into one'
complete -c tkbundle -n __tkbundle_no_verb -a promote -d 'give what a ref holds another name, and sign it for that name'
complete -c tkbundle -n __tkbundle_no_verb -a pull -d 'fetch missing entries from a remote'
complete -c tkbundle -n __tkbundle_no_verb -a push -d 'share a cache\'s entries through a remote'
complete -c tkbundle -n __tkbundle_no_verb -a refs -d 'list the refs of a remote, or delete one'
complete -c tkbundle -n __tkbundle_no_verb -a relocate -d 'make a moved cache work at its new path'
complete -c tkbundle -n __tkbundle_no_verb -a report -d 'write a page that shows what fills a cache, bundle or ref'
complete -c tkbundle -n __tkbundle_no_verb -a revoke -d 'say that a bundle or a key is not to be used any more'
complete -c tkbundle -n __tkbundle_no_verb -a run -d 'run a command with a warm cache and share what it compiles'
complete -c tkbundle -n __tkbundle_no_verb -a show -d 'show one entry, or one of its files'
complete -c tkbundle -n __tkbundle_no_verb -a sign -d 'sign what a ref holds'
complete -c tkbundle -n __tkbundle_no_verb -a stats -d 'show what a bundle or a cache consists of'
complete -c tkbundle -n __tkbundle_no_verb -a verify -d 'check every byte of a bundle, a cache or a remote'
complete -c tkbundle -n __tkbundle_no_verb -a why -d 'say why a kernel has two keys, or was compiled again'

# Operands.
complete -c tkbundle -n '__tkbundle_verb diff doctor emit export launcher ls merge report show stats verify why' -a '(__tkbundle_bundles)'
complete -c tkbundle -n '__tkbundle_verb collect gc pull push relocate' -a '(__fish_complete_directories)'
complete -c tkbundle -n '__tkbundle_verb compile import' -F
complete -c tkbundle -n '__tkbundle_verb key' -a 'new show' -F
complete -c tkbundle -n '__tkbundle_verb run' -a '(__fish_complete_subcommand)'
complete -c tkbundle -n '__tkbundle_verb help' -a 'attest collect compile config diff doctor emit export fleet gc help import key launcher ls merge promote pull push refs relocate report revoke run show sign stats verify why'

# Options that several verbs have.
set -l verbs attest collect compile config diff doctor emit export fleet gc help import key launcher ls merge promote pull push refs relocate report revoke run show sign stats verify why
complete -c tkbundle -n "__tkbundle_verb $verbs --version" -s h -l help -d 'explain this verb'
complete -c tkbundle -n '__tkbundle_verb collect diff emit gc import pull push relocate run stats verify' -l engine -x -a '(__tkbundle_engines)' -d 'all caches of this engine, as vllm or torch'
complete -c tkbundle -n '__tkbundle_verb collect diff doctor emit gc pull push relocate run stats verify' -l tree -x -a '(__tkbundle_trees)' -d 'the folder PATH as well, under this name'
complete -c tkbundle -n '__tkbundle_verb collect emit pull push' -l key -x -d 'only the entry whose key is, or begins with, KEY'
complete -c tkbundle -n '__tkbundle_verb collect emit export import pull push verify' -s j -l jobs -x -d 'use N threads; default one for each core'
complete -c tkbundle -n '__tkbundle_verb attest collect compile config diff doctor emit export fleet gc import key ls merge promote pull push refs relocate revoke show sign stats verify why' -l json -d 'print one JSON document'
complete -c tkbundle -n '__tkbundle_verb collect gc import relocate' -s n -l dry-run -d 'check everything, write nothing'
complete -c tkbundle -n '__tkbundle_verb emit' -s n -l dry-run -d 'inspect the cache, write nothing'
complete -c tkbundle -n '__tkbundle_verb attest doctor fleet promote pull push refs revoke run sign why' -l remote -x -a '(__fish_complete_directories)' -d 'the remote; by default $TKBUNDLE_REMOTE'
complete -c tkbundle -n '__tkbundle_verb gc' -l remote -x -a '(__fish_complete_directories)' -d 'clean up a remote; - means $TKBUNDLE_REMOTE'
complete -c tkbundle -n '__tkbundle_verb attest compile emit export fleet gc import ls promote pull push refs relocate report revoke sign verify why' -l deadline -x -d 'give up after this time, as 500ms or 30s'
complete -c tkbundle -n '__tkbundle_verb fleet gc pull push run' -l metrics -r -F -d 'write metrics for Prometheus to FILE'
complete -c tkbundle -n '__tkbundle_verb collect import merge' -s o -l output -x -a '(__tkbundle_bundles)' -d 'write the bundle to FILE, or to standard output'
complete -c tkbundle -n '__tkbundle_verb collect push' -l device -x -d 'only this GPU\'s entries; sets it for a Triton root'
complete -c tkbundle -n '__tkbundle_verb collect import push' -l profile -x -a 'full lean' -d 'pack every file, or only what a launch needs'
complete -c tkbundle -n '__tkbundle_verb collect import push' -l no-modules -d 'leave shared objects out'
complete -c tkbundle -n '__tkbundle_verb collect push' -l settle -x -d 'leave out units that were changed within this time'
complete -c tkbundle -n '__tkbundle_verb collect' -l strip-locations -d 'remove source file names from IR, PTX and cubins'
complete -c tkbundle -n '__tkbundle_verb emit pull' -l device -x -d 'emit for this GPU, whatever was recorded'
complete -c tkbundle -n '__tkbundle_verb emit pull' -l target -x -a 'cuda cuda:80 cuda:89 cuda:90 cuda:100 cuda:120 hip xpu' -d 'only kernels for this target, as cuda:90'
complete -c tkbundle -n '__tkbundle_verb emit export pull' -l layout -x -a 'auto triton inductor' -d 'one folder of keys, or one for each GPU'
complete -c tkbundle -n '__tkbundle_verb emit pull' -l sync -d 'sync the file system, before and after'

# Options of one verb.
complete -c tkbundle -n '__tkbundle_verb --version' -l verbose -d 'also list the libraries'
complete -c tkbundle -n '__tkbundle_verb collect import' -l strict -d 'write nothing if an entry would be left out'
complete -c tkbundle -n '__tkbundle_verb compile' -l target -x -a 'cuda:75 cuda:80 cuda:86 cuda:89 cuda:90 cuda:100 cuda:120 hip:gfx90a hip:gfx942 hip:gfx950 hip:gfx1100' -d 'compile for these GPUs, as cuda:90'
complete -c tkbundle -n '__tkbundle_verb compile' -l cache -x -a '(__fish_complete_directories)' -d 'write entries here; by default to Triton\'s cache'
complete -c tkbundle -n '__tkbundle_verb attest compile' -s j -l jobs -x -d 'use N workers, not one for each core'
complete -c tkbundle -n '__tkbundle_verb attest compile' -l ptxas -r -F -d 'use this ptxas, not the one that is found'
complete -c tkbundle -n '__tkbundle_verb compile' -l cubin-with -x -a 'ptxas nvjitlink' -d 'the tool that makes cubins from PTX'
complete -c tkbundle -n '__tkbundle_verb compile' -l ptxas-option -x -d 'pass this option to ptxas'
complete -c tkbundle -n '__tkbundle_verb compile' -s I -l include -x -a '(__fish_complete_directories)' -d 'search this folder for headers of CUDA C'
complete -c tkbundle -n '__tkbundle_verb compile' -s D -l define -x -d 'define a macro of CUDA C'
complete -c tkbundle -n '__tkbundle_verb compile' -l libdevice -r -F -d 'link functions that IR calls from this file'
complete -c tkbundle -n '__tkbundle_verb compile' -l optimize -d 'run LLVM\'s O3; Triton has run it on its own IR'
complete -c tkbundle -n '__tkbundle_verb compile' -l name -x -d 'compile this one of several kernels'
complete -c tkbundle -n '__tkbundle_verb compile' -l num-warps -x -d 'launch with N warps'
complete -c tkbundle -n '__tkbundle_verb compile' -l num-stages -x -d 'pipeline loops of a Triton kernel in N stages'
complete -c tkbundle -n '__tkbundle_verb compile' -l metadata -r -F -d 'take launch attributes from Triton\'s JSON in FILE'
complete -c tkbundle -n '__tkbundle_verb compile' -l finalize -d 'optimize IR as a whole module'
complete -c tkbundle -n '__tkbundle_verb compile' -l keep -x -d 'keep this kernel; --finalize drops the others'
complete -c tkbundle -n '__tkbundle_verb compile' -l bind -x -d 'let --finalize make an argument a constant'
complete -c tkbundle -n '__tkbundle_verb compile' -l bind-from -r -F -d 'take such arguments from a JSON object'
complete -c tkbundle -n '__tkbundle_verb compile' -l without -x -d 'skip this step of --finalize'
complete -c tkbundle -n '__tkbundle_verb compile' -l quant -x -a 'dynamic static weight-only' -d 'use the rules of this scheme; refuse other kernels'
complete -c tkbundle -n '__tkbundle_verb compile' -l fast -d 'let --finalize use rules that change rounding'
complete -c tkbundle -n '__tkbundle_verb compile' -l rules -r -F -d 'add these rules to --finalize'
complete -c tkbundle -n '__tkbundle_verb compile' -l signature -x -d 'parameters of a Triton kernel, as \'*fp32:16, i32, 64\''
complete -c tkbundle -n '__tkbundle_verb compile' -l python -r -F -d 'a Python that has Triton; each of several compiles all'
complete -c tkbundle -n '__tkbundle_verb compile' -l keep-going -d 'compile the rest after a failure'
complete -c tkbundle -n '__tkbundle_verb compile' -l strict -d 'fail if no launch uses a compiled Triton kernel'
complete -c tkbundle -n '__tkbundle_verb compile' -l winners -d 'compile only what Inductor\'s tuning chose'
complete -c tkbundle -n '__tkbundle_verb compile' -l emit -x -a 'ttir ttgir llir ptx cubin sass amdgcn hsaco' -d 'write this of one kernel, and make no entry'
complete -c tkbundle -n '__tkbundle_verb compile' -s o -l output -r -F -d 'where --emit writes'
complete -c tkbundle -n '__tkbundle_verb compile' -l print-after-all -d 'show the IR after each pass'
complete -c tkbundle -n '__tkbundle_verb compile' -l log -r -F -d 'write each source to FILE before it is compiled'
complete -c tkbundle -n '__tkbundle_verb compile' -s v -l verbose -d 'report each kernel and the output of the tools'
complete -c tkbundle -n '__tkbundle_verb gc' -l max-size -x -d 'bytes that entries may take, as 500M or 20Gi'
complete -c tkbundle -n '__tkbundle_verb gc' -l max-entries -x -d 'number of entries that may stay'
complete -c tkbundle -n '__tkbundle_verb gc' -l max-age -x -d 'remove entries unused for this time, as 30d or 12h'
complete -c tkbundle -n '__tkbundle_verb ls' -l remote -x -a '(__fish_complete_directories)' -d 'list a ref of this remote; - means $TKBUNDLE_REMOTE'
complete -c tkbundle -n '__tkbundle_verb report' -l remote -x -a '(__fish_complete_directories)' -d 'report on a ref of this remote; - means $TKBUNDLE_REMOTE'
complete -c tkbundle -n '__tkbundle_verb report' -s o -l output -r -F -d 'write the page to FILE, or to standard output'
complete -c tkbundle -n '__tkbundle_verb verify' -l remote -x -a '(__fish_complete_directories)' -d 'check a remote, or REF of it; - means $TKBUNDLE_REMOTE'
complete -c tkbundle -n '__tkbundle_verb why' -l last -d 'why the last run here compiled what it compiled'
complete -c tkbundle -n '__tkbundle_verb push' -l label -x -d 'store this with what is pushed, as commit=4f2a'
complete -c tkbundle -n '__tkbundle_verb push' -l again -x -d 'push this unit, which was made again, for the ref\'s one'
complete -c tkbundle -n '__tkbundle_verb refs' -s l -l long -d 'list the pushes that had labels, and who has signed'
complete -c tkbundle -n '__tkbundle_verb verify' -l repair -d 'drop damaged records and blobs of the remote'
complete -c tkbundle -n '__tkbundle_verb export' -l format -x -a 'tar.gz tar.zst zip' -d 'the archive\'s format; by default from its name'
complete -c tkbundle -n '__tkbundle_verb export' -s o -l output -r -F -d 'write the archive to FILE, or to standard output'
complete -c tkbundle -n '__tkbundle_verb export' -l root -x -a '(__fish_complete_directories)' -d 'where it will be unpacked; by default, where emit puts it'
complete -c tkbundle -n '__tkbundle_verb export' -s v -l verbose -d 'say which parts of the sandbox are not supported'
complete -c tkbundle -n '__tkbundle_verb import' -l tree -x -d 'the folder PATH of the archive, under this name'
complete -c tkbundle -n '__tkbundle_verb import' -s v -l verbose -d 'say which caches were found, and which links left out'
complete -c tkbundle -n '__tkbundle_verb gc import promote pull push refs revoke run verify' -l trust -r -F -d 'the policy that says whose signatures count'
complete -c tkbundle -n '__tkbundle_verb push' -l sign -r -F -d 'sign what is pushed with the private key in KEY_FILE'
complete -c tkbundle -n '__tkbundle_verb gc' -l sign -r -F -d 'merge bundles that only this key has signed'
complete -c tkbundle -n '__tkbundle_verb attest' -l sign -r -F -d 'sign what came out the same with the key in KEY_FILE'
complete -c tkbundle -n '__tkbundle_verb attest' -l python -r -F -d 'the Python whose Triton compiles'
complete -c tkbundle -n '__tkbundle_verb attest' -s n -l dry-run -d 'compile and compare, sign nothing'
complete -c tkbundle -n '__tkbundle_verb attest gc promote push revoke sign' -l expires -x -d 'when the signature expires; default after 90d'
complete -c tkbundle -n '__tkbundle_verb promote' -l to -x -d 'promote to this ref'
complete -c tkbundle -n '__tkbundle_verb promote revoke' -l sign -r -F -d 'sign with the private key in KEY_FILE'
complete -c tkbundle -n '__tkbundle_verb promote' -s n -l dry-run -d 'report what would be promoted, change nothing'
complete -c tkbundle -n '__tkbundle_verb gc' -l revoked -d 'remove entries that came from something revoked'
complete -c tkbundle -n '__tkbundle_verb revoke' -l ref -x -d 'revoke what this ref holds now, too'
complete -c tkbundle -n '__tkbundle_verb sign' -l key -r -F -d 'sign with the private key in KEY_FILE'
complete -c tkbundle -n '__tkbundle_verb attest sign' -l stage -x -a 'dev prod' -d 'sign for this stage; default dev'
complete -c tkbundle -n '__tkbundle_verb sign' -l export -x -a '(__fish_complete_directories)' -d 'write this key\'s signatures as Sigstore bundles'
complete -c tkbundle -n '__tkbundle_verb sign' -l import -r -F -d 'add this key\'s signature in a Sigstore bundle'
complete -c tkbundle -n '__tkbundle_verb sign' -l all -d 'also sign again what this key has signed'
complete -c tkbundle -n '__tkbundle_verb sign' -s n -l dry-run -d 'report what would be signed, sign nothing'
complete -c tkbundle -n '__tkbundle_verb key' -l kind -x -a 'ed25519 p256' -d 'make a key of this kind; by default ed25519'
complete -c tkbundle -n '__tkbundle_verb key' -l encrypt -d 'encrypt it, and ask for a passphrase'
complete -c tkbundle -n '__tkbundle_verb attest gc key promote push revoke sign' -l passphrase-file -r -F -d 'the first line of FILE is the key\'s passphrase'
complete -c tkbundle -n '__tkbundle_verb attest gc key promote push revoke sign' -l passphrase-command -x -d 'the first line that COMMAND prints is the passphrase'
complete -c tkbundle -n '__tkbundle_verb key' -l public -d 'print the public key, as PEM'
complete -c tkbundle -n '__tkbundle_verb launcher' -l signature -x -d 'the kernel\'s parameters, as \'*fp32:16, i32, 1024\''
complete -c tkbundle -n '__tkbundle_verb launcher' -l num-warps -x -d 'fail unless the entry has W warps'
complete -c tkbundle -n '__tkbundle_verb launcher' -l num-stages -x -d 'fail unless the entry has S stages'
complete -c tkbundle -n '__tkbundle_verb launcher' -l grid -x -d 'its size: arguments, numbers, + - * / % and ()'
complete -c tkbundle -n '__tkbundle_verb launcher' -l out-name -x -d 'name of the function; by default the kernel\'s'
complete -c tkbundle -n '__tkbundle_verb launcher' -l link -d 'write a function that picks one of these launchers'
complete -c tkbundle -n '__tkbundle_verb launcher' -s o -l output -r -F -d 'name of the files, without their suffixes'
complete -c tkbundle -n '__tkbundle_verb ls' -s l -l long -d 'show each kernel\'s warps, stages and signature'
complete -c tkbundle -n '__tkbundle_verb ls' -l files -d 'list each entry\'s files'
complete -c tkbundle -n '__tkbundle_verb pull' -s n -l dry-run -d 'report what is missing, fetch nothing'
complete -c tkbundle -n '__tkbundle_verb pull' -s o -l output -x -a '(__tkbundle_bundles)' -d 'write the whole ref as a bundle, emit nothing'
complete -c tkbundle -n '__tkbundle_verb pull' -l best-effort -d 'exit with 0 even if something fails'
complete -c tkbundle -n '__tkbundle_verb push' -s n -l dry-run -d 'report what the ref lacks, push nothing'
complete -c tkbundle -n '__tkbundle_verb push' -l bundle -x -a '(__tkbundle_bundles)' -d 'push this bundle as it is, not a cache'
complete -c tkbundle -n '__tkbundle_verb push' -l layout -x -a 'tkb triton' -d 'bundles, or values for Triton\'s Redis backend'
complete -c tkbundle -n '__tkbundle_verb push' -l as -x -a 'bundle image' -d 'into the ref, or as an image that can be mounted'
complete -c tkbundle -n '__tkbundle_verb push' -l mount -x -a '(__fish_complete_directories)' -d 'where the image will be mounted'
complete -c tkbundle -n '__tkbundle_verb push' -l format -x -a 'tar.gz tar.zst' -d 'the format of the image\'s layer; default tar.gz'
complete -c tkbundle -n '__tkbundle_verb push' -l no-compaction -d 'do not merge small bundles of the ref'
complete -c tkbundle -n '__tkbundle_verb push' -l strict -d 'push nothing if an entry would be left out'
complete -c tkbundle -n '__tkbundle_verb refs' -l delete -x -d 'drop all records of this ref'
complete -c tkbundle -n '__tkbundle_verb run' -l ref -x -d 'share kernels under this name'
complete -c tkbundle -n '__tkbundle_verb run' -l cache -x -a '(__fish_complete_directories)' -d 'the cache; by default the one that emit uses'
complete -c tkbundle -n '__tkbundle_verb run' -l wait -x -d 'start the command no later than this; default 2s'
complete -c tkbundle -n '__tkbundle_verb promote revoke run sign' -l deadline -x -d 'end a pull or push after this time; default 30s'
complete -c tkbundle -n '__tkbundle_verb run' -l push -x -a 'always on-exit never' -d 'when to push new kernels; default always'
complete -c tkbundle -n '__tkbundle_verb run' -l ready-url -x -d 'push when this answers: http://127.0.0.1:8000/health'
complete -c tkbundle -n '__tkbundle_verb run' -l ready-file -r -F -d 'push when this file appears, or is written again'
complete -c tkbundle -n '__tkbundle_verb run' -l quiet -x -d 'push new entries within this time; default 5s'
complete -c tkbundle -n '__tkbundle_verb run' -l require-warm -d 'exit with 4 if the command compiled something'
complete -c tkbundle -n '__tkbundle_verb run' -l node -x -d 'the name of this machine in reports of starts'
complete -c tkbundle -n '__tkbundle_verb run' -l kill-child -d 'kill the command if tkbundle is killed'
complete -c tkbundle -n '__tkbundle_verb run' -l refresh -x -d 'update the metrics this often; default 30s'
complete -c tkbundle -n '__tkbundle_verb config' -l get -x -a 'remote ref timeout connect-timeout stall-timeout deadline wait push quiet ready-url ready-file engine-ref trust' -d 'print only this value, including its secrets'
complete -c tkbundle -n '__tkbundle_verb doctor' -l engine -x -a '(__tkbundle_engines)' -d 'check all caches of this engine, as vllm or torch'
complete -c tkbundle -n '__tkbundle_verb doctor' -l deep -d 'read all of the cache, and import the engine'
complete -c tkbundle -n '__tkbundle_verb doctor' -l ref -x -d 'check this ref of the remote; by default the configured'
complete -c tkbundle -n '__tkbundle_verb doctor' -l wait -x -d 'give up on the remote after this time; default 2s'
complete -c tkbundle -n '__tkbundle_verb config' -l engine -x -a '(__tkbundle_engines)' -d 'show the profile of this engine, too, as vllm or torch'
complete -c tkbundle -n '__tkbundle_verb collect' -s v -l verbose -d 'say which version of an engine is installed'
complete -c tkbundle -n '__tkbundle_verb push' -s v -l verbose -d 'say which engine and which certificates are used'
complete -c tkbundle -n '__tkbundle_verb pull' -s v -l verbose -d 'say which certificates TLS trusts, and who has signed'
complete -c tkbundle -n '__tkbundle_verb run' -s v -l verbose -d 'say which engine it is, and which variables are set'
complete -c tkbundle -n '__tkbundle_verb run' -l json -d 'print JSON documents, not lines, to standard error'
complete -c tkbundle -n '__tkbundle_verb show' -l file -x -d 'print this file as it is'
complete -c tkbundle -n '__tkbundle_verb show' -l stage -x -a 'ptx llir ttir ttgir glir source cubin sass amdgcn hsaco' -d 'print the result of this step of the compile'
complete -c tkbundle -n '__tkbundle_verb stats' -l paths -d 'count the absolute paths in the files'
complete -c tkbundle -n '__tkbundle_verb stats' -l used -d 'show what was read after it was emitted'
