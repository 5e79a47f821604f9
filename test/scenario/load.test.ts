import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadScenarios, readVars } from '../../cli/scenario/load.ts'
import type { Case } from '../../cli/scenario/read-scenarios.ts'
import { runCli } from '../cli/harness.ts'
import { PAY, scenarioOf } from './read.ts'

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
  const cwd = t.testdir({ 'a.yaml': CODE.replace('404', '[404]'), 'b.yaml': CODE.replace('404', '4.04') })
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
  t.match(await validate('empty/gone.yaml'), { code: 2, stderr: /is no file/ })
  t.match(await validate('bad'), { code: 2, stderr: /can't read .*loop\.yaml/ })
  t.match(await validate('bad/loop.yaml'), { code: 2, stderr: /can't read .*loop\.yaml/ })
})
