import { Option } from 'commander'
import t from 'tap'
import { NOUNS } from '../../cli/base/command-names.ts'
import { isLeaf, partsOf } from '../../cli/entry/tree/command-data.ts'
import type { CommandData } from '../../cli/entry/tree/command-data.ts'
import { describeNoun, describeOption, nounsText } from '../../cli/entry/tree/describe.ts'
import { optionOf } from '../../cli/entry/tree/fill.ts'
import { loadedNoun } from '../../cli/entry/tree/noun-command.ts'
import type { NounCommand } from '../../cli/entry/tree/noun-command.ts'
import { collect } from '../../cli/kit/option-values.ts'
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

/** Everything that commander keeps of an option, but for how its value is read, and that help says it is required. */
function membersOf(option: Option): Record<string, unknown> {
  const plain = new Option(option.flags)
  const members = Object.entries(option).filter(([name]) => name in plain && !['parseArg', 'mandatory'].includes(name))
  return { ...Object.fromEntries(members), description: option.description.replace(/ \(required\)$/, '') }
}

t.test('nothing that a module says of an option is lost in its data', async (t) => {
  const line = { words: [], help: '' }
  const visit = (command: NounCommand, data: CommandData, path: string): void => {
    const filled = data.options.map((option) => optionOf(option, line))
    t.same(filled.map(membersOf), command.options.map(membersOf), path)
    t.same(
      data.options.map((option) => partsOf(option).long),
      command.options.map(({ long }) => long),
      path,
    )
    t.same(
      data.options.map(({ isRequired }) => isRequired === true),
      command.options.map(({ mandatory }) => mandatory),
      path,
    )
    t.equal(command.handler !== undefined, isLeaf(data), `${path}: a group does nothing itself, unless it takes words`)
    for (const child of command.commands) {
      const below = data.commands.find(({ name }) => name === child.name())
      if (below === undefined) t.fail(`${path} ${child.name()}`)
      else visit(child, below, `${path} ${below.name}`)
    }
  }
  for (const { name } of NOUNS) visit(await loadedNoun(name, runtime), await describeNoun(name), name)
})

t.test('an option that reads its value in a way of its own can not be data', async (t) => {
  t.match(describeOption(new Option('--tag <tag>').argParser(collect)), { isRepeatable: true })
  t.throws(
    () => describeOption(new Option('--count <count>').argParser(Number)),
    /--count <count>: has a parser of its own/,
  )
})
