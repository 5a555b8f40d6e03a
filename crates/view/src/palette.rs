//! The colour, dashes and marker of each curve of a figure.
//!
//! If GUT is vermillion in Figure 1, it is vermillion in Figure 7: the paper's methods have fixed
//! looks. Their hues follow the palette of Okabe and Ito, which colour-blind readers can
//! distinguish, darkened until each has a contrast of 3 on white. A family (D-SGD, GUT, QG-D-SGD,
//! QG-GUT) shares a hue; its members differ in lightness. In black and white the dashes and the
//! markers tell curves apart, so no two curves of a figure share both.
//!
//! With more than forty methods no palette is large enough for all. All others keep their usual
//! colour where a figure has room for it, and take the most different one elsewhere.

use crate::color::Color;
use crate::marker::{MARKERS, Marker, Shape, filled, hollow};
use std::cmp::Ordering;
use std::collections::HashMap;

/// How the line of a method is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Look {
    /// The colour of the line; bands have the same colour, but transparent.
    pub(crate) color: Color,
    /// The SVG dash pattern in pixels; empty for a solid line.
    pub(crate) dash: &'static str,
    /// The marker on the line.
    pub(crate) marker: Marker,
}

const SOLID: &str = "";
const LONG: &str = "10 2.5";
const DASHED: &str = "6 2.5";
const DOT_DASHED: &str = "7 2 1.6 2";
const DOTTED: &str = "1.8 2";
const SHORT: &str = "3.2 1.8";
const DASHES: [&str; 6] = [SOLID, DASHED, DOT_DASHED, SHORT, DOTTED, LONG];

/// Method, usual colour and dashes. Three pairs share their colour because they are the same rule, with one
/// name for average consensus and one for training: gossip and dsgd, qg-gossip and qg-dsgdm, qg-gut
/// and qg-gutm.
const NAMED: [(&str, u32, &str); 48] = [
    ("gossip", 0x0072B2, DASHED),
    ("dsgd", 0x0072B2, DASHED),
    ("dsgdm", 0x3D8FCC, SHORT),
    ("dsgdm-n", 0x004A80, DOTTED),
    ("gut", 0xD55E00, SOLID),
    ("gutm", 0xE8702A, SHORT),
    ("gutm-n", 0x9C4400, DOT_DASHED),
    ("qg-gossip", 0x00916A, DOT_DASHED),
    ("qg-dsgdm", 0x00916A, DOT_DASHED),
    ("qg-dsgdm-n", 0x005C44, SHORT),
    ("qg-gut", 0xB83280, LONG),
    ("qg-gutm", 0xB83280, LONG),
    ("qg-gutm-n", 0x7A1F57, DOT_DASHED),
    ("exact-gut", 0x8B1A1A, SHORT),
    ("rule-a", 0x5B5BC9, SHORT),
    ("rule-b", 0x7A7A7A, DASHED),
    ("gt", 0x6B4A00, SOLID),
    ("d2", 0x2B2B2B, SOLID),
    ("ed", 0x4A2A8A, DOT_DASHED),
    ("edm", 0x6F42C1, SOLID),
    ("decentlam", 0x5E7D00, DASHED),
    ("mt", 0xA8741A, SHORT),
    ("sgp", 0x0E7C86, SOLID),
    ("sgpm", 0x1A9AA6, DASHED),
    ("sgpm-n", 0x0A555C, DOT_DASHED),
    ("gut-sgp", 0xB5651D, SHORT),
    ("qg-gutm-sgp", 0x9B4F96, SHORT),
    ("qg-gutm-sgp-n", 0x63305F, DOTTED),
    ("choco", 0x7B4B2A, SOLID),
    ("chocom", 0xA0703F, DASHED),
    ("chocom-n", 0x54331A, DOT_DASHED),
    ("adagossip", 0x00798C, SHORT),
    ("cgut", 0xBF4F00, DOTTED),
    ("qg-cgutm", 0xA02468, DOTTED),
    ("qg-cgutm-n", 0x5F1542, SHORT),
    ("relaysgd", 0x3F7D20, SOLID),
    ("relaysgdm", 0x5C9A2F, DASHED),
    ("relaysgdm-n", 0x2A5414, DOT_DASHED),
    ("cga", 0xC2185B, SOLID),
    ("comp-cga", 0xD81B7A, DOTTED),
    ("ngc", 0x8E24AA, SOLID),
    ("comp-ngc", 0xA64DC0, DOTTED),
    ("k-gt", 0x8A5A00, DASHED),
    ("led", 0x3949AB, SHORT),
    ("sgd", 0x455A64, SOLID),
    ("sgdm", 0x607D8B, DASHED),
    ("sgdm-n", 0x37474F, DOT_DASHED),
    ("local-sgd", 0x546E7A, SHORT),
];

