import type { Client } from 'pg'
import { UnmigratedDatabaseError } from './migration-errors.ts'
import type { MigrationFile } from './migration-files.ts'

/*
 * Positions of the event feed are numbers of transactions (decision 122), which another server counts from the beginning.
 */

/** Lets new events follow those of a database that was restored; false where there is nothing to do. As its owner. */
export const continueFeed = async (client: Client, files: readonly MigrationFile[]): Promise<boolean> =>
  hasFeed(files) && isTrue(client, 'select public.continue_feed() as answer')

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

const isTrue = async (client: Client, query: string): Promise<boolean> =>
  (await client.query<{ answer: boolean }>(query)).rows[0]?.answer === true
