#!/bin/sh
# TARGET group=launch kind=cases
# Makes targets that are hard or impossible to execute, in $1 (a fresh directory), and prints one
# JSON line for each: what a launcher must exit with. 127 is not found, 126 found but not runnable,
# anything else the program's own code; the message must name the file and the cause, and no summary
# may be written as if the run had worked. Text without a #! line is run by sh, as shells and
# execvp(3) do.
# TRUTH: {"exit":0, "stalls":[]}
if [ -n "$1" ]; then
  dir=$1
else # without an argument: only a self-test
  dir=$(mktemp -d /tmp/target_launchXXXXXX)
  trap 'cd /; rm -rf "$dir"' EXIT
fi
cd "$dir" || exit 1

case_line() { # argv0 exit why
  printf '{"ev":"launch_case","argv0":"%s","exit":%s,"why":"%s"}\n' "$1" "$2" "$3"
}

case_line "$dir/does_not_exist" 127 ENOENT

printf 'echo hi\n' >noexec
case_line "$dir/noexec" 126 EACCES

mkdir adir
case_line "$dir/adir" 126 EACCES-directory

printf '#!/no/such/interp\n' >badinterp
chmod +x badinterp
case_line "$dir/badinterp" 127 ENOENT-interpreter

printf 'echo no shebang; exit 3\n' >noshebang
chmod +x noshebang
case_line "$dir/noshebang" 3 "ENOEXEC: run by sh"

: >empty
chmod +x empty
case_line "$dir/empty" 0 "ENOEXEC: run by sh"

head -c 100 /bin/ls >truncated
chmod +x truncated
case_line "$dir/truncated" 126 "ENOEXEC and binary: no program for this machine"

ln -s loop loop
case_line "$dir/loop" 126 ELOOP

printf '#!/bin/sh\nexit 9\n' >'sp ace;$(touch pwned)'
chmod +x 'sp ace;$(touch pwned)'
case_line "$dir/sp ace;\$(touch pwned)" 9 "ok: no shell in between, file pwned must not appear"

printf '#!/bin/sh\nexit 10\n' >inpath
chmod +x inpath
case_line "PATH=$dir inpath" 10 "found through PATH"
case_line "inpath" 127 "not through the current directory unless . is in PATH"

cp /bin/true setuid_true
chmod u+s setuid_true
case_line "$dir/setuid_true" 0 "set-uid program: runs; tracing it is partly refused for non-root"

case_line "" 127 "empty argv0"
