//! Every method with every option that changes what it computes.

/// All method strings of one gradient and one message that compute different things, without `mu`, `beta` and `mu_q`.
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
    all.extend(["sgd", "sgdm", "sgdm-n"].map(String::from));
    all.extend(every_push_sum_variant());
    all.extend(coded_variants());
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

/// Codecs that lose nothing, something, and something at random.
const CODECS: [&str; 5] = ["none", "sign", "top-k/0.5", "random-k/0.5", "quantize/4"];

/// The methods that code their messages.
fn coded_variants() -> Vec<String> {
    let mut all = Vec::new();
    for codec in CODECS {
        for order in ["atc", "awc"] {
            for name in ["choco", "chocom", "chocom-n"] {
                all.push(format!("{name}:order={order},codec={codec}"));
            }
        }
        all.push(format!("adagossip:gamma=0.005,codec={codec}"));
        for place in ["mixed", "local"] {
            for name in ["cgut", "qg-cgutm", "qg-cgutm-n", "qg-cgutm:form=own-moves"] {
                let separator = if name.contains(':') { ',' } else { ':' };
                all.push(format!("{name}{separator}gradient_at={place},codec={codec}"));
            }
        }
    }
    all
}

/// Every method that is built in stages, with its choices.
pub(crate) fn staged_variants() -> Vec<String> {
    let mut all = Vec::new();
    for missing in ["own", "start", "skip"] {
        for name in ["relaysgd", "relaysgdm", "relaysgdm-n"] {
            all.push(format!("{name}:missing={missing}"));
        }
    }
    for reading in ["released", "printed"] {
        for place in ["local", "mixed"] {
            all.push(format!("cga:reading={reading},gradient_at={place}"));
        }
        for codec in CODECS {
            all.push(format!("comp-cga:reading={reading},codec={codec}"));
            all.push(format!("comp-ngc:reading={reading},codec={codec}"));
        }
        for alpha in ["0", "0.5", "1"] {
            all.push(format!("ngc:reading={reading},alpha={alpha}"));
        }
    }
    let steps = ["k-gt", "k-gt:steps=1", "k-gt:outer=0.5", "led", "led:steps=1", "led:dual=0.5"];
    all.extend(steps.map(String::from));
    all.extend(["mt:start=average", "mt:start=average,order=atc"].map(String::from));
    all.extend(local_step_variants());
    all
}

/// Methods behind local steps and local optimizers.
pub(crate) fn local_step_variants() -> Vec<String> {
    let mut all = vec!["local-sgd".to_string()];
    for name in ["dsgd", "gut:mu=0.25", "qg-gutm:mu=0.05", "gt", "ed", "sgp", "choco:codec=none"] {
        let separator = if name.contains(':') { ',' } else { ':' };
        for local in ["steps=3", "optimizer=adam", "optimizer=adamw/0.1/0.8/0.99,steps=2"] {
            all.push(format!("{name}{separator}{local}"));
        }
    }
    all
}
