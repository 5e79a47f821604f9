-- An amount as text: the currency's two digits, and more (up to four) only where they are not zero (decision 50).
-- lib/money.ts writes the same; a test compares the two. Merchants verify the bytes that are stored here, so no other
-- function may format money.
create or replace function money_text(amount numeric) returns text
language sql immutable
as $$ select round(amount, greatest(2, least(4, min_scale(amount))))::text $$;
