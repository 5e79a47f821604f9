import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { Parser } from 'tap-parser'
import { parse } from 'yaml'
import { run } from '../../cli/entry/run.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { PAY, scenarioOf } from '../scenario/read.ts'
import { assertWellFormed } from '../scenario/well-formed.ts'
import { testService } from '../support/app.ts'
import { makeIo, runCli } from './harness.ts'
import type { Outcome } from './harness.ts'

const SERVICE = testService(t, { worker: true })
const STORIES = join(packageRoot(), 'examples/scenarios')

/** As in a folder of the user's, on the service that all of these tests have. */
async function play(cwd: string, ...words: string[]): Promise<Outcome> {
  const env = { SVC_API_URL: (await SERVICE).url, SVC_PLATFORM_USER: 'tester', PATH: process.env['PATH'] }
  return runCli(['sandbox', 'run', ...words], { cwd, env })
}

const named = (name: string, ...steps: string[]): string => scenarioOf(steps).replace('a case', name)
const tagged = (tags: string): string => scenarioOf([PAY], `tags: [${tags}]\n`).replace('a case', `tagged ${tags}`)

type RunReport = { cases: { name: string; merchant_id: string; payments: object[]; events: object[] }[] }

/** What a run told in JSON of the things that its cases made. */
function toldOf({ stdout }: Outcome): RunReport['cases'] {
  const { cases }: RunReport = JSON.parse(stdout)
  return cases.map(({ name, merchant_id, payments, events }) => ({ name, merchant_id, payments, events }))
}

/** What runs that have ended, or have not, left in a temporary directory. */
function leaveBehind(folder: string): { staying: string[] } {
  const { pid: ended } = spawnSync('true')
  const leave = (name: string, ...files: string[]): string => {
    mkdirSync(join(folder, name), { mode: 0o700 })
    for (const file of files) writeFileSync(join(folder, name, file), '')
    return name
  }
  leave(`svc-ephemeral-${ended}-crashed`, 'svc.lock')
  // Its database is said to be somewhere else than databases are.
  leave(`svc-ephemeral-${ended}-forged`, 'svc.lock')
  const elsewhere = leave('elsewhere', 'precious')
  const dataDirectory = join(folder, elsewhere, 'postgres')
  writeFileSync(join(folder, `svc-ephemeral-${ended}-forged`, 'postgres.json'), JSON.stringify({ dataDirectory }))
  const open = leave(`svc-ephemeral-${ended}-open-to-others`, 'svc.lock')
  chmodSync(join(folder, open), 0o777)
  const linked = `svc-ephemeral-${ended}-linked`
  symlinkSync(join(folder, elsewhere), join(folder, linked))
  const staying = [
    open,
    linked,
    leave(`svc-ephemeral-${ended}-kept`, 'svc.lock', 'kept'),
    leave(`svc-ephemeral-${process.pid}-under-way`, 'svc.lock'),
    leave('svc-ephemeral-of-somebody', 'svc.lock'),
  ]
  return { staying: staying.toSorted() }
}

