#!/bin/sh
# TARGET group=launch
# A shell script with a #! line: comm is "script_target.s", exe is the shell. It runs a child that
# burns 0.5 s and exits 12.
# TRUTH: {"exit":12, "stalls":[]}
truth=${TARGET_TRUTH:-/dev/stderr}
echo "{\"ev\":\"start\",\"prog\":\"script_target\",\"pid\":$$}" >>"$truth"
TARGET_TRUTH= "$(dirname "$0")/cpu_half" >/dev/null 2>&1
end='"wall_s":0,"user_s":0,"sys_s":0,"exit":12'
echo "{\"ev\":\"end\",\"pid\":$$,$end}" >>"$truth"
exit 12
