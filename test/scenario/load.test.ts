import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { rerunOf } from '../../cli/scenario/commands/run-options.ts'
import { listBuiltIns } from '../../cli/scenario/read/find-files.ts'
import { loadScenarios, readVars } from '../../cli/scenario/read/load.ts'
import type { Case } from '../../cli/scenario/read/read-case.ts'
import { runCli } from '../cli/harness.ts'
import { PAY, casesOf, scenarioOf } from './read.ts'

const CODE = scenarioOf(
  ['http: { get: /payments/nothing, expect: { http: $code, body: { on: $on } } }'],
  'vars: { code: 404, on: true }\n',
)

t.test("a variable of the command line takes on the type of the file's own", async (t) => {
  const amount = scenarioOf(['pay: { as: p1, amount: $code, currency: GBP }'], 'vars: { code: "1.00" }\n')
  const cwd = t.testdir({ 'a.yaml': CODE, 'b.yaml': amount })
  const load = (...vars: string[]): Case[] => {
    const { cases, mistakes } = loadScenarios(['.'], { cwd, vars: readVars(vars) })
    t.same(mistakes, [])
    return cases
  }
  const [first, second] = load('code=200', 'on=false')
  t.match(first?.steps[0]?.input, { expect: { http: 200, body: { on: false } } })
  t.match(second?.steps[0]?.input, { amount: '200' }, 'text where the file has text')
})

t.test('a variable of another type than its own is refused', async (t) => {
  const cwd = t.testdir({ 'a.yaml': CODE })
  for (const [word, rule] of [
    ['code=abc', /code is a whole number in a\.yaml, and not "abc"/],
    ['code=4.5', /whole number/],
    ['code=', /whole number/],
    ['code=[', /whole number/],
    ['code=9007199254740993', /whole number/],
    ['on=yes', /on is true or false in a\.yaml, and not "yes"/],
  ] as const)
    t.throws(() => loadScenarios(['a.yaml'], { cwd, vars: readVars([word]) }), { code: 'USAGE', message: rule }, word)
})

t.test("a file's own variable that can be none is the file's mistake", async (t) => {
  const cwd = t.testdir({ 'a.yaml': CODE.replace('404', '[[404]]'), 'b.yaml': CODE.replace('404', '4.04') })
  for (const file of ['a.yaml', 'b.yaml'])
    t.match(loadScenarios([file], { cwd, vars: readVars(['code=x']) }).mistakes[0]?.place, { file, line: 3 })
})

t.test('a variable that no file knows is refused, with the one that was meant', async (t) => {
  const cwd = t.testdir({ 'a.yaml': CODE, 'b.yaml': scenarioOf([PAY.replace('"5.00"', '$amount')]), 'c.yaml': 'a: [' })
  const load = (files: string[], word: string): unknown => loadScenarios(files, { cwd, vars: readVars([word]) })
  t.throws(() => load(['a.yaml', 'b.yaml'], 'cod=404'), {
    code: 'USAGE',
    message: '--var: no file has a variable "cod": did you mean "code"?',
  })
  t.throws(() => load(['a.yaml'], 'zzz=404'), { message: /there are code, on$/ })
  t.throws(() => load(['b.yaml'], 'zzz=404'), { message: /they declare none$/ })
  t.match(load(['b.yaml'], 'amount=4.00'), { cases: { length: 1 }, mistakes: [] }, 'one that is only referred to')
  t.match(load(['a.yaml', 'c.yaml'], 'cod=404'), { mistakes: [{ place: { file: 'c.yaml' } }] }, 'no YAML comes first')
  t.match(await runCli(['sandbox', 'scenarios', 'validate', 'a.yaml', '--var', 'cod=404'], { cwd }), { code: 2 })
})

