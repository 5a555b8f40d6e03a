//! The catalogue is correct, and every method survives writing and parsing.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use consort_algo::{
    CATALOGUE, Compression, GradientsPerRound, GraphNeeds, Method, MethodError, MethodName,
    MomentumOn, Row, Site,
};
use support::methods::every_variant;
use support::random::Random;

fn parse(text: &str) -> Result<Method, MethodError> {
    text.parse()
}

fn error(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

/// `MethodName::info` looks rows up by number.
#[test]
fn the_catalogue_is_in_the_order_of_the_names() {
    for (row, info) in CATALOGUE.iter().enumerate() {
        assert_eq!(info.id as usize, row, "{}", info.name);
        assert_eq!(info.id.info().name, info.name);
    }
}

#[test]
fn every_name_parses_in_any_case_and_with_underscores() {
    for info in &CATALOGUE {
        for text in [info.name.to_string(), info.name.to_uppercase(), info.name.replace('-', "_")] {
            assert_eq!(text.parse::<MethodName>().unwrap(), info.id, "{text}");
            assert_eq!(parse(&text).unwrap(), Method::new(info.id), "{text}");
        }
        assert_eq!(Method::new(info.id).to_string(), info.name);
    }
}

/// The facts of a row agree with its name and its parameters.
#[test]
fn facts_and_parameters_agree() {
    for info in &CATALOGUE {
        let accepts = |key: &str| info.parameters().any(|parameter| parameter.name == key);
        assert_eq!(accepts("beta"), info.momentum != MomentumOn::Nothing, "{}", info.name);
        let of_update = info.momentum == MomentumOn::Update;
        assert_eq!(accepts("form"), info.name.starts_with("qg-"), "{}", info.name);
        assert!(of_update || !accepts("form"), "{}", info.name);
        assert_eq!(accepts("nesterov"), info.id.with_nesterov(!info.nesterov).is_some());
        // Their papers have no version with Nesterov's look-ahead.
        let crossed = info.gradients == GradientsPerRound::Neighbourhood;
        let without = crossed || ["edm", "decentlam", "mt"].contains(&info.name);
        assert_eq!(accepts("nesterov"), accepts("beta") && !without, "{}", info.name);
        assert_eq!(info.name.ends_with("-n"), info.nesterov, "{}", info.name);
        // Exact GUT tracks with mu = 1, which is not a parameter.
        assert_eq!(accepts("mu") || info.default_mu == 1.0, info.tracks, "{}", info.name);
        assert!(info.tracks || info.default_mu == 0.0, "{}", info.name);
        let method = Method::new(info.id);
        for parameter in info.parameters() {
            assert!(method.value_text(parameter.name).is_some(), "{}: no value", parameter.name);
        }
    }
}

/// Memory in model copies, traffic relative to DSGD, of the method its name builds; without a
/// codec, whose share of that traffic depends on the codec.
#[test]
fn memory_and_traffic_are_those_of_the_built_method() {
    for info in &CATALOGUE {
        let coded_gradients =
            info.id.codes_messages() && info.gradients == GradientsPerRound::Neighbourhood;
        let method = Method { codec: Compression::None, ..Method::new(info.id) };
        let rows = [Row::new(1, [(0, 0.25), (2, 0.25)])];
        let mut built = method.build_staged(&[0.0; 5], &Site::new(3, &rows)).unwrap();
        let copies = built.tensors().iter().filter(|tensor| tensor.values.len() >= 5).count();
        assert_eq!(copies, info.memory as usize, "{}: memory", info.name);
        // One float a message: the push-sum weight, or how many models were relayed.
        let more = usize::from(info.id.is_push_sum() || info.needs == GraphNeeds::Trees);
        let words = method.traffic(5, 1).unwrap().words();
        let gradients = if coded_gradients { 5 } else { 0 }; // as good as nothing with a codec
        assert_eq!(words, 5 * info.traffic as usize + more + gradients, "{}", info.name);
    }
}

/// Algorithm 1 keeps one model more per neighbour, its own included.
#[test]
fn copies_take_one_model_per_sender_more() {
    let mut sum = parse("gut").unwrap().build(&[0.0; 5], 3).unwrap();
    let mut copies = parse("gut:memory=copies").unwrap().build(&[0.0; 5], 3).unwrap();
    assert_eq!(copies.tensors().len(), sum.tensors().len() + 3);
}

/// Some values for a parameter, including the ends of its range.
fn values(parameter: &str) -> &'static [&'static str] {
    match parameter {
        "mu" => &["0", "1", "0.05", "0.9", "1e-3", "0.30000000000000004", "auto"],
        "gamma" => &["1", "0.5", "1e-9", "0.1", "auto"],
        "beta" | "mu_q" => &["0", "0.9", "0.99", "0.5", "0.1"],
        "reading" => &["released", "printed", "printed-pytorch", "PRINTED_PYTORCH"],
        "form" => &["heavy-ball", "quasi-global", "own-moves"],
        "gradient_at" => &["mixed", "local"],
        "memory" => &["sum", "copies"],
        "nesterov" => &["true", "false"],
        "start" => &["zero", "average"],
        "order" => &["atc", "awc", "ATC", "icml", "iclr"],
        "codec" => &["none", "SIGN", "top-k/0.01", "top_k/1", "random-k/0.1", "quantize/4"],
        "decay" => &["0", "0.9", "0.999"],
        "steps" => &["1", "4", "10000"],
        "optimizer" => {
            &["sgd", "adam", "adamw", "adamw/0.1", "ADAMW/0/0.8/0.9", "adamw/0.01/0.9/0.95"]
        }
        "missing" => &["own", "start", "skip"],
        "alpha" => &["0", "0.5", "1"],
        "outer" => &["0.5", "1", "10"],
        "dual" => &["0.1", "1"],
        other => panic!("no values for {other}"),
    }
}

