//! Trials: the same bits for any number of threads and after any interruption; checkpoints that
//! are whole or refused.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use consort_data::DataDir;
use consort_records::{Record, TrialSummary, record};
use consort_sim::RoundReport;
use consort_train::{
    Config, Control, Ending, Observer, Plan, TrainingSchedule, TrialFolder, TrialObserver,
    partition_for, run_trial,
};

/// Wants what it was told to want, after the rounds it was told.
struct Script {
    save_every: u64,
    stop_after: Option<u64>,
    told: Vec<String>,
    resumed: Option<u64>,
}

impl Script {
    fn new(save_every: u64, stop_after: Option<u64>) -> Self {
        Script { save_every, stop_after, told: Vec::new(), resumed: None }
    }
}

impl Observer for Script {
    fn now(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn recorded(&mut self, _record: &Record) {}

    fn resumed(&mut self, round: u64, _rounds: u64, records: &[Record]) {
        assert!(records.iter().all(|record| record.round <= round));
        self.resumed = Some(round);
    }

    fn tell(&mut self, message: &str) {
        self.told.push(message.into());
    }
}

impl TrialObserver for Script {
    fn round_done(&mut self, round: u64, _rounds: u64, _report: &RoundReport) -> Control {
        match self.stop_after {
            Some(stop) if round >= stop => Control::Stop,
            _ if round.is_multiple_of(self.save_every) => Control::Save,
            _ => Control::Continue,
        }
    }
}

fn plan(overrides: &[&str]) -> Plan {
    let usual = ["graph=ring:4", "model=mlp:8", "batch=90", "epochs=3", "seeds=5"];
    let overrides: Vec<String> = usual.iter().chain(overrides).map(|&pair| pair.into()).collect();
    let config = Config::from_toml("", &overrides).unwrap();
    Plan::new(&config, &DataDir::find(Some(Path::new("."))).unwrap()).unwrap()
}

/// Runs the first method of the plan with its first seed.
fn run(plan: &Plan, folder: &TrialFolder, threads: usize, script: &mut Script) -> Ending {
    let partition = partition_for(plan, 5).unwrap();
    run_trial(plan, &plan.network.methods[0], 5, &partition, threads, folder, script).unwrap()
}

fn folder(parent: &Path) -> TrialFolder {
    TrialFolder::open(parent, "trial", "test").unwrap()
}

/// The model's bytes, and the records without their times.
fn findings(folder: &TrialFolder) -> (Vec<u8>, Vec<String>) {
    let records = record::read(folder.records()).unwrap();
    let timeless = |record: &Record| format!("{:?}", Record { seconds: 0.0, ..*record });
    (fs::read(folder.model()).unwrap(), records.iter().map(timeless).collect())
}

fn checkpoints(folder: &TrialFolder) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "checkpoint")).collect();
    paths.sort();
    paths
}

/// Stopped after any round and resumed on another number of threads, a trial of any method ends
/// in the same bits.
#[test]
fn a_trial_stopped_after_any_round_ends_in_the_same_bits() {
    for method in ["dsgd", "gut", "gut:memory=copies", "qg-gutm-n", "exact-gut", "gt", "gutm"] {
        let plan = plan(&[&format!("methods={method}"), "evaluation.every=0.7"]);
        let temp = tempfile::tempdir().unwrap();
        let whole = folder(&temp.path().join("whole"));
        let ending = run(&plan, &whole, 1, &mut Script::new(u64::MAX, None));
        let Ending::Done(TrialSummary { diverged: None, .. }) = ending else {
            panic!("{method}: {ending:?}")
        };
        let expected = findings(&whole);
        for stop in [1, 2, 5, 11] {
            let broken = folder(&temp.path().join(format!("stop-{stop}")));
            let ending = run(&plan, &broken, 2, &mut Script::new(u64::MAX, Some(stop)));
            assert!(matches!(ending, Ending::Stopped));
            let mut script = Script::new(u64::MAX, None);
            run(&plan, &broken, 3, &mut script);
            assert_eq!(script.resumed, Some(stop));
            assert!(findings(&broken) == expected, "{method}, stopped after {stop}");
        }
    }
}

