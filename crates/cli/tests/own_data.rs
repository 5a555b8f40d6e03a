//! Own images and tables: what is detected, what must be said, and regressions from the table to the
//! report. `docs/own-data.md` shows the same, and its commands run here.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;

use support::{consort, consort_in, is_png, json_file, names};
use tempfile::TempDir;

/// An image with the brightness of its class, in colours or grey.
fn image(path: &Path, [height, width]: [u32; 2], shade: usize, grey: bool) {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(if grey { png::ColorType::Grayscale } else { png::ColorType::Rgb });
    let channels = if grey { 1 } else { 3 };
    let pixels = (0..(height * width) as usize * channels).map(|i| (shade + i * 37 % 60) as u8);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&pixels.collect::<Vec<u8>>()).unwrap();
    writer.finish().unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Two classes, one darker than the other, of the size that `size` gives each image.
fn images(root: &Path, each: usize, size: impl Fn(usize) -> [u32; 2], grey: bool) {
    for (class, shade) in [("cat", 20), ("dog", 150)] {
        for k in 0..each {
            let path = root.join(class).join(format!("{k}.png"));
            image(&path, size(k), shade + k % 9, grey);
        }
    }
}

/// Flats whose price follows from their size, rooms and town, with a little noise.
fn flats() -> String {
    let row = |k: usize| {
        let (size, rooms) = (30 + k * 37 % 120, 1 + k * 7 % 5);
        let (town, factor) = [("bonn", 3000), ("kiel", 2500), ("ulm", 4000)][k % 3];
        let price = size * factor + rooms * 5000 + k * 611 % 4000;
        format!("{size},{rooms},{town},{price}\n")
    };
    format!("size,rooms,town,price\n{}", (0..240).map(row).collect::<String>())
}

/// The files of which the page of the docs speaks.
fn example() -> TempDir {
    let temp = tempfile::tempdir().unwrap();
    images(&temp.path().join("photos"), 40, |_| [32, 32], false);
    images(&temp.path().join("snapshots"), 10, |k| [40 + k as u32 % 3, 64], false);
    let plant = |k: usize| {
        let (species, mean) = [("ash", 10), ("elm", 30), ("yew", 50)][k % 3];
        let soil = ["clay", "sand"][k * 5 % 7 % 2];
        format!("{},{},{},{soil},{species}\n", mean + k % 7, mean / 2 + k % 5, 1 + k % 3)
    };
    let plants: String = (0..120).map(plant).collect();
    let plants = format!("height,width,pots,soil,species\n{plants}");
    fs::write(temp.path().join("plants.csv"), &plants).unwrap();
    // The first of ash and of elm lack a field.
    let gaps = plants.replacen("10,5,1,", ",5,1,", 1).replacen("31,16,2,", "31,NA,2,", 1);
    fs::write(temp.path().join("gaps.csv"), gaps).unwrap();
    fs::write(temp.path().join("flats.csv"), flats()).unwrap();
    temp
}

/// The commands in the blocks of a page that are marked as `sh`.
fn commands(page: &str) -> Vec<&str> {
    let blocks = page.split("```sh\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap_or_default().lines());
    lines.filter(|line| !line.trim().is_empty()).collect()
}

#[test]
fn the_commands_of_the_page_work_and_say_what_it_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/own-data.md");
    let page = fs::read_to_string(page).unwrap();
    let temp = example();
    let commands = commands(&page);
    assert!(commands.len() > 15, "{commands:?}");
    let mut said = String::new();
    for command in commands {
        let words = command.strip_prefix("consort ").unwrap();
        let answer = consort_in(temp.path(), words);
        assert_eq!(answer.code, Some(0), "{command}: {}", answer.stderr);
        said += &(answer.stdout + &answer.stderr);
    }
    for line in [
        "photos: 80 images of 32x32, taken as they are; training images are not augmented",
        "plants.csv: 120 rows of 5 columns: 3 numbers, 1 category, label \"species\" with 3 classes",
    ] {
        assert!(page.contains(line) && said.contains(line), "{line}\n{said}");
    }
}

