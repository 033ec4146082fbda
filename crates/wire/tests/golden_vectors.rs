//! Yesterday's bytes mean today what they meant yesterday. `vectors/messages.json` is read here and by the page's tests.
//!
//! A change of the protocol shows here first. If it is meant: raise `VERSION`, and write the vectors again with
//! `KINESPHERE_WRITE_VECTORS=1 cargo test -p kinesphere-wire --test golden_vectors -- --test-threads 1`.
#![allow(clippy::disallowed_methods, reason = "the vectors are files")]

mod messages;

use serde_json::{Value, json};
use wire::cluster::CLUSTER_VERSION;
use wire::operator::{FromOperator, OPERATOR_VERSION, ToOperator};
use wire::peer::PEER_VERSION;
use wire::{ToClient, ToNode, ToPeer, ToServer, VERSION};

/// Apart from the others: the page reads those, and knows nothing of peers.
const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/peers.json");
const NODES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/nodes.json");
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/messages.json");

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn vectors() -> Value {
    let up = messages::to_server();
    let up: Vec<Value> = up
        .iter()
        .map(|(name, message)| json!({ "name": name, "bytes": hex(&message.encode()), "message": message }))
        .collect();
    let down = messages::to_client();
    let down: Vec<Value> = down
        .iter()
        .map(|(name, message)| json!({ "name": name, "bytes": hex(&message.encode()), "message": message }))
        .collect();
    let from_operator: Vec<Value> = messages::from_operator()
        .iter()
        .map(|(name, message)| json!({ "name": name, "bytes": hex(&message.encode()), "message": message }))
        .collect();
    let to_operator: Vec<Value> = messages::to_operator()
        .iter()
        .map(|(name, message)| json!({ "name": name, "bytes": hex(&message.encode()), "message": message }))
        .collect();
    let headings: Vec<u64> = (0..=255).map(|part| wire::pose::heading(part).bits()).collect();
    json!({ "version": VERSION, "operator_version": OPERATOR_VERSION, "to_server": up, "to_client": down,
        "from_operator": from_operator, "to_operator": to_operator, "headings": headings })
}

#[test]
fn messages_are_the_bytes_of_the_vectors() {
    let vectors = vectors();
    if std::env::var_os("KINESPHERE_WRITE_VECTORS").is_some() {
        std::fs::write(FILE, serde_json::to_string_pretty(&vectors).unwrap() + "\n").unwrap();
    }
    let held: Value = serde_json::from_str(&std::fs::read_to_string(FILE).unwrap()).unwrap();
    for list in ["to_server", "to_client", "from_operator", "to_operator"] {
        for (ours, theirs) in vectors[list].as_array().unwrap().iter().zip(held[list].as_array().unwrap()) {
            assert_eq!(ours, theirs);
        }
    }
    assert_eq!(vectors, held);
}

#[test]
fn the_bytes_of_the_vectors_are_messages() {
    let held: Value = serde_json::from_str(&std::fs::read_to_string(FILE).unwrap()).unwrap();
    for vector in held["to_server"].as_array().unwrap() {
        let message = ToServer::decode(&unhex(vector["bytes"].as_str().unwrap())).unwrap();
        assert_eq!(serde_json::to_value(&message).unwrap(), vector["message"], "{}", vector["name"]);
    }
    for vector in held["to_client"].as_array().unwrap() {
        let message = ToClient::decode(&unhex(vector["bytes"].as_str().unwrap())).unwrap();
        assert_eq!(serde_json::to_value(&message).unwrap(), vector["message"], "{}", vector["name"]);
    }
    for vector in held["from_operator"].as_array().unwrap() {
        let message = FromOperator::decode(&unhex(vector["bytes"].as_str().unwrap())).unwrap();
        assert_eq!(serde_json::to_value(&message).unwrap(), vector["message"], "{}", vector["name"]);
    }
    for vector in held["to_operator"].as_array().unwrap() {
        let message = ToOperator::decode(&unhex(vector["bytes"].as_str().unwrap())).unwrap();
        assert_eq!(serde_json::to_value(&message).unwrap(), vector["message"], "{}", vector["name"]);
    }
}

#[test]
fn what_peers_say_is_the_bytes_of_their_vectors() {
    let vectors: Vec<Value> = messages::to_peer()
        .iter()
        .map(|(name, message)| json!({ "name": name, "bytes": hex(&message.encode()), "message": message }))
        .collect();
    let vectors = json!({ "version": PEER_VERSION, "to_peer": vectors });
    if std::env::var_os("KINESPHERE_WRITE_VECTORS").is_some() {
        std::fs::write(PEERS, serde_json::to_string_pretty(&vectors).unwrap() + "\n").unwrap();
    }
    let held: Value = serde_json::from_str(&std::fs::read_to_string(PEERS).unwrap()).unwrap();
    assert_eq!(vectors, held);
    for vector in held["to_peer"].as_array().unwrap() {
        let message = ToPeer::decode(&unhex(vector["bytes"].as_str().unwrap())).unwrap();
        assert_eq!(serde_json::to_value(&message).unwrap(), vector["message"], "{}", vector["name"]);
    }
}

#[test]
fn what_nodes_say_is_the_bytes_of_their_vectors() {
    let vectors: Vec<Value> = messages::to_node()
        .iter()
        .map(|(name, message)| json!({ "name": name, "bytes": hex(&message.encode()), "message": message }))
        .collect();
    let vectors = json!({ "version": CLUSTER_VERSION, "to_node": vectors });
    if std::env::var_os("KINESPHERE_WRITE_VECTORS").is_some() {
        std::fs::write(NODES, serde_json::to_string_pretty(&vectors).unwrap() + "\n").unwrap();
    }
    let held: Value = serde_json::from_str(&std::fs::read_to_string(NODES).unwrap()).unwrap();
    assert_eq!(vectors, held);
    for vector in held["to_node"].as_array().unwrap() {
        let message = ToNode::decode(&unhex(vector["bytes"].as_str().unwrap())).unwrap();
        assert_eq!(serde_json::to_value(&message).unwrap(), vector["message"], "{}", vector["name"]);
    }
}
