import t from 'tap'
import type { Test } from 'tap'
import { factorContext } from '../../src/identity/embedded/users/second-factor.ts'
import { obieContext } from '../../src/banks/obie/seal-contexts.ts'
import { findPartEnd } from '../../src/db/parts-sql.ts'
import { checkMasterKey } from '../../src/keys/check-master-key.ts'
import { hasUnknownKey, countUnderPreviousKeys, listKeys } from '../../src/keys/list-keys.ts'
import { resealAll, resealSecrets } from '../../src/keys/reseal.ts'
import { SEALED_COLUMNS, nameOf } from '../../src/keys/sealed-columns.ts'
import { writeSealed } from '../../src/keys/sql.ts'
import { ensureDemoMerchant } from '../../src/sandbox/seed-merchant.ts'
import { ensureDemoOperator } from '../../src/sandbox/seed-operator.ts'
import { webhookSecretContext } from '../../src/signing/secret.ts'
import { testService } from '../support/app.ts'
import type { TestMerchant, TestService } from '../support/app.ts'
import { clientCredentials, signIn } from '../support/identity.ts'
import { PAYER_IBAN } from '../support/file-refunds.ts'
import { appWithKeys, newKey, sealedColumnsOf } from '../support/keys.ts'
import { measurePlan } from '../support/kept-plan.ts'
import { askForLink, paymentOf } from '../support/payers.ts'
import { rotate } from '../support/secrets.ts'
import { statementOf } from '../support/statement-of.ts'
import { exportByFile } from '../support/payout-bank.ts'
import { closedSettlement } from '../support/payouts.ts'
import { merchantWithPortal, portalTokens, takeInvitation } from '../support/sign-in.ts'
import { makeSoftwareStatement } from '../support/software-statement.ts'

const ACCOUNT = {
  account_holder_name: 'Acme Ltd',
  sort_code: '20-45-31',
  account_number: '73619284',
  iban: 'GB78ACME20453173619284',
}
const SIGNAL = new AbortController().signal

/** What a payment at a real bank leaves. */
async function plantBankSecrets({ owner, app }: TestService): Promise<void> {
  const sealed = (column: `${string}.${string}`, id: string): string =>
    app.sealer.seal('secret', obieContext(column, id))
  const paymentId = app.ids.uuid()
  await owner.query(
    `insert into obie.consents (state, bank, kind, request, tokens) values ('s', 'model', 'payment', $1, $2)`,
    [sealed('consents.request', 's'), sealed('consents.tokens', 's')],
  )
  await owner.query(
    `insert into obie.visits (nonce, state, browser, verifier, returned_at, code_hash, bank_code)
     values ('n', 's', 'b', $1, now(), 'h', $2)`,
    [sealed('visits.verifier', 'n'), sealed('visits.bank_code', 'n')],
  )
  await owner.query(`insert into obie.payments (payment_id, consent_state, request) values ($1, 's', $2)`, [
    paymentId,
    sealed('payments.request', paymentId),
  ])
}

async function setUpFactorOf({ owner, app }: TestService, email: string): Promise<void> {
  const { rows } = await owner.query('select id from idp.users where email = $1', [email])
  const secret = app.sealer.seal('an app', factorContext(rows[0].id))
  await owner.query('insert into idp.second_factors (user_id, secret, last_step) values ($1, $2, 0)', [
    rows[0].id,
    secret,
  ])
}

/** A service of which everything has been used that seals something. */
async function livelyService(t: Test): Promise<{ service: TestService; merchant: TestMerchant; key: string }> {
  const key = newKey()
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded', SVC_ENCRYPTION_KEY: key } })
  await ensureDemoMerchant(service.app)
  await ensureDemoOperator(service.app)
  const merchant = await merchantWithPortal(service)
  await service.call('POST', '/api/v1/portal/bank-accounts', { merchant, body: ACCOUNT })
  await closedSettlement(service, merchant)
  await paymentOf(service, merchant, { ...PAYER_IBAN, payer_email: 'zoe@payer.example' })
  await askForLink(service, { email: 'zoe@payer.example' })
  await exportByFile(service.app)
  await rotate(service, merchant)
  await service.call('POST', '/api/v1/portal/team', { merchant, body: { email: 'ada@acme.example', role: 'ADMIN' } })
  await takeInvitation(service, 'ada@acme.example')
  await plantBankSecrets(service)
  await service.call('PUT', '/api/v1/admin/banks/software-statement', {
    headers: await service.operator('OWNER'),
    body: { ...(await makeSoftwareStatement()), reason: 'going live' },
  })
  await portalTokens(service, merchant.realm, 'ada@acme.example')
  await setUpFactorOf(service, 'ada@acme.example')
  return { service, merchant, key }
}

