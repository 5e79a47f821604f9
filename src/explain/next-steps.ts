import type { Transition } from '../lib/machine.ts'
import type { Permission } from '../lib/permissions.ts'
import type { NextStep } from '../wire/explain.ts'
import type { Viewer } from './viewer.ts'

/** A command, and who may type it. */
export type Command = { side: Viewer['side']; needs: Permission; type: string }

/**
 * What has to be said of a trigger beyond its row. A machine's rules are a total record over its triggers: one that is
 * new does not compile until somebody has said who can make it happen.
 */
export type StepRule<Facts> = {
  /** Who can make it happen. */
  by: string | ((facts: Facts) => string)
  /** When it happens by itself. */
  at?: (facts: Facts) => string | null
  how?: (facts: Facts) => readonly Command[]
  /** False where the row's own condition can't be met as the thing stands: a sixth failure is never another `failed`. */
  isPossible?: (facts: Facts) => boolean
}

export type StepRules<Trigger extends string, Facts> = Readonly<Record<Trigger, StepRule<Facts>>>

type Row<Trigger extends string> = Transition<string, Trigger> & { webhook?: string | null }

export type StepsInput<Trigger extends string, Facts> = {
  table: readonly Row<Trigger>[]
  rules: StepRules<Trigger, Facts>
  /** Where the thing stands now. */
  from: string
  facts: Facts
  viewer: Viewer
}

/** The rows of a machine's own table that lead on from here, as its viewer can take them; none at an end. */
export function nextSteps<Trigger extends string, Facts>(input: StepsInput<Trigger, Facts>): NextStep[] {
  const { table, rules, from, facts, viewer } = input
  return table
    .filter((row) => row.from === from && (rules[row.on].isPossible?.(facts) ?? true))
    .map((row) => {
      const { by, at, how } = rules[row.on]
      return {
        on: row.on,
        to: row.to,
        by: typeof by === 'string' ? by : by(facts),
        at: at?.(facts) ?? null,
        how: commandFor(how?.(facts) ?? [], viewer),
        webhook: row.webhook ?? null,
      }
    })
}

/** The command that this viewer may type; null where there is none for it. */
export function commandFor(commands: readonly Command[], viewer: Viewer): string | null {
  return commands.find(({ side, needs }) => side === viewer.side && viewer.can(needs))?.type ?? null
}