#[test]
fn what_is_written_reads_back_as_the_same_method() {
    let mut random = Random::new(1);
    for info in &CATALOGUE {
        for _ in 0..300 {
            let mut pairs = Vec::new();
            for parameter in info.parameters() {
                let values = values(parameter.name);
                if random.below(2) == 0 {
                    let value = values[random.below(values.len())];
                    pairs.push(format!("{}={value}", parameter.name));
                }
            }
            let text = format!("{}:{}", info.name, pairs.join(" , "));
            let method = parse(&text).unwrap();
            let written = method.to_string();
            assert_eq!(parse(&written).unwrap(), method, "{text} was written as {written}");
            assert_eq!(parse(&written).unwrap().to_string(), written);
        }
    }
}

/// What is not one gradient and one message to all is built in stages only, and says so.
#[test]
fn a_method_in_stages_is_no_plain_algorithm() {
    for text in ["relaysgd", "cga", "ngc:alpha=0", "k-gt", "led", "gut:steps=2"] {
        let refused = parse(text).unwrap().build(&[0.0; 5], 3).err().unwrap();
        assert!(matches!(refused, MethodError::InStages { .. }), "{text}: {refused}");
    }
}

/// Agents that hear their neighbours alone cannot start from a mean over all, and are told so.
#[test]
fn the_mean_of_the_first_gradients_must_be_known() {
    let method = parse("mt:start=average").unwrap();
    let rows = [Row::new(1, [(0, 0.25), (2, 0.25)])];
    let site = Site::new(3, &rows);
    let refused = method.build_staged(&[0.0], &site).err().unwrap();
    assert_eq!(refused, MethodError::FirstGradients { method: "mt" });
    assert!(refused.to_string().contains("use start=zero"), "{refused}");
    assert!(method.build_staged(&[0.0], &site.with_first_gradient(&[0.5])).is_ok());
}

#[test]
fn every_variant_builds() {
    for variant in every_variant() {
        let built = parse(&variant).unwrap().build(&[0.0; 5], 3);
        assert!(built.is_ok(), "{variant}: {}", built.err().unwrap());
    }
}

#[test]
fn nesterov_is_the_name_with_n() {
    for name in ["dsgdm", "qg-dsgdm", "gutm", "qg-gutm"] {
        let n = parse(&format!("{name}-n")).unwrap();
        assert_eq!(parse(&format!("{name}:nesterov=true")).unwrap(), n);
        assert_eq!(parse(&format!("{name}-n:nesterov=false")).unwrap(), parse(name).unwrap());
    }
}

#[test]
fn an_unknown_name_suggests_the_nearest() {
    for (wrong, meant) in [
        ("dsdg", "dsgd"),
        ("qggutm", "qg-gutm"),
        ("qg-gutmm-n", "qg-gutm-n"),
        ("exactgut", "exact-gut"),
        ("rule-c", "rule-a"),
        ("gud", "gut"),
    ] {
        let error = error(wrong);
        assert!(error.contains(&format!("'{wrong}'")), "{error}");
        assert!(error.contains(&format!("did you mean '{meant}'?")), "{error}");
    }
    assert!(!error("something-else").contains("did you mean"));
}

