import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Argument, Command } from 'commander'
import t from 'tap'
import { packageRoot } from '../../../src/lib/package-root.ts'
import { runCli } from '../harness.ts'
import { examplesIn, wordsOf } from '../help-examples.ts'
import { ELSEWHERE } from './elsewhere.ts'
import { judgeError, makeCheck } from './judge-error.ts'
import type { Check } from './judge-error.ts'
import { ROWS } from './rows.ts'
import { leavesOf } from './tree.ts'
import type { Leaf } from './tree.ts'

const { program, leaves, said } = await leavesOf()

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
  for (const argument of command.registeredArguments.filter(({ required }) => required)) {
    await isRefused(check, [...words, ...given, ...mandatory(command)], [`'${argument.name()}'`])
    given.push(someOf(argument))
  }
  for (const { long } of command.options.filter((each) => each.mandatory))
    await isRefused(check, [...words, ...given, ...mandatory(command, long)], [`${long} `])
})

rule('a value that is none of the choices is refused with all of them', async ({ words, command }, check) => {
  for (const { long, short, argChoices } of command.options)
    if (argChoices !== undefined) await isRefused(check, [...words, long ?? short ?? '', 'no-such-choice'], argChoices)
  for (const [index, { argChoices }] of command.registeredArguments.entries()) {
    const before = command.registeredArguments.slice(0, index).map(someOf)
    if (argChoices === undefined) continue
    // What is missing is told first.
    const after = command.registeredArguments.slice(index + 1).map(someOf)
    await isRefused(check, [...words, ...before, 'no-such-choice', ...after, ...mandatory(command)], argChoices)
  }
})

rule('every option and argument says what it is for', ({ command }, check) => {
  for (const option of command.options) check(option.hidden || /\S/.test(option.description), option.flags)
  for (const argument of command.registeredArguments) check(/\S/.test(argument.description), argument.name())
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
function mandatory({ options }: Command, without: string | null = null): string[] {
  return options
    .filter((option) => option.mandatory && option.long !== without)
    .flatMap((option) => [option.long ?? '', option.argChoices?.[0] ?? 'something'])
}

function someOf({ argChoices }: Argument): string {
  return argChoices?.[0] ?? 'something'
}

t.test('the examples of every help are command lines that are taken', async (t) => {
  const commands = everyCommand(program)
  const helps = commands.map((command) => {
    said.length = 0
    command.outputHelp()
    return said.join('')
  })
  let taken = 0
  for (const command of commands) command.action(() => void (taken += 1))
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

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}
