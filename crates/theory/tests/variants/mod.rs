//! The methods that theory is compared with: every method of the catalogue in every form it has,
//! and some of them with other parameters.

use consort_algo::{CATALOGUE, Method, MethodInfo, MomentumOn, Row, Site, Tunable};

/// The parameters that choose between forms of a method, with all their values.
const CHOICES: [(&str, &[&str]); 4] = [
    ("reading", &["released", "printed", "printed-pytorch"]),
    ("form", &["heavy-ball", "quasi-global", "own-moves"]),
    ("memory", &["sum", "copies"]),
    ("order", &["atc", "awc"]),
];

/// Other values of mu and beta.
const WITH_PARAMETERS: [&str; 42] = [
    "led:dual=0.5",
    "led:steps=1",
    "k-gt:steps=2",
    "ngc:alpha=0",
    "gut:mu=0.5,steps=3",
    "dsgd:optimizer=adam",
    "gutm",
    "gutm-n",
    "qg-gutm",
    "qg-gutm-n:reading=printed",
    "qg-gutm:reading=printed-pytorch",
    "qg-gutm:reading=printed-pytorch,mu=0.05",
    "rule-a:mu=0.3",
    "rule-b:mu=0.2",
    "gut:mu=0.5",
    "gut:mu=0.1,reading=printed",
    "gut:mu=0.5,memory=copies",
    "qg-gutm:mu=0.01",
    "qg-gutm:mu=0.3,beta=0.5",
    "qg-gutm-n:mu=0.02",
    "qg-gutm:mu=0.5,reading=printed",
    "qg-gutm:reading=printed-pytorch,mu=0.02",
    "qg-gutm-n:reading=printed-pytorch,mu=0.02",
    "qg-gutm:form=quasi-global,mu=0.01",
    "qg-gutm:form=quasi-global,reading=printed,mu=0.01",
    "qg-gutm:form=own-moves,mu=0.2",
    "qg-gutm:form=own-moves,reading=printed,mu=0.2",
    "qg-dsgdm:beta=0.5",
    "edm:beta=0.5",
    "decentlam:beta=0",
    "decentlam:beta=0.5",
    "mt:beta=0.5",
    "choco:codec=none",
    "choco:order=iclr",
    "chocom:order=iclr,codec=none",
    "cgut:mu=0.1",
    "cgut:mu=0.1,codec=none",
    "cgut:mu=0.5",
    "qg-cgutm:mu=0.01,codec=none",
    "qg-cgutm:mu=0.05",
    "qg-cgutm-n:mu=0.01,beta=0.5",
    "qg-cgutm:mu=0.2,form=own-moves",
];

/// Name, method and mu of every variant.
pub(crate) fn variants() -> Vec<(String, Method, f64)> {
    let named = CATALOGUE.iter().flat_map(forms);
    let all = named.chain(WITH_PARAMETERS.map(str::to_owned));
    let with_mu = |name: String| {
        let method: Method = name.parse().unwrap();
        let Tunable::Value(mu) = method.mu else { panic!("{name} has a mu") };
        (name, method, mu)
    };
    all.map(with_mu).collect()
}

/// All combinations of choices that a method accepts; a few exclude each other.
fn forms(info: &MethodInfo) -> Vec<String> {
    if info.default_gamma == Tunable::Auto {
        // Stable only with the gamma that the analysis chooses, except in its default form.
        return vec![info.name.to_string()];
    }
    // The mu of the consensus figure: small enough for every form to be stable on the ring.
    let mu = match (info.tracks, info.momentum) {
        (false, _) => "",
        (true, MomentumOn::Update) => "mu=0.01,",
        (true, MomentumOn::Gradient | MomentumOn::GradientMean | MomentumOn::Nothing) => "mu=0.1,",
    };
    let mut forms = vec![format!("{}:{mu}", info.name)];
    for (key, values) in CHOICES {
        if !info.parameters().any(|parameter| parameter.name == key) {
            continue;
        }
        let with = |form: &String| values.iter().map(|v| format!("{form}{key}={v},")).collect();
        forms = forms.iter().flat_map(|form| -> Vec<String> { with(form) }).collect();
    }
    let rows = [Row::new(1, [(0, 0.25), (2, 0.25)])];
    let site = Site::new(3, &rows);
    let builds =
        |form: &String| form.parse::<Method>().unwrap().build_staged(&[0.0], &site).is_ok();
    forms.retain(builds);
    assert!(!forms.is_empty(), "{} cannot be built", info.name);
    forms
}
