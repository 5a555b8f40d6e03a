//! Network plans: errors name what is wrong; what must be equal on all agents is separated from
//! what may differ.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use consort_algo::{CATALOGUE, LostMessage, MethodInfo};
use consort_node::{AgentWork, NetworkPlan, TransportKind, run_id};
use consort_protocol::{Policy, differences};
use support::{agent, data_dir, key, plan, small_run, text};

const RUN: &str = "graph = 'ring:3'\nmodel = 'mlp:4'\nmethods = ['gut']\nseeds = [1]\nrounds = 9";

#[test]
fn what_is_wrong_is_named_with_its_key_or_its_agent() {
    let of = |top: &str, run: &str| text(top, run, 3);
    let with_agents = |agents: &str| format!("[run]\n{RUN}\n{agents}");
    let third = |entry: &str| with_agents(&format!("{}{}{entry}", agent(0), agent(1)));
    let two_methods = RUN.replace("['gut']", "['gut', 'dsgd']");
    let own = |data: [&str; 3]| {
        let entry = |(id, data): (usize, &str)| format!("{}{data}\n", agent(id));
        data.into_iter().enumerate().map(entry).collect::<String>()
    };
    let epochs = RUN.replace("rounds = 9", "epochs = 9");
    for (text, parts) in [
        (of("transprot = 'tls'", RUN), &["transprot", "did you mean `transport`?"][..]),
        (of("transport = 'udp'", RUN), &["transport", "\"iroh\" or \"tls\"", "udp"]),
        (of("profile = 3", RUN), &["profile", "\"lan\" or \"wan\"", "3"]),
        (of("policy = 'stop'", RUN), &["policy", "\"wait\" or \"continue\"", "stop"]),
        (of("largest-update = 0", RUN), &["largest-update", "above 0"]),
        (of("largest-update = 1e300", RUN), &["largest-update", "32-bit float"]),
        (of("largest-update = nan", RUN), &["largest-update", "nan"]),
        (of("transport = ", RUN), &["line 1"]),
        (of("", &format!("{RUN}\nbtach = 3")), &["[run]", "btach", "did you mean `batch`?"]),
        (of("", &format!("{RUN}\neta = -1")), &["[run]", "eta", "more than 0"]),
        (of("", &two_methods), &["run.methods", "exactly one method, got 2"]),
        (of("", "graph = 'ring:3'\nseeds = [1]"), &["run.methods", "got 4"]),
        (of("", &RUN.replace("[1]", "[1, 2]")), &["run.seeds", "exactly one seed, got 2"]),
        (of("", &RUN.replace("ring:3", "rnig:3")), &["rnig:3", "did you mean \"ring\"?"]),
        (of("", &RUN.replace("gut", "gutt")), &["gutt", "gut"]),
        (of("", &RUN.replace("gut", "mt:start=average")), &["mt", "all agents", "start=zero"]),
        (of("", &format!("{RUN}\npartition = 'dirichelt:1'")), &["dirichelt"]),
        (of("", &RUN.replace("ring:3", "ring:8")), &["graph ring:8 has 8 agents", "lists 3"]),
        (of("", &RUN.replace("ring:3", "ring:5000")), &["5000 agents", "at most 2048"]),
        (format!("[run]\n{RUN}"), &["no [[agents]]"]),
        (agent(0), &["no [run]"]),
        ("run = 3\nagents = []".into(), &["run", "a table"]),
        (format!("agents = [1]\n[run]\n{RUN}"), &["agents[0]", "a table"]),
        (
            of("", &format!("{RUN}\nschedule.mix.exact-every = 3")),
            &["schedule.mix.exact-every", "neighbours alone", "consort train"],
        ),
        (
            of("", &format!("{RUN}\nschedule.mix.final-merge = true")),
            &["schedule.mix.final-merge", "consort train"],
        ),
        (
            of(
                "",
                &format!("{RUN}\nschedule.mix.graphs = [{{ from = 0.5, graph = 'complete:3' }}]"),
            ),
            &["schedule.mix.graphs", "meet others"],
        ),
        (
            of("policy = 'continue'", &format!("{RUN}\nschedule.mix.shape = 'step-size'")),
            &["policy = \"continue\"", "schedule.mix.shape", "policy = \"wait\""],
        ),
        (third("[[agents]]\naddress = 'a:1'"), &["agent 2 has no `key`"]),
        (third(&format!("[[agents]]\nkey = '{}'", key(2))), &["agent 2 has no `address`"]),
        (third("[[agents]]\nkey = 7\naddress = 'a:1'"), &["agent 2", "64 hexadecimal", "7"]),
        (third("[[agents]]\nkey = 'ab'\naddress = 'a:1'"), &["agent 2", "`key`", "got 2"]),
        (third(&format!("{}adress = 'a:1'", agent(2))), &["adress", "did you mean `address`?"]),
        (third(&agent(0)), &["agents 0 and 2 have the same key"]),
        (third(&agent(2).replace("7402", "7401")), &["agents 1 and 2", "127.0.0.1:7401"]),
        (third(&agent(2).replace(":7402", "")), &["agent 2", "host:port", "no port"]),
        (third(&agent(2).replace("7402", "70000")), &["agent 2", "1 to 65535"]),
        (third(&agent(2).replace("7402", "0")), &["agent 2", "1 to 65535"]),
        (
            third(&agent(2).replace("127.0.0.1", "")),
            &["agent 2", "neither a name nor an IP address"],
        ),
        (
            third(&agent(2).replace("127.0.0.1", "a b")),
            &["agent 2", "neither a name nor an IP address"],
        ),
        (third(&agent(2).replace("127.0.0.1", "::1")), &["agent 2", "brackets"]),
        (third(&agent(2).replace("'127.0.0.1:7402'", "[]")), &["agent 2 has no `address`"]),
        (third(&agent(2).replace("'127.0.0.1:7402'", "5")), &["agent 2", "host:port in quotes"]),
        (third(&format!("{}data = 3", agent(2))), &["agent 2", "`data`", "in quotes"]),
        (with_agents(&own(["data = 'a'", "", "data = 'b'"])), &["agent 1 has no `data`"]),
        (
            format!("[run]\n{epochs}\n{}", own(["data = 'a'"; 3])),
            &["`run.rounds` instead of `run.epochs`"],
        ),
    ] {
        let Err(error) = NetworkPlan::from_toml(&text) else { panic!("accepted:\n{text}") };
        for part in parts {
            assert!(error.to_string().contains(part), "no {part:?} in: {error}\n{text}");
        }
    }
}

