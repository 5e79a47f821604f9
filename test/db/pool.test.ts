import { createServer } from 'node:net'
import t from 'tap'
import { z } from 'zod'
import { makeAdminConnection, makePgConnection, timeoutsOf } from '../../src/db/connection.ts'
import { describeDatabaseError, isWrongAddress } from '../../src/db/describe-error.ts'
import { makePool, RowShapeError } from '../../src/db/pool.ts'
import { sql } from '../../src/db/sql.ts'
import { freePort } from '../support/free-port.ts'
import { emptyDatabase } from '../support/database.ts'

const { url } = await emptyDatabase(t)
// The server of the tests has it off for all, and a server that is installed has it on.
const admin = await makeAdminConnection({ databaseUrl: url })
await admin.query(`alter database ${admin.escapeIdentifier(new URL(url).pathname.slice(1))} set jit = on`)
await admin.end()

const Row = z.object({ value: z.unknown() })

const cases: readonly { expression: string; becomes: unknown; because: string }[] = [
  {
    expression: '123456789012345.6789::numeric(19,4)',
    becomes: '123456789012345.6789',
    because: 'money keeps every digit',
  },
  { expression: '12.3000::numeric(19,4)', becomes: '12.3000', because: 'money keeps its scale' },
  { expression: "'NaN'::numeric", becomes: 'NaN', because: 'NaN stays text, for the schema to refuse' },
  { expression: '9007199254740993::int8', becomes: 9007199254740993n, because: 'int8 is a bigint' },
  { expression: '7::int4', becomes: 7, because: 'int4 is a number' },
  {
    expression: "'2026-11-21 06:46:05.123999+00'::timestamptz",
    becomes: '2026-11-21T06:46:05.123Z',
    because: 'microseconds are cut, not rounded',
  },
  {
    expression: "'2026-11-21 06:46:05.000999+00'::timestamptz",
    becomes: '2026-11-21T06:46:05.000Z',
    because: 'a cut to zero keeps three digits',
  },
  {
    expression: "'2026-11-21 06:46:05.1+00'::timestamptz",
    becomes: '2026-11-21T06:46:05.100Z',
    because: 'short fractions are filled up',
  },
  {
    expression: "'2026-11-21 08:46:05+02'::timestamptz",
    becomes: '2026-11-21T06:46:05.000Z',
    because: 'other zones come out in UTC',
  },
  {
    expression: "'1969-12-31 23:59:59.999999+00'::timestamptz",
    becomes: '1969-12-31T23:59:59.999Z',
    because: 'times before 1970 are cut the same way',
  },
  { expression: "'infinity'::timestamptz", becomes: 'infinity', because: 'infinity stays text' },
  {
    expression: "'2026-11-21 06:46:05.123456'::timestamp",
    becomes: '2026-11-21 06:46:05.123456',
    because: 'a timestamp without zone is text',
  },
  { expression: "'2026-11-21'::date", becomes: '2026-11-21', because: 'a date is text, in no time zone' },
  { expression: '\'{"b":1,"a":"x"}\'::jsonb', becomes: { a: 'x', b: 1 }, because: 'jsonb is parsed' },
  {
    expression: '\'{"b":1.10,"a":2}\'::json::text',
    becomes: '{"b":1.10,"a":2}',
    because: 'json as text keeps its bytes',
  },
  {
    expression: 'array[1.10, null]::numeric[]',
    becomes: ['1.10', null],
    because: 'arrays of money are text, with nulls',
  },
  { expression: 'array[1, null]::int8[]', becomes: [1n, null], because: 'arrays of int8 are bigints, with nulls' },
]

const pool = await makePool({ databaseUrl: url, size: 2 })
t.teardown(() => pool.end())
const client = await makePgConnection({ databaseUrl: url, onError: () => undefined })
t.teardown(() => client.end())