#[test]
fn images_keep_their_size_and_their_channels_or_a_size_is_asked_for() {
    let temp = tempfile::tempdir().unwrap();
    images(&temp.path().join("grey"), 10, |_| [28, 20], true);
    let plan = "train --data folder:grey --model mlp:8 --graph ring:2 --methods dsgd --dry-run";
    let answer = consort_in(temp.path(), plan).done();
    assert!(answer.stderr.contains("20 grey images of 28x20, taken as they are"), "{answer:?}");
    let shown = consort_in(temp.path(), "data show folder:grey --json").done().json();
    assert_eq!(shown["input"], serde_json::json!([28, 20, 1]));

    images(&temp.path().join("mixed"), 10, |k| [40 + k as u32 % 3, 64], false);
    consort_in(temp.path(), "train --data folder:mixed").failed(
        2,
        &["3 sizes", "40x64 (8 images)", "42x64 (6 images)", "height x width", ":size=32`"],
    );
    let shown = consort_in(temp.path(), "data show folder:mixed:size=32x48").done();
    let told = "20 images of 3 sizes, scaled to 32x48; training images are flipped and cropped by \
                chance, of test images the middle is taken";
    assert!(shown.stdout.contains("of 32x48x3") && shown.stdout.contains(told), "{shown:?}");
    for (options, parts) in [
        (":size=big", &["`size`", "size=32x48", "got `big`"][..]),
        (":sise=32", &["did you mean `size`?"]),
        (":augment=much", &["none, shift or crop"]),
    ] {
        consort_in(temp.path(), &format!("data show folder:mixed{options}")).failed(2, parts);
    }
}

#[test]
fn a_run_is_called_like_its_data_without_options() {
    let temp = tempfile::tempdir().unwrap();
    images(&temp.path().join("Own Photos"), 5, |_| [9, 9], true);
    fs::rename(temp.path().join("Own Photos"), temp.path().join("own-photos")).unwrap();
    fs::write(temp.path().join("flats.csv"), flats()).unwrap();
    let rest = "--model mlp:4 --graph ring:2 --partition iid --methods dsgd --seeds 1 --rounds 2";
    for data in ["folder:own-photos:size=9", "csv:flats.csv:target=price"] {
        consort_in(temp.path(), &format!("train --data {data} {rest}")).done();
    }
    assert_eq!(names(&temp.path().join("runs")), ["flats-ring-2", "own-photos-ring-2"]);
}

#[test]
fn what_is_wrong_with_a_table_is_told_with_its_place_and_a_remedy() {
    let temp = example();
    fs::write(temp.path().join("slip.csv"), "x,label\n1,a\n2,b\nthree,a\n4,b\n").unwrap();
    for (data, parts) in [
        ("plants.csv:label=specie", &["no column `specie`, did you mean `species`?"][..]),
        ("plants.csv:label=9", &["the 5 columns are `height`, `width`"]),
        ("plants.csv:drop=hight", &["`drop`", "did you mean `height`?"]),
        ("plants.csv:lable=species", &["no option `lable`, did you mean `label`?"]),
        ("plants.csv:target=species", &["number in the target `species`, line 2, got `ash`"]),
        ("gaps.csv", &["a value in `height`, line 2, got nothing", ":missing=drop", "=fill"]),
        ("flats.csv", &["`price` has", "different labels", ":task=regression", ":label=NAME"]),
        ("slip.csv", &["a number in `x`, line 4, got `three`", ":categorical=x"]),
    ] {
        consort_in(temp.path(), &format!("data show csv:{data}")).failed(2, parts);
    }
}

