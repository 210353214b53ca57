// The heart of an async runtime: one thread parks in epoll through mio-like polling with a timer, and
// runs short tasks that other threads wake by a pipe.
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

fn main() {
    let (mut near, far) = UnixStream::pair().unwrap();
    let workers = (0..3).map(|n| {
        let mut line = far.try_clone().unwrap();
        std::thread::spawn(move || loop {
            std::thread::sleep(Duration::from_millis(7 + n * 5));
            if line.write_all(&[n as u8]).is_err() {
                return;
            }
        })
    });
    let _keep: Vec<_> = workers.collect();
    near.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let mut sum = 0u64;
    loop {
        let mut task = [0u8; 16];
        if let Ok(count) = near.read(&mut task) {
            for i in 0..20_000u64 * count as u64 {
                sum = sum.wrapping_mul(31).wrapping_add(i);
            }
        }
        if sum == 1 {
            println!("{sum}");
        }
    }
}