/// The paper's methods, whose looks are the same in every figure, with their markers: a family has a
/// shape, and its members are filled, hollow, or a cross of their own.
const PAPER: [(&str, Marker); 17] = [
    ("gossip", filled(Shape::Circle)),
    ("dsgd", filled(Shape::Circle)),
    ("dsgdm", hollow(Shape::Circle)),
    ("dsgdm-n", filled(Shape::Plus)),
    ("gut", filled(Shape::Square)),
    ("gutm", hollow(Shape::Square)),
    ("gutm-n", filled(Shape::Cross)),
    ("qg-gossip", filled(Shape::Triangle)),
    ("qg-dsgdm", filled(Shape::Triangle)),
    ("qg-dsgdm-n", hollow(Shape::Triangle)),
    ("qg-gut", filled(Shape::Diamond)),
    ("qg-gutm", filled(Shape::Diamond)),
    ("qg-gutm-n", hollow(Shape::Diamond)),
    ("rule-a", filled(Shape::Asterisk)),
    ("rule-b", hollow(Shape::TriangleDown)),
    ("gt", hollow(Shape::TriangleDown)),
    ("d2", filled(Shape::TriangleDown)),
];

/// Two colours of a figure should be at least this far apart, in Oklab times 100: about six times a
/// just noticeable difference.
const APART: f64 = 12.0;

/// The names of all methods with a usual colour.
pub fn named_methods() -> impl Iterator<Item = &'static str> {
    NAMED.iter().map(|(key, ..)| *key)
}

/// The usual look of one method. Parameters after ':' do not matter, so a method has the same
/// colour with any parameters; to distinguish the curves of a figure use [`looks`].
pub(crate) fn look(method: &str) -> Look {
    let key = base(method);
    let marker =
        PAPER.iter().find(|(name, _)| *name == key).map_or(MARKERS[0], |(_, marker)| *marker);
    match NAMED.iter().find(|(name, ..)| *name == key) {
        Some(&(_, hex, dash)) => Look { color: Color::from_hex(hex), dash, marker },
        None => unknown(key, marker),
    }
}

/// The looks of the methods of one figure, in their order. The paper's methods have their usual
/// looks; the others take colours and markers that the figure does not have yet. The same method
/// with different parameters ("gut:mu=0.5", "gut:mu=0.9") keeps its hue, from light to dark in the
/// order of the numbers.
pub(crate) fn looks(methods: &[&str]) -> Vec<Look> {
    let mut settings: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut distinct: Vec<&str> = Vec::new();
    for method in methods {
        let family = settings.entry(base(method)).or_default();
        if !family.contains(method) {
            family.push(method);
            distinct.push(method);
        }
    }
    for family in settings.values_mut() {
        family.sort_by(|a, b| in_number_order(a, b));
    }
    let in_paper = |method: &str| PAPER.iter().any(|(name, _)| *name == base(method));
    // The paper's methods choose first, so no other takes their place; then their other settings.
    let place = |method: &str| settings[base(method)].iter().position(|m| *m == method);
    distinct.sort_by_key(|method| (!in_paper(method), place(method) != Some(0)));
    let mut hues: HashMap<&str, Color> = HashMap::new();
    let mut chosen: HashMap<&str, Look> = HashMap::new();
    let mut taken: Vec<Look> = Vec::new();
    for method in distinct {
        let usual = look(method);
        let key = base(method);
        let color = *hues.entry(key).or_insert_with(|| {
            if in_paper(method) { usual.color } else { apart(usual.color, &taken) }
        });
        let family = &settings[key];
        let place = family.iter().position(|m| *m == method).unwrap_or(0);
        let shaded = varied(Look { color, ..usual }, place, family.len());
        let own = distinguished(shaded, in_paper(method) && place == 0, &taken);
        taken.push(own);
        chosen.insert(method, own);
    }
    methods.iter().map(|method| chosen[method]).collect()
}

