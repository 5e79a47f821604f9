import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import t from 'tap'
import { z } from 'zod'
import { makePgConnection } from '../../src/db/connection.ts'
import { freePort } from '../support/free-port.ts'
import { isDatabaseUnavailable } from '../../src/db/is-database-unavailable.ts'
import { makePool } from '../../src/db/pool.ts'
import { sql } from '../../src/db/sql.ts'
import { emptyDatabase } from '../support/database.ts'

const { url } = await emptyDatabase(t)
const statement = (text: string) => ({ ...sql.unsafe`select 1`, sql: text })

/** A relay before the server whose connections the test cuts; `mute` takes connections and never answers. */
const sockets = new Set<Socket>()
const passing = { mute: false }
const relay = createServer((near) => {
  sockets.add(near.on('error', () => undefined))
  if (passing.mute) return
  const far = connect(Number(new URL(url).port), new URL(url).hostname)
  sockets.add(far.on('error', () => undefined))
  near.pipe(far).pipe(near)
})
await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
const { port } = z.object({ port: z.number() }).parse(relay.address())
const cut = (): void => {
  for (const socket of sockets) socket.resetAndDestroy()
  sockets.clear()
}
t.teardown(() => {
  cut()
  relay.close()
})

function at(host: string, portOfHost: number): string {
  const target = new URL(url)
  target.host = `${host}:${portOfHost}`
  return target.href
}

async function failureOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('it was expected to fail')
}

const pool = await makePool({ databaseUrl: url, size: 2 })
const throughRelay = await makePool({ databaseUrl: at('127.0.0.1', port), size: 1 })
t.teardown(() => Promise.all([pool.end(), throughRelay.end()]))
const client = () => makePgConnection({ databaseUrl: at('127.0.0.1', port), onError: () => undefined })
const soon = (work: () => unknown) => setTimeout(work, 100)

/** Each way in which a real server or network gives no answer. */
const UNANSWERED: Record<string, () => Promise<Error>> = {
  'nobody listens': async () => failureOf(makePool({ databaseUrl: at('127.0.0.1', await freePort()), size: 1 })),
  'the socket is not there': () => failureOf(makePool({ databaseUrl: 'postgres://svc@%2Fnowhere/postgres', size: 1 })),
  'the name of the host is unknown': () => failureOf(makePool({ databaseUrl: at('db.invalid', 5432), size: 1 })),
  'the connection is reset while a statement runs': () => {
    soon(cut)
    return failureOf(throughRelay.query(statement('select pg_sleep(3)')))
  },
  'the connection is reset while a client of its own runs a statement': async () => {
    const lonely = await client()
    soon(cut)
    return failureOf(lonely.query('select pg_sleep(3)'))
  },
  'the connection was lost before': async () => {
    const lonely = await client()
    cut()
    await failureOf(lonely.query('select 1'))
    return failureOf(lonely.query('select 1'))
  },
  'the connection was closed': async () => {
    const lonely = await client()
    await lonely.end()
    return failureOf(lonely.query('select 1'))
  },
  'the server takes connections and says nothing': async () => {
    passing.mute = true
    const [ofPool, ofClient] = await Promise.all([
      failureOf(makePool({ databaseUrl: at('127.0.0.1', port), size: 1 })),
      failureOf(client()),
    ])
    passing.mute = false
    t.ok(isDatabaseUnavailable(ofClient), ofClient.message)
    return ofPool
  },
  'a pool that lost its connection finds a server that says nothing': async () => {
    passing.mute = true
    cut()
    const error = await failureOf(throughRelay.query(statement('select 1')))
    passing.mute = false
    return error
  },
  'the backend is ended': () =>
    failureOf(pool.query(statement('select pg_terminate_backend(pg_backend_pid()), pg_sleep(3)'))),
  'the statement is cancelled': () =>
    failureOf(pool.query(statement('select pg_cancel_backend(pg_backend_pid()), pg_sleep(3)'))),
  'the statement takes too long': () =>
    failureOf(
      pool.transaction(async (tx) => {
        await tx.query(statement("set local statement_timeout = '50ms'"))
        await tx.query(statement('select pg_sleep(3)'))
      }),
    ),
  'a lock is waited for too long': () =>
    failureOf(
      pool.transaction(async (holder) => {
        await holder.query(statement('select pg_advisory_xact_lock(7)'))
        await pool.transaction(async (tx) => {
          await tx.query(statement("set local lock_timeout = '50ms'"))
          await tx.query(statement('select pg_advisory_xact_lock(7)'))
        })
      }),
    ),
  'a transaction was idle for too long': () =>
    failureOf(
      pool.transaction(async (tx) => {
        await tx.query(statement("set local idle_in_transaction_session_timeout = '50ms'"))
        await new Promise((resolve) => setTimeout(resolve, 300))
        await tx.query(statement('select 1'))
      }),
    ),
  'a pool has ended': async () => {
    const ended = await makePool({ databaseUrl: url, size: 1 })
    await ended.end()
    return failureOf(ended.query(statement('select 1')))
  },
}

/** What the server says for one of its states, without the test bringing it into that state. */
const SQLSTATES = ['57P01', '57P02', '57P03', '53300', '53100', '53200', '08006', '25006', '40001', '40P01']

/** Answers: a repeat fails in the same way. */
const ANSWERED: Record<string, string> = {
  'a division by zero': 'select 1 / 0',
  'a syntax error': 'selekt 1',
  'a missing table': 'select * from nowhere',
  'text that is no number': "select 'x'::int",
  'a failed check': "do $$ begin raise exception 'no' using errcode = '23514'; end $$",
  'a row that is there already': "do $$ begin raise exception 'no' using errcode = '23505'; end $$",
  'a refusal of our own': "do $$ begin raise exception 'timeout expired' using errcode = 'P0001'; end $$",
}

t.test('every way in which the database gives no answer is distinguished from a wrong answer', async (t) => {
  for (const [name, fail] of Object.entries(UNANSWERED)) {
    const error = await fail()
    t.ok(isDatabaseUnavailable(error), `${name}: ${error.constructor.name}: ${error.message}`)
  }
  for (const state of SQLSTATES) {
    const error = await failureOf(
      pool.query(statement(`do $$ begin raise exception 'no' using errcode = '${state}'; end $$`)),
    )
    t.ok(isDatabaseUnavailable(error), `${state}: ${error.constructor.name}`)
  }
})

t.test('an answer is no absence, nor is a mistake in the program', async (t) => {
  for (const [name, text] of Object.entries(ANSWERED)) {
    const error = await failureOf(pool.query(statement(text)))
    t.notOk(isDatabaseUnavailable(error), `${name}: ${error.constructor.name}: ${error.message}`)
  }
  t.notOk(isDatabaseUnavailable(new TypeError('x is not a function')))
  t.notOk(isDatabaseUnavailable(Object.assign(new Error('no such file'), { code: 'ENOENT', syscall: 'open' })))
  t.notOk(isDatabaseUnavailable('timeout expired'))
  t.ok(isDatabaseUnavailable(new Error('it failed', { cause: new Error('timeout expired') })), 'by its cause')
})
