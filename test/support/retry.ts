import { isDatabaseUnavailable } from '../../src/db/is-database-unavailable.ts'

const ATTEMPTS_MAX = 20

/**
 * Repeats what found no connection, or no place in time, as the client of a request does: a machine that stands still for
 * seconds is no error. For work that a repeat does not double.
 */
export async function retryUnavailable<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || !isDatabaseUnavailable(error)) throw error
    }
  }
}
