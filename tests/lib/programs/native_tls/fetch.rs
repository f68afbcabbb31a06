// SPDX-License-Identifier: Apache-2.0
// Prints what a host answers at a path, over the system's TLS; a client of tests/scenario/trust.
use std::io::{Read, Write};

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let (host, path) = (words[1].as_str(), words[2].as_str());
    let connector = native_tls::TlsConnector::new().expect("the system's TLS");
    let stream = std::net::TcpStream::connect((host, 443)).expect("a connection");
    let mut stream = connector.connect(host, stream).expect("a handshake");
    write!(stream, "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", path, host).expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    print!("{}", answer);
}
