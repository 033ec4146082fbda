//! Two providers of cryptography in one program panic at the first handshake: there is one, and it is ring.

const LOCK: &str = include_str!("../Cargo.lock");

#[test]
fn nothing_brings_a_second_provider() {
    let count = |name: &str| LOCK.lines().filter(|line| *line == format!("name = \"{name}\"")).count();
    for (name, expected) in
        [("ring", 1), ("rustls", 1), ("aws-lc-rs", 0), ("aws-lc-sys", 0), ("openssl-sys", 0), ("native-tls", 0)]
    {
        assert_eq!(count(name), expected, "{name}: `cargo tree --invert {name}` says who wants it");
    }
}