/// From the table to the report: R² and RMSE, and nowhere an accuracy.
#[test]
fn a_regression_goes_from_the_table_to_the_report() {
    let temp = example();
    let rest =
        "--model mlp:16 --graph ring:4 --partition shards:2 --seeds 1,2 --epochs 40 --batch 8";
    let train =
        format!("train --data csv:flats.csv:target=price --methods gut,dsgd --out run {rest}");
    let answer = consort_in(temp.path(), &train).done();
    assert!(answer.stderr.contains("target \"price\" from "), "{}", answer.stderr);
    let run = temp.path().join("run");
    for text in [
        answer.stdout.clone(),
        answer.stderr,
        fs::read_to_string(run.join("table.txt")).unwrap(),
        fs::read_to_string(run.join("table.tex")).unwrap(),
        fs::read_to_string(run.join("table.csv")).unwrap(),
        fs::read_to_string(run.join("summary.json")).unwrap(),
        fs::read_to_string(run.join("report.html")).unwrap(),
        fs::read_to_string(run.join("trials/1-gut-seed-1/records.jsonl")).unwrap(),
    ] {
        assert!(text.contains("R²") || text.contains("R$^2$") || text.contains("r2"), "{text}");
        assert!(!text.to_lowercase().contains("accurac"), "{text}");
    }
    assert!(answer.stdout.contains("Averaged model (R²)") && answer.stdout.contains("Its RMSE"));
    let files = names(&run);
    for file in ["r2.svg", "r2.png", "r2.csv", "test-loss.svg"] {
        assert!(files.iter().any(|name| name == file), "no {file} in {files:?}");
    }
    assert!(!files.iter().any(|name| name.starts_with("accuracy")), "{files:?}");
    // Both methods send the same.
    assert!(!files.iter().any(|name| name.contains("by-bytes")), "{files:?}");
    assert!(is_png(&fs::read(run.join("r2.png")).unwrap()));

    let summary = json_file(&run.join("summary.json"));
    let trial = &summary["trials"][0];
    let (r2, rmse) = (trial["final_r2"].as_f64().unwrap(), trial["final_rmse"].as_f64().unwrap());
    // Prices are 80,000 to 600,000 and nearly linear within a town.
    assert!(r2 > 0.9 && r2 < 1.0, "{trial}");
    // R² of the test prices is what the definition gives for this RMSE.
    let prices: Vec<f64> = test_prices();
    let mean = prices.iter().sum::<f64>() / prices.len() as f64;
    let variance = prices.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / prices.len() as f64;
    let expected = 1.0 - rmse * rmse / variance;
    assert!((expected - r2).abs() < 1e-6, "{r2} {expected}");

    let model = "run/trials/1-gut-seed-1/model.safetensors";
    let told = consort_in(temp.path(), &format!("eval {model} --json")).done().json();
    assert_eq!((&told["r2"], &told["rmse"]), (&trial["final_r2"], &trial["final_rmse"]));
    assert!(told.get("accuracy").is_none());
    let told = consort_in(temp.path(), &format!("eval {model}")).done().stdout;
    assert!(told.contains("R² 0.9") && told.contains("RMSE") && told.contains("`price`"), "{told}");
    let told = consort_in(temp.path(), "compare run --format csv").done().stdout;
    assert!(told.contains(",r2_mean,") && !told.contains("accuracy"), "{told}");
}

/// The prices of the rows that are tested on.
fn test_prices() -> Vec<f64> {
    let text = flats();
    let prices = text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap());
    let prices: Vec<f64> = prices.collect();
    // One in five of each tenth of the prices, which all differ.
    let cheaper = |price: &f64| prices.iter().filter(|other| *other < price).count();
    let tenth = |price: &f64| (cheaper(price) * 10 / prices.len()) as u32;
    let tenths: Vec<u32> = prices.iter().map(tenth).collect();
    let (_, tests) = consort_data::stratified(&tenths, 10, 0);
    tests.into_iter().map(|row| prices[row]).collect()
}

