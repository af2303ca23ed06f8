//! `b2 view --web`: serves the page for browsers and the named files, to this machine only.
//!
//! ```text
//! browser --GET /SECRET/...--> Request   a strict parser of heads
//!                                site    what is at a path: the page, files by their numbers
//!         <--parts of files--  Answer    status, headers, and bytes
//! ```
//!
//! A page of another origin learns nothing. It does not know the secret; the header `Host` exposes
//! names that were rebound to this machine; no header allows other origins to read.

mod site;

use core::{
    net::Ipv4Addr,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};
use std::{
    env,
    io::{self, BufReader},
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
    sync::Arc,
    thread,
};

use b2_program::http::{Answer, Request};

use crate::{
    args::ViewArgs,
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    inputs::{Origin, Part},
};

use site::{Served, Site};

/// A file of the page: its name, its type, and its bytes.
pub(crate) type Asset = (&'static str, &'static str, &'static [u8]);

/// The page, which `build.rs` takes from `web/dist`; empty in builds without it.
const PAGE: &[Asset] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Connections at a time: a browser has six.
const MAX_CONNECTIONS: usize = 64;
/// How long a browser may take for its next request, or to take an answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Serves until the user ends.
pub(crate) fn run(args: &ViewArgs, cx: &Context) -> Code {
    let page: &'static [Asset] = PAGE;
    if page.is_empty() {
        return cx.refuse(&message::NO_PAGE.error());
    }
    let inputs: Vec<_> = args.files.iter().flat_map(|word| cx.input(word)).collect();
    let mut files = vec![];
    let code = cx.run_on_inputs(inputs, |origin| {
        files.push(served(origin)?);
        Ok(())
    });
    if code != Code::Success {
        return code;
    }
    match start(args, cx, page, files) {
        Ok((listener, site)) => serve(&listener, &Arc::new(site)),
        Err(error) => cx.refuse(&error),
    }
}

fn start(
    args: &ViewArgs,
    cx: &Context,
    page: &'static [Asset],
    files: Vec<Served>,
) -> Result<(TcpListener, Site)> {
    let site = Site::new(secret().map_err(Error::io(Doing::Serve))?, page, files);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port));
    let listener = listener.map_err(Error::io(Doing::Serve))?;
    let port = listener.local_addr().map_err(Error::io(Doing::Serve))?.port();
    tell(cx, &site, port, env::var("SSH_CONNECTION").ok().as_deref())?;
    if !args.no_browser && has_screen() {
        let first = site.addresses(port).next().unwrap_or_default();
        browse(&first);
    }
    Ok((listener, site))
}

/// The file to serve: a page can find members, but cannot list a folder.
fn served(origin: &Origin) -> Result<Served> {
    match origin {
        Origin::File { path, part } if path.word().is_none() => {
            if path.is_dir() {
                return Err(message::WEB_FOLDER.error());
            }
            let member = match part {
                Part::Whole => None,
                Part::Member(key) => Some(key.clone()),
                Part::Offset(_) | Part::Nth(_) => return Err(message::WEB_FILES.error()),
            };
            // An unreadable file fails now, instead of as an empty page.
            let _readable = std::fs::File::open(&**path).map_err(Error::io(Doing::Open))?;
            Ok(Served::new(path.to_path_buf(), member))
        }
        _ => Err(message::WEB_FILES.error()),
    }
}

/// Prints an address for each file, and the way to it for a browser on another machine.
fn tell(cx: &Context, site: &Site, port: u16, ssh: Option<&str>) -> Result<()> {
    for address in site.addresses(port) {
        cx.console.print(&format!("{address}\n"))?;
    }
    if let Some(ssh) = ssh {
        cx.console.note(&tunnel(ssh, port));
    }
    cx.console.note("Ctrl-C ends it");
    Ok(())
}

/// The command to run on the browser's machine. The variable holds the addresses and ports of both
/// ends: `192.0.2.7 51234 192.0.2.1 22`.
fn tunnel(ssh: &str, port: u16) -> String {
    let mut words = ssh.split(' ').skip(2);
    let host = words.next().filter(|host| !host.is_empty()).unwrap_or("HOST");
    let at_port = words.next().filter(|port| *port != "22").map(|port| format!(" -p {port}"));
    let at_port = at_port.unwrap_or_default();
    format!("on the machine of the browser: ssh -L {port}:127.0.0.1:{port}{at_port} {host}")
}

/// A random number of 128 bits, as hexadecimal digits.
fn secret() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(blosc_dtype::text::hex(&bytes, ""))
}

/// Whether the user can see a browser that this machine starts.
fn has_screen() -> bool {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_near = !is_set("SSH_CONNECTION");
    is_near
        && (cfg!(any(windows, target_os = "macos"))
            || is_set("DISPLAY")
            || is_set("WAYLAND_DISPLAY"))
}

/// Opens the user's browser. If there is none, the printed address is enough.
fn browse(address: &str) {
    let mut command = if cfg!(windows) {
        let mut command = Command::new("rundll32");
        command.arg("url.dll,FileProtocolHandler");
        command
    } else {
        Command::new(if cfg!(target_os = "macos") { "open" } else { "xdg-open" })
    };
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _started = command.spawn();
}

fn serve(listener: &TcpListener, site: &Arc<Site>) -> ! {
    let open = Arc::new(AtomicUsize::new(0));
    loop {
        // A connection that closes before it is accepted does not end the server.
        let Ok((stream, _)) = listener.accept() else { continue };
        if open.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (site, taken) = (Arc::clone(site), Taken(Arc::clone(&open)));
        thread::spawn(move || {
            let _taken = taken;
            // The browser has gone, or waits too long: nobody can be told.
            let _ended = converse(&stream, &site);
        });
    }
}

/// One of the counted connections, until it is dropped.
struct Taken(Arc<AtomicUsize>);

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Answers the requests of a connection until one of them closes it.
fn converse(stream: &TcpStream, site: &Site) -> io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = Request::read(&mut reader)? {
        let (answer, keeps_alive) = match &request {
            Ok(request) => (site.answer(request), request.keeps_alive),
            Err(status) => (Answer::empty(*status), false),
        };
        let is_head = request.as_ref().is_ok_and(|request| request.is_head);
        answer.write(&mut &*stream, is_head, keeps_alive)?;
        if !keeps_alive {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tunnel_leads_to_the_machine_that_the_session_reached() {
        assert_eq!(
            tunnel("192.0.2.7 51234 192.0.2.1 22", 8000),
            "on the machine of the browser: ssh -L 8000:127.0.0.1:8000 192.0.2.1"
        );
        assert!(tunnel("a 1 b 2222", 80).ends_with("80:127.0.0.1:80 -p 2222 b"));
        assert!(tunnel("", 80).ends_with(" HOST"));
    }

    #[test]
    fn secrets_have_128_bits_and_differ() {
        let [first, second] = [secret().unwrap(), secret().unwrap()];
        assert_eq!((first.len(), second.len()), (32, 32));
        assert_ne!(first, second);
    }
}
