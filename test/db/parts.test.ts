import t from 'tap'
import { findPartEnd, isIn } from '../../src/db/parts-sql.ts'
import type { KeyRange, Parted } from '../../src/db/parts-sql.ts'
import { sql } from '../../src/db/sql.ts'
import { z } from 'zod'
import { testService } from '../support/app.ts'
import { measurePlan } from '../support/kept-plan.ts'
import { statementOf } from '../support/statement-of.ts'

/** Rows under each of two names, which are all but a few of the table. */
const LARGE = 20_000
const PART = 200

const PARTED: Parted = {
  table: ['parted'],
  key: [
    { name: 'name', type: 'text' },
    { name: 'hash', type: 'bpchar' },
    { name: 'n', type: 'int8' },
  ],
}

const service = await testService(t)
const { owner } = service
const { pool } = service.app
await owner.query('create table parted (name text, hash char(64), n int8, filler text, primary key (name, hash, n))')
await owner.query('grant select on parted to public')
await owner.query(
  `insert into parted
   select name, 'h' || n % 10, n, repeat('x', 200)
   from (values ('a', 7), ('b', ${LARGE}), ('c', 3), ('d', ${LARGE}), ('e', 30)) each (name, many), generate_series(1, many) n`,
)
await owner.query('vacuum analyze parted')

const count = (part: KeyRange): Promise<bigint> =>
  pool.oneFirst(sql.type(z.object({ count: z.bigint() }))`select count(*) from parted where ${isIn(PARTED, part)}`)

async function partsOf(rows: number): Promise<KeyRange[]> {
  const parts: KeyRange[] = []
  let upTo: KeyRange['upTo'] = null
  do {
    const after: KeyRange['after'] = upTo
    upTo = await findPartEnd(pool, { of: PARTED, after, rows })
    parts.push({ after, upTo })
  } while (upTo !== null)
  return parts
}

t.test('each row is in one part, and each part but the last has so many', async (t) => {
  const parts = await partsOf(997)
  const counts = await Promise.all(parts.map(count))
  t.equal(
    counts.reduce((sum, each) => sum + each, 0n),
    BigInt(LARGE * 2 + 40),
  )
  t.ok(
    counts.slice(0, -1).every((each) => each === 997n),
    String(counts),
  )
  t.equal(await count({ after: ['a', 'h7', '7'], upTo: ['a', 'h8', '0'] }), 0n)
})

t.test('a part is read by the index, wherever it begins and ends', async (t) => {
  const middle = { after: ['b', 'h5', '5005'], upTo: ['b', 'h5', String(5005 + PART * 10)] }
  const across = { after: ['b', 'h9', String(LARGE - 1001)], upTo: ['d', 'h0', '1000'] }
  const parts = [
    { after: null, upTo: ['b', 'h0', String(PART * 10)] },
    middle,
    { after: ['b', 'h4', String(LARGE - 1006)], upTo: ['b', 'h5', '1005'] },
    across,
    { after: ['d', 'h9', String(LARGE - 1001)], upTo: null },
  ]
  for (const part of parts) {
    const { text, values } = await statementOf((tx) =>
      tx.any(sql.type(z.object({ filler: z.string() }))`select filler from parted where ${isIn(PARTED, part)}`),
    )
    const plan = await measurePlan(owner, text, values)
    t.ok(plan.buffers < PART * 3, plan.text)
    t.notMatch(plan.text, /Seq Scan/)
  }
})
