-- Whether an entry of the ledger debits and credits the accounts of its movement; the check on ledger_entries calls it. A
-- test compares it with ledger/movements.ts. In plpgsql, which is parsed once per connection.
create or replace function fits_ledger(movement text, debit text, credit text, amount numeric, currency text)
returns boolean
language plpgsql immutable
as $$
begin
  return amount > 0 and amount <> 'NaN' and currency ~ '^[A-Z]{3}$' and case movement
    when 'payment_settled' then debit = 'bank' and credit = 'clearing'
    when 'fee_taken' then debit = 'clearing' and credit = 'fees_earned'
    when 'payment_refunded' then debit = 'clearing' and credit = 'bank'
    when 'dispute_refunded' then debit = 'clearing' and credit = 'bank'
    when 'settlement_closed' then debit = 'clearing' and credit = 'merchant_payable'
    when 'rounded_up' then debit = 'rounding' and credit = 'clearing'
    when 'rounded_down' then debit = 'clearing' and credit = 'rounding'
    when 'balance_held' then debit = 'merchant_payable' and credit = 'held'
    when 'balance_released' then debit = 'held' and credit = 'merchant_payable'
    when 'payout_sent' then debit = 'merchant_payable' and credit = 'payouts_in_transit'
    when 'payout_paid' then debit = 'payouts_in_transit' and credit = 'bank'
    when 'payout_failed' then debit = 'payouts_in_transit' and credit = 'merchant_payable'
    when 'payout_returned' then debit = 'bank' and credit = 'merchant_payable'
    when 'debt_deducted' then debit = 'merchant_payable' and credit = 'clearing'
    when 'debt_restored' then debit = 'clearing' and credit = 'merchant_payable'
    when 'correction' then debit = 'clearing' and credit in ('bank', 'fees_earned')
      or debit in ('bank', 'fees_earned') and credit = 'clearing'
    else false
  end;
end
$$;
