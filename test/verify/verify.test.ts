import t from 'tap'
import { z } from 'zod'
import { hoursWithoutRun } from '../../src/alerts/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { checkInvariants } from '../../src/verify/check-invariants.ts'
import { runVerification } from '../../src/verify/run-verification.ts'
import { runCli } from '../cli/harness.ts'
import { provesLeaves } from '../cli/ran.ts'
import { authorisedPayment, testService, untilStatus } from '../support/app.ts'

const service = await testService(t, { worker: true })
const { owner, app } = service
const merchant = await service.merchant()
const { signal } = new AbortController()

async function settledPayment(): Promise<string> {
  const { id } = await authorisedPayment(service, merchant)
  await untilStatus(service, merchant, id, 'Settled')
  return id
}

/** As an attacker does it who can disable every guard. */
async function behindTheService(statement: string, values: unknown[]): Promise<void> {
  await owner.query('begin')
  await owner.query(`set local session_replication_role = 'replica'`)
  await owner.query(statement, values)
  await owner.query('commit')
}

const verify = (...words: string[]) => runCli(['verify', ...words], { env: { SVC_DATABASE_URL: service.databaseUrl } })

const payments = [await settledPayment(), await settledPayment(), await settledPayment()]

t.test('a database in use is whole, in parts of any size', async (t) => {
  t.match(await verify(), { code: 0, stdout: /Broken invariants +none/ })
  t.match(JSON.parse((await verify('--json')).stdout), { is_whole: true, violations: [] })
  const parts: number[] = []
  t.same(await checkInvariants(app, { signal, partRows: 2, onPart: (count) => parts.push(count) }), [])
  t.ok(parts.length > 10, `${parts.length} parts`)
})

t.test('every part is a transaction that can only read, and a run ends when it is stopped', async (t) => {
  const stopped = AbortSignal.abort(new Error('stopped'))
  await t.rejects(checkInvariants(app, { signal: stopped }), { message: 'stopped' })
  const modes = new Set<string>()
  const transaction: typeof app.pool.transaction = (handler) =>
    app.pool.transaction(async (tx) => {
      const answer = await handler(tx)
      modes.add(
        await tx.oneFirst(sql.type(z.object({ transaction_read_only: z.string() }))`show transaction_read_only`),
      )
      return answer
    })
  await checkInvariants({ pool: { ...app.pool, transaction } }, { signal })
  t.same([...modes], ['on'])
})

t.test('work that is late counts after the grace only', async (t) => {
  await owner.query(`update payment_intents set settle_at = now() - interval '1 minute' where id = $1`, [payments[0]])
  await behindTheService(
    `update payment_intents set status = 'Authorised', locked_until = now() + interval '1 hour' where id = $1`,
    [payments[0]],
  )
  const names = async (...words: string[]) =>
    JSON.parse((await verify('--json', ...words)).stdout).violations.map(
      (each: { invariant: string }) => each.invariant,
    )
  t.notOk((await names()).includes('SETTLEMENT_OVERDUE'))
  t.ok((await names('--grace', '30s')).includes('SETTLEMENT_OVERDUE'))
  await behindTheService(`update payment_intents set status = 'Settled', locked_until = null where id = $1`, [
    payments[0],
  ])
  t.match(await verify(), { code: 0 })
  t.match(await verify('--grace', 'soon'), { code: 2 })
})

t.test('each broken booking of an account is one row, and a wrong balance has one name', async (t) => {
  const [found] = (
    await owner.query<{ id: string }>('select creditor_account_id as id from transfers where id = $1', [payments[0]])
  ).rows
  const account = found?.id
  const change = (sign: '+' | '-') =>
    behindTheService(`update transactions set balance_minor = balance_minor ${sign} number where account_id = $1`, [
      account,
    ])
  await change('+')
  t.match(await checkInvariants(app, { signal, partRows: 1 }), [
    { invariant: 'ACCOUNT_BALANCE', count: 1, subjects: [account] },
    { invariant: 'ACCOUNT_BOOKINGS', count: 3, subjects: [1, 2, 3].map((number) => `${account} ${number}`) },
  ])
  await change('-')
  const shift = (by: number) =>
    behindTheService('update accounts set balance_minor = balance_minor + $2 where id = $1', [account, by])
  await shift(1)
  const broken = await checkInvariants(app, { signal })
  t.same(
    broken.map(({ invariant }) => invariant),
    ['ACCOUNT_BALANCE'],
  )
  await shift(-1)
  t.same(await checkInvariants(app, { signal }), [])
})