/// A method whose tracker never forgets a lost message cannot continue without a neighbour, nor
/// can a graph on which leaving out a link would shift the average.
#[test]
fn only_what_forgets_a_lost_message_may_continue() {
    let with =
        |run: &str, agents| NetworkPlan::from_toml(&text("policy = 'continue'", run, agents));
    // By what the catalogue says of a lost message, and by what a round exchanges.
    let never = |info: &MethodInfo| {
        use LostMessage::{LosesWeight, Remembered};
        matches!(info.lost_message, Remembered | LosesWeight) || info.default_mu == 1.0
    };
    let several = ["relaysgd", "relaysgdm", "relaysgdm-n", "cga", "comp-cga", "ngc", "comp-ngc"];
    let (stop, go): (Vec<&MethodInfo>, Vec<&MethodInfo>) =
        CATALOGUE.iter().partition(|info| never(info) || several.contains(&info.name));
    let go = go.iter().map(|info| info.name).chain(["gut:mu=0.99", "ngc:alpha=0", "gut:steps=3"]);
    for method in go {
        let accepted = with(&RUN.replace("gut", method), 3);
        assert!(accepted.is_ok(), "{method}: {}", accepted.err().unwrap());
    }
    let stop = stop.iter().map(|info| info.name).chain(["gut:mu=1", "qg-gutm:mu=1"]);
    for method in stop {
        let run = RUN.replace("gut", method).replace("ring:3", "ring:8");
        let run = if method == "d2" { format!("{run}\nweights = 'lazy'") } else { run };
        let error = with(&run, 8).err().unwrap().to_string();
        let reasons = ["never forgets a lost message", "push-sum weight", "a round", "of its own"];
        assert!(reasons.iter().any(|reason| error.contains(reason)), "{method}: {error}");
        for part in [method, "policy = \"wait\""] {
            assert!(error.contains(part), "{method}: {error}");
        }
    }
    for (graph, reason) in [("exponential:8", "one way"), ("one-peer-exponential:8", "change")] {
        let run = RUN.replace("ring:3", graph).replace("gut", "dsgd");
        let error = with(&run, 8).err().unwrap().to_string();
        assert!(error.contains(reason) && error.contains(graph), "{error}");
    }
}

