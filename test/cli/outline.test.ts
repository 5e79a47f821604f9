import type { Command } from 'commander'
import t from 'tap'
import type { Test } from 'tap'
import { outlineOf } from '../../cli/entry/tree/outline.ts'
import type { Outline } from '../../cli/entry/tree/outline.ts'
import type { FindOutline } from '../../cli/entry/tree/outline-file.ts'
import { makeProgram, makeWholeProgram } from '../../cli/entry/program.ts'
import { runProgram } from '../../cli/entry/run-program.ts'
import { makeIo } from './harness.ts'
import type { CliSettings, Outcome } from './harness.ts'

const NOTHING: FindOutline = () => undefined

const whole = await makeWholeProgram({ io: makeIo({}).io, exitCode: 0 })
const nouns = whole.commands.map((command) => command.name())
// As the build writes them.
const outlines = new Map<string, Outline>(
  whole.commands.map((command) => [command.name(), JSON.parse(JSON.stringify(outlineOf(command)))]),
)
const findOutline: FindOutline = (noun) => outlines.get(noun)

/** Every command with the words that name it. */
function everyCommand(command: Command = whole, words: readonly string[] = []): [string[], Command][] {
  const below = command.commands.flatMap((child) => everyCommand(child, [...words, child.name()]))
  return words.length === 0 ? below : [[[...words], command], ...below]
}

async function allHelp(settings: CliSettings, find: FindOutline): Promise<Map<string, string>> {
  const { io, stdout } = makeIo(settings)
  const program = await makeProgram({ io, exitCode: 0 }, nouns, find)
  const texts = new Map<string, string>()
  for (const [words, command] of everyCommand(program)) {
    command.outputHelp()
    texts.set(words.join(' '), stdout.splice(0).join(''))
  }
  return texts
}

async function outcomeOf(words: readonly string[], find: FindOutline, settings: CliSettings): Promise<Outcome> {
  const { io, stdout, stderr } = makeIo(settings)
  const code = await runProgram(io, words, find)
  return { code, stdout: stdout.join(''), stderr: stderr.join('') }
}

/** Holds what comes of these words by outlines against what comes of them by the commands. */
async function sameAsEver(t: Test, words: readonly string[], settings: CliSettings = {}): Promise<Outcome> {
  const slow = await outcomeOf(words, NOTHING, settings)
  t.same(await outcomeOf(words, findOutline, settings), slow, words.join(' '))
  return slow
}

for (const columns of [60, 80, 120]) {
  for (const color of ['0', '1']) {
    t.test(`help by outlines is that of the commands, ${columns} wide, FORCE_COLOR=${color}`, async (t) => {
      const settings = { tty: true, columns, env: { FORCE_COLOR: color } }
      const told = await allHelp(settings, NOTHING)
      const fast = await allHelp(settings, findOutline)
      t.ok(told.size > 200, `${told.size} commands`)
      t.same([...fast.keys()], [...told.keys()])
      for (const [words, text] of told) if (fast.get(words) !== text) t.equal(fast.get(words), text, words)
    })
  }
}

t.test('every command refuses the same flags and words, with the same hints', async (t) => {
  for (const [words, command] of everyCommand()) {
    t.equal((await sameAsEver(t, [...words, '--nonsense'])).code, 2)
    const [long] = command.options.flatMap((option) => option.long ?? [])
    if (long !== undefined) await sameAsEver(t, [...words, `${long}x`, '1'])
    const isGroup = command.commands.length > 0 && Reflect.get(command, '_actionHandler') === null
    if (!isGroup || Reflect.get(command, '_defaultCommandName') !== null) continue
    await sameAsEver(t, words)
    await sameAsEver(t, [...words, 'nonsense'])
    await sameAsEver(t, [...words, `${command.commands[0]?.name()}x`])
  }
})

t.test('help however it is asked for, and mistakes around it', async (t) => {
  const help = await sameAsEver(t, ['payments', 'create', '--help'])
  t.match(help, { code: 0, stderr: '', stdout: /^Usage: svc payments create .+[^]*Examples:[^]*Global options/ })
  for (const words of [
    ['payments', 'create', '-h'],
    ['help', 'payments', 'create'],
    ['-p', 'x', 'payments', 'create', '-o', 'json', '--help'],
    ['payments', 'create', '--amount', '1', '--help'],
  ])
    t.same(await sameAsEver(t, words), help, words.join(' '))
  for (const words of [
    [],
    ['help'],
    ['help', 'topics'],
    ['help', 'payments', 'nonsense'],
    ['paymnts', '--help'],
    ['paymnts', 'list'],
    ['payments', 'lst', '--help'],
    ['webhooks', 'endpoint'],
    ['payments', 'ls', '--help'],
    ['payments', 'show'],
    ['payments', 'show', 'a', 'b'],
    ['payments', 'create', '--amount'],
    ['payments', 'create', '--amount', '1', '--approve', '--cancel'],
    // A value that is wrong goes before help.
    ['payments', 'list', '--status', 'nonsense', '--help'],
    ['payments', 'list', '--status', 'SETTLED', '--help'],
    ['-o', 'nonsense', 'payments', '--help'],
    ['payments', 'create', '--metadata', 'a=b', '--help'],
    ['completion', 'nonsense'],
  ])
    await sameAsEver(t, words)
})

t.test('what does something is loaded, and done once', async (t) => {
  const { code, stdout } = await sameAsEver(t, ['states', 'payments', '-o', 'jsonl'])
  t.equal(code, 0)
  t.match(stdout, /^\{"machine":"payments",/)
  // What only the command itself finds wrong.
  t.match(await sameAsEver(t, ['payments', 'list', '--limit', 'many']), { code: 2, stdout: '' })
})
