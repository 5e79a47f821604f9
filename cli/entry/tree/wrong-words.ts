import type { Command, CommanderError, Option } from 'commander'
import { quoted, typedAs } from '../../base/command-hints.ts'
import { usageError } from '../../base/errors.ts'
import type { CliError } from '../../base/errors.ts'
import { isNamedBy, partsOf } from './command-data.ts'
import type { CommandData } from './command-data.ts'
import { ROOT, readChild } from './command-file.ts'
import { notCommand } from './not-commands.ts'
import { withOurFlag } from './other-flags.ts'
import { DROPPED, renamed } from './renamed.ts'
import { nearestWord } from '../../base/nearest-word.ts'

type Typed = { program: Command; words: readonly string[] }

/** Commander's own errors, in our words and with our exit code. */
export async function fromCommander(error: CommanderError, { program, words }: Typed): Promise<CliError> {
  const [message = '', ...rest] = error.message.replace(/^error: /, '').split('\n')
  const shown = error.code === 'commander.excessArguments' ? withMembers(words) : undefined
  if (shown !== undefined) return usageError(message, `svc ${shown.map((word) => quoted(word)).join(' ')}`)
  const wrong = /'([^']+)'/.exec(message)?.[1]
  const [bare = ''] = wrong?.split('=') ?? []
  const old = renamed({ words, takesValue: (flag) => takesValue({ program, words }, flag) })
  if (old !== undefined) return usageError(...old)
  const instead = DROPPED.get(bare)
  if (instead !== undefined) return usageError(`there is no ${bare} any more`, instead)
  const never = notCommand(commandWords({ program, words }), { words, wrong: bare })
  if (never !== undefined) return usageError(...never)
  const ours = withOurFlag(words, wrong)
  if (ours !== undefined) return usageError(message, ours)
  const isUnknown = error.code.startsWith('commander.unknown')
  const meant = !isUnknown ? undefined : meantBy(wrong, { guess: guessIn(rest.join(' ')), program, words })
  if (meant === undefined || wrong === undefined)
    return usageError(message, `svc ${commandWords({ program, words })}--help`)
  // `disputes` asks to see some; `dispute` makes one.
  if (wrong === `${meant}s` && !wrong.startsWith('-')) return usageError(message, listMeant({ program, words }, wrong))
  // Its value stays behind it.
  const value = wrong.startsWith('--') ? wrong.slice(bare.length) : ''
  const mended = words.map((word) => (word === wrong ? `${meant}${value}` : word))
  return usageError(message, `svc ${(await withNextWord(mended)).map((word) => typedAs(word)).join(' ')}`)
}

/** The words with the one behind `--json` as its member: a plain word there may as well be an argument, such as an id. */
function withMembers(words: readonly string[]): string[] | undefined {
  const at = words.indexOf('--json=')
  const member = words[at + 1] ?? ''
  if (at === -1 || !/^[a-z][a-z0-9]*$/.test(member)) return undefined
  return [...words.slice(0, at), `--json=${member}`, ...words.slice(at + 2)]
}

/** The same words with the one behind a mended noun mended too: a hint is a command that there is. */
async function withNextWord(words: readonly string[]): Promise<readonly string[]> {
  let command: CommandData = ROOT
  const options = [...ROOT.options]
  for (const [index, word] of words.entries()) {
    const before = options.find((option) => isNamedBy(option, words[index - 1] ?? ''))
    if (word.startsWith('-') || (before !== undefined && partsOf(before).value === 'required')) continue
    if (command.commands.length === 0) return words
    const child = await readChild(command, word)
    if (child === undefined) {
      const names = command.commands.map(({ name }) => name)
      const meant = nearestWord(word, names)
      // Nothing near: what there is stands in the help of the words before.
      return meant === undefined ? [...words.slice(0, index), '--help'] : withNextWord(words.with(index, meant))
    }
    command = child
    options.push(...child.options)
  }
  return words
}

function guessIn(text: string): string | undefined {
  return /^\(Did you mean (?:one of )?([^,?]+).*\?\)$/.exec(text)?.[1]
}

/** Of flags the one whose last part was typed; or the guess, where it begins as what was typed does. */
function meantBy(
  wrong: string | undefined,
  { guess, program, words }: Typed & { guess: string | undefined },
): string | undefined {
  if (wrong?.startsWith('--') !== true) return guess
  const [flag = ''] = wrong.split('=')
  const options = optionsOf(commandOf({ program, words }).command)
  const ends = options.filter(({ long }) => long?.endsWith(flag.slice(1)))
  const [only] = ends
  if (ends.length === 1 && only?.long) return only.long
  // Commander compares the value with what there is as well.
  const near =
    flag === wrong
      ? guess
      : nearestWord(
          flag,
          options.flatMap(({ long, hidden }) => (hidden ? [] : [long ?? ''])),
        )
  return near?.[2] === wrong[2] ? near : undefined
}

/** Lists that stand below another noun than theirs. */
const LISTS_ELSEWHERE: ReadonlyMap<string, (id: string) => string> = new Map([
  ['payments disputes', (id) => `svc portal disputes list --payment ${id}`],
])

function listMeant({ program, words }: Typed, wrong: string): string {
  const at = words.indexOf(wrong)
  const noun = words.slice(0, at)
  const id = words[at + 1]
  const list = LISTS_ELSEWHERE.get(words.slice(0, at + 1).join(' '))
  return (
    list?.(id === undefined || id.startsWith('-') ? '<payment>' : quoted(id)) ??
    `svc ${commandWords({ program, words: noun })}--help`
  )
}

/** The words that name a command there is, each with a blank behind it. */
function commandWords(typed: Typed): string {
  return commandOf(typed).named.join('')
}

function takesValue(typed: Typed, flag: string): boolean {
  return optionsOf(commandOf(typed).command).some(
    ({ long, short, required }) => required && (long === flag || short === flag),
  )
}

/** The command that words name, and by which of them; options between them are passed over. */
function commandOf({ program, words }: Typed): { command: Command; named: string[] } {
  let command = program
  const named: string[] = []
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? ''
    const option = optionsOf(command).find(({ long, short }) => long === word || short === word)
    // Its value is the next word.
    if (option?.required === true) index += 1
    if (word.startsWith('-')) continue
    const child = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
    if (child === undefined) break
    command = child
    named.push(`${word} `)
  }
  return { command, named }
}

/** Those that may stand behind this command: its own, and those of the commands above it. */
function optionsOf(command: Command): readonly Option[] {
  return command.parent === null ? command.options : [...command.options, ...optionsOf(command.parent)]
}
