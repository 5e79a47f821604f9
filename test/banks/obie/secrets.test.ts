import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import t from 'tap'
import { freePort } from '../../support/free-port.ts'
import type { FaultName } from '../../../src/model-bank/faults.ts'
import { makeLog } from '../../../src/observe/log.ts'
import { realService } from '../../cli/real-service.ts'
import type { Outcome } from '../../cli/harness.ts'
import { until, untilStatus } from '../../support/app.ts'
import { collectSecrets } from '../../support/bank-secrets.ts'
import type { Secret } from '../../support/bank-secrets.ts'
import { endMandate, mandateBody, payUnder } from '../../support/mandates.ts'
import { startTestBank } from '../../support/model-bank.ts'
import { authoriseAtBank, bringBack, newBankPayment, reseal, visitBank } from '../../support/obie.ts'

/** One run through everything that knows a secret of a bank, and a search for each of them in everything that is written. */
t.test('no key, token, assertion or code is written anywhere, and no state where people look', async (t) => {
  const logged: string[] = []
  const destination = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      logged.push(chunk.toString('utf8'))
      done()
    },
  })
  const port = await freePort()
  const bank = await startTestBank(t, { redirectUris: [`http://127.0.0.1:${port}/bank/return`] })
  const service = await realService(t, {
    env: {
      SVC_PORT: String(port),
      SVC_BANK_PROFILES: bank.profiles,
      SVC_COLLECTION_ACCOUNT: 'UK.OBIE.SortCodeAccountNumber:20000055779911:Collections Ltd',
      SVC_DEBUG: 'sql',
    },
    overrides: { log: makeLog('trace', destination) },
  })
  const secretsOf = collectSecrets(t, bank.issuer)
  const merchant = await service.merchant()
  const world = { service, bank, merchant, env: {} }
  const shown: string[] = []
  const states: Secret[] = []
  const operate = async (...words: string[]): Promise<Outcome> => {
    const outcome = await service.operate(words, { cwd: bank.dir })
    shown.push(outcome.stdout, outcome.stderr)
    return outcome
  }
  const own: Secret[] = []
  const pay = async (changes: object = {}): ReturnType<typeof newBankPayment> => {
    const payment = await newBankPayment(world, changes)
    states.push({ kind: 'state', value: payment.state })
    return payment
  }
  /** The payer's whole way; what the service says on it is searched too. */
  const authorise = async (changes: object = {}): ReturnType<typeof newBankPayment> => {
    const payment = await pay(changes)
    const visit = await visitBank(world, payment.address)
    const answer = new URLSearchParams(visit.answer)
    for (const name of ['code', 'id_token']) own.push({ kind: `${name} of the return`, value: answer.get(name) ?? '' })
    own.push({ kind: 'cookie', value: visit.cookie.split('=')[1] ?? '' })
    const { html, next } = await bringBack(service, visit)
    const code = next?.searchParams.get('code')
    if (code == null) shown.push(html)
    const body = { state: payment.state, code: code ?? 'none' }
    const done = await service.call('POST', `/api/v1/payments/${payment.id}/sca-complete`, { body })
    shown.push(done.text)
    if (code != null) own.push({ kind: 'code of ours', value: code })
    return payment
  }

  const why = ['--reason', 'live']
  const file = ['--file', 'software-statement.json']
  await operate('banks', 'software-statement', 'set', ...file, ...why)
  await operate('banks', 'connect', 'model', ...why)
  t.equal((await operate('banks', 'test', 'model')).code, 0)
  await operate('banks', 'rotate-keys', ...file, ...why)
  await until(async () => (await service.call('GET', '/api/v1/banks')).text.includes('"available":true'))

  const paid = await authorise()
  await untilStatus(service, merchant, paid.id, 'Settled')
  const mandate = await authorise(mandateBody({ control_parameters: { max_amount_per_payment: 60 } }))
  const { consent_id: consentId } = await untilStatus(service, merchant, mandate.id, 'Settled')
  const change = (text: string): string => JSON.stringify({ ...JSON.parse(text), endsAt: 0 })
  await reseal(service, 'consents', { column: 'tokens', id: mandate.state, change })
  const { body: collected } = await payUnder(service, merchant, { consentId })
  await untilStatus(service, merchant, collected.payment_id, 'Settled')
  await endMandate(service, merchant, consentId)
  await until(async () => (await bank.books()).consents.some(({ status }) => status === 'revoked'))

  const returns: FaultName[] = ['return_wrong_nonce', 'return_wrong_c_hash', 'return_alg_none', 'return_wrong_state']
  const orders: FaultName[] = ['wrong_signature', 'half_a_body', 'server_error', 'another_amount', 'unsigned_refusal']
  const ids = [paid.id, mandate.id, collected.payment_id]
  for (const name of returns) {
    await bank.setFault({ name, times: 1 })
    ids.push((await authorise()).id)
  }
  for (const name of orders) {
    await bank.setFault({ name, on: ['createPayment'], times: 1 })
    const { id } = await authorise()
    await untilStatus(service, merchant, id, 'Settled')
    ids.push(id)
  }
  await bank.setFault({ name: 'server_error', on: ['token'] })
  await bank.control('DELETE', '/tokens')
  for (const _ of [1, 2]) shown.push(String(await newBankPayment(world).catch((error: unknown) => error)))
  await operate('banks', 'test', 'model')
  await bank.clearFaults()
  await authoriseAtBank(world).catch((error: unknown) => shown.push(String(error)))

  for (const id of ids) {
    await operate('explain', id)
    shown.push((await service.as(merchant, ['explain', id, '--json'])).stdout)
    shown.push((await service.call('GET', `/api/v1/portal/explain/${id}`, { merchant })).text)
  }
  for (const words of [
    ['banks', 'list', '--json'],
    ['banks', 'registrations', '--json'],
    ['banks', 'software-statement', 'show', '--json'],
    ['audit', 'list', '--json'],
    ['inbox', '--json'],
    ['config', 'show', '--json'],
  ])
    await operate(...words)
  await operate('doctor', '--json')
  shown.push((await service.call('GET', '/metrics')).text, (await service.call('GET', '/readyz')).text)

  const read = (name: string): Promise<string> => readFile(join(bank.dir, name), 'utf8')
  const keys: Secret[] = await Promise.all(
    ['transport-key.pem', 'signing-key.pem', 'ssa.jwt'].map(async (name) => {
      const text = (await read(name)).trim()
      return { kind: name, value: text.startsWith('-----') ? (text.split('\n')[1] ?? '') : text }
    }),
  )
  const secrets = [...keys, ...own, ...secretsOf()]
  const kinds = new Set(secrets.map(({ kind }) => kind))
  for (const kind of [
    'client_assertion',
    'code',
    'code_verifier',
    'refresh_token',
    'access_token',
    'id_token',
    'registration',
  ])
    t.ok(kinds.has(kind), `there was a secret of the kind ${kind}`)
  t.ok(secrets.every(({ value }) => value.length > 8))

  const log = logged.join('')
  const tables = await everyTable(service.owner)
  t.ok(logged.length > 500 && tables.length > 100_000, `${logged.length} lines, ${tables.length} bytes`)
  const places = { log, tables, shown: shown.join('\n') }
  // The payment's events keep what was received (contract §Payment event): a code of ours that is used up.
  const isKept = ({ kind }: Secret, place: string): boolean => place === 'tables' && kind === 'code of ours'
  const writtenIn = (place: keyof typeof places, list: readonly Secret[]): string[] =>
    list.filter((each) => !isKept(each, place) && places[place].includes(each.value)).map(({ kind }) => kind)
  for (const place of ['log', 'tables', 'shown'] as const) t.same(writtenIn(place, secrets), [], place)
  for (const place of ['log', 'shown'] as const) t.same(writtenIn(place, states), [], `states in ${place}`)
  // At the beginning of a word: sealed values are random text, within which anything may stand.
  for (const place of ['log', 'tables', 'shown'] as const)
    t.notMatch(
      places[place],
      /(?<![\w.-])eyJ[\w-]+\.[\w-]+\.|BEGIN [A-Z ]*PRIVATE KEY/,
      `what looks like one in ${place}`,
    )
})

/** Everything that a dump of the database would have, as text. */
async function everyTable(owner: { query(text: string): Promise<{ rows: unknown[] }> }): Promise<string> {
  const { rows } = await owner.query(`
    select format('select coalesce(string_agg(t::text, e''\\n''), '''') as text from %I.%I t', table_schema, table_name) as query
    from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`)
  const texts: string[] = []
  for (const { query } of rows as { query: string }[])
    texts.push(((await owner.query(query)).rows as { text: string }[])[0]?.text ?? '')
  return texts.join('\n')
}