/// `usual`, or if a colour of the figure is too near, the candidate that is farthest from all.
fn apart(usual: Color, taken: &[Look]) -> Color {
    let nearest = |color: Color| {
        taken.iter().map(|look| color.distance(look.color)).fold(f64::INFINITY, f64::min)
    };
    if nearest(usual) >= APART {
        return usual;
    }
    let candidates = (0..3).flat_map(|shade| {
        let lightness = [0.55, 0.42, 0.3][shade];
        (0..18).map(move |step| {
            let angle = (f64::from(step) * 20.0).to_radians();
            let chroma = if shade == 2 { 0.09 } else { 0.13 };
            Color::from_oklab([lightness, chroma * angle.cos(), chroma * angle.sin()])
        })
    });
    let readable = candidates.filter(|color| color.contrast_on_white() >= 3.0);
    readable.max_by(|a, b| nearest(*a).total_cmp(&nearest(*b))).unwrap_or(usual)
}

/// The look with a marker that the figure does not have yet. When all are in use, with dashes that
/// no curve with its marker has.
fn distinguished(look: Look, keeps_its_own: bool, taken: &[Look]) -> Look {
    let unused = |marker: &Marker| !taken.iter().any(|other| other.marker == *marker);
    if keeps_its_own && unused(&look.marker) {
        return look;
    }
    if let Some(marker) = MARKERS.into_iter().find(unused) {
        return Look { marker, ..look };
    }
    let start = DASHES.iter().position(|dash| *dash == look.dash).unwrap_or(0);
    let pairs = (0..DASHES.len())
        .map(|k| DASHES[(start + k) % DASHES.len()])
        .flat_map(|dash| MARKERS.map(|marker| Look { dash, marker, ..look }));
    let free = |pair: &Look| {
        !taken.iter().any(|other| (other.marker, other.dash) == (pair.marker, pair.dash))
    };
    pairs.into_iter().find(free).unwrap_or(look)
}

/// The part of the name that decides the hue.
fn base(method: &str) -> &str {
    method.split(':').next().unwrap_or(method).trim()
}

/// Member `place` of a family of `count`: from the lightest colour that is visible on white to
/// almost black, with changing dashes.
fn varied(look: Look, place: usize, count: usize) -> Look {
    if count < 2 {
        return look;
    }
    let lightest = (0..=50)
        .map(|step| look.color.shifted(f64::from(step) * 0.01))
        .take_while(|c| c.contrast_on_white() >= 3.0)
        .last()
        .unwrap_or(look.color);
    let depth = place as f64 / (count - 1) as f64;
    let start = DASHES.iter().position(|d| *d == look.dash).unwrap_or(0);
    Look {
        color: lightest.shifted(-0.62 * depth),
        dash: DASHES[(start + place) % DASHES.len()],
        ..look
    }
}

/// A method without a usual colour: a muted hue from a hash of its name (FNV-1a, which is the same
/// in every run and on every machine; the standard hasher is not).
fn unknown(key: &str, marker: Marker) -> Look {
    let hash = key
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    // The high bits are mixed best.
    let hue = (hash >> 40) % 360;
    let dash = DASHES[((hash >> 20) % DASHES.len() as u64) as usize];
    Look { color: Color::from_hsl(hue as f64, 0.45, 0.36), dash, marker }
}

