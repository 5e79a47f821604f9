import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import t from 'tap'
import { askMissing } from '../../../cli/entry/tree/fill.ts'
import { partsOf, placeholderOf } from '../../../cli/entry/tree/command-data.ts'
import type { ArgumentData, CommandData } from '../../../cli/entry/tree/command-data.ts'
import { packageRoot } from '../../../src/lib/package-root.ts'
import { makeIo, runCli } from '../harness.ts'
import { examplesIn, wordsOf } from '../help-examples.ts'
import { ELSEWHERE } from './elsewhere.ts'
import { judgeError, makeCheck } from './judge-error.ts'
import type { Check } from './judge-error.ts'
import { ROWS } from './rows.ts'
import { leavesOf } from './tree.ts'
import type { Leaf } from './tree.ts'

const { program, leaves, said } = await leavesOf()
const { io } = makeIo({})

t.test('each command has a row that runs it, and each row a command', (t) => {
  const paths = leaves.map(({ path }) => path)
  t.same(
    paths.filter((path) => !(path in ROWS)),
    [],
    'without a row',
  )
  t.same(
    Object.keys(ROWS).filter((path) => !paths.includes(path)),
    [],
    'of no command',
  )
  t.end()
})

t.test('each file that commands are left to proves that it runs them', (t) => {
  for (const { elsewhere } of Object.values(ELSEWHERE))
    t.match(
      readFileSync(join(packageRoot(), elsewhere), 'utf8'),
      '\nprovesLeaves(t, import.meta.filename)\n',
      elsewhere,
    )
  t.end()
})

/** Holds every command against a rule, and tells what each does otherwise. */
function rule(name: string, judge: (leaf: Leaf, check: Check) => Promise<void> | void): void {
  void t.test(name, async (t) => {
    for (const leaf of leaves) {
      const { check, wrong } = makeCheck()
      await judge(leaf, check)
      t.same(wrong, [], leaf.path)
    }
  })
}

rule('an unknown option is refused, in the form for programs and with what to try', async ({ words }, check) => {
  const told = await runCli([...words, '--no-such-thing', '--json'])
  check(told.code === 2 && told.stdout === '', `exit code ${told.code}: ${told.stdout}`)
  check(judgeError(check, told, 'USAGE') !== null, 'no next step')
})

rule('what is missing is named', async ({ words, command }, check) => {
  const given: string[] = []
  for (const argument of command.arguments.filter(({ isRequired }) => isRequired === true)) {
    await isRefused(check, [...words, ...given, ...mandatory(command)], [placeholderOf(argument)])
    given.push(someOf(argument))
  }
  for (const long of requiredIn(command))
    await isRefused(check, [...words, ...given, ...mandatory(command, long)], [`${long} `])
})

rule('a value that is none of the choices is refused with all of them', async ({ words, command }, check) => {
  for (const option of command.options)
    if (option.choices !== undefined)
      await isRefused(check, [...words, partsOf(option).long, 'no-such-choice'], option.choices)
  for (const [index, { choices }] of command.arguments.entries()) {
    const before = command.arguments.slice(0, index).map(someOf)
    if (choices === undefined) continue
    // What is missing is told first.
    const after = command.arguments.slice(index + 1).map(someOf)
    await isRefused(check, [...words, ...before, 'no-such-choice', ...after, ...mandatory(command)], choices)
  }
})

rule('every option and argument says what it is for', ({ command }, check) => {
  for (const option of command.options) check(/\S/.test(option.summary), option.flags)
  for (const argument of command.arguments) check(/\S/.test(argument.summary), argument.name)
})

/** A command line of which nothing is done, for a reason that names these. */
async function isRefused(check: Check, words: readonly string[], named: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await runCli(words)
  const [first = '', ...rest] = stderr.split('\n')
  check(code === 2 && stdout === '', `${words.join(' ')}: exit code ${code} ${stdout}`)
  check(first.startsWith('Error: ') && rest.some((line) => line.startsWith('Try: ')), `${words.join(' ')}: ${stderr}`)
  for (const each of named) check(stderr.includes(each), `${words.join(' ')} does not name ${each}: ${stderr}`)
}

/** The options that a command must have, but for one of them. */
function mandatory({ options }: CommandData, without?: string): string[] {
  return options
    .filter((option) => option.isRequired === true && partsOf(option).long !== without)
    .flatMap((option) => [partsOf(option).long, option.choices?.[0] ?? 'something'])
}

function requiredIn({ options }: CommandData): string[] {
  return options.filter(({ isRequired }) => isRequired === true).map((option) => partsOf(option).long)
}

function someOf({ choices }: ArgumentData): string {
  return choices?.[0] ?? 'something'
}

t.test('the examples of every help are command lines that are taken', async (t) => {
  const commands = everyCommand(program)
  const helps = commands.map((command) => {
    said.length = 0
    command.outputHelp()
    return said.join('')
  })
  let taken = 0
  for (const { words, command: data } of leaves)
    commandOf(words).action(async function act(this: Command) {
      await askMissing(this, { data, help: '', io })
      taken += 1
    })
  const examples = new Set(helps.flatMap(examplesIn).flatMap((line) => line.split(/(?: \||;| &&) svc /)))
  t.ok(examples.size > 200, `${examples.size} examples`)
  const refused: string[] = []
  for (const example of examples) {
    taken = 0
    // What a shell does with the rest is not ours.
    const words = wordsOf(example.replace(/ (\||[0-9]?>|<|&&) .*$/, ''))
    await program.parseAsync(words, { from: 'user' }).catch((error: unknown) => refused.push(`${example}: ${error}`))
    if (taken !== 1) refused.push(example)
  }
  t.same(refused, [])
})

function commandOf(words: readonly string[]): Command {
  return words.reduce((above, word) => above.commands.find((each) => each.name() === word) ?? above, program)
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}
