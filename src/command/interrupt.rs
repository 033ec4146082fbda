//! Ctrl-C, and what a machine sends that shuts down.

/// Ends when somebody wants this process to. It listens from now on, and not from when it is first waited for: whoever is
/// told that something runs may end it at once.
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
