import type pg from 'pg'
import { INVARIANTS as OF_SERVICE, INVARIANT_NAMES } from '../../src/verify/sql.ts'
import type { InvariantName } from '../../src/verify/sql.ts'

/**
 * What the mock bank's books, ledger and settlements must be at a quiet moment, each as a query for what breaks it: no rows,
 * or a bug. The service compares the same in parts (src/reconciliation); these are written by themselves, over everything.
 */
const OF_BOOKS = {
  'I2 what was settled is what the bank took': `
    select coalesce(p.end_to_end_id, d.end_to_end_id) from (select * from payment_intents where status in ('Settled', 'Refunded')) p
    full join mock_bank.bank_debits d on d.end_to_end_id = p.end_to_end_id
    where p.id is null or d.payment_id is distinct from p.id or d.amount <> p.gross_amount or d.currency <> p.currency`,
  'I2 what was refunded is what the bank gave back': `
    select coalesce(r.id, c.refund_id) from (select * from payment_refunds where status = 'EXECUTED') r
    full join mock_bank.bank_credits c on c.refund_id = r.id
    where r.id is null or c.payment_id is distinct from r.payment_intent_id or c.amount <> r.amount`,
  'I9 no money is made or lost on the way': `
    select currency from (select currency, sum(balance_minor) as held from accounts group by 1) a
    full join (
      select currency, sum(case when debtor_account_id is null then amount_minor when creditor_account_id is null then -amount_minor else 0 end) as net
      from transfers group by 1
    ) t using (currency)
    where coalesce(held, 0) <> coalesce(net, 0)`,
  'I9 what the mock bank took and gave back moved on its accounts': `
    with booked as (
      select payment_id as id, amount, currency, debtor_account_id as debtor, creditor_account_id as creditor
      from mock_bank.bank_debits where creditor_account_id is not null
      union all
      select c.refund_id, c.amount, c.currency, d.creditor_account_id, d.debtor_account_id
      from mock_bank.bank_credits c join mock_bank.bank_debits d on d.end_to_end_id = c.end_to_end_id where d.creditor_account_id is not null
    )
    select b.id from booked b left join transfers t on t.id = b.id
    where t.id is null or t.debtor_account_id is distinct from b.debtor or t.creditor_account_id is distinct from b.creditor
      or t.amount_minor <> b.amount * 100 or t.currency <> b.currency
    union all
    select d.payment_id from mock_bank.bank_debits d
    join mock_bank.authorisations s on s.end_to_end_id = d.end_to_end_id and s.payee_id is not null
    left join accounts a on a.id = d.creditor_account_id left join customers c on c.id = a.customer_id
    where c.merchant_id is distinct from s.payee_id or d.debtor_account_id is distinct from s.debtor_account_id
    union all
    select t.id from transfers t join payment_intents p on p.id = t.id left join mock_bank.bank_debits d on d.payment_id = t.id where d.payment_id is null
    union all
    select t.id from transfers t join payment_refunds r on r.id = t.id left join mock_bank.bank_credits c on c.refund_id = t.id where c.refund_id is null`,
  'I9 what the mock bank refused it did not do': `
    select r.id from mock_bank.refusals r
    where exists (select from transfers t where t.id = r.id) or exists (select from mock_bank.bank_debits d where d.payment_id = r.id)
      or exists (select from mock_bank.bank_credits c where c.refund_id = r.id)`,
  'I10 each movement of money is in the ledger once, with its amount': `
    with moved as (
      select merchant_id, 'payment_settled' as movement, id, gross_amount as amount, currency from payment_intents where status in ('Settled', 'Refunded')
      union all
      select merchant_id, 'fee_taken', id, fee_amount, currency from payment_intents where status in ('Settled', 'Refunded') and fee_amount > 0
      union all
      select r.merchant_id, case when r.dispute_id is null then 'payment_refunded' else 'dispute_refunded' end, r.id, r.amount, p.currency
      from payment_refunds r join payment_intents p on p.id = r.payment_intent_id where r.status = 'EXECUTED'
    )
    select coalesce(m.id, e.subject_id) from moved m
    full join (
      select * from ledger_entries where movement in ('payment_settled', 'fee_taken', 'payment_refunded', 'dispute_refunded')
    ) e on e.merchant_id = m.merchant_id and e.movement::text = m.movement and e.subject_id = m.id
    where m.id is null or (e.amount, e.currency) is distinct from (m.amount, m.currency)`,
  'I10 every currency of the ledger sums to zero, and its balances are the recount': `
    select currency from ledger_balances group by currency
    having sum(case normal_side when 'debit' then balance else -balance end) <> 0
    union all
    select coalesce(b.currency, r.currency) from ledger_balances b full join ledger_recount r using (merchant_id, currency, account)
    where coalesce(b.balance, 0) <> coalesce(r.balance, 0) or b.normal_side <> r.normal_side`,
  'I11 each entry that changed clearing is one line of settlements, with its amount': `
    select coalesce(e.ordinal, l.ordinal)::text from (
      select e.*, case when credit = 'clearing' then amount else -amount end as added from ledger_entries e
      where 'clearing' in (debit, credit) and movement <> 'settlement_closed'
        and (movement in ('rounded_up', 'rounded_down') or not exists (select from ledger_unfolded u where u.ordinal = e.ordinal))
    ) e
    full join settlement_lines l on l.merchant_id = e.merchant_id and l.ordinal = e.ordinal
    where (e.added, e.currency, e.movement, e.subject_id) is distinct from (l.amount, l.currency, l.movement, l.subject_id)
      or l.movement in ('rounded_up', 'rounded_down') and l.settlement_id is distinct from l.subject_id`,
  'I11 a settlement is the sum of its lines, and what it moved is in the ledger': `
    select coalesce(s.id, l.settlement_id) from settlements s
    full join (
      select merchant_id, settlement_id, min(currency) as currency, min(currency) = max(currency) as is_one, count(*) as lines, sum(amount) as total,
        coalesce(sum(amount) filter (where movement = 'payment_settled'), 0) as gross,
        coalesce(sum(amount) filter (where movement = 'fee_taken'), 0) as fees,
        coalesce(sum(amount) filter (where movement in ('rounded_up', 'rounded_down')), 0) as rounding
      from settlement_lines where settlement_id is not null group by merchant_id, settlement_id
    ) l on l.merchant_id = s.merchant_id and l.settlement_id = s.id
    left join ledger_entries e on e.merchant_id = s.merchant_id and e.subject_id = s.id and e.movement = 'settlement_closed'
    where (l.currency, l.is_one, l.lines, s.opening_balance + l.total, l.gross, -l.fees, l.rounding)
        is distinct from (s.currency, true, s.line_count::bigint, s.net_amount, s.gross_amount, s.fee_amount, s.rounding_amount)
      or coalesce(e.amount, 0) <> s.payable_amount or e.currency <> s.currency`,
  'I11 settlements follow each other without overlap, and each opens with what the last one left': `
    select id from (
      select s.*, lag(period_to) over w as last_to, lag(net_amount - payable_amount, 1, 0.0000) over w as left_over
      from settlements s window w as (partition by merchant_id, currency order by period_to)
    ) s
    where opening_balance <> left_over or period_from < last_to or payable_amount < 0 or net_amount < 0 and payable_amount <> 0`,
  'I11 what clearing has is what settlements left and what is not settled yet': `
    select b.merchant_id::text || b.currency from ledger_balances b
    where b.account = 'clearing' and b.balance <> (
      select coalesce(sum(l.amount), 0) from settlement_lines l
      where l.merchant_id = b.merchant_id and l.currency = b.currency and l.settlement_id is null
    ) + (
      select coalesce(sum(case when e.credit = 'clearing' then e.amount else -e.amount end), 0)
      from ledger_unfolded u join ledger_entries e on e.ordinal = u.ordinal
      where e.merchant_id = b.merchant_id and e.currency = b.currency and 'clearing' in (e.debit, e.credit)
        and e.movement not in ('settlement_closed', 'rounded_up', 'rounded_down')
    ) + coalesce((
      select s.net_amount - s.payable_amount from settlements s
      where s.merchant_id = b.merchant_id and s.currency = b.currency order by s.period_to desc limit 1
    ), 0)`,
} as const satisfies Record<string, string>

