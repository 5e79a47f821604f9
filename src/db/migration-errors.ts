/** A migration or function that cannot be applied: its header is wrong, or the database rejects it. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/** The database was migrated by a newer version: nothing may run on it, and nothing was changed. */
export class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError'
}

/** The database lacks migrations or functions of this code: every statement that uses them would fail. */
export class UnmigratedDatabaseError extends Error {
  override readonly name = 'UnmigratedDatabaseError'
}

/** The database was created before the migrations were rewritten as a baseline, and cannot be upgraded. */
export class ObsoleteDatabaseError extends Error {
  override readonly name = 'ObsoleteDatabaseError'
}
