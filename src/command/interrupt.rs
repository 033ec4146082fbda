//! Ctrl-C, and what a machine sends that shuts down.

/// Completes when the process is asked to end. It listens from this call on, not from when it is first polled: a user
/// who is told that the program runs may end it at once.
pub(super) fn interrupted() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let signals = {
        use tokio::signal::unix::{SignalKind, signal};
        [SignalKind::interrupt(), SignalKind::terminate()].map(signal)
    };
    async move {
        #[cfg(unix)]
        if let [Ok(mut interrupted), Ok(mut terminated)] = signals {
            tokio::select! {
                _ = interrupted.recv() => {}
                _ = terminated.recv() => {}
            }
            return;
        }
        let _ = tokio::signal::ctrl_c().await;
    }
}
