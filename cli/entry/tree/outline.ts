import type { EventEmitter } from 'node:events'
import { Argument, Command, Option } from 'commander'

type Settings = Readonly<Record<string, unknown>>

type OptionOutline = { flags: string; settings: Settings; isParsed: boolean }

/**
 * All that a command says of itself, as data: enough for its help, and for every mistake in the words behind it. What it
 * does is no part of it, so that nothing has to be loaded for it.
 */
export type Outline = {
  name: string
  aliases: readonly string[]
  settings: Settings
  options: readonly OptionOutline[]
  arguments: readonly Settings[]
  /** What stands below its help. */
  after: string
  isActing: boolean
  commands: readonly Outline[]
}

/** The outline of a command with all that stands below it. It goes through JSON. */
export function outlineOf(command: Command): Outline {
  return {
    name: command.name(),
    aliases: command.aliases(),
    settings: differing(command, new Command(command.name()), isWord),
    options: command.options.map((option) => ({
      flags: option.flags,
      settings: differing(option, new Option(option.flags), isData),
      isParsed: option.parseArg !== undefined,
    })),
    arguments: command.registeredArguments.map((argument) => differing(argument, new Argument(''), isData)),
    after: afterHelp(command),
    isActing: Reflect.get(command, '_actionHandler') !== null,
    commands: command.commands.map((child) => outlineOf(child)),
  }
}

/** The members that make it another than a plain one; commander keeps each setting in one. */
function differing(thing: object, plain: object, isKept: (value: unknown) => boolean): Settings {
  const members = Object.entries(thing).filter(([name, value]) => isKept(value) && value !== Reflect.get(plain, name))
  return Object.fromEntries(members)
}

/** What a command is made of (commands, options, streams) is no setting of it. */
function isWord(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean'
}

function isData(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && !(Array.isArray(value) && value.length === 0)
}

function afterHelp(command: Command): string {
  const written: string[] = []
  const emitter = command as Command & Pick<EventEmitter, 'emit'>
  emitter.emit('afterHelp', { error: false, command, write: (text: string) => written.push(text) })
  return written.join('').replace(/\n$/, '')
}