const lively = await livelyService(t)

t.test('every column that holds sealed values is known', async (t) => {
  const { service } = lively
  const found = await sealedColumnsOf(service.owner)
  t.same([...found.keys()].toSorted(), SEALED_COLUMNS.map((column) => nameOf(column)).toSorted())
  const [current] = await listKeys(service.app)
  t.equal(current?.kid, service.app.sealer.kid)
  for (const column of found.keys()) t.ok((current?.columns[column] ?? 0) > 0, `${column} is counted`)
})

t.test('everything that stays comes under the new key and opens there; the old one can then go', async (t) => {
  const { service, merchant, key } = lively
  const old = service.app.sealer.kid
  const fresh = newKey()
  const app = await appWithKeys(t, service, [fresh, key])
  const before = await listKeys(app)
  t.match(before, [
    { kid: app.sealer.kid, state: 'current', values: 0 },
    { kid: old, state: 'previous' },
  ])
  const left = countUnderPreviousKeys(before)
  t.ok(left >= 10)
  t.ok((before[1]?.expiring ?? 0) > 0, 'sign-ins are counted apart')

  const progress: number[] = []
  const done = await resealAll(app, { onProgress: (count) => progress.push(count) })
  t.match(done, { resealed: left, broken: 0, finished: true })
  t.equal(progress.at(-1), left)
  const after = await listKeys(app)
  t.match(after, [
    { values: left, expiring: 0 },
    { kid: old, values: 0 },
  ])
  t.match(await resealAll(app), { resealed: 0, finished: true }, 'a second time there is nothing to do')

  const alone = await appWithKeys(t, service, [fresh])
  await checkMasterKey(alone)
  t.notOk(hasUnknownKey(await listKeys(alone)), 'what is left under the old key ends by itself')
  const { rows } = await service.owner.query('select id, merchant_id, body from mails where body is not null')
  t.ok(rows.length > 0)
  const { ensurePlatform } = await import('../../src/staff/ensure-platform.ts')
  await ensurePlatform(alone)
  const { rows: found } = await service.owner.query(
    'select webhook_signing_secret as sealed from merchants where id = $1',
    [merchant.id],
  )
  t.match(alone.sealer.open(found[0].sealed, webhookSecretContext(merchant.id)), /^[0-9a-f]{64}$/)
  const { listBankAccounts } = await import('../../src/bank-accounts/list-bank-accounts.ts')
  t.match(await listBankAccounts(alone, merchant.id), [{ account_number: '****9284', iban: '****9284' }])
})

t.test('the job reseals all in one run, and without previous keys sends no query', async (t) => {
  const { service, key } = await livelyService(t)
  const app = await appWithKeys(t, service, [newKey(), key])
  t.same(await resealSecrets(app, SIGNAL), { more: false })
  t.equal(countUnderPreviousKeys(await listKeys(app)), 0)
  const away = { ...service.app, pool: new Proxy(service.app.pool, { get: () => t.fail('it asked') }) }
  t.same(await resealSecrets(away, SIGNAL), { more: false })
  const stopped = new AbortController()
  stopped.abort()
  const back = await appWithKeys(t, service, [key, app.config.encryptionKey])
  t.match(await resealAll(back, { signal: stopped.signal }), { resealed: 0, finished: false })
})

