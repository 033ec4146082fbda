//! The first byte of each message. Those of clients are below 0x40, of servers below 0x80, of peers below 0xa0, and
//! those of the nodes of a cluster follow. The enums of messages ([`ToServer`](crate::ToServer) and its like) say what
//! each means.
#![allow(missing_docs)]

macro_rules! kinds {
    ($($name:ident = $byte:literal $($label:literal)?;)*) => {
        $(pub const $name: u8 = $byte;)*

        /// The name of a kind between server, client and operator, as documents and metrics have it.
        pub const fn name(kind: u8) -> Option<&'static str> {
            Some(match kind {
                $($($name => $label,)?)*
                _ => return None,
            })
        }
    };
}

kinds! {
    HELLO = 0x01 "hello";
    SAY = 0x02 "say";
    GRAB = 0x03 "grab";
    RELEASE = 0x04 "release";
    LEAVE = 0x05 "leave";
    MOVES = 0x06 "moves";
    PING = 0x07 "ping";

    WATCH = 0x21 "watch";
    PLAY = 0x22 "play";
    LOOK = 0x23 "look";

    WELCOME = 0x41 "welcome";
    REFUSED = 0x42 "refused";
    SCENE = 0x43 "scene";
    ROSTER = 0x44 "roster";
    SAID = 0x45 "said";
    GRABBED = 0x46 "grabbed";
    CLOSED = 0x47 "closed";
    STATE = 0x48 "state";
    PONG = 0x49 "pong";
    REDIRECT = 0x4a "redirect";
    SERVERS = 0x4b "servers";
    FORMS = 0x50 "forms";

    WATCHED = 0x61 "watched";
    KNOWN = 0x62 "known";
    VIEW = 0x63 "view";
    PLAYED = 0x64 "played";
    GROUPS = 0x65 "groups";
    CELLS = 0x66 "cells";
    HEARING = 0x67 "hearing";
    BORDERS = 0x68 "borders";

    PEER_HELLO = 0x81;
    PEER_OWNS = 0x82;
    PEER_DROPS = 0x83;
    PEER_REPORT = 0x84;
    PEER_CLAIM = 0x85;
    PEER_VERDICT = 0x86;
    PEER_PING = 0x87;
    PEER_PONG = 0x88;
    PEER_LEAVE = 0x89;
    PEER_SAYS = 0x8a;

    NODE_BEAT = 0xa1;
    NODE_VOUCH = 0xa2;
    NODE_JOIN = 0xa3;
    NODE_PREPARE = 0xa4;
    NODE_PROMISE = 0xa5;
    NODE_ACCEPT = 0xa6;
    NODE_ACCEPTED = 0xa7;
    NODE_COMMITTED = 0xa8;
    NODE_DECLARE = 0xa9;
    NODE_BATCH = 0xaa;
    NODE_INTRODUCE = 0xab;
    NODE_OFFER = 0xac;
    NODE_TAKEN = 0xad;
    NODE_REPLICATE = 0xae;
    NODE_REPLICATED = 0xaf;
    NODE_QUERY = 0xb0;
    NODE_KNOWN = 0xb1;
    NODE_CLOSED = 0xb2;
    NODE_HELLO = 0xb3;
    NODE_TURNED_AWAY = 0xb4;
    NODE_SEEK = 0xb5;
    NODE_SOUGHT = 0xb6;
    NODE_SAID = 0xb7;
}
