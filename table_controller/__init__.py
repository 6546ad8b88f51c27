"""The controller of one table: rules, table core, ledger, journal, box, panel, uplink and commands."""
