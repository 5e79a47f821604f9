import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import { freePort } from './free-port.ts'

/** The release that the contract is tested on, and what its archive must be. */
const KEYCLOAK_VERSION = '26.7.4'
const ARCHIVE_SHA256 = 'a286e98b4296d4e75ee88d8527c7cd463b307caa022f088c9f22cffccc741fa1'
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy'

const START_TIMEOUT_MS = 120_000
const STOP_TIMEOUT_MS = 20_000

/** Why there is no Keycloak to test with, for a person; no failure of the code under test. */
export class NoKeycloakError extends Error {
  override readonly name = 'NoKeycloakError'
}

/**
 * The folder of a Keycloak: `KEYCLOAK_HOME`, or the pinned release, which Maven fetches once and which is kept.
 * @throws {NoKeycloakError}
 */
export async function keycloakHome(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  if (!succeeds(javaOf(env), ['-version'])) throw new NoKeycloakError('Java 17, 21 or 25 is not installed')
  const given = env['KEYCLOAK_HOME']
  if (given !== undefined && given !== '') {
    if (existsSync(join(given, 'bin', 'kc.sh'))) return given
    throw new NoKeycloakError('KEYCLOAK_HOME has no bin/kc.sh')
  }
  const cache = env['SVC_KEYCLOAK_CACHE'] ?? join(homedir(), '.cache', 'svc-keycloak')
  const home = join(cache, `keycloak-${KEYCLOAK_VERSION}`)
  if (existsSync(join(home, 'bin', 'kc.sh'))) return home
  mkdirSync(cache, { recursive: true })
  await unpack(await fetchArchive(cache), home)
  return home
}

/** The version text in a Keycloak's folder, such as "Keycloak - Version 26.7.4". */
export function versionOf(home: string): string {
  return readFileSync(join(home, 'version.txt'), 'utf8').trim().replace(' - Version', '')
}

function javaOf(env: NodeJS.ProcessEnv): string {
  const home = env['JAVA_HOME']
  return home === undefined || home === '' ? 'java' : join(home, 'bin', 'java')
}

function succeeds(command: string, args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

async function fetchArchive(cache: string): Promise<string> {
  const archive = join(cache, `keycloak-quarkus-dist-${KEYCLOAK_VERSION}.zip`)
  if (!existsSync(archive)) {
    if (!succeeds('mvn', ['-version'])) {
      throw new NoKeycloakError('Maven, which fetches Keycloak, is not installed; KEYCLOAK_HOME may name one that is')
    }
    const artifact = `-Dartifact=org.keycloak:keycloak-quarkus-dist:${KEYCLOAK_VERSION}:zip`
    const args = ['-q', '-B', COPY, artifact, `-DoutputDirectory=${cache}`]
    if (spawnSync('mvn', args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: 300_000 }).status !== 0) {
      throw new NoKeycloakError(`Maven could not fetch Keycloak ${KEYCLOAK_VERSION}`)
    }
  }
  const hash = createHash('sha256')
  await pipeline(createReadStream(archive), hash)
  if (hash.digest('hex') === ARCHIVE_SHA256) return archive
  rmSync(archive)
  throw new Error(`the archive of Keycloak ${KEYCLOAK_VERSION} is not the one that was pinned, and was removed`)
}

/** Renamed into place, so that no process finds half of it. */
async function unpack(archive: string, home: string): Promise<void> {
  const folder = await mkdtemp(`${home}-`)
  try {
    const isUnpacked =
      succeeds('unzip', ['-q', archive, '-d', folder]) ||
      // Java brings a tool for it where the system has none.
      spawnSync('jar', ['xf', archive], { cwd: folder, stdio: 'ignore' }).status === 0
    if (!isUnpacked) throw new NoKeycloakError('neither unzip nor jar is installed')
    const kc = join(folder, `keycloak-${KEYCLOAK_VERSION}`)
    spawnSync('chmod', ['+x', join(kc, 'bin', 'kc.sh')])
    if (!existsSync(home)) renameSync(kc, home)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The bootstrap client: it may do everything, so only the set-up uses it. */
export type Bootstrap = { clientId: string; clientSecret: string }

export type KeycloakServer = {
  url: string
  /** Starts it again on the same books, at the same address. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Stops it, and removes its books. */
  close(): Promise<void>
}

/** A Keycloak in development mode on free ports, with books of its own; not started yet. */
export async function makeKeycloakServer(home: string, bootstrap: Bootstrap): Promise<KeycloakServer> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-keycloak-'))
  const [port, managementPort] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${port}`
  const log = join(folder, 'keycloak.log')
  let child: ChildProcess | undefined

  async function stop(): Promise<void> {
    const stopped = child
    child = undefined
    if (stopped !== undefined) await end(stopped)
  }

  async function start(): Promise<void> {
    const output = openSync(log, 'a')
    child = spawn('sh', ['-c', WATCHED, 'sh', join(home, 'bin', 'kc.sh')], {
      detached: true,
      stdio: ['pipe', output, output],
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        KC_BOOTSTRAP_ADMIN_CLIENT_ID: bootstrap.clientId,
        KC_BOOTSTRAP_ADMIN_CLIENT_SECRET: bootstrap.clientSecret,
        KC_DB: 'dev-file',
        KC_DB_URL: `jdbc:h2:file:${join(folder, 'h2', 'keycloakdb')};NON_KEYWORDS=VALUE;DB_CLOSE_ON_EXIT=FALSE`,
        KC_CACHE: 'local',
        KC_HTTP_HOST: '127.0.0.1',
        KC_HTTP_PORT: String(port),
        KC_HTTP_MANAGEMENT_PORT: String(managementPort),
        KC_HEALTH_ENABLED: 'true',
        JAVA_OPTS_KC_HEAP: '-Xms64m -Xmx640m',
      },
    })
    const ready = `http://127.0.0.1:${managementPort}/health/ready`
    if (await isReady(ready, child)) return
    await stop()
    throw new Error(`Keycloak did not start:\n${readFileSync(log, 'utf8').slice(-4_000)}`)
  }

  return {
    url,
    start,
    stop,
    close: async () => {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Ends when its standard input does, so it is never left behind by whoever started it, however that ended. */
const WATCHED = 'exec 3<&0; nice "$1" start-dev </dev/null & kc=$!; (read -r _ <&3; kill -TERM $kc) & wait $kc'

async function isReady(url: string, child: ChildProcess): Promise<boolean> {
  const until = performance.now() + START_TIMEOUT_MS
  while (performance.now() < until && child.exitCode === null && child.signalCode === null) {
    try {
      const { statusCode, body } = await request(url, { headersTimeout: 1_000, bodyTimeout: 1_000 })
      await body.dump()
      if (statusCode === 200) return true
    } catch {
      // It is still on its way.
    }
    await delay(250)
  }
  return false
}

async function end(child: ChildProcess): Promise<void> {
  const { pid } = child
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<true>((resolve) => child.once('exit', () => resolve(true)))
  child.stdin?.end()
  if (await Promise.race([ended, delay(STOP_TIMEOUT_MS, false, { ref: false })])) return
  // The whole group: the shell, and the server under it.
  process.kill(-pid, 'SIGKILL')
  await ended
}
