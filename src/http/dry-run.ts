import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { BankConnector } from '../banks/connector.ts'
import { rollBackAfter } from '../db/rolled-back-sql.ts'
import { makeUnchangedProvider } from '../identity/unchanged.ts'
import { makeIds } from '../lib/ids.ts'
import { makeUncountedMoves } from '../observe/metrics.ts'
import { paymentBatchesIn } from '../payments/batches.ts'

/**
 * Runs `work` with an app that changes nothing: its database is one transaction, which is rolled back, so checks, errors
 * and response are those of the real request. Nothing outside is called: no job is woken, no mail and no webhook is sent,
 * and a bank that keeps its books elsewhere does not answer.
 */
export function runDry<T>(app: App, work: (app: App) => Promise<T>): Promise<T> {
  return app.rolledBack((tx) => work(dryApp(app, tx)))
}

function dryApp(app: App, tx: DatabaseTransactionConnection): App {
  const banks = [...app.banks.values()].flatMap((each): [string, BankConnector][] => {
    const within = each.within?.(tx)
    return within === undefined ? [] : [[each.id, within]]
  })
  // A seeded service counts its requests, and a dry run must not shift the ids of the real ones.
  const ids = makeIds()
  return {
    ...app,
    pool: tx,
    separately: (work) => rollBackAfter(tx, work),
    batches: paymentBatchesIn(tx),
    wake: { ...app.wake, notify: () => undefined },
    ids,
    banks: new Map(banks),
    // What it would read again is not committed.
    catalogue: { ...app.catalogue, refresh: () => Promise.resolve() },
    identity: app.identity.within?.(tx) ?? makeUnchangedProvider(app.identity, ids),
    probe: { probe: () => Promise.resolve(null), close: () => Promise.resolve() },
    log: app.log.child({ dry_run: true }),
    metrics: { ...app.metrics, paymentMoves: makeUncountedMoves() },
  }
}
