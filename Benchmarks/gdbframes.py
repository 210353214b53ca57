# For gdb: every thread's frames as JSON, by gdb's own unwinder; read by compare_gdb.py.
# A frame: program counter, name, kind; inlined functions and tail calls have no frame of their own.
import json

import gdb

KINDS = {gdb.NORMAL_FRAME: 'normal', gdb.SIGTRAMP_FRAME: 'signal', gdb.DUMMY_FRAME: 'dummy',
         gdb.ARCH_FRAME: 'arch', gdb.SENTINEL_FRAME: 'sentinel'}
threads = {}
gdb.execute('set backtrace past-main on')
gdb.execute('set backtrace limit 5000')
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frames, end = [], ''
    frame = gdb.newest_frame()
    while frame is not None:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            frames.append([frame.pc(), frame.name(), KINDS.get(frame.type(), 'other')])
        try:
            older = frame.older()
        except gdb.error as error:
            end = str(error)
            break
        if older is None:
            end = gdb.frame_stop_reason_string(frame.unwind_stop_reason())
        frame = older
    threads[thread.ptid[1]] = {'frames': frames, 'end': end}
print('FRAMES ' + json.dumps(threads))
