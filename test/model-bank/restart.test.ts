import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { packageRoot } from '../../src/lib/package-root.ts'
import { startModelBank } from '../../src/model-bank/start.ts'
import { REDIRECT_URI, startTestBank } from '../support/model-bank.ts'
import { approvedToken, call, makeClient, makeRegisteredClient, paymentOrder, stage } from './client.ts'

const MAIN = join(packageRoot(), 'src/model-bank/main.ts')

t.test('a bank that starts again in its folder is the same bank', async (t) => {
  const first = await startTestBank(t, { keepsState: true })
  const { dir } = first
  const client = await makeRegisteredClient(first)
  const consentId = await stage(client)
  const { access: token } = await approvedToken(client, consentId)
  const headers = { 'x-idempotency-key': 'the-payment' }
  const paid = await call(client, 'POST', '/domestic-payments', { token, headers, body: paymentOrder(consentId) })
  t.equal(paid.status, 201)
  await first.close()

  const port = Number(new URL(first.issuer).port)
  const second = await startTestBank(t, { dir, port, keepsState: true })
  t.equal(second.ca, first.ca)
  const books = await second.books()
  t.match(books, { consents: [{ id: consentId, status: 'consumed' }], payments: [{ status: 'ACSC' }] })
  t.equal(books.accounts[0]?.balance, '4987.5000')
  const again = { ...(await makeClient(second)), clientId: client.clientId }
  const repeated = await call(again, 'POST', '/domestic-payments', { token, headers, body: paymentOrder(consentId) })
  t.equal(repeated.text, paid.text, 'tokens and idempotency keys count as before')
  t.equal((await second.books()).payments.length, 1)
})

t.test('a bank that is killed keeps what it has answered', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'svc-model-bank-'))
  const start = async (ports: readonly string[]) => {
    const child = spawn(process.execPath, [MAIN, '--dir', dir, '--redirect-uri', REDIRECT_URI, ...ports])
    const ended = once(child, 'exit')
    t.teardown(async () => {
      child.kill('SIGKILL')
      await ended
      await rm(dir, { recursive: true, force: true })
    })
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
    const bank = JSON.parse(line) as Awaited<ReturnType<typeof startModelBank>>
    return { child, ended, bank: { ...bank, dir, ca: await readFile(join(dir, 'model-bank-ca.pem'), 'utf8') } }
  }
  const first = await start(['--port', '0', '--control-port', '0'])
  const client = await makeRegisteredClient(first.bank)
  const consentIds = await Promise.all([stage(client), stage(client), stage(client)])
  first.child.kill('SIGKILL')
  await first.ended
  const { bank } = await start(['--port', new URL(first.bank.issuer).port, '--control-port', '0'])
  const books = (await (await fetch(`${bank.controlUrl}/books`)).json()) as { consents: { id: string }[] }
  t.same(books.consents.map(({ id }) => id).toSorted(), consentIds.toSorted())
})

t.test('on another port it is another bank, and without being asked nothing is kept', async (t) => {
  const { dir } = await startTestBank(t)
  const options = { dir, port: 0, controlPort: 0, redirectUris: [REDIRECT_URI], keepsState: true }
  const first = await startModelBank(options)
  const second = await startModelBank(options)
  await first.close()
  t.not(second.issuer, first.issuer)
  await second.close()
  const third = await startTestBank(t, { dir, port: Number(new URL(second.issuer).port) })
  t.match(await third.books(), { registrations: { length: 0 } })
})
