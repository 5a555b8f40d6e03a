//! Every method with every option that changes what it computes.

/// All method strings that compute different things, without `mu`, `beta` and `mu_q`.
pub(crate) fn every_variant() -> Vec<String> {
    let mut all = Vec::new();
    for place in ["mixed", "local"] {
        for name in ["dsgd", "dsgdm", "dsgdm-n", "rule-a", "rule-b"] {
            all.push(format!("{name}:gradient_at={place}"));
        }
        for name in ["qg-dsgdm", "qg-dsgdm-n"] {
            all.push(format!("{name}:form=heavy-ball,gradient_at={place}"));
        }
        all.push(format!("qg-dsgdm:form=own-moves,gradient_at={place}"));
        for reading in ["released", "printed", "printed-pytorch"] {
            for memory in ["sum", "copies"] {
                let choices = format!("reading={reading},memory={memory},gradient_at={place}");
                for name in ["gut", "gutm", "gutm-n", "exact-gut"] {
                    all.push(format!("{name}:{choices}"));
                }
                for name in ["qg-gutm", "qg-gutm-n"] {
                    all.push(format!("{name}:form=heavy-ball,{choices}"));
                }
                for form in ["quasi-global", "own-moves"] {
                    all.push(format!("qg-gutm:form={form},{choices}"));
                }
            }
        }
    }
    for name in ["qg-dsgdm", "qg-dsgdm-n"] {
        all.push(format!("{name}:form=quasi-global"));
    }
    all.extend(["gt".into(), "d2".into()]);
    all.extend(["gt:order=awc", "ed", "edm", "decentlam", "mt", "mt:order=atc"].map(String::from));
    all.extend(every_push_sum_variant());
    all
}

/// Those that run on column-stochastic weights.
pub(crate) fn every_push_sum_variant() -> Vec<String> {
    let names = ["sgp", "sgpm", "sgpm-n", "gut-sgp", "qg-gutm-sgp-n:form=heavy-ball"];
    let mut all: Vec<String> = names.map(String::from).to_vec();
    for form in ["heavy-ball", "quasi-global", "own-moves"] {
        all.push(format!("qg-gutm-sgp:form={form}"));
    }
    all
}

/// Every method once, as its name alone builds it.
pub(crate) fn every_name() -> Vec<&'static str> {
    consort_algo::CATALOGUE.iter().map(|info| info.name).collect()
}
