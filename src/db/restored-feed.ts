import type { Client } from 'pg'
import { UnmigratedDatabaseError } from './migration-errors.ts'
import type { MigrationFile } from './migration-files.ts'

/*
 * Positions of the event feed are numbers of transactions (decision 122), which another server counts from the beginning.
 */

/**
 * Lets new events follow all that a database had given out before it was restored: where `isRestored` says so, or the
 * feed is ahead of this server. False where there is nothing to do. As its owner.
 */
export const continueFeed = async (
  client: Client,
  { files, isRestored }: { files: readonly MigrationFile[]; isRestored: boolean },
): Promise<boolean> => hasFeed(files) && isTrue(client, 'select public.continue_feed($1) as answer', [isRestored])

/** @throws {UnmigratedDatabaseError} on a restored database that was not migrated since */
export const rejectRestored = async (client: Client, files: readonly MigrationFile[]): Promise<void> => {
  if (!hasFeed(files) || !(await isTrue(client, 'select public.feed_is_ahead() as answer'))) return
  throw new UnmigratedDatabaseError(
    'The database was restored from another server, whose events have later positions than this one gives: new events ' +
      'would stand before them, where readers of the feed do not look.',
  )
}

/** Migrations of other folders have none. */
const hasFeed = (files: readonly MigrationFile[]): boolean =>
  files.some(({ name }) => name === 'functions/continue_feed')

const isTrue = async (client: Client, query: string, values: boolean[] = []): Promise<boolean> =>
  (await client.query<{ answer: boolean }>(query, values)).rows[0]?.answer === true
