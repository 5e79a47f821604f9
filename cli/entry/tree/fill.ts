import { Argument, Command, Option } from 'commander'
import { typedAs } from '../../base/command-hints.ts'
import type { NounName } from '../../base/command-names.ts'
import { usageError } from '../../base/errors.ts'
import { isAtTerminal } from '../../base/io.ts'
import type { Io } from '../../base/io.ts'
import { nearestWord } from '../../base/nearest-word.ts'
import { printable } from '../../base/text.ts'
import type { Runtime } from '../../kit/context.ts'
import { isLeaf, partsOf, placeholderOf } from './command-data.ts'
import type { ArgumentData, CommandData, OptionData } from './command-data.ts'
import type { Declared } from './nouns.ts'

type Run = { runtime: Runtime; words: readonly string[]; load?: (noun: NounName) => Promise<readonly Declared[]> }

/** Adds to a command that has its name what its data say. Its leaves load their noun when they run, and not before. */
export function fill(command: Command, data: CommandData, run: Run, path: readonly string[] = [data.name]): void {
  const line = { words: run.words, help: `svc ${path.join(' ')} --help` }
  command.description(data.summary).usage(data.usage).helpCommand(false)
  if (data.name === 'list') command.alias('ls')
  for (const option of data.options) command.addOption(optionOf(option, line))
  for (const argument of data.arguments) command.addArgument(argumentOf(argument, line))
  for (const child of data.commands) fill(command.command(child.name), child, run, [...path, child.name])
  if (data.after !== '') command.addHelpText('after', data.after)
  if (isLeaf(data))
    command.action(async function act(this: Command) {
      refuseEmpty(this, data, line.help)
      await askMissing(this, { data, help: line.help, io: run.runtime.io })
      await runLeaf(this, path, run)
    })
}

/** What is required is asked for, or refused, once everything that was typed is known to be right. */
export function optionOf(data: OptionData, line: Line): Option {
  const { flags, summary, choices, group, isRequired, conflicts } = data
  const option = new Option(flags, isRequired === true ? `${summary} (required)` : summary)
  if (data.default !== undefined) option.default(data.default)
  if (group !== undefined) option.helpGroup(group)
  if (conflicts !== undefined) option.conflicts([...conflicts])
  if (data.isRepeatable === true) option.argParser((value, before: string[] = []) => [...before, value])
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

async function runLeaf(command: Command, words: readonly string[], { runtime, load }: Run): Promise<void> {
  const loadNoun = load ?? (await import('./nouns.ts')).loadNoun
  const { runDeclared } = await import('../../kit/run-command.ts')
  const declared = (await loadNoun(words[0] as NounName)).find((each) => each.command === words.join(' '))
  if (declared === undefined || !('run' in declared || 'operation' in declared))
    throw new Error(`nothing runs svc ${words.join(' ')}`)
  await runDeclared(command, declared, runtime)
}

type Line = { words: readonly string[]; help: string }

type Place = {
  /** The flag, or the argument in angle brackets. */
  name: string
  choices: readonly string[]
  synonyms?: Readonly<Record<string, string>> | undefined
  line: Line
}

/**
 * The choice that a word names, in any case.
 * @throws {CliError} exit code 2, with the choices, and the command line with the nearest one
 */
function readChoice(word: string, { name, choices, synonyms = {}, line }: Place): string {
  const wanted = synonyms[word.toUpperCase()] ?? word
  const found = choices.find((choice) => choice.toLowerCase() === wanted.toLowerCase())
  if (found !== undefined) return found
  const meant = nearestWord(word, [...choices, ...Object.keys(synonyms)])
  const near = line.words.map((each) => typedAs(corrected(each, word, meant ?? ''))).join(' ')
  throw usageError(
    `invalid value "${word}" for ${name}: use one of ${choices.join(', ')}`,
    meant === undefined || line.words.length === 0 ? line.help : `svc ${near}`,
  )
}

function readChoices(text: string, place: Place): string[] {
  return text.split(',').map((word) => readChoice(word.trim(), place))
}

/** The word, or the end of it behind an equals sign or a comma, corrected. */
function corrected(typed: string, wrong: string, meant: string): string {
  if (typed === wrong) return meant
  return typed.replace(/(?<=[=,])[^,]*/g, (part) => (part.trim() === wrong ? meant : part))
}

/** A variable of the shell that is not set is an empty argument. @throws {CliError} exit code 2, with the argument's name */
function refuseEmpty({ args }: Command, data: CommandData, help: string): void {
  const required = data.arguments.filter(({ isRequired }) => isRequired)
  for (const [index, argument] of required.entries()) {
    const given = args.slice(index, argument.isVariadic === true ? undefined : index + 1)
    if (given.some((text) => text.trim() === ''))
      throw usageError(`${placeholderOf(argument)}: must not be empty`, help)
  }
}

type AskMissingInput = { data: CommandData; help: string; io: Io }

type Missing = {
  usage: string
  name: string
  summary: string
  choices?: readonly string[] | undefined
  take(value: string): void
}

/**
 * Asks at a terminal for every required argument and option that the command line lacks, and gives them to the command.
 * @throws {CliError} exit code 2 with all of them where there is no user to ask: in a pipe, in CI, with --no-input
 */
export async function askMissing(command: Command, { data, help, io }: AskMissingInput): Promise<void> {
  const missing = [...missingArguments(command, data), ...missingOptions(command, data)]
  for (const [index, each] of missing.entries()) {
    const answer = isAtTerminal(io) ? await answerOf(each, io) : ''
    if (answer === '') {
      const left = missing.slice(index).map(({ usage }) => usage)
      throw usageError(`required and not given: ${left.join(', ')}`, help)
    }
    const { name, choices, take } = each
    take(choices === undefined ? answer : readChoice(answer, { name: `<${name}>`, choices, line: { words: [], help } }))
  }
}

function missingArguments({ args }: Command, data: CommandData): Missing[] {
  const left = data.arguments.filter(({ isRequired }) => isRequired).slice(args.length)
  return left.map((each) => ({ ...each, usage: placeholderOf(each), take: (value) => void args.push(value) }))
}

function missingOptions(command: Command, { options }: CommandData): Missing[] {
  return options.flatMap((option) => {
    const { long } = partsOf(option)
    const key = long.slice(2).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
    if (option.isRequired !== true || command.getOptionValue(key) !== undefined) return []
    const take = (value: string): void => void command.setOptionValueWithSource(key, value, 'cli')
    return [{ ...option, usage: option.flags, name: long.slice(2), take }]
  })
}

async function answerOf({ name, summary, choices }: Missing, io: Io): Promise<string> {
  io.stderr.write(printable(`${name} (${choices?.join(', ') ?? summary}): `))
  return ((await io.stdin.readLine()) ?? '').trim()
}
