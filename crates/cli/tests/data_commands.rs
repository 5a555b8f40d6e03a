//! `consort data`: what is there, what is missing, what to do about it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;

use support::{consort, consort_in, is_png, is_svg_with_text, names};

#[test]
fn the_list_tells_what_is_here() {
    let empty = tempfile::tempdir().unwrap();
    let line = format!("data list --data-dir {}", empty.path().display());
    let text = consort(&line).done().stdout;
    for name in ["digits", "mnist", "fashion-mnist", "cifar10", "cifar100", "imagenette"] {
        assert!(text.contains(name), "no {name} in:\n{text}");
    }
    assert!(text.contains(&empty.path().display().to_string()));
    let rows = consort(&format!("{line} --json")).done().json();
    let here = |name: &str| {
        let rows = rows.as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap()["here"].as_bool().unwrap()
    };
    assert!(here("digits"), "built in");
    assert!(!here("cifar10") && !here("imagenette"));
}

#[test]
fn a_dataset_and_its_partition_can_be_looked_at() {
    let temp = tempfile::tempdir().unwrap();
    let line =
        "data show digits --partition dirichlet:0.1 --agents 8 --svg heat.svg --png heat.png";
    let text = consort_in(temp.path(), line).done().stdout;
    for part in ["1438 training and 359 test", "8x8x1", "dirichlet:0.1 over 8 agents"] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
    assert!(is_svg_with_text(&fs::read_to_string(temp.path().join("heat.svg")).unwrap()));
    assert!(is_png(&fs::read(temp.path().join("heat.png")).unwrap()));
    let told = consort("data show digits --partition iid --agents 4 --json").done().json();
    let counts = told["counts"].as_array().unwrap();
    let total = counts.iter().flat_map(|row| row.as_array().unwrap());
    assert_eq!(total.map(|n| n.as_u64().unwrap()).sum::<u64>(), 1436); // 4 x 359
}

/// Folders and tables of one's own need no name, and can be trained on.
#[test]
fn own_data_can_be_trained_on() {
    let temp = tempfile::tempdir().unwrap();
    let line = |k: usize| {
        let (x, y) = ((k * 37 % 101) as f64 / 50.0 - 1.0, (k * 53 % 97) as f64 / 48.0 - 1.0);
        format!("{x},{y},{}\n", if x + y > 0.0 { "up" } else { "down" })
    };
    let table: String = (0..400).map(line).collect();
    fs::write(temp.path().join("own.csv"), format!("x,y,label\n{table}")).unwrap();
    let shown = consort_in(temp.path(), "data show csv:own.csv").done().stdout;
    assert!(shown.contains("1x1x2") && shown.contains("down"), "{shown}");
    let train = "train --data csv:own.csv --model mlp:16 --graph ring:4 --methods gut --seeds 1 \
                 --epochs 60 --batch 8 --json";
    let summary = consort_in(temp.path(), train).done().json();
    let accuracy = summary["trials"][0]["final_accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.9, "{accuracy}");
}

#[test]
fn what_is_missing_is_named_with_what_to_do() {
    let empty = tempfile::tempdir().unwrap();
    let dir = empty.path().display().to_string();
    consort(&format!("data show mnist --data-dir {dir}/nowhere"))
        .failed(2, &["mnist", "train-images-idx3-ubyte", "consort data get mnist"]);
    consort(&format!("train --data cifar10 --data-dir {dir}"))
        .failed(2, &["cifar10", "data_batch_1.bin", &dir]);
    consort("data get cifar11").failed(2, &["cifar11", "did you mean `cifar10`?"]);
    assert!(names(empty.path()).is_empty());
}

/// Without a network, `get` says which files to put where. Nobody listens on the port.
#[test]
fn an_offline_download_says_what_to_put_where() {
    let temp = tempfile::tempdir().unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let dir = temp.path().display();
    let line = format!("data get cifar10 --retries 0 --mirror http://{closed}/ --data-dir {dir}");
    consort(&line).failed(1, &["cifar-10-binary.tar.gz", &closed.to_string(), &dir.to_string()]);
}

/// A server that answers with something else than the file is found out by size or checksum.
#[test]
fn a_wrong_file_is_refused() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 2048];
            let _ = stream.read(&mut request);
            let page = "<html>log in first</html>";
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", page.len());
            let _ = stream.write_all((head + page).as_bytes());
        }
    });
    let temp = tempfile::tempdir().unwrap();
    let line = format!(
        "data get mnist --retries 0 --mirror http://{address}/ --data-dir {}",
        temp.path().display()
    );
    consort(&line).failed(1, &["ubyte"]);
    let usable = consort(&format!("data show mnist --data-dir {}", temp.path().display()));
    usable.failed(2, &["missing"]);
}

/// What is whole is counted, what is damaged is named and makes the exit code 1, what is missing
/// comes with advice.
#[test]
fn a_dataset_can_be_checked() {
    let text = consort("data check digits").done().stdout;
    assert!(text.contains("1438 intact training and 359 intact test samples"), "{text}");

    let temp = tempfile::tempdir().unwrap();
    for (class, i) in [("a", 0), ("a", 1), ("b", 0), ("b", 1)] {
        fs::create_dir_all(temp.path().join("own").join(class)).unwrap();
        let broken = [&b"\x89PNG\r\n\x1a\n"[..], b"cut"].concat();
        fs::write(temp.path().join("own").join(class).join(format!("{i}.png")), broken).unwrap();
    }
    let line = "data check folder:own";
    let answer = consort_in(temp.path(), line)
        .failed(1, &["4 files or records are damaged", "a/0.png", "b/1.png"]);
    assert!(answer.stdout.contains("0 intact training"), "{}", answer.stdout);
    let told = consort_in(temp.path(), &format!("{line} --json"));
    assert_eq!(told.json()["damaged"].as_array().unwrap().len(), 4);
    let missing = format!("data check cifar10 --data-dir {}", temp.path().display());
    consort(&missing).failed(2, &["consort data get cifar10"]);
}