export type Invariant = keyof typeof OF_BOOKS | InvariantName

export const INVARIANTS: readonly Invariant[] = [
  ...(Object.keys(OF_BOOKS) as (keyof typeof OF_BOOKS)[]),
  ...INVARIANT_NAMES,
]

/** What must hold of the ledger and of settlements, also of entries that no payment made. */
export const MONEY_OWED: readonly Invariant[] = INVARIANTS.filter((name) => /^I11|^I10 every|^LEDGER_HASH/.test(name))

/** Everything at once. Work that is due counts after a day only, because tests let time pass without a worker. */
const EVERYTHING = { after: null, upTo: null, graceMs: 86_400_000 }

/** The names of the invariants that do not hold; of these alone, where some are named. */
export async function brokenInvariants(
  client: pg.Client,
  among: readonly Invariant[] = INVARIANTS,
): Promise<Invariant[]> {
  const broken: Invariant[] = []
  for (const name of among) {
    const { text, values } =
      name in OF_BOOKS
        ? { text: OF_BOOKS[name as keyof typeof OF_BOOKS], values: [] }
        : ofService(name as InvariantName)
    const { rowCount } = await client.query(text, values)
    if (rowCount !== 0) broken.push(name)
  }
  return broken
}

/** As `svc verify` asks it, for the test's own connection, which sees damage that is not committed. */
function ofService(name: InvariantName): { text: string; values: unknown[] } {
  const { sql, values } = OF_SERVICE[name].query(EVERYTHING)
  return { text: sql.replaceAll(/\$slonik_(\d+)/g, '$$$1'), values: [...values] }
}
