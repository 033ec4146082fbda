//! Any bytes, as a message of any direction: no panic, and a message has one encoding. The tests of `wire` replay
//! `corpus/decode` and hold memory to the same law.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::operator::{FromOperator, ToOperator};
use wire::{ToClient, ToNode, ToPeer, ToServer};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(message) = ToServer::decode(bytes) {
        assert_eq!(message.encode(), bytes);
    }
    if let Ok(message) = ToClient::decode(bytes) {
        assert_eq!(message.encode(), bytes);
    }
    if let Ok(message) = FromOperator::decode(bytes) {
        assert_eq!(message.encode(), bytes);
    }
    if let Ok(message) = ToOperator::decode(bytes) {
        assert_eq!(message.encode(), bytes);
    }
    if let Ok(message) = ToPeer::decode(bytes) {
        assert_eq!(message.encode(), bytes);
    }
    if let Ok(message) = ToNode::decode(bytes) {
        assert_eq!(message.encode(), bytes);
    }
});