/// Sorts by the numbers in the names, then by the names: mu=0.5 before mu=10.
fn in_number_order(a: &str, b: &str) -> Ordering {
    let numbers = |name: &str| -> Vec<f64> {
        name.split(|c: char| !(c.is_ascii_digit() || c == '.'))
            .filter_map(|part| part.parse().ok())
            .collect()
    };
    numbers(a).partial_cmp(&numbers(b)).unwrap_or(Ordering::Equal).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: [(&str, &str); 3] =
        [("gossip", "dsgd"), ("qg-gossip", "qg-dsgdm"), ("qg-gut", "qg-gutm")];

    #[test]
    fn only_the_stated_pairs_share_a_colour() {
        let keys: Vec<_> = named_methods().collect();
        for (i, a) in keys.iter().enumerate() {
            for b in &keys[i + 1..] {
                let pair = PAIRS.contains(&(a, b));
                assert_eq!(look(a).color == look(b).color, pair, "{a} {b}");
            }
        }
    }

    #[test]
    fn every_colour_stands_on_white() {
        let mut names = vec!["mine", "yours", "a-third", "", "gt:a=0", "gt:a=1", "gt:a=2"];
        names.extend(named_methods());
        for (name, look) in names.iter().zip(looks(&names)) {
            let contrast = look.color.contrast_on_white();
            assert!(contrast >= 2.95, "{name} {} {contrast}", look.color.hex());
        }
    }

    /// The methods most figures compare, seen without the red or the green cones (matrices of
    /// Machado, Oliveira and Fernandes 2009, severity 1), must still differ; the bound is about
    /// six times a just noticeable difference.
    #[test]
    fn the_main_methods_differ_for_the_colour_blind() {
        let deutan = [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]];
        let protan = [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]];
        let main = ["gossip", "gut", "qg-gossip", "qg-gut", "d2", "gt"];
        for seen in [deutan, protan] {
            for (i, a) in main.iter().enumerate() {
                for b in &main[i + 1..] {
                    let [p, q] = [a, b].map(|m| lab(&seen, look(m).color));
                    let apart = (0..3).map(|k| (p[k] - q[k]).powi(2)).sum::<f64>().sqrt();
                    assert!(apart > 14.0, "{a} {b} {apart}");
                }
            }
        }
    }

    /// CIE L*a*b* of a colour after the matrix `seen` on its linear light.
    fn lab(seen: &[[f64; 3]; 3], color: Color) -> [f64; 3] {
        let light = color.linear();
        let times = |m: &[[f64; 3]; 3], v: [f64; 3]| {
            m.map(|row| (0..3).map(|k| row[k] * v[k]).sum::<f64>().max(0.0))
        };
        let to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]];
        let xyz = times(&to_xyz, times(seen, light));
        let white = [0.9505, 1.0, 1.089];
        let f: Vec<f64> = (0..3).map(|k| (xyz[k] / white[k]).cbrt()).collect();
        [116.0 * f[1] - 16.0, 500.0 * (f[0] - f[1]), 200.0 * (f[1] - f[2])]
    }

    #[test]
    fn settings_keep_the_hue_and_run_from_light_to_dark() {
        let names = ["gut:mu=10", "gut:mu=0.5", "gut:mu=2", "gossip"];
        let looks = looks(&names);
        let contrast: Vec<f64> = looks.iter().map(|l| l.color.contrast_on_white()).collect();
        assert!(contrast[1] < contrast[2] && contrast[2] < contrast[0], "{contrast:?}");
        assert_eq!(looks[3], look("gossip"));
        let markers: Vec<Marker> = looks.iter().map(|l| l.marker).collect();
        assert!((1..4).all(|i| !markers[..i].contains(&markers[i])), "{markers:?}");
        assert_eq!(look("gut:mu=0.5"), look("gut"));
    }

    #[test]
    fn unknown_methods_always_look_the_same() {
        assert_eq!(look("mine"), look("mine"));
        assert_ne!(look("mine").color, look("yours").color);
    }

    /// Every catalogue's worth of methods in one figure: no two curves share dashes and marker, and
    /// up to the number of markers they differ in the marker alone.
    #[test]
    fn any_number_of_curves_can_be_told_apart_without_colour() {
        let all: Vec<&str> = named_methods().collect();
        for count in [4, 13, all.len()] {
            let looks = looks(&all[..count]);
            let seen: Vec<(Marker, &str)> = looks.iter().map(|l| (l.marker, l.dash)).collect();
            for (i, pair) in seen.iter().enumerate() {
                assert!(!seen[..i].contains(pair), "{} of {count}: {pair:?}", all[i]);
            }
        }
        let some = ["gut", "ngc", "choco", "led", "mt", "sgp", "k-gt", "cga", "edm", "relaysgd"];
        let looks = looks(&some);
        for (i, look) in looks.iter().enumerate() {
            for other in &looks[..i] {
                assert_ne!(look.marker, other.marker);
                // Measured: 13.5 between the nearest two.
                let apart = look.color.distance(other.color);
                assert!(apart >= 10.0, "{} {apart}", some[i]);
            }
        }
    }

    #[test]
    fn the_papers_methods_look_the_same_in_every_figure() {
        for figure in [&["ngc", "choco", "gut"][..], &["gut"], &["qg-gutm", "sgp", "dsgd", "gut"]] {
            let place = figure.iter().position(|m| *m == "gut").unwrap();
            assert_eq!(looks(figure)[place], look("gut"));
        }
    }
}
