//! Builds the page on the way, where npm is there: `cargo run -- serve` is all it takes.
//!
//! `web/` is copied to `OUT_DIR` and built there, so that nothing is written beside the sources. Without npm, or where
//! its packages cannot be had, the server has a page of one sentence. `KINESPHERE_PAGE` is `auto` (that), `build`
//! (insist, for releases and CI) or `none`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The files of `web/` that the page is made of.
const FILES: [&str; 8] = [
    "package.json",
    "package-lock.json",
    ".npmrc",
    "tsconfig.json",
    "vite.config.ts",
    "index.html",
    "map.html",
    "bench.html",
];
/// And its folders.
const FOLDERS: [&str; 2] = ["src", "public"];

fn main() {
    println!("cargo::rerun-if-env-changed=KINESPHERE_PAGE");
    println!("cargo::rerun-if-changed=build.rs");
    let web = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where we are")).join("web");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to write"));
    for name in FILES.iter().chain(&FOLDERS).map(|name| web.join(name)).filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", name.display());
    }
    let wish = env::var("KINESPHERE_PAGE").unwrap_or_else(|_| "auto".to_owned());
    let is_wanted = wish != "none" && env::var_os("DOCS_RS").is_none();
    let built = if is_wanted { build(&web, &out.join("web")) } else { Err(Missing::Unwanted) };
    let files = match built {
        Ok(page) => list(&page).expect("what was built can be read"),
        Err(Missing::Broken(why)) => panic!("the page cannot be built: {why}"),
        Err(missing) if wish == "build" => panic!("the page is not built: {missing:?}"),
        Err(Missing::Unwanted) => Vec::new(),
        Err(Missing::Tools(why)) => {
            println!("cargo::warning=the server will have no page: {why}");
            Vec::new()
        }
    };
    let rows: String = files.iter().map(|(name, path)| row(name, path, &out)).collect();
    let source = format!(
        "/// The files of the page: name, media type, bytes, compressed bytes.\n\
         pub static FILES: &[File] = &[\n{rows}];\n"
    );
    fs::write(out.join("page.rs"), source).expect("OUT_DIR can be written");
}

/// Why there is no page.
#[derive(Debug)]
enum Missing {
    /// No page was asked for.
    Unwanted,
    /// npm, or its packages, cannot be had here.
    Tools(String),
    /// It is there and does not build: a mistake of ours.
    Broken(String),
}

/// Builds the page in a folder of its own; gives the folder of what came out.
fn build(web: &Path, work: &Path) -> Result<PathBuf, Missing> {
    let broken = |error: io::Error| Missing::Broken(error.to_string());
    if !web.join("package-lock.json").exists() {
        return Err(Missing::Tools("its sources are not in this package".to_owned()));
    }
    let lock = fs::read(web.join("package-lock.json")).map_err(broken)?;
    let installed = work.join("installed.json");
    let is_installed = fs::read(&installed).is_ok_and(|known| known == lock);
    fs::create_dir_all(work).map_err(broken)?;
    for name in FILES.iter().filter(|name| web.join(name).exists()) {
        fs::copy(web.join(name), work.join(name)).map_err(broken)?;
    }
    for name in FOLDERS {
        let _ = fs::remove_dir_all(work.join(name));
        copy(&web.join(name), &work.join(name)).map_err(broken)?;
    }
    check_node().map_err(Missing::Tools)?;
    if !is_installed {
        let install = "ci --include=dev --ignore-scripts --prefer-offline --no-audit --no-fund \
                       --fetch-retries=1 --fetch-timeout=30000 --loglevel=error";
        npm(work, install).map_err(Missing::Tools)?;
        fs::write(&installed, lock).map_err(broken)?;
    }
    npm(work, "run --silent build").map_err(Missing::Broken)?;
    Ok(work.join("dist"))
}

/// What the packages that build the page need: with an older Node they fail without a useful message.
fn check_node() -> Result<(), String> {
    let output = Command::new("node").arg("--version").output();
    let said = output.map_err(|error| format!("node cannot be run ({error})"))?.stdout;
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    let mut numbers = said.trim_start_matches('v').split('.').map(|number| number.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let is_enough = version >= (22, 12) || (version.0 == 20 && version.1 >= 19);
    if is_enough { Ok(()) } else { Err(format!("Node {said} is too old for it: it takes 20.19 or 22.12, or newer")) }
}

fn npm(work: &Path, arguments: &str) -> Result<(), String> {
    let name = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let mut command = Command::new(name);
    command.args(arguments.split_whitespace()).current_dir(work);
    // Cargo's own words mean something else to npm's packages.
    for name in ["DEBUG", "HOST", "TARGET", "PROFILE", "NODE_ENV"] {
        command.env_remove(name);
    }
    let output = command.output().map_err(|error| format!("npm cannot be run ({error})"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let first = arguments.split_whitespace().next().unwrap_or("");
    // Its whole help follows the first lines.
    let gist: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).take(6).collect();
    Err(format!("`npm {first}` failed: {}", gist.join(" | ")))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// All files of a folder, by the path that a browser asks for.
fn list(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|extension| extension != "gz") {
                let inner = path.strip_prefix(folder).expect("it was found in there");
                let parts: Vec<_> = inner.iter().map(|part| part.to_string_lossy()).collect();
                found.push((parts.join("/"), path));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn row(name: &str, path: &Path, out: &Path) -> String {
    let kind = match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let compressed = path.with_file_name(format!("{}.gz", path.file_name().unwrap_or_default().to_string_lossy()));
    let include = |path: &Path| {
        let inner = path.strip_prefix(out).expect("it was built in there").to_string_lossy().replace('\\', "/");
        format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{inner}\"))")
    };
    let packed = if compressed.exists() { format!("Some({})", include(&compressed)) } else { "None".to_owned() };
    format!("    File {{ name: {name:?}, kind: {kind:?}, plain: {}, packed: {packed} }},\n", include(path))
}
