import { NOUNS } from '../../base/command-names.ts'
import type { NounName } from '../../base/command-names.ts'
import { KEY_FLAG, flagOf, takesKey } from '../../kit/action.ts'
import type { AnyAction, Flag, Flags } from '../../kit/action.ts'
import { CHANGING, DANGEROUS } from '../../kit/change.ts'
import type { AnyCommand, Group } from '../../kit/command.ts'
import { placeholderOf } from './command-data.ts'
import type { ArgumentData, CommandData, OptionData } from './command-data.ts'
import { loadNoun } from './nouns.ts'
import type { Declared } from './nouns.ts'

/** All nouns as a JSON array with a line for each, so that one can be read without the others. */
export async function nounsText(): Promise<string> {
  const nouns = await Promise.all(NOUNS.map(({ name }) => describeNoun(name)))
  return `[\n${nouns.map((noun) => JSON.stringify(noun)).join(',\n')}\n]\n`
}

export async function describeNoun(name: NounName): Promise<CommandData> {
  const { summary = '' } = NOUNS.find((noun) => noun.name === name) ?? {}
  return dataOf([name], await loadNoun(name), summary)
}

/** @param usual the summary where the list has none: of nouns, which have theirs on the first page */
export function dataOf(words: readonly string[], all: readonly Declared[], usual = ''): CommandData {
  const name = words.at(-1) ?? ''
  const own = all.find(({ command }) => command === words.join(' '))
  const leaf = own !== undefined && ('run' in own || 'operation' in own) ? own : undefined
  const children = all.flatMap(({ command }) => {
    const below = command.split(' ')
    return below.length > words.length && words.every((word, index) => below[index] === word)
      ? [below[words.length]]
      : []
  })
  const commands = [...new Set(children)].flatMap((child) =>
    child === undefined ? [] : [dataOf([...words, child], all)],
  )
  const args = leaf === undefined ? [] : argumentsOf(leaf)
  return {
    name,
    summary: own?.summary ?? usual,
    usage:
      (leaf !== undefined && 'usage' in leaf ? leaf.usage : undefined) ??
      [
        '[options]',
        ...(commands.length === 0 ? [] : ['[command]']),
        ...args.map((argument) => placeholderOf(argument)),
      ].join(' '),
    arguments: args,
    options: leaf === undefined ? optionsFrom((own as Group | undefined)?.flags ?? {}) : optionsOf(leaf),
    after: afterOf(own) || examplesOfGroup(commands),
    commands,
  }
}

function argumentsOf(leaf: AnyAction | AnyCommand): ArgumentData[] {
  const positional = Object.entries(leaf.flags as Flags).flatMap(([name, flag]): ArgumentData[] => {
    const { value, summary, required, several, choices, initial } = flag
    if (flag.positional !== true) return []
    return [
      {
        name: value ?? name,
        summary,
        ...(required === true ? { isRequired: true } : {}),
        ...(several === true ? { isVariadic: true } : {}),
        ...(choices === undefined ? {} : { choices }),
        ...(initial === undefined ? {} : { default: initial }),
      },
    ]
  })
  const subject = 'subject' in leaf ? leaf.subject : undefined
  if (subject === undefined || subject.isOwn === true) return positional
  return [{ name: subject.noun, summary: subject.summary, isRequired: true }, ...positional]
}

const TEXT_FLAGS: Flags = {
  file: { value: 'path', summary: 'Read the text from a file; - is standard input' },
  edit: { summary: 'Write the text in your editor (VISUAL, EDITOR)' },
}
const waitFlags = (summary: string): Flags => ({
  wait: { summary },
  timeout: { value: 'duration', summary: 'Maximum time to wait', initial: '30s' },
})

function optionsOf(leaf: AnyAction | AnyCommand): OptionData[] {
  const own = optionsFrom(leaf.flags)
  if ('run' in leaf) return own
  const { flags, operation, wait, confirm, variant } = leaf
  const hasText = Object.values(flags as Flags).some(({ file }) => file === true)
  return [
    ...own,
    ...optionsFrom(hasText ? TEXT_FLAGS : {}),
    ...optionsFrom(takesKey(operation) ? KEY_FLAG : {}),
    ...optionsFrom(wait === undefined ? {} : waitFlags(wait.summary)),
    ...optionsFrom(confirm === undefined ? CHANGING : DANGEROUS),
    ...optionsFrom(variant?.flags ?? {}),
  ]
}

function optionsFrom(flags: Flags): OptionData[] {
  return Object.entries(flags).flatMap(([name, flag]) => (flag.positional === true ? [] : [optionOf(name, flag)]))
}

function optionOf(name: string, flag: Flag): OptionData {
  const { short, value, bare, summary, choices, synonyms, repeats, required, file, initial, group, excludes } = flag
  const long = value === undefined ? flagOf(name) : `${flagOf(name)} ${bare === true ? `[${value}]` : `<${value}>`}`
  return {
    flags: short === undefined ? long : `${short}, ${long}`,
    summary,
    ...(choices === undefined ? {} : { choices }),
    ...(excludes === undefined ? {} : { conflicts: excludes }),
    ...(synonyms === undefined ? {} : { synonyms }),
    ...(repeats === true ? (choices === undefined ? { isRepeatable: true } : { isList: true }) : {}),
    // A text that may come from a file is asked for once it is known that none was named.
    ...(required === true && file !== true ? { isRequired: true } : {}),
    ...(initial === undefined ? {} : { default: initial }),
    ...(group === undefined ? {} : { group }),
  }
}

function afterOf({ details, examples = [] }: Pick<Declared, 'details' | 'examples'> = {}): string {
  const remarks = details === undefined ? '' : `\n${details}\n`
  return examples.length === 0 ? remarks : `${remarks}\nExamples:\n${examples.map((line) => `  ${line}\n`).join('')}`
}

const SHOWN_MAX = 4

/** What stands below the help of a group that says nothing itself: an example of each of its first commands. */
function examplesOfGroup(commands: readonly CommandData[]): string {
  const first = commands.flatMap(({ after }) => /Examples:\n( {2}\S.*?)(?: {3,}.*)?\n/.exec(after)?.[1] ?? [])
  return first.length === 0 ? '' : `\nExamples:\n${first.slice(0, SHOWN_MAX).join('\n')}\n`
}
