import t from 'tap'
import { z } from 'zod'
import { ofEveryMerchant, ofMerchant, ofNoMerchant } from '../../src/db/merchant-scope.ts'
import { makePgConnection } from '../../src/db/connection.ts'
import { makePool } from '../../src/db/pool.ts'
import { sql } from '../../src/db/sql.ts'
import { testDatabase } from '../support/database.ts'

/*
 * The second line behind the filters of statements (decision 360): policies on the tables, and the pool that limits each
 * transaction to the merchant whose request it is. What the service makes of it is in test/http/forgotten-filters.test.ts.
 */
const { url: databaseUrl } = await testDatabase(t)
const owner = await makePgConnection({ databaseUrl, onError: () => undefined })
const pool = await makePool({ databaseUrl, role: 'svc_runtime', size: 2 })
t.teardown(async () => {
  await pool.end()
  await owner.end()
})

const [A, B] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const

for (const [id, name] of [
  [A, 'a'],
  [B, 'b'],
]) {
  await owner.query(
    `insert into merchants (id, client_id, legal_name, trading_name, name, fee_percentage, fee_flat, webhook_signing_secret)
     values ($1, $2, $2, $2, $2, 0.01, 0.20, 'v1.x')`,
    [id, name],
  )
  await owner.query(
    `insert into team_members (merchant_id, id, email, role, invited_by) values ($1, $2, $2 || '@shop.example', 'ADMIN', 'test')`,
    [id, name],
  )
}

/** The condition of each covered table that has not the usual one. */
const OTHER_CONDITIONS: Record<string, string> = {
  merchants: '(id = current_merchant())',
  sandbox_clock_shifts: '(subject_id = current_merchant())',
  token_cutoffs: '(realm_slug = ( SELECT m.realm_slug FROM merchants m WHERE (m.id = current_merchant())))',
  // Of the bank's customers, whose requests have no merchant.
  ...Object.fromEntries(
    [
      'customer_clients',
      'customer_proxies',
      'failed_look_ups',
      'order_keys',
      'payment_orders',
      'payment_requests',
      'recurring_payments',
    ].map((name) => [name, '(current_merchant() IS NULL)']),
  ),
  // Of operators, of payers, and of the whole service: nothing that a merchant's request reads.
  ...Object.fromEntries(
    [
      'audit_checkpoints',
      'backup_verification',
      'bank_outages',
      'bank_software_statements',
      'bank_statements',
      'bank_tests',
      'database_mode',
      'operator_alert_messages',
      'operator_alerts',
      'payer_failed_verifications',
      'payer_link_requests',
      'payer_sessions_ended',
      'payer_tokens',
      'payout_files',
      'payout_return_positions',
      'platform_clients',
      'platform_users',
      'reconciliations',
      'registration_attempt',
      'verifications',
    ].map((name) => [name, 'false']),
  ),
}

/** The transaction's merchant as the policies have it (keep_to_merchant), which is `current_merchant()` below. */
const INLINED = "(NULLIF(current_setting('svc.merchant_id'::text, true), ''::text))::uuid"

/** Tables that no policy covers, and why. */
const NOT_COVERED: Record<string, string> = {
  accounts: 'of the bank: a payment of the sandbox moves money between accounts of many holders',
  bank_registrations: 'of the platform: each payment needs its client at the bank; no secrets',
  customers: 'of the bank, as accounts',
  feed_offset: 'of the server',
  lookup_keys: 'of the installation: each request hashes with it; sealed',
  schema_functions: 'of the migrations',
  schema_migrations: 'of the migrations',
  transactions: 'of the bank, as accounts',
  transfers: 'of the bank, as accounts',
}

/** Schemas of other parties than the service, which name no merchant. */
const OTHER_SCHEMAS: Record<string, string> = {
  idp: "the identity provider's own books, by realm",
  mock_bank: "the outside world's own books",
  obie: 'what was agreed with banks, by the unguessable state of a payment',
}

