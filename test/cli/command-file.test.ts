import { Command } from 'commander'
import t from 'tap'
import { NOUNS } from '../../cli/base/command-names.ts'
import { usageError } from '../../cli/base/errors.ts'
import { leavesOf } from '../../cli/entry/tree/command-data.ts'
import type { CommandData } from '../../cli/entry/tree/command-data.ts'
import { dataOf, describeNoun, nounsText } from '../../cli/entry/tree/describe.ts'
import { fill } from '../../cli/entry/tree/fill.ts'
import { loadNoun } from '../../cli/entry/tree/nouns.ts'
import { command } from '../../cli/kit/command.ts'
import { makeIo } from './harness.ts'

const runtime = { io: makeIo({}).io, exitCode: 0 as const }

t.test('the file of commands has a line for each noun, which is what its module says', async (t) => {
  const text = await nounsText()
  const lines = text.split('\n').slice(1, -2)
  t.same(
    lines.map((line) => JSON.parse(line.replace(/,$/, '')).name),
    NOUNS.map(({ name }) => name),
  )
  const nouns: CommandData[] = JSON.parse(text)
  for (const { name } of NOUNS)
    t.same(
      nouns.find((noun) => noun.name === name),
      await describeNoun(name),
      name,
    )
})

t.test('what a declaration says of its flags is what the parser is made of', async (t) => {
  const list = [
    { command: 'lamps', flags: { room: { value: 'name', summary: 'a' } }, details: 'In every room.' },
    command({
      command: 'lamps light',
      summary: 'Light lamps',
      details: 'All at once.',
      examples: ['svc lamps light Desk'],
      usage: '[options] <lamps...>',
      flags: {
        lamps: { value: 'lamps', summary: 'b', positional: true, required: true, several: true },
        colour: {
          short: '-c',
          value: 'colour',
          summary: 'c',
          choices: ['red', 'blue'],
          initial: 'red',
          group: 'Look:',
        },
        dimTo: { value: 'share', bare: true, summary: 'd', excludes: ['noFade'] },
        only: { value: 'kinds', summary: 'e', choices: ['led', 'neon'], repeats: true, synonyms: { L: 'led' } },
        tag: { value: 'tag', summary: 'f', repeats: true, required: true },
        noFade: { summary: 'g' },
      },
      run: () => undefined,
    }),
  ]
  const data = dataOf(['lamps'], list, 'Lamps')
  t.match(data, { summary: 'Lamps', after: '\nIn every room.\n', options: [{ flags: '--room <name>' }] })
  const [light] = data.commands
  t.strictSame(light?.arguments, [{ name: 'lamps', summary: 'b', isRequired: true, isVariadic: true }])
  t.equal(light?.usage, '[options] <lamps...>')
  t.equal(light?.after, '\nAll at once.\n\nExamples:\n  svc lamps light Desk\n')
  t.strictSame(light?.options, [
    { flags: '-c, --colour <colour>', summary: 'c', choices: ['red', 'blue'], default: 'red', group: 'Look:' },
    { flags: '--dim-to [share]', summary: 'd', conflicts: ['noFade'] },
    { flags: '--only <kinds>', summary: 'e', choices: ['led', 'neon'], synonyms: { L: 'led' }, isList: true },
    { flags: '--tag <tag>', summary: 'f', isRepeatable: true, isRequired: true },
    { flags: '--no-fade', summary: 'g' },
  ])
})

t.test('a command is given what was typed, as its flags say', async (t) => {
  const inputs: unknown[] = []
  const flags = {
    lamp: { value: 'lamp', summary: 'a', positional: true, required: true },
    rest: { value: 'rest', summary: 'b', positional: true, several: true },
    level: { value: 'level', summary: 'c', initial: '5', read: digits },
    dim: { value: 'share', bare: true, summary: 'd' },
    tag: { value: 'tag', summary: 'e', repeats: true },
    fade: { summary: 'f' },
    noWait: { summary: 'g' },
  } as const
  const examples: string[] = []
  const light = command({ command: 'lamps', summary: 'x', examples, flags, run: (_, input) => void inputs.push(input) })
  const run = async (...words: string[]) => {
    const program = new Command('svc').exitOverride()
    const noun = program.command('lamps')
    fill(noun, dataOf(['lamps'], [light]), { runtime, words, load: async () => [light] })
    await program.parseAsync(['lamps', ...words], { from: 'user' })
    return inputs.pop()
  }
  const none = { rest: [], level: '5', dim: undefined, tag: [], fade: false, noWait: false }
  t.strictSame(await run('Desk'), { lamp: 'Desk', ...none })
  t.strictSame(
    await run('Desk', 'a', 'b', '--level', '7', '--dim', '--tag', 'x', '--tag', 'y', '--fade', '--no-wait'),
    {
      lamp: 'Desk',
      rest: ['a', 'b'],
      level: '7',
      dim: true,
      tag: ['x', 'y'],
      fade: true,
      noWait: true,
    },
  )
  await t.rejects(run('Desk', '--level', 'high'), { code: 'USAGE', message: '--level: must be digits' })
})

function digits(text: string): string {
  if (/^\d+$/.test(text)) return text
  throw usageError('must be digits')
}

t.test('each command that does something is named once, and below its noun', async (t) => {
  for (const { name } of NOUNS) {
    const all = await loadNoun(name)
    const words = all.map((each) => each.command)
    t.equal(new Set(words).size, words.length, name)
    t.ok(
      words.every((each) => each === name || each.startsWith(`${name} `)),
      name,
    )
    const leaves = leavesOf(await describeNoun(name)).map((leaf) => leaf.words.join(' '))
    const running = all.filter((each) => 'run' in each || 'operation' in each).map((each) => each.command)
    t.strictSame([...leaves].sort(), [...running].sort(), `${name}: a group does nothing itself`)
  }
})
