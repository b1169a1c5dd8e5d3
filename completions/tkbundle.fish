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

complete -c tkbundle -f
complete -c tkbundle -n __tkbundle_no_verb -s h -l help -d 'explain a verb, or list them all'
complete -c tkbundle -n __tkbundle_no_verb -l version -d 'print which version this is'
complete -c tkbundle -n __tkbundle_no_verb -a collect -d 'pack a cache into a bundle'
complete -c tkbundle -n __tkbundle_no_verb -a compile -d 'make entries of IR, PTX, CUDA C or Triton kernels'
complete -c tkbundle -n __tkbundle_no_verb -a config -d 'show what is configured, and where'
complete -c tkbundle -n __tkbundle_no_verb -a diff -d 'tell two bundles or caches apart'
complete -c tkbundle -n __tkbundle_no_verb -a emit -d 'put a bundle\'s entries where a compiler finds them'
complete -c tkbundle -n __tkbundle_no_verb -a gc -d 'remove what of a cache or a remote is not used'
complete -c tkbundle -n __tkbundle_no_verb -a help -d 'explain a verb, or list them all'
complete -c tkbundle -n __tkbundle_no_verb -a launcher -d 'write C that starts a kernel'
complete -c tkbundle -n __tkbundle_no_verb -a ls -d 'list the entries of a bundle or a cache'
complete -c tkbundle -n __tkbundle_no_verb -a merge -d 'make one bundle of several'
complete -c tkbundle -n __tkbundle_no_verb -a pull -d 'fetch what is missing here from a remote'
complete -c tkbundle -n __tkbundle_no_verb -a push -d 'share a cache\'s entries through a remote'
complete -c tkbundle -n __tkbundle_no_verb -a refs -d 'list the refs of a remote, or delete one'
complete -c tkbundle -n __tkbundle_no_verb -a relocate -d 'let a cache that was moved work where it is'
complete -c tkbundle -n __tkbundle_no_verb -a run -d 'run a command that starts warm, and share what it compiles'
complete -c tkbundle -n __tkbundle_no_verb -a show -d 'look at one entry, or at one of its files'
complete -c tkbundle -n __tkbundle_no_verb -a stats -d 'say what fills a bundle or a cache'
complete -c tkbundle -n __tkbundle_no_verb -a verify -d 'check every byte of a bundle, a cache or a remote'

# Operands.
complete -c tkbundle -n '__tkbundle_verb diff emit launcher ls merge show stats verify' -a '(__tkbundle_bundles)'
complete -c tkbundle -n '__tkbundle_verb collect gc pull push relocate' -a '(__fish_complete_directories)'
complete -c tkbundle -n '__tkbundle_verb compile' -F
complete -c tkbundle -n '__tkbundle_verb run' -a '(__fish_complete_subcommand)'
complete -c tkbundle -n '__tkbundle_verb help' -a 'collect compile config diff emit gc help launcher ls merge pull push refs relocate run show stats verify'

# Options that several verbs have.
set -l verbs collect compile config diff emit gc help launcher ls merge pull push refs relocate run show stats verify
complete -c tkbundle -n "__tkbundle_verb $verbs --version" -s h -l help -d 'explain this verb'
complete -c tkbundle -n '__tkbundle_verb collect emit pull push' -l key -x -d 'only this key, or the one that begins so'
complete -c tkbundle -n '__tkbundle_verb collect emit pull push verify' -s j -l jobs -x -d 'use N threads, not one for each core'
complete -c tkbundle -n '__tkbundle_verb collect compile config diff emit gc ls merge pull push refs relocate show stats verify' -l json -d 'print one JSON document'
complete -c tkbundle -n '__tkbundle_verb collect gc relocate' -s n -l dry-run -d 'check everything, write nothing'
complete -c tkbundle -n '__tkbundle_verb emit' -s n -l dry-run -d 'look what is there, write nothing'
complete -c tkbundle -n '__tkbundle_verb pull push refs run' -l remote -x -a '(__fish_complete_directories)' -d 'the remote; by default $TKBUNDLE_REMOTE'
complete -c tkbundle -n '__tkbundle_verb gc' -l remote -x -a '(__fish_complete_directories)' -d 'clean up a remote; - means $TKBUNDLE_REMOTE'
complete -c tkbundle -n '__tkbundle_verb compile emit gc pull push refs relocate verify' -l deadline -x -d 'give up after so long, as 500ms or 30s'
complete -c tkbundle -n '__tkbundle_verb gc pull push run' -l metrics -r -F -d 'write figures for Prometheus to FILE'
complete -c tkbundle -n '__tkbundle_verb collect merge' -s o -l output -x -a '(__tkbundle_bundles)' -d 'write the bundle to FILE, or to standard output'
complete -c tkbundle -n '__tkbundle_verb collect push' -l device -x -d 'only this GPU\'s entries; names it in a Triton root'
complete -c tkbundle -n '__tkbundle_verb collect push' -l profile -x -a 'full lean' -d 'pack every file, or what a launch needs'
complete -c tkbundle -n '__tkbundle_verb collect push' -l no-modules -d 'leave shared objects out'
complete -c tkbundle -n '__tkbundle_verb collect' -l strip-locations -d 'name no source file in IR, PTX and cubins'
complete -c tkbundle -n '__tkbundle_verb emit pull' -l device -x -d 'emit for this GPU, whatever was recorded'
complete -c tkbundle -n '__tkbundle_verb emit pull' -l target -x -a 'cuda cuda:80 cuda:89 cuda:90 cuda:100 cuda:120 hip xpu' -d 'only kernels for this target, as cuda:90'
complete -c tkbundle -n '__tkbundle_verb emit pull' -l layout -x -a 'auto triton inductor' -d 'a folder of keys, or such a one for each GPU'
complete -c tkbundle -n '__tkbundle_verb emit pull' -l sync -d 'sync the file system, before and after'

