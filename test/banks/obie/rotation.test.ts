import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { freePort } from '../../support/free-port.ts'
import { readSoftwareStatement } from '../../../src/banks/software-statement.ts'
import type { SoftwareStatement } from '../../../src/banks/software-statement.ts'
import { createPayment, testService, until, untilStatus } from '../../support/app.ts'
import { startTestBank } from '../../support/model-bank.ts'
import { authoriseAtBank } from '../../support/obie.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'

/** API and worker run in processes of their own, and neither is started again. */
t.test('a software statement and its new keys reach every process within seconds', async (t) => {
  const port = await freePort()
  const redirectUris = [`http://127.0.0.1:${port}/bank/return`]
  const dir = await mkdtemp(join(tmpdir(), 'svc-rotation-'))
  t.teardown(() => rm(dir, { recursive: true, force: true }))
  const bank = await startTestBank(t, { redirectUris, dir })
  const env = {
    SVC_PORT: String(port),
    SVC_BANK_PROFILES: bank.profiles,
    SVC_COLLECTION_ACCOUNT: 'UK.OBIE.SortCodeAccountNumber:20000055779911:Collections Ltd',
  }
  const service = await testService(t, { env })
  await startWorkerProcess(t, service, [], env)
  const merchant = await service.merchant()
  const world = { service, bank, merchant, env }
  const headers = await service.operator('OWNER')
  const banks = async () => (await service.call('GET', '/api/v1/banks')).body.data
  const modelBank = async () => (await banks()).find(({ id }: { id: string }) => id === 'model')
  const set = async (statement: SoftwareStatement): Promise<void> => {
    const path = '/api/v1/admin/banks/software-statement'
    const { status, text } = await service.call('PUT', path, { headers, body: { ...statement, reason: 'keys' } })
    t.equal(status, 200, text)
  }
  t.equal(await modelBank(), undefined, 'nobody can pay with it yet')
  t.match(await createPayment(service, merchant, { debtor_bank_id: 'model' }), { status: 201 }, 'it is the mock bank')

  const first = await readSoftwareStatement(bank.softwareStatement)
  await set(first)
  await until(async () => (await modelBank())?.available === false)
  const registration = '/api/v1/admin/banks/model/registration'
  const registered = await service.call('POST', registration, { headers, body: { reason: 'live' } })
  t.ok(registered.status < 300, registered.text)
  await until(async () => (await modelBank())?.available === true)
  const paid = await authoriseAtBank(world)
  await untilStatus(service, merchant, paid.id, 'Settled')

  const { kid, key } = (await bank.control('POST', '/directory/signing-keys')) as { kid: string; key: string }
  const transport = (await bank.control('POST', '/directory/certificates', {})) as SoftwareStatement['transport']
  await set({ ...first, transport, signing: { kid, key } })
  await bank.control('DELETE', `/directory/signing-keys/${first.signing.kid}`)
  await bank.control('DELETE', '/tokens')
  // Its old key is worth nothing now: what is paid is paid with the new one.
  const next = await authoriseAtBank(world)
  await untilStatus(service, merchant, next.id, 'Settled')
  t.same(
    (await bank.books()).payments.map(({ status }) => status),
    ['ACSC', 'ACSC'],
  )
})
