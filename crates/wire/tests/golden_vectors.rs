//! Messages have the bytes of earlier releases. `vectors/messages.json` is read here and by the page's tests.
//!
//! A change of the protocol shows here first. If it is meant: raise `VERSION`, and write the vectors again with
//! `KINESPHERE_WRITE_VECTORS=1 cargo test -p kinesphere-wire --test golden_vectors -- --test-threads 1`.
#![allow(clippy::disallowed_methods, reason = "the vectors are files")]

mod messages;

use std::fmt::Debug;

use kinesphere_wire::cluster::CLUSTER_VERSION;
use kinesphere_wire::operator::{FromOperator, OPERATOR_VERSION, ToOperator};
use kinesphere_wire::peer::PEER_VERSION;
use kinesphere_wire::{DecodeError, ToClient, ToNode, ToPeer, ToServer, VERSION};
use serde::Serialize;
use serde_json::{Value, json};
use space::bytes::{from_hex, to_hex};

/// One family of messages as vectors; each vector is also decoded.
fn vectors<M: Serialize + Debug>(
    messages: &[(&str, M)],
    encode: fn(&M) -> Vec<u8>,
    decode: fn(&[u8]) -> Result<M, DecodeError>,
) -> Vec<Value> {
    let vector = |(name, message): &(&str, M)| {
        let bytes = to_hex(&encode(message));
        let decoded = decode(&from_hex(&bytes).unwrap()).unwrap();
        assert_eq!(serde_json::to_value(&decoded).unwrap(), serde_json::to_value(message).unwrap(), "{name}");
        json!({ "name": name, "bytes": bytes, "message": message })
    };
    messages.iter().map(vector).collect()
}

/// Compares the vectors, list by list, with those in the file.
fn assert_held(file: &str, vectors: &Value) {
    let file = format!("{}/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("KINESPHERE_WRITE_VECTORS").is_some() {
        std::fs::write(&file, serde_json::to_string_pretty(vectors).unwrap() + "\n").unwrap();
    }
    let held: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    for (list, ours) in vectors.as_object().unwrap() {
        for (ours, theirs) in ours.as_array().into_iter().flatten().zip(held[list].as_array().into_iter().flatten()) {
            assert_eq!(ours, theirs, "{list}");
        }
    }
    assert_eq!(*vectors, held);
}

#[test]
fn messages_of_clients_servers_and_operators_are_the_bytes_of_the_vectors() {
    let headings: Vec<u64> = (0..=255).map(|part| kinesphere_wire::pose::heading(part).bits()).collect();
    assert_held(
        "messages.json",
        &json!({
            "version": VERSION,
            "operator_version": OPERATOR_VERSION,
            "to_server": vectors(&messages::to_server(), ToServer::encode, ToServer::decode),
            "to_client": vectors(&messages::to_client(), ToClient::encode, ToClient::decode),
            "from_operator": vectors(&messages::from_operator(), FromOperator::encode, FromOperator::decode),
            "to_operator": vectors(&messages::to_operator(), ToOperator::encode, ToOperator::decode),
            "headings": headings,
        }),
    );
}

#[test]
fn messages_of_peers_are_the_bytes_of_their_vectors() {
    let to_peer = vectors(&messages::to_peer(), ToPeer::encode, ToPeer::decode);
    assert_held("peers.json", &json!({ "version": PEER_VERSION, "to_peer": to_peer }));
}

#[test]
fn messages_of_nodes_are_the_bytes_of_their_vectors() {
    let to_node = vectors(&messages::to_node(), ToNode::encode, ToNode::decode);
    assert_held("nodes.json", &json!({ "version": CLUSTER_VERSION, "to_node": to_node }));
}