/// The same while the mixing changes: with averaging rates, exact averages and graphs that follow
/// from the number of the round, and what agents know of their neighbours saved with them.
#[test]
fn a_trial_whose_mixing_changes_ends_in_the_same_bits_wherever_it_was_stopped() {
    let falling = ["schedule.mix.shape=step-size", "schedule.shape=cosine"];
    let exact = ["schedule.mix.exact-every=4", "schedule.mix.final-merge=true"];
    let graphs = [
        "schedule.mix.graphs=[{ from = 0.3, graph = 'complete:4' }, { from = 0.7, graph = 'chain:4' }]",
    ];
    let all = [&falling[..], &exact[..], &graphs[..]].concat();
    for (method, mixing) in [
        ("dsgd", &all[..]),
        ("gut", &all[..]),
        ("qg-gutm-n", &all[..]),
        ("exact-gut", &all[..]),
        ("edm", &all[..]),
        ("cgut", &all[..]),
        ("gut:memory=copies", &falling[..]),
        ("gut:memory=copies", &exact[..]),
        ("ngc", &falling[..]),
        ("sgp", &[falling[0], exact[0], "sam=0.05"][..]),
    ] {
        let method = format!("methods={method}");
        let plan = plan(&[&[method.as_str(), "evaluation.every=0.7"], mixing].concat());
        let temp = tempfile::tempdir().unwrap();
        let whole = folder(&temp.path().join("whole"));
        run(&plan, &whole, 1, &mut Script::new(u64::MAX, None));
        let expected = findings(&whole);
        // After an exact average (4), before and after a change of graph (4, 5, 9).
        for stop in [1, 3, 4, 5, 9, 11] {
            let broken = folder(&temp.path().join(format!("stop-{stop}")));
            run(&plan, &broken, 2, &mut Script::new(u64::MAX, Some(stop)));
            let mut script = Script::new(u64::MAX, None);
            run(&plan, &broken, 3, &mut script);
            assert_eq!(script.resumed, Some(stop));
            assert!(findings(&broken) == expected, "{method} {mixing:?}, stopped after {stop}");
        }
    }
}

/// A checkpoint that is cut short or has one bit turned is found out, and the one before it
/// used; if all are damaged the trial starts anew. It ends in the same bits in any case.
#[test]
fn a_damaged_checkpoint_is_found_out_and_the_one_before_it_used() {
    let plan = plan(&["methods=qg-gutm"]);
    let temp = tempfile::tempdir().unwrap();
    let whole = folder(&temp.path().join("whole"));
    run(&plan, &whole, 1, &mut Script::new(u64::MAX, None));
    let expected = findings(&whole);
    let size = {
        let probe = folder(&temp.path().join("probe"));
        run(&plan, &probe, 1, &mut Script::new(3, Some(8)));
        assert_eq!(checkpoints(&probe).len(), 2, "the last two are kept");
        fs::metadata(&checkpoints(&probe)[1]).unwrap().len() as usize
    };
    let places = [0, 5, 9, 40, size / 2, size - 5, size - 1];
    for (case, &place) in places.iter().enumerate() {
        for cut in [false, true] {
            let broken = folder(&temp.path().join(format!("{case}-{cut}")));
            run(&plan, &broken, 1, &mut Script::new(3, Some(8)));
            let paths = checkpoints(&broken);
            let mut bytes = fs::read(&paths[1]).unwrap();
            if cut {
                bytes.truncate(place);
            } else {
                bytes[place] ^= 0x10;
            }
            fs::write(&paths[1], &bytes).unwrap();
            let mut script = Script::new(u64::MAX, None);
            run(&plan, &broken, 1, &mut script);
            assert_eq!(script.resumed, Some(6), "byte {place}, cut {cut}: {:?}", script.told);
            assert!(script.told[0].contains(&paths[1].display().to_string()), "{:?}", script.told);
            assert!(findings(&broken) == expected, "byte {place}, cut {cut}");
        }
    }
    let hopeless = folder(&temp.path().join("hopeless"));
    run(&plan, &hopeless, 1, &mut Script::new(3, Some(8)));
    checkpoints(&hopeless).iter().for_each(|path| fs::write(path, "nothing").unwrap());
    let mut script = Script::new(u64::MAX, None);
    run(&plan, &hopeless, 1, &mut script);
    assert_eq!((script.resumed, script.told.len()), (None, 2));
    for told in &script.told {
        assert!(told.contains("begins again with the first round"), "{told}");
    }
    assert!(findings(&hopeless) == expected);
}

/// With a constant step size, a trial that goes on after its end is, bit by bit, the trial that was
/// longer from the start: its models and its records, also where the end of the shorter one was no
/// place for an evaluation. So is one that was stopped.
#[test]
fn a_trial_that_is_extended_is_the_longer_one_from_the_start() {
    for method in ["dsgd", "qg-gutm-n", "exact-gut", "gt"] {
        let method = format!("methods={method}");
        for every in ["evaluation.every=1", "evaluation.every=0.7"] {
            let constant = ["schedule.shape=constant", &method, every];
            let longer = plan(&[&constant[..], &["epochs=7"]].concat());
            let temp = tempfile::tempdir().unwrap();
            let whole = folder(&temp.path().join("whole"));
            run(&longer, &whole, 1, &mut Script::new(u64::MAX, None));
            for stop in [None, Some(5)] {
                let place = temp.path().join(format!("{stop:?}"));
                let begun = folder(&place);
                run(&plan(&constant), &begun, 2, &mut Script::new(u64::MAX, stop));
                assert_eq!(checkpoints(&begun).len(), 1, "it can be gone on with");
                begun.reopen().unwrap();
                let earlier = ["test".to_string()];
                let begun = TrialFolder::open_extended(&place, "trial", "new", &earlier).unwrap();
                let mut script = Script::new(u64::MAX, None);
                run(&longer, &begun, 3, &mut script);
                assert_eq!(script.resumed, stop.or(Some(12)), "{:?}", script.told);
                assert!(findings(&begun) == findings(&whole), "{method}, {every}, {stop:?}");
            }
        }
    }
}

