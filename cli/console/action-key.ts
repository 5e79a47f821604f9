import { permissionFor } from '../../src/wire/operation.ts'
import { call } from '../client/call.ts'
import type { AnyAction, Flag, Flags } from '../kit/action.ts'
import { commandLine, isOffered, memberOf } from '../kit/action.ts'
import { requestFor } from '../kit/perform.ts'
import { readValues } from '../kit/read-values.ts'
import { errorText } from './tools.ts'
import type { Field, FormValues } from './model/modal.ts'
import type { ScreenKey } from './screen.ts'
import { listed } from './screens/merchant-text.ts'

/** Where what an action is done to stands in a row of a screen; null where the row has none. */
type Place<Row, Thing> = { get(row: Row): Thing | null; set(row: Row, thing: Thing): Row }

export function actionKeys<Row, Thing>(actions: readonly AnyAction[], place: Place<Row, Thing>): ScreenKey<Row>[] {
  return actions.flatMap((action) => (action.key === undefined ? [] : keysOf(action, place)))
}

/** What is restricted for some things stands twice: for those who may do it to all, and for those who may not. */
function keysOf<Row, Thing>(action: AnyAction, place: Place<Row, Thing>): ScreenKey<Row>[] {
  if (action.subject?.isOwn === true) return [ownKey(action)]
  const key = actionKey(action, place)
  const { restricted } = action
  if (restricted === undefined) return [key]
  const { permission, where } = restricted
  return [
    { ...key, permission },
    { ...key, lacks: permission, fits: (row) => key.fits?.(row) !== false && !where(place.get(row)) },
  ]
}

/** The single thing of its kind that a caller has is looked up when the key is pressed. */
function ownKey<Row>(action: AnyAction): ScreenKey<Row> {
  const about = { ...actionKey<Row, unknown>(action, { get: () => null, set: (row) => row }), fits: () => true }
  const onList = { ...about, needs: 'nothing' as const, on: 'list' as const }
  return {
    ...onList,
    counted: {
      offered: () => true,
      async make(_shown, { client }) {
        const thing = (await action.subject?.find(client, ''))?.thing
        const made = actionKey<Row, unknown>(action, { get: () => thing, set: (row) => row })
        return { key: { ...made, needs: 'nothing', on: 'list' } }
      },
    },
  }
}

