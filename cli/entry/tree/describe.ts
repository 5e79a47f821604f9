import type { Argument, Option } from 'commander'
import { NOUNS } from '../../base/command-names.ts'
import type { NounName } from '../../base/command-names.ts'
import type { Io } from '../../base/io.ts'
import { DataOption, collect } from '../../kit/option-values.ts'
import type { ArgumentData, CommandData, OptionData } from './command-data.ts'
import { loadedNoun } from './noun-command.ts'
import type { NounCommand } from './noun-command.ts'

export async function describeNoun(name: NounName): Promise<CommandData> {
  return dataOf(await loadedNoun(name, { io: NO_IO, exitCode: 0 }))
}

/** All nouns as a JSON array with a line for each, so that one can be read without the others. */
export async function nounsText(): Promise<string> {
  const nouns = await Promise.all(NOUNS.map(({ name }) => describeNoun(name)))
  return `[\n${nouns.map((noun) => JSON.stringify(noun)).join(',\n')}\n]\n`
}

function dataOf(command: NounCommand): CommandData {
  const commands = command.commands.map((child) => dataOf(child))
  const after = command.below.join('\n')
  return {
    name: command.name(),
    summary: command.description(),
    usage: command.usage(),
    arguments: command.registeredArguments.map(argumentData),
    options: command.options.map(describeOption),
    after: after === '' ? examplesOfGroup(commands) : after,
    commands,
  }
}

function argumentData(argument: Argument): ArgumentData {
  const { description, required, variadic, argChoices, defaultValue, parseArg } = argument
  if (parseArg !== undefined && argChoices === undefined)
    throw new TypeError(`<${argument.name()}>: has a parser of its own`)
  return {
    name: argument.name(),
    summary: description,
    ...(required ? { isRequired: true } : {}),
    ...(variadic ? { isVariadic: true } : {}),
    ...(argChoices === undefined ? {} : { choices: argChoices }),
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
  }
}

/** @throws {TypeError} where an option reads its value in a way that is not data */
export function describeOption(option: Option): OptionData {
  const { flags, description, argChoices, mandatory, hidden, defaultValue, helpGroupHeading, parseArg } = option
  const isRepeatable = parseArg === collect
  if (parseArg !== undefined && argChoices === undefined && !isRepeatable)
    throw new TypeError(`${flags}: has a parser of its own`)
  return {
    flags,
    summary: description,
    ...(argChoices === undefined ? {} : { choices: argChoices }),
    ...(option instanceof DataOption ? rulesOf(option) : {}),
    ...(isRepeatable ? { isRepeatable } : {}),
    ...(mandatory ? { isRequired: true } : {}),
    ...(hidden ? { isHidden: true } : {}),
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
    ...(helpGroupHeading === undefined ? {} : { group: helpGroupHeading }),
  }
}

function rulesOf({ excluded, synonyms, isList }: DataOption): Partial<OptionData> {
  return {
    ...(excluded.length === 0 ? {} : { conflicts: excluded }),
    ...(Object.keys(synonyms).length === 0 ? {} : { synonyms }),
    ...(isList ? { isList } : {}),
  }
}

const SHOWN_MAX = 4

/** What stands below the help of a group that says nothing itself: an example of each of its first commands. */
function examplesOfGroup(commands: readonly CommandData[]): string {
  const first = commands.flatMap(({ after }) => /Examples:\n( {2}\S.*?)(?: {3,}.*)?\n/.exec(after)?.[1] ?? [])
  return first.length === 0 ? '' : `\nExamples:\n${first.slice(0, SHOWN_MAX).join('\n')}\n`
}

const NO_OUTPUT = { write: () => undefined, isTTY: false, columns: 80 }
const NO_INPUT = {
  isTTY: false,
  read: async () => Buffer.alloc(0),
  chunks: async function* nothing() {},
  readLine: async () => undefined,
}
/** Nothing runs here. */
const NO_IO: Io = { stdout: NO_OUTPUT, stderr: NO_OUTPUT, stdin: NO_INPUT, env: {}, cwd: '/', calledAs: 'svc' }