t.test('both kinds of connection read every type the same way', async (t) => {
  for (const { expression, becomes, because } of cases) {
    const statement = sql.type(Row)`select ${sql.literalValue('')} as value`
    const token = { ...statement, sql: `select ${expression} as value` }
    t.same((await pool.one(token)).value, becomes, `pool: ${because}`)
    t.equal(typeof (await pool.one(token)).value, typeof becomes, `pool: ${because} (type)`)
    const { rows } = await client.query(`select ${expression} as value`)
    t.same(z.array(Row).parse(rows)[0]?.value, becomes, `client: ${because}`)
  }
})

t.test('a row of another shape than declared is rejected, without its values in the error', async (t) => {
  const wrong = sql.type(z.object({ secret: z.number() }))`select 'hunter2' as secret`
  await t.rejects(pool.one(wrong), { name: 'RowShapeError' })
  const error: unknown = await pool.one(wrong).catch((caught: unknown) => caught)
  t.ok(error instanceof RowShapeError)
  t.notMatch(String(error), /hunter2.*hunter2/)
  t.match(String(error), /secret/)
})

t.test('prepared statements survive the hand-over of a connection', async (t) => {
  const one = sql.prepared('one', z.object({ n: z.number() }))`select ${1}::int4 as n`
  for (let round = 0; round < 6; round += 1) t.equal((await pool.one(one)).n, 1)
})

const settingNames = [
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'timezone',
  'application_name',
  'jit',
]
const expected = ['5s', '1s', '5s', 'UTC', 'svc', 'off']
const Settings = z.object({ settings: z.array(z.string()) })
const query = `select array(select current_setting(name) from unnest(array['${settingNames.join("','")}']) as name) as settings`

t.test('every connection has its settings from its first statement on', async (t) => {
  t.same((await client.query(query)).rows, [{ settings: expected }])
  const token = { ...sql.type(Settings)`select 1`, sql: query }
  t.same(await pool.one(token), { settings: expected })
})

t.test('every wait has the limit that is documented, times the factor', async (t) => {
  t.strictSame(timeoutsOf({}), {
    connect: 2_000,
    statement: 5_000,
    idleInTransaction: 5_000,
    lock: 1_000,
    turn: 1_500,
    single: 100,
    singles: 500,
    query: 6_000,
  })
  t.match(timeoutsOf({ timeoutFactor: 3 }), { connect: 6_000, turn: 4_500, single: 300, singles: 1_500, query: 18_000 })
})

t.test('its time limits are multiplied where the database is slow to answer', async (t) => {
  const slow = { databaseUrl: url, timeoutFactor: 3 }
  const settings = ['15s', '3s', '15s', 'UTC', 'svc', 'off']
  const patient = await makePool({ ...slow, size: 1 })
  t.teardown(() => patient.end())
  t.same(await patient.one({ ...sql.type(Settings)`select 1`, sql: query }), { settings })
  const raw = await makePgConnection({ ...slow, onError: () => undefined })
  t.teardown(() => raw.end())
  t.same((await raw.query(query)).rows, [{ settings }])
})

t.test('a connection acts as the requested role, with no more rights than that role', async (t) => {
  const role = `svc_role_${Date.now()}`
  await client.query(`create role ${role} nologin; create table owned (id int4)`)
  t.teardown(() => client.query(`drop owned by ${role}; drop role ${role}`))
  const limited = await makePool({ databaseUrl: url, size: 1, role })
  t.teardown(() => limited.end())
  t.equal(await limited.oneFirst(sql.type(z.object({ user: z.string() }))`select current_user as user`), role)
  await t.rejects(limited.query(sql.typeAlias('void')`insert into owned values (1)`), { code: '42501' })
  const raw = await makePgConnection({ databaseUrl: url, role, onError: () => undefined })
  t.same((await raw.query('select current_user as user')).rows, [{ user: role }])
  await raw.end()
})

t.test('a statement that runs too long is ended by the server', async (t) => {
  const brief = new URL(url)
  const impatient = await makePgConnection({ databaseUrl: brief.href, onError: () => undefined })
  t.teardown(() => impatient.end())
  await impatient.query("set statement_timeout = '50ms'")
  await t.rejects(impatient.query('select pg_sleep(5)'), { code: '57014' })
})