t.test('a seed decides the order and the ids on a service of its own, which leaves nothing behind', async (t) => {
  // A temporary directory of its own: others make such services at the same time.
  const usual = process.env['TMPDIR']
  const own = mkdtempSync(join(tmpdir(), 'svc-own-'))
  process.env['TMPDIR'] = own
  t.teardown(() => {
    if (usual === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = usual
    rmSync(own, { recursive: true, force: true })
  })
  const left = leaveBehind(own)
  const stories = ['happy-path', 'currencies', 'dispute-accepted', 'two-merchants']
  async function ephemeral(seed: string, ...words: string[]): Promise<RunReport['cases']> {
    const env = { PATH: process.env['PATH'] }
    const flags = ['--ephemeral', '--parallel', '4', '--seed', seed, '--json', ...words]
    const outcome = await runCli(['sandbox', 'run', ...stories, ...flags], { env })
    t.equal(outcome.code, 0, outcome.stderr)
    t.same(
      readdirSync(own)
        .filter((name) => name.startsWith('svc-ephemeral-'))
        .toSorted(),
      left.staying,
    )
    return toldOf(outcome)
  }
  const first = await ephemeral('7')
  t.equal(first.length, 5)
  t.ok(first.every(({ payments, events }) => payments.length > 0 && events.length > 1))
  t.same(await ephemeral('7', '--idp', 'none'), first, 'whoever proves identities')
  const other = await ephemeral('8', '--idp', 'none')
  t.not(other.map(({ name }) => name).join(), first.map(({ name }) => name).join(), 'another order')
  const idsOf = (cases: RunReport['cases']): string[] =>
    cases.flatMap(({ merchant_id: id, payments, events }) => [
      id,
      ...[...payments, ...events].map((one) => JSON.stringify(one)),
    ])
  const before = new Set(idsOf(first))
  t.same(
    idsOf(other).filter((id) => before.has(id)),
    [],
  )
  t.ok(existsSync(join(own, 'elsewhere', 'precious')))

  const { io, stderr } = makeIo({ env: { PATH: process.env['PATH'] }, calledAs: 'npx svc', tty: true })
  const ended = run(['sandbox', 'run', 'happy-path', '--ephemeral', '--idp', 'none', '--keep'], io)
  await until(t, () => stderr.length > 0, 'it starts')
  process.emit('SIGINT', 'SIGINT')
  t.equal(await ended, 130, 'interrupted while it starts')
  t.match(
    stderr.join(''),
    /^starting a service…\nstopping…\nthe data stays: npx svc up --state-dir (\S+)\nto delete it: rm -r (\S+ )?\1\n$/,
  )
  for (const folder of stderr.join('').split('rm -r ')[1]?.trim().split(' ') ?? [])
    rmSync(folder, { recursive: true, force: true })
})

t.test('--tag plays what bears one of the tags', async (t) => {
  const cwd = t.testdir({ 'a.yaml': ['smoke', 'smoke, refunds', 'slow'].map(tagged).join('---\n') })
  const smoke = await play(cwd, '.', '--tag', 'smoke')
  t.match(smoke, { code: 0, stdout: /tagged smoke .*\n.*tagged smoke, refunds[^]*2 passed/ })
  t.match(await play(cwd, '.', '--tag', 'refunds', '--tag', 'slow'), { code: 0, stdout: /2 passed/ })
  t.match(await play(cwd, '.', '--tag', 'smok'), {
    code: 2,
    stderr: /no case bears "smok"; there are refunds, slow, smoke/,
  })
})

t.test('--keep prints what there is to look at, and it is there', async (t) => {
  const cwd = t.testdir({ 'a.yaml': named('kept', PAY) })
  const { code, stdout } = await play(cwd, '.', '--keep')
  t.equal(code, 0)
  const payment = /payment +(\S+) \(\$p1\)/.exec(stdout)?.[1] ?? ''
  const merchant = /merchant (\S+)/.exec(stdout)?.[1] ?? ''
  const { rows } = await (await SERVICE).owner.query('select merchant_id from payment_intents where id = $1', [payment])
  t.same(rows, [{ merchant_id: merchant }])
  const quiet = await play(cwd, '.')
  t.notMatch(quiet.stdout, /merchant /)
})

t.test('a step exec runs with --allow-exec alone', async (t) => {
  const own = readFileSync(join(packageRoot(), 'examples/commands/own-check.yaml'), 'utf8')
  const cwd = t.testdir({ 'own.yaml': own, 'a.yaml': named('a payment', PAY) })
  const refused = await play(cwd, '.')
  t.match(refused, { code: 2, stdout: '', stderr: /own\.yaml:8:5.*is not allowed[^]*--allow-exec/ })
  t.match(await play(cwd, '.', '--allow-exec'), { code: 0, stdout: /a check of one's own[^]*2 passed/ })
  t.match(await play(cwd, 'a.yaml'), { code: 0 }, 'and is in nobody’s way who does not play it')
})

t.test('several reports of one run are each well-formed, and tell the same', async (t) => {
  const failing = named(
    'fails',
    'parallel: [ pay: { amount: "0.00", currency: GBP }, pay: { as: p1, amount: "5.00", currency: GBP } ]',
  )
  const cwd = t.testdir({ 'a.yaml': [named('passes', PAY), failing].join('---\n') })
  const forms = ['pretty', 'tap=out.tap', 'junit=out.xml', 'json=out.json'].flatMap((form) => ['--reporter', form])
  const { code, stdout } = await play(cwd, '.', '--seed', '7', ...forms)
  t.equal(code, 3)
  t.match(stdout, /1 failed, 1 passed in .* cases a second\)/)
  t.match(stdout, /Again: svc run a\.yaml --only 2 --seed 7/)
  const read = (file: string): string => readFileSync(join(cwd, file), 'utf8')
  assertWellFormed(read('out.xml'))
  t.match(stdout, /cases a second\), seed 7\n/)
  t.match(read('out.xml'), /<properties><property name="seed" value="7"\/>/)
  t.match(read('out.tap'), /^# seed 7$/m)
  t.match(JSON.parse(read('out.json')), { seed: '7' })
  t.match(read('out.xml'), /tests="2" failures="1"/)
  t.match(JSON.parse(read('out.json')), {
    passed: 1,
    failed: 1,
    cases: [{ name: 'passes' }, { failure: { label: '1.1' } }],
  })
  const tap = await new Promise<object>((resolve) => {
    const parser = new Parser({ strict: true }, resolve)
    parser.end(read('out.tap'))
  })
  t.match(tap, { ok: false, count: 2, pass: 1, fail: 1, plan: { start: 1, end: 2 } })
})

t.test('a story that needs what the service has not is skipped, with the reason in every form', async (t) => {
  const cwd = t.testdir({ 'a.yaml': named('passes', PAY) })
  const forms = ['pretty', 'tap=out.tap', 'junit=out.xml', 'json=out.json'].flatMap((form) => ['--reporter', form])
  const { code, stdout } = await play(cwd, 'mandate-caps', 'a.yaml', ...forms)
  t.equal(code, 0)
  t.match(stdout, /^- a mandate with caps \(skipped: .*SVC_VRP_CAPS=enforce[^]*✓ passes[^]*1 passed, 1 skipped in/)
  const read = (file: string): string => readFileSync(join(cwd, file), 'utf8')
  assertWellFormed(read('out.xml'))
  t.match(
    read('out.xml'),
    /tests="2" failures="0" errors="0" skipped="1"[^]*<skipped message="this service does not hold/,
  )
  t.match(JSON.parse(read('out.json')), {
    passed: 1,
    skipped: 1,
    not_played: 0,
    cases: [
      { passed: false, skipped: /caps/ },
      { passed: true, skipped: null },
    ],
  })
  const tap = await new Promise<object>((resolve) => void new Parser({ strict: true }, resolve).end(read('out.tap')))
  t.match(tap, { ok: true, count: 2, pass: 2, skip: 1 })
})

t.test('a step that takes long is shown on a terminal', async (t) => {
  const waits = 'payer.link: { contact: nobody@wait.example, arrives: false, within: 2500ms }'
  const cwd = t.testdir({ 'a.yaml': named('waits', waits) })
  const env = { SVC_API_URL: (await SERVICE).url, SVC_PLATFORM_USER: 'tester' }
  const { io, stderr } = makeIo({ cwd, env, tty: true })
  t.equal(await run(['sandbox', 'run', 'a.yaml'], io), 0)
  t.match(stderr.join(''), /^… payer\.link: .*nobody@wait\.example/)
})

async function until(t: Test, isSo: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end; await delay(20)) if (isSo()) return
  t.fail(`waited for ${what}`)
}

t.test('what contradicts itself is refused before anything is played', async (t) => {
  const cwd = t.testdir({ 'a.yaml': named('never', PAY) })
  t.match(await play(cwd, '.', '--idp', 'none'), { code: 2, stderr: /--ephemeral/ })
  t.match(await play(cwd, '.', '--auth-url', 'http://x'), { code: 2, stderr: /--ephemeral/ })
  t.match(await play(cwd, '.', '--seed', 'a b'), { code: 2, stderr: /seed/ })
})

t.test('what the examples for CI run is understood as it stands', async (t) => {
  const read = (file: string): string => readFileSync(join(packageRoot(), 'examples/ci', file), 'utf8')
  const github = parse(read('github-actions.yml'))
  const gitlab = parse(read('gitlab-ci.yml'))
  const lines: unknown[] = [
    ...github.jobs.scenarios.steps.map(({ run: line }: { run?: string }) => line),
    ...gitlab['payment-scenarios'].script,
    ...[...read('README.md').matchAll(/`(npx --no svc run [^`]+)`/g)].map(([, line]) => line),
  ]
  const commands = lines.filter((line) => typeof line === 'string').filter((line) => line.includes(' svc '))
  t.equal(commands.length, 5)
  for (const command of commands) {
    const words = command
      .replace(/"\$\w+"/, '4711')
      .replace('… ', 'examples/scenarios ')
      .trim()
      .split(/\s+/)
      .slice(3)
    t.ok(command.startsWith('npx --no svc '), command)
    // Nothing is played of a folder without scenarios, which is found out after the flags were read.
    const empty = t.testdir({ empty: {} })
    const outcome = await runCli(
      words.map((word) => word.replace('examples/scenarios', 'empty')),
      { cwd: empty },
    )
    t.match(outcome, { code: 2, stderr: /there is no scenario file/ }, command)
  }
  t.equal(github.jobs.scenarios.steps.at(-2).with.report_paths, 'out.xml')
  t.equal(gitlab['payment-scenarios'].artifacts.reports.junit, 'out.xml')
  const { code, stdout } = await runCli(['sandbox', 'scenarios', 'validate', STORIES])
  t.match({ code, stdout }, { code: 0, stdout: /cases in \d+ files/ })
})
