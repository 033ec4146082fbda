//! The operator's map: the world live, tick by tick, and replayed from its journal.
//!
//! The thread that ticks looks at the world only while an operator watches, and hands over what it saw; a slow operator
//! misses ticks. Another thread replays the journal.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use server::Server;
use server::inside::Insight;
use server::watch::{Sight, Told, scenes};
use space::GridPoint;
use tokio::sync::{broadcast, mpsc};
use tokio::time::timeout;
use wire::inside::Wanted;
use wire::operator::{Borders, FromOperator, OPERATOR_VERSION, ToOperator, Watched};
use wire::{CloseReason, Refused};
use world::{Spec, World};

use crate::operator::Operators;
use crate::store::keeper::{Recaller, StoredPast};

/// The path of the WebSocket.
pub const PATH: &str = "/inspect";
/// The most bytes of an operator's message.
pub const QUESTION_MAX: usize = 2_048;
/// The most operators at once.
const WATCHERS_MAX: usize = 16;
/// Ticks that a slow operator may be behind.
const BEHIND_MAX: usize = 4;
/// How long an operator may take to send its first message.
const GREETING_MAX: Duration = Duration::from_secs(10);
/// Ticks that are replayed at once: a minute and more.
const PLAYED_MAX: u64 = 4_096;
/// How often, in ticks, operators may look at the engine.
const LOOK_EVERY: u64 = 6;
/// Messages of a replay that wait to be sent.
const PLAYED_AHEAD_MAX: usize = 64;

/// The operators that watch, and what there is to see.
#[derive(Clone)]
pub struct Watchers {
    sights: broadcast::Sender<Arc<Sight>>,
    last: Arc<RwLock<Option<Arc<Sight>>>>,
    /// What each operator wants to know that asked for more than places.
    wanted: Arc<RwLock<BTreeMap<u64, Wanted>>>,
    /// Which node decides where, in a cluster.
    borders: Arc<RwLock<Option<Arc<Borders>>>>,
    insight: Arc<Mutex<Insight>>,
    next: Arc<AtomicU64>,
    spec: Arc<Spec>,
    standing: Arc<Vec<ToOperator>>,
    bounds: [GridPoint; 2],
    aura: f32,
    past: Option<Recaller>,
}

impl Watchers {
    pub fn new(server: &Server, past: Option<Recaller>) -> Watchers {
        let world = server.world();
        Watchers {
            sights: broadcast::channel(BEHIND_MAX).0,
            last: Arc::default(),
            wanted: Arc::default(),
            borders: Arc::default(),
            insight: Arc::default(),
            next: Arc::default(),
            spec: world.spec().clone(),
            standing: Arc::new(scenes(world)),
            bounds: [world.grid().low(), world.grid().high()],
            aura: server.settings().focus + server.settings().nimbus,
            past,
        }
    }

    /// Sets which node decides where.
    pub fn set_borders(&self, borders: Option<Borders>) {
        let is_same = self.borders().as_deref() == borders.as_ref();
        if !is_same {
            *self.borders.write().expect("no thread panics while holding it") = borders.map(Arc::new);
        }
    }

    fn borders(&self) -> Option<Arc<Borders>> {
        self.borders.read().expect("no thread panics while holding it").clone()
    }

    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// The world's file.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Shows the world after a step, if an operator watches.
    pub fn see(&self, server: &Server) {
        if self.sights.receiver_count() == 0 {
            return;
        }
        let before = self.last.read().expect("no thread panics while holding it").clone();
        let mut sight = Sight::of(server.world(), before.as_deref());
        let wanted: Vec<Wanted> =
            self.wanted.read().expect("no thread panics while holding it").values().copied().collect();
        if !wanted.is_empty() && sight.tick.is_multiple_of(LOOK_EVERY) {
            sight.inside = Some(self.insight.lock().expect("no thread panics while holding it").look(server, &wanted));
        }
        let sight = Arc::new(sight);
        *self.last.write().expect("no thread panics while holding it") = Some(sight.clone());
        let _ = self.sights.send(sight);
    }

