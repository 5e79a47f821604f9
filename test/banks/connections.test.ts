import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { testService } from '../support/app.ts'
import type { ServiceOptions, TestService } from '../support/app.ts'
import { startTestBank } from '../support/model-bank.ts'
import type { TestBank } from '../support/model-bank.ts'
import { makeSoftwareStatement } from '../support/software-statement.ts'

const ACCOUNT = 'UK.OBIE.SortCodeAccountNumber:20000055779911:svc Collections'
const STATEMENT = '/api/v1/admin/banks/software-statement'
const reason = 'going live'

/** A service beside a model bank, which knows the service's return address. */
async function withBank(
  t: Test,
  env: Record<string, string> = {},
  options: ServiceOptions = {},
): Promise<{ bank: TestBank; service: TestService; headers: Record<string, string> }> {
  const bank = await startTestBank(t)
  const service = await testService(t, {
    ...options,
    env: {
      SVC_PUBLIC_URL: 'http://127.0.0.1:3000',
      SVC_BANK_PROFILES: bank.profiles,
      SVC_BANK_SOFTWARE_STATEMENT: bank.softwareStatement,
      SVC_COLLECTION_ACCOUNT: ACCOUNT,
      ...env,
    },
  })
  return { bank, service, headers: await service.operator('OWNER') }
}

/** The software statement of the bank's files, as a request has it. */
async function statementOf({ dir }: TestBank): Promise<Record<string, unknown>> {
  const read = (name: string) => readFile(join(dir, name), 'utf8')
  const form = JSON.parse(await read('software-statement.json'))
  return {
    ...form,
    ssa: (await read(form.ssa)).trim(),
    transport: { cert: await read(form.transport.cert), key: await read(form.transport.key) },
    signing: { kid: form.signing.kid, key: await read(form.signing.key) },
  }
}

t.test('the platform registers at a bank, tests it, and shows both', async (t) => {
  const { bank, service, headers } = await withBank(t)
  const before = await service.call('GET', '/api/v1/admin/banks', { headers })
  t.match(before.body, {
    data: [
      {
        id: 'model',
        name: 'Model Bank',
        payments_version: '4.0',
        client_id: null,
        is_proven: false,
        last_test: null,
        available: false,
      },
    ],
    software_statement: { source: 'file', set_by: null, redirect_uris: ['http://127.0.0.1:3000/bank/return'] },
  })
  t.notMatch(before.text, /PRIVATE KEY|BEGIN CERTIFICATE|eyJ/, 'no key and no assertion')

  const path = '/api/v1/admin/banks/model/registration'
  const early = await service.call('POST', '/api/v1/admin/banks/model/test', { headers })
  t.match(early.body, { passed: false, steps: [{ passed: true }, { passed: true }, { step: 'token', passed: false }] })

  const made = await service.call('POST', path, { headers, body: { reason } })
  t.match(made, { status: 201, body: { bank_id: 'model', sent: { scope: 'openid payments' } } })
  const { registrations } = await bank.books()
  t.equal(registrations.length, 1)
  t.equal(made.body.client_id, registrations[0]?.clientId)

  t.match(await service.call('POST', path, { headers, body: { reason } }), {
    status: 409,
    body: { code: 'BANK_ALREADY_REGISTERED', current: { client_id: made.body.client_id } },
  })
  const again = await service.call('POST', path, { headers, body: { reason, replace: true } })
  t.equal(again.status, 201)
  t.not(again.body.client_id, made.body.client_id)

  const tested = await service.call('POST', '/api/v1/admin/banks/model/test', { headers })
  t.match(tested.body, {
    passed: true,
    steps: ['discovery', 'keys', 'token', 'consent', 'read'].map((step) => ({ step, passed: true })),
  })
  t.equal((await bank.books()).payments.length, 0, 'no money')

  const after = await service.call('GET', '/api/v1/admin/banks', { headers })
  t.match(after.body.data[0], { client_id: again.body.client_id, is_proven: true, last_test: { passed: true } })
  const audit = await service.call('GET', '/api/v1/admin/audit', { headers })
  t.match(
    audit.body.data.map(({ action }: { action: string }) => action),
    ['bank.test', 'bank.register', 'bank.register', 'bank.test'],
  )
  t.notMatch(audit.text, /PRIVATE KEY|eyJhbGci/)
})

t.test('a client that is known by its certificate registers with its subject', async (t) => {
  const bank = await startTestBank(t)
  const profiles = await readFile(bank.profiles, 'utf8')
  const folder = t.testdir({
    'profiles.yaml': `${profiles.replace('private_key_jwt', 'tls_client_auth').replace('model-bank-ca.pem', join(bank.dir, 'model-bank-ca.pem'))}`,
  })
  const service = await testService(t, {
    env: {
      SVC_PUBLIC_URL: 'http://127.0.0.1:3000',
      SVC_BANK_PROFILES: join(folder, 'profiles.yaml'),
      SVC_BANK_SOFTWARE_STATEMENT: bank.softwareStatement,
      SVC_COLLECTION_ACCOUNT: ACCOUNT,
    },
  })
  const headers = await service.operator('OWNER')
  const made = await service.call('POST', '/api/v1/admin/banks/model/registration', { headers, body: { reason } })
  t.match(made, { status: 201, body: { sent: { tls_client_auth_subject_dn: /CN=/ } } })
  await service.owner.query(
    `insert into bank_outages (bank_id, silent_since, silent_at, rests_until) values ('model', now(), now(), now())`,
  )
  t.match(await service.call('POST', '/api/v1/admin/banks/model/test', { headers }), { body: { passed: true } })
  const { rows } = await service.owner.query('select answered_at > silent_at as is_over from bank_outages')
  t.same(rows, [{ is_over: true }], 'which is an answer, too')
})

