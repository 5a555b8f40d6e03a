//! Pictures of records: charts, graphs and heat maps as SVG, PDF and PNG, and reports as HTML.
//!
//! All functions are pure: no files, no clock, no system fonts. The same data give the same bytes.
//!
//! ```text
//!   CurveSet ──► chart_svg : range → axes (ticks) → layout → traces, legend ┐
//!   NetworkPicture ──► network_svg : scale → edges → nodes                  ├► canvas ──► Picture
//!   HeatMap ──► heat_map_svg : cells, labels, colour bar                    │  svg(), pdf(), png()
//!   ComparisonPlot ──► comparison_svg : axes, numbers → dots, legend        ┘
//!
//!   ReportData ──► report_html : all of these on one page
//! ```
//!
//! ```
//! use consort_records::{Curve, CurveSet, Panel};
//! use consort_view::{ChartStyle, TextAs, chart_svg};
//!
//! let gut = Curve {
//!     method: "gut".into(), // decides the colour, the same in every figure
//!     label: "GUT".into(),
//!     x: vec![0.0, 100.0, 200.0],
//!     runs: vec![vec![1.0, 0.1, 0.02], vec![1.0, 0.2, 0.01]], // one per seed
//!     seeds: vec![1, 2],
//! };
//! let picture = chart_svg(
//!     &CurveSet {
//!         title: "Consensus error on a ring".into(),
//!         x_label: "Round".into(),
//!         y_label: "‖x − x̄‖²".into(),
//!         log_y: true,
//!         panels: vec![Panel { title: String::new(), curves: vec![gut] }],
//!     },
//!     &ChartStyle::default(),
//! )?;
//! assert!(picture.svg().starts_with("<svg"));
//! assert!(!picture.png(2.0)?.is_empty());
//! assert!(picture.pdf(TextAs::Text)?.starts_with(b"%PDF"));
//! # Ok::<(), consort_view::ViewError>(())
//! ```

mod axis;
mod canvas;
mod chart;
mod color;
mod comparison;
mod data_range;
mod edge_route;
mod error;
mod heat_map;
mod layout;
mod legend;
mod marker;
mod network;
mod number_text;
mod palette;
mod pdf;
mod picture;
mod ramp;
mod report;
mod ticks;
mod trace;
mod typeface;

pub use chart::{Arrangement, ChartStyle, LegendPlace, MOST_TOGETHER, band_chart_svg, chart_svg};
pub use comparison::{ComparisonPlot, Estimate, PlotGroup, PlotRow, comparison_svg};
pub use error::ViewError;
pub use heat_map::{HeatMap, HeatMapStyle, Shade, heat_map_svg};
pub use network::{NetworkPicture, NetworkStyle, PictureEdge, PictureEdgeShape, network_svg};
pub use palette::named_methods;
pub use picture::{Picture, TextAs};
pub use report::{ReportData, ReportProvenance, report_html};