/// A step that is much too small leaves the model where the mean of the target is better.
#[test]
fn a_regression_that_has_learned_nothing_says_so() {
    let temp = tempfile::tempdir().unwrap();
    let row = |k: usize| format!("{},{}\n", k * 37 % 101, k * 53 % 97);
    let noise = format!("x,y\n{}", (0..200).map(row).collect::<String>());
    fs::write(temp.path().join("noise.csv"), noise).unwrap();
    let train = "train --data csv:noise.csv:target=y --model mlp:4 --graph ring:2 --methods dsgd \
                 --partition iid --seeds 1 --rounds 3 --eta 1e-9 --out run";
    let answer = consort_in(temp.path(), train).done();
    let told = "no better than the mean of the target: R² ";
    assert!(answer.stderr.contains(told), "{}", answer.stderr);
    assert!(answer.stdout.contains("collapsed"), "{}", answer.stdout);
    let eval = consort_in(temp.path(), "eval run/trials/1-dsgd-seed-1/model.safetensors").done();
    assert!(eval.stdout.contains(told), "{}", eval.stdout);
}

/// Agents as processes end with the same averaged model as a simulation.
#[test]
fn agents_as_processes_learn_a_regression_to_the_same_result() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("flats.csv"), flats()).unwrap();
    let rest = "--data csv:flats.csv:target=price --model mlp:8 --graph ring:3 --partition \
                dirichlet:1 --epochs 3 --batch 8";
    consort_in(temp.path(), &format!("init lab {rest} --method gut --seed 1")).done();
    let plan = fs::read_to_string(temp.path().join("lab/plan.toml")).unwrap();
    let absolute = temp.path().join("flats.csv");
    assert!(plan.contains(&format!("csv:{}:target=price", absolute.display())), "{plan}");
    let launched = consort_in(temp.path(), "launch --plan lab/plan.toml --local").done();
    assert!(launched.stdout.contains("R² "), "{}", launched.stdout);
    consort_in(temp.path(), &format!("train {rest} --methods gut --seeds 1 --out run")).done();
    let [one, all] = ["run", "lab"].map(|folder| {
        json_file(&temp.path().join(folder).join("summary.json"))["trials"][0].clone()
    });
    for key in ["final_r2", "final_rmse", "final_loss", "agents_r2"] {
        assert!(!one[key].is_null(), "{key}: {one}");
    }
    assert_eq!(one["final_r2"], all["final_r2"]);
    assert_eq!(one["final_rmse"], all["final_rmse"]);
    // In every evaluation, too.
    let [one, all] = ["run/trials/1-gut-seed-1", "lab"].map(|folder| {
        let text = fs::read_to_string(temp.path().join(folder).join("records.jsonl")).unwrap();
        let records = text.lines().map(|line| serde_json::from_str(line).unwrap());
        records.collect::<Vec<serde_json::Value>>()
    });
    assert_eq!(one.len(), all.len());
    for (one, all) in one.iter().zip(&all) {
        assert!(all.get("test_accuracy").is_none() && all.get("averaging_gain").is_none(), "{all}");
        for key in ["test_r2", "test_rmse", "test_loss"] {
            let [one, all] = [one, all].map(|record| record[key].as_f64().unwrap());
            // The last digit may be lost on the way through a file.
            assert!((one - all).abs() <= 1e-15 * one.abs(), "{key}: {one}, {all}");
        }
    }
    assert!(
        temp.path().join("lab/r2.png").exists() && !temp.path().join("lab/accuracy.png").exists()
    );
}

