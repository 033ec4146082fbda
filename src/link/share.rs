//! How much one address may have of a shared limit: one machine must not use up all of it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex};

/// Counts what each address has. Clones count together.
#[derive(Clone, Debug)]
pub(super) struct AddressShares {
    max: usize,
    taken: Arc<Mutex<BTreeMap<IpAddr, usize>>>,
}

/// One part of an address's share, until it is dropped.
#[derive(Debug)]
pub(super) struct AddressShare {
    of: AddressShares,
    /// `None` where nothing is counted.
    owner: Option<IpAddr>,
}

impl AddressShares {
    /// At most `max` for each address.
    pub fn new(max: usize) -> AddressShares {
        AddressShares { max, taken: Arc::default() }
    }

    /// A part for this address, unless it has its share already.
    pub fn take(&self, address: IpAddr) -> Option<AddressShare> {
        let owner = owner(address);
        if let Some(owner) = owner {
            let mut taken = self.taken.lock().expect("no thread panics while holding it");
            let count = taken.entry(owner).or_default();
            if *count >= self.max {
                return None;
            }
            *count += 1;
        }
        Some(AddressShare { of: self.clone(), owner })
    }
}

impl Drop for AddressShare {
    fn drop(&mut self) {
        let Some(owner) = self.owner else { return };
        let mut taken = self.of.taken.lock().expect("no thread panics while holding it");
        if let Some(count) = taken.get_mut(&owner) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&owner);
            }
        }
    }
}

/// The key under which an address is counted. This machine is not counted: bots and proxies run here. An IPv6 customer
/// gets 64 bits of addresses.
fn owner(address: IpAddr) -> Option<IpAddr> {
    match address.to_canonical() {
        address if address.is_loopback() => None,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Some(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into())
        }
        address => Some(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// Keeps out this bug: one machine took every place, and all others were refused.
    #[test]
    fn no_address_takes_more_than_its_share() {
        let shares = AddressShares::new(2);
        let held = ["10.0.0.1", "::ffff:10.0.0.1"].map(|text| shares.take(address(text)).unwrap());
        assert!(shares.take(address("10.0.0.1")).is_none());
        let other = shares.take(address("10.0.0.2")).unwrap();
        drop(held);
        assert!(shares.take(address("10.0.0.1")).is_some());
        drop(other);
        assert!(shares.taken.lock().unwrap().is_empty(), "what was given back is forgotten");
    }

    #[test]
    fn a_network_of_ipv6_is_one_address_and_this_machine_is_none() {
        let shares = AddressShares::new(1);
        let _held = shares.take(address("2001:db8::1")).unwrap();
        assert!(shares.take(address("2001:db8::2:1")).is_none());
        let _other = shares.take(address("2001:db8:0:1::1")).unwrap();
        let _here: Vec<AddressShare> = (0..9).map(|_| shares.take(address("127.0.0.1")).unwrap()).collect();
        let _here: Vec<AddressShare> = (0..9).map(|_| shares.take(address("::1")).unwrap()).collect();
    }
}
