//! A server within a program of one's own: a small world, a guest, and what became of both.

use std::sync::Arc;
use std::time::Duration;

use client::ClientSettings;
use kinesphere::order::{self, Order};
use kinesphere::serve::{Options, Service};
use kinesphere::visit::Visit;
use world::Plaza;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Nothing is kept: `data` would name a folder.
    let plaza = Plaza { seekers: 10, ..Plaza::default() };
    let options = Options { world: Arc::new(plaza.spec()), listen: "localhost:0".to_owned(), ..Options::default() };
    let service = Service::start(options).await?;
    println!("A world is at {}.", service.url());

    let mut guest = Visit::join(&service.url(), ClientSettings::named("Guest")).await?;
    guest.run_for(Duration::from_secs(1)).await;

    let orders = service.orders();
    println!("Here are: {}", order::give(&orders, Order::Users).await?);
    order::give(&orders, Order::Say { text: "We close.".to_owned() }).await?;
    guest.run_for(Duration::from_millis(200)).await;
    while let Some(said) = guest.client().next_said() {
        println!("The guest hears: {}", said.text);
    }
    guest.leave().await;

    let server = service.stop().await.ok_or("the server is gone")?;
    println!("It ended after tick {}; {} had joined.", server.world().tick().number(), server.counts().joined);
    Ok(())
}
