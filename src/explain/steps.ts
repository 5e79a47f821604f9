import { maskFreeText } from '../lib/mask.ts'
import type { Transition } from '../lib/machine.ts'
import type { Permission } from '../lib/permissions.ts'
import type { NextStep, OtherStep } from '../wire/explain.ts'
import type { Endpoint } from './record.ts'

/** The caller: it decides what is shown, and which commands are suggested. */
export type Viewer = {
  side: 'merchant' | 'operator'
  /** The only merchant whose records there are; undefined for operators, who see all. */
  merchantId: string | undefined
  can(permission: Permission): boolean
}

/** Webhooks are seen by those who manage them, and by operators (decisions 30 and 31). */
export function canSeeWebhooks({ side, can }: Viewer): boolean {
  return side === 'operator' || can('manage webhooks')
}

/** People's own words: operators who may only read see the numbers of phones and accounts in them masked. */
export function wordsFor({ side, can }: Viewer, text: string): string {
  return side === 'operator' && !can('operate merchants') ? maskFreeText(text) : text
}

/** A command, and which callers may use it. */
export type Command = { side: Viewer['side']; needs: Permission; type: string }

export function forMerchant(needs: Permission, type: string): Command {
  return { side: 'merchant', needs, type }
}

export function forOperator(type: string, needs: Permission = 'operate merchants'): Command {
  return { side: 'operator', needs, type }
}

/** The command that this caller may use; null where it may use none of them. */
function commandFor(commands: readonly Command[], viewer: Viewer): string | null {
  return commands.find(({ side, needs }) => side === viewer.side && viewer.can(needs))?.type ?? null
}

/**
 * What a trigger's row does not say. The moves of a machine are a total record over its triggers: a new one does not
 * compile until it is said who can make it happen.
 */
export type Move<Facts> = {
  /** Who can make it happen. */
  by: string | ((facts: Facts) => string)
  /** When it happens by itself. */
  at?: (facts: Facts) => string | null
  how?: (facts: Facts) => readonly Command[]
  /** False where the row's own condition can't be met: a sixth failure is never another `failed`. */
  isPossible?: (facts: Facts) => boolean
}

export type Moves<Trigger extends string, Facts> = Readonly<Record<Trigger, Move<Facts>>>

type Row<Trigger extends string> = Transition<string, Trigger> & { webhook?: string | null }
type Machine<Trigger extends string, Facts> = { table: readonly Row<Trigger>[]; moves: Moves<Trigger, Facts> }

/** The rows of a machine's own table that lead on from the subject's status; none from a final one. */
export function nextSteps<Trigger extends string, Facts extends { status: string }>(
  { table, moves }: Machine<Trigger, Facts>,
  facts: Facts,
  viewer: Viewer,
): NextStep[] {
  return table
    .filter(({ from, on }) => from === facts.status && (moves[on].isPossible?.(facts) ?? true))
    .map(({ on, to, webhook = null }) => {
      const { by, at, how } = moves[on]
      return {
        on,
        to,
        by: typeof by === 'string' ? by : by(facts),
        at: at?.(facts) ?? null,
        how: commandFor(how?.(facts) ?? [], viewer),
        webhook,
      }
    })
}

/** What can be done without a change of status. */
export function otherStep(viewer: Viewer, what: string, by: string, commands: readonly Command[]): OtherStep {
  return { what, by, how: commandFor(commands, viewer) }
}

/** What lets deliveries continue that wait for their endpoint. */
export function endpointSteps(endpoint: Endpoint, viewer: Viewer): OtherStep[] {
  const byMerchant = (what: string, type: string): OtherStep[] => [
    otherStep(viewer, what, 'the merchant', [forMerchant('manage webhooks', type)]),
  ]
  if (endpoint === 'paused') return byMerchant('resume the webhook endpoint', 'svc webhooks endpoint resume')
  return endpoint === 'set' ? [] : byMerchant('set a webhook endpoint', 'svc webhooks endpoint set <url>')
}

/** What is said of a subject beside its timeline. */
export type Description = {
  title: string
  /** Why it has its status. */
  standing: string
  next: NextStep[]
  also: OtherStep[]
}