t.test('violations in every part are named, with their rows and what to do', async (t) => {
  const damage = `update payment_intents set fee_amount = fee_amount + 0.0001, net_amount = net_amount - 0.0001 where id = any($1)`
  await behindTheService(damage, [payments])
  const found = await checkInvariants(app, { signal, partRows: 2 })
  t.match(found, [{ invariant: 'PAYMENT_MONEY', count: 3, subjects: payments.toSorted() }])
  const text = await verify()
  t.match(text, { code: 3, stdout: /Broken invariants +2/, stderr: /PAYMENT_MONEY: .*Next: svc explain <payment>/s })
  t.match(text.stderr, payments[0], 'the rows')
  t.match(text.stdout, /FEE_LEDGER/, 'what the reconciliation compares as well')
})

t.test('the daily job keeps what it finds, shows it, and looks again within the hour', async (t) => {
  const last = async () =>
    (
      await owner.query(
        `select failure, violations, extract(epoch from next_run_at - started_at) / 60 as minutes
         from verifications where finished_at is not null order by started_at desc limit 1`,
      )
    ).rows[0]
  await owner.query('delete from verifications')
  await Promise.all([1, 2, 3].map(() => runVerification(app, signal)))
  t.equal((await owner.query('select from verifications')).rowCount, 1, 'once, whichever processes try')
  const broken = await last()
  t.match(broken, { failure: null, violations: [{ invariant: 'PAYMENT_MONEY', count: 3 }] })
  t.equal(Number(broken.minutes), 60)
  const shown = (await app.metrics.invariantViolations.get()).values.filter(({ value }) => value > 0)
  t.match(shown, [{ labels: { invariant: 'PAYMENT_MONEY' }, value: 3 }])
  await behindTheService(
    'update payment_intents set fee_amount = fee_amount - 0.0001, net_amount = net_amount + 0.0001 where id = any($1)',
    [payments],
  )
  await owner.query('update verifications set next_run_at = now()')
  await runVerification(app, signal)
  t.match(await last(), { violations: [], failure: null })
  t.same(
    (await app.metrics.invariantViolations.get()).values.filter(({ value }) => value > 0),
    [],
  )
})

t.test('a run whose process died is marked as failed, and followed by another', async (t) => {
  const failures = async () =>
    (await owner.query('select failure, finished_at is not null as ended from verifications order by started_at')).rows
  await owner.query('delete from verifications')
  await owner.query(`insert into verifications (id, next_run_at) values (gen_random_uuid(), now() + interval '1 hour')`)
  await runVerification(app, signal)
  t.same(await failures(), [{ failure: null, ended: false }], 'its claim holds')
  await owner.query('update verifications set next_run_at = now()')
  await runVerification(app, signal)
  const died = 'the process that ran it has ended'
  t.same(await failures(), [
    { failure: died, ended: true },
    { failure: null, ended: true },
  ])
})

t.test('a run from before the clock was set back keeps no other run waiting, and hides none', async (t) => {
  await owner.query('delete from verifications')
  await owner.query(`
    insert into verifications (id, started_at, finished_at, next_run_at, violations)
    select gen_random_uuid(), at, at, at + interval '1 day', '[{"invariant":"PAYMENT_MONEY","count":3,"subjects":[]}]'
    from (select now() + interval '1 year') f (at)`)
  t.ok((await hoursWithoutRun(app.pool, 'verification')) >= 0)
  await owner.query(`update merchants set created_at = now() - interval '40 hours'`)
  t.equal(await hoursWithoutRun(app.pool, 'verification'), 40)
  await runVerification(app, signal)
  await runVerification(app, signal)
  const { rows } = await owner.query('select violations from verifications where started_at <= now()')
  t.same(rows, [{ violations: [] }])
  t.same(
    (await app.metrics.invariantViolations.get()).values.filter(({ value }) => value > 0),
    [],
  )
  t.equal(await hoursWithoutRun(app.pool, 'verification'), 0)
  await owner.query('delete from verifications')
})

t.test('without a database there is nothing to verify', async (t) => {
  t.match(await runCli(['verify']), { code: 2, stderr: /no database is named/ })
})

provesLeaves(t, import.meta.filename)
