-- Why a merchant takes no payment of this amount from any payer; null if it does. create_payments asks before it creates
-- one, and a checkout before it lets a payer choose a bank. The fee is that of create_payments.
create or replace function payment_refusal(merchant merchants, amount numeric, currency text) returns text
language sql immutable
as $$
  select case
    when not merchant.is_active then 'MERCHANT_INACTIVE'
    when merchant.kyb_status <> 'APPROVED' then 'MERCHANT_NOT_APPROVED'
    when merchant.payout_held then 'PAYOUT_HELD'
    when currency <> all (merchant.currencies) then 'UNSUPPORTED_CURRENCY'
    when amount > merchant.payment_amount_max then 'AMOUNT_TOO_LARGE'
    when amount <= round(amount * merchant.fee_percentage + merchant.fee_flat, 4) then 'AMOUNT_BELOW_FEE'
  end
$$;
