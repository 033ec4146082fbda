//! How a command proves to a server that an operator runs it.

use std::path::{Path, PathBuf};

use clap::Args;
use kinesphere::fetch::Address;
use kinesphere::operator::OperatorToken;

use super::Failure;
use super::store::data_folder;

/// The operator's token, or where it lies.
#[derive(Args)]
pub struct Proof {
    /// A file with the operator's token, or a role's [default: operator.token in the world's folder, for a server on
    /// this machine]
    #[arg(long, value_name = "FILE", env = "KINESPHERE_OPERATOR_TOKEN_FILE")]
    operator_token_file: Option<PathBuf>,
    /// The token itself; other users of this machine can read a flag, so set the environment
    #[arg(long, value_name = "TOKEN", env = "KINESPHERE_OPERATOR_TOKEN", hide_env_values = true)]
    operator_token: Option<String>,
}

impl Proof {
    /// The token to show to this server, if there is one. `world` is the world file that it serves.
    pub fn token(&self, server: &Address, world: Option<&Path>) -> Result<Option<String>, Failure> {
        let is_overheard = !server.is_encrypted && !server.is_loopback();
        if is_overheard && (self.operator_token.is_some() || self.operator_token_file.is_some()) {
            let sentence =
                format!("{server} would be shown the token over plain HTTP, where it could be read; use https://");
            return Err(Failure::Input(sentence));
        }
        if let Some(token) = &self.operator_token {
            return Ok(Some(token.clone()));
        }
        let read = |path: &Path| OperatorToken::read(path).map(|token| token.reveal().to_owned());
        if let Some(path) = &self.operator_token_file {
            return read(path).map(Some).map_err(|error| Failure::Input(error.to_string()));
        }
        if !server.is_loopback() {
            return Ok(None);
        }
        // Without a kept world on this machine there is nothing to read, and the server says what it needs.
        Ok(data_folder(None, world).ok().and_then(|folder| read(&folder.join(OperatorToken::FILE)).ok()))
    }
}
