//! The command line as a stranger meets it: help with an example, and refusals.

mod shell;

use shell::{kinesphere, stderr, stdout};

#[test]
fn every_command_explains_itself_with_an_example() {
    for command in [
        "--help",
        "tree --help",
        "tree build --help",
        "tree show --help",
        "tree check --help",
        "serve --help",
        "bots --help",
        "witness --help",
        "cluster --help",
        "cluster status --help",
        "why --help",
        "relay --help",
        "replay --help",
        "token --help",
        "store --help",
    ] {
        let output = kinesphere(command);
        assert!(output.status.success(), "{command}");
        assert!(stdout(&output).contains("Example: kinesphere "), "{command}: {}", stdout(&output));
    }
}

#[test]
fn a_text_that_is_no_number_is_refused_with_what_was_expected() {
    for (command, expected) in [
        ("serve --crowd many", "'many' for '--crowd <N>': expected a whole number from 0 on"),
        ("bots --count 1e3", "'1e3' for '--count <N>': expected a whole number from 0 on"),
    ] {
        let output = kinesphere(command);
        assert_eq!(output.status.code(), Some(2), "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{command}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{command}");
    }
}
