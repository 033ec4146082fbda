//! Objects that other peers move: replicas, each in its owner's clock.

use motion::adaptive::MovingBall;
use motion::{CollisionScene, Predicted, Replica, Update};
use space::{ObjectId, Time};
use wire::peer::Owns;

use super::settings::PeerSettings;

/// An object of another peer.
#[derive(Clone, Debug)]
pub struct RemoteObject {
    /// Its name.
    pub object: ObjectId,
    /// Its radius, in metres.
    pub radius: f64,
    /// How far it hears and is heard, in metres.
    pub aura: f32,
    /// Whether its owner said so over the stream; a datagram may be older than what was said since.
    pub is_certain: bool,
    replica: Replica,
    /// Where it is in this frame.
    now: Option<Predicted>,
    is_stale: bool,
}

impl RemoteObject {
    /// An object that was announced, and is nowhere yet.
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

    /// Whether it was announced so.
    pub fn is_as(&self, owns: &Owns) -> bool {
        self.radius == f64::from(owns.radius) && self.aura == owns.aura
    }

    /// Takes in an update of its owner. Says whether it was believed; one heard before is, and changes nothing.
    pub fn handle(&mut self, update: &Update, scene: &CollisionScene) -> bool {
        match self.replica.handle(update, scene) {
            Ok(_) | Err(motion::track::Rejected::Duplicate | motion::track::Rejected::Old) => true,
            Err(_) => false,
        }
    }

    /// Works out where it is, at a moment of its owner's clock.
    pub fn predict(&mut self, owner_time: Time, scene: &CollisionScene) {
        self.now = self.replica.predict(owner_time, scene);
        self.is_stale = self.replica.is_stale(owner_time);
    }

    /// The replica, for those who predict several together.
    pub fn replica_mut(&mut self) -> &mut Replica {
        &mut self.replica
    }

    /// It bounced off another, as this peer predicts it.
    pub fn meets(&mut self, predicted: Predicted) {
        self.now = Some(predicted);
    }

    /// Where it is in this frame; `None` before its first update.
    pub fn predicted(&self) -> Option<Predicted> {
        self.now
    }

    /// The same for those who ask what is close; `None` for one that has not been heard of for too long.
    pub fn mover(&self) -> Option<MovingBall> {
        let Predicted { pos, vel, acc, .. } = self.now.filter(|_| !self.is_stale)?;
        Some(MovingBall { pos, vel, acc, radius: self.radius })
    }
}
