import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError } from 'pg'
import type { Client } from 'pg'
import { makePgConnection, timeoutsOf } from './connection.ts'
import type { ConnectionTarget } from './connection.ts'
import type { OnStatement } from './pool.ts'

/**
 * Calls of a set-returning function that takes `items json` and returns a row for each item, numbered by `ord` from 1.
 * Calls that arrive together share one statement and so one commit; each gets its own row, after the commit.
 */
export type Batcher<Item, Row> = {
  /**
   * Adds an item to the next statement.
   * @throws {BatchUnavailableError} when the database can't be reached or did not answer: the outcome is then unknown,
   *   and repeating the call is safe only where the item carries its own idempotency
   */
  run(item: Item): Promise<Row>
  /** Waits for the calls in progress, then ends the connections. */
  close(): Promise<void>
}

/** The database could not be reached, or the connection was lost before the answer came. */
export class BatchUnavailableError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'BatchUnavailableError'
  }
}

type Pending<Item, Row> = {
  item: Item
  /** When it began to wait, by the process's clock. */
  since: number
  resolve: (row: Row) => void
  reject: (error: unknown) => void
}

/** Items of one statement: enough that a commit is shared widely, few enough that its plan and memory stay small. */
const ITEMS_MAX = 64

/** Items that may wait; beyond it the service says it is overloaded instead of answering ever later. */
const WAITING_MAX = 10_000

/** How often closing checks whether every call has its answer. */
const CLOSING_POLL_MS = 5

export type BatcherOptions<Row> = ConnectionTarget & {
  /** Name of the prepared statement. */
  name: string
  /** One parameter `$1`, the items as json; must return `ord`. */
  statement: string
  parseRow: (row: unknown) => Row
  /** Two overlap their waiting for commits; more would only compete for the processor. */
  connections?: number
  /** Gets the name of each statement, never the items. */
  onStatement?: OnStatement
}

/**
 * Makes a batcher over connections of its own. No timer: an idle connection sends at once, and items that arrive
 * while all are busy are sent together. An item that makes the statement fail fails alone: all are run again one by one.
 */
export function makeBatcher<Item, Row>(options: BatcherOptions<Row>): Batcher<Item, Row> {
  const waiting: Pending<Item, Row>[] = []
  const { turn: turnMs } = timeoutsOf(options)
  const connections = Array.from({ length: options.connections ?? 2 }, () => makeBatchConnection<Item, Row>(options))
  let scheduled = false
  let closing = false

  /** Items that no connection took in time, because the statements before them waited for locks. */
  function rejectLate(): void {
    const earliest = performance.now() - turnMs
    const late = waiting.findIndex(({ since }) => since >= earliest)
    for (const { reject } of waiting.splice(0, late === -1 ? waiting.length : late))
      reject(new BatchUnavailableError('the database is too busy'))
  }

  function drain(): void {
    scheduled = false
    rejectLate()
    for (const connection of connections) {
      if (waiting.length === 0) return
      if (!connection.busy()) connection.send(waiting.splice(0, ITEMS_MAX)).then(schedule, schedule)
    }
  }

  function schedule(): void {
    if (scheduled || waiting.length === 0) return
    scheduled = true
    setImmediate(drain)
  }

  return {
    run: (item) =>
      new Promise<Row>((resolve, reject) => {
        if (closing) return reject(new BatchUnavailableError('the service is stopping'))
        if (waiting.length >= WAITING_MAX) return reject(new BatchUnavailableError('too many requests are waiting'))
        waiting.push({ item, since: performance.now(), resolve, reject })
        schedule()
      }),
    close: async () => {
      closing = true
      while (waiting.length > 0 || connections.some((connection) => connection.busy())) await delay(CLOSING_POLL_MS)
      await Promise.all(connections.map((connection) => connection.close()))
    },
  }
}

type BatchConnection<Item, Row> = {
  busy(): boolean
  send(batch: Pending<Item, Row>[]): Promise<void>
  close(): Promise<void>
}

