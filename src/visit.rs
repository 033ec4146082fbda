//! A visit to a server: a client with a connection and a clock, for programs that walk about in a served world. Where
//! several servers share the world, the visit moves from one to the other by itself.
//!
//! ```no_run
//! use kinesphere::visit::Visit;
//! use client::ClientSettings;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mut visit = Visit::join("http://localhost:7777", ClientSettings::named("Ann")).await?;
//! visit.run_for(std::time::Duration::from_secs(1)).await;
//! println!("{} are near", visit.client().others().len());
//! visit.leave().await;
//! # Ok(())
//! # }
//! ```

use std::time::Duration;

use ::client::{Client, ClientSettings, Phase};
use bytes::Bytes;
use space::Time;
use thiserror::Error;
use tokio::time::{Instant, sleep_until};
use wire::{Effect, Endpoint, Event, LinkId, Participant, Refused};

use crate::link::client::{self, ConnectError, ServerAddress};
use crate::link::{Inbox, LinkEvent, LinkLimits, Links, Outbox};

/// How long a server may take to let a client in.
const JOINING_MAX: Duration = Duration::from_secs(20);
/// How long another server of the same world may take to answer, and the pause before the next is tried.
const FOLLOWING_MAX: Duration = Duration::from_millis(1_500);
const AGAIN: Duration = Duration::from_millis(150);

/// Why there is no visit.
#[derive(Debug, Error)]
pub enum VisitError {
    /// The server cannot be reached.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The server refused, with its reason.
    #[error("{}", .0.sentence)]
    Refused(Refused),
    /// The server did not answer in time.
    #[error("the server did not answer within {} seconds", JOINING_MAX.as_secs())]
    Silent,
}

/// A client on its way through a world.
pub struct Visit {
    client: Client,
    socket: client::Connector,
    links: Links,
    inbox: Inbox,
    outbox: Option<(LinkId, Outbox)>,
    /// Whether it moves to another server by itself when it is sent there or loses its own.
    follows: bool,
    began: Instant,
}

impl Visit {
    /// Goes to the server at `url`, and waits to be let in.
    pub async fn join(url: &str, settings: ClientSettings) -> Result<Visit, VisitError> {
        let (links, inbox) = Links::new(LinkLimits::default());
        let socket = client::Connector::new().map_err(ConnectError::from)?;
        let client = Client::new(settings);
        let mut visit = Visit { client, socket, links, inbox, outbox: None, follows: true, began: Instant::now() };
        visit.connect(url).await?;
        Ok(visit)
    }

    /// Connects to a server, the same or another, and resumes the session if there was one.
    pub async fn connect(&mut self, url: &str) -> Result<(), VisitError> {
        let host = ServerAddress::find(url).await?;
        self.connect_to(&host).await
    }

    /// Like `connect`, to a server that was found before.
    pub async fn connect_to(&mut self, host: &ServerAddress) -> Result<(), VisitError> {
        self.follows = true;
        self.socket.connect(host, &self.links).await?;
        let is_answered = |client: &Client| matches!(client.phase(), Phase::Joined | Phase::Ended(_));
        // A client that was in says so until its new connection stands.
        while self.outbox.is_none() {
            self.step(Instant::now() + JOINING_MAX).await;
        }
        if !self.run_until(JOINING_MAX, is_answered).await {
            return Err(VisitError::Silent);
        }
        match self.client.phase() {
            Phase::Ended(refused) => Err(VisitError::Refused(refused.clone())),
            _ => Ok(()),
        }
    }

    /// The client: its state, and its commands.
    pub fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Lets time pass.
    pub async fn run_for(&mut self, time: Duration) {
        self.run_until(time, |_| false).await;
    }

    /// Runs until the condition holds; false after `limit`.
    pub async fn run_until(&mut self, longest: Duration, mut is_so: impl FnMut(&Client) -> bool) -> bool {
        let end = Instant::now() + longest;
        loop {
            if is_so(&self.client) {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            self.step(end).await;
        }
    }

    /// Breaks the connection, as if a cable had been pulled.
    pub async fn cut(&mut self) {
        self.follows = false;
        if let Some((_, outbox)) = &self.outbox {
            outbox.close();
        }
        let end = Instant::now() + JOINING_MAX;
        while self.outbox.is_some() && Instant::now() < end {
            self.step(end).await;
        }
    }

    /// Leaves for good.
    pub async fn leave(mut self) {
        self.client.leave();
        self.carry_out();
        self.cut().await;
        self.socket.finish().await;
    }

    /// Waits for the next event, but not beyond `end`.
    async fn step(&mut self, end: Instant) {
        let wake = self.client.next_wake().micros().clamp(0, i64::MAX / 4) as u64;
        let due = (self.began + Duration::from_micros(wake)).min(end);
        tokio::select! {
            biased;
            () = sleep_until(due) => {}
            event = self.inbox.next() => if let Some(event) = event {
                self.take(event);
            },
        }
        let now = self.now();
        if now >= self.client.next_wake() {
            self.client.wake(now);
        }
        self.carry_out();
        self.follow().await;
    }

    /// Connects to the server that the client was sent to, or to another one if it lost its own.
    async fn follow(&mut self) {
        let has_somewhere = self.client.is_redirected() || self.client.servers().len() > 1;
        if !self.follows || self.outbox.is_some() || !has_somewhere || *self.client.phase() != Phase::Apart {
            return;
        }
        let Some(address) = self.client.next_address() else { return };
        let reached = async {
            let host = ServerAddress::find(&address).await?;
            self.socket.connect(&host, &self.links).await
        };
        match tokio::time::timeout(FOLLOWING_MAX, reached).await {
            // Its events are in the inbox, the opening first.
            Ok(Ok(_)) => {
                if let Some(event) = self.inbox.next().await {
                    self.take(event);
                    self.carry_out();
                }
            }
            _ => tokio::time::sleep(AGAIN).await,
        }
    }

    fn now(&self) -> Time {
        Time::from_micros(self.began.elapsed().as_micros() as i64)
    }

    fn take(&mut self, event: LinkEvent) {
        let now = self.now();
        match event {
            LinkEvent::Opened { link, outbox, .. } => {
                self.outbox = Some((link, outbox));
                self.client.handle(now, Event::Opened { from: link.into(), secret: [0; 16] });
            }
            LinkEvent::Received { link, channel, bytes, .. } => {
                self.client.handle(now, Event::Arrived { from: link.into(), channel, bytes: &bytes });
            }
            LinkEvent::Closed { link, .. } => {
                self.client.handle(now, Event::Closed { from: link.into() });
                self.outbox.take_if(|(open, _)| *open == link);
            }
        }
    }

    fn carry_out(&mut self) {
        while let Some(effect) = self.client.poll() {
            let Some((open, outbox)) = &self.outbox else { continue };
            match effect {
                // A message that cannot be sent has a link that closes.
                Effect::Send { to: Endpoint::Link(link), channel, bytes } if link == *open => {
                    let _ = outbox.send(channel, Bytes::from(bytes));
                }
                Effect::Close { to: Endpoint::Link(link) } if link == *open => outbox.close(),
                _ => {}
            }
        }
    }
}
