import t from 'tap'
import type { Test } from 'tap'
import { z } from 'zod'
import { BatchUnavailableError, makeBatcher } from '../../src/db/batcher.ts'
import type { Batcher } from '../../src/db/batcher.ts'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { freePort } from '../support/free-port.ts'
import { emptyDatabase } from '../support/database.ts'
import { times } from '../support/payments.ts'

const { url } = await emptyDatabase(t)
const owner = await makeAdminConnection({ databaseUrl: url })
t.teardown(() => owner.end())

// Returns rows in the wrong order, with the statement that each item was in, and stores the items.
await owner.query(`
  create table done (id bigserial primary key, n integer);
  create function batch(items json) returns table (ord bigint, doubled integer, statement text) language plpgsql as $$
  begin
    perform pg_sleep(max((value ->> 'sleep')::float8)) from json_array_elements(items);
    if exists (select from json_array_elements(items) where (value ->> 'end')::boolean) then
      perform pg_terminate_backend(pg_backend_pid());
    end if;
    insert into done (n) select 10 / (value ->> 'n')::integer from json_array_elements(items);
    return query
      select t.ord, 2 * (t.value ->> 'n')::integer, pg_current_xact_id()::text
      from rows from (json_array_elements(items)) with ordinality as t (value, ord)
      where (t.value ->> 'lost')::boolean is not true
      order by t.ord desc;
  end $$;
`)

const Row = z.object({ ord: z.bigint(), doubled: z.number(), statement: z.string() })
type Item = { n: number; sleep?: number; end?: boolean; lost?: boolean }
type Row = z.infer<typeof Row>

function batcherFor(
  t: Test,
  options: { databaseUrl?: string; connections?: number; timeoutFactor?: number } = {},
): Batcher<Item, Row> {
  const batcher = makeBatcher<Item, Row>({
    databaseUrl: url,
    name: 'batch',
    statement: 'select * from batch($1)',
    parseRow: (row) => Row.parse(row),
    ...options,
  })
  t.teardown(() => batcher.close())
  return batcher
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

t.test('each caller gets its own row, in whatever order the database returns them', async (t) => {
  const batcher = batcherFor(t)
  const rows = await times(300, (n) => batcher.run({ n: n + 1 }))
  t.same(
    rows.map(({ doubled }) => doubled),
    rows.map((_, n) => 2 * (n + 1)),
  )
})

t.test('items that arrive together share a statement, at most 64 of them', async (t) => {
  const batcher = batcherFor(t, { connections: 1 })
  const statements = (rows: Row[]) =>
    [...Map.groupBy(rows, ({ statement }) => statement).values()].map((group) => group.length)
  t.same(statements(await times(50, (n) => batcher.run({ n: n + 1 }))), [50])
  t.same(statements(await times(150, (n) => batcher.run({ n: n + 1 }))), [64, 64, 22])
})

t.test('items that arrive while the connections are busy wait for one and are sent together', async (t) => {
  const batcher = batcherFor(t)
  const slow = [batcher.run({ n: 1, sleep: 0.2 })]
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  slow.push(batcher.run({ n: 2, sleep: 0.2 }))
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  const late = times(10, (n) => batcher.run({ n: n + 3 }))
  t.equal(new Set((await late).map(({ statement }) => statement)).size, 1)
  const [first, second] = await Promise.all(slow)
  t.not(first?.statement, second?.statement, 'two connections work side by side')
})

t.test('an item that makes the statement fail fails alone, and nothing is done twice', async (t) => {
  const batcher = batcherFor(t)
  await owner.query('truncate done')
  const outcomes = await Promise.allSettled(
    Array.from({ length: 30 }, (_, index) => batcher.run({ n: index === 7 || index === 20 ? 0 : index + 1 })),
  )
  t.same(
    outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index] : [])),
    [7, 20],
  )
  t.match(outcomes[7], { reason: { message: 'division by zero' } }, "with the database's own error")
  const { rows } = await owner.query('select count(*)::int4 as count from done')
  t.same(rows, [{ count: 28 }])
  t.equal((await batcher.run({ n: 4 })).doubled, 8, 'the connection is still good')
})

