import type { z } from 'zod'
import { VERB_NAMES, isVerb } from '../language.ts'
import type { VERBS, Verb } from '../language.ts'
import type { KindsNamedBy, ReferenceKind } from '../language/parts.ts'
import type { Answers, Handle } from './answers.ts'

/*
 * The verbs of scenario files as functions. Their types follow from the schemas of the language: what YAML names as
 * `$p1` is the answer that the verb before has given, and nothing is named.
 */

type HandleOf<Kind> = Kind extends ReferenceKind ? Handle<Kind> : never

/** An input as programs write it: answers in place of references, and no names. */
type ProgramInput<Input> = Input extends string
  ? [KindsNamedBy<Input>] extends [never]
    ? Input
    : HandleOf<KindsNamedBy<Input>>
  : Input extends readonly unknown[]
    ? { [Index in keyof Input]: ProgramInput<Input[Index]> }
    : Input extends object
      ? { [Field in keyof Input as Field extends 'as' ? never : Field]: ProgramInput<Input[Field]> }
      : Input

type InputOf<V extends Verb> = z.input<(typeof VERBS)[V]['schema']>
/** The forms that make something, and the others. */
type Making<Input> = Input extends unknown ? ('as' extends keyof Input ? Input : never) : never
type Other<Input> = Input extends unknown ? ('as' extends keyof Input ? never : Input) : never

type AnswerOf<V extends Verb> = V extends keyof Answers ? Answers[V] : void
type Maker<V extends Verb> = [Making<InputOf<V>>] extends [never]
  ? unknown
  : (input: ProgramInput<Making<InputOf<V>>>) => Promise<AnswerOf<V>>
type Doer<V extends Verb> = [Other<InputOf<V>>] extends [never]
  ? unknown
  : (input: ProgramInput<Other<InputOf<V>>>) => Promise<void>
/** A checkout that is only looked at makes no payment. */
type Looker = (input: ProgramInput<InputOf<'checkout'>> & { pays: false }) => Promise<void>
type VerbFunction<V extends Verb> = V extends 'checkout' ? Looker & Maker<V> : Maker<V> & Doer<V>

type Joined<Text extends string> = Text extends `${infer Head}${'_' | '.'}${infer Tail}`
  ? `${Head}${Capitalize<Joined<Tail>>}`
  : Text

/** Every verb of the language: `bank_account` is `bankAccount`, and `payer.link` is `payerLink`. */
export type Verbs = { [V in Verb as Joined<V>]: VerbFunction<V> }

export function functionName(verb: Verb): string {
  return verb.replaceAll(/[_.](\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** Makes the functions, all of them by one that plays a verb. */
export function makeVerbs(play: (verb: Verb, input: unknown) => Promise<unknown>): Verbs {
  const functions = VERB_NAMES.filter(isVerb).map((verb) => {
    const name = functionName(verb)
    return [name, { [name]: (input: unknown) => play(verb, input) }[name]] as const
  })
  // One for each verb, by the schema that checks what it is given; which types that makes is the mapping above.
  return Object.fromEntries(functions) as unknown as Verbs
}
