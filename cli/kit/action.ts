import type { Permission } from '../../src/lib/permissions.ts'
import type { Operation, OperationInput, OperationReply } from '../../src/wire/operation.ts'
import type { ErrorCode } from '../../src/lib/errors.ts'
import { quoted } from '../base/command-hints.ts'
import type { CliError } from '../base/errors.ts'
import { endOfId } from '../base/text.ts'
import type { Client } from '../client/call.ts'
import type { Context } from './context.ts'

/*
 * What people do to things, declared once. Commands, the console's keys and forms, scenario verbs, dry runs and next steps
 * read these declarations; none of them is known here.
 */

/** A kind of thing that actions are done to: found, named and confirmed in one way everywhere. */
export type Subject<Thing> = {
  /** What stands for it in usage: `merchant` is `<merchant>`. Completion and scenario files know it by this word. */
  noun: string
  /** What may stand in its place. */
  summary: string
  /** Whether each caller has exactly one, such as its signing secret, which is not named. */
  isOwn?: true
  /**
   * Finds what words name.
   * @throws {CliError} exit code 6 where there is none, 2 where there are several
   */
  find(client: Client, given: string): Promise<{ thing: Thing; isExact: boolean }>
  /** What requests name it by. */
  id(thing: Thing): string
  name(thing: Thing): string
  /** What commands call it, so that they can be pasted. */
  handle(thing: Thing): string
  /** Any of these is typed to confirm in live mode; nothing else has it. Of a list it is what the values name. */
  confirmBy(thing: Thing, values: FlagValues): readonly (string | null)[]
}

/** The one thing of its kind that the caller has, as the service has it now. */
export function ownSubject<O extends Operation>(noun: string, name: string, operation: O): Subject<ReplyBody<O>> {
  return {
    noun,
    summary: name,
    isOwn: true,
    async find(client) {
      const { call } = await import('../client/call.ts')
      return { thing: (await call(client, operation, {} as OperationInput<O>)).body, isExact: true }
    },
    id: () => '',
    name: () => name,
    handle: () => '',
    confirmBy: () => [],
  }
}

/** What is named by the word that requests have for it; whether there is such a thing, the service says. */
export function wordSubject(noun: string, summary: string): Subject<{ word: string }> {
  return {
    noun,
    summary,
    find: async (_client, word) => ({ thing: { word }, isExact: true }),
    id: ({ word }) => word,
    name: ({ word }) => word,
    handle: ({ word }) => word,
    confirmBy: ({ word }) => [word],
  }
}

type Row<Thing> = Pick<Subject<Thing>, 'noun' | 'summary' | 'id' | 'name'> & Partial<Subject<Thing>>

/** What is named by its id or a part of that. */
export function rowSubject<Thing>(
  row: Row<Thing>,
  find: (client: Client, given: string) => Promise<Thing>,
): Subject<Thing> {
  const { id } = row
  return {
    handle: id,
    confirmBy: (thing) => [endOfId(id(thing)), id(thing)],
    async find(client, given) {
      const thing = await find(client, given)
      return { thing, isExact: given.toLowerCase() === id(thing) }
    },
    ...row,
  }
}

/** The same where no more of it is needed. @param called what stands before the id's end */
export function idSubject(
  { noun, summary, called }: { noun: string; summary: string; called: string },
  idOf: (client: Client, given: string) => Promise<string>,
): Subject<{ id: string }> {
  return rowSubject(
    { noun, summary, id: ({ id }) => id, name: ({ id }) => `${called} ${endOfId(id)}` },
    async (client, given) => ({ id: await idOf(client, given) }),
  )
}

/** One input of an action. Without `value` it is a switch. */
export type Flag = {
  /** What stands for the value in usage: `text` is `<text>`. */
  value?: string
  summary: string
  required?: true
  choices?: readonly string[]
  /** The member of the request, where its name is another one: errors of the service come back by it. */
  member?: string
  /** From what is typed to what is sent. @throws {CliError} without the name of the flag, which the reader adds */
  read?(text: string): string
  /** What commands send in its place where that has to be looked up: the id of what is named, a day that is reckoned. */
  find?(client: Client, text: string): Promise<string>
  /** The words of a form; the summary where there is none. */
  label?: string
  /** A text of several lines: an editor may be opened for it. With `file`, commands take `--file` and `--edit` too. */
  long?: true
  file?: true
  /** Stands on the command line as an argument. */
  positional?: true
  /** The last argument, which may be several words; the value has a blank between them. */
  several?: true
  /** Differs from thing to thing: a form asks for it only where the action is done to one. */
  one?: true
  /** What a command takes where nothing is given; help says it. */
  initial?: string
  /** May be given more than once: of commands alone, as are the rest. */
  repeats?: true
  /** May stand without its value. */
  bare?: true
  /** One letter that means the same: `-y`. */
  short?: string
  /** The heading of the help that it stands below. */
  group?: string
  /** The flags that it can't be given with. */
  excludes?: readonly string[]
  /** Other words for some of the choices, in capitals: those that tables show where room is short. */
  synonyms?: Readonly<Record<string, string>>
}
/** The inputs of an action, by their names in camel case: `adminEmail` is `--admin-email` and `admin_email`. */
export type Flags = Readonly<Record<string, Flag>>

