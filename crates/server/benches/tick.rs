//! A tick of a server by the number of its bots, bots included; without bots it is a tick of the world.

use client::{Bot, ClientSettings, bot::Behaviour};
use divan::Bencher;
use kinesphere_server::space::Time;
use kinesphere_server::wire::{Effect, Endpoint, Event, LinkId, Participant};
use kinesphere_server::world::{Plaza, World};
use kinesphere_server::{Server, ServerSettings};

fn main() {
    divan::main();
}

#[divan::bench(args = [0, 50])]
fn tick(bencher: Bencher, bots: u64) {
    let (mut now, world) = (Time::default(), World::new(Plaza::default().spec()).unwrap());
    let mut server = Server::new(world, ServerSettings::default(), now).unwrap();
    let bot = |number| Bot::new(ClientSettings::named(&format!("bot {number}")), Behaviour::Wander, 3.0, number);
    let mut bots: Vec<(Endpoint, Bot)> = (0..bots).map(|number| (LinkId(number).into(), bot(number))).collect();
    for (from, bot) in &mut bots {
        server.handle(now, Event::Opened { from: *from, secret: [7; 16] });
        bot.handle(now, Event::Opened { from: *from, secret: [7; 16] });
    }
    bencher.bench_local(|| {
        now = server.next_wake();
        for (from, bot) in &mut bots {
            bot.wake(now);
            while let Some(Effect::Send { channel, bytes, .. }) = bot.poll() {
                server.handle(now, Event::Arrived { from: *from, channel, bytes: &bytes });
            }
        }
        server.wake(now);
        while let Some(effect) = server.poll() {
            if let Effect::Send { to: Endpoint::Link(link), channel, bytes } = effect {
                bots[link.0 as usize].1.handle(now, Event::Arrived { from: link.into(), channel, bytes: &bytes });
            }
        }
    });
}
