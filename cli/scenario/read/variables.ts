import type { z } from 'zod'
import { seededBits48 } from '../../../src/lib/seeded-random.ts'
import { VarValue } from '../language/structure.ts'
import type { Scalar, VarItem } from '../language/structure.ts'
import { memberOf } from '../member.ts'
import { resolveReferences } from './references.ts'

/** The variables that are known at a place, by name: texts, whole numbers, true and false, and lists and mappings of them. */
export type Vars = Readonly<Record<string, VarItem | readonly VarItem[]>>

/** Names that are there in every scenario, so that no variable can have them. */
export const RESERVED_NAMES: readonly string[] = ['merchant', 'run']

/** What a choice follows from: the same of both is the same choice. */
export type Chance = { seed: string; key: string }

/** The variables that a document declares; what can be none is left out, and told by its frame's schema. */
export function varsOf(raw: unknown, chance: Chance): Vars {
  return Object.fromEntries(
    Object.entries(Object(memberOf(raw, 'vars'))).flatMap(([name, value]) => {
      const parsed = VarValue.safeParse(value)
      return parsed.success ? [[name, valueOf(name, parsed.data, chance)] as const] : []
    }),
  )
}

/** Whether a document leaves a choice to the run's seed. */
export function isDrawn(raw: unknown): boolean {
  return Object.values(Object(memberOf(raw, 'vars'))).some((value) => memberOf(value, 'pick') !== undefined)
}

function valueOf(name: string, value: z.infer<typeof VarValue>, chance: Chance): Vars[string] {
  const picks: unknown = memberOf(value, 'pick')
  if (!Array.isArray(picks)) return value as Vars[string]
  const { seed, key } = chance
  return (picks as Scalar[])[seededBits48(JSON.stringify([seed, key, name])) % picks.length] ?? ''
}

/** Fills variables in. That is done before anything is checked, so that what they hold is checked too. */
export function withVars(raw: unknown, vars: Vars): unknown {
  return resolveReferences(raw, (name) => (Object.hasOwn(vars, name) ? { value: vars[name] } : undefined), {
    last: false,
  })
}

const SHOWN_MAX = 40

/** Variables in one line, as the name of a case shows them: `amount=1.00, currency=EUR`. */
export function varsText(vars: Vars): string {
  return Object.entries(vars)
    .map(([name, value]) => `${name}=${shown(value)}`)
    .join(', ')
}

function shown(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text
}
