import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { ensureKeyRing, keyFile, readKeyRing } from '../../cli/service/up/key-file.ts'
import { kidOfKey } from '../../src/lib/seal.ts'
import { testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { newKey } from '../support/keys.ts'
import { runCli } from './harness.ts'

/** A service with three merchants, and so three values, under a key. */
async function sealedUnder(t: Test, key: string): Promise<TestService> {
  const service = await testService(t, { env: { SVC_ENCRYPTION_KEY: key } })
  for (let count = 0; count < 3; count += 1) await service.merchant()
  await service.owner.query('delete from lookup_keys')
  return service
}

function envOf({ databaseUrl }: TestService, key: string, ...previous: string[]): NodeJS.ProcessEnv {
  return {
    SVC_DATABASE_URL: databaseUrl,
    SVC_ENCRYPTION_KEY: key,
    SVC_ENCRYPTION_KEY_PREVIOUS: previous.join(','),
  }
}

/** What `svc up` of this directory would have written, were it this process. */
function pretendRunning(stateDir: string, { databaseUrl, url }: TestService, keyId: string): void {
  const state = {
    api_url: url,
    auth_url: null,
    demo_url: url,
    database_url: databaseUrl,
    state_dir: stateDir,
    pid: process.pid,
    key_id: keyId,
    merchant: { id: 'm', client_id: 'c', webhook_secret: 's' },
    operator: null,
    customer: null,
  }
  writeFileSync(join(stateDir, 'svc.json'), JSON.stringify(state))
}

t.test('the list names each key by its id, with what is sealed under it, and shows no key', async (t) => {
  const [old, fresh] = [newKey(), newKey()]
  const service = await sealedUnder(t, old)
  const listed = await runCli(['config', 'keys', 'list', '--json'], { env: envOf(service, fresh, old) })
  t.equal(listed.code, 0)
  t.same(JSON.parse(listed.stdout), [
    { kid: kidOfKey(fresh), state: 'current', values: 0, expiring: 0, columns: {} },
    {
      kid: kidOfKey(old),
      state: 'previous',
      values: 3,
      expiring: 0,
      columns: { 'merchants.webhook_signing_secret': 3 },
    },
  ])
  const table = await runCli(['config', 'keys', 'list'], { env: envOf(service, fresh, old) })
  t.match(table.stdout, /KID +STATE +VALUES +EXPIRING +WHERE[^]*previous +3 +0 +merchants\.webhook_signing_secret 3/)
  for (const key of [old, fresh]) t.notOk(`${listed.stdout}${table.stdout}${table.stderr}`.includes(key))
})

t.test('values under a key that is not configured are reported, with exit code 1', async (t) => {
  const [lost, fresh] = [newKey(), newKey()]
  const service = await sealedUnder(t, lost)
  const env = envOf(service, fresh)
  t.match(await runCli(['config', 'keys', 'list'], { env }), {
    code: 1,
    stdout: new RegExp(`${kidOfKey(lost)} +unknown +3`),
    stderr: /A key is missing/,
  })
  t.match(await runCli(['config', 'keys', 'rotate', '--json'], { env }), {
    code: 1,
    stdout: new RegExp(`"unknown_keys":\\["${kidOfKey(lost)}"`),
  })
})

t.test('with the environment a rotation encrypts everything again, and a second one has nothing to do', async (t) => {
  const [old, fresh] = [newKey(), newKey()]
  const service = await sealedUnder(t, old)
  const env = envOf(service, fresh, old)
  t.match(await runCli(['config', 'keys', 'rotate', '--dry-run', '--json'], { env }), {
    code: 0,
    stdout: /"dry_run":true.*"resealed":0,"left":3/,
  })
  const done = await runCli(['config', 'keys', 'rotate', '--json'], { env })
  t.equal(done.code, 0)
  t.same(JSON.parse(done.stdout), {
    dry_run: false,
    kid: kidOfKey(fresh),
    resealed: 3,
    left: 0,
    broken: 0,
    unknown_keys: [],
  })
  t.match(await runCli(['config', 'keys', 'rotate', '--json'], { env }), { code: 0, stdout: /"resealed":0,"left":0/ })
  t.match(await runCli(['config', 'keys', 'rotate'], { env: envOf(service, fresh) }), {
    code: 0,
    stderr: /There is one key/,
  })
})

t.test('what cannot be decrypted is reported, and the old key is then still needed: exit code 1', async (t) => {
  const [old, fresh] = [newKey(), newKey()]
  const service = await sealedUnder(t, old)
  await service.owner.query(
    `update merchants set webhook_signing_secret = left(webhook_signing_secret, -4) || 'AAAA'
     where id = (select id from merchants order by id limit 1)`,
  )
  t.match(await runCli(['config', 'keys', 'rotate', '--json'], { env: envOf(service, fresh, old) }), {
    code: 1,
    stdout: /"resealed":2,"left":1,"broken":1/,
  })
})

t.test('wrong keys and missing databases are reported without a key', async (t) => {
  const key = newKey()
  for (const env of [
    { SVC_ENCRYPTION_KEY: 'c4n4ry', SVC_DATABASE_URL: 'postgres://127.0.0.1:1/x' },
    { SVC_ENCRYPTION_KEY: key, SVC_ENCRYPTION_KEY_PREVIOUS: key },
  ]) {
    const { code, stdout, stderr } = await runCli(['config', 'keys', 'list'], { env })
    t.equal(code, 2)
    t.notOk(`${stdout}${stderr}`.includes(key) || stderr.includes('c4n4ry'))
  }
  t.match(await runCli(['config', 'keys', 'rotate'], { env: { SVC_ENCRYPTION_KEY: key } }), {
    code: 2,
    stderr: /no database is named/,
  })
  const away = { SVC_ENCRYPTION_KEY: key, SVC_DATABASE_URL: 'postgres://127.0.0.1:1/x' }
  t.match(await runCli(['config', 'keys', 'list'], { env: away }), { code: 1, stderr: /^Error: / })
  t.match(await runCli(['config', 'keys', 'list', '--state-dir', t.testdir()], {}), {
    code: 6,
    stderr: /Try: to make one: svc .*up\n/,
  })
  t.match(await runCli(['config', 'keys', 'rotate', '--state-dir', t.testdir()], {}), {
    code: 6,
    stderr: /Try: to make one: svc .*up\n/,
  })
})

t.test('a fresh key is printed and can be used', async (t) => {
  const { code, stdout } = await runCli(['config', 'keys', 'create', '-o', 'id'])
  t.equal(code, 0)
  t.equal(kidOfKey(stdout.trim()).length, 8)
  t.not((await runCli(['config', 'keys', 'create', '-o', 'id'])).stdout, stdout)
})

t.test('with a state directory: rotate, and restart', async (t) => {
  const stateDir = t.testdir()
  const words = ['--state-dir', stateDir]
  const [old = ''] = await ensureKeyRing(stateDir)
  t.match(await runCli(['config', 'keys', 'list', ...words]), { code: 2, stderr: /no database is named/ })
  const service = await sealedUnder(t, old)
  pretendRunning(stateDir, service, kidOfKey(old))

  const text = readFileSync(keyFile(stateDir), 'utf8')
  t.match(await runCli(['config', 'keys', 'rotate', '--dry-run', ...words]), { code: 0, stderr: /Nothing was changed/ })
  t.equal(readFileSync(keyFile(stateDir), 'utf8'), text)
  const rotated = await runCli(['config', 'keys', 'rotate', ...words])
  t.match(rotated, { code: 0, stderr: /continues to use the previous key[^]*svc .*down/ })
  const [fresh = '', ...previous] = readKeyRing(stateDir) ?? []
  t.same(previous, [old])
  for (const key of [fresh, old]) t.notOk(`${rotated.stdout}${rotated.stderr}`.includes(key))
  const listed = await runCli(['config', 'keys', 'list', ...words])
  t.match(listed, { code: 0, stderr: new RegExp(`still seals under ${kidOfKey(old)}`) })
  t.match(listed.stdout, new RegExp(`${kidOfKey(fresh)} +current +0[^]*${kidOfKey(old)} +previous +3`))
  const values = await service.owner.query('select webhook_signing_secret from merchants')
  t.ok(
    values.rows.every(({ webhook_signing_secret: sealed }) => sealed.startsWith(`v1.${kidOfKey(old)}.`)),
    'beside the running service nothing is sealed under its unknown key',
  )
})
