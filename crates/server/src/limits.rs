//! Limits of a server. Each refusal names the limit that was met.

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Sessions at once, with those that may be resumed.
    pub clients: usize,
    /// Connections at once, with those that have not said hello.
    pub links: usize,
    /// Users that wait to be let in; more are refused.
    pub join_queue: usize,
    /// Users let in per tick: each costs as much as many that are in already.
    pub joins_per_tick: usize,
    /// Objects that a client is told of for the first time, per tick.
    pub entered_per_tick: usize,
    /// Fixed objects that a client is told of, per tick.
    pub solids_per_tick: usize,
    /// Bytes of state datagrams per client and tick.
    pub state_bytes_per_tick: usize,
    /// Datagrams per client and second; more are dropped and counted.
    pub datagrams_per_s: u32,
    /// Messages on its stream per client and second.
    pub messages_per_s: u32,
    /// Bad messages within a minute after which a client is dropped.
    pub faults: u32,
    /// How long a connection may stand without a hello, in microseconds.
    pub hello_us: i64,
    /// How long a client may be silent, in microseconds.
    pub idle_us: i64,
    /// How long rosters of a client may wait for its acknowledgement, in microseconds.
    pub unheard_us: i64,
    /// How long an avatar stays after its connection was lost, in microseconds.
    pub resume_us: i64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            clients: 1_000,
            links: 2_000,
            join_queue: 256,
            joins_per_tick: 4,
            entered_per_tick: 64,
            solids_per_tick: 256,
            state_bytes_per_tick: 2 * wire::DATAGRAM_MAX,
            datagrams_per_s: 90,
            messages_per_s: 20,
            faults: 30,
            hello_us: 10_000_000,
            idle_us: 30_000_000,
            unheard_us: 15_000_000,
            resume_us: 15_000_000,
        }
    }
}
