import t from 'tap'
import { findByKey } from '../../src/reconciliation/sql.ts'
import { SOURCE_NAMES, findEnd } from '../../src/verify/part-sql.ts'
import { INVARIANT_NAMES, findBreaches } from '../../src/verify/sql.ts'
import { createPayment, testService } from '../support/app.ts'
import { measurePlan } from '../support/kept-plan.ts'
import { statementOf } from '../support/statement-of.ts'

const PAYMENTS = 200
const SIDE_BY_SIDE = 20
/** Of the rows that a payment has in any table. */
const ROWS_EACH = 10

const service = await testService(t)
const { owner } = service
const merchant = await service.merchant()
for (let made = 0; made < PAYMENTS; made += SIDE_BY_SIDE)
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => createPayment(service, merchant)))

// A statement has five seconds, and a part is ten thousand payments.
t.test('no invariant compares every row with every other', async (t) => {
  await owner.query('analyze')
  await owner.query('begin')
  const { text: settings, values: joins } = await statementOf((tx) => findByKey(tx, true))
  await owner.query(settings, [...joins])
  for (const name of INVARIANT_NAMES) {
    const part = { after: null, upTo: null, graceMs: 0 }
    const { text, values } = await statementOf((tx) => findBreaches(tx, { name, part, limit: 1 }))
    const plan = await measurePlan(owner, text, values)
    const removed = [...plan.text.matchAll(/Rows Removed by (?:Join )?Filter: (\d+)/g)].map(([, rows]) => Number(rows))
    t.ok(Math.max(0, ...removed) <= PAYMENTS * ROWS_EACH, name, { plan: plan.text })
  }
  await owner.query('rollback')
})

t.test('the end of a part is found by the index of its key, and not by sorting all that is left', async (t) => {
  await owner.query('begin')
  // Small tables are read and sorted, where that is possible at all.
  await owner.query('set local enable_sort = off')
  await owner.query('set local enable_seqscan = off')
  for (const source of SOURCE_NAMES) {
    const { text, values } = await statementOf((tx) => findEnd(tx, { source, after: null, rows: 10 }))
    t.notMatch((await measurePlan(owner, text, values)).text, /Sort/, source)
  }
  await owner.query('rollback')
})
