//! The methods that theory is compared with: every one of the catalogue, in every form it has.

use consort_algo::{CATALOGUE, Method, Tunable};

const VARIANTS: [&str; 33] = [
    "dsgd",
    "dsgdm",
    "dsgdm-n",
    "gt",
    "d2",
    "rule-a:mu=0.3",
    "rule-b:mu=0.2",
    "qg-dsgdm",
    "qg-dsgdm-n",
    "qg-dsgdm:form=quasi-global",
    "qg-dsgdm-n:form=quasi-global",
    "qg-dsgdm:form=own-moves",
    "gut:mu=0.5",
    "gut:mu=0.1,reading=printed",
    "gutm",
    "gutm-n",
    "exact-gut",
    "qg-gutm",
    "qg-gutm-n:mu=0.02",
    "qg-gutm:mu=0.5,reading=printed",
    "qg-gutm-n:reading=printed",
    "qg-gutm:reading=printed-pytorch",
    "qg-gutm-n:reading=printed-pytorch,mu=0.02",
    "qg-gutm:form=quasi-global,mu=0.01",
    "qg-gutm:form=quasi-global,reading=printed,mu=0.01",
    "qg-gutm:form=own-moves,mu=0.2",
    "qg-gutm:form=own-moves,reading=printed,mu=0.2",
    "gut:mu=0.5,memory=copies",
    "qg-dsgdm:beta=0.5",
    "qg-gutm:mu=0.05",
    "qg-gutm:mu=0.01",
    "qg-gutm:mu=0.3,beta=0.5",
    "qg-gutm:reading=printed-pytorch,mu=0.05",
];

/// Name, method and mu of every variant.
///
/// # Panics
/// If a method of the catalogue is not among them.
pub(crate) fn variants() -> Vec<(&'static str, Method, f64)> {
    for info in &CATALOGUE {
        let has_its_name = |name: &&str| name.split(':').next() == Some(info.name);
        assert!(VARIANTS.iter().any(has_its_name), "{} is not among them", info.name);
    }
    let with_mu = |name: &'static str| {
        let method: Method = name.parse().unwrap();
        let Tunable::Value(mu) = method.mu else { panic!("{name} has a mu") };
        (name, method, mu)
    };
    VARIANTS.into_iter().map(with_mu).collect()
}
