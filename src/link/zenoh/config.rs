//! Zenoh's own settings, made of ours: discovery is off, waiting times are short, queues are bounded, and senders are
//! checked on arrival.

use serde_json::{Value, json};
use zenoh::Config;

use super::settings::{FabricError, FabricSettings, Locator, NodeCertificates, NodeTrust};
use super::{keys, settings};
use crate::link::{LinkLimits, NodeName};

/// A connection stands, or is given up, within this time, in milliseconds.
const HANDSHAKE_MS: u64 = 3_000;
/// Nodes that are not there are tried again after this time, and later after the second one, in milliseconds.
const RETRY_MS: [u64; 2] = [200, 1_000];
/// Room for what Zenoh wraps around a message, in bytes.
const WRAPPING_MAX: usize = 1_024;

/// The settings with which Zenoh is opened.
pub(super) fn config(settings: &FabricSettings, limits: &LinkLimits) -> Result<Config, FabricError> {
    let locators = |endpoints: &[Locator]| -> Vec<String> {
        endpoints.iter().map(|endpoint| endpoint.locator(&settings.trust)).collect()
    };
    let message_bytes_max = limits.message_bytes_max.max(limits.datagram_bytes_max) + WRAPPING_MAX;
    let mut values = vec![
        ("mode", json!("peer")),
        ("listen/endpoints", json!(locators(&settings.listen))),
        ("listen/exit_on_failure", json!(true)),
        ("connect/endpoints", json!(locators(&settings.connect))),
        (
            "connect/retry",
            json!({ "period_init_ms": RETRY_MS[0], "period_max_ms": RETRY_MS[1], "period_increase_factor": 2 }),
        ),
        ("scouting/multicast/enabled", json!(false)),
        ("scouting/gossip/enabled", json!(settings.introductions)),
        ("transport/unicast/open_timeout", json!(HANDSHAKE_MS)),
        ("transport/unicast/accept_timeout", json!(HANDSHAKE_MS)),
        ("transport/unicast/max_sessions", json!(limits.links_max)),
        ("transport/link/tx/lease", json!(settings.lease.as_millis() as u64)),
        ("transport/link/rx/max_message_size", json!(message_bytes_max)),
        ("adminspace/enabled", json!(false)),
    ];
    match &settings.trust {
        NodeTrust::Anyone => {}
        NodeTrust::Passwords(passwords) => {
            let password = passwords.of(&settings.node).unwrap_or_default();
            values.push((
                "transport/auth/usrpwd",
                json!({
                    "user": settings.node.as_str(),
                    "password": password,
                    "dictionary_file": passwords.file().display().to_string(),
                }),
            ));
            values.push(("access_control", by_name(&settings.world, &settings.trust.members().unwrap_or_default())));
        }
        NodeTrust::Certificates(NodeCertificates { authority, certificate, key, members }) => {
            let path = |path: &std::path::Path| path.display().to_string();
            values.push((
                "transport/link/tls",
                json!({
                    "root_ca_certificate": path(authority),
                    "listen_certificate": path(certificate),
                    "listen_private_key": path(key),
                    "connect_certificate": path(certificate),
                    "connect_private_key": path(key),
                    "enable_mtls": true,
                    "verify_name_on_connect": true,
                    "close_link_on_expiration": true,
                }),
            ));
            if !members.is_empty() {
                values.push(("access_control", by_certificate(settings, members)));
            }
        }
    }
    let mut config = Config::default();
    for (key, value) in values {
        let inserted = config.insert_json5(key, &value.to_string());
        inserted.map_err(|error| FabricError::Start(format!("{key}: {error}")))?;
    }
    Ok(config)
}

/// All messages between nodes, in Zenoh's terms.
const MESSAGES: [&str; 9] = [
    "put",
    "delete",
    "declare_subscriber",
    "query",
    "declare_queryable",
    "reply",
    "liveliness_token",
    "declare_liveliness_subscriber",
    "liveliness_query",
];

/// Both ends of a link have shown a certificate: a message that is not under its name is dropped.
fn by_certificate(settings: &FabricSettings, members: &[NodeName]) -> Value {
    let (world, me) = (&settings.world, &settings.node);
    let rule = |id: String, flow: &str, messages: &[&str], keys: Vec<String>| {
        let permission = "allow";
        json!({ "id": id, "permission": permission, "flows": [flow], "messages": messages, "key_exprs": keys })
    };
    let mut rules = vec![
        rule("out".to_owned(), "egress", &MESSAGES, vec![keys::everything(world)]),
        rule(
            "asks".to_owned(),
            "ingress",
            &["declare_liveliness_subscriber", "liveliness_query"],
            vec![keys::all_tokens(world)],
        ),
    ];
    let (mut subjects, mut policies) = (Vec::new(), Vec::new());
    for member in members {
        let says = format!("{member}-says");
        let is = format!("{member}-is");
        let hears = format!("{member}-hears");
        rules.push(rule(says.clone(), "ingress", &["put"], vec![keys::batches(world, member, me)]));
        rules.push(rule(is.clone(), "ingress", &["liveliness_token"], vec![keys::alive(world, member)]));
        rules.push(rule(hears.clone(), "ingress", &["declare_subscriber"], vec![keys::all_batches_to(world, member)]));
        subjects.push(json!({ "id": member.as_str(), "cert_common_names": [member.as_str()] }));
        policies.push(json!({ "rules": ["out", "asks", says, is, hears], "subjects": [member.as_str()] }));
    }
    json!({ "enabled": true, "default_permission": "deny", "rules": rules, "subjects": subjects, "policies": policies })
}

/// The node that opened a link has given a name and known its password, the one that accepted it has not. So a message
/// under another member's name is dropped, and all others pass.
fn by_name(world: &NodeName, members: &[NodeName]) -> Value {
    let (mut rules, mut subjects, mut policies) = (Vec::new(), Vec::new(), Vec::new());
    for member in members {
        let others = || members.iter().filter(|other| *other != member);
        let keys: Vec<String> =
            others().flat_map(|other| [keys::all_batches_from(world, other), keys::alive(world, other)]).collect();
        if keys.is_empty() {
            continue;
        }
        rules.push(json!({
            "id": member.as_str(), "permission": "deny", "flows": ["ingress"],
            "messages": ["put", "delete", "liveliness_token"], "key_exprs": keys,
        }));
        subjects.push(json!({ "id": member.as_str(), "usernames": [member.as_str()] }));
        policies.push(json!({ "rules": [member.as_str()], "subjects": [member.as_str()] }));
    }
    let is_enabled = members.len() > 1;
    debug_assert!(members.len() <= settings::MEMBERS_MAX, "`NodeTrust::check` has counted them");
    json!({
        "enabled": is_enabled, "default_permission": "allow",
        "rules": rules, "subjects": subjects, "policies": policies,
    })
}