t.test('more values than a batch are all resealed, by concurrent workers too', async (t) => {
  const key = newKey()
  const service = await testService(t, { env: { SVC_ENCRYPTION_KEY: key } })
  await Promise.all(Array.from({ length: 450 }, () => service.merchant()))
  const fresh = newKey()
  const [one, two] = [await appWithKeys(t, service, [fresh, key]), await appWithKeys(t, service, [fresh, key])]
  t.match(await resealAll(one, { batchesMax: 1 }), { resealed: 200, finished: false })
  await Promise.all([resealAll(one), resealAll(two)])
  await resealAll(one)
  // The 450 secrets, and the key of the hashes by which payers are found.
  t.match(await listKeys(one), [{ values: 451 }, { values: 0 }])
})

t.test('values are counted and resealed in parts, of which a statement reads one', async (t) => {
  const key = newKey()
  const service = await testService(t, { env: { SVC_ENCRYPTION_KEY: key } })
  await Promise.all(Array.from({ length: 30 }, () => service.merchant()))
  const app = await appWithKeys(t, service, [newKey(), key])
  t.match(await listKeys(app, 7), [{ values: 0 }, { values: 31 }])
  t.match(await resealAll(app, { partRows: 7 }), { resealed: 31, finished: true })
  t.match(await listKeys(app, 10), [{ values: 31 }, { values: 0 }])
  // Small tables are read and sorted, where that is possible at all.
  await service.owner.query('begin')
  await service.owner.query('set local enable_sort = off; set local enable_seqscan = off')
  for (const column of SEALED_COLUMNS) {
    const first = column.key.map(({ type }) => (type === 'uuid' ? service.app.ids.uuid() : 'a'))
    for (const after of [null, first]) {
      const { text, values } = await statementOf((tx) => findPartEnd(tx, { of: column, after, rows: 10 }))
      t.notMatch((await measurePlan(service.owner, text, values)).text, /Sort|Filter/, nameOf(column))
    }
  }
  await service.owner.query('rollback')
})

t.test('a run of the job looks through some parts, and the next goes on behind them', async (t) => {
  const key = newKey()
  const service = await testService(t, { env: { SVC_ENCRYPTION_KEY: key } })
  await Promise.all(Array.from({ length: 30 }, () => service.merchant()))
  const app = await appWithKeys(t, service, [newKey(), key])
  const some = { partRows: 10, partsMax: 2 }
  const left = async (): Promise<number> => countUnderPreviousKeys(await listKeys(app))
  await resealSecrets(app, SIGNAL, some)
  t.equal(await left(), 11)
  await resealSecrets(app, SIGNAL, some)
  t.equal(await left(), 1, 'the key of the hashes')
  // Each column has a part at least, and its end may have one.
  for (let run = 0; run < SEALED_COLUMNS.length * 4; run += 1) await resealSecrets(app, SIGNAL, some)
  t.equal(await left(), 0)
  const merchant = await service.merchant()
  t.ok(merchant.id)
  t.equal(await left(), 1)
  for (let run = 0; run < SEALED_COLUMNS.length * 4; run += 1) await resealSecrets(app, SIGNAL, some)
  t.equal(await left(), 0, 'and after the end it begins again')
})

t.test('a concurrent write is kept, and a locked row is left for the next run', async (t) => {
  const key = newKey()
  const service = await testService(t, { env: { SVC_ENCRYPTION_KEY: key } })
  const merchant = await service.merchant()
  const [column] = SEALED_COLUMNS
  if (column === undefined) throw new Error('there is a first column')
  const read = async (): Promise<string> => {
    const { rows } = await service.owner.query('select webhook_signing_secret as s from merchants where id = $1', [
      merchant.id,
    ])
    return rows[0].s
  }
  const before = await read()
  const newer = service.app.sealer.seal('b'.repeat(64), webhookSecretContext(merchant.id))
  await service.owner.query('update merchants set webhook_signing_secret = $2 where id = $1', [merchant.id, newer])
  t.equal(await writeSealed(service.app.pool, column, [{ key: [merchant.id], before, after: 'v1.lost' }]), 0)
  t.equal(await read(), newer)
  await service.owner.query('begin')
  await service.owner.query('select from merchants where id = $1 for update', [merchant.id])
  t.equal(await writeSealed(service.app.pool, column, [{ key: [merchant.id], before: newer, after: 'v1.lost' }]), 0)
  await service.owner.query('rollback')
  t.equal(await writeSealed(service.app.pool, column, []), 0)
})

