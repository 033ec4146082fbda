//! Objects that other peers move: replicas, each by its owner's clock.

use motion::adaptive::MovingBall;
use motion::{CollisionScene, Predicted, Replica, Update};
use space::{ObjectId, Time};
use wire::peer::Owns;

use super::settings::PeerSettings;

/// An object of another peer.
#[derive(Clone, Debug)]
pub struct RemoteObject {
    pub object: ObjectId,
    /// Its radius, in metres.
    pub radius: f64,
    /// The radius of its area of interest, in metres.
    pub aura: f32,
    /// Whether it was announced on the stream. A datagram may be older than later announcements.
    pub is_certain: bool,
    replica: Replica,
    /// Its prediction for this frame.
    now: Option<Predicted>,
    is_stale: bool,
}

impl RemoteObject {
    /// An object that was announced and has no update yet.
    pub fn new(object: ObjectId, owns: &Owns, is_certain: bool, settings: &PeerSettings) -> RemoteObject {
        let radius = f64::from(owns.radius);
        RemoteObject {
            object,
            radius,
            aura: owns.aura,
            is_certain,
            replica: Replica::new(settings.replica(radius)),
            now: None,
            is_stale: true,
        }
    }

    /// Whether an announcement says the same of it.
    pub fn is_as(&self, owns: &Owns) -> bool {
        self.radius == f64::from(owns.radius) && self.aura == owns.aura
    }

    /// Takes in an update of its owner. Returns `false` for an invalid one; a duplicate or an old one changes nothing.
    pub fn handle(&mut self, update: &Update, scene: &CollisionScene) -> bool {
        match self.replica.handle(update, scene) {
            Ok(_) | Err(motion::track::Rejected::Duplicate | motion::track::Rejected::Old) => true,
            Err(_) => false,
        }
    }

    /// Predicts its state at a moment of its owner's clock.
    pub fn predict(&mut self, owner_time: Time, scene: &CollisionScene) {
        self.now = self.replica.predict(owner_time, scene);
        self.is_stale = self.replica.is_stale(owner_time);
    }

    /// The replica, to predict several together.
    pub fn replica_mut(&mut self) -> &mut Replica {
        &mut self.replica
    }

    /// Sets its prediction, after a predicted bounce off another remote object.
    pub fn meets(&mut self, predicted: Predicted) {
        self.now = Some(predicted);
    }

    /// Its prediction for this frame; `None` before its first update.
    pub fn predicted(&self) -> Option<Predicted> {
        self.now
    }

    /// The same, as a ball; `None` if its newest update is too old.
    pub fn mover(&self) -> Option<MovingBall> {
        let Predicted { pos, vel, acc, .. } = self.now.filter(|_| !self.is_stale)?;
        Some(MovingBall { pos, vel, acc, radius: self.radius })
    }
}