t.test('links to nothing and in circles end nothing unexpectedly', async (t) => {
  const cwd = t.testdir({ good: { 'a.yaml': CODE }, bad: { 'a.yaml': CODE }, empty: {} })
  symlinkSync(join(cwd, 'nowhere'), join(cwd, 'good', 'gone.yaml'))
  symlinkSync('loop.yaml', join(cwd, 'bad', 'loop.yaml'))
  symlinkSync(join(cwd, 'nowhere'), join(cwd, 'empty', 'gone.yaml'))
  const validate = (word: string): ReturnType<typeof runCli> =>
    runCli(['sandbox', 'scenarios', 'validate', word], { cwd })
  t.match(await validate('good'), { code: 0 }, 'a link to nothing is no file')
  t.match(await validate('empty'), { code: 2, stderr: /there is no scenario file/ })
  t.match(await validate('empty/gone.yaml'), { code: 2, stderr: /scenario not found: / })
  t.match(await validate('bad'), { code: 2, stderr: /can't read .*loop\.yaml/ })
  t.match(await validate('bad/loop.yaml'), { code: 2, stderr: /can't read .*loop\.yaml/ })
})

t.test('the command that plays a case again prints no secret', async (t) => {
  const given = { var: ['amount=1.00', 'api_token=S3CRET'], tag: [], reporter: [], parallel: '1', timeout: '30s' }
  const off = { bail: false, keep: false, allowExec: false, ephemeral: false }
  const none = { only: undefined, seed: undefined, idp: undefined, authUrl: undefined }
  const again = rerunOf({ ...given, ...off, ...none })
  const [scenario] = casesOf(scenarioOf([PAY]))
  t.same(
    scenario === undefined ? '' : again(scenario),
    "svc run x.yaml --only 1 --var amount=1.00 --var 'api_token=***'",
  )
})

t.test('of a folder the YAML files are read; JSON is a scenario where it is named', async (t) => {
  const scenario = JSON.stringify({ scenario: 'v1', name: 'x', steps: [{ clock: { advance: '1h' } }] })
  const cwd = t.testdir({ 'a.yaml': scenarioOf([PAY]), 'report.json': '{"passed":1}', 'own.json': scenario, other: {} })
  const validate = (word: string): ReturnType<typeof runCli> =>
    runCli(['sandbox', 'scenarios', 'validate', word], { cwd })
  t.match(await validate('.'), { code: 0, stdout: /1 case in 1 file/ })
  t.match(await validate('own.json'), { code: 0 })
  t.match(await validate('report.json'), { code: 2, stderr: /report\.json:1:\d+/ })
  t.match(await validate('other'), { code: 2, stderr: /there is no scenario file/ })
})

t.test("a run's reports are no scenarios of it", async (t) => {
  const cwd = t.testdir({ 'a.yaml': scenarioOf([PAY]), 'x.yml': '{"half":', 'y.yaml': 'pays: {}' })
  const nowhere = ['--api-url', 'http://127.0.0.1:1', '--reporter', 'json=x.yml', '--reporter', 'tap=./y.yaml']
  t.match(await runCli(['sandbox', 'run', '.', ...nowhere], { cwd }), { code: 8 }, 'it was read, and would be played')
  const named = await runCli(['sandbox', 'run', 'a.yaml', ...nowhere, '--reporter', 'junit=a.yaml'], { cwd })
  t.match(named, { code: 2, stderr: /--reporter would write over a\.yaml, which is to be played/ })
  t.equal(readFileSync(join(cwd, 'a.yaml'), 'utf8'), scenarioOf([PAY]))
})

t.test('built-ins are found by their names and by their tags', async (t) => {
  for (const { name, tags } of listBuiltIns()) t.not(tags.length, 0, name)
  t.match(loadScenarios(['refund', 'idempotent-repeat'], { cwd: '/', vars: {} }), { files: 2 })
  t.match(await runCli(['sandbox', 'scenarios', 'show', 'consent-expirs']), { code: 6, stderr: /consent-expires/ })
  const list = (...words: string[]): ReturnType<typeof runCli> => runCli(['sandbox', 'scenarios', 'list', ...words])
  t.match(JSON.parse((await list('--tag', 'idempotency', '--json')).stdout), [
    { name: 'idempotent-repeat', tags: ['payments', 'idempotency'] },
    { name: 'same-key-at-once' },
  ])
  t.match(await list('--tag', 'refunds', '--tag', 'fees', '-o', 'id'), {
    code: 0,
    stdout: /fees-and-rounding\n[^]*refund\n/,
  })
  t.match(await list('--tag', 'nonsense'), { code: 2, stderr: /no scenario bears "nonsense"; there are .*webhooks/ })
})

t.test('svc sandbox run is svc run', async (t) => {
  const cwd = t.testdir({ 'x.yaml': 'scenario: v1\nname: x\nsteps: [{ clok: {} }]\n' })
  const short = await runCli(['run', 'x.yaml'], { cwd })
  t.match(short, { code: 2, stderr: /x\.yaml:3:11: unknown verb "clok"/ })
  t.same(await runCli(['sandbox', 'run', 'x.yaml'], { cwd }), short)
  t.match(await runCli(['sandbox', 'trigger', '--list']), { code: 2, stderr: /Try: svc trigger --list\n/ })
  t.match(await runCli(['trigger', 'payment.nothing']), { code: 2 })
})