    fn introduce(&self, reach: Option<(u64, u64)>) -> ToOperator {
        ToOperator::Watched(Watched {
            version: OPERATOR_VERSION,
            name: self.spec.name.clone(),
            tick_us: (1_000_000 / self.spec.tick_rate.max(1)).max(1),
            aura: self.aura,
            bounds: self.bounds,
            past: reach,
        })
    }

    async fn recall(&self, from: u64, to: u64) -> Result<StoredPast, String> {
        let Some(recaller) = self.past.clone() else {
            return Err("This world is kept in memory only: it has no past to be shown.".to_owned());
        };
        let asked = tokio::task::spawn_blocking(move || recaller.recall(from, to).recv_timeout(GREETING_MAX));
        match asked.await {
            Ok(Ok(answer)) => answer,
            _ => Err("The past cannot be read just now.".to_owned()),
        }
    }
}

/// One operator's requests; removed when it goes.
struct Asking {
    watchers: Watchers,
    number: u64,
    wanted: Wanted,
}

impl Asking {
    fn new(watchers: &Watchers) -> Asking {
        let number = watchers.next.fetch_add(1, Ordering::Relaxed);
        Asking { watchers: watchers.clone(), number, wanted: Wanted::PLACES }
    }

    fn ask(&mut self, wanted: Wanted) {
        self.wanted = wanted;
        let mut all = self.watchers.wanted.write().expect("no thread panics while holding it");
        if wanted.groups || wanted.cells || wanted.object.is_some() {
            all.insert(self.number, wanted);
        } else {
            all.remove(&self.number);
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.watchers.wanted.write().expect("no thread panics while holding it").remove(&self.number);
    }
}

/// Serves one operator, until it goes.
pub async fn serve(mut socket: WebSocket, watchers: Watchers, operators: Operators, overheard: Option<&'static str>) {
    let Ok(Some(Ok(Message::Binary(hello)))) = timeout(GREETING_MAX, socket.recv()).await else { return };
    let refusal = match FromOperator::decode(&hello) {
        Ok(FromOperator::Watch { version, .. }) if version != OPERATOR_VERSION => Some((
            CloseReason::Version,
            format!("This server's map speaks version {OPERATOR_VERSION}, you speak {version}."),
        )),
        Ok(FromOperator::Watch { token: shown, .. }) => {
            let shown = String::from_utf8_lossy(&shown);
            let refused = |sentence: &str| Some((CloseReason::Token, sentence.to_owned()));
            match overheard {
                _ if shown.is_empty() => refused("This is for operators: show the token."),
                Some(sentence) => refused(sentence),
                None if operators.role_of(&shown).await.is_none() => refused("This is not an operator's token."),
                None => None,
            }
        }
        _ => Some((CloseReason::Misbehaved, "An operator begins by asking to watch.".to_owned())),
    };
    let refusal = refusal.or_else(|| {
        let is_full = watchers.sights.receiver_count() >= WATCHERS_MAX;
        is_full.then(|| (CloseReason::Full, format!("{WATCHERS_MAX} operators watch already.")))
    });
    if let Some((reason, sentence)) = refusal {
        let _ = send(&mut socket, &refused(reason, sentence)).await;
        let _ = socket.send(Message::Close(Some(CloseFrame { code: close_code::NORMAL, reason: "".into() }))).await;
        return;
    }
    let mut sights = watchers.sights.subscribe();
    // No tick is so new: this only asks how far the past reaches.
    let reach = watchers.recall(u64::MAX, 0).await.ok().and_then(|past| past.reach);
    let mut told = Told::default();
    let mut asking = Asking::new(&watchers);
    let mut shown_borders = None;
    if send(&mut socket, &watchers.introduce(reach)).await.is_err() {
        return;
    }
    for scene in watchers.standing.iter() {
        if send(&mut socket, scene).await.is_err() {
            return;
        }
    }
    // Its sender is held here, too: a replay that has ended does not end the channel.
    let mut past = mpsc::channel::<ToOperator>(PLAYED_AHEAD_MAX);
    loop {
        let sent = tokio::select! {
            sight = sights.recv() => match sight {
                Ok(sight) => {
                    let mut messages = told.tell_inside(&sight, &asking.wanted);
                    let borders = watchers.borders();
                    if borders != shown_borders {
                        messages.extend(borders.as_deref().cloned().map(ToOperator::Borders));
                        shown_borders = borders;
                    }
                    if asking.wanted.places {
                        messages.extend(told.tell(&sight, true));
                    }
                    send_all(&mut socket, &messages).await
                }
                // A slow operator misses ticks.
                Err(broadcast::error::RecvError::Lagged(_)) => Ok(()),
                Err(broadcast::error::RecvError::Closed) => return,
            },
            Some(message) = past.1.recv() => send(&mut socket, &message).await,
            asked = socket.recv() => match asked {
                Some(Ok(Message::Binary(bytes))) => match FromOperator::decode(&bytes) {
                    Ok(FromOperator::Play { from, to, every }) => {
                        // A new request ends the answer to the last one.
                        past = mpsc::channel(PLAYED_AHEAD_MAX);
                        let to = to.min(from.saturating_add(PLAYED_MAX));
                        tokio::spawn(play(watchers.clone(), from, to, every, past.0.clone()));
                        Ok(())
                    }
                    Ok(FromOperator::Look(wanted)) => {
                        asking.ask(wanted);
                        Ok(())
                    }
                    _ => return,
                },
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => Ok(()),
                _ => return,
            },
        };
        if sent.is_err() {
            return;
        }
    }
}

/// Replays a stretch of the past for an operator.
async fn play(watchers: Watchers, from: u64, to: u64, every: u32, player: mpsc::Sender<ToOperator>) {
    let past = match watchers.recall(from, to).await {
        Ok(past) => past,
        Err(sentence) => {
            let _ = player.send(refused(CloseReason::Left, sentence)).await;
            return;
        }
    };
    let spec = watchers.spec.clone();
    let _ = tokio::task::spawn_blocking(move || {
        let mut told = Told::default();
        let mut before: Option<Sight> = None;
        let mut shown_to = from;
        // False when the operator is gone.
        let mut show = |world: &World| {
            let tick = world.tick().number();
            if tick < from || tick > to || !(tick - from).is_multiple_of(u64::from(every)) {
                return true;
            }
            let sight = Sight::of(world, before.as_ref());
            shown_to = tick;
            let is_heard = told.tell(&sight, false).into_iter().all(|message| player.blocking_send(message).is_ok());
            before = Some(sight);
            is_heard
        };
        if past.snapshot.is_empty() {
            let _ = player.blocking_send(refused(CloseReason::Left, "Nothing is kept of that time.".to_owned()));
            return;
        }
        let mut world = match World::restore(spec, &past.snapshot) {
            Ok(world) => world,
            Err(error) => {
                let _ =
                    player.blocking_send(refused(CloseReason::Left, format!("That time cannot be shown: {error}.")));
                return;
            }
        };
        let mut is_heard = show(&world);
        for record in &past.records {
            let played = world::journal::replay(&mut world, record, &mut |world| is_heard = is_heard && show(world));
            if !is_heard || played.is_err() {
                break;
            }
        }
        let _ = player.blocking_send(ToOperator::Played { to: shown_to });
    })
    .await;
}

fn refused(reason: CloseReason, sentence: String) -> ToOperator {
    ToOperator::Refused(Refused { version: OPERATOR_VERSION, reason, sentence })
}

async fn send(socket: &mut WebSocket, message: &ToOperator) -> Result<(), axum::Error> {
    socket.send(Message::Binary(message.encode().into())).await
}

async fn send_all(socket: &mut WebSocket, messages: &[ToOperator]) -> Result<(), axum::Error> {
    for message in messages {
        send(socket, message).await?;
    }
    Ok(())
}
