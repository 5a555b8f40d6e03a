//! `consort data`: list, download, check and show datasets.

#[cfg(feature = "download")]
use consort_data::fetch::FetchOptions;

use crate::arguments::{DataAction, DatasetOptions};
use crate::failure::{Blame, Failure};

mod check;
#[cfg(feature = "download")]
mod get;
mod list;
mod show;

pub(crate) fn run(options: &DatasetOptions) -> Result<(), Failure> {
    match &options.action {
        DataAction::List { data_options, json } => {
            list::run(&super::train::data_dir(data_options)?, *json)
        }
        #[cfg(feature = "download")]
        DataAction::Get { name, mirror, retries, dry_run, data_options } => {
            let options =
                FetchOptions { base: mirror.clone(), retries: *retries, ..FetchOptions::default() };
            get::run(name, &options, *dry_run, &super::train::data_dir(data_options)?)
        }
        #[cfg(not(feature = "download"))]
        DataAction::Get { .. } => Err(Failure::input(
            "this consort was built without the feature `download`; `consort data show NAME` \
             says which files are needed and where",
        )),
        DataAction::Check { name, data_options, json } => {
            check::run(name, &super::train::data_dir(data_options)?, *json)
        }
        show @ DataAction::Show { name, data_options, .. } => {
            let data_dir = super::train::data_dir(data_options)?;
            let dataset = consort_data::load(name, &data_dir).or_input()?;
            show::run(&dataset, show)
        }
    }
}
