import type pg from 'pg'

export type ByHand = (...statements: [text: string, values?: unknown[]][]) => Promise<void>

/** Runs statements as a superuser who switches every trigger off: what an attacker or a mistaken hand would do. */
export function byHandOf(owner: pg.Client): ByHand {
  return async (...statements) => {
    await owner.query('begin')
    await owner.query('set local session_replication_role = replica')
    for (const [text, values] of statements) await owner.query(text, values)
    await owner.query('commit')
  }
}
