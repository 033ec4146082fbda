//! How long ten simulated seconds take: a server with clients, peers, and a cluster.

use kinesphere_sim::{nodes, peers, plaza};

fn main() {
    divan::main();
}

#[divan::bench]
fn server_and_clients() -> plaza::Report {
    plaza::run(&plaza::Settings { ticks: 300, ..Default::default() }, &mut |_, _| {}).unwrap()
}

#[divan::bench]
fn peers_in_a_hall() -> peers::Report {
    peers::run(&peers::Settings { seconds: 10, ..Default::default() }, &mut |_, _| {}).unwrap()
}

#[divan::bench]
fn nodes_of_a_cluster() -> nodes::Report {
    nodes::run(&nodes::Settings { seconds: 10, ..Default::default() }, &mut |_, _| {}).unwrap()
}