/// Where the step size falls at parts of the run, a longer run has another past.
#[test]
fn step_sizes_tell_whether_a_longer_run_has_the_same_past() {
    let schedule = |shape: &str, epochs: &str| {
        let plan = plan(&[&format!("schedule.shape={shape}"), &format!("epochs={epochs}")]);
        TrainingSchedule::new(&plan.config, 0.1, 4.0)
    };
    let differs = |shape, done| schedule(shape, "3").first_difference(&schedule(shape, "6"), done);
    assert_eq!(differs("constant", 12), None);
    // 12 rounds, at a tenth from round 6 on; with 24 rounds from round 12 on.
    assert_eq!((differs("milestones", 6), differs("milestones", 12)), (None, Some(6)));
    assert_eq!((differs("cosine", 1), differs("cosine", 12)), (None, Some(1)));
}

/// A checkpoint of another configuration is refused, not continued.
#[test]
fn a_checkpoint_of_another_configuration_is_refused() {
    let plan = plan(&["methods=gut"]);
    let temp = tempfile::tempdir().unwrap();
    run(&plan, &folder(temp.path()), 1, &mut Script::new(3, Some(5)));
    let other = TrialFolder::open(temp.path(), "trial", "another").unwrap();
    let mut script = Script::new(u64::MAX, None);
    run(&plan, &other, 1, &mut script);
    assert_eq!(script.resumed, None);
    assert!(script.told[0].contains("expected trial, another"), "{:?}", script.told);
}

/// A trial that is done is not run again.
#[test]
fn a_finished_trial_is_left_alone() {
    let plan = plan(&["methods=gut"]);
    let temp = tempfile::tempdir().unwrap();
    let done = folder(temp.path());
    run(&plan, &done, 1, &mut Script::new(3, None));
    assert!(checkpoints(&done).is_empty());
    let before = findings(&done);
    let ending = run(&plan, &done, 1, &mut Script::new(3, Some(1)));
    assert!(matches!(ending, Ending::Done(_)));
    assert!(findings(&done) == before);
}

/// Numbers that grow beyond all bounds end the trial, not the run; there is no model then.
#[test]
fn a_trial_that_diverges_says_where() {
    let plan = plan(&["methods=gut:mu=0.9,reading=printed", "eta=0.5", "epochs=300"]);
    let temp = tempfile::tempdir().unwrap();
    let folder = folder(temp.path());
    let Ending::Done(summary) = run(&plan, &folder, 1, &mut Script::new(99, None)) else {
        panic!("stopped")
    };
    let reason = summary.diverged.unwrap();
    assert!(reason.contains("round") && reason.contains("loss"), "{reason}");
    assert!(!folder.model().exists() && folder.is_finished());
}

/// Weight decay w adds w x to the gradient at x: after one round of DSGD, in which all agents start
/// at x0, the averaged model lies eta w x0 below that of a run without it.
#[test]
fn weight_decay_is_the_gradient_of_half_the_square() {
    let (eta, decay) = (0.1_f32, 0.3_f32);
    let after_a_round = |decay: f32| {
        let decay = format!("weight-decay={decay}");
        let plan = plan(&["methods=dsgd", &format!("eta={eta}"), &decay, "rounds=1"]);
        let temp = tempfile::tempdir().unwrap();
        let folder = folder(temp.path());
        run(&plan, &folder, 1, &mut Script::new(u64::MAX, None));
        let bytes = fs::read(folder.model()).unwrap();
        let model = consort_model::load_safetensors(&plan.parameters, &bytes).unwrap();
        (model, plan.parameters.initial(5))
    };
    let ((without, x0), (with, _)) = (after_a_round(0.0), after_a_round(decay));
    assert!(x0.iter().any(|x| x.abs() > 0.1), "there is something to shrink");
    for ((without, with), x0) in without.iter().zip(&with).zip(&x0) {
        let expected = eta * decay * x0;
        assert!((without - with - expected).abs() < 1e-6, "{without} - {with} is not {expected}");
    }
}