# Options of one verb.
complete -c tkbundle -n '__tkbundle_verb --version' -l verbose -d 'list the libraries as well'
complete -c tkbundle -n '__tkbundle_verb collect' -l strict -d 'write nothing if an entry would be left out'
complete -c tkbundle -n '__tkbundle_verb compile' -l target -x -a 'cuda:75 cuda:80 cuda:86 cuda:89 cuda:90 cuda:100 cuda:120' -d 'compile for these GPUs, as cuda:90'
complete -c tkbundle -n '__tkbundle_verb compile' -l cache -x -a '(__fish_complete_directories)' -d 'where entries go; by default Triton\'s own cache'
complete -c tkbundle -n '__tkbundle_verb compile' -s j -l jobs -x -d 'use N workers, not one for each core'
complete -c tkbundle -n '__tkbundle_verb compile' -l ptxas -r -F -d 'use this ptxas, not the one that is found'
complete -c tkbundle -n '__tkbundle_verb compile' -l cubin-with -x -a 'ptxas nvjitlink' -d 'what makes cubins of PTX'
complete -c tkbundle -n '__tkbundle_verb compile' -l ptxas-option -x -d 'give ptxas this option, too'
complete -c tkbundle -n '__tkbundle_verb compile' -s I -l include -x -a '(__fish_complete_directories)' -d 'look here for what CUDA C includes'
complete -c tkbundle -n '__tkbundle_verb compile' -s D -l define -x -d 'define a macro of CUDA C'
complete -c tkbundle -n '__tkbundle_verb compile' -l libdevice -r -F -d 'link what IR calls from this library'
complete -c tkbundle -n '__tkbundle_verb compile' -l optimize -d 'run LLVM\'s O3 over IR, which Triton\'s has had'
complete -c tkbundle -n '__tkbundle_verb compile' -l name -x -d 'compile this one of several kernels'
complete -c tkbundle -n '__tkbundle_verb compile' -l num-warps -x -d 'launch with N warps'
complete -c tkbundle -n '__tkbundle_verb compile' -l num-stages -x -d 'pipeline loops of a Triton kernel in N stages'
complete -c tkbundle -n '__tkbundle_verb compile' -l metadata -r -F -d 'take launch attributes from Triton\'s JSON in FILE'
complete -c tkbundle -n '__tkbundle_verb compile' -l finalize -d 'use what is known of a whole module of IR'
complete -c tkbundle -n '__tkbundle_verb compile' -l without -x -d 'leave out this step of --finalize'
complete -c tkbundle -n '__tkbundle_verb compile' -l fast -d 'let --finalize use rules that change rounding'
complete -c tkbundle -n '__tkbundle_verb compile' -l rules -r -F -d 'let --finalize use these rules, too'
complete -c tkbundle -n '__tkbundle_verb compile' -l signature -x -d 'parameters of a Triton kernel, as \'*fp32:16, i32, 64\''
complete -c tkbundle -n '__tkbundle_verb compile' -l python -r -F -d 'the Python that has Triton'
complete -c tkbundle -n '__tkbundle_verb compile' -l keep-going -d 'after a failure, compile the rest'
complete -c tkbundle -n '__tkbundle_verb compile' -l emit -x -a 'ptx cubin llir' -d 'write this of one kernel, and make no entry'
complete -c tkbundle -n '__tkbundle_verb compile' -s o -l output -r -F -d 'where --emit writes'
complete -c tkbundle -n '__tkbundle_verb compile' -l print-after-all -d 'show the IR after each pass'
complete -c tkbundle -n '__tkbundle_verb compile' -l log -r -F -d 'write each source to FILE before it is compiled'
complete -c tkbundle -n '__tkbundle_verb compile' -s v -l verbose -d 'tell of each kernel, and what the tools say'
complete -c tkbundle -n '__tkbundle_verb gc' -l max-size -x -d 'until entries take no more, as 500M or 20Gi'
complete -c tkbundle -n '__tkbundle_verb gc' -l max-entries -x -d 'until there are no more'
complete -c tkbundle -n '__tkbundle_verb gc' -l max-age -x -d 'what was not used for so long, as 30d or 12h'
complete -c tkbundle -n '__tkbundle_verb verify' -l remote -x -a '(__fish_complete_directories)' -d 'check a remote, or REF of it; - means $TKBUNDLE_REMOTE'
complete -c tkbundle -n '__tkbundle_verb verify' -l repair -d 'drop what of the remote is damaged'
complete -c tkbundle -n '__tkbundle_verb launcher' -l signature -x -d 'what the kernel takes, as in \'*fp32:16, i32, 1024\''
complete -c tkbundle -n '__tkbundle_verb launcher' -l num-warps -x -d 'insist on it; by default what the entry says'
complete -c tkbundle -n '__tkbundle_verb launcher' -l num-stages -x -d likewise
complete -c tkbundle -n '__tkbundle_verb launcher' -l grid -x -d 'its size, of arguments, numbers, + - * / % and ()'
complete -c tkbundle -n '__tkbundle_verb launcher' -l out-name -x -d 'what the function is called, not as the kernel'
complete -c tkbundle -n '__tkbundle_verb launcher' -l link -d 'put the launchers of HEADERs under one function'
complete -c tkbundle -n '__tkbundle_verb launcher' -s o -l output -r -F -d 'what the files are called, with ends of their own'
complete -c tkbundle -n '__tkbundle_verb ls' -s l -l long -d 'tell each kernel\'s warps, stages and signature'
complete -c tkbundle -n '__tkbundle_verb ls' -l files -d 'list each entry\'s files'
complete -c tkbundle -n '__tkbundle_verb pull' -s n -l dry-run -d 'look what is missing, fetch nothing'
complete -c tkbundle -n '__tkbundle_verb pull' -s o -l output -x -a '(__tkbundle_bundles)' -d 'write all of the ref as a bundle, emit nothing'
complete -c tkbundle -n '__tkbundle_verb pull' -l best-effort -d 'exit with 0 whatever fails, and say what did'
complete -c tkbundle -n '__tkbundle_verb push' -s n -l dry-run -d 'look what the ref lacks, push nothing'
complete -c tkbundle -n '__tkbundle_verb push' -l bundle -x -a '(__tkbundle_bundles)' -d 'push this bundle as it is, not a cache'
complete -c tkbundle -n '__tkbundle_verb push' -l layout -x -a 'tkb triton' -d 'bundles, or what Triton\'s Redis backend reads'
complete -c tkbundle -n '__tkbundle_verb push' -l no-compaction -d 'leave a ref of many small bundles as it is'
complete -c tkbundle -n '__tkbundle_verb push' -l strict -d 'push nothing if an entry would be left out'
complete -c tkbundle -n '__tkbundle_verb refs' -l delete -x -d 'drop all records of this ref'
complete -c tkbundle -n '__tkbundle_verb run' -l ref -x -d 'the name that the kernels are shared under'
complete -c tkbundle -n '__tkbundle_verb run' -l cache -x -a '(__fish_complete_directories)' -d 'the cache; by default the one that emit takes'
complete -c tkbundle -n '__tkbundle_verb run' -l wait -x -d 'start the command after so long at most, by default 2s'
complete -c tkbundle -n '__tkbundle_verb run' -l deadline -x -d 'end a pull or push after so long, by default 30s'
complete -c tkbundle -n '__tkbundle_verb run' -l push -x -a 'always on-exit never' -d 'when to push what was compiled, by default always'
complete -c tkbundle -n '__tkbundle_verb run' -l kill-child -d 'end the command, too, if tkbundle is killed'
complete -c tkbundle -n '__tkbundle_verb run' -l refresh -x -d 'write the figures anew after so long, by default 30s'
complete -c tkbundle -n '__tkbundle_verb run' -l json -d 'print JSON documents to standard error, not lines'
complete -c tkbundle -n '__tkbundle_verb show' -l file -x -d 'write this file, as it is'
complete -c tkbundle -n '__tkbundle_verb show' -l stage -x -a 'ptx llir ttir ttgir source cubin sass' -d 'write what this step of the compile made'
complete -c tkbundle -n '__tkbundle_verb stats' -l paths -d 'count the absolute paths in the files'
complete -c tkbundle -n '__tkbundle_verb stats' -l used -d 'tell which entries were read since they were emitted'
