import { maskFreeText } from '../lib/mask.ts'
import type { Transition } from '../lib/machine.ts'
import type { Permission } from '../lib/permissions.ts'
import type { Endpoint } from './subjects-sql.ts'

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
}

export type Moves<Trigger extends string, Facts> = Readonly<Record<Trigger, Move<Facts>>>

/** An action that does not change the subject's status. */
export type Action = { what: string; by: string; how: readonly Command[] }

/** How one kind of subject is explained, beside its timeline. */
export type SubjectKind<Trigger extends string, Facts> = {
  title(facts: Facts): string
  /** Why it has its status, without the full stop. */
  standing(facts: Facts, viewer: Viewer): string
  /** The rows of its own transition table, as far as it can take them. */
  table(facts: Facts): readonly (Transition<string, Trigger> & { webhook?: string | null })[]
  moves: Moves<Trigger, Facts>
  also(facts: Facts, viewer: Viewer): Action[]
}

/** A subject in words: the rows of its own table that lead on from its status, and the first command for each. */
export function describe<Trigger extends string, Facts extends { status: string; now: string }>(
  { title, standing, table, moves, also }: SubjectKind<Trigger, Facts>,
  facts: Facts,
  viewer: Viewer,
) {
  const commandFor = (commands: readonly Command[] = []): string | null =>
    commands.find(({ side, needs }) => side === viewer.side && viewer.can(needs))?.type ?? null
  return {
    status: facts.status,
    as_of: facts.now,
    title: title(facts),
    standing: `${standing(facts, viewer)}.`,
    next: table(facts)
      .filter(({ from }) => from === facts.status)
      .map(({ on, to, webhook = null }) => {
        const { by, at, how } = moves[on]
        const actor = typeof by === 'string' ? by : by(facts)
        return { on, to, by: actor, at: at?.(facts) ?? null, how: commandFor(how?.(facts)), webhook }
      }),
    also: also(facts, viewer).map(({ what, by, how }) => ({ what, by, how: commandFor(how) })),
  }
}

/** The action that ends the wait of deliveries for their endpoint; none for one that is in use. */
export function endpointActions(endpoint: Endpoint): Action[] {
  const byMerchant = (what: string, type: string): Action[] => [
    { what, by: 'the merchant', how: [forMerchant('manage webhooks', type)] },
  ]
  if (endpoint === 'paused') return byMerchant('resume the webhook endpoint', 'svc webhooks endpoint resume')
  return endpoint === 'set' ? [] : byMerchant('set a webhook endpoint', 'svc webhooks endpoint set <url>')
}