export type ValueOf<F extends Flag> = F extends { value: string }
  ? F extends { choices: readonly (infer Choice extends string)[] }
    ? Choice
    : string
  : boolean
type Required<F extends Flags> = { [Name in keyof F as F[Name] extends { required: true } ? Name : never]: Name }

/** What was given for each flag. Required ones are texts, the others may be undefined; a switch is there or is not. */
export type Values<F extends Flags> = { [Name in keyof Required<F> & keyof F]: ValueOf<F[Name]> } & {
  [Name in Exclude<keyof F, keyof Required<F>>]?: ValueOf<F[Name]> | undefined
}

export type ReplyBody<O extends Operation> = OperationReply<O>['body']
/** Of an operation that lists. */
export type RowOf<O extends Operation> = ReplyBody<O> extends { data: readonly (infer Row)[] } ? Row : never

/** From one value of a member to another. */
type Move<Thing> = {
  member: keyof Thing & string
  from: unknown
  to: unknown
  /** That it is so already, in words. */
  already(thing: Thing): string
  /** The error for a thing in neither state: this word is not the one for it. */
  refusal?(thing: Thing, values: FlagValues): CliError
}

export type ActionKey = {
  letter: string
  label: string
  /** Never done to several marked rows at once. */
  needs?: 'one'
}

/** Something that a person does to a thing, or with which a person makes one. It knows nothing of commander, Ink or YAML. */
export type Action<Thing, F extends Flags, O extends Operation, Command extends string = string, V = Values<F>> = {
  /** The words behind `svc`. The scenario verb is the same with dots. */
  command: Command
  summary: string
  /** What help says beyond the summary. */
  details?: string
  /** Command lines that run as they stand. */
  examples: readonly string[]
  subject: Subject<Thing> | undefined
  flags: F
  operation: O
  /**
   * What is sent, where that is more than the flags by their members (`requestOf`). Needs the id alone. What is written as
   * a whole is made of the thing as it is, which scenarios never have and others not before it was read: then it is
   * undefined, and a value made up in its place would be written. What follows from the idempotency key is the same in a
   * repetition.
   */
  request?(id: string, values: V, thing?: Thing, key?: string): OperationInput<O>
  /**
   * What it changes, where it takes one member from one value to another. It follows when it applies, that it is done
   * already, what is expected to be as it was seen, and how the row of a list looks at once.
   */
  move?: Move<Thing>
  /** Whether the console offers it. It refuses nothing and skips no question: only the service knows. */
  applies?(thing: Thing): boolean
  /** A further permission that some things need; the console offers them to no caller without it. */
  restricted?: { permission: Permission; where(thing: Thing): boolean }
  /** The members that are sent as they were seen; the service answers CHANGED_MEANWHILE where one is another now. */
  expected?: readonly (keyof Thing & string)[]
  /** What it comes to, behind "this will". */
  effect(thing: Thing, values: V): string
  /** The same for several, where it is more than their number: a sum. */
  effectOnAll?(things: readonly Thing[], values: V): string
  /** How a thing stands, as far as that is agreed to; a form says where it is another by now. */
  facts?(thing: Thing): string
  /** What an editor shows of the thing below the words; the effect where there is nothing else. */
  about?(thing: Thing): readonly string[]
  done(thing: Thing, reply: ReplyBody<O>): string
  confirm?: true | ((values: V, thing: Thing) => boolean)
  key?: ActionKey
  /** What the fields of a form begin with. */
  initial?(thing: Thing): Partial<Record<keyof F & string, string>>
  /** What the console sends for flags that no form asks for: the thing as it was seen. */
  asSeen?(thing: Thing): Partial<Record<keyof F & string, string>>
  /** What the console shows of the reply until Esc, as it can't be shown again. */
  shownOnce?(reply: ReplyBody<O>, where: { client: Client; stateDir: string }): readonly string[]
  view(context: Context, reply: ReplyBody<O>, thing: Thing): void | Promise<void>
  variant?: Variant
  wait?: {
    summary: string
    /** The command that shows how it stands, where the wait is interrupted. */
    show?: string
    /** Errors by which what was waited for has failed: exit code 3. */
    failures?: readonly ErrorCode[]
    /** Waits for what comes after the reply: the last reply, and what is wrong with it. */
    until(waiting: Waiting<ReplyBody<O>>): Promise<Ended<ReplyBody<O>>>
  }
}