/** An action as a key of a screen: its form, its question in live mode, and the row as it will be. */
function actionKey<Row, Thing>(action: AnyAction, { get, set }: Place<Row, Thing>): ScreenKey<Row> {
  const { key = { letter: '', label: '' }, flags, operation, subject, move } = action
  const isOfMerchant = !operation.access.includes('platform')
  const permission = permissionFor(operation, isOfMerchant ? 'merchant' : 'platform')
  const valuesOf = (given: FormValues) => readValues(flags, fromForm(flags, given), memberOf)
  const thingsOf = (rows: readonly Row[]): Thing[] => rows.flatMap((row) => get(row) ?? [])
  const fieldsFor = (things: readonly Thing[]): [string, Flag][] => {
    const [first] = things
    const unasked = Object.keys((first === undefined ? undefined : action.asSeen?.(first)) ?? {})
    const asked = Object.entries(flags as Flags).filter(([name]) => !unasked.includes(name))
    return things.length > 1 ? asked.filter(([, { one }]) => one !== true) : asked
  }
  const whom = (things: readonly Thing[]): string =>
    things.length === 1 ? (subject?.name(things[0]) ?? '') : `${things.length} ${subject?.noun ?? 'thing'}s`
  const effectOn = (things: readonly Thing[], given: FormValues): string =>
    things.length === 1
      ? action.effect(things[0], valuesOf(given))
      : (action.effectOnAll?.(things, valuesOf(given)) ?? `${key.label} ${whom(things)}`)
  return {
    key: key.letter,
    label: key.label,
    writes: true,
    ...(permission === undefined ? {} : { permission }),
    ...(isOfMerchant ? { for: 'merchant' as const } : {}),
    ...(key.needs === undefined ? {} : { needs: key.needs }),
    // What makes something is about the list.
    ...(subject === undefined ? { needs: 'nothing' as const, on: 'list' as const } : {}),
    fits: (row) => {
      if (subject === undefined) return true
      const thing = get(row)
      return thing !== null && isOffered(action, thing)
    },
    command: (row, given) => {
      const thing = subject === undefined ? null : get(row)
      return commandLine(action, thing === null ? undefined : subject?.handle(thing), fromForm(flags, given))
    },
    ask: (rows) => {
      const things = subject === undefined ? [] : thingsOf(rows)
      const [first] = things
      const initial = subject !== undefined && first === undefined ? {} : (action.initial?.(first) ?? {})
      // What is asked depends on the answers at times; the words to type are a field beside them.
      const isAsked = action.confirm !== undefined
      return {
        what: subject === undefined || subject.isOwn === true ? key.label : `${key.label} ${whom(things)}`,
        about: [
          `${action.summary}.`,
          ...(things.length === 1 && action.facts !== undefined ? [`${factsOf(action, first)}.`] : []),
          ...(things.length > 1 && action.effectOnAll !== undefined ? [`Together: ${effectOn(things, {})}`] : []),
          ...(things.length > 1
            ? listed(things, (thing) => `${subject?.name(thing) ?? ''} (${subject?.handle(thing) ?? ''})`)
            : []),
        ],
        fields: fieldsFor(things).map(([name, flag]) => fieldOf(name, flag, initial[name])),
        act: () => key.label,
        ...(isAsked && first !== undefined ? { danger: subject?.confirmBy(first, {}) ?? [] } : {}),
        ...(isAsked ? { last: (given: FormValues) => `will ${effectOn(things, given)}` } : {}),
      }
    },
    ...(move === undefined
      ? {}
      : {
          optimistic: (row: Row): Row => {
            const thing = get(row)
            return thing === null ? row : set(row, { ...thing, [move.member]: move.to })
          },
        }),
    async run(row, given, { client, stateDir, show, idempotencyKey }) {
      const thing = subject === undefined ? undefined : get(row)
      const values = readValues(flags, { ...fromForm(flags, given), ...action.asSeen?.(thing) }, memberOf)
      const input = requestFor(action, { thing, values, idempotencyKey })
      const { body } = await call(client, operation, input)
      const once = action.shownOnce?.(body, { client, stateDir })
      if (once !== undefined) show(action.done(thing, body), once, { isOnce: true })
      return action.done(thing, body)
    },
  }
}

function factsOf({ facts, move }: AnyAction, thing: unknown): string {
  if (facts !== undefined) return facts(thing)
  return move === undefined ? '' : String(Object(thing)[move.member] ?? '')
}

const YES = 'yes'

function fromForm(flags: Flags, given: FormValues): Record<string, string | boolean | undefined> {
  const values = Object.entries(flags).map(([name, { value }]): [string, string | boolean | undefined] => [
    name,
    value === undefined ? given[name] === YES : given[name],
  ])
  return Object.fromEntries(values)
}

function fieldOf(name: string, flag: Flag, initial: string | undefined): Field {
  const words = flag.value === undefined ? ['no', YES] : flag.choices
  return {
    name,
    sent: flag.member ?? memberOf(name),
    label: flag.label ?? flag.summary,
    kind: words === undefined ? 'line' : 'choice',
    ...(words === undefined ? {} : { words }),
    ...(flag.required === true || flag.value === undefined ? {} : { optional: true as const }),
    ...(flag.choices !== undefined && flag.required === true ? { asks: true as const } : {}),
    ...(flag.long === true ? { long: true as const } : {}),
    ...(initial === undefined ? {} : { initial }),
    ...(flag.read === undefined ? {} : { check: (text: string) => problemOf(flag, text) }),
  }
}

function problemOf(flag: Flag, text: string): string | undefined {
  try {
    if (text !== '' || flag.required === true) flag.read?.(text)
    return undefined
  } catch (error) {
    return errorText(error)
  }
}
