-- The first and the last day that statements in a currency have: reconciliation asks for them with each payment of a real
-- bank, and would read all lines of the other currencies for a rare one.
create index bank_statement_lines__currency__booked_on on bank_statement_lines (currency, booked_on);
