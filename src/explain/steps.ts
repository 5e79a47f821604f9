import type { CommonQueryMethods } from 'slonik'
import type { Transition } from '../lib/machine.ts'
import type { Permission } from '../lib/permissions.ts'
import type { TimelineEntry } from '../wire/explain.ts'
import type { Settings } from './facts-sql.ts'
import type { Endpoint, Subject } from './subjects-sql.ts'
import type { TimelineRow } from './timeline-sql.ts'
import type { Viewer } from './viewer.ts'

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
  /** The entry at the end of a timeline that says so, where no row of the union does. */
  due?: string
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
  /** The entries of a row whose phrase needs the subject as well. */
  entriesOf?(row: TimelineRow, facts: Facts): TimelineEntry[]
}

type SubjectFacts = { status: string; now: string; created_at?: string; ended_at?: string | null }

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

/** Reads one kind of subject: what is said of it beside its timeline, and what its timeline needs of it. */
export function reader<Trigger extends string, Facts extends SubjectFacts>(
  kind: SubjectKind<Trigger, Facts>,
  find: (tx: CommonQueryMethods, subject: Subject, settings: Settings) => Promise<Facts>,
) {
  return async (tx: CommonQueryMethods, subject: Subject, { viewer, ...settings }: Settings & { viewer: Viewer }) => {
    const facts = await find(tx, subject, settings)
    const due = kind.table(facts).flatMap(({ from, on }): TimelineEntry[] => {
      const { at, due: text } = kind.moves[on]
      const time = (from === facts.status ? at?.(facts) : null) ?? null
      if (time === null || text === undefined) return []
      return [{ at: time, kind: 'due', by: null, text, status: null, ref: null }]
    })
    return {
      description: describe(kind, facts, viewer),
      /** The moves that will happen by themselves. */
      due,
      /** The times between which actions on its merchant concern it. */
      since: facts.created_at ?? null,
      until: facts.ended_at ?? null,
      movesOf: (row: TimelineRow): TimelineEntry[] => kind.entriesOf?.(row, facts) ?? [],
    }
  }
}

/** Points to another subject, which has an explanation of its own. */
export function explained(what: string, id: string | null, needs: Permission = 'read balances'): Action[] {
  if (id === null) return []
  const read = `svc explain ${id}`
  const how = [forMerchant(needs, read), forOperator(read, 'read merchants')]
  return [{ what: `explain ${what}`, by: 'anyone with access to it', how }]
}

/** The action that ends the wait of deliveries for their endpoint; none for one that is in use. */
export function endpointActions(endpoint: Endpoint): Action[] {
  const byMerchant = (what: string, type: string): Action[] => [
    { what, by: 'the merchant', how: [forMerchant('manage webhooks', type)] },
  ]
  if (endpoint === 'paused') return byMerchant('resume the webhook endpoint', 'svc webhooks endpoint resume')
  return endpoint === 'set' ? [] : byMerchant('set a webhook endpoint', 'svc webhooks endpoint set <url>')
}