/// The files of a run name their data by absolute paths.
#[test]
fn a_run_can_be_continued_and_evaluated_from_any_folder() {
    let temp = tempfile::tempdir().unwrap();
    let [work, elsewhere] = ["work", "elsewhere"].map(|name| temp.path().join(name));
    fs::create_dir_all(&work).unwrap();
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(work.join("flats.csv"), flats()).unwrap();
    let model = "name = 'own'\ninput = [1, 1, 5]\nclasses = 1\n\n[[layers]]\nlayer = 'flatten'\n\n\
                 [[layers]]\nlayer = 'linear'\nout = 1\n";
    fs::write(work.join("own.toml"), model).unwrap();
    fs::write(work.join("pair.dot"), "graph { 0 -- 1; 1 -- 2; 2 -- 0 }").unwrap();
    let train = "train --data csv:flats.csv:target=price --model own.toml --graph file:pair.dot \
                 --partition iid --methods dsgd --seeds 1 --epochs 3 --out run";
    consort_in(&work, train).done();
    let config = fs::read_to_string(work.join("run/config.toml")).unwrap();
    for path in ["flats.csv", "own.toml", "pair.dot"] {
        let path = work.join(path).display().to_string();
        assert!(config.contains(&path), "no {path} in {config}");
    }
    let eval = "eval ../work/run/trials/1-dsgd-seed-1/model.safetensors";
    assert!(consort_in(&elsewhere, eval).done().stdout.contains("R² "));
    consort_in(&elsewhere, "compare ../work/run").done();
    fs::remove_file(work.join("run/trials/1-dsgd-seed-1/summary.json")).unwrap();
    consort_in(&elsewhere, "resume ../work/run").done();
    assert!(work.join("run/trials/1-dsgd-seed-1/summary.json").exists());
}

/// Whoever is given a sample, or half a file, is told so.
#[test]
fn the_list_counts_what_is_there_and_says_where() {
    let temp = tempfile::tempdir().unwrap();
    let place = temp.path().join("fashion-mnist");
    fs::create_dir_all(&place).unwrap();
    for (part, count) in [("train", 60_000_u32), ("t10k", 10_000)] {
        let mut images =
            [&[0, 0, 8, 3][..], &count.to_be_bytes(), &[0, 0, 0, 28, 0, 0, 0, 28]].concat();
        images.resize(16 + 784 * count as usize, 9);
        let mut labels = [&[0, 0, 8, 1][..], &count.to_be_bytes()].concat();
        labels.resize(8 + count as usize, 1);
        fs::write(place.join(format!("{part}-images-idx3-ubyte")), &images).unwrap();
        fs::write(place.join(format!("{part}-labels-idx1-ubyte")), &labels).unwrap();
    }
    let sample = temp.path().join("imagenette2-160");
    for part in ["train", "val"] {
        images(&sample.join(part), 3, |_| [16, 16], false);
    }
    let line = format!("data list --data-dir {}", temp.path().display());
    let row = |name: &str| {
        let rows = consort(&format!("{line} --json")).done().json();
        rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone()
    };
    let found = row("fashion-mnist");
    assert_eq!((&found["here"], &found["train_here"]), (&true.into(), &60_000.into()));
    assert_eq!(found["folder"], place.display().to_string());
    let found = row("imagenette");
    assert_eq!((&found["here"], &found["train_here"]), (&false.into(), &6.into()));
    let text = consort(&line).done().stdout;
    assert!(
        text.contains(&place.display().to_string()) && text.contains("6 + 6 of them"),
        "{text}"
    );
    assert!(text.contains("imagenette: 6 of 9469 training images are there"), "{text}");

    let images = place.join("train-images-idx3-ubyte");
    let whole = fs::read(&images).unwrap();
    fs::write(&images, &whole[..1_000_000]).unwrap();
    assert_eq!(row("fashion-mnist")["here"], false);
    let text = consort(&line).done().stdout;
    let told = "fashion-mnist: train-images-idx3-ubyte has 1000000 of 47040016 bytes";
    assert!(text.contains(told), "{text}");

    // `get` does not fetch what is there, and says so; without a network it says what to do.
    let get =
        |name: &str| format!("data get {name} --dry-run --data-dir {}", temp.path().display());
    consort(&get("fashion-mnist")).failed(2, &[&place.display().to_string(), "not all of it"]);
    fs::write(&images, whole).unwrap();
    let told = consort(&get("fashion-mnist")).done().stdout;
    assert!(told.contains(&format!("was found in {}", place.display())), "{told}");
    let told = consort(&get("cifar10")).done().stdout;
    for part in ["cifar-10-binary.tar.gz", "170.1 MB", "https://", "without a network", "unpack it"]
    {
        assert!(told.contains(part), "no {part} in {told}");
    }
    assert!(consort("data get digits").done().stdout.contains("built in"));
}