#[test]
fn a_number_out_of_range_is_refused_with_the_range() {
    for (text, range) in [
        ("gut:mu=1.01", "from 0 to 1"),
        ("gut:mu=-0.1", "from 0 to 1"),
        ("gut:mu=nan", "from 0 to 1"),
        ("gut:mu=inf", "from 0 to 1"),
        ("gut:mu=", "from 0 to 1"),
        ("qg-gutm:beta=1", "at least 0 and below 1"),
        ("qg-gutm:beta=-0.5", "at least 0 and below 1"),
        ("qg-gutm:mu_q=1", "at least 0 and below 1"),
        ("gut:gamma=0", "above 0 up to 1"),
        ("gut:gamma=1.5", "above 0 up to 1"),
        ("gut:reading=read", "released, printed or printed-pytorch"),
        ("qg-gutm:form=round", "heavy-ball, quasi-global or own-moves"),
        ("gut:memory=none", "sum or copies"),
        ("gut:gradient_at=home", "mixed or local"),
        ("gutm:nesterov=maybe", "true or false"),
        ("mt:order=cta", "atc or awc"),
        ("mt:start=mean", "zero or average"),
        ("choco:codec=top-k", "top-k/SHARE"),
        ("choco:codec=top-k/0", "above 0 up to 1"),
        ("choco:codec=top-k/1.5", "above 0 up to 1"),
        ("choco:codec=random-k/nan", "above 0 up to 1"),
        ("cgut:codec=sign/2", "none, sign"),
        ("cgut:codec=quantize/1", "2 to 16"),
        ("cgut:codec=quantize/17", "2 to 16"),
        ("choco:order=first", "atc or awc"),
        ("adagossip:decay=1", "at least 0 and below 1"),
        ("dsgd:steps=0", "from 1 to 10000"),
        ("dsgd:steps=2.5", "from 1 to 10000"),
        ("gut:optimizer=lion", "sgd, adam, adamw"),
        ("gut:optimizer=adamw/2", "sgd, adam, adamw"),
        ("gut:optimizer=adamw/0.1/0.9", "adamw/DECAY/BETA1/BETA2"),
        ("gut:optimizer=sgd/1", "sgd, adam, adamw"),
        ("relaysgd:missing=all", "own, start or skip"),
        ("ngc:alpha=2", "from 0 to 1"),
        ("k-gt:outer=0", "above 0 up to 10"),
        ("led:dual=0", "above 0 up to 1"),
    ] {
        let error = error(text);
        assert!(error.contains(range), "'{text}': {error}");
        let value = text.rsplit('=').next().unwrap();
        assert!(error.contains(&format!("= {value} ")), "'{text}': {error}");
    }
}

#[test]
fn an_unknown_parameter_lists_the_accepted_ones() {
    let error = error("gut:beta=0.9");
    assert_eq!(
        error,
        "gut has no parameter 'beta'; it accepts mu, reading, gradient_at, memory, gamma, \
         steps, optimizer"
    );
    for info in &CATALOGUE {
        let error = parse(&format!("{}:colour=blue", info.name)).unwrap_err().to_string();
        assert!(error.starts_with(info.name), "{error}");
        for parameter in info.parameters() {
            assert!(error.contains(parameter.name), "{error}");
        }
    }
}

/// Exact GUT is mu = 1; another mu is another method.
#[test]
fn exact_gut_has_no_mu() {
    assert!(matches!(parse("exact-gut:mu=0.5"), Err(MethodError::UnknownParameter { .. })));
}

#[test]
fn a_parameter_without_a_value_is_refused() {
    assert!(matches!(parse("gut:mu"), Err(MethodError::MissingValue { .. })));
    assert!(error("gut:mu").contains("gut:mu=VALUE"));
}

#[test]
fn auto_has_to_be_resolved_before_building() {
    let unresolved = parse("gut:mu=auto").unwrap().build(&[0.0], 3).err().unwrap();
    assert_eq!(unresolved, MethodError::Unresolved { method: "gut", parameter: "mu" });
}

#[test]
fn parameters_that_do_not_go_together_are_refused() {
    for text in [
        "qg-dsgdm:form=quasi-global,gradient_at=local",
        "qg-dsgdm-n:form=own-moves",
        "qg-gutm-n:form=own-moves",
        "qg-cgutm:form=quasi-global",
        "qg-cgutm-n:form=own-moves",
        "cga:reading=printed-pytorch",
        "ngc:reading=printed-pytorch",
        "comp-ngc:alpha=0",
        "mt:start=average,steps=2",
        "mt:start=average,optimizer=adam",
    ] {
        let rows = [Row::new(1, [(0, 0.25), (2, 0.25)])];
        let refused = parse(text).unwrap().build_staged(&[0.0], &Site::new(3, &rows));
        let refused = refused.err().unwrap();
        assert!(matches!(refused, MethodError::Conflict { .. }), "{text}: {refused}");
    }
}

/// Gamma of AdaGossip is a length in its step; that of all others is the averaging rate of W.
#[test]
fn gamma_acts_on_w_unless_the_method_steps_by_it() {
    let rate = |text: &str| parse(text).unwrap().averaging_rate();
    assert_eq!(rate("choco:gamma=0.3"), Some(0.3));
    assert_eq!(rate("choco"), None, "auto is not a number yet");
    assert_eq!(rate("adagossip:gamma=0.3"), Some(1.0));
    let unresolved = parse("adagossip:gamma=auto").unwrap().build(&[0.0], 3).err().unwrap();
    assert_eq!(unresolved, MethodError::Unresolved { method: "adagossip", parameter: "gamma" });
}
