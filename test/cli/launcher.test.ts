import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { runningState } from '../../cli/client/find-service.ts'
import { until } from '../support/until.ts'
import { LAUNCHER, cleanEnv, databaseProcesses, nodeCommand, stateDirOf, svc } from './service.ts'

// Another Node.js than the one of the package, where the machine has an old one.
const OLD_NODE = ['/usr/bin/node', '/usr/local/bin/node', '/opt/node/bin/node'].find((path) => {
  const version = spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout ?? ''
  return /^v(1[4-9]|2[0-3])\./.test(version)
})
const skip = OLD_NODE === undefined ? 'there is no older Node.js on this machine' : false

/** A copy of the launcher in a package without dist/ and without a Node.js beside it. */
function lonePackage(t: Test, { isDependency = false } = {}): string {
  const own = { bin: {}, 'package.json': '{"type":"module"}' }
  const tested = t.testdir(isDependency ? { node_modules: { svc: own } } : own)
  const folder = isDependency ? join(tested, 'node_modules', 'svc') : tested
  cpSync(LAUNCHER, join(folder, 'bin', 'svc.js'))
  return join(folder, 'bin', 'svc.js')
}

t.test('the launcher runs the built command line, also through a symbolic link', async (t) => {
  t.match(await svc(['--version']), { code: 0, stdout: /^\d/ })
  const link = join(t.testdir({}), 'svc')
  symlinkSync(LAUNCHER, link)
  t.match(spawnSync(...nodeCommand([link, '--version']), { env: cleanEnv(), encoding: 'utf8' }).stdout, /^\d/)
})

t.test('without a build it says how to make one', async (t) => {
  const { status, stderr } = spawnSync(...nodeCommand([lonePackage(t), '--version']), {
    env: cleanEnv(),
    encoding: 'utf8',
  })
  t.equal(status, 1)
  t.match(
    stderr,
    /^Error: svc is not built yet: \S+dist is missing\.\nTry: npm ci, which installs the packages and builds\n$/,
  )
})

for (const [where, launcherOf, hint] of [
  ['as a dependency', (t: Test) => lonePackage(t, { isDependency: true }), 'install the package again'],
  ['where the packages are', withPackages, 'npm run build'],
] as const)
  void t.test(`without a build, ${where}, it says: ${hint}`, async (t) => {
    const launcher = launcherOf(t)
    const { status, stderr } = spawnSync(...nodeCommand([launcher, '--version']), { env: cleanEnv(), encoding: 'utf8' })
    t.equal(status, 1)
    t.match(stderr, `is missing.\nTry: ${hint}\n`)
  })

function withPackages(t: Test): string {
  const folder = t.testdir({ bin: {}, 'package.json': '{"type":"module"}', node_modules: { typescript: {} } })
  cpSync(LAUNCHER, join(folder, 'bin', 'svc.js'))
  return join(folder, 'bin', 'svc.js')
}

t.test(
  'under an older Node.js it runs under the one that the package brings, and passes on exit code and signals',
  { skip },
  async (t) => {
    const old = OLD_NODE ?? ''
    const version = spawnSync(...nodeCommand([LAUNCHER, 'doctor', '--only', 'machine', '-o', 'json'], old), {
      env: cleanEnv(),
      encoding: 'utf8',
    })
    t.match(version.stdout, /Node\.js (2[4-9]|[3-9]\d)\./)
    t.equal(spawnSync(...nodeCommand([LAUNCHER, 'nonsense'], old), { env: cleanEnv() }).status, 2)
    const stateDir = stateDirOf(t)
    const child = spawn(...nodeCommand([LAUNCHER, 'up', '--port', '0', '--state-dir', stateDir], old), {
      env: cleanEnv(),
      stdio: 'ignore',
      detached: true,
    })
    const ended = once(child, 'exit')
    await until('the service is up', () => runningState(stateDir) !== undefined || child.exitCode !== null)
    t.not(runningState(stateDir)?.pid, child.pid, 'the service is the newer Node.js below the launcher')
    // A terminal's Ctrl+C goes to the whole group: the service gets it twice, for the launcher passes its own on.
    process.kill(-Number(child.pid), 'SIGINT')
    t.same(await ended, [0, null])
    t.same(databaseProcesses(stateDir), [])
  },
)

t.test('under an older Node.js with no other at hand it says what to install', { skip }, async (t) => {
  const { status, stderr } = spawnSync(...nodeCommand([lonePackage(t), '--version'], OLD_NODE), {
    env: cleanEnv(),
    encoding: 'utf8',
  })
  t.equal(status, 1)
  t.match(stderr, /needs Node\.js 24 or newer; this is v\d+[^]*npm ci/)
  const installed = spawnSync(...nodeCommand([lonePackage(t, { isDependency: true }), '--version'], OLD_NODE), {
    env: cleanEnv(),
    encoding: 'utf8',
  })
  t.equal(installed.status, 1)
  t.match(installed.stderr, /\nTry: install Node\.js 24 or newer from https:\/\/nodejs\.org\n$/)
})

for (const name of ['svc', '@svc/svc'])
  void t.test(
    `under an older Node.js, ${name} in another package runs under the one beside it`,
    { skip },
    async (t) => {
      const packages = join(t.testdir({ node_modules: {} }), 'node_modules')
      const launcher = join(packages, name, 'bin', 'svc.js')
      cpSync(join(LAUNCHER, '..', '..', 'package.json'), join(packages, name, 'package.json'))
      cpSync(LAUNCHER, launcher)
      mkdirSync(join(packages, 'node', 'bin'), { recursive: true })
      symlinkSync(process.execPath, join(packages, 'node', 'bin', 'node'))
      const { stderr } = spawnSync(...nodeCommand([launcher, '--version'], OLD_NODE), {
        env: cleanEnv(),
        encoding: 'utf8',
      })
      t.match(stderr, /^Error: svc is not built yet/, 'which the newer one says')
    },
  )

t.test('a result that can not be written is a failure, in one line', { skip: !existsSync('/dev/full') }, async (t) => {
  const run = (words: string) => {
    const command = `env -u NODE_OPTIONS "${process.execPath}" "${LAUNCHER}" ${words}`
    return spawnSync('sh', ['-c', command], { env: cleanEnv(), encoding: 'utf8' })
  }
  t.match(run('docs > /dev/full'), { status: 1, stderr: /^Error: the result can't be written: no space .*\n$/ })
  t.match(run('docs --nonsense 2> /dev/full'), { status: 2, stdout: '' })
})

t.test('a reader that has gone is no failure', async (t) => {
  const command = `env -u NODE_OPTIONS "${process.execPath}" "${LAUNCHER}" help all | head -1`
  const { stdout, stderr } = spawnSync('sh', ['-c', command], { env: cleanEnv(), encoding: 'utf8' })
  t.match(stdout, /^Run the service/)
  t.equal(stderr, '')
})
