//! UDP sockets with room for a burst: a server sends to all clients at once, a tick later all clients answer, and what
//! does not fit into the system's buffer is lost.

use std::io;
use std::net::{SocketAddr, UdpSocket};

/// The size of a socket's buffer each way: a thousand users with two datagrams each, at what a packet takes in the
/// kernel. The system may grant less (`net.core.rmem_max` on Linux).
const BURST_BYTES: usize = 4 << 20;

/// Takes a port.
pub(super) fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    let options = socket2::SockRef::from(&socket);
    // A smaller buffer is no reason not to serve.
    let _ = options.set_recv_buffer_size(BURST_BYTES);
    let _ = options.set_send_buffer_size(BURST_BYTES);
    Ok(socket)
}
