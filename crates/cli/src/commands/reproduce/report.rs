//! `--report`: RESULTS.md, tables and plots, from the ledger alone.
