import { performance } from 'node:perf_hooks'
import t from 'tap'
import { createPayoutFile } from '../../src/payout-files/create-payout-file.ts'
import { testService } from '../support/app.ts'
import { answerTo, byFile, readInstructions, statementOf } from '../support/payout-bank.ts'
import { payableMerchant } from '../support/payouts.ts'

const service = await testService(t, { env: { SVC_PAYOUT_CONNECTOR: 'file' } })
const { app, owner } = service
const headers = await service.operator('OPS')

/** Counts the statements that move payouts. */
await owner.query('create sequence moves')
await owner.query(
  `create function count_moves() returns trigger language plpgsql security definer as $$ begin perform nextval('moves'); return null; end $$`,
)
await owner.query(
  'create trigger zz_count after update of status on payouts for each statement execute function count_moves()',
)

async function counted<T>(name: string, run: () => Promise<T>): Promise<{ value: T; statements: number }> {
  const { rows: before } = await owner.query('select last_value::int + is_called::int as moves from moves')
  const start = performance.now()
  const value = await run()
  t.comment(`${name}: ${Math.round(performance.now() - start)} ms`)
  const { rows: after } = await owner.query('select last_value::int + is_called::int as moves from moves')
  return { value, statements: after[0].moves - before[0].moves }
}

async function statuses(): Promise<Record<string, number>> {
  const { rows } = await owner.query('select status::text as status, count(*)::int as count from payouts group by 1')
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
}

t.test('a thousand payouts are written, answered, paid and returned as sets', async (t) => {
  const merchants = [await payableMerchant(service), await payableMerchant(service)]
  for (const { id, accountId } of merchants)
    await owner.query(
      `insert into payouts (id, merchant_id, currency, amount, bank_account_id, connector, end_to_end_id)
       select gen_random_uuid(), $1, 'GBP', n, $2, 'file', 'SVC' || replace(gen_random_uuid()::text, '-', '')
       from generate_series(1, 500) n`,
      [id, accountId],
    )
  const actor = { id: 'test', name: 'test', role: 'OWNER' } as const
  const { value: made, statements: sent } = await counted('export', () => createPayoutFile(byFile(app), { actor }))
  const { messageId, payments } = readInstructions(made.file?.content ?? '')
  t.match(
    { sent, statuses: await statuses(), count: payments.length },
    { sent: 1, statuses: { SENT: 1000 }, count: 1000 },
  )

  const refused = payments.filter((_, index) => index % 4 === 0)
  const content = answerTo(messageId, Object.fromEntries(refused.map(({ endToEndId }) => [endToEndId, 'RJCT AC04'])))
  const answered = await counted('answer', () =>
    service.call('POST', '/api/v1/admin/payout-reports', { headers, body: { content } }),
  )
  t.match(answered, { statements: 1, value: { status: 200, body: { rejected_count: 250 } } }, answered.value.text)
  t.equal(answered.value.body.rejected.length, 250)
  t.match(await statuses(), { SENT: 750, FAILED: 250 })

  const paid = payments.filter((_, index) => index % 4 !== 0)
  const back = paid.slice(0, 100).map(({ amount, endToEndId: e2e }, index) => ({ amount, e2e, ref: `BACK-${index}` }))
  const statement = statementOf(payments, back)
  const imported = await counted('statement', () =>
    service.call('POST', '/api/v1/admin/statements', { headers, body: { content: statement } }),
  )
  t.match(imported, { value: { status: 200, body: { matched_line_count: 850 } } }, imported.value.text)
  t.ok(imported.statements <= 2, `${imported.statements} statements moved them`)
  t.match(await statuses(), { PAID: 650, RETURNED: 100, FAILED: 250 })

  const { rows: posted } = await owner.query(
    `select movement::text as movement, count(*)::int as count from ledger_entries
     where movement::text like 'payout_%' group by 1 order by 1`,
  )
  t.same(posted, [
    { movement: 'payout_failed', count: 250 },
    { movement: 'payout_paid', count: 750 },
    { movement: 'payout_returned', count: 100 },
  ])
  const { rows: told } = await owner.query(
    `select event_type as type, count(*)::int as count, count(distinct event_id)::int as ids from webhook_deliveries
     where event_type like 'payout.%' group by 1 order by 1`,
  )
  t.same(told, [
    { type: 'payout.failed', count: 250, ids: 250 },
    { type: 'payout.paid', count: 750, ids: 750 },
    { type: 'payout.returned', count: 100, ids: 100 },
  ])
  const again = await counted('the same statement', () =>
    service.call('POST', '/api/v1/admin/statements', { headers, body: { content: statement } }),
  )
  t.match(again.value.body, { new_line_count: 0, matched_line_count: 0 })
  t.match(await statuses(), { PAID: 650, RETURNED: 100, FAILED: 250 })
})
