import { maskFreeText } from '../lib/mask.ts'
import type { Transition } from '../lib/machine.ts'
import type { Permission } from '../lib/permissions.ts'
import type { NextStep, OtherStep } from '../wire/explain.ts'
import type { CommonFacts, Endpoint } from './record.ts'

/** The caller, on whom depends what is shown and which commands are suggested. */
export type Viewer = {
  side: 'merchant' | 'operator'
  /** The only merchant whose records there are; undefined for operators, who see all. */
  merchantId: string | undefined
  can(permission: Permission): boolean
}

/** Whether the viewer may see webhooks: operators, and merchant roles that manage them (decisions 30 and 31). */
export function canSeeWebhooks({ side, can }: Viewer): boolean {
  return side === 'operator' || can('manage webhooks')
}

/** Free text, with the numbers of phones and accounts masked for operators who may only read. */
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
 * The part of a move that its row in the transition table does not have. The moves of a machine are a total record over
 * its triggers, so that a new trigger does not compile without its actor.
 */
export type Move<Facts> = {
  /** The actor that can cause it. */
  by: string | ((facts: Facts) => string)
  /** When it happens by itself. */
  at?: (facts: Facts) => string | null
  how?: (facts: Facts) => readonly Command[]
  /** Whether the row's own condition can be met: a sixth failure is never another `failed`. Default: true. */
  isPossible?: (facts: Facts) => boolean
}

export type Moves<Trigger extends string, Facts> = Readonly<Record<Trigger, Move<Facts>>>

type Row<Trigger extends string> = Transition<string, Trigger> & { webhook?: string | null }

/** How one kind of subject is explained, beside its timeline. */
export type SubjectKind<Trigger extends string, Facts> = {
  title(facts: Facts): string
  /** Why it has its status, without the full stop. */
  standing(facts: Facts, viewer: Viewer): string
  /** The rows of its own transition table, as far as it can take them. */
  table(facts: Facts): readonly Row<Trigger>[]
  moves: Moves<Trigger, Facts>
  /** The actions that do not change its status. */
  also(facts: Facts, viewer: Viewer): OtherStep[]
}

/** The facts of a subject, and the parts of its explanation that follow from them. */
export function describe<Trigger extends string, Facts extends CommonFacts>(
  kind: SubjectKind<Trigger, Facts>,
  facts: Facts,
  viewer: Viewer,
) {
  return {
    facts,
    title: kind.title(facts),
    standing: `${kind.standing(facts, viewer)}.`,
    next: nextSteps(kind, facts, viewer),
    also: kind.also(facts, viewer),
  }
}

/** The rows of a subject's own table that lead on from its status; none from a final one. */
function nextSteps<Trigger extends string, Facts extends CommonFacts>(
  { table, moves }: SubjectKind<Trigger, Facts>,
  facts: Facts,
  viewer: Viewer,
): NextStep[] {
  return table(facts)
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

/** An action that does not change the status, and the first of its commands that this caller may use. */
export function otherStep(viewer: Viewer, what: string, by: string, commands: readonly Command[]): OtherStep {
  return { what, by, how: commandFor(commands, viewer) }
}

/** The action that ends the wait of deliveries for their endpoint; none for one that is in use. */
export function endpointSteps(endpoint: Endpoint, viewer: Viewer): OtherStep[] {
  const byMerchant = (what: string, type: string): OtherStep[] => [
    otherStep(viewer, what, 'the merchant', [forMerchant('manage webhooks', type)]),
  ]
  if (endpoint === 'paused') return byMerchant('resume the webhook endpoint', 'svc webhooks endpoint resume')
  return endpoint === 'set' ? [] : byMerchant('set a webhook endpoint', 'svc webhooks endpoint set <url>')
}