/** One connection, and whether it is busy with a batch. */
function makeBatchConnection<Item, Row>(options: BatcherOptions<Row>): BatchConnection<Item, Row> {
  const { single, singles } = timeoutsOf(options)
  const { query, configure, close } = makeStatementConnection(options)
  let busy = false

  async function settle(batch: Pending<Item, Row>[]): Promise<void> {
    let rows: unknown[]
    try {
      rows = await query(batch.map(({ item }) => item))
    } catch (error) {
      if (batch.length > 1 && !(error instanceof BatchUnavailableError)) return settleEach(batch, error)
      for (const { reject } of batch) reject(error)
      return
    }
    for (const [index, pending] of batch.entries()) answer(pending, rows[index])
  }

  /**
   * Runs items one by one. After a time-out each waits for locks only briefly, and what does not get its turn is rejected:
   * one locked row costs the other items little, and a locked table does not make each of them wait in turn.
   */
  async function settleEach(batch: Pending<Item, Row>[], error: unknown): Promise<void> {
    if (!isTimeout(error)) {
      for (const pending of batch) await settle([pending])
      return
    }
    const end = performance.now() + singles
    await configure(`set lock_timeout = ${single}; set statement_timeout = ${singles}`)
    for (const pending of batch) {
      if (performance.now() < end) await settle([pending])
      else pending.reject(new BatchUnavailableError('the database is too busy', { cause: error }))
    }
    await configure('reset lock_timeout; reset statement_timeout')
  }

  /** A row of another shape than declared is a bug of ours; it must not reach the other callers. */
  function answer({ resolve, reject }: Pending<Item, Row>, row: unknown): void {
    try {
      if (row === undefined) throw new Error(`the batch ${options.name} returned too few rows`)
      resolve(options.parseRow(row))
    } catch (error) {
      reject(error)
    }
  }

  return {
    busy: () => busy,
    send: async (batch) => {
      busy = true
      await settle(batch)
      busy = false
    },
    close,
  }
}

type StatementConnection = {
  /** The rows of the statement, in the order of the items. @throws {BatchUnavailableError} */
  query(items: readonly unknown[]): Promise<unknown[]>
  configure(settings: string): Promise<void>
  close(): Promise<void>
}

/** Runs the batcher's statement. A lost connection is replaced by the next query that needs one. */
function makeStatementConnection<Row>(options: BatcherOptions<Row>): StatementConnection {
  const { name, statement, onStatement } = options
  let client: Client | undefined

  async function connected(): Promise<Client> {
    if (client !== undefined) return client
    // The handler may run before `made` is set, and after another connection has replaced this one.
    let made: Client | undefined
    try {
      made = await makePgConnection({ ...options, onError: () => made !== undefined && drop(made) })
    } catch (error) {
      throw new BatchUnavailableError("the database can't be reached", { cause: error })
    }
    client = made
    return made
  }

  function drop(lost: Client): void {
    if (client === lost) client = undefined
    lost.end().catch(() => undefined)
  }

  async function query(items: readonly unknown[]): Promise<unknown[]> {
    const connection = await connected()
    const startedAt = performance.now()
    try {
      const { rows } = await connection.query<{ ord: bigint }>({
        name,
        text: statement,
        values: [JSON.stringify(items)],
      })
      return inOrder(rows, items.length)
    } catch (error) {
      // Only an error that the server itself raised leaves the connection usable and the outcome known.
      if (isStatementError(error)) throw error
      drop(connection)
      throw new BatchUnavailableError('the database did not answer', { cause: error })
    } finally {
      onStatement?.(name, performance.now() - startedAt)
    }
  }

  /** A connection whose settings are not known is not used again. */
  async function configure(settings: string): Promise<void> {
    const connection = client
    await connection?.query(settings).catch(() => drop(connection))
  }

  async function close(): Promise<void> {
    await client?.end()
    client = undefined
  }

  return { query, configure, close }
}

function inOrder(rows: { ord: bigint }[], count: number): unknown[] {
  const ordered: unknown[] = Array.from({ length: count })
  for (const row of rows) ordered[Number(row.ord) - 1] = row
  return ordered
}

/** A lock or a statement that took too long. */
function isTimeout(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === '55P03' || error.code === '57014')
}

/**
 * An error that the server raised, except for the classes that end the connection (08, 57P), and where the server takes no
 * changes (25006): after a failover it is a standby, and another connection finds the primary.
 */
function isStatementError(error: unknown): boolean {
  return error instanceof DatabaseError && !/^(08|57P|25006)/.test(error.code ?? '')
}
