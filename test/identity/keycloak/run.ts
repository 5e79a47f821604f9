import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { packageRoot } from '../../../src/lib/package-root.ts'
import type { RunningKeycloak } from '../../support/keycloak.ts'
import { NoKeycloakError, keycloakHome, makeKeycloakServer, versionOf } from '../../support/keycloak-server.ts'
import type { KeycloakServer } from '../../support/keycloak-server.ts'
import { addProvisioner } from '../../support/keycloak-setup.ts'
import { runFiles } from '../../support/run-files.ts'

/*
 * npm run test:keycloak: the contract of the identity provider, and what is Keycloak's alone, against a real server.
 * Files may be named, to run those alone. Ends with 75 where there is no Keycloak to be had.
 */
const NOT_HERE = 75

const secret = (): string => randomBytes(24).toString('base64url')

const server = (folder: string): string[] =>
  readdirSync(join(packageRoot(), folder))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file))

/** These stop the server, start it again, or use the realms of svc's own, so nothing else runs beside them. */
const ALONE = /isolation\.test\.ts$|(happy-path|outage|verifier)\.ts$/

async function main(named: string[]): Promise<number> {
  const began = performance.now()
  const since = (): string => `${((performance.now() - began) / 1000).toFixed(0)} s`
  const home = await keycloakHome()
  const bootstrap = { clientId: 'bootstrap', clientSecret: secret() }
  const keycloak = await makeKeycloakServer(home, bootstrap)
  const control = await takeOrders(keycloak)
  try {
    await keycloak.start()
    const provisioner = { clientId: 'svc-provisioner', clientSecret: secret() }
    await addProvisioner(keycloak.url, bootstrap, provisioner)
    console.log(`${versionOf(home)} from ${home} answers at ${keycloak.url} after ${since()}`)
    const running: RunningKeycloak = { authUrl: keycloak.url, control: control.url, ...provisioner }
    const all =
      named.length > 0 ? named : [...server('test/identity/contract'), ...server('test/identity/keycloak/server')]
    const env = { SVC_TEST_PROVIDER: 'keycloak', SVC_TEST_KEYCLOAK: JSON.stringify(running) }
    const run = async (files: readonly string[], processes: number): Promise<number> =>
      files.length === 0 ? 0 : runFiles(files, { name: 'keycloak', processes, env })
    const beside = await run(
      all.filter((file) => !ALONE.test(file)),
      2,
    )
    const alone = await run(
      all.filter((file) => ALONE.test(file)),
      1,
    )
    console.log(`${versionOf(home)}: ${beside || alone ? 'failed' : 'passed'} after ${since()}`)
    return beside || alone
  } finally {
    control.close()
    await keycloak.close()
  }
}

/** Tests are processes of their own, and ask over HTTP. */
async function takeOrders(keycloak: KeycloakServer): Promise<{ url: string; close(): void }> {
  const orders: Record<string, () => Promise<void>> = {
    '/start': keycloak.start,
    '/stop': keycloak.stop,
    '/restart': async () => {
      await keycloak.stop()
      await keycloak.start()
    },
  }
  const control = createServer((req, res) => {
    const order = orders[req.url ?? ''] ?? (() => Promise.reject(new Error('there is no such order')))
    order().then(
      () => res.writeHead(204).end(),
      (error: unknown) => res.writeHead(500).end(String(error)),
    )
  })
  control.listen(0, '127.0.0.1')
  await once(control, 'listening')
  // Listening on a port, so it has one.
  const { port } = control.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => void control.close() }
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof NoKeycloakError)) throw error
  console.log(`Keycloak is not tested here: ${error.message}.`)
  process.exitCode = NOT_HERE
}
