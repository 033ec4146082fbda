//! A client: goes to a server, walks for a few seconds, and tells what it sees.
//!
//! `cargo run --example visitor -- http://localhost:7777`; without an argument it starts a server of its own.

use std::time::Duration;

use client::ClientSettings;
use kinesphere::serve::{Options, Service};
use kinesphere::visit::Visit;
use wire::InputStep;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (url, service) = match std::env::args().nth(1) {
        Some(url) => (url, None),
        None => {
            let service = Service::start(Options { listen: "localhost:0".to_owned(), ..Options::default() }).await?;
            (service.url(), Some(service))
        }
    };

    let mut visit = Visit::join(&url, ClientSettings::named("Visitor")).await?;
    let welcome = visit.client().welcome().expect("we are in");
    println!("{} is in, and hears {} m far.", welcome.nickname, welcome.aura);

    // Velocities are in 256 parts of a metre per second: east, up, south.
    visit.client().intend(InputStep { velocity: [512, 0, 256], ..InputStep::default() });
    for _ in 0..3 {
        visit.run_for(Duration::from_millis(500)).await;
        let client = visit.client();
        let place = client.own().expect("we have an avatar").shown();
        println!("At {:.1}, {:.1}, {:.1}; {} others are near.", place.x, place.y, place.z, client.others().len());
    }

    visit.client().say("It was nice here.");
    visit.leave().await;
    if let Some(service) = service {
        service.stop().await;
    }
    Ok(())
}