t.test('every table is covered by a policy, or there is a reason', async (t) => {
  const { rows } = await owner.query<{ schema: string; name: string; on: boolean; policies: string[] | null }>(`
    select n.nspname as schema, c.relname as name, c.relrowsecurity as on,
      array_agg(format('%s %s %s for %s %s, written: %s', p.polname, case when p.polpermissive then 'to' else 'restricts' end,
        p.polroles::regrole[], p.polcmd, regexp_replace(pg_get_expr(p.polqual, p.polrelid), '\\s+', ' ', 'g'),
        regexp_replace(pg_get_expr(p.polwithcheck, p.polrelid), '\\s+', ' ', 'g')) order by p.polname) filter (where p.polname is not null) as policies
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    left join pg_policy p on p.polrelid = c.oid
    where c.relkind in ('r', 'p') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    group by 1, 2, 3
    order by 1, 2
  `)
  t.same([...new Set(rows.map(({ schema }) => schema))], [...Object.keys(OTHER_SCHEMAS), 'public'].toSorted())
  const open = rows.filter(({ schema, on }) => schema === 'public' && !on).map(({ name }) => name)
  t.same(open, Object.keys(NOT_COVERED))
  for (const { schema, name, on, policies } of rows) {
    if (!on) {
      t.equal(policies, null, `${schema}.${name}`)
      continue
    }
    const visible = OTHER_CONDITIONS[name] ?? '(merchant_id = current_merchant())'
    const written = name === 'mails' ? '((merchant_id IS NULL) OR (merchant_id = current_merchant()))' : visible
    t.same(
      policies?.map((text) => text.replaceAll(INLINED, 'current_merchant()')),
      [
        'every_merchant to {svc_runtime} for * true, written: ',
        `one_merchant restricts {svc_merchant} for * ${visible}, written: ${written}`,
      ],
      name,
    )
  }
})

t.test('a view shows what its reader may see', async (t) => {
  const { rows } = await owner.query<{ name: string; options: string[] | null }>(
    `select oid::regclass::text as name, reloptions as options from pg_class where relkind in ('v', 'm') and relnamespace = 'public'::regnamespace`,
  )
  t.ok(rows.length >= 7)
  for (const { name, options } of rows) t.ok(options?.includes('security_invoker=true'), name)
})

t.test('the role of a merchant has no more rights than the service', async (t) => {
  const { rows } = await owner.query<{ may: boolean; member: boolean; granted: number }>(`
    select r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolcanlogin or r.rolbypassrls as may,
      pg_has_role('svc_runtime', 'svc_merchant', 'member') as member,
      (select count(*)::int4 from pg_shdepend d where d.refobjid = r.oid and d.deptype in ('a', 'o')) as granted
    from pg_roles r where r.rolname = 'svc_merchant'
  `)
  t.same(rows, [{ may: false, member: false, granted: 0 }])
})

const Name = z.object({ name: z.string() })
const merchants = () => pool.any(sql.type(Name)`select name from merchants order by name`)
const members = () => pool.any(sql.prepared('test_members', Name)`select id as name from team_members order by id`)

t.test('a statement without a filter sees the rows of its merchant alone', async (t) => {
  for (const read of [merchants, members]) {
    t.same(await ofMerchant(A, read), [{ name: 'a' }])
    t.same(await ofMerchant(B, read), [{ name: 'b' }])
    t.same(await ofNoMerchant(read), [], 'a request that has not said whose')
    t.same(await ofEveryMerchant(read), [{ name: 'a' }, { name: 'b' }])
    t.same(await read(), [{ name: 'a' }, { name: 'b' }], 'a job')
  }
  t.same(await ofMerchant(A, () => ofEveryMerchant(merchants)), [{ name: 'a' }, { name: 'b' }])
})

t.test('a connection of the role without a merchant sees nothing', async (t) => {
  const client = await makePgConnection({ databaseUrl, role: 'svc_merchant', onError: () => undefined })
  t.same((await client.query('select * from merchants')).rows, [])
  await client.end()
})

