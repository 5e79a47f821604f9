import { Argument, Command, Option } from 'commander'
import type { NounName } from '../../base/command-names.ts'
import type { Runtime } from '../../kit/context.ts'
import { collect } from '../../kit/option-values.ts'
import { askMissing } from './ask-missing.ts'
import { readChoice, readChoices } from './choices.ts'
import type { Line } from './choices.ts'
import type { ArgumentData, CommandData, OptionData } from './command-data.ts'

/** A run of the command line, and its words as they were typed. */
type Run = { runtime: Runtime; words: readonly string[] }

/** Adds to a command that has its name what its data say. Its leaves load their noun when they run, and not before. */
export function fill(command: Command, data: CommandData, run: Run, path: readonly string[] = [data.name]): void {
  const line = { words: run.words, help: `svc ${path.join(' ')} --help` }
  command.description(data.summary).usage(data.usage).helpCommand(false)
  if (data.name === 'list') command.alias('ls')
  for (const option of data.options) command.addOption(optionOf(option, line))
  for (const argument of data.arguments) command.addArgument(argumentOf(argument, line))
  for (const child of data.commands) fill(command.command(child.name), child, run, [...path, child.name])
  if (data.after !== '') command.addHelpText('after', data.after)
  if (data.commands.length === 0)
    command.action(async function act(this: Command) {
      await askMissing(this, { data, help: line.help, io: run.runtime.io })
      await runLeaf(this, path, run.runtime)
    })
}

/** What is required is asked for, or refused, once everything that was typed is known to be right. */
export function optionOf(data: OptionData, line: Line): Option {
  const { flags, summary, choices, group, isHidden, conflicts } = data
  const option = new Option(flags, summary)
  if (data.default !== undefined) option.default(data.default)
  if (group !== undefined) option.helpGroup(group)
  if (isHidden === true) option.hideHelp()
  if (conflicts !== undefined) option.conflicts([...conflicts])
  if (data.isRepeatable === true) option.argParser(collect)
  if (choices === undefined) return option
  const place = { name: option.long ?? flags, choices, synonyms: data.synonyms, line }
  option.choices(choices)
  if (data.isList === true)
    return option.argParser((text, before: string[] | undefined) => [...(before ?? []), ...readChoices(text, place)])
  return option.argParser((word) => readChoice(word, place))
}

function argumentOf(data: ArgumentData, line: Line): Argument {
  const { name, summary, isVariadic, choices } = data
  const argument = new Argument(`[${name}${isVariadic === true ? '...' : ''}]`, summary)
  if (data.default !== undefined) argument.default(data.default)
  if (choices === undefined) return argument
  return argument.choices(choices).argParser((word) => readChoice(word, { name: `<${name}>`, choices, line }))
}

async function runLeaf(command: Command, [noun, ...verbs]: readonly string[], runtime: Runtime): Promise<void> {
  const { loadedNoun } = await import('./noun-command.ts')
  const loaded = await loadedNoun(noun as NounName, runtime)
  const leaf = verbs.reduce((above, verb) => above.commands.find((each) => each.name() === verb) ?? above, loaded)
  await leaf.handler?.call(command)
}