/** How a command differs from its action. */
export type Variant = {
  /** Flags that only say which action is meant. */
  flags?: Flags
  /** The client that acts, where it is another one than that of other commands. */
  client?(context: Context): Client
  /** The action that is meant: one with the same flags, for another kind of caller. */
  choose?(context: Context, options: Readonly<Record<string, unknown>>): AnyAction | Promise<AnyAction>
}

/** What there is to wait with. */
export type Waiting<Reply> = {
  /** For reporting progress meanwhile. */
  context: Context
  client: Client
  reply: Reply
  /** Sends the same request once more, under the same key. */
  again(): Promise<Reply>
  timeoutMs: number
  /** The idempotency key of the request; empty where it has none. */
  key: string
}

export type Ended<Reply> = { reply: Reply; problem?: CliError }

/**
 * Any of them, for readers: each was checked where it is declared. A noun's list is a tuple (`as const`), from which the
 * functions of @svc/svc/testing have their types.
 */
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyAction = Action<any, any, any, string, any>

export function action<Thing, const F extends Flags, O extends Operation, const Command extends string>(
  declaration: Action<Thing, F, O, Command>,
): Action<Thing, F, O, Command> {
  return declaration
}

/** `adminEmail` as `--admin-email`. */
export function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** `adminEmail` as `admin_email`, as requests and scenario files write it. */
export function memberOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

export type FlagValues = Readonly<Record<string, string | boolean | undefined>>

/** The command line that does it, as it can be pasted. A required flag that is not given has `...` for its value. */
export function commandLine(
  { command, flags, subject }: AnyAction,
  handle: string | undefined,
  given: FlagValues = {},
): string {
  const words = Object.entries(flags as Flags).flatMap(([name, flag]) => {
    const value = given[name] ?? (flag.required === true ? '...' : undefined)
    if (value === undefined || value === false || value === '') return []
    if (flag.several === true) return String(value).split(' ').map(quoted)
    if (flag.positional === true) return [quoted(String(value))]
    return value === true ? [flagOf(name)] : [`${flagOf(name)} ${quoted(value)}`]
  })
  return [
    `svc ${command}`,
    ...(handle === undefined || subject?.isOwn === true ? [] : [quoted(handle)]),
    ...words,
  ].join(' ')
}

/** The flag of every action whose request may have a key. */
export const KEY_FLAG = {
  idempotencyKey: {
    value: 'key',
    summary: 'Idempotency key; repeating it does nothing twice (a new UUID)',
    member: 'x-idempotency-key',
  },
} as const satisfies Flags

/** Whether a request of the operation may have a key, so that repeating it does nothing twice. */
export function takesKey({ headers }: Operation): boolean {
  return 'shape' in headers && 'x-idempotency-key' in Object(headers.shape)
}

export function isConfirmed({ confirm }: AnyAction, values: FlagValues, thing: unknown): boolean {
  return typeof confirm === 'function' ? confirm(values, thing) : confirm === true
}

/** How a thing stands to an action: to be done, done already, or not the word for it. Without a move it is to be done. */
export function standingOf({ move }: AnyAction, thing: unknown): 'open' | 'done' | 'other' {
  if (move === undefined) return 'open'
  const value: unknown = Object(thing)[move.member]
  if (value === move.from) return 'open'
  return value === move.to ? 'done' : 'other'
}

export function isOffered(action: AnyAction, thing: unknown): boolean {
  return standingOf(action, thing) === 'open' && action.applies?.(thing) !== false
}

/** The members that are sent as they were seen, where the operation takes them. */
export function seenBy(
  { operation: { body }, move, expected = [] }: AnyAction,
  thing: unknown,
): Record<string, unknown> | undefined {
  const members: string[] = [...(move === undefined ? [] : [move.member]), ...expected]
  if (members.length === 0 || !('shape' in body && 'expected' in Object(body.shape))) return undefined
  return Object.fromEntries(members.map((member) => [member, Object(thing)[member]]))
}
