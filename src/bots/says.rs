//! What a server says of its own ticks, beside what bots see of them.

use super::Quantiles;
use crate::fetch::{Address, fetch_as};

/// What a server says of itself.
pub(super) struct ServerSays {
    ticks: f64,
    overruns: f64,
    pub tick_ms: Option<Quantiles>,
}

impl ServerSays {
    /// Reads the server's metrics, which it shows to operators only.
    pub async fn ask(address: &Address, token: Option<&str>) -> Option<ServerSays> {
        ServerSays::read(&fetch_as(address, "/metrics", token).await.ok()?)
    }

    fn read(metrics: &str) -> Option<ServerSays> {
        let value = |name: &str| {
            metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<f64>().ok())
        };
        let quantile =
            |share: &str| Some(value(&format!("kinesphere_tick_seconds{{quantile=\"{share}\"}}"))? * 1_000.0);
        let tick_ms = || Some(Quantiles { p50: quantile("0.5")?, p99: quantile("0.99")?, max: quantile("1")? });
        Some(ServerSays {
            ticks: value("kinesphere_ticks_total")?,
            // It is not there before the first.
            overruns: value("kinesphere_tick_overruns_total").unwrap_or(0.0),
            tick_ms: tick_ms(),
        })
    }

    pub fn overruns_since(&self, before: &ServerSays) -> Option<f64> {
        let ticks = self.ticks - before.ticks;
        (ticks > 0.0).then(|| (self.overruns - before.overruns) / ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_of_itself_is_read() {
        let text = "# TYPE kinesphere_ticks_total counter\nkinesphere_ticks_total 95\n\
             kinesphere_tick_seconds{quantile=\"0.5\"} 0.0002\nkinesphere_tick_seconds{quantile=\"0.99\"} 0.001\n\
             kinesphere_tick_seconds{quantile=\"1\"} 0.002\n";
        let says = ServerSays::read(text).unwrap();
        assert_eq!((says.ticks, says.overruns), (95.0, 0.0));
        assert_eq!(says.tick_ms.unwrap().p99, 1.0);
        let later = ServerSays { ticks: 195.0, overruns: 1.0, tick_ms: None };
        assert_eq!(later.overruns_since(&says), Some(0.01));
        assert!(ServerSays::read("nothing").is_none());
    }
}
