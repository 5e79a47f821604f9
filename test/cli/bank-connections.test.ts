import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startTestBank } from '../support/model-bank.ts'
import { provesLeaves } from './ran.ts'
import { realService } from './real-service.ts'

const bank = await startTestBank(t)
const service = await realService(t, {
  worker: false,
  env: {
    SVC_PUBLIC_URL: 'http://127.0.0.1:3000',
    SVC_BANK_PROFILES: bank.profiles,
    SVC_COLLECTION_ACCOUNT: 'UK.OBIE.SortCodeAccountNumber:20000055779911:svc Collections',
  },
})
const run = (...words: string[]) => service.operate(['banks', ...words], { cwd: bank.dir })
const WHY = ['--reason', 'going live']
const FILE = ['--file', 'software-statement.json']

t.test('an operator connects to a bank: statement, registration, test', async (t) => {
  t.match(await run('list'), { code: 0, stdout: /model +Model Bank +4\.0, mandates 4\.0 +not registered +unproven/ })
  t.match(await run('software-statement', 'show', '--json'), { code: 6 })
  t.match(await run('registrations'), { code: 0, stderr: /registered at no bank/ })

  const dry = await run('software-statement', 'set', ...FILE, ...WHY, '--dry-run')
  t.match(dry, { code: 0, stderr: /Nothing was changed/ })
  const set = await run('software-statement', 'set', ...FILE, ...WHY)
  t.match(set, { code: 0, stdout: /Kept in +the database, sealed/ })
  const shown = await run('software-statement', 'show', '--json')
  t.match(JSON.parse(shown.stdout), { source: 'database', redirect_uris: ['http://127.0.0.1:3000/bank/return'] })
  for (const { stdout, stderr } of [dry, set, shown])
    t.notMatch(stdout + stderr, /PRIVATE KEY|eyJ/, 'neither keys nor the assertion')

  t.match(await run('test', 'model', '--json'), { code: 3, stderr: /not registered: svc banks connect/ })
  t.match(await run('connect', 'model', ...WHY, '--dry-run'), { code: 0, stderr: /Nothing was changed/ })
  const connected = await run('connect', 'model', ...WHY)
  t.match(connected, { code: 0, stdout: /Sent token_endpoint_auth_method +private_key_jwt/ })
  t.match(await run('connect', 'model', ...WHY, '--json'), { code: 7, stderr: /BANK_ALREADY_REGISTERED/ })
  t.match(JSON.parse((await run('connect', 'model', '--replace', ...WHY, '--json')).stdout), { bank_id: 'model' })
  t.match(JSON.parse((await run('registrations', '--json')).stdout), [{ id: 'model', registration: 'dynamic' }])

  t.match(await run('test', 'model', '--dry-run'), { code: 0, stderr: /Nothing was changed/ })
  t.match(await run('test', 'model'), { code: 0, stdout: /consent +✓[^]*read +✓/ })
  t.match(JSON.parse((await run('test', 'model', '--json')).stdout), [{ step: 'discovery', passed: true }])
  t.match(await run('list'), { stdout: / proven +available/ })
  t.match(JSON.parse((await run('list', '--json')).stdout), [{ is_proven: true, available: true }])
})

t.test('new keys are tried at every registered bank', async (t) => {
  t.match(await run('rotate-keys', ...FILE, ...WHY), { code: 0, stderr: /model: the new keys work/ })
  t.match(JSON.parse((await run('rotate-keys', ...FILE, ...WHY, '--json')).stdout), { source: 'database' })
  const again = await run('software-statement', 'set', ...FILE, ...WHY, '--json')
  t.match(JSON.parse(again.stdout), { source: 'database' })
  await bank.setFault({ name: 'down' })
  t.match(await run('rotate-keys', ...FILE, ...WHY, '--json'), { code: 3, stderr: /model: discovery: no answer from/ })
  await bank.clearFaults()
})

t.test('refused: banks that are not there, and files that are none', async (t) => {
  t.match(await run('test', 'monzo'), { code: 6, stderr: /bank not found: monzo/ })
  t.match(await run('connect', 'monzo', ...WHY, '--json'), { code: 6, stderr: /BANK_NOT_FOUND/ })
  t.match(await run('list', '--limit', '3'), { code: 2 })
  t.match(await run('registrations', 'x'), { code: 2 })
  t.match(await run('software-statement', 'set', '--file', 'none.json', ...WHY), { code: 2, stderr: /ENOENT/ })
  copyFileSync(join(bank.dir, 'transport-key.pem'), join(bank.dir, 'wrong.json'))
  const wrong = await run('software-statement', 'set', '--file', 'wrong.json', ...WHY)
  t.equal(wrong.code, 2)
  t.notMatch(wrong.stderr, readFileSync(join(bank.dir, 'wrong.json'), 'utf8').slice(40, 80))
  t.match(await run('rotate-keys', '--file', 'none.json', ...WHY), { code: 2 })
})

provesLeaves(t, import.meta.filename)
