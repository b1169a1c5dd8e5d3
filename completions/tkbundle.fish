# SPDX-License-Identifier: Apache-2.0
# Completion of tkbundle for fish. tests/completions.sh holds it against the
# program.

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
complete -c tkbundle -n __tkbundle_no_verb -a config -d 'show what is configured, and where'
complete -c tkbundle -n __tkbundle_no_verb -a diff -d 'tell two bundles or caches apart'
complete -c tkbundle -n __tkbundle_no_verb -a emit -d 'put a bundle\'s entries where a compiler finds them'
complete -c tkbundle -n __tkbundle_no_verb -a gc -d 'remove what of a cache or a remote is not used'
complete -c tkbundle -n __tkbundle_no_verb -a help -d 'explain a verb, or list them all'
complete -c tkbundle -n __tkbundle_no_verb -a ls -d 'list the entries of a bundle or a cache'
complete -c tkbundle -n __tkbundle_no_verb -a merge -d 'make one bundle of several'
complete -c tkbundle -n __tkbundle_no_verb -a pull -d 'fetch what is missing here from a remote'
complete -c tkbundle -n __tkbundle_no_verb -a push -d 'share a cache\'s entries through a remote'
complete -c tkbundle -n __tkbundle_no_verb -a refs -d 'list the refs of a remote, or delete one'
complete -c tkbundle -n __tkbundle_no_verb -a relocate -d 'let a cache that was moved work where it is'
complete -c tkbundle -n __tkbundle_no_verb -a run -d 'run a command that starts warm, and share what it compiles'
complete -c tkbundle -n __tkbundle_no_verb -a show -d 'look at one entry, or at one of its files'
complete -c tkbundle -n __tkbundle_no_verb -a stats -d 'say what fills a bundle or a cache'
complete -c tkbundle -n __tkbundle_no_verb -a verify -d 'check every byte of a bundle or a cache'

# Operands.
complete -c tkbundle -n '__tkbundle_verb diff emit ls merge show stats verify' -a '(__tkbundle_bundles)'
complete -c tkbundle -n '__tkbundle_verb collect gc pull push relocate' -a '(__fish_complete_directories)'
complete -c tkbundle -n '__tkbundle_verb run' -a '(__fish_complete_subcommand)'
complete -c tkbundle -n '__tkbundle_verb help' -a 'collect config diff emit gc help ls merge pull push refs relocate run show stats verify'

# Options that several verbs have.
set -l verbs collect config diff emit gc help ls merge pull push refs relocate run show stats verify
complete -c tkbundle -n "__tkbundle_verb $verbs --version" -s h -l help -d 'explain this verb'
complete -c tkbundle -n '__tkbundle_verb collect emit pull push' -l key -x -d 'only this key, or the one that begins so'
complete -c tkbundle -n '__tkbundle_verb collect emit pull push verify' -s j -l jobs -x -d 'use N threads, not one for each core'
complete -c tkbundle -n '__tkbundle_verb collect config diff emit gc ls merge pull push refs relocate stats verify' -l json -d 'print one JSON document'
complete -c tkbundle -n '__tkbundle_verb collect gc relocate' -s n -l dry-run -d 'check everything, write nothing'
complete -c tkbundle -n '__tkbundle_verb emit' -s n -l dry-run -d 'look what is there, write nothing'
complete -c tkbundle -n '__tkbundle_verb pull push refs run' -l remote -x -a '(__fish_complete_directories)' -d 'the remote; by default $TKBUNDLE_REMOTE'
complete -c tkbundle -n '__tkbundle_verb gc' -l remote -x -a '(__fish_complete_directories)' -d 'clean up a remote; - means $TKBUNDLE_REMOTE'
complete -c tkbundle -n '__tkbundle_verb gc pull push refs' -l deadline -x -d 'give up after so long, as 500ms or 30s'
complete -c tkbundle -n '__tkbundle_verb gc pull push run' -l metrics -r -F -d 'write figures for Prometheus to FILE'
complete -c tkbundle -n '__tkbundle_verb collect merge' -s o -l output -x -a '(__tkbundle_bundles)' -d 'write the bundle to FILE, or to standard output'
complete -c tkbundle -n '__tkbundle_verb collect push' -l device -x -d 'only this GPU\'s entries; names it in a Triton root'
complete -c tkbundle -n '__tkbundle_verb collect push' -l profile -x -a 'full lean' -d 'pack every file, or what a launch needs'
complete -c tkbundle -n '__tkbundle_verb collect push' -l no-modules -d 'leave shared objects out'
complete -c tkbundle -n '__tkbundle_verb emit pull' -l device -x -d 'emit for this GPU, whatever was recorded'
complete -c tkbundle -n '__tkbundle_verb emit pull' -l target -x -a 'cuda cuda:80 cuda:89 cuda:90 cuda:100 cuda:120 hip xpu' -d 'only kernels for this target, as cuda:90'
complete -c tkbundle -n '__tkbundle_verb emit pull' -l layout -x -a 'auto triton inductor' -d 'a folder of keys, or such a one for each GPU'
complete -c tkbundle -n '__tkbundle_verb emit pull' -l sync -d 'sync the file system, before and after'

# Options of one verb.
complete -c tkbundle -n '__tkbundle_verb --version' -l verbose -d 'list the libraries as well'
complete -c tkbundle -n '__tkbundle_verb collect' -l strict -d 'write nothing if an entry would be left out'
complete -c tkbundle -n '__tkbundle_verb gc' -l max-size -x -d 'until entries take no more, as 500M or 20Gi'
complete -c tkbundle -n '__tkbundle_verb gc' -l max-entries -x -d 'until there are no more'
complete -c tkbundle -n '__tkbundle_verb gc' -l max-age -x -d 'what was not used for so long, as 30d or 12h'
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
complete -c tkbundle -n '__tkbundle_verb show' -l file -x -d 'write this file, as it is'
complete -c tkbundle -n '__tkbundle_verb show' -l stage -x -a 'ptx llir ttir ttgir source cubin sass' -d 'write what this step of the compile made'
complete -c tkbundle -n '__tkbundle_verb stats' -l paths -d 'count the absolute paths in the files'
complete -c tkbundle -n '__tkbundle_verb stats' -l used -d 'tell which entries were read since they were emitted'
