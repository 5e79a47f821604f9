import { chmodSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { serviceFile, writeServiceState } from '../../cli/client/service-state.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { RECEIVER_LANGUAGES, receiverFile } from '../../src/lib/receivers.ts'
import { signingHeaders } from '../../src/lib/webhook-signature.ts'
import { testService } from '../support/app.ts'
import { fakeAdmin } from './admin-harness.ts'
import { refusal, runCli } from './harness.ts'
import type { Answer, Request } from './harness.ts'

const AT = '2026-11-21T09:30:00.000Z'
const UNTIL = '2026-11-22T09:30:00.000Z'
const SECRET = '0123456789abcdef'.repeat(4)
const PATH = '/api/v1/portal/webhook-secret'
const ACME = { SVC_CLIENT_ID: 'acme-server' }

function stateOf(more: object = {}): Record<string, unknown> {
  return { masked_secret: '****cdef', rotated_at: AT, previous_expires_at: UNTIL, ...more }
}

function answer({ method, path }: Request): Answer {
  if (method === 'POST') return { json: stateOf({ webhook_signing_secret: SECRET }) }
  if (method === 'DELETE') return { json: stateOf({ previous_expires_at: null }) }
  const language = new URL(path, 'http://svc').searchParams.get('language') ?? 'node'
  return { json: stateOf({ language, verification_snippet: `a receiver in ${language}\n` }) }
}

t.test('svc secret show prints the masked secret and how the overlap stands', async (t) => {
  const service = await fakeAdmin(t, answer)
  const shown = await service.run(['secret', 'show'], { env: ACME })
  t.equal(shown.code, 0)
  t.match(shown.stdout, /Secret +\*{4}cdef\nRotated +2026-11-21 09:30:00Z\nPrevious +signs until 2026-11-22 09:30/)
  t.notMatch(shown.stdout, /a receiver/)
  t.match(shown.stderr, /A receiver to copy: svc .*secret snippet/)
  const python = await service.run(['secret', 'show', '--language', 'python'], { env: ACME })
  t.match(python.stdout, /\n\na receiver in python\n$/)
  const json = await service.run(['secret', 'show', '--json'], { env: ACME })
  t.match(JSON.parse(json.stdout), { masked_secret: '****cdef', verification_snippet: 'a receiver in node\n' })
  t.equal((await service.run(['secret', 'show', '-q', 'masked_secret'], { env: ACME })).stdout, '****cdef\n')
  t.equal((await service.run(['secret', 'show', '--language', 'cobol'], { env: ACME })).code, 2)
})

t.test('svc secret show --format whsec prints the secret of this machine, for libraries of the standard', async (t) => {
  const service = await fakeAdmin(t, answer)
  const words = ['secret', 'show', '--format', 'whsec']
  const { code, stdout } = await service.run(words, { env: { ...ACME, SVC_WEBHOOK_SECRET: SECRET } })
  t.equal(code, 0)
  const body = Buffer.from('{"eventId":"evt_1"}')
  const headers = signingHeaders({ secret: SECRET, previousSecret: null, eventId: 'evt_1', body, now: Date.now() })
  const webhook = new Webhook(stdout.trim())
  t.same(webhook.verify(body.toString('utf8'), headers), { eventId: 'evt_1' })
  t.throws(() => webhook.verify('{"eventId":"evt_2"}', headers), /signature/)
  const next = { secret: 'f'.repeat(64), previousSecret: SECRET, eventId: 'evt_1', body, now: Date.now() }
  t.ok(webhook.verify(body.toString('utf8'), signingHeaders(next)), 'during an overlap the one before verifies too')
  const json = await service.run([...words, '--json'], { env: { ...ACME, SVC_WEBHOOK_SECRET: SECRET } })
  t.same(JSON.parse(json.stdout), { secret: stdout.trim() })
  t.match(await service.run(words, { env: ACME }), { code: 2, stdout: '', stderr: /SVC_WEBHOOK_SECRET=<secret>/ })
})

t.test('svc secret snippet prints the file and nothing else, without a service', async (t) => {
  for (const language of RECEIVER_LANGUAGES) {
    const text = readFileSync(join(packageRoot(), 'examples', 'receivers', receiverFile(language)), 'utf8')
    t.strictSame(await runCli(['secret', 'snippet', language]), { code: 0, stdout: text, stderr: '' })
  }
  t.match((await runCli(['secret', 'snippet'])).stdout, /createHmac/, 'Node.js where nothing is said')
  const json = await runCli(['secret', 'snippet', 'go', '-o', 'json'])
  t.match(JSON.parse(json.stdout), { language: 'go', file: 'receiver.go', text: /package main/ })
  const unknown = await runCli(['secret', 'snippet', 'cobol'])
  t.match(unknown, { code: 2, stdout: '', stderr: /node, python, php, go, shell/ })
})

t.test('a new secret that can not be written says how to make another without ending the overlap', async (t) => {
  const service = await fakeAdmin(t, answer)
  const unwritten = Object.assign(new Error('full'), { code: 'ENOSPC' })
  const lost = await service.run(['secret', 'rotate'], { env: ACME, unwritten })
  t.match(lost, { code: 1, stderr: /the new secret is lost.*\nTry: svc .*secret rotate --discard-current\n$/ })
})

t.test('svc secret rotate prints the new secret once, among the results', async (t) => {
  const service = await fakeAdmin(t, answer)
  const rotated = await service.run(['secret', 'rotate'], { env: ACME })
  t.equal(rotated.code, 0)
  t.match(rotated.stdout, new RegExp(`^New secret +${SECRET}\n`))
  t.equal(rotated.stdout.split(SECRET).length, 2)
  t.notOk(rotated.stderr.includes(SECRET), 'and not in a remark')
  t.match(rotated.stderr, /shown this once.*\n.*before 2026-11-22 09:30:00Z/)
  await service.run(['secret', 'rotate', '--overlap', '2h'], { env: ACME })
  await service.run(['secret', 'rotate', '--overlap', '0s'], { env: ACME })
  await service.run(['secret', 'rotate', '--discard-current'], { env: ACME })
  const asked = { method: 'POST', path: `${PATH}/rotate` }
  t.strictSame(service.writes(), [
    { ...asked, body: {} },
    { ...asked, body: { overlap_seconds: 7_200 } },
    { ...asked, body: { overlap_seconds: 0 } },
    { ...asked, body: { discard_current: true } },
  ])
  const json = await service.run(['secret', 'rotate', '--json'], { env: ACME })
  t.equal(JSON.parse(json.stdout).webhook_signing_secret, SECRET)
  t.equal(json.stderr, '')
})

t.test('what svc secret rotate can not mean is refused before anything is sent', async (t) => {
  const service = await fakeAdmin(t, answer)
  for (const words of [
    ['--overlap', 'soon'],
    ['--overlap', '250ms'],
    ['--overlap', '1h', '--discard-current'],
  ]) {
    t.match(await service.run(['secret', 'rotate', ...words], { env: ACME }), { code: 2, stdout: '' })
  }
  const tooLong = await service.run(['secret', 'rotate', '--overlap', '8d', '--dry-run'], { env: ACME })
  t.match(tooLong, { code: 2, stderr: /^Error: --overlap: must be at most 7d\n/ })
  t.strictSame(service.writes(), [])
})

t.test('a running overlap is shown with the commands that end it', async (t) => {
  const service = await fakeAdmin(t, () => refusal(409, 'SECRET_OVERLAP_RUNNING'))
  const { code, stderr } = await service.run(['secret', 'rotate'], { env: ACME })
  t.not(code, 0)
  t.match(stderr, /secret end-overlap\n.*: svc .*secret rotate --discard-current\n/)
})

t.test('svc secret end-overlap ends it', async (t) => {
  const service = await fakeAdmin(t, answer)
  const ended = await service.run(['secret', 'end-overlap'], { env: ACME })
  t.match(ended, { code: 0, stdout: /Previous +not valid any more/ })
  t.strictSame(service.writes(), [{ method: 'DELETE', path: `${PATH}/previous`, body: null }])
})

const SHOWN = { language: 'node', verification_snippet: 'a receiver\n' }

t.test('--dry-run shows the request and changes nothing', async (t) => {
  const service = await fakeAdmin(t, (request) => {
    return request.method === 'GET' ? { json: stateOf({ ...SHOWN, previous_expires_at: null }) } : answer(request)
  })
  const rotated = await service.run(['secret', 'rotate', '--overlap', '1h', '--dry-run'], { env: ACME })
  t.match(rotated.stdout, /POST http.*webhook-secret\/rotate\nBody +\{"overlap_seconds":3600\}/)
  t.match((await service.run(['secret', 'end-overlap', '--dry-run'], { env: ACME })).stdout, /DELETE http.*previous/)
  t.strictSame(service.writes(), [])
})

t.test('in live mode both ask first', async (t) => {
  const service = await fakeAdmin(t, answer, { mode: 'live' })
  for (const words of [['rotate'], ['end-overlap']]) {
    const unasked = await service.run(['secret', ...words], { env: ACME })
    t.match(unasked, { code: 2, stderr: /--yes/ }, 'without a terminal')
    const wrong = await service.run(['secret', ...words], { env: ACME, typed: 'globex' })
    t.match(wrong, { code: 2, stderr: /nothing was changed/ })
  }
  t.strictSame(service.writes(), [])
  t.equal((await service.run(['secret', 'rotate'], { env: ACME, typed: 'acme-server' })).code, 0)
  t.equal((await service.run(['secret', 'end-overlap', '--yes'], { env: ACME })).code, 0)
  t.equal(service.writes().length, 2)
})

t.test('against the service: rotate, a second rotate that is refused, discard, end', async (t) => {
  const { url, merchant: make } = await testService(t)
  const merchant = await make()
  const run = (...words: string[]) =>
    runCli(['secret', ...words, '--api-url', url], { env: { SVC_CLIENT_ID: merchant.clientId } })
  const mask = async () => (await run('show', '-q', 'masked_secret')).stdout.trim()
  t.equal(await mask(), `****${merchant.secret.slice(-4)}`)
  const first = JSON.parse((await run('rotate', '--overlap', '1h', '--json')).stdout)
  t.equal(await mask(), first.masked_secret)
  const refused = await run('rotate', '--overlap', '1h')
  t.match(refused, { stdout: '', stderr: /secret end-overlap/ })
  t.not(refused.code, 0)
  const again = JSON.parse((await run('rotate', '--discard-current', '--json')).stdout)
  t.not(again.webhook_signing_secret, first.webhook_signing_secret)
  t.equal(again.previous_expires_at, first.previous_expires_at)
  t.match(await run('end-overlap'), { code: 0, stdout: /Previous +not valid any more/ })
  t.match(await run('rotate', '--discard-current'), { stdout: '', stderr: /--discard-current: is only/ })
})

t.test('the rotated secret of the merchant of svc.json is put there too, and nothing else is', async (t) => {
  const { url, merchant: make } = await testService(t)
  const [merchant, other] = [await make(), await make()]
  const stateDir = t.testdir()
  const state = {
    api_url: url,
    auth_url: null,
    demo_url: `${url}/dev/merchant-harness`,
    database_url: 'postgres://svc',
    state_dir: stateDir,
    pid: process.pid,
    merchant: {
      id: merchant.id,
      client_id: merchant.clientId,
      client_secret: null,
      realm: merchant.realm,
      webhook_secret: merchant.secret,
      email: null,
      password: null,
    },
    operator: null,
    customer: null,
  }
  writeServiceState(stateDir, state)
  chmodSync(serviceFile(stateDir), 0o640)
  const kept = () => JSON.parse(readFileSync(serviceFile(stateDir), 'utf8'))
  const run = (words: string[], clientId: string, apiUrl = url) =>
    runCli([...words, '--api-url', apiUrl, '--state-dir', stateDir], { env: { SVC_CLIENT_ID: clientId } })

  await run(['secret', 'rotate'], other.clientId)
  await run(['secret', 'rotate', '--dry-run'], merchant.clientId)
  const elsewhere = await fakeAdmin(t, answer)
  await elsewhere.run(['secret', 'rotate', '--state-dir', stateDir], { env: { SVC_CLIENT_ID: merchant.clientId } })
  t.equal(elsewhere.writes().length, 1)
  t.strictSame(kept(), state, "another merchant, another service and a dry run are none of the file's")

  const rotated = await run(['secret', 'rotate', '-q', 'webhook_signing_secret'], merchant.clientId)
  const secret = rotated.stdout.trim()
  t.match(secret, /^[0-9a-f]{64}$/)
  t.strictSame(kept(), { ...state, merchant: { ...state.merchant, webhook_secret: secret } })
  t.equal(statSync(serviceFile(stateDir)).mode & 0o777, 0o640, 'who may read it stays')
  t.strictSame(readdirSync(stateDir), ['svc.json'])
  const told = await run(['secret', 'rotate', '--discard-current'], merchant.clientId)
  t.match(told.stderr, /svc\.json has it as well/)
})
