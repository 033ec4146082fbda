//! Logs that never block. Lines wait in a queue for a thread that writes them. When the reader of stderr stalls, as a
//! full pipe does, lines are dropped and counted, and the server goes on.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use tracing_subscriber::fmt::MakeWriter;

/// Lines that wait at most; more are dropped.
const LINES_MAX: usize = 1_024;
/// Bytes that wait at most.
const BYTES_MAX: usize = 1 << 20;

/// Where lines go. Clones write to the same place.
#[derive(Clone)]
pub struct Log {
    desk: Arc<Desk>,
}

struct Desk {
    queue: Mutex<Queue>,
    /// There is something to write.
    filled: Condvar,
    /// Everything was written.
    emptied: Condvar,
}

#[derive(Default)]
struct Queue {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    dropped: u64,
    is_writing: bool,
}

impl Log {
    /// Begins to write to stderr.
    pub fn to_stderr() -> io::Result<Log> {
        Log::to(io::stderr())
    }

    /// Begins to write.
    pub fn to(output: impl Write + Send + 'static) -> io::Result<Log> {
        let desk = Desk { queue: Mutex::default(), filled: Condvar::new(), emptied: Condvar::new() };
        let log = Log { desk: Arc::new(desk) };
        let desk = log.desk.clone();
        thread::Builder::new().name("log".to_owned()).spawn(move || desk.write_all(output))?;
        Ok(log)
    }

    /// Writes a line for people, in its turn.
    pub fn say(&self, line: &str) {
        self.desk.push(format!("{line}\n").into_bytes());
    }

    /// Waits until everything is written, but no longer than this.
    pub fn finish(&self, longest: Duration) {
        let end = Instant::now() + longest;
        let mut queue = self.desk.queue();
        while !queue.lines.is_empty() || queue.is_writing {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            queue = self.desk.emptied.wait_timeout(queue, left).expect("no thread panics while holding the log").0;
        }
    }
}

impl Desk {
    fn push(&self, line: Vec<u8>) {
        let mut queue = self.queue();
        if queue.lines.len() == LINES_MAX || queue.bytes + line.len() > BYTES_MAX {
            queue.dropped += 1;
            drop(queue);
            metrics::counter!("kinesphere_log_lines_dropped_total").increment(1);
            return;
        }
        queue.bytes += line.len();
        queue.lines.push_back(line);
        drop(queue);
        self.filled.notify_one();
    }

    fn write_all(&self, mut output: impl Write) {
        loop {
            let (lines, dropped) = {
                let mut queue = self.queue();
                queue.is_writing = false;
                while queue.lines.is_empty() {
                    self.emptied.notify_all();
                    queue = self.filled.wait(queue).expect("no thread panics while holding the log");
                }
                queue.is_writing = true;
                queue.bytes = 0;
                (std::mem::take(&mut queue.lines), std::mem::take(&mut queue.dropped))
            };
            // The reader may be gone; then there is no place to report it.
            for line in &lines {
                let _ = output.write_all(line);
            }
            if dropped > 0 {
                let _ =
                    writeln!(output, "kinesphere: {dropped} lines of the log were dropped: they were not read in time");
            }
            let _ = output.flush();
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().expect("no thread panics while holding the log")
    }
}

/// One line on its way into the queue.
pub struct Line<'a>(&'a Desk);

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(&self.desk)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// A pipe that takes a line whenever the test lets it.
    struct Pipe {
        may: mpsc::Receiver<()>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // Once the test has gone, everything may.
            let _ = self.may.recv();
            self.written.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_stalls_holds_up_nobody_and_is_told_what_it_missed() {
        let (let_it, may) = mpsc::channel();
        let written = Arc::new(Mutex::new(Vec::new()));
        let log = Log::to(Pipe { may, written: written.clone() }).unwrap();
        for number in 0..3 * LINES_MAX {
            writeln!(log.make_writer(), "line {number}").unwrap();
        }
        log.finish(Duration::from_millis(10));
        assert!(written.lock().unwrap().is_empty(), "the pipe is stalled");

        drop(let_it);
        log.finish(Duration::from_secs(60));
        log.say("goodbye");
        log.finish(Duration::from_secs(60));
        let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        assert!(text.starts_with("line 0\nline 1\n"), "{:?}", &text[..40]);
        assert!(text.contains("lines of the log were dropped"), "{}", &text[text.len() - 200..]);
        assert!(text.ends_with("goodbye\n"));
        assert!(text.lines().count() < 3 * LINES_MAX);
    }
}
