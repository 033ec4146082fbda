//! A relay that stands between UDP peers and makes the network between them worse, for demos and tests.
//!
//! Each client that sends to the relay gets a socket of its own towards the target, so that answers find their way
//! back. Both directions of each client are impaired on their own.

pub mod impairment;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use impairment::{Impairment, ImpairmentCounts, ImpairmentSettings};

/// Clients at the same time; packets of more are dropped.
const CLIENTS_MAX: usize = 1_024;
/// Packets of one client that wait for its task.
const WAITING_MAX: usize = 1_024;
/// A client is forgotten after this silence.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);
/// The longest UDP packet.
const PACKET_MAX: usize = 65_536;

/// What became of the packets of both directions.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct RelayCounts {
    /// From clients to the target.
    pub there: ImpairmentCounts,
    /// From the target to clients.
    pub back: ImpairmentCounts,
}

pub struct Relay {
    socket: Arc<UdpSocket>,
    target: SocketAddr,
    settings: ImpairmentSettings,
    seed: u64,
    counts: Arc<Mutex<RelayCounts>>,
}

impl Relay {
    /// Binds the port that clients send to.
    pub async fn bind(
        listen: SocketAddr,
        target: SocketAddr,
        settings: ImpairmentSettings,
        seed: u64,
    ) -> io::Result<Relay> {
        let socket = Arc::new(UdpSocket::bind(listen).await?);
        Ok(Relay { socket, target, settings, seed, counts: Arc::default() })
    }

    /// The address that clients send to.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// The counts so far; they can be read while the relay runs.
    pub fn counts(&self) -> Arc<Mutex<RelayCounts>> {
        self.counts.clone()
    }

    /// Relays until it is dropped.
    pub async fn run(self) -> io::Result<()> {
        let mut clients: BTreeMap<SocketAddr, mpsc::Sender<Bytes>> = BTreeMap::new();
        let mut packet = vec![0; PACKET_MAX];
        let mut met = 0;
        loop {
            let (length, client) = match self.socket.recv_from(&mut packet).await {
                Ok(received) => received,
                // An ICMP answer to an earlier packet of ours: one client is gone, the others are not.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => continue,
                Err(error) => return Err(error),
            };
            clients.retain(|_, sender| !sender.is_closed());
            if !clients.contains_key(&client) {
                if clients.len() == CLIENTS_MAX {
                    continue;
                }
                met += 1;
                clients.insert(client, self.serve(client, met).await?);
            }
            // A client that sends faster than it can be relayed loses packets, as on any network.
            let _ = clients[&client].try_send(Bytes::copy_from_slice(&packet[..length]));
        }
    }

    /// Begins to serve a client.
    async fn serve(&self, client: SocketAddr, number: u64) -> io::Result<mpsc::Sender<Bytes>> {
        let local: SocketAddr = if self.target.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" }.parse().expect("an address");
        let upstream = UdpSocket::bind(local).await?;
        upstream.connect(self.target).await?;
        let (sender, packets) = mpsc::channel(WAITING_MAX);
        let seed = self.seed.wrapping_mul(1_000_003).wrapping_add(2 * number);
        let there = Impairment::new(self.settings, seed);
        let back = Impairment::new(self.settings, seed + 1);
        let (downstream, counts) = (self.socket.clone(), self.counts.clone());
        tokio::spawn(carry(Way { client, upstream, downstream, packets, there, back, counts }));
        Ok(sender)
    }
}

/// Relays the packets of one client.
struct Way {
    client: SocketAddr,
    upstream: UdpSocket,
    downstream: Arc<UdpSocket>,
    packets: mpsc::Receiver<Bytes>,
    there: Impairment,
    back: Impairment,
    counts: Arc<Mutex<RelayCounts>>,
}

async fn carry(mut way: Way) {
    let start = Instant::now();
    let now_us = || start.elapsed().as_micros() as u64;
    let mut answer = vec![0; PACKET_MAX];
    let mut heard = Instant::now();
    loop {
        let due = [way.there.next_us(), way.back.next_us()].into_iter().flatten().min();
        let due = due.map_or(heard + FORGOTTEN_AFTER, |due| start + Duration::from_micros(due));
        tokio::select! {
            packet = way.packets.recv() => match packet {
                Some(packet) => {
                    heard = Instant::now();
                    way.tally(|way| way.there.take(now_us(), packet));
                }
                None => return,
            },
            received = way.upstream.recv(&mut answer) => if let Ok(length) = received {
                way.tally(|way| way.back.take(now_us(), Bytes::copy_from_slice(&answer[..length])));
            },
            () = sleep_until(due) => {}
        }
        while let Some(packet) = way.tally(|way| way.there.pass(now_us())) {
            let _ = way.upstream.send(&packet).await;
        }
        while let Some(packet) = way.tally(|way| way.back.pass(now_us())) {
            let _ = way.downstream.send_to(&packet, way.client).await;
        }
        if heard.elapsed() >= FORGOTTEN_AFTER {
            return;
        }
    }
}

impl Way {
    /// Runs `change` on the counts of all clients.
    fn tally<T>(&mut self, work: impl FnOnce(&mut Way) -> T) -> T {
        let before = (self.there.counts(), self.back.counts());
        let done = work(self);
        let mut counts = self.counts.lock().expect("nobody panics while holding counts");
        add(&mut counts.there, before.0, self.there.counts());
        add(&mut counts.back, before.1, self.back.counts());
        done
    }
}

fn add(sum: &mut ImpairmentCounts, before: ImpairmentCounts, after: ImpairmentCounts) {
    sum.taken += after.taken - before.taken;
    sum.passed += after.passed - before.passed;
    sum.lost += after.lost - before.lost;
    sum.doubled += after.doubled - before.doubled;
    sum.held_back += after.held_back - before.held_back;
    sum.overflowed += after.overflowed - before.overflowed;
}