t.test('the pool recovers after the server ended its connections', async (t) => {
  const name = 'svc-recovers'
  const victim = await makePool({ databaseUrl: url, size: 2, applicationName: name })
  t.teardown(() => victim.end())
  await client.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [name])
  const attempt = async (): Promise<boolean> =>
    victim.oneFirst(sql.typeAlias('exists')`select true as exists`).catch(() => false)
  let recovered = false
  for (let tries = 0; tries < 5 && !recovered; tries += 1) recovered = await attempt()
  t.equal(recovered, true)
})

t.test('the owner of a dedicated connection is notified of its loss', async (t) => {
  const { promise, resolve } = Promise.withResolvers<Error>()
  const lost = await makePgConnection({ databaseUrl: url, applicationName: 'svc-lost', onError: resolve })
  await client.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'svc-lost'")
  t.match((await promise).message, /terminat/)
  await t.rejects(lost.query('select 1'))
})

t.test('a server that is slow, full or at fault has no wrong address', async (t) => {
  const wrapped = (code: string, message = '') =>
    new Error('not connected', { cause: Object.assign(new Error(message), { code }) })
  for (const code of ['ECONNREFUSED', 'ENOTFOUND', '28P01', '3D000']) t.ok(isWrongAddress(wrapped(code)), code)
  for (const code of ['ETIMEDOUT', '53300', '57P03', '57014', '42P01']) t.notOk(isWrongAddress(wrapped(code)), code)
  t.notOk(isWrongAddress(wrapped('', 'timeout expired')))
})

t.test('a connection that cannot be made is explained without its password', async (t) => {
  const closed = await freePort()
  const at = (change: (target: URL) => void): string => {
    const target = new URL(url)
    change(target)
    return target.href
  }
  const silent = createServer()
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  t.teardown(() => silent.close())
  const address = silent.address()
  const silentPort = typeof address === 'object' && address !== null ? address.port : 0
  const failures: readonly [string, RegExp][] = [
    [
      at((target) => {
        target.port = String(closed)
      }),
      /nothing accepts connections/,
    ],
    [
      at((target) => {
        target.hostname = 'localhost'
        target.port = String(closed)
      }),
      /nothing accepts connections/,
    ],
    [
      at((target) => {
        target.hostname = 'no-such-host.invalid'
      }),
      /does not resolve/,
    ],
    [
      at((target) => {
        target.password = 'wrong-secret'
      }),
      /user name or password/,
    ],
    [
      at((target) => {
        target.pathname = '/no_such_database'
      }),
      /does not exist/,
    ],
    [
      at((target) => {
        target.search = '?sslmode=require'
      }),
      /TLS/,
    ],
    [
      at((target) => {
        target.port = String(silentPort)
      }),
      /in time/,
    ],
  ]
  for (const [databaseUrl, says] of failures) {
    for (const open of [
      () => makePool({ databaseUrl, size: 1 }),
      () => makePgConnection({ databaseUrl, onError: () => undefined }),
    ]) {
      const error: unknown = await open().then(
        () => 'connected',
        (caught: unknown) => caught,
      )
      const message = describeDatabaseError(error, databaseUrl)
      t.match(message, says, databaseUrl.replace(/:[^:@]*@/, ':****@'))
      t.notOk(message.includes(new URL(databaseUrl).password), 'without the password')
    }
  }
  const noRole = await makePgConnection({ databaseUrl: url, role: 'svc_no_such_role', onError: () => undefined }).catch(
    (error: unknown) => error,
  )
  t.match(describeDatabaseError(noRole, url), /a role of the service is missing, or this user is not a member/)
  t.match(describeDatabaseError(new Error('something else'), 'not a url'), /something else\. Check SVC_DATABASE_URL/)
  const refused = Object.assign(new Error('relation "a" already exists'), { code: '42P07' })
  t.match(describeDatabaseError(refused, url), /: relation "a" already exists\.$/, 'its address is right')
})
