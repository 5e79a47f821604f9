import t from 'tap'
import type { FaultName } from '../../../src/model-bank/faults.ts'
import { until, untilStatus } from '../../support/app.ts'
import { authoriseAtBank, newBankPayment, obieService } from '../../support/obie.ts'
import type { ObieService } from '../../support/obie.ts'

/** Servers that answer at the bank's address and are not the bank: nothing is sent to them, and nothing is believed. */
const world = await obieService(t)

async function verdicts({ service }: ObieService, state?: string): Promise<string[]> {
  const { rows } = await service.owner.query<{ verdict: string }>(
    'select verdict from obie.calls where verdict is not null and ($1::text is null or state = $1)',
    [state],
  )
  return rows.map(({ verdict }) => verdict)
}

const SERVERS: readonly { what: string; certificate: object; problem: RegExp }[] = [
  { what: 'an expired certificate', certificate: { valid_days: -1 }, problem: /CERT_HAS_EXPIRED/ },
  {
    what: 'a certificate of an untrusted issuer',
    certificate: { trusted: false },
    problem: /UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_SIGNATURE_FAILURE|UNABLE_TO_GET_ISSUER_CERT_LOCALLY/,
  },
  {
    what: 'the certificate of another host',
    certificate: { hosts: ['another-bank.example'] },
    problem: /ERR_TLS_CERT_ALTNAME_INVALID/,
  },
]

for (const { what, certificate, problem } of SERVERS)
  t.test(`${what}: no payment is begun, and one under way waits for the bank itself`, async (t) => {
    const { service, bank, merchant } = world
    await bank.setFault({ name: 'server_error', on: ['createPayment'] })
    const { id, state, endToEndId } = await authoriseAtBank(world)
    await bank.control('POST', '/server-certificate', certificate)
    // An order that was on its way before is answered by now: a payment is asked for once at a time.
    await until(async () => (await verdicts(world, state)).some((verdict) => problem.test(verdict)))
    await bank.clearFaults()
    const before = (await bank.control('GET', '/calls')) as unknown[]

    await t.rejects(newBankPayment(world), { message: /BANK_UNAVAILABLE/ })
    const path = `/api/v1/admin/explain/${id}`
    const headers = await service.operator('SUPPORT')
    await until(async () => problem.test((await service.call('GET', path, { headers })).text))
    const tested = await service.call('POST', '/api/v1/admin/banks/model/test', { headers: await service.operator() })
    t.match(tested.body, { passed: false, steps: [{ step: 'discovery', passed: false, detail: problem }] })
    t.same(await bank.control('GET', '/calls'), before, 'it was sent nothing')
    t.match(await service.call('GET', `/api/v1/payments/${id}`, { merchant }), { body: { status: 'Authorised' } })

    await bank.control('POST', '/server-certificate')
    await untilStatus(service, merchant, id, 'Settled')
    t.match(
      (await bank.books()).payments.filter((each) => each.endToEndId === endToEndId),
      { length: 1 },
    )
  })

const CONFIGURATIONS: Partial<Record<FaultName, RegExp>> = {
  another_issuer: /is of the issuer https:\/\/another-bank\.example, and the profile says https:\/\/127/,
  another_token_endpoint: /token_endpoint is at another-bank\.example, a host that the profile does not name/,
}

for (const [name, problem] of Object.entries(CONFIGURATIONS) as [FaultName, RegExp][])
  t.test(`${name}: no payment is begun, and no assertion leaves the process`, async (t) => {
    const other = await obieService(t)
    const { service, bank } = other
    await bank.setFault({ name })
    await t.rejects(newBankPayment(other), { message: /BANK_UNAVAILABLE/ })
    t.match(await verdicts(other), [problem])
    const { rows } = await service.owner.query('select from obie.calls where step = $1', ['token'])
    t.equal(rows.length, 0)
    const tested = await service.call('POST', '/api/v1/admin/banks/model/test', { headers: await service.operator() })
    t.match(tested.body, { passed: false, steps: [{ step: 'discovery', passed: false, detail: problem }] })

    await bank.clearFaults()
    t.match(await newBankPayment(other), { state: String }, 'the configuration is read again')
  })
