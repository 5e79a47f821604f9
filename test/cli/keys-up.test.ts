import { statSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { keyFile, readKeyRing } from '../../cli/service/up/key-file.ts'
import { kidOfKey } from '../../src/lib/seal.ts'
import { runCli } from './harness.ts'
import { until } from '../support/until.ts'
import { stateDirOf, upDetached } from './service.ts'

t.test('svc up takes a rotated key at its next start, and everything works under it', async (t) => {
  const stateDir = stateDirOf(t)
  const at = ['--state-dir', stateDir]
  const first = await upDetached(stateDir)
  t.match(await runCli(['payouts', 'accounts', 'list', ...at]), { code: 0 })
  const old = first.key_id ?? ''
  t.match(await runCli(['config', 'keys', 'list', '--json', ...at]), {
    code: 0,
    stdout: new RegExp(`"kid":"${old}","state":"current"`),
  })
  t.match(await runCli(['config', 'keys', 'rotate', ...at]), { code: 0, stderr: /continues to use the previous key/ })
  t.equal(statSync(keyFile(stateDir)).mode & 0o777, 0o600)
  // Authorised is enough: no key has a part in what settles it.
  const pay = [
    'payments',
    'create',
    '--amount',
    '5.00',
    '--currency',
    'GBP',
    '--approve',
    '--wait',
    'Authorised',
    ...at,
  ]
  t.match(await runCli(pay), { code: 0 }, 'the running service knows nothing of it')

  t.match(await runCli(['down', ...at]), { code: 0 })
  const second = await upDetached(stateDir)
  const [fresh = ''] = readKeyRing(stateDir) ?? []
  t.equal(second.key_id, kidOfKey(fresh))
  t.not(second.key_id, old)
  t.equal(second.merchant.webhook_secret, first.merchant.webhook_secret)
  t.match(await runCli(pay), { code: 0 }, 'the demo merchant pays with its new secret')
  t.match(await runCli(['merchants', 'list', ...at]), { code: 0 }, 'and the demo operator looks on')
  await until('the worker has encrypted everything anew', async () => {
    const { stdout } = await runCli(['config', 'keys', 'list', '--json', ...at])
    return new RegExp(`"kid":"${old}","state":"previous","values":0`).test(stdout)
  })
  t.match(await runCli(['down', ...at]), { code: 0 })
  writeFileSync(keyFile(stateDir), `${fresh}\n`, { mode: 0o600 })
  t.equal((await upDetached(stateDir)).key_id, second.key_id)
  t.match(await runCli(pay), { code: 0 }, 'without the old key')
  t.match(await runCli(['config', 'keys', 'list', ...at]), { code: 0 }, 'and nothing is missing')
})
