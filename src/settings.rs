//! Settings come from flags, from the environment and from a TOML file, in that order. Each is defined once, as a flag;
//! its name in a file is the flag's without the dashes in front.
//!
//! A file is read as if its settings stood on the command line, for those that neither flag nor environment gives. So a
//! value is understood and refused in one place, wherever it comes from.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use thiserror::Error;
use toml::de::{DeTable, DeValue};

/// The flag that names the file.
pub const FLAG: &str = "settings";

/// Why a file of settings cannot be used.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// It cannot be read.
    #[error("cannot read the settings in {path}: {error}", path = path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    /// It is not TOML.
    #[error("{path}: {why}", path = path.display())]
    NotToml {
        path: PathBuf,
        /// What is wrong, with the line.
        why: String,
    },
    /// It sets what does not exist.
    #[error("{path}, line {line}: there is no setting `{name}`; there are {known}", path = path.display())]
    Unknown {
        path: PathBuf,
        line: usize,
        /// What it names.
        name: String,
        /// What it might have named.
        known: String,
    },
    /// A switch has a value other than true or false.
    #[error("{path}, line {line}: `{name}` must be true or false", path = path.display())]
    Flag { path: PathBuf, line: usize, name: String },
    /// A value is of a kind that no setting has.
    #[error("{path}, line {line}: `{name}` must be a text, a number, true or false, or a list of these",
        path = path.display())]
    Kind { path: PathBuf, line: usize, name: String },
    /// A value is not what the setting takes.
    #[error("in the settings of {path}: {why}", path = path.display())]
    Value {
        path: PathBuf,
        /// What the command line would say.
        why: String,
    },
}

/// What was asked for on this command line, the environment and the file that it names. Outer errors are clap's, which
/// prints them itself.
pub fn matches(command: &Command, arguments: &[OsString]) -> Result<Result<ArgMatches, SettingsError>, clap::Error> {
    let given = command.clone().try_get_matches_from(arguments)?;
    Ok(with_file(command, arguments, given))
}

fn with_file(command: &Command, arguments: &[OsString], given: ArgMatches) -> Result<ArgMatches, SettingsError> {
    let Some((name, inner)) = given.subcommand() else { return Ok(given) };
    let Ok(Some(path)) = inner.try_get_one::<PathBuf>(FLAG) else { return Ok(given) };
    let subcommand = command.find_subcommand(name).expect("clap found it");
    let more = flags_of(path, subcommand, inner)?;
    let all = arguments.iter().cloned().chain(more);
    command.clone().try_get_matches_from(all).map_err(|error| {
        let text = error.render().to_string();
        let why = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        SettingsError::Value { path: path.clone(), why }
    })
}

/// What a file sets and nothing before it has, as flags.
fn flags_of(path: &Path, command: &Command, given: &ArgMatches) -> Result<Vec<OsString>, SettingsError> {
    let text = fs::read_to_string(path).map_err(|error| SettingsError::Unreadable { path: path.to_owned(), error })?;
    let table = DeTable::parse(&text).map_err(|error| SettingsError::NotToml {
        path: path.to_owned(),
        why: error.to_string().trim_end().to_owned(),
    })?;
    let mut flags = Vec::new();
    for (key, value) in table.get_ref() {
        let name = key.get_ref().replace('_', "-");
        let line = text[..key.span().start].matches('\n').count() + 1;
        let Some(argument) = settable(command).find(|argument| argument.get_long() == Some(&name)) else {
            let known: Vec<_> = settable(command).filter_map(|argument| argument.get_long()).collect();
            let path = path.to_owned();
            return Err(SettingsError::Unknown { path, line, name, known: known.join(", ") });
        };
        let is_given = given
            .value_source(argument.get_id().as_str())
            .is_some_and(|source| matches!(source, ValueSource::CommandLine | ValueSource::EnvVariable));
        if is_given {
            continue;
        }
        let wrong = || SettingsError::Kind { path: path.to_owned(), line, name: name.clone() };
        let values = match value.get_ref() {
            DeValue::Array(values) => values.iter().map(|value| plain(value.get_ref())).collect(),
            value => Some(vec![plain(value).ok_or_else(wrong)?]),
        };
        for value in values.ok_or_else(wrong)? {
            match (argument.get_action().takes_values(), value.as_str()) {
                (true, value) => flags.push(format!("--{name}={value}").into()),
                (false, "true") => flags.push(format!("--{name}").into()),
                (false, "false") => {}
                (false, _) => {
                    return Err(SettingsError::Flag { path: path.to_owned(), line, name });
                }
            }
        }
    }
    Ok(flags)
}

/// The flags that a file may set.
fn settable(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|argument| argument.get_long().is_some_and(|long| long != FLAG && long != "help"))
}

/// A value as one would write it on the command line.
fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(is) => Some(is.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::{ArgAction, value_parser};

    use super::*;

    fn command() -> Command {
        let number = |name: &'static str| Arg::new(name).long(name).value_parser(value_parser!(u32));
        Command::new("test").subcommand(
            Command::new("serve")
                .arg(Arg::new(FLAG).long(FLAG).value_parser(value_parser!(PathBuf)))
                .arg(number("clients-max").env("KINESPHERE_TEST_CLIENTS_MAX").default_value("10"))
                .arg(number("crowd").default_value("1"))
                .arg(Arg::new("origin").long("origin").action(ArgAction::Append))
                .arg(Arg::new("in-memory").long("in-memory").action(ArgAction::SetTrue)),
        )
    }

    fn parse(file: &str, more: &[&str]) -> Result<ArgMatches, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.toml");
        fs::write(&path, file).unwrap();
        let flag = format!("--{FLAG}={}", path.display());
        let arguments: Vec<OsString> = [&["test", "serve", &flag], more].concat().iter().map(OsString::from).collect();
        let found = matches(&command(), &arguments).unwrap();
        found.map(|found| found.subcommand().unwrap().1.clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn flags_come_before_the_file_and_the_file_before_defaults() {
        let file = "crowd = 5\nclients_max = 7\norigin = [\"https://a\", \"https://b\"]\nin-memory = true\n";
        let found = parse(file, &["--crowd=9"]).unwrap();
        assert_eq!(found.get_one::<u32>("crowd"), Some(&9));
        assert_eq!(found.get_one::<u32>("clients-max"), Some(&7));
        assert!(found.get_flag("in-memory"));
        assert!(found.get_many::<String>("origin").unwrap().eq(["https://a", "https://b"]));
        assert_eq!(parse("", &[]).unwrap().get_one::<u32>("clients-max"), Some(&10));
    }

    #[test]
    fn a_wrong_file_is_refused_with_the_line_and_what_was_expected() {
        for (file, expected) in [
            ("crowd = 1\n\nlisen = 3\n", "line 3: there is no setting `lisen`; there are clients-max, crowd"),
            ("crowd = {}\n", "line 1: `crowd` must be a text"),
            ("in-memory = 3\n", "line 1: `in-memory` must be true or false"),
            ("in-memory = \"yes\"\n", "line 1: `in-memory` must be true or false"),
            ("crowd = \"many\"\n", "invalid value 'many' for '--crowd"),
            ("crowd = \n", "line 1"),
            ("settings = \"other.toml\"\n", "there is no setting `settings`"),
        ] {
            let error = parse(file, &[]).unwrap_err();
            assert!(error.contains(expected) && error.contains("server.toml"), "{file:?}: {error}");
        }
    }
}