/// Exact averaging opens no links that the plan does not have; relaying needs some of them only.
#[test]
fn a_method_takes_the_links_of_the_plan() {
    let with = |method: &str, graph: &str| {
        let run = RUN.replace("gut", method).replace("ring:3", graph);
        NetworkPlan::from_toml(&text("", &run, 4))
    };
    let error = with("sgd", "ring:4").err().unwrap().to_string();
    for part in ["sgd averages over all agents", "from agent 0 to 2", "complete:4"] {
        assert!(error.contains(part), "{error}");
    }
    assert!(with("sgd", "complete:4").is_ok());
    let relay = with("relaysgd", "ring:4").unwrap();
    assert_eq!(relay.method().topology.name(), "spanning-tree:ring:4");
}

#[test]
fn a_written_plan_comes_back() {
    let top = "transport = 'tls'\nprofile = 'wan'\npolicy = 'continue'\nlargest-update = 2.5e4";
    let run = format!("{}\nname = 'a-b'\npartition-seed = 3", small_run("qg-gutm:mu=0.05"));
    let mut before = plan(&text(top, &run, 8));
    before.agents[3].addresses.push("[2001:db8::7]:99".parse().unwrap());
    before.agents.iter_mut().for_each(|agent| agent.data = Some("csv:a \"b\".csv".into()));
    let written = before.to_toml();
    let after = plan(&written);
    assert_eq!((after.transport, after.policy), (TransportKind::Tls, Policy::Continue));
    assert_eq!(after.profile, before.profile);
    assert_eq!(after.largest_update, 2.5e4);
    assert_eq!(after.run, before.run);
    assert_eq!(after.agents, before.agents);
    assert_eq!(after.to_toml(), written);
}

/// The shared text is the same for all agents of a plan, and for copies that differ only where they
/// may. Any other setting makes a different run, and the difference is named.
#[test]
fn agents_agree_on_what_matters_and_on_nothing_else() {
    let shared = |text: &str, id| {
        let work = AgentWork::new(&plan(text), id, &data_dir(), 1).unwrap();
        assert_eq!(work.run_id(), run_id(work.shared_text()));
        work.shared_text().to_string()
    };
    let usual = text("", RUN, 3);
    let ours = shared(&usual, 0);
    assert_eq!(ours, shared(&usual, 2));
    let own_choice = text("profile = 'wan'", &format!("{RUN}\nname = 'x'\ntensorboard = true"), 3);
    let own_choice = own_choice.replace("127.0.0.1", "192.0.2.1");
    assert_eq!(ours, shared(&own_choice, 1));
    for (other, sentence) in [
        (text("", &format!("{RUN}\neta = 0.2"), 3), "run.eta: here 0.1, there 0.2"),
        (text("transport = 'tls'", RUN, 3), "transport: here iroh, there tls"),
        (text("", &RUN.replace("= 9", "= 8"), 3), "run.rounds: here 9, there 8"),
        (text("", &format!("{RUN}\npartition-seed = 4"), 3), "run.partition-seed: here nothing"),
        (text("", &RUN.replace("mlp:4", "mlp:5"), 3), "model.shapes: here "),
        (usual.replace(&key(2), &key(9)), "agents.2.key: here "),
    ] {
        let theirs = shared(&other, 0);
        let told = differences(&ours, &theirs);
        assert!(told.iter().any(|told| told.starts_with(sentence)), "{sentence}: {told:?}");
        assert_ne!(run_id(&ours), run_id(&theirs));
    }
    assert!(differences(&ours, &ours).is_empty());
}

/// Foreign text is shortened and has no control characters.
#[test]
fn differences_are_safe_to_print() {
    let hostile = format!("run.eta = {}\u{1b}[2J\n", "x".repeat(1 << 20));
    let many: String = (0..1000).map(|k| format!("key{k} = \u{7}\n")).collect();
    let told = differences("run.eta = 0.1\n", &(hostile + &many));
    assert!(told.len() < 20 && told.iter().all(|told| told.len() < 1000), "{}", told.len());
    assert!(!told.concat().chars().any(char::is_control));
}
