//! Many methods in one plot: a panel for each family of methods, with a legend of its own.

use consort_algo::{GradientsPerRound, GraphNeeds, MethodInfo, MethodName, Recursion};
use consort_records::{CurveSet, Panel};
use consort_view::{ChartStyle, LegendPlace};

/// The most curves that one panel and one legend keep apart.
const IN_ONE_PANEL: usize = 10;

/// What methods have in common that are shown in one panel, in the order of the panels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Gossip,
    UpdateTracking,
    GradientTracking,
    Diffusion,
    PushSum,
    Coded,
    Trees,
    CrossGradients,
    AllToAll,
    Unknown,
}

const FAMILIES: [(Family, &str); 10] = [
    (Family::Gossip, "Gossip, with and without momentum"),
    (Family::UpdateTracking, "Global update tracking"),
    (Family::GradientTracking, "Gradient tracking"),
    (Family::Diffusion, "Exact diffusion"),
    (Family::PushSum, "Push-sum, for directed graphs"),
    (Family::Coded, "Coded messages"),
    (Family::Trees, "Relayed along a tree"),
    (Family::CrossGradients, "Cross-gradients"),
    (Family::AllToAll, "All to all"),
    (Family::Unknown, "Others"),
];

/// The curves as they are, or, if they are too many for one panel, those of each family in a panel.
pub(super) fn by_family(curves: CurveSet) -> (CurveSet, ChartStyle) {
    let count: usize = curves.panels.iter().map(|panel| panel.curves.len()).sum();
    if count <= IN_ONE_PANEL {
        return (curves, ChartStyle::default());
    }
    let all: Vec<_> = curves.panels.into_iter().flat_map(|panel| panel.curves).collect();
    let panel = |(family, title): (Family, &str)| Panel {
        title: title.to_owned(),
        curves: all.iter().filter(|curve| family_of(&curve.method) == family).cloned().collect(),
    };
    let panels: Vec<Panel> =
        FAMILIES.map(panel).into_iter().filter(|panel| !panel.curves.is_empty()).collect();
    let style = ChartStyle {
        panel_size: Some((300.0, 210.0)),
        columns: 3.min(panels.len()),
        legend: LegendPlace::EachPanel,
        ..ChartStyle::default()
    };
    (CurveSet { panels, ..curves }, style)
}

fn family_of(method: &str) -> Family {
    let name = method.split(':').next().unwrap_or_default().trim();
    name.parse::<MethodName>().map_or(Family::Unknown, |name| family(name.info()))
}

fn family(info: &MethodInfo) -> Family {
    if info.gradients == GradientsPerRound::Neighbourhood {
        return Family::CrossGradients;
    }
    if info.id.codes_messages() {
        return Family::Coded;
    }
    match (info.needs, info.recursion) {
        (GraphNeeds::AllToAll, _) => Family::AllToAll,
        (GraphNeeds::ColumnStochastic, _) => Family::PushSum,
        (GraphNeeds::Trees, _) => Family::Trees,
        (_, Recursion::D2 | Recursion::Led) => Family::Diffusion,
        (_, Recursion::Gut | Recursion::RuleA | Recursion::RuleB) => Family::UpdateTracking,
        _ if info.traffic > 1 => Family::GradientTracking,
        _ => Family::Gossip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consort_algo::CATALOGUE;
    use consort_records::Curve;

    fn curves(methods: &[&str]) -> CurveSet {
        let curve = |method: &&str| Curve {
            method: (*method).to_owned(),
            label: String::new(),
            x: vec![0.0],
            runs: vec![vec![1.0]],
            seeds: vec![1],
        };
        CurveSet {
            title: String::new(),
            x_label: String::new(),
            y_label: String::new(),
            log_y: false,
            panels: vec![Panel {
                title: String::new(),
                curves: methods.iter().map(curve).collect(),
            }],
        }
    }

    #[test]
    fn few_methods_share_a_panel() {
        let (set, style) = by_family(curves(&["gut", "sgd"]));
        assert_eq!((set.panels.len(), style), (1, ChartStyle::default()));
    }

    /// Every method is in exactly one panel, and no panel has more than a legend can keep apart.
    #[test]
    fn all_methods_are_shown_in_panels_that_can_be_read() {
        let names: Vec<&str> = CATALOGUE.iter().map(|info| info.name).collect();
        let (set, style) = by_family(curves(&names));
        assert_eq!(style.legend, LegendPlace::EachPanel);
        let sizes: Vec<usize> = set.panels.iter().map(|panel| panel.curves.len()).collect();
        assert_eq!(sizes.iter().sum::<usize>(), CATALOGUE.len());
        assert!(sizes.iter().all(|&count| (1..=IN_ONE_PANEL).contains(&count)), "{sizes:?}");
        assert!(set.panels.iter().all(|panel| panel.title != "Others"));
        let titles: Vec<&str> = FAMILIES.iter().map(|(_, title)| *title).collect();
        let places: Vec<_> =
            set.panels.iter().map(|panel| titles.iter().position(|t| *t == panel.title)).collect();
        assert!(places.is_sorted());
    }
}
