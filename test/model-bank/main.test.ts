import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { parse } from 'yaml'
import { packageRoot } from '../../src/lib/package-root.ts'

const MAIN = join(packageRoot(), 'src/model-bank/main.ts')

t.test('the process writes its files, says where it is, and ends on SIGTERM', async (t) => {
  const dir = t.testdir({})
  const child = spawn(process.execPath, [MAIN, '--dir', dir, '--port', '0', '--control-port', '0'])
  t.teardown(() => child.kill('SIGKILL'))
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const ready = JSON.parse(line) as { ready: true; issuer: string; controlUrl: string; profiles: string }
  t.match(ready, {
    ready: true,
    issuer: /^https:\/\/127\.0\.0\.1:\d+$/,
    controlUrl: /^http:/,
    profiles: join(dir, 'profiles.yaml'),
  })

  const profiles: unknown = parse(await readFile(ready.profiles, 'utf8'))
  t.match(profiles, {
    banks: [
      {
        id: 'model',
        issuer: ready.issuer,
        ca: 'model-bank-ca.pem',
        client: { registration: 'dynamic', token_auth: 'private_key_jwt', audience: 'token_endpoint' },
        payments: { base_url: `${ready.issuer}/open-banking/v4.0/pisp`, version: '4.0' },
      },
    ],
  })
  const statement = JSON.parse(await readFile(join(dir, 'software-statement.json'), 'utf8')) as {
    transport: { key: string }
  }
  t.match(statement, { org_id: String, software_id: String, signing: { kid: String, key: 'signing-key.pem' } })
  t.match(await readFile(join(dir, statement.transport.key), 'utf8'), /^-----BEGIN PRIVATE KEY-----/)
  t.match(await (await fetch(`${ready.controlUrl}/books`)).json(), { consents: [], payments: [] })

  child.kill('SIGTERM')
  t.same(await once(child, 'exit'), [0, null])
})

t.test('an address of localhost over https, which gets no token later, is rejected at the start', async (t) => {
  const uri = ['--redirect-uri', 'https://localhost:8443/bank/return']
  const child = spawn(process.execPath, [MAIN, '--dir', t.testdir({}), '--port', '0', '--control-port', '0', ...uri])
  let text = ''
  child.stderr.on('data', (chunk) => (text += String(chunk)))
  t.not((await once(child, 'close'))[0], 0)
  t.match(text, 'name its address: https://127.0.0.1:8443/bank/return')
})