t.test('a value that cannot be opened is reported and stays, without stopping others', async (t) => {
  const key = newKey()
  const service = await testService(t, { env: { SVC_ENCRYPTION_KEY: key } })
  const merchants = await Promise.all(Array.from({ length: 5 }, () => service.merchant()))
  const [bad] = merchants
  await service.owner.query(
    `update merchants set webhook_signing_secret = left(webhook_signing_secret, -4) || 'AAAA' where id = $1`,
    [bad?.id],
  )
  const app = await appWithKeys(t, service, [newKey(), key])
  const told: string[] = []
  t.match(await resealAll(app, { onBroken: (value) => told.push(value) }), { resealed: 5, broken: 1, finished: true })
  t.same(told, [`merchants.webhook_signing_secret ${bad?.id}`])
  // Four secrets, and the key of the hashes by which payers are found.
  t.match(await listKeys(app), [{ values: 5 }, { values: 1 }])
})

t.test('values under an unknown key are reported', async (t) => {
  const service = await testService(t)
  await service.merchant()
  const lost = service.app.sealer.kid
  const app = await appWithKeys(t, service, [newKey(), newKey()])
  const listed = await listKeys(app)
  t.match(listed.at(-1), { kid: lost, state: 'unknown', values: 2 })
  t.ok(hasUnknownKey(listed))
})

t.test('a start tries the keys on the first and on the last merchant, and names keys by their ids', async (t) => {
  const key = newKey()
  const service = await testService(t, { env: { SVC_ENCRYPTION_KEY: key } })
  for (let count = 0; count < 3; count += 1) await service.merchant()
  const fresh = newKey()
  const both = await appWithKeys(t, service, [fresh, key])
  await checkMasterKey(both)
  await checkMasterKey(await appWithKeys(t, service, [key, fresh]))
  await service.owner.query(
    `update merchants set webhook_signing_secret = $1 where id = (select id from merchants order by id limit 1)`,
    [
      both.sealer.seal(
        'x',
        webhookSecretContext((await service.owner.query('select id from merchants order by id limit 1')).rows[0].id),
      ),
    ],
  )
  const alone = await appWithKeys(t, service, [fresh])
  await t.rejects(checkMasterKey(alone), {
    name: 'MasterKeyError',
    message: new RegExp(`\\(${alone.sealer.kid}\\) is not the key .* \\(${service.app.sealer.kid}\\)`),
  })
  const wrong = await appWithKeys(t, service, [newKey(), newKey()])
  await t.rejects(checkMasterKey(wrong), { message: /neither SVC_ENCRYPTION_KEY [^]* nor SVC_ENCRYPTION_KEY_PREVIOUS/ })
})

t.test('after a rotation the demo logins are the new ones and work', async (t) => {
  const key = newKey()
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded', SVC_ENCRYPTION_KEY: key } })
  const before = { merchant: await ensureDemoMerchant(service.app), operator: await ensureDemoOperator(service.app) }
  const { startApi } = await import('../../src/api.ts')
  const app = await appWithKeys(t, service, [newKey(), key])
  const after = { merchant: await ensureDemoMerchant(app), operator: await ensureDemoOperator(app) }
  const api = await startApi(app)
  t.teardown(() => api.stop())
  t.not(after.merchant.client_secret, before.merchant.client_secret)
  t.not(after.operator.password, before.operator.password)
  t.equal(after.merchant.webhook_secret, before.merchant.webhook_secret, 'what merchants have stays')
  for (const { realm, client_id, client_secret } of [after.merchant, after.operator])
    t.match(
      await clientCredentials(api.url, { slug: realm, server: { clientId: client_id, secret: client_secret ?? '' } }),
      { status: 200 },
    )
  await signIn({
    authUrl: api.url,
    realm: 'platform',
    clientId: 'platform-cli',
    redirectUri: 'http://127.0.0.1:5000/callback',
    email: after.operator.email,
    password: after.operator.password,
  })
  const users = () =>
    service.owner.query('select id, password_hash from idp.users order by id').then(({ rows }) => rows)
  const kept = await users()
  t.same({ merchant: await ensureDemoMerchant(app), operator: await ensureDemoOperator(app) }, after)
  t.same(await users(), kept, 'a repeat sets no password again')
})
