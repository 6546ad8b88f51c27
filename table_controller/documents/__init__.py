"""Documents from the journal: slips, receipts, reports and logs, as typed data and as page, text or PDF."""