t.test(
  'a connection lost during a statement fails the call as unavailable, and the next call gets a new one',
  async (t) => {
    const batcher = batcherFor(t, { connections: 1 })
    await owner.query('truncate done')
    const outcomes = await Promise.allSettled([
      batcher.run({ n: 1 }),
      batcher.run({ n: 2, end: true }),
      batcher.run({ n: 3 }),
    ])
    for (const outcome of outcomes)
      t.ok(outcome.status === 'rejected' && outcome.reason instanceof BatchUnavailableError)
    const { rows } = await owner.query('select n from done')
    t.same(rows, [], 'the statement of an unknown outcome is not run again')
    t.equal((await batcher.run({ n: 4 })).doubled, 8)
  },
)

t.test('an idle connection that is lost is not noticed by the next call', async (t) => {
  const batcher = batcherFor(t)
  await batcher.run({ n: 1 })
  await owner.query(
    `select pg_terminate_backend(pid, 60000) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  )
  await new Promise((resolve) => setImmediate(resolve))
  const answer = await batcher.run({ n: 5 }).catch((error: unknown) => error)
  if (answer instanceof Error) t.ok(answer instanceof BatchUnavailableError, 'the loss came together with the call')
  t.equal((await batcher.run({ n: 6 })).doubled, 12)
})

t.test('a connection to a server that takes no changes, as a standby after a failover, is replaced', async (t) => {
  const batcher = batcherFor(t, { connections: 1 })
  await owner.query(`alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`)
  t.ok((await failureOf(batcher.run({ n: 1 }))) instanceof BatchUnavailableError)
  // The address leads to the new primary.
  await owner.query(`alter database ${new URL(url).pathname.slice(1)} reset default_transaction_read_only`)
  t.equal((await batcher.run({ n: 2 })).doubled, 4)
})

t.test("a database that can't be reached is unavailable to every waiting call", async (t) => {
  const nowhere = batcherFor(t, { databaseUrl: `postgres://nobody@127.0.0.1:${await freePort()}/nothing` })
  const missing = new URL(url)
  missing.pathname = '/no_such_database'
  const refused = batcherFor(t, { databaseUrl: missing.href })
  for (const batcher of [nowhere, refused]) {
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, (_, n) => batcher.run({ n: n + 1 })))
    for (const outcome of outcomes)
      t.ok(outcome.status === 'rejected' && outcome.reason instanceof BatchUnavailableError)
  }
})

t.test('an item without a row is an error, and the others get theirs', async (t) => {
  const batcher = batcherFor(t)
  const [lost, found] = await Promise.allSettled([batcher.run({ n: 1, lost: true }), batcher.run({ n: 2 })])
  t.match(lost, { status: 'rejected', reason: { message: /too few rows/ } })
  t.match(found, { status: 'fulfilled', value: { doubled: 4 } })
})

t.test('beyond ten thousand waiting items the batcher reports overload', async (t) => {
  // None of the ten thousand waits for too long.
  const batcher = batcherFor(t, { timeoutFactor: 40 })
  const outcomes = await Promise.allSettled(Array.from({ length: 10_050 }, (_, n) => batcher.run({ n: n + 1 })))
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
  t.equal(refused.length, 50)
  t.match(refused[0]?.reason, { name: 'BatchUnavailableError', message: 'too many requests are waiting' })
})

t.test('closing completes the calls in progress and rejects later ones', async (t) => {
  const batcher = batcherFor(t)
  const underWay = times(100, (n) => batcher.run({ n: n + 1, sleep: 0.05 }))
  const closed = batcher.close()
  t.match(await failureOf(batcher.run({ n: 1 })), { name: 'BatchUnavailableError', message: 'the service is stopping' })
  await closed
  t.equal((await underWay).length, 100)
})
