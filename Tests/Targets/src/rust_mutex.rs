/* TARGET group=cause
 * poll loop; the main thread needs a Rust std Mutex that "holder" holds for 300 ms in hold_it. Its word
 * tells that it is taken, not by whom. Built where rustc is there.
 * TRUTH: {"exit":0, "stalls":[{"fn":"need", "n":2, "ms":300, "tol":40, "how":"futex"}]}
 */
use std::io::Write;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::sync::Mutex;
use std::time::Duration;

#[repr(C)]
struct Time {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    fn poll(files: *mut u8, count: u64, milliseconds: i32) -> i32;
}

static LOCK: Mutex<u64> = Mutex::new(0);
static WANT: AtomicI32 = AtomicI32::new(0);
static HELD: AtomicI32 = AtomicI32::new(0);

fn now() -> f64 {
    let mut time = Time { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(1, &mut time) };
    time.seconds as f64 + time.nanoseconds as f64 / 1e9
}

#[inline(never)]
fn hold_it() {
    std::thread::sleep(Duration::from_millis(300));
    std::hint::black_box(());
}

#[inline(never)]
fn need() {
    *LOCK.lock().unwrap() += 1;
    std::hint::black_box(());
}

fn holder() {
    while WANT.load(SeqCst) >= 0 {
        if WANT.swap(0, SeqCst) == 1 {
            let _guard = LOCK.lock().unwrap();
            HELD.store(1, SeqCst);
            hold_it();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn main() {
    let mut truth: Box<dyn Write> = match std::env::var("TARGET_TRUTH") {
        Ok(path) => {
            Box::new(std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap())
        }
        _ => Box::new(std::io::stderr()),
    };
    let pid = std::process::id();
    let start = now();
    writeln!(truth, "{{\"ev\":\"start\",\"prog\":\"rust_mutex\",\"pid\":{pid},\"t\":{start:.6}}}")
        .unwrap();
    std::thread::Builder::new().name("holder".into()).spawn(holder).unwrap();
    for turn in 1..=55 {
        unsafe { poll(std::ptr::null_mut(), 0, 20) };
        if turn != 20 && turn != 40 {
            continue;
        }
        HELD.store(0, SeqCst);
        WANT.store(1, SeqCst);
        while HELD.load(SeqCst) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let before = now();
        need();
        let after = now();
        let line = format!(
            "{{\"ev\":\"gap\",\"kind\":\"stall\",\"fn\":\"need\",\"how\":\"futex\",\
             \"t0\":{before:.6},\"t1\":{after:.6},\"ms\":{:.2},\"cpu_ms\":0,\"edge_ms\":0}}\n",
            (after - before) * 1e3
        );
        truth.write_all(line.as_bytes()).unwrap();
    }
    WANT.store(-1, SeqCst);
    let end = now();
    writeln!(truth, "{{\"ev\":\"end\",\"prog\":\"rust_mutex\",\"pid\":{pid},\"t\":{end:.6}}}").unwrap();
}
