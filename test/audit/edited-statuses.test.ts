import { join } from 'node:path'
import t from 'tap'
import { exportAudit } from '../../src/audit/export-audit.ts'
import { verifyChain } from '../../src/lib/verify-chain.ts'
import type { ChainReport } from '../../src/lib/verify-chain.ts'
import { settlePayments } from '../../src/payments/settle-payments.ts'
import { authorisedPayment } from '../support/app.ts'
import { auditedService } from '../support/audit.ts'
import { refund, times } from '../support/payments.ts'

const service = await auditedService(t)
await service.fill()
const file = join(t.testdir(), 'audit.jsonl')

type Row = { table: string; where: string; wrong: string; was: string; chain: string }
const ROWS: Row[] = [
  {
    table: 'payment_intents',
    where: `status = 'Settled'`,
    wrong: 'Authorised',
    was: 'Settled',
    chain: 'payment_events',
  },
  { table: 'disputes', where: 'true', wrong: 'UNDER_REVIEW', was: 'ESCALATED', chain: 'dispute_events' },
]

for (const { table, where, wrong, was, chain } of ROWS) {
  t.test(`a status that is edited in ${table} is detected, offline too`, async (t) => {
    const found = await service.owner.query(`select id, status from ${table} where ${where} limit 1`)
    const [{ id, status }] = found.rows
    t.equal(status, was)
    t.equal(await service.tamper(`update ${table} set status = $2 where id = $1`, [id, wrong]), 1)
    t.match(await service.svc(['audit', 'export', '--file', file, '--force']), { code: 0 })
    for (const words of [[], ['--file', file]]) {
      const { code, stdout } = await service.svc(['audit', 'verify', '-o', 'json', ...words])
      t.equal(code, 3)
      const broken = JSON.parse(stdout).chains.filter((told: ChainReport) => told.broken !== null)
      const detail = `this is its last event, to ${was}, and the status itself is ${wrong}`
      t.match(broken, [{ chain, broken: { problem: 'status edited', detail } }])
      const { rows } = await service.owner.query(`select ordinal::text from ${chain} where id = $1`, [
        broken[0].broken.id,
      ])
      t.match(rows, [{ ordinal: broken[0].broken.ordinal }], 'the event is named')
    }
    await service.tamper(`update ${table} set status = $2 where id = $1`, [id, was])
    t.match(await service.svc(['audit', 'verify']), { code: 0 })
  })
}

t.test('a payment whose row is missing is detected by its events', async (t) => {
  await service.owner.query(`create table kept as select * from payment_intents where status = 'Settled'`)
  await service.tamper(`delete from payment_intents where status = 'Settled'`)
  const { code, stdout } = await service.svc(['audit', 'verify'])
  t.equal(code, 3)
  t.match(stdout, /payment_events +BROKEN .*status edited: .* is gone/)
  await service.tamper('insert into payment_intents select * from kept')
  t.match(await service.svc(['audit', 'verify']), { code: 0 })
})

t.test('payments that move meanwhile cause no false alarm', async (t) => {
  const merchant = await service.merchant()
  const payments = await times(30, () => authorisedPayment(service, merchant))
  await service.owner.query(`update payment_intents set settle_at = now() where status = 'Authorised'`)
  let isOver = false
  async function move(): Promise<void> {
    await Promise.all([settlePayments(service.app), settlePayments(service.app)])
    for (const { id } of payments) await refund(service, merchant, { id })
    isOver = true
  }
  const reports: ChainReport[] = []
  async function watch(): Promise<void> {
    while (!isOver) reports.push(await verified())
  }
  await Promise.all([move(), watch()])
  const last = await verified()
  t.same(
    reports.filter(({ broken }) => broken !== null),
    [],
  )
  t.ok(reports.length > 5 && new Set(reports.map(({ rows }) => rows)).size > 3, 'the readers saw moves')
  t.match(last, { broken: null })
})

/** The events, a few to a page, so that between pages much happens. */
async function verified(): Promise<ChainReport> {
  const verifier = verifyChain('payment_events')
  let cursor: string | null | undefined
  do {
    const page = await exportAudit(service.app, { chain: 'payment_events', cursor: cursor ?? undefined, limit: 7 })
    page.rows.every((row) => verifier.add(row))
    cursor = page.nextCursor
  } while (cursor !== null)
  return verifier.end()
}