t.test("a row of another merchant is neither written nor changed, and none becomes another's", async (t) => {
  const insert = (id: string) =>
    pool.query(
      sql.typeAlias(
        'void',
      )`insert into team_members (merchant_id, id, email, role, invited_by) values (${id}, 'new', 'new@shop.example', 'ADMIN', 'test')`,
    )
  await t.rejects(
    ofMerchant(A, () => insert(B)),
    { code: '42501' },
  )
  await t.rejects(
    ofNoMerchant(() => insert(A)),
    { code: '42501' },
  )
  const promote = sql.typeAlias('void')`update team_members set role = 'FINANCE'`
  t.equal((await ofMerchant(A, () => pool.query(promote))).rowCount, 1)
  t.equal((await ofNoMerchant(() => pool.query(promote))).rowCount, 0)
  await t.rejects(
    ofMerchant(A, () => pool.query(sql.typeAlias('void')`update team_members set merchant_id = ${B}`)),
    { code: '42501' },
  )
  await ofMerchant(A, () => insert(A))
  const { rows } = await owner.query(`select merchant_id, id, role from team_members order by merchant_id, id`)
  t.same(rows, [
    { merchant_id: A, id: 'a', role: 'FINANCE' },
    { merchant_id: A, id: 'new', role: 'ADMIN' },
    { merchant_id: B, id: 'b', role: 'ADMIN' },
  ])
  await owner.query(`delete from team_members where id = 'new'`)
})

const Session = z.object({ role: z.string(), merchant: z.string() })
const session = sql.type(
  Session,
)`select current_user::text as role, coalesce(current_setting('svc.merchant_id', true), '') as merchant`

t.test('a transaction keeps its merchant to its end, through savepoints, and no other work joins it', async (t) => {
  await ofMerchant(A, () =>
    pool.transaction(async (tx) => {
      const read = () => tx.any(sql.type(Name)`select name from merchants order by name`)
      t.same(await read(), [{ name: 'a' }])
      await tx.transaction(async (inner) => {
        t.same(await inner.any(sql.type(Name)`select name from merchants`), [{ name: 'a' }])
      })
      t.same(await read(), [{ name: 'a' }])
      await t.rejects(ofEveryMerchant(read), { message: /began for another merchant/ })
      await t.rejects(ofMerchant(B, read), { message: /began for another merchant/ })
      t.same(await read(), [{ name: 'a' }])
    }),
  )
  await t.rejects(
    pool.transaction((tx) => ofMerchant(A, () => tx.query(sql.typeAlias('void')`select`))),
    { message: /began for another merchant/ },
    'nor is it ignored in a transaction of a job',
  )
})

t.test('connections never carry a merchant to the next work, whatever became of the work before', async (t) => {
  const failed = sql.typeAlias('void')`select where 1 / (select count(*) - count(*) from merchants) = 1`
  const outcomes = { rows: 0, failed: 0 }
  const work = [
    ...[merchants, members].map((read) => async (expected: readonly string[]) => {
      t.same(
        (await read()).map(({ name }) => name),
        expected,
      )
      outcomes.rows += 1
    }),
    // The statement fails behind its limit, in and out of a transaction, and the work itself does.
    () => pool.query(failed),
    () => pool.transaction((tx) => tx.query(failed)),
    (expected: readonly string[]) =>
      pool.transaction(async (tx) => {
        t.same(
          (await tx.any(sql.type(Name)`select name from merchants order by name`)).map(({ name }) => name),
          expected,
        )
        throw new Error('the work failed')
      }),
  ]
  const scopes = [
    { expected: ['a'], run: <T>(each: () => T) => ofMerchant(A, each) },
    { expected: ['b'], run: <T>(each: () => T) => ofMerchant(B, each) },
    { expected: [], run: ofNoMerchant },
    { expected: ['a', 'b'], run: ofEveryMerchant },
  ]
  const turns = Array.from({ length: 30 }, () =>
    work.flatMap((each) => scopes.map((scope) => ({ each, ...scope }))),
  ).flat()
  await Promise.all(
    turns.map(async ({ each, expected, run }) => {
      await run(async () => {
        await each(expected)
      }).catch((error: unknown) => {
        // Waiting too long for one of two connections is no failure of the work.
        t.match(String(error), /division by zero|the work failed|were in use/)
        outcomes.failed += 1
      })
    }),
  )
  t.ok(outcomes.rows > 0 && outcomes.failed > 0, JSON.stringify(outcomes))
  const after = await Promise.all(Array.from({ length: 8 }, () => pool.one(session)))
  for (const each of after) t.match(each, { role: 'svc_runtime', merchant: /^$|^null$/ })
})