t.test('what a bank refuses is reported in its words, and nothing is stored', async (t) => {
  const { service, headers } = await withBank(t, { SVC_PUBLIC_URL: 'http://127.0.0.1:3001' })
  const refused = await service.call('POST', '/api/v1/admin/banks/model/registration', { headers, body: { reason } })
  t.match(refused, {
    status: 409,
    body: { code: 'BANK_REGISTRATION_REFUSED', error: /the bank answered 400: invalid_redirect_uri/ },
  })
  t.match((await service.call('GET', '/api/v1/admin/banks', { headers })).body.data[0], { client_id: null })
})

t.test('a bank that is down, and one whose certificate is not trusted, fail the first step', async (t) => {
  const { bank, service, headers } = await withBank(t)
  await bank.setFault({ name: 'down' })
  const down = await service.call('POST', '/api/v1/admin/banks/model/test', { headers })
  t.match(down.body, { passed: false, steps: [{ step: 'discovery', passed: false, detail: /^no answer from 127/ }] })
  t.equal(down.body.steps.length, 1)
  await bank.clearFaults()

  const profiles = (await readFile(bank.profiles, 'utf8')).replace(/^.*ca: .*$\n/m, '')
  const folder = t.testdir({ 'profiles.yaml': profiles })
  const untrusting = await testService(t, {
    env: {
      SVC_BANK_PROFILES: join(folder, 'profiles.yaml'),
      SVC_BANK_SOFTWARE_STATEMENT: bank.softwareStatement,
      SVC_COLLECTION_ACCOUNT: ACCOUNT,
    },
  })
  const test = await untrusting.call('POST', '/api/v1/admin/banks/model/test', {
    headers: await untrusting.operator('OWNER'),
  })
  t.match(test.body.steps, [{ step: 'discovery', passed: false, detail: /self.signed|unable to verify|UNABLE_TO/i }])
})

t.test('a stored software statement is sealed, used, and never shown', async (t) => {
  const { bank, service, headers } = await withBank(t, { SVC_BANK_SOFTWARE_STATEMENT: '' })
  t.equal((await service.call('GET', '/api/v1/admin/banks', { headers })).body.software_statement, null)
  const missing = await service.call('POST', '/api/v1/admin/banks/model/registration', { headers, body: { reason } })
  t.match(missing, { status: 409, body: { code: 'SOFTWARE_STATEMENT_MISSING' } })

  const statement = await statementOf(bank)
  const body = { ...statement, reason }
  t.equal((await service.call('PUT', `${STATEMENT}?dry_run=true`, { headers, body })).status, 200)
  t.equal((await service.call('GET', '/api/v1/admin/banks', { headers })).body.software_statement, null, 'dry')
  const set = await service.call('PUT', STATEMENT, { headers, body })
  t.match(set, { status: 200, body: { source: 'database', org_id: statement['org_id'] } })
  t.notMatch(set.text, /PRIVATE KEY|eyJhbGci/)
  const { rows } = await service.owner.query('select row_to_json(s)::text as text from bank_software_statements s')
  t.match(rows[0].text, /"statement":"v1\./)
  t.notMatch(rows[0].text, /PRIVATE KEY|eyJhbGci/)

  t.equal(
    (await service.call('POST', '/api/v1/admin/banks/model/registration', { headers, body: { reason } })).status,
    201,
  )
  const other = { ...(await makeSoftwareStatement()), software_id: 'other' }
  const changed = await service.call('PUT', STATEMENT, { headers, body: { ...other, reason } })
  t.match(changed, { status: 400, body: { errors: [{ path: 'ssa', code: 'INVALID' }] } })
})

t.test('refused: statements that have ended, and one beside a file', async (t) => {
  const { bank, service, headers } = await withBank(t)
  const body = { ...(await statementOf(bank)), reason }
  t.match(await service.call('PUT', STATEMENT, { headers, body }), { body: { code: 'SOFTWARE_STATEMENT_IN_FILE' } })

  const plain = await testService(t)
  const ended = { ...(await makeSoftwareStatement({ validDays: -1 })), reason }
  const answer = await plain.call('PUT', STATEMENT, { headers: await plain.operator('OWNER'), body: ended })
  t.match(answer, { status: 400, body: { errors: [{ path: 'transport.cert', code: 'EXPIRED' }] } })
  t.notMatch(answer.text, /PRIVATE KEY/)
})

t.test('refused: banks that are not configured', async (t) => {
  const { service, headers } = await withBank(t)
  for (const what of ['registration', 'test']) {
    const body = what === 'test' ? undefined : { reason }
    t.match(await service.call('POST', `/api/v1/admin/banks/monzo/${what}`, { headers, body }), {
      status: 404,
      body: { code: 'BANK_NOT_FOUND' },
    })
  }
})
