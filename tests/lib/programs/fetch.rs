// SPDX-License-Identifier: Apache-2.0
// Prints what each URL leads to, by ureq over rustls; a client of tests/scenario/clients.
fn main() {
    for url in std::env::args().skip(1) {
        match ureq::get(&url).call() {
            Ok(answer) => print!("{}", answer.into_string().expect("a body of text")),
            Err(error) => {
                println!("{}", error);
                std::process::exit(1);
            }
        }
    }
}
